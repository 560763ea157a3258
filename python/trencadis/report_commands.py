"""`trencadis report` on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .checks import one_of
from .errors import UsageError
from .files import check_writable, warn, write_text
from .records import JsonTo, check_record_target
from .tables import print_table

if TYPE_CHECKING:
    from .report.read import Group

FORMATS = ("text", "html", "md", "csv")

Campaigns = Annotated[
    list[Path],
    typer.Argument(
        metavar="FOLDER|FILE.toml|FILE.jsonl...", help="Campaigns that have run, whole or in part", show_default=False
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", show_default=False, help="A page .html, Markdown .md, or a table .csv"),
]
Format = Annotated[
    str, typer.Option("--format", metavar="|".join(FORMATS), show_default=False, help="Default: by the suffix of -o, else text")
]
Machine = Annotated[
    str, typer.Option("--machine", metavar="NAME", show_default=False, help="Only the runs on this machine, real or described")
]
Gantt = Annotated[
    bool, typer.Option("--gantt/--no-gantt", help="With .html: timelines of the fastest configurations, run again for it")
]


def register(app: typer.Typer) -> None:
    app.command("report")(report_command)


def report_command(
    campaigns: Campaigns,
    output: Output = None,
    format: Format = "",
    machine: Machine = "",
    gantt: Gantt = True,
    json: JsonTo = None,
) -> None:
    """What a campaign says: the best configurations by speed and energy with their intervals, what each lever does, what one
    choice costs in terms of the other. Runs of different machines or commits are kept apart, each under its name."""
    from .report.read import read_groups

    chosen = _format(format, output)
    check_record_target(json)
    if output is not None:
        check_writable(output)
    groups = read_groups(campaigns, machine)
    if len(groups) > 1:
        warn(f"{len(groups)} groups that are not put together: " + "; ".join(group.name for group in groups))
    if json:
        from .report import pages  # with SciPy's statistics, which take a second to load

        _write(pages.to_json(groups), None if json == "-" else Path(json))
    if not json or output is not None:
        _put(groups, chosen, output, gantt)


def _format(format: str, output: Path | None) -> str:
    suffix = output.suffix.lower().lstrip(".") if output is not None else ""
    suffix = {"markdown": "md", "htm": "html", "txt": "text"}.get(suffix, suffix)
    if format:
        return one_of("--format", format, FORMATS)
    if output is not None and suffix not in FORMATS:
        raise UsageError(f"-o: '{output}' has none of the suffixes .html, .md, .csv; or say --format")
    return suffix or "text"


def _put(groups: list[Group], chosen: str, output: Path | None, gantt: bool) -> None:
    from .report import pages

    if chosen == "csv":
        text = pages.to_csv(groups)
    else:
        chapters = [pages.chapter_of(group, pictures=chosen == "html", gantt=gantt) for group in groups]
        if chosen == "text" and output is None:
            return _print(chapters)
        text = pages.to_html(chapters) if chosen == "html" else pages.to_markdown(chapters)
    _write(text, output)
    if output is not None:
        print(f"wrote {output}")
    return None


def _write(text: str, path: Path | None) -> None:
    if path is None:
        print(text, end="")
    else:
        write_text(path, text)


def _print(chapters: list) -> None:
    for chapter in chapters:
        print(chapter.group.name)
        for note in chapter.notes:
            print(f"  {note}")
        for part in chapter.parts:
            print()
            print_table(part.rows, part.columns, part.title)
        print()
