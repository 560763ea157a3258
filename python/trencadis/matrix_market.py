"""Matrix Market files, looked at before SciPy's reader, which takes what a number begins with for all of it: `4d1` and `4garbage`
for 4. Each line must hold what the first line of the file promises."""

from __future__ import annotations

import re
from pathlib import Path

from .errors import UsageError

# No possessive quantifiers: of those around groups Python before 3.11.5 takes less than there is, and words are cut short.
_WHOLE = rb"[+-]?\d+"
_REAL = rb"(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?|[+-]?(?i:inf(?:inity)?|nan))"
#: Words of an entry after the numbers of its row and column, by field.
_VALUES = {
    b"real": [_REAL], b"double": [_REAL], b"complex": [_REAL, _REAL], b"integer": [_WHOLE], b"unsigned-integer": [_WHOLE],
    b"pattern": [],
}  # fmt: skip
_MEANING = {_WHOLE: "a whole number", _REAL: "a number"}
_FORTRAN = re.compile(rb"(?<=[\d.])[dD](?=[+-]?\d)")


def checked(path: Path, text: bytes) -> bytes:
    """The text, with exponents as C reads them. UsageError names the line that is wrong. A text that does not begin as such
    files do is left to the reader to refuse."""
    banner = re.match(rb"%%MatrixMarket[ \t]+matrix[ \t]+(\w+)[ \t]+([\w-]+)[ \t]+[\w-]+[ \t]*\r?\n", text, re.IGNORECASE)
    if not banner or banner[2].lower() not in _VALUES or banner[1].lower() not in (b"coordinate", b"array"):
        return text
    start = _end_of_comments(text, banner.end())
    sparse = banner[1].lower() == b"coordinate"
    after_sizes = _require_sizes(path, text, start, 3 if sparse else 2)
    words = [_WHOLE, _WHOLE] * sparse + _VALUES[banner[2].lower()]
    _require_entries(path, text, after_sizes, words)
    body = text[after_sizes:]
    if b"d" not in body and b"D" not in body:
        return text
    return text[:after_sizes] + _FORTRAN.sub(b"e", body)


def _end_of_comments(text: bytes, start: int) -> int:
    line = re.compile(rb"[ \t]*(?:%[^\n]*)?\r?\n")
    while found := line.match(text, start):
        start = found.end()
    return start


def _require_sizes(path: Path, text: bytes, start: int, count: int) -> int:
    """Where the line of sizes ends."""
    end = text.find(b"\n", start)
    end = len(text) if end < 0 else end + 1
    _require_line(path, text, start, end, [_WHOLE] * count)
    return end


def _require_entries(path: Path, text: bytes, start: int, words: list[bytes]) -> None:
    entry = rb"[ \t]+".join(words)
    other = re.compile(rb"^(?![ \t]*(?:%[^\n]*|" + entry + rb"[ \t]*)?\r?$)", re.MULTILINE)
    while start < len(text):  # in pieces, so that Ctrl-C is heard
        piece = text.rfind(b"\n", start, start + (1 << 22)) + 1
        piece = piece if piece > start and start + (1 << 22) < len(text) else len(text)
        while found := other.search(text, start, piece):
            line_end = text.find(b"\n", found.start())
            start = len(text) if line_end < 0 else line_end + 1
            _require_line(path, text, found.start(), start, words)
        start = piece


def _require_line(path: Path, text: bytes, start: int, end: int, words: list[bytes]) -> None:
    given = text[start:end].split()
    number = text.count(b"\n", 0, start) + 1
    for word, right in zip(given, words, strict=False):
        if not re.fullmatch(right, word):
            raise UsageError(f"{path}:{number}: '{word[:40].decode(errors='backslashreplace')}' is not {_MEANING[right]}")
    if len(given) != len(words):
        raise UsageError(f"{path}:{number}: {len(given)} words, where the file's first line promises {len(words)}")
