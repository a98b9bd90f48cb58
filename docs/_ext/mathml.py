"""Formulas as MathML: browsers show it by themselves, so pages need neither script nor network."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def inline_math(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula that stands in a line."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block_math(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula that stands by itself; wide ones scroll."""
    self.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name 'mathml'."""
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
