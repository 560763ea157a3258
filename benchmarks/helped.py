"""What it gains that workers help a short factorization with its updates: calls back to back, by one worker and by all, in turns.

    .venv/bin/python benchmarks/helped.py [--routine potrf,getrf,geqrf] [--n 128,192,256,300]

Medians of the calls of a turn, of 7 turns; the ratio of each pair of turns, its median, least and greatest. The matrix is copied
anew before each call, which is not timed.
"""

from __future__ import annotations

import argparse
import statistics

from trencadis import _core
from trencadis.options import size_list

TURNS, CALLS = 7, 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--routine", default="potrf,getrf,geqrf")
    parser.add_argument("--n", default="128,192,256,300", type=size_list)
    words = parser.parse_args()
    sessions = [_core.Session(objective="rule", worker_count=1), _core.Session(objective="rule")]
    for routine in words.routine.split(","):
        for n in words.n:
            timed = [_core.TimedPlans(session, routine, "d", n, n, 0) for session in sessions]
            turns = [[statistics.median(one.time("rule") for _ in range(CALLS)) for one in timed] for _ in range(TURNS)]
            alone, helped = (statistics.median(column) * 1e6 for column in zip(*turns, strict=True))
            ratios = sorted(one / all_ for one, all_ in turns)
            print(f"{routine} {n}: {alone:.1f} us by one worker, {helped:.1f} by {sessions[1].workers}, ratio "
                  f"{ratios[TURNS // 2]:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
