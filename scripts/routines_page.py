#!/usr/bin/env python3
"""Writes docs/routines.md from the list of signatures and the table of routines, which the faces and commands are made of."""

from fractions import Fraction
from pathlib import Path

from trencadis import _core

PAGE = Path(__file__).parents[1] / "docs" / "routines.md"

HEAD = """# Routines

Made by `.venv/bin/python scripts/routines_page.py` from the list of signatures and the table of routines that the
interfaces are made of.

Arguments stand in BLAS's and LAPACK's order, without work arrays and `info`; `dgemm` and its kin are called `trc_dgemm` in
C, `gemm(session, ...)` in C++ and as [blas.md](blas.md) says elsewhere. Operations are the leading term for real square
matrices and one right side; complex ones count four times as many. The first variant is the standard one.

| routine | precisions | arguments | operations | variants |
| --- | --- | --- | --- | --- |
"""
TAIL = """
What each does:

"""


def operations(routine: str) -> str:
    """The leading term, from the counts at a large size."""
    n = 2.0**20
    flops = _core.routine_flops(routine, False, n)
    power = 3 if flops > n**2.5 else 2
    factor = Fraction(flops / n**power).limit_denominator(6)
    return f"{'' if factor == 1 else f'{factor} '}n^{power}"


#: Parts of others, which cost what they are given.
PARTS = {"larft": "n k^2", "larfb": "4 m n k"}
#: Made of others, they have no row in the table and the leading cost of these.
COST_OF = {"gesvx": "gesv", "posvx": "posv"}


def entry_of(name: str, entries: dict[str, dict]) -> dict | None:
    """What is unitary in complex precisions has its row under its name in real ones."""
    return entries.get(COST_OF.get(name, name.replace("un", "or", 1) if name.startswith("un") else name))


def row(signature: dict, entries: dict[str, dict]) -> str:
    name = signature["name"]
    cells = [f"`{name}`", signature["precisions"], ", ".join(signature["arguments"])]
    if entry := entry_of(name, entries):
        apart = {form["name"] for form in entry["forms"] if form["own_factors"]}
        variants = [variant for variant in entry["variants"] if name != "gesvx" or variant not in apart]
        cells += [operations(entry["name"]), " ".join(variants)]
    else:
        cells += [PARTS.get(name, "a few n^2"), ""]
    return "| " + " | ".join(cells) + " |\n"


def page() -> str:
    entries = {entry["name"]: entry for entry in _core.list_routines()}
    rows = "".join(row(signature, entries) for signature in _core.signatures())
    summaries = "".join(
        f"- `{name}`: {entry['summary']} ({entry['source']})\n" for name, entry in entries.items() if entry["available"]
    )
    return HEAD + rows + TAIL + summaries


if __name__ == "__main__":
    PAGE.write_text(page())
