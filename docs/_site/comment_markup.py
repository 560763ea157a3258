"""Comments of headers as reStructuredText: plain words stay plain, what is code looks like code, and powers and indices stand
where they do on paper."""

from __future__ import annotations

import re

_NAMES = r"\b(?:trc|glt)_\w+(?:\(\))?|\b(?:TRC|GLT|TRENCADIS)_[A-Z_]+\b|(?<![\w`])_[A-Z][A-Z_]+\b"
_CODE = rf"`[^`]+`|{_NAMES}|\b[a-z]\w*::[\w:]+|\b[\w/-]+\.h(?:pp)?\b"
_RAISED = r"(?<=[\w)|])\^(?:-?\d+|[HT]\b|\w)"
_LOWERED = r"\b[A-Za-z]_[ijk]{1,2}\b"
_PIECES = re.compile(rf"({_CODE})|({_RAISED})|({_LOWERED})")
_IN_DOCSTRINGS = re.compile(rf"(``?[^`]+``?|^\s*(?:>>>|\.\.\.).*$)|({_RAISED})|(\||\*(?=\w))", re.MULTILINE)


def markup(comment: str) -> list[str]:
    """Paragraphs and indented code, as lines of reStructuredText."""
    lines: list[str] = []
    for block in re.split(r"\n\s*\n", comment):
        rows = block.split("\n")
        while rows:
            code = rows[0].startswith(("    ", "  "))
            end = next((i for i, row in enumerate(rows) if row.startswith("  ") != code), len(rows))
            lines += _code(rows[:end]) if code else _paragraph(" ".join(rows[:end]))
            rows = rows[end:]
    return lines


def _code(rows: list[str]) -> list[str]:
    return [".. code-block:: text", "", *("    " + row.strip("\n") for row in rows), ""]


def _paragraph(text: str) -> list[str]:
    return [inline(text), ""] if text.strip() else []


def docstring_markup(docstring: str) -> str:
    """A docstring, which is nearly reStructuredText, with its powers raised and its bars and stars as they are; code stays."""
    return _IN_DOCSTRINGS.sub(lambda m: m[0] if m[1] else _piece(m[0]) if m[2] else "\\" + m[0], docstring)


def inline(text: str) -> str:
    made, at = [], 0
    for piece in _PIECES.finditer(text):
        made += [_escaped(text[at : piece.start()]), _piece(piece[0])]
        at = piece.end()
    made.append(_escaped(text[at:]))
    return _sentence("".join(made).strip())


def _piece(word: str) -> str:
    if word.startswith("^"):
        return rf"\ :sup:`{word[1:].replace('-', '−')}`\ "
    if re.fullmatch(_LOWERED, word):
        return rf"{word[0]}\ :sub:`{word[2:]}`\ "
    return rf"\ ``{word.strip('`')}``\ "


def _escaped(text: str) -> str:
    text = re.sub(r"([\\*|_`<>])", r"\\\1", text.replace("<-", "←").replace(">=", "≥"))
    return re.sub(r"(?<=\d) x (?=\d)|(?<=\b[a-z]) x (?=[a-z]\b|nrhs)", " × ", text)


def _sentence(text: str) -> str:
    """Begins with a capital where it begins with a word, and ends with a stop."""
    if re.match(r"[a-z]+[ ,]", text) and not re.match(r"(n|m|op|max|ipiv|berr|trencadis) ", text):
        text = text[0].upper() + text[1:]
    return text if not text or re.search(r"[.:,)]$|^\\ ``[^`]*``\\$", text) else text + "."
