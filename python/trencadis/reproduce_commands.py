"""`trencadis reproduce` on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .checks import one_of
from .errors import UsageError
from .files import check_writable
from .patience import has_results_to_write
from .records import JsonTo, check_record_target, emit, progress_bar, write_records
from .seeds import SeedCount
from .tables import console, json_line, print_named, print_table

if TYPE_CHECKING:
    from .reproduce.gallery import Section

Which = Annotated[str, typer.Argument(metavar="asym|energy|locality|numa", help="Which published system", show_default=False)]
Folder = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FOLDER",
        show_default=False,
        help="Where report.md, the charts, the timelines and the rows go; made where it does not exist",
    ),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Fewer and smaller configurations, of 3 seeds; published figures only where n agrees")
]


def register(app: typer.Typer) -> None:
    app.command("reproduce")(reproduce_command)


def reproduce_command(
    which: Which, quick: Quick = False, seeds: SeedCount = None, json: JsonTo = None, output: Folder = None
) -> None:
    """Simulate what was published, and print it beside the published figures with the difference.

    What a policy chooses at random is run over 30 seeds, 3 with --quick, and shown as mean and 95 % interval.
    """
    from .reproduce import GALLERIES
    from .reproduce.gallery import SEEDS, SEEDS_QUICK, count_runs, plan, run_gallery

    one_of("published system", which, GALLERIES)
    gallery = GALLERIES[which]
    check_record_target(json)
    if output is not None:
        _make_folder(output)
    cases, count = plan(gallery, quick, output), seeds or (SEEDS_QUICK if quick else SEEDS)
    rows: list[dict[str, Any]] = []
    has_results_to_write()
    broken_off = False
    with progress_bar(count_runs(cases, count), lines=True) as step:
        try:
            _gather(run_gallery(gallery, cases, count, step), rows, json)
        except KeyboardInterrupt:
            broken_off = True
    command = f"trencadis reproduce {which}{' --quick' * quick}{f' --seeds {seeds}' if seeds else ''}"
    _show(gallery, rows, output, command, json, f"{len(rows)} of {len(cases)} rows" if broken_off else "")
    if broken_off:
        raise KeyboardInterrupt


def _gather(found: Iterable[dict[str, Any]], rows: list[dict[str, Any]], target: str | None) -> None:
    """Fills `rows`, so that those that are there are known whatever ends it."""
    for row in found:
        rows.append(row)
        if target == "-":
            print(json_line(row), flush=True)


def _show(gallery: Any, rows: list[dict[str, Any]], output: Path | None, command: str, json: str | None, partial: str) -> None:
    """`partial`: how much of it is there, where it was broken off; then the last record says so too."""
    from .reproduce.report import closing_records, records_of, sections_of, write_report

    files = write_report(gallery, rows, output, command, partial) if output is not None else []
    if json:
        if json == "-":
            emit(closing_records(gallery, rows, partial), "-")
        write_records(records_of(gallery, rows, partial), json)
        return
    print(f"{gallery.TITLE}; ours simulated\n")
    for section in sections_of(gallery, rows, partial):
        print_section(section)
    for file in files:
        print(f"wrote {file}")


def print_section(section: Section) -> None:
    print_named(section.title)
    if section.text:
        console().print(section.text.strip() + "\n", markup=False)
    if section.columns:
        print_table(section.rows, section.columns)
    print()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"-o: {folder} cannot be made: {error.strerror}") from None
    check_writable(folder / "report.md")
