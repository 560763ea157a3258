"""The picture of a sweep: speed over n, ours and the peers', a panel for each case, precision and number of threads."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..files import check_writable, write_bytes
from ..reproduce.charts import COLOURS
from .calls import threads_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".svg", ".png")

Row = dict[str, Any]


def check_picture(path: Path) -> None:
    """UsageError when `draw` could not write this file: to be called before the sweep."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"-o: cannot tell the format from '{path}'; give a file called {' or '.join(FORMATS)}")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise UsageError("-o: the picture needs matplotlib: pip install matplotlib") from None
    check_writable(path)


def draw(rows: Sequence[Row], path: Path) -> None:
    """A line of panels for each case, beside one another the precisions and the numbers of threads."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    lines = list(dict.fromkeys(_line(row) for row in rows))
    columns = list(dict.fromkeys(_column(row) for row in rows))
    with mpl.rc_context({"svg.hashsalt": "sweep", "font.size": 9}):
        figure = Figure(figsize=(max(7.0, 4.0 * len(columns)), max(4.0, 2.2 * len(lines) + 1.2)), layout="constrained")
        panels = figure.subplots(len(lines), len(columns), squeeze=False, sharex=True)
        for i, line in enumerate(lines):
            for j, column in enumerate(columns):
                here = [row for row in rows if (_line(row), _column(row)) == (line, column)]
                _panel(panels[i][j], here)
        for axes in panels[-1]:
            axes.set_xlabel("n")
        for axes in panels[:, 0]:
            axes.set_ylabel("GFlop/s")
        handles = {label: handle for axes in panels.flat for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=3, frameon=False)
        figure.suptitle(textwrap.fill(_title(rows), width=90), fontsize=10)
        content = io.BytesIO()
        metadata = {"Date": None} if path.suffix.lower() == ".svg" else {}
        figure.savefig(content, format=path.suffix.lower()[1:], metadata=metadata)
    write_bytes(path, content.getvalue())


def _line(row: Row) -> str:
    return row["case"].removeprefix(row["precision"])


def _column(row: Row) -> tuple[str, int]:
    return row["precision"], len(row["workers"])


def _title(rows: Sequence[Row]) -> str:
    versions = {name: version for row in rows for name, version in row["peer_versions"].items()}
    said = ", ".join([f"ours: {rows[0]['kernels']} ({rows[0]['kernels_version']})", *versions.values()])
    return f"{rows[0]['machine']}; {said}"


def _panel(axes: Axes, rows: Sequence[Row]) -> None:
    """Ours with the least leading dimension as a line, between the slowest and the fastest one; the cliffs as crosses."""
    if not rows:
        axes.set_axis_off()
        return
    orders = sorted({row["n"] for row in rows})
    by_order = [[row for row in rows if row["n"] == n] for n in orders]
    tight = [min(here, key=lambda row: row["ld"]) for here in by_order]
    speeds = [[row["gflops_median"] for row in here] for here in by_order]
    band = "ours, slowest to fastest leading dimension"
    axes.fill_between(orders, [min(s) for s in speeds], [max(s) for s in speeds], color=COLOURS[0], alpha=0.2, lw=0, label=band)
    for number, peer in enumerate(tight[0]["peer_gflops_median"]):
        theirs = [row["peer_gflops_median"][peer] for row in tight]
        axes.plot(orders, theirs, color=COLOURS[(number + 1) % len(COLOURS)], linewidth=0.9, label=peer)
    least = [row["gflops_median"] for row in tight]
    axes.plot(orders, least, color=COLOURS[0], linewidth=1.4, label="ours, least leading dimension")
    cliffs = [(row["n"], row["gflops_median"]) for row in rows if row["cliff"]]
    if cliffs:
        cross = {"linestyle": "none", "marker": "x", "markersize": 5}
        axes.plot(*zip(*cliffs, strict=True), color="#c00000", label="a cliff of ours", **cross)
    precision, threads = _column(rows[0])
    axes.set_title(f"{rows[0]['case']}, {threads_text(threads)}", fontsize=9)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25)
