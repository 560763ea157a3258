"""`trencadis reproduce` on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .checks import one_of
from .errors import UsageError
from .files import check_writable
from .records import JsonTo, check_record_target, collect, progress_bar, write_records
from .tables import console, print_table

if TYPE_CHECKING:
    from .reproduce.gallery import Section

Which = Annotated[str, typer.Argument(metavar="asym|energy|locality|numa", help="Which published system", show_default=False)]
Folder = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FOLDER", show_default=False,
        help="Where report.md, the charts, the timelines and the rows go; made where it does not exist",
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Fewer and smaller configurations; published figures only where n agrees")]


def register(app: typer.Typer) -> None:
    app.command("reproduce")(reproduce_command)


def reproduce_command(which: Which, quick: Quick = False, json: JsonTo = None, output: Folder = None) -> None:
    """Simulate what was published, and print it beside the published figures with the difference."""
    from .reproduce import GALLERIES
    from .reproduce.gallery import plan, run_gallery
    from .reproduce.report import write_report

    one_of("published system", which, GALLERIES)
    gallery = GALLERIES[which]
    check_record_target(json)
    if output is not None:
        _make_folder(output)
    cases = plan(gallery, quick, output)
    with progress_bar(len(cases)) as step:
        rows = collect(run_gallery(gallery, cases, step), json)
    command = f"trencadis reproduce {which}{' --quick' * quick}"
    files = write_report(gallery, rows, output, command) if output is not None else []
    if json:
        write_records(rows, json)
        return
    print(f"{gallery.TITLE}; ours simulated\n")
    for section in gallery.sections(rows):
        print_section(section)
    for file in files:
        print(f"wrote {file}")


def print_section(section: Section) -> None:
    console().print(f"[bold]{section.title}[/bold]")
    if section.text:
        console().print(section.text.strip() + "\n", markup=False)
    print_table(section.rows, section.columns)
    print()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"-o: {folder} cannot be made: {error.strerror}") from None
    check_writable(folder / "report.md")
