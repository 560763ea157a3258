"""What a header of ours declares, with its comments, as a tree. Knows how our headers are written, not all of C++.

A comment belongs to the declarations that follow it without an empty line, or to what precedes it on its line. What a class keeps
to itself, what is deleted, bodies, values of objects and what stands between `// inside >>>` and `// <<<` are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_WORDS_OF_TYPES = r"(?:class|struct|union|enum(?:\s+class)?)"
_HEAD_OF_TYPE = re.compile(rf"^(?:template\s*<.*>\s*)?(?:typedef\s+)?({_WORDS_OF_TYPES})\b\s*([^()=]*)$", re.DOTALL)
_SECTION = re.compile(r"^-{3,}\s*(.*?)\s*-{3,}\s*(.*)$", re.DOTALL)


@dataclass
class Entry:
    """`kind`: function, object, alias, type (with members), enum, enumerator, macro, concept, section or text."""

    kind: str
    name: str = ""
    declarations: list[str] = field(default_factory=list)
    comment: str = ""
    members: list[Entry] = field(default_factory=list)
    closed: bool = False  #: what follows without a comment is not part of it


def read_header(text: str) -> list[Entry]:
    return _Reader(_without_preprocessor(without_inside(text))).entries()


def without_inside(text: str) -> str:
    """As cmake/PublicHeaders.cmake installs it."""
    text = re.sub(r"[^\n]*// inside\n", "", text)
    return re.sub(r"[ \n]*// inside >>>.*?// <<<\n", "\n", text, flags=re.DOTALL)


def _without_preprocessor(text: str) -> str:
    """As a compiler of C sees it that was given no macro; plain values stay, as `#define NAME value`."""
    kept, shown, defines = [], [True], r"#define ([A-Z]\w*[A-Z]) +(\S.*)$"
    for line in re.sub(r"\\\n", " ", text).split("\n"):
        if not line.startswith("#"):
            if all(shown):
                kept.append(line)
            continue
        if line.startswith("#if"):
            shown.append(line.startswith("#ifndef"))
        elif line.startswith("#else"):
            shown[-1] = not shown[-1]
        elif line.startswith("#endif"):
            shown.pop()
        elif all(shown) and re.match(defines, line) and not line.startswith("#define GLT_API"):
            kept.append(line)
    return re.sub(r"\bGLT_API ", "", "\n".join(kept))


def plain(comment: str) -> str:
    """The text of a comment without its signs; indentation inside it stays."""
    comment = re.sub(r"^/\*+ ?|\s*\*/$", "", comment)
    lines = [re.sub(r"^\s*(///?<?|\*(?!\w)) ?", "", line) for line in comment.split("\n")]
    return "\n".join(line.rstrip() for line in lines).strip("\n")


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.comment = ""  # waits for a declaration
        self.blank = True  # since the last declaration

    def entries(self, enum: bool = False, hidden: bool = False) -> list[Entry]:
        """To the end of the text or of the braces that the reader is in. `hidden`: private at the beginning, as in a class."""
        found: list[Entry] = []
        while (item := self._next(enum)) is not None:
            kind, value = item
            if kind == "comment" and hidden:
                continue
            if kind == "comment":
                self._take_comment(value, found)
            elif kind == "blank":
                self._let_go_of_comment(found)
                self.blank = True
            elif kind == "access":
                hidden = value != "public"
                self.comment = ""
            elif kind == "close":
                break
            elif hidden:
                self._skip_members(value)
            elif enum:
                self._add(found, Entry("enumerator", value.split("=")[0].strip(), [value]))
            else:
                self._declare(value, found)
        self._let_go_of_comment(found)
        return found

    # --- pieces of text

    def _next(self, enum: bool) -> tuple[str, str] | None:
        spaces = re.compile(r"[ \t]*\n?([ \t]*\n)*").match(self.text, self.at)
        if spaces[0].count("\n") > 1:
            self.at = spaces.end()
            return "blank", ""
        self.at = spaces.end()
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        if self.at >= len(self.text):
            return None
        rest = self.text[self.at :]
        if rest.startswith("/*"):
            return self._pass("comment", rest[: rest.index("*/") + 2])
        if comment := re.match(r"///<.*(\n[ \t]*///<.*)*|///.*(\n[ \t]*///(?!<).*)*", rest):
            return self._pass("comment", comment[0])
        if comment := re.match(r"//.*", rest):
            self.at += comment.end()
            return self._next(enum)
        if access := re.match(r"(public|private|protected):", rest):
            self.at += access.end()
            return "access", access[1]
        if macro := re.match(r"#define (.*)", rest):
            return self._pass("declaration", macro[0])
        if rest[0] in "};":
            self.at += 1
            return ("close", "") if rest[0] == "}" else self._next(enum)
        return "declaration", self._enumerator() if enum else self._head()

    def _pass(self, kind: str, value: str) -> tuple[str, str]:
        self.at += len(value)
        return kind, value

    def _enumerator(self) -> str:
        found = re.compile(r"[^,}/]+").match(self.text, self.at)
        self.at = found.end()
        if self.text[self.at] == ",":
            self.at += 1
        return found[0].strip()

    def _head(self) -> str:
        """Up to the semicolon or to an opening brace, which is left; without what objects are initialised with."""
        begin, depth = self.at, 0
        while self.at < len(self.text):
            c = self.text[self.at]
            if c in "([":
                depth += 1
            elif c in ")]":
                depth -= 1
            elif c == "{" and (depth or self._is_member_initialiser(self.text[begin : self.at])):
                self._skip_braces()
                continue
            elif c == "{" and self._is_initialiser(self.text[begin : self.at]):
                head = self.text[begin : self.at]
                self._skip_braces()
                self.at = self.text.index(";", self.at) + 1
                return head.rstrip(" =")
            elif c == "{" and not depth:
                break
            elif c == ";" and not depth:
                self.at += 1
                return self.text[begin : self.at - 1]
            self.at += 1
        return self.text[begin : self.at]

    @staticmethod
    def _is_member_initialiser(head: str) -> bool:
        """Of a constructor: `: member_{value}`."""
        return bool(re.search(r"\)\s*:\s", head) and re.search(r"\w$", head))

    @staticmethod
    def _is_initialiser(head: str) -> bool:
        head = re.sub(r"^template\s*<.*?>\s*(?=\w)", "", head)
        typed = re.match(rf"(typedef\s+)?({_WORDS_OF_TYPES}|namespace|inline namespace)\b", head)
        return head.rstrip().endswith("=") or (not typed and "(" not in head)

    def _skip_braces(self) -> None:
        depth = 0
        while True:
            depth += {"{": 1, "}": -1}.get(self.text[self.at], 0)
            self.at += 1
            if not depth:
                return

    def _at_brace(self) -> bool:
        return self.text[self.at : self.at + 1] == "{"

    def _skip_members(self, head: str) -> None:
        if self._at_brace() and not re.match(r"(inline\s+)?namespace\b", head):
            self._skip_braces()
        self.comment = ""

    # --- comments

    def _take_comment(self, comment: str, found: list[Entry]) -> None:
        before = self.text[self.text.rfind("\n", 0, self.at - len(comment)) + 1 : self.at - len(comment)]
        if before.strip() and found and not self.comment:
            entry = _last_declared(found)
            entry.comment = f"{entry.comment} {plain(comment)}".strip()
            entry.closed = True
        else:
            self.comment = f"{self.comment}\n{plain(comment)}".strip("\n")

    def _let_go_of_comment(self, found: list[Entry]) -> None:
        if not self.comment:
            return
        if section := _SECTION.match(self.comment):
            found.append(Entry("section", section[1]))
            self.comment = section[2]
        if self.comment:
            found.append(Entry("text", comment=self.comment))
        self.comment = ""

    # --- declarations

    def _declare(self, head: str, found: list[Entry]) -> None:
        if re.match(r"(inline\s+)?namespace\b", head) and self._at_brace():
            self._enter_namespace(head, found)
            return
        made = _HEAD_OF_TYPE.match(head.strip())
        if made and self._at_brace():
            self._enter_type(made, head, found)
            return
        if self._at_brace():
            self._skip_braces()
            head = _without_initialisers(head)
        declaration = " ".join(head.split())
        if _is_shown(declaration):
            self._add(found, _entry_of(declaration))
        else:
            self.comment = ""

    def _enter_namespace(self, head: str, found: list[Entry]) -> None:
        self.at += 1
        if head.split()[-1] == "detail":
            self.at -= 1
            self._skip_braces()
            self.comment = ""
            return
        self._let_go_of_comment(found)
        found += self.entries()
        self.blank = True

    def _enter_type(self, made: re.Match, head: str, found: list[Entry]) -> None:
        word, comment = made[1], self.comment
        self.at += 1
        self.comment, blank = "", self.blank
        members = self.entries(enum=word.startswith("enum"), hidden=word == "class")
        end = self.text.index(";", self.at)
        name = self.text[self.at : end].strip() or re.sub(r"\s*(final\b.*|(?<!:):(?!:).*)$", "", made[2].strip(), flags=re.DOTALL)
        self.at, self.comment, self.blank = end + 1, comment, blank
        declaration = " ".join(head.replace("typedef ", "").split())
        entry = Entry("enum" if word.startswith("enum") else "type", name, [declaration], members=members)
        self._add(found, entry)
        entry.closed = True

    def _add(self, found: list[Entry], entry: Entry) -> None:
        last = found[-1] if found else None
        grouped = last and last.kind == entry.kind == "function" and not (self.comment or self.blank or last.closed)
        grouped = grouped and _belong_together(last, entry)
        if section := _SECTION.match(self.comment):
            found.append(Entry("section", section[1]))
            self.comment, grouped = section[2], False
        if grouped:
            last.declarations += entry.declarations
        else:
            entry.comment, self.comment = f"{self.comment} {entry.comment}".strip(), ""
            found.append(entry)
        self.blank = False


def _belong_together(first: Entry, second: Entry) -> bool:
    """Overloads; and under one comment the same in other precisions, of another kind of unit, or with one more letter."""
    if not first.comment:
        return first.name == second.name
    if re.match(r"trc_[sdcz][a-z]", first.name) and re.match(r"trc_[sdcz][a-z]", second.name):
        return True
    return second.name.startswith(first.name) or first.name.split("_")[-1] == second.name.split("_")[-1]


def _last_declared(found: list[Entry]) -> Entry:
    """What a comment behind it is about: the last of a group by itself."""
    last = found[-1]
    if len(last.declarations) > 1:
        found.append(_entry_of(last.declarations.pop()))
    return found[-1]


def _without_initialisers(head: str) -> str:
    """A constructor without `: member_(value)`."""
    colon = re.search(r"\)(?:\s*noexcept)?\s*(?=:\s*[\w:]+[({])", head)
    return head[: colon.end()] if colon else head


def _is_shown(declaration: str) -> bool:
    forward = re.match(rf"^(template\s*<.*>\s*)?{_WORDS_OF_TYPES}\s+\w+$", declaration)
    apart = declaration.startswith(("friend ", "using namespace ", "extern ", "static_assert"))
    defined_apart = re.match(r"[\w\s*&<>:,]*?\w::~?\w+\s*\(", _without_head_of_template(declaration))
    return not (forward or apart or defined_apart or " = delete" in declaration)


def _entry_of(declaration: str) -> Entry:
    if declaration.startswith("#define "):
        _, name, value = declaration.split(maxsplit=2)
        return Entry("macro", name, [name], f"`{value}`")
    if alias := re.match(r"(?:template\s*<[^>]*>\s*)?using (\w+) =", declaration):
        return Entry("alias", alias[1], [declaration])
    pointer = re.match(r"[\w\s*:<>]+\(\*(\w+)\)", declaration)
    if declaration.startswith("typedef "):
        return Entry("alias", pointer[1] if pointer else declaration.split()[-1], [declaration])
    if concept := re.search(r"\bconcept (\w+)", declaration):
        return Entry("concept", concept[1], [declaration])
    bare = _without_head_of_template(declaration)
    while (shorter := re.sub(r"<[^<>]*>", "", bare)) != bare:
        bare = shorter
    called = re.search(r"(operator\s*(?:\(\)|[^(]+)|~?\w+)\s*\(", bare)
    if called and not pointer:
        return Entry("function", called[1], [declaration])
    if declaration.startswith("template"):
        declaration = declaration.split(" = ")[0]
    name = pointer[1] if pointer else re.sub(r"\s*=.*|\[.*|<[^>]*>", "", declaration).split(",")[0].split()[-1].lstrip("*&")
    if several := re.match(r"([\w:]+) (\w+ = \w+), (\w+ = \w+)$", declaration):
        return Entry("object", name, [f"{several[1]} {several[2]}", f"{several[1]} {several[3]}"])
    return Entry("object", name, [declaration])


def _without_head_of_template(declaration: str) -> str:
    """Nor its constraints."""
    if not declaration.startswith("template"):
        return declaration
    depth = 0
    for place in range(declaration.index("<"), len(declaration)):
        depth += {"<": 1, ">": -1}.get(declaration[place], 0)
        if not depth:
            rest = declaration[place + 1 :].strip()
            break
    if not rest.startswith("requires"):
        return rest
    named = re.search(r"(?:>\s*&?\s*|\))\s+(?=(?:explicit|void|inline|bool|auto)\b)", rest)
    return rest[named.end() :] if named else rest


def walk(entries: list[Entry]) -> Iterator[Entry]:
    for entry in entries:
        yield entry
        yield from walk(entry.members)
