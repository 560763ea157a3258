#!/usr/bin/env python3
"""Which sources may be compiled together as one: prints a line `GROUP SOURCE` for each that has company, for cmake/Unity.cmake.

    scripts/unity_groups.py SOURCE...

Two sources have company only if what one declares for itself (in a namespace without a name, static, as a macro) is a word
that the other does not use at all, or an alias that both spell alike, and if they open the same namespaces. So nothing that
is written in one can mean something else through the other, and a new source with a name that is taken lands in another
group instead of breaking the build.
"""

import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOTS = [ROOT / "src", ROOT / "include", ROOT / "glt" / "src", ROOT / "glt" / "include", ROOT / "tests"]
#: What a group may hold. The compiler needs some 300 MB and 100 MB for every thousand lines, and all groups should end together.
MOST_LINES, MOST_SOURCES = 1800, 12
KEYWORDS = """alignas auto bool char class concept const constexpr constinit double enum extern final float for if inline int long
    namespace operator private protected public requires return short signed static struct template thread_local typename union
    unsigned using void volatile while"""
#: Stands for the end of a namespace without a name, which only its comment tells from that of a function.
HIDDEN_END = "}}"
#: Macros that cmake/Unity.cmake ends behind each source.
ENDED = ("TRC_INSTANTIATE",)
#: Of every file of tests, and the same in all.
PUBLIC = re.compile(r"^(TEST|TEST_F|TEST_P|TYPED_TEST\w*|INSTANTIATE_\w+|MATCHER\w*|GLT_SUITE)\(")


class Source:
    def __init__(self, name):
        self.name = name
        text = Path(name).read_text()
        text = re.sub(r"^\} // namespace$", HIDDEN_END, text, flags=re.MULTILINE)
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
        self.lines = text.count("\n")
        self.words = set(re.findall(r"[A-Za-z_]\w*", re.sub(r'"(\\.|[^"\\\n])*"', '""', text)))
        self.headers = frozenset().union(*(header_names(header) for header in included(text, Path(name).parent)))
        aliases = set(re.findall(r"^using (?!namespace)[^;]*;", text, flags=re.MULTILINE))
        self.aliases = {re.search(r"(\w+)( =.*)?;", alias, flags=re.DOTALL)[1]: alias for alias in aliases}
        self.own = set(own_names(text))
        self.opened = frozenset(re.findall(r"^using namespace ([\w:]+);", text, flags=re.MULTILINE))
        body = text.rpartition("#include")
        #: A macro before a header changes the header, and a header of this kind changes what comes after it.
        self.alone = any(name not in ENDED for name in re.findall(r"^\s*#\s*define (\w+)", body[0], flags=re.MULTILINE))

    def fits(self, other):
        if self.own & other.headers or other.own & self.headers:
            return False
        met = (self.own & other.words) | (other.own & self.words)
        return self.opened == other.opened and all(self.spells_alike(word, other) for word in met)

    def spells_alike(self, word, other):
        return word in self.aliases and self.aliases[word] == other.aliases.get(word)


def included(text, folder):
    """Our own headers that a text includes."""
    for name in re.findall(r'^#include "([^"]+)"', text, flags=re.MULTILINE):
        yield from [found for root in (folder, *ROOTS) if (found := root / name).is_file()][:1]


@cache
def header_names(header):
    """The names that a header and those that it includes declare for all."""
    text = header.read_text()
    lines = [
        line
        for line in text.split("\n")
        if re.match(r"[A-Za-z_]", line) and not line.startswith(("namespace", "using namespace"))
    ]
    own = frozenset(name for line in lines for name in declared(line))
    return own.union(*(header_names(other) for other in included(text, header.parent)))


def own_names(text):
    """The words that a source declares for itself. Declarations stand in the first column, for the layout says so."""
    yield from (name for name in re.findall(r"^\s*#\s*define\s+(\w+)", text, flags=re.MULTILINE) if name not in ENDED)
    hidden = False
    for line in text.split("\n"):
        if re.match(r"namespace( \w+(::\w+)*)? \{", line):
            hidden = hidden or line.startswith("namespace {")
            yield from re.findall(r"^namespace (\w+) =", line)
        elif line == HIDDEN_END:
            hidden = False
        elif line.startswith("using namespace "):
            continue
        elif (hidden or line.startswith("static ")) and re.match(r"[A-Za-z_]", line) and not PUBLIC.match(line):
            yield from declared(line)
        elif PUBLIC.match(line):
            yield from re.findall(r"^MATCHER\w*\((\w+)", line)


def declared(line):
    """All words of a declaration up to its arguments or value that could be its name."""
    if made := re.match(r"(?:class|struct|union|enum(?: class)?|using(?=[^=]* =)) (\w+)", line):
        return [made[1]]
    while (shorter := re.sub(r"<[^<>]*>", "", line)) != line:
        line = shorter
    head = re.split(r"[({=;<]", line, maxsplit=1)[0]
    words = [word for word in re.findall(r"[A-Za-z_]\w*", head.partition(" : ")[0]) if word not in KEYWORDS.split()]
    return words[-1:]


def groups(sources):
    """First fit: in the order of their names, so that one source more moves few others."""
    made = []
    for source in sources:
        if source.alone:
            continue
        for group in made:
            room = len(group) < MOST_SOURCES and sum(other.lines for other in group) + source.lines <= MOST_LINES
            if room and all(source.fits(other) for other in group):
                group.append(source)
                break
        else:
            made.append([source])
    return made


def main():
    for number, group in enumerate(groups([Source(name) for name in sorted(sys.argv[1:])])):
        if len(group) > 1:
            for source in group:
                print(number, source.name)


if __name__ == "__main__":
    main()
