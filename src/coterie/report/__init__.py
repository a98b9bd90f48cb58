"""The report: gather what is worth showing as plain data, then render it.

`summarize` gathers, `render_html` shows; the command line's ``--json`` prints what the former
returns.
"""

from coterie.report._html import check_report_extra, render_html
from coterie.report._summary import summarize

__all__ = ["check_report_extra", "render_html", "summarize"]
