#!/usr/bin/env python3
"""Do the links of the pages lead anywhere? Of the sources: README.md, CONTRIBUTING.md, docs/ and those of glt/, with files,
headings and pictures; each picture has words for those who cannot see it; each page of docs/ is in the site's navigation;
addresses elsewhere are well formed, and not visited. With --built FOLDER, of the site in it: every link inside, and that no
page loads anything from elsewhere. Prints what is wrong, a line each."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FOREIGN = re.compile(r"[a-z]+:")


def pages(root: Path) -> list[Path]:
    beside = [root / "README.md", root / "CONTRIBUTING.md"]
    beside += [root / "glt" / "README.md", *sorted((root / "glt" / "docs").rglob("*.md"))]
    return [path for path in beside if path.exists()] + sorted((root / "docs").rglob("*.md"))


def prose(text: str) -> str:
    """Without code, line by line as it was."""
    text = re.sub(r"^(```+|~~~+)(?!\{).*?^\1", lambda m: "\n" * m[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", lambda m: re.sub(r"[^\n]", "x", m[0]), text)


@cache
def anchors(page: Path) -> set[str]:
    """As GitHub and MyST make them of headings; the second of a name has -1 behind it."""
    included = re.compile(r"^```\{include\} (\S+)$", re.MULTILINE)
    text = included.sub(lambda match: f"{(page.parent / match[1]).read_text()}\n```", page.read_text())
    text = re.sub(r"^(```+)[^`]*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    found: dict[str, int] = {}
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
    return {f"{slug}-{i}" if i else slug for slug, last in found.items() for i in range(last + 1)}


def mistake_of_address(address: str) -> str | None:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https", "mailto"):
        return f"{address}: not an address of the web"
    if parts.scheme != "mailto" and not re.fullmatch(r"[\w-]+(\.[\w-]+)+", parts.netloc):
        return f"{address}: no such host can be"
    return None


def mistake_of_link(page: Path, target: str) -> str | None:
    if FOREIGN.match(target):
        return mistake_of_address(target)
    name, _, anchor = unquote(target).partition("#")
    path = (page.parent / name).resolve() if name else page
    if not path.exists():
        return f"{target}: there is no such file"
    if anchor and path.suffix == ".md" and anchor not in anchors(path):
        return f"{target}: no heading of {path.name} is called so"
    return None


def mistakes_of_page(page: Path) -> Iterator[tuple[int, str]]:
    text = prose(page.read_text())
    for link in LINK.finditer(text):
        line = text.count("\n", 0, link.start()) + 1
        if link[1] and not link[2].strip():
            yield line, f"{link[3]}: a picture without words"
        if mistake := mistake_of_link(page, link[3]):
            yield line, mistake


def in_navigation(docs: Path) -> set[Path]:
    found = set()
    for page in docs.rglob("*.md"):
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
            for entry in re.findall(r"^(?!:)(?:[^\n<]*<)?([^\s<>]+)>?$", block, re.MULTILINE):
                found |= set(page.parent.glob(f"{entry}.md"))
    return found


def mistakes_of_navigation(docs: Path) -> Iterator[str]:
    if not (docs / "index.md").exists():
        return
    for page in sorted(set(docs.glob("*.md")) - in_navigation(docs) - {docs / "index.md"}):
        yield f"docs/{page.name}: is not in the navigation of docs/index.md"


def mistakes_of_sources(root: Path) -> list[str]:
    found = [f"{page.relative_to(root)}:{line}: {text}" for page in pages(root) for line, text in mistakes_of_page(page)]
    return [*found, *mistakes_of_navigation(root / "docs")]


class _BuiltPage(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.names |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif "src" in given:
            self.loads.append(given["src"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon", "shortcut icon"):
            self.loads.append(given["href"])


def mistakes_of_built(site: Path) -> list[str]:
    built = {path: _BuiltPage(path.read_text()) for path in sorted(site.rglob("*.html"))}
    found = [] if built else [f"{site}: no pages"]
    for page, parsed in built.items():
        where = page.relative_to(site)
        found += [f"{where}: loads {load} from elsewhere" for load in parsed.loads if re.match(r"(?!data:)([a-z]+:|//)", load)]
        for target in (*parsed.links, *parsed.loads):
            if not FOREIGN.match(target) and (mistake := _mistake_of_built_link(built, page, target)):
                found.append(f"{where}: {mistake}")
    for style in site.rglob("*.css"):
        loads = re.findall(r"(?:url\(|@import )[\"']?(https?:[^\"')]+)", style.read_text())
        found += [f"{style.name}: loads {address} from elsewhere" for address in loads]
    return found


def _mistake_of_built_link(built: dict[Path, _BuiltPage], page: Path, target: str) -> str | None:
    name, _, anchor = unquote(target).partition("#")
    path = (page.parent / name.partition("?")[0]).resolve() if name else page
    if path.is_dir() or not path.exists():
        return f"{target}: there is no such file"
    if anchor and path in built and anchor not in built[path].names:
        return f"{target}: no such place in {path.name}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--built", type=Path, metavar="FOLDER", help="the built site instead of the sources")
    built = parser.parse_args().built
    mistakes = mistakes_of_built(built.resolve()) if built else mistakes_of_sources(ROOT)
    print(*mistakes, sep="\n", end="\n" if mistakes else "")
    return bool(mistakes)


if __name__ == "__main__":
    sys.exit(main())
