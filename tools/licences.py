"""List the packages that an installation of coterie brings, with their licences.

``python tools/licences.py`` follows the requirements of coterie and of all its extras, as they are
installed here, and fails where one is under the GPL or AGPL, or has no licence that can be read.
"""

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement

EXTRAS = ("metis", "hypergraph", "plot", "report", "dask", "anndata")
COPYLEFT = re.compile(r"\b(A?GPL|GNU (Affero )?General Public)", re.IGNORECASE)
EXCEPTIONS = {
    "igraph": "only in the extra 'anndata', imported when leiden_ensemble is called",
}
"""Copyleft packages that are optional: nothing of coterie needs them to be installed."""
LESSER = re.compile(r"LGPL|Lesser General Public", re.IGNORECASE)


def licence(package: Distribution) -> str:
    """Return the licence: the SPDX expression, else the classifiers, else the first line given."""
    data = package.metadata
    classifiers = [
        line.rpartition("::")[2].strip()
        for line in data.get_all("Classifier") or []
        if line.startswith("License ::")
    ]
    stated = (data.get("License") or "").strip().splitlines()
    return data.get("License-Expression") or "; ".join(classifiers) or (stated or [""])[0]


def required(name: str, extras: tuple[str, ...] = ()) -> dict[str, Distribution]:
    """Return what a package needs, itself included; what is not installed is left out."""
    found: dict[str, Distribution] = {}
    todo = [(name, extras)]
    while todo:
        name, extras = todo.pop()
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        key = re.sub(r"[-_.]+", "-", package.metadata["Name"]).lower()
        if key in found and not extras:
            continue
        found[key] = package
        for line in package.requires or []:
            need = Requirement(line)
            marks = [{"extra": extra} for extra in extras] or [{"extra": ""}]
            if need.marker is None or any(need.marker.evaluate(mark) for mark in marks):
                wanted = re.sub(r"[-_.]+", "-", need.name).lower()
                if wanted not in found:
                    todo.append((need.name, tuple(need.extras)))
    return found


if __name__ == "__main__":
    rows = {
        name: (package.version, licence(package))
        for name, package in sorted(required("coterie", EXTRAS).items())
    }
    for name, (version, words) in rows.items():
        note = f" ({EXCEPTIONS[name]})" if name in EXCEPTIONS else ""
        print(f"{name:24} {version:14} {words or 'unknown'}{note}")
    bad = [
        name
        for name, (_, words) in rows.items()
        if not words or (COPYLEFT.search(words) and not LESSER.search(words))
        if name not in EXCEPTIONS
    ]
    if bad:
        sys.exit(f"not allowed, or unknown: {', '.join(bad)}")
