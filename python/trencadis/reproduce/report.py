"""The folder of a gallery: report.md, charts, and the rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..files import write_text
from ..tables import interval_words, is_interval, json_line
from . import constants
from .charts import draw
from .gallery import Gallery, Row, Section


def write_report(gallery: Gallery, rows: Sequence[Row], folder: Path, command: str, partial: str = "") -> list[Path]:
    """Writes rows.json, the charts and report.md, which shows them and the timelines that are there; returns the files.
    `partial`: how much of it is there, where it was broken off: then there are no charts."""
    rows_file = folder / "rows.json"
    write_text(rows_file, "".join(json_line(row) + "\n" for row in records_of(gallery, rows, partial)))
    charts = [] if partial else [draw(chart, folder) for chart in gallery.charts(rows)]
    timelines = sorted(folder.glob("timeline-*-kernel.svg"))
    parts = [
        f"# {gallery.TITLE}\n",
        f"All times, rates and energies of ours are *simulated*: `{command}`. Published figures are the papers'. What a policy "
        "chooses at random is shown as mean and 95 % interval over seeds; *deterministic* is what chance has no part in.\n",
        *(f"![{chart.stem}]({chart.name})\n" for chart in charts),
        *(_section(section) for section in sections_of(gallery, rows, partial)),
        *(_timeline(picture) for picture in timelines),
    ]
    report = folder / "report.md"
    write_text(report, "\n".join(parts))
    return [report, rows_file, *charts, *timelines]


def records_of(gallery: Gallery, rows: Sequence[Row], partial: str) -> list[Row]:
    """The records of a run."""
    return [*rows, *closing_records(gallery, rows, partial)]


def closing_records(gallery: Gallery, rows: Sequence[Row], partial: str) -> list[Row]:
    """Behind the rows: each published figure with ours and what is unexplained of it; of a run broken off, that it was."""
    return [{"partial": True, "rows": partial, "simulated": True}] if partial else gallery.score(rows).records()


def sections_of(gallery: Gallery, rows: Sequence[Row], partial: str = "") -> list[Section]:
    """What the rows show; of a run that was broken off the rows alone, since nothing can be said of those that are missing."""
    if not partial:
        machines = [gallery.PAPER[key] for key in ("machine", "pair") if key in gallery.PAPER]
        return [*gallery.sections(rows), *map(constants.section, machines)]
    return [Section("Partial: broken off", gallery.COLUMNS, rows, f"{partial}.")]


def _timeline(picture: Path) -> str:
    name = picture.name.removeprefix("timeline-").removesuffix("-kernel.svg")
    order = picture.name.replace("-kernel.svg", "-order.svg")
    return f"## Timeline: {name}\n\n![by kernel]({picture.name})\n\n![by creation order, light first]({order})\n"


def _section(section: Section) -> str:
    lines = [f"## {section.title}\n"]
    if section.text:
        lines.append(section.text.strip() + "\n")
    if section.rows:
        lines.append(markdown_table(section.columns, section.rows))
    return "\n".join(lines)


def markdown_table(columns: dict[str, str], rows: Sequence[dict]) -> str:
    """`columns` maps keys of the rows to headings; numbers are right-aligned."""
    numeric = {key: all(isinstance(row.get(key), int | float | None) for row in rows) for key in columns}
    lines = [
        "| " + " | ".join(columns.values()) + " |",
        "| " + " | ".join("---:" if numeric[key] else "---" for key in columns) + " |",
    ]
    lines += ["| " + " | ".join(_cell(row.get(key)) for key in columns) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if is_interval(value):
        return interval_words(value)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).replace("|", "\\|")
