"""What is said of arguments that cannot be: one line each, with what was given and what would be right."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

from . import _core
from .errors import UsageError


def shown(value: object) -> str:
    """On one line, and not much of it."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # whatever an object's own repr raises
        text = f"a {type(value).__name__}"
    if not is_text(text):
        text = ascii(text)
    return text if len(text) <= 60 else text[:57] + "..."


def whole_number(name: str, value: object, least: int | None = None) -> int:
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} is {shown(value)}, must be a whole number") from None
    if least is not None and number < least:
        raise ValueError(f"{name} is {number}, must be at least {least}")
    return number


def tile_size(value: object) -> int:
    """An argument nb: 0 leaves the choice to the library."""
    number = whole_number("nb", value, 0)
    if number > 2**31 - 1:
        raise ValueError(f"nb is {number}; no matrix has so many rows")
    return number


def word(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {shown(value)}, must be text")
    if not is_text(value):
        raise UsageError(f"{name} is {ascii(value)}, which holds bytes that are no text")
    return value


def is_text(value: str) -> bool:
    """Not where it holds bytes that could not be decoded."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def pair(name: str, value: object) -> tuple[Any, Any]:
    try:
        first, second = value  # type: ignore[misc]
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {shown(value)}, must be a pair") from None
    return first, second


def as_text(value: object) -> str:
    """With bytes that could not be decoded spelt out."""
    return str(value).encode(errors="backslashreplace").decode()


def unknown(what: str, given: object, known: Iterable[str]) -> str:
    """For a name that is not there: which one may be meant, and all there are."""
    name = given if isinstance(given, str) and is_text(given) else shown(given)
    return _core.unknown_name(what, " ".join(name.split()), list(known))


def unknown_structure(given: object, known: Iterable[str | None]) -> str:
    """In SciPy's words first, of whatever was given as assume_a."""
    said = f"{given} is not a recognized matrix structure" if isinstance(given, str) and is_text(given) else ""
    meant = unknown("assume_a", given, [name for name in known if name])
    return f"{said}: {meant}" if said and len(said) < 80 else meant


def one_of(what: str, given: str, known: Iterable[str]) -> str:
    """The name itself; UsageError where it is not there."""
    known = list(known)
    if given not in known:
        raise UsageError(unknown(what, given, known))
    return given
