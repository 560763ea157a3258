#!/usr/bin/env python3
"""Instructions per call of each library, directly and through both forms of GLT, counted by callgrind.

    glt/benchmarks/callgrind.py [--bin FOLDER] [--libraries argobots,native] [--json FILE|-] [--check]

A call is repeated N and 3 N times, and the difference divided by 2 N. A call and what brings it back are counted together
(create and join; init and finalize with one thread), creating a ULT also by itself. The last line of a library, left out by
`--check`, is one run of N-Queens on one thread, counted in the same way: what overhead is left when units do something, without
the noise of a clock.

"inside" is the library's own call while it runs under GLT, with GLT's schedulers and hooks: what header-only takes beyond it
is the wrapper's (added); where there is none, it is counted beyond the direct call. `--check` ends with 1 if a function of
the header-only form that only wraps the library's adds instructions: more than the checks of its handles over another
library, any over the native one, which checks by itself; the others promise more than the library, or replace it.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from programs import BIN, LIBRARIES, Contestant, contestants

_TIMES = 1000
_QUEENS = "10"
#: Allocation inside a library takes one path or another; less than this per call is not the wrapper's.
_NOISE = 0.5
#: What a wrapper over another library may add to a call or a pair of them: is the handle null, is the C++ runtime there.
_CHECKS = 4

Counts = dict[str, float]
Row = dict[str, Any]
_INSIDE = "inside_"
_SYNCHRONIZATION = {"mutex_lock_unlock", "mutex_trylock_unlock", "barrier_wait", "cond_signal", "cond_broadcast"}
#: The functions that only wrap the library's; all of them over the native one.
_WRAPPERS = {"argobots": {"yield", "self", *_SYNCHRONIZATION}, "qthreads": {"thread_num"}, "massivethreads": {"thread_num"}}


def count(contestant: Contestant) -> Counts:
    """Instructions per call, by the name of the call."""
    totals = dict(filter(None, map(_dump, dumps(contestant, "calls", "all", "--times", str(_TIMES)))))
    if not totals:
        raise SystemExit(f"{contestant.path('calls')} told valgrind nothing: it was built without <valgrind/callgrind.h>")
    by_name: dict[str, dict[int, int]] = {}
    for (name, times), total in totals.items():
        by_name.setdefault(name, {})[times] = total
    return {name: (of[max(of)] - of[min(of)]) / (max(of) - min(of)) for name, of in by_name.items()}


def count_program(contestant: Contestant, benchmark: str, *words: str) -> float:
    """Instructions of one run within the program; what comes before and after is in both counts."""
    few, many = (sum(map(_total, dumps(contestant, benchmark, *words, "--repeat", str(repeat)))) for repeat in (1, 3))
    return (many - few) / 2


def dumps(contestant: Contestant, benchmark: str, *words: str) -> list[str]:
    """What callgrind wrote, in the order of writing."""
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
        command = [*valgrind, contestant.path(benchmark), *words]
        run = subprocess.run(command, env=contestant.environment(), capture_output=True, text=True, timeout=600)
        if run.returncode != 0:
            raise SystemExit(f"{contestant.path(benchmark)} under valgrind: exit code {run.returncode}\n{run.stderr[-2000:]}")
        files = sorted(Path(folder).glob("out*"), key=lambda path: int(path.suffix[1:] or 10**9))
        return [file.read_text() for file in files]


def _total(text: str) -> int:
    found = re.search(r"^summary: (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else 0


def _dump(text: str) -> tuple[tuple[str, int], int] | None:
    """((call, times), instructions) of a dump that a program asked for."""
    trigger = re.search(r"^desc: Trigger: Client Request: (\w+)\*(\d+)$", text, re.MULTILINE)
    return ((trigger[1], int(trigger[2])), _total(text)) if trigger else None


def rows(library: str, counts: dict[str, Counts]) -> list[Row]:
    through = counts.get("header-only", {})
    columns = {
        "direct": counts.get("direct", {}),
        "inside": {call.removeprefix(_INSIDE): n for call, n in through.items() if call.startswith(_INSIDE)},
        "header_only": {call: n for call, n in through.items() if not call.startswith(_INSIDE)},
        "dynamic": counts.get("dynamic", {}),
    }
    below = columns["direct"] | columns["inside"]
    calls = dict.fromkeys(call for column in columns.values() for call in column)
    return [
        {"library": library, "call": call}
        | {name: column[call] for name, column in columns.items() if call in column}
        | {f"added_{name}": columns[name][call] - below[call]
           for name in ("header_only", "dynamic") if call in columns[name] and call in below}
        for call in calls
    ]  # fmt: skip


def table(rows: list[Row]) -> str:
    heads = ("library", "call", "direct", "inside", "header_only", "dynamic", "added_header_only", "added_dynamic")
    cells = [[str(row[head]) if isinstance(row.get(head), str) else _number(row.get(head)) for head in heads] for row in rows]
    widths = [max(len(line[i]) for line in [list(heads), *cells]) for i in range(len(heads))]
    return "\n".join("  ".join(map(_cell, line, widths, heads)) for line in [list(heads), *cells])


def _cell(text: str, width: int, head: str) -> str:
    return text.ljust(width) if head in ("library", "call") else text.rjust(width)


def _number(value: object) -> str:
    return "" if value is None else f"{value:.1f}"


def check(rows: list[Row]) -> int:
    code = 0
    for row in rows:
        wraps = row["library"] not in _WRAPPERS or row["call"] in _WRAPPERS[row["library"]]
        allowed = _NOISE if row["library"] not in _WRAPPERS else _NOISE + _CHECKS
        if wraps and row.get("added_header_only", 0) > allowed:
            print(f"{row['library']}: {row['call']} adds {row['added_header_only']:.1f} instructions", file=sys.stderr)
            code = 1
    return code


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=BIN)
    parser.add_argument("--libraries", default=",".join(LIBRARIES))
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    libraries = tuple(arguments.libraries.split(","))
    if unknown := set(libraries) - set(LIBRARIES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(LIBRARIES)}")
    if not shutil.which("valgrind"):
        parser.error("valgrind is not there; on Debian and Ubuntu: apt install valgrind")
    present = contestants(arguments.bin, "calls", libraries)
    if not present:
        parser.error(f"no glt_calls programs in {arguments.bin}; build the target thread_benchmarks first")
    if arguments.check:
        present = [contestant for contestant in present if contestant.form != "dynamic"]
    counts = {contestant: count(contestant) for contestant in present}
    for contestant in present if not arguments.check else ():
        counts[contestant][f"nqueens {_QUEENS}"] = count_program(contestant, "nqueens", _QUEENS, "--threads", "1")
    result = [row for library in libraries
              for row in rows(library, {c.form: counts[c] for c in present if c.library == library})]  # fmt: skip
    lines = "".join(json.dumps(row) + "\n" for row in result)
    if arguments.json == "-":
        print(lines, end="")
    else:
        print(table(result))
        if arguments.json:
            Path(arguments.json).write_text(lines)
    return check(result) if arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
