"""The words of a command line before typer takes them: `--json` with or without a file, options given twice, what is no text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from .checks import is_text
from .errors import UsageError

_RECORDS = (".json", ".jsonl", ".ndjson")


def prepared(group: Any, words: Sequence[str]) -> list[str]:
    """The words with `--json` and its file, or -, in one. UsageError where an option is given twice that is taken once, and for
    what is no text and names no file.

    `--json` is followed by its FILE where that is -, has the suffix of JSON, or cannot be anything else because all operands are
    there; else it means standard output.
    """
    at = next((i for i, word in enumerate(words) if not word.startswith("-")), None)
    command = None if at is None else group.commands.get(words[at])
    if at is None or command is None:
        _require_text(words)
        return list(words)
    line = _Line(command, words[at + 1 :])
    return [*words[: at + 1], *line.words()]


class _Line:
    """The words behind a command's name, each with the parameter that it belongs to."""

    def __init__(self, command: Any, words: Sequence[str]) -> None:
        self._options = {name: p for p in command.params if p.param_type_name == "option" for name in p.opts}
        self._arguments = [p for p in command.params if p.param_type_name == "argument"]
        self._given: dict[str, str] = {}
        self._operands = 0
        self._words: list[str] = []
        self._json: tuple[int, str | None] | None = None  # where --json is, and the word that may be its file
        self._scan(list(words))

    def words(self) -> list[str]:
        if self._json is None:
            return self._words
        at, file = self._json
        if file is None:
            self._words[at] = "--json=-"
        elif file in ("", "-") or PurePath(file).suffix.lower() in _RECORDS or self._operands >= len(self._arguments):
            self._words[at : at + 2] = [f"--json={file}"]
        else:
            self._check_operand(file)
            self._words[at] = "--json=-"
        return self._words

    def _scan(self, words: list[str]) -> None:
        while words:
            word = words.pop(0)
            self._words.append(word)
            if word == "--":
                for operand in words:
                    self._check_operand(operand)
                self._words += words
                return
            name, equals, value = word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])
            option = self._options.get(name) if word.startswith("-") and word != "-" else None
            if option is None:
                if not word.startswith("-") or word == "-":
                    self._check_operand(word)
            elif not option.is_flag:
                self._take_value(name, option, value if equals else None, words)

    def _take_value(self, name: str, option: Any, value: str | None, words: list[str]) -> None:
        if value is None and name == "--json":
            may_be = words.pop(0) if words and (words[0] == "-" or not words[0].startswith("-")) else None
            self._json = len(self._words) - 1, may_be
            self._words += [] if may_be is None else [may_be]
            value = may_be or "-"
        elif value is None:
            if not words:
                return  # typer says that it needs one
            value = words.pop(0)
            self._words.append(value)
        if name != "--json" and not _names_file(option):
            _require_text([value])
        first = self._given.get(option.name)
        self._given[option.name] = value
        if first is not None and not option.multiple:
            several = f"; several with commas, {name} {first},{value}" if "," in (option.metavar or "") else ""
            raise UsageError(f"{name}: given twice, as '{first}' and '{value}'; give it once{several}")

    def _check_operand(self, word: str) -> None:
        argument = self._arguments[self._operands] if self._operands < len(self._arguments) else None
        self._operands += 1
        if argument is None or not _names_file(argument):
            _require_text([word])


def _names_file(parameter: Any) -> bool:
    of_typer = getattr(parameter, "type_descriptor", None)  # click's own have a type
    return "Path" in (repr(of_typer.annotation) if of_typer else type(parameter.type).__name__)


def _require_text(words: Sequence[str]) -> None:
    for word in words:
        if not is_text(word):
            raise UsageError(f"{ascii(word)[1:-1]}: holds bytes that are no text; names are text in UTF-8")
