"""Sphinx configuration of the documentation site; `make docs` builds it without a network."""

import os
import sys
import warnings
from pathlib import Path

import coterie

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("MPLBACKEND", "agg")

project = "coterie"
author = "the coterie developers"
copyright = "the coterie developers, BSD-3-Clause"
release = version = coterie.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "methods",
]
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates", "gallery/**/*.ipynb", "gallery/**/*.py"]
templates_path = ["_templates"]
nitpicky = False
default_role = "code"

# A word in backticks in a docstring is code; DOIs have a role of their own.
extlinks = {"doi": ("https://doi.org/%s", "doi:%s")}

myst_enable_extensions = [
    "attrs_inline",
    "colon_fence",
    "deflist",
    "dollarmath",
    "fieldlist",
    "substitution",
]
myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings = ["config.cache"]  # the sort order of the gallery is a function

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

# Examples run on one thread of the plotting library and say nothing but what they print.
warnings.filterwarnings("ignore", message=".*TBB threading layer.*")
sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "min_reported_time": 5,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "within_subsection_order": "ExampleTitleSortKey",
    "matplotlib_animations": False,
    "plot_gallery": "True",
    "default_thumb_file": str(HERE / "_static" / "mark.png"),
}

html_theme = "pydata_sphinx_theme"
html_title = f"coterie {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_math_renderer = "mathml"
html_sidebars = {"start": [], "comparison": [], "glossary": [], "limits": [], "changelog": []}
html_theme_options = {
    "logo": {"text": "coterie"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
}
