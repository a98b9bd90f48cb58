"""Check every link inside the built site: pages, anchors, images, scripts and styles.

``python docs/check_links.py docs/_build/html`` prints what leads nowhere, and then fails.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SKIPPED = ("_static/", "_sources/", "_modules/")


class Page(HTMLParser):
    """The anchors of a page, and what it links to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect ids and links."""
        for name, value in attrs:
            if not value:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src"):
                self.links.append(value)


def broken_links(root: Path) -> list[str]:
    """Return 'page: link' for each internal link that leads nowhere."""
    pages = {path: Page(path) for path in sorted(root.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        where = path.relative_to(root)
        if where.as_posix().startswith(SKIPPED):
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or where.name in ("search.html", "genindex.html"):
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            if not target.exists():
                found.append(f"{where}: {link}")
            elif parts.fragment not in ("", "top") and target in pages:
                anchor = unquote(parts.fragment)
                found += [] if anchor in pages[target].anchors else [f"{where}: {link}"]
    return found


if __name__ == "__main__":
    site = Path(sys.argv[1]).resolve()
    if not (site / "index.html").exists():
        sys.exit(f"{site} holds no index.html; build the site first: make docs")
    broken = broken_links(site)
    print("\n".join(broken) or "every internal link leads somewhere")
    sys.exit(1 if broken else 0)
