"""The points of a sweep: orders, the leading dimensions of each, and who is whose neighbour. Pure.

A leading dimension is named by a rule, such as n + 8 or the next multiple of 4 KiB, so that it has neighbours at other orders.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..errors import UsageError
from ..options import size_list

#: --ld all, in the order in which records name them.
ALL = ("n", "n+1", "n+8", "512B", "1KiB", "2KiB", "4KiB")
#: Orders on either side that are a point's neighbours, and how far off they may be: so much, or this part of n.
NEIGHBOURS = 2
REACH, REACHED_PART = 32, 4

_UNITS = {"B": 1, "KiB": 1024}


@dataclass(frozen=True, order=True)
class Point:
    n: int
    ld: int

    def __str__(self) -> str:
        return f"n = {self.n}, ld = {self.ld}"


@dataclass(frozen=True)
class Rule:
    """A way to choose the leading dimension of a matrix with n rows of so many bytes a number."""

    name: str
    of: Callable[[int, int], int]


def rules(text: str) -> list[Rule]:
    """--ld: all, tight (n), or a list such as n,n+8,4KiB,520. UsageError where a word is none."""
    words = {"all": ALL, "tight": ("n",)}.get(text) or [word.replace(" ", "") for word in text.split(",")]
    return [_rule(word, text) for word in dict.fromkeys(words)]


def _rule(word: str, text: str) -> Rule:
    if match := re.fullmatch(r"n(?:\+(\d{1,6}))?", word, re.ASCII):
        more = int(match[1] or 0)
        return Rule(word, lambda n, itemsize: n + more)
    if match := re.fullmatch(r"([1-9]\d{0,6})(B|KiB)", word, re.ASCII):
        step = int(match[1]) * _UNITS[match[2]]
        return Rule(word, lambda n, itemsize: _next_multiple(n, _numbers(word, step, itemsize)))
    if re.fullmatch(r"[1-9]\d{0,8}", word, re.ASCII):
        return Rule(word, lambda n, itemsize: _at_least(n, int(word)))
    raise UsageError(
        f"--ld: '{text}' is not all, tight or a list of leading dimensions: n, n+K, a number, or the next multiple as 4KiB"
    )


def _numbers(word: str, step: int, itemsize: int) -> int:
    if step % itemsize:
        raise UsageError(f"--ld: {word} is no whole count of numbers of {itemsize} bytes")
    return step // itemsize


def _next_multiple(n: int, step: int) -> int:
    return -(-n // step) * step


def _at_least(n: int, ld: int) -> int:
    if ld < n:
        raise UsageError(f"--ld: {ld} is less than n = {n}; a leading dimension is at least the number of rows")
    return ld


def sizes(text: str) -> list[int]:
    """--n, each order once and in ascending order."""
    found = sorted(set(size_list(text)))
    if found[0] < 1:
        raise UsageError("--n: a size to measure is 1 or more")
    return found


@dataclass(frozen=True)
class Neighbours:
    """Of a point: those of lower order and those of higher."""

    below: tuple[Point, ...]
    above: tuple[Point, ...]

    def all(self) -> tuple[Point, ...]:
        return self.below + self.above


class Grid:
    """All points of a sweep with numbers of so many bytes. Rules that choose the same at an order make one point there."""

    def __init__(self, orders: Sequence[int], chosen: Iterable[Rule], itemsize: int) -> None:
        self.orders = list(orders)
        self._by_rule = {rule.name: {n: rule.of(n, itemsize) for n in orders} for rule in chosen}
        self.points = sorted({Point(n, ld) for lds in self._by_rule.values() for n, ld in lds.items()})

    def rules(self, point: Point) -> list[str]:
        return [name for name, lds in self._by_rule.items() if lds[point.n] == point.ld]

    def at(self, n: int) -> list[Point]:
        """Those of one order."""
        return sorted({Point(n, lds[n]) for lds in self._by_rule.values()})

    def tightest(self, n: int) -> Point:
        return self.at(n)[0]

    def neighbours(self, point: Point) -> list[Neighbours]:
        """By each rule that the point follows."""
        near = self._near(point.n)
        found = []
        for name in self.rules(point):
            at = [Point(n, self._by_rule[name][n]) for n in near]
            found.append(Neighbours(tuple(p for p in at if p.n < point.n), tuple(p for p in at if p.n > point.n)))
        return found

    def around(self, points: Iterable[Point]) -> list[Point]:
        """The points and all that their speeds are compared with, in order."""
        around: set[Point] = set()
        for point in points:
            around.update(self.at(point.n), *(near.all() for near in self.neighbours(point)))
        return sorted(around)

    def _near(self, n: int) -> list[int]:
        """Orders on both sides, not n itself: those further off say nothing of it."""
        i, reach = bisect_left(self.orders, n), max(REACH, n // REACHED_PART)
        around = self.orders[max(0, i - NEIGHBOURS) : i] + self.orders[i + 1 : i + 1 + NEIGHBOURS]
        return [other for other in around if abs(other - n) <= reach]
