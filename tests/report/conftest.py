"""A real browser for the report.

Debian's Chromium (or any other, named by ``COTERIE_BROWSER``), driven by Playwright, whose own
browsers are never fetched. Without a browser these tests are skipped; ``COTERIE_REQUIRE_BROWSER=1``
makes its absence a failure.
"""

import os
import shutil

import pytest

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def _no_browser(reason):
    if os.environ.get("COTERIE_REQUIRE_BROWSER") == "1":
        pytest.fail(f"COTERIE_REQUIRE_BROWSER=1, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _no_browser("playwright is not installed (pip install --group test)")
    path = os.environ.get("COTERIE_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        _no_browser("there is no browser (on Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield started
        started.close()


class Visit:
    """A page and what went wrong in it."""

    def __init__(self, page):
        self.page = page
        self.complaints = []
        self.requests = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: self.requests.append(request.url))


@pytest.fixture
def visit(browser):
    """Open a file; at the end check that nothing was complained of and nothing left the page."""
    contexts, visits = [], []

    def open_file(path, *, width=1280, height=900, dark=False, **settings):
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            accept_downloads=True,
            **settings,
        )
        contexts.append(context)
        context.set_default_timeout(20_000)
        made = Visit(context.new_page())
        visits.append(made)
        made.page.goto(path.as_uri())
        made.page.wait_for_selector("html[data-ready=yes]")
        return made.page

    yield open_file
    for made in visits:
        assert made.complaints == []
        outside = [url for url in made.requests if not url.startswith(("file:", "data:", "blob:"))]
        assert outside == []
        assert sum(url.startswith("file:") for url in made.requests) == 1
    for context in contexts:
        context.close()
