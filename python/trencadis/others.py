"""What others have of some cores while something of ours runs there.

The kernel counts how long each core was busy, in ticks of a hundredth of a second; what is not processor time of this process is
others'. So is what a host takes from a guest. Load averages say less: they lag by a minute, and
count ours.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from pathlib import Path
from types import TracebackType

#: Of a core: what others have beyond it is said. A desktop at rest has a hundredth or two.
SMALL_SHARE = 0.1
#: What is shorter has too few ticks for such a share: each core's time may be wrong by one at either end.
LEAST_S = 0.5

_STAT = Path("/proc/stat")
_CORE_FIELDS = slice(1, 9)  #: user, nice, system, idle, iowait, irq, softirq, steal
_IDLE = (3, 4)


class Others:
    """Context manager: `with Others(cores) as others:`, then `others.cores`, how many cores they had in the mean."""

    def __init__(self, cores: Collection[int]) -> None:
        self._cores = cores
        self.cores = self.seconds = 0.0

    def __enter__(self) -> Others:
        self._begin, self._theirs = time.perf_counter(), self._not_ours()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.seconds = self.elapsed()
        self.cores = max(0.0, self._not_ours() - self._theirs) / self.seconds

    def elapsed(self) -> float:
        """Seconds since the context began."""
        return time.perf_counter() - self._begin

    def _not_ours(self) -> float:
        return busy_seconds(_STAT.read_text(), self._cores) - time.process_time()


def busy_seconds(stat: str, cores: Collection[int]) -> float:
    """What these cores computed since the machine began, for whomever, by /proc/stat."""
    names, ticks = {f"cpu{core}" for core in cores}, 0
    for line in stat.splitlines():
        words = line.split()
        if words and words[0] in names:
            counts = list(map(int, words[_CORE_FIELDS]))
            ticks += sum(counts) - sum(counts[field] for field in _IDLE)
    return ticks / os.sysconf("SC_CLK_TCK")
