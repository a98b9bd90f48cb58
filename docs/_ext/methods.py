"""Pages of methods: what a class says about itself, and the figure that is drawn for it.

``{consensus-method} laca`` writes the facts of one method, ``{method-table}`` the table of all.
Figures are drawn once, into `methods/figures`, and again when the script that draws them has
changed.
"""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from coterie._about import words_of
from coterie._methods import METHODS, LazyClasses

CLASSES = LazyClasses(METHODS)
DOI = "doi:"
MODULES = tuple(
    f"coterie.{name}"
    for name in ("anndata", "choosing", "datasets", "metrics", "plotting", "preparation", "report")
)
"""Modules of which all names are in the API reference."""


def linked(reference: str) -> str:
    """Return a reference with its DOI as a link."""
    text, found, doi = reference.partition(DOI)
    return f"{text}[{DOI}{doi}](https://doi.org/{doi})" if found else text


def finds_number(name: str) -> bool:
    """Return whether a method finds the number of clusters by itself."""
    return bool(getattr(CLASSES[name], "finds_n_clusters", True))


def facts(name: str) -> str:
    """Return what is told about one method, in Markdown."""
    cls = CLASSES[name]
    words = words_of(cls)
    number = f"Finds it: {words.number}." if finds_number(name) else "Has to be given."
    lines = [
        f"**{words.title}.** {words.does}",
        "",
        f"![{words.title} on five data sets](/methods/figures/{name}.png){{.method-figure}}",
        "",
        "| | |",
        "|---|---|",
        f"| When to use it | {words.use} |",
        f"| Number of clusters | {number} |",
        f"| Cost | {words.cost} |",
        f"| Missing labels | {words.missing} |",
        f"| Confidence of an object | {words.confidence[0].upper()}{words.confidence[1:]}. |",
        f"| In Python | {{py:obj}}`coterie.{cls.__name__}` |",
        f"| On the command line | `--method {name}`, `coterie explain {name}` |",
        f"| Paper | {'<br>'.join(linked(one) for one in words.references)} |",
        "",
        "n objects, p of them with different labels; L partitions; K clusters in all of them. "
        "[About the figure](/methods/index.md#the-figures).",
    ]
    return "\n".join(lines)


def table() -> str:
    """Return the table of all methods, in Markdown."""
    rows = ["| method | what it does | finds the number |", "|---|---|---|"]
    for name, cls in CLASSES.items():
        words = words_of(cls)
        first = words.does.partition(". ")[0].rstrip(".")
        rows.append(
            f"| [{cls.__name__}]({name}.md) | {words.title}. {first}. "
            f"| {'yes' if finds_number(name) else '–'} |"
        )
    return "\n".join(rows)


class Method(SphinxDirective):
    """The facts of one method."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the facts as nodes."""
        return self.parse_text_to_nodes(facts(self.arguments[0]))


class MethodTable(SphinxDirective):
    """The table of all methods."""

    def run(self) -> list[nodes.Node]:
        """Return the table as nodes."""
        return self.parse_text_to_nodes(table())


def draw_figures(app: Sphinx) -> None:
    """Draw the figures that are missing or older than the script that draws them."""
    script = Path(app.srcdir) / "methods" / "draw.py"
    folder = script.parent / "figures"
    made = [folder / f"{name}.png" for name in METHODS]
    old = [p.stem for p in made if not p.exists() or p.stat().st_mtime < script.stat().st_mtime]
    if old:
        subprocess.run([sys.executable, script, *old], check=True)


def public_names() -> set[str]:
    """Return every public name with its module, those of `coterie` itself under `coterie`."""
    import coterie

    names = {f"coterie.{name}" for name in coterie.__all__ if name not in coterie._MODULES}
    for module in MODULES:
        own = import_module(module).__all__
        names |= {f"{module}.{name}" for name in own if f"coterie.{name}" not in names}
    return names - {"coterie.__version__"}


def listed_names(text: str) -> set[str]:
    """Return the names that the API reference lists, with their modules."""
    found = set()
    for block in re.findall(r"```\{eval-rst\}\n(.*?)```", text, re.DOTALL):
        home = block.partition("currentmodule:: ")[2].split()[0]
        found |= {f"{home}.{name}" for name in re.findall(r"^   ([\w.]+)$", block, re.MULTILINE)}
    return found


def write_other_names(app: Sphinx, config: object) -> None:
    """Write the page of the public names that `api.md` does not list, so that none is lost."""
    folder = Path(app.srcdir)
    others = sorted(public_names() - listed_names((folder / "api.md").read_text(encoding="utf-8")))
    lines = ["Other names", "===========", ""]
    lines += [".. autosummary::", "   :toctree: api", "   :nosignatures:", ""] if others else []
    lines += [f"   {name}" for name in others] or ["There are none."]
    text = "\n".join(lines) + "\n"
    page = folder / "other_names.rst"
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("consensus-method", Method)
    app.add_directive("method-table", MethodTable)
    app.connect("config-inited", write_other_names)
    app.connect("builder-inited", draw_figures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
