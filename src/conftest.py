"""Settings of the examples in docstrings, which run as tests."""

from pathlib import Path

import pytest

# Packages that the examples of a folder or file need, beside those that coterie requires.
NEEDED = {
    "coterie/anndata": ("anndata",),
    "coterie/anndata/_leiden.py": ("igraph", "scanpy"),
    "coterie/anndata/_plots.py": ("igraph", "matplotlib", "scanpy"),
    "coterie/plotting": ("matplotlib",),
    "coterie/report/_html.py": ("jinja2",),
    "coterie/report/_per_k.py": ("jinja2", "matplotlib"),
}


@pytest.fixture(autouse=True)
def _needed_packages(request):
    """Skip examples of packages that are not installed; draw without a screen."""
    path = request.path.relative_to(Path(__file__).parent)
    for place, packages in NEEDED.items():
        if path.is_relative_to(place):
            for package in packages:
                pytest.importorskip(package)
            if "matplotlib" in packages:
                request.getfixturevalue("_no_screen")


@pytest.fixture
def _no_screen():
    """Draw into memory, and close the figures afterwards: matplotlib warns of many open ones."""
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    yield
    plt.close("all")
