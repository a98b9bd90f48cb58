"""The report: gather what is worth showing as plain data, then render it.

`summarize` gathers, `render_html` shows; the command line's ``--json`` prints what the former
returns. Names are imported when first used: the words about methods need none of the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coterie.report._html import check_report_extra as check_report_extra
    from coterie.report._html import render_html as render_html
    from coterie.report._per_k import render_per_k as render_per_k
    from coterie.report._per_k import summarize_per_k as summarize_per_k
    from coterie.report._summary import summarize as summarize

_HOME = {
    "check_report_extra": "_html",
    "render_html": "_html",
    "render_per_k": "_per_k",
    "summarize": "_summary",
    "summarize_per_k": "_per_k",
}

__all__ = ["check_report_extra", "render_html", "render_per_k", "summarize", "summarize_per_k"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'coterie.report' has no attribute {name!r}")
    return getattr(import_module(f"coterie.report.{_HOME[name]}"), name)
