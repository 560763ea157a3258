"""What the table of routines says of a routine's forms."""

from __future__ import annotations

from . import _core


def forms_of(routine: str, **properties: bool) -> list[str]:
    """The names of the forms that have these properties, in the table's order (`_core.list_routines`)."""
    entry = next(row for row in _core.list_routines() if row["name"] == routine)
    return [form["name"] for form in entry["forms"] if all(form[key] == value for key, value in properties.items())]
