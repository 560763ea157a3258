"""A report as a page (HTML in one file, which needs nothing else), as Markdown, or as CSV."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..reproduce.report import markdown_table
from ..tables import json_line
from . import findings
from .gantt import gantt_pictures
from .pictures import interaction_pictures
from .read import Group

_STYLE = """
body { font: 14px/1.45 Helvetica, Arial, 'DejaVu Sans', sans-serif; color: #222; max-width: 1220px;
  margin: 2em auto; padding: 0 1em }
h1 { font-size: 1.5em } h2 { font-size: 1.25em; margin: 2em 0 0.4em } h3 { font-size: 1.05em; margin: 1.4em 0 0.3em }
svg { max-width: 100%; height: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: 0.2em 0.9em; text-align: left; border-bottom: 1px solid #ddd } td.number, th.number { text-align: right }
p { color: #555; max-width: 60em }
"""


@dataclass
class Part:
    """A table with its heading, and what to know of it."""

    title: str
    columns: Mapping[str, str]
    rows: Sequence[Mapping[str, Any]]
    text: str = ""


@dataclass
class Chapter:
    """All of one group."""

    group: Group
    notes: list[str]
    parts: list[Part]
    pictures: list[tuple[str, str]] = field(default_factory=list)


def chapter_of(group: Group, pictures: bool, gantt: bool) -> Chapter:
    found = findings.configurations(group)
    columns, rows = findings.configuration_table(group, found)
    parts = [Part("Best configurations", findings.BEST_COLUMNS, findings.best_table(group, found), _BEST)]
    if group.domains():
        parts.append(Part("Energy or speed", findings.TRADE_COLUMNS, findings.trade_table(group, found), _TRADE))
    if group.levers():
        parts.append(Part("Levers", findings.CORRELATION_COLUMNS, findings.correlation_table(group, found), _CODES))
    parts.append(Part("All configurations", columns, rows, _MEANS))
    chapter = Chapter(group, notes_of(group), parts)
    if pictures:
        drawn, missing = interaction_pictures(group, found)
        chapter.pictures += drawn
        chapter.notes += missing
    if pictures and gantt:
        drawn, missing = gantt_pictures(group, found)
        chapter.pictures += drawn
        chapter.notes += missing
    return chapter


_BEST = "Not told from it: configurations whose runs a Welch test (5 %) does not tell from the best's."
_TRADE = "What it costs to choose the configuration of least energy instead of the fastest, and back."
_CODES = (
    "Two levels count as -1 and +1 (the one that is named), numbers as they are, each of several names as +1 against all others "
    "as -1; p is the chance of a correlation so far from 0 without any, of up to "
    f"{findings.MOST_PERMUTED} values by all their orders, not corrected for the number of tests. Others held: Pearson's, within "
    "each set of levels of the other factors. Of simulated runs each configuration counts once."
)
_MEANS = (
    f"Means with {100 * findings.CONFIDENCE:.0f} % bootstrap intervals (BCa, of more than {findings.MOST_FOR_BCA} runs "
    f"percentiles; {findings.RESAMPLES} resamples)."
)


def notes_of(group: Group) -> list[str]:
    notes = [f"{len(group.succeeded)} runs, {group.how}"]
    failed = len(group.records) - len(group.succeeded)
    if failed:
        notes.append(f"{failed} runs failed and count nowhere: {next(r['message'] for r in group.records if r['error'])}")
    for factor, ways in group.resolved.items():
        notes.append(f"{factor}: runs of one configuration had {' and '.join(way or 'unknown' for way in ways)}; kept apart")
    for lever, (runs, why) in group.unset().items():
        taken = "they count with what the machine had" + ("" if lever in group.levers() else ", and it is no lever here")
        notes.append(f"{lever} was asked for and not set in {runs} runs ({why}): {taken}")
    notes += [f"energy of {domain}: {findings.how_of(group, domain)}" for domain in group.domains()]
    if not group.domains():
        notes.append("no energy: no meter counted in any of the runs")
    versions = sorted({str((record.get("software") or {}).get("library")) for record in group.records})
    if len(versions) > 1 and not group.simulated:
        notes.append(f"built more than once from this commit: extensions {', '.join(versions)}")
    return notes


def to_html(chapters: Sequence[Chapter]) -> str:
    title = "Campaign " + ", ".join(dict.fromkeys(chapter.group.campaign for chapter in chapters))
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"/>'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n<h1>{html.escape(title)}</h1>\n"
    ]
    for chapter in chapters:
        parts.append(f"<h2>{html.escape(chapter.group.name)}</h2>\n<p>{'<br/>'.join(map(html.escape, chapter.notes))}</p>\n")
        for part in chapter.parts:
            parts.append(f"<h3>{html.escape(part.title)}</h3>\n<p>{html.escape(part.text)}</p>\n{_html_table(part)}")
        parts += [f"<h3>{html.escape(title)}</h3>\n{svg}\n" for title, svg in chapter.pictures]
    return "".join([*parts, "</body>\n</html>\n"])


def _html_table(part: Part) -> str:
    numbers = {key for key in part.columns if part.rows and all(_is_number(row.get(key)) for row in part.rows)}

    def cells(tag: str, values: Mapping[str, Any]) -> str:
        texts = [(key in numbers, html.escape(_text(values.get(key)))) for key in part.columns]
        return "<tr>" + "".join(f"<{tag}{' class=number' * number}>{text}</{tag}>" for number, text in texts) + "</tr>\n"

    return "<table>\n" + cells("th", part.columns) + "".join(cells("td", row) for row in part.rows) + "</table>\n"


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def to_markdown(chapters: Sequence[Chapter]) -> str:
    lines = []
    for chapter in chapters:
        lines += [f"# {chapter.group.name}\n", *(f"- {note}" for note in chapter.notes), ""]
        for part in chapter.parts:
            lines += [
                f"## {part.title}\n",
                *([part.text + "\n"] if part.text else []),
                markdown_table(dict(part.columns), list(part.rows)),
            ]
    return "\n".join(lines)


def to_csv(groups: Sequence[Group]) -> str:
    """One line per configuration; the energy of each domain in columns of its own."""
    rows = [_flat(row) for group in groups for row in findings.configuration_rows(group, findings.configurations(group))]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    flat = {key: value for key, value in row.items() if key not in ("energy", "best_for")}
    for domain, values in (row["energy"] or {}).items():
        flat |= {f"{domain}_{key}": value for key, value in values.items()}
    return {**flat, "best_for": " and ".join(row["best_for"])}


def to_json(groups: Sequence[Group]) -> str:
    rows = [row for group in groups for row in findings.configuration_rows(group, findings.configurations(group))]
    return "".join(json_line(row) + "\n" for row in rows)
