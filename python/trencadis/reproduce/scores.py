"""How well the simulations agree with a paper: each published figure beside ours, the misses first, and each published order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .gallery import Section, beside

#: Shares of the published figure that count as near; beyond the first a figure says what is unexplained.
NEAR, CLOSE = 0.15, 0.25


@dataclass(frozen=True)
class Figure:
    """A published figure and ours; `interval`: of ours, where chance has a part in it; `unadjusted`: ours without what the
    machine's description has of a result, where it has any."""

    what: str
    published: float
    ours: float
    interval: list[float] | None = None
    unadjusted: float | None = None

    @property
    def difference(self) -> float:
        return beside(self.ours, self.published, "ours")["difference"]

    @property
    def right_sign(self) -> bool:
        """Nothing has no sign."""
        return self.ours * self.published >= 0

    def within(self, share: float) -> bool:
        return abs(self.difference) <= share

    def contained(self) -> bool:
        """Does our interval contain the published figure?"""
        return self.interval is not None and self.interval[0] <= self.published <= self.interval[1]


@dataclass(frozen=True)
class Order:
    """What the paper puts in an order, fastest first, and ours of the same."""

    what: str
    published: Sequence[str]
    ours: Sequence[str]
    right: bool


def in_order(what: str, published: Sequence[str], ours: Sequence[str]) -> Order:
    """Those that the paper puts first are first here, in its order."""
    return Order(what, published, ours, list(ours[: len(published)]) == list(published))


@dataclass(frozen=True)
class Note:
    """What is unexplained of some misses, and what was tried: an entry of [[unexplained]] of the paper's file."""

    of: re.Pattern[str]  #: of the whole name of a figure or an order
    why: str
    tried: str

    @property
    def text(self) -> str:
        return f"Unexplained: {self.why} Tried: {self.tried}"


def notes_of(paper: Mapping[str, Any]) -> list[Note]:
    return [
        Note(re.compile(entry["of"]), *(" ".join(entry[key].split()) for key in ("why", "tried")))
        for entry in paper.get("unexplained", ())
    ]


@dataclass(frozen=True)
class Scores:
    figures: Sequence[Figure]
    orders: Sequence[Order]
    notes: Sequence[Note] = ()

    def sentences(self) -> list[str]:
        count = len(self.figures)
        near, close = (sum(figure.within(share) for figure in self.figures) for share in (NEAR, CLOSE))
        wrong = [figure.what for figure in self.figures if not figure.right_sign]
        right = sum(order.right for order in self.orders)
        words = [
            f"{near} of {count} published figures are within {NEAR:.0%}, {close} within {CLOSE:.0%}; "
            + (f"{len(wrong)} have the wrong sign" if wrong else "none has the wrong sign"),
            f"{right} of {len(self.orders)} published orders come out",
        ]
        if others := self.unadjusted():
            near, close = (sum(figure.within(share) for figure in others) for share in (NEAR, CLOSE))
            words.append(f"with unadjusted figures of the machine {near} of {len(others)} are within {NEAR:.0%}, {close} within "
                         f"{CLOSE:.0%}")  # fmt: skip
        return words

    def unadjusted(self) -> list[Figure]:
        """The figures that come out otherwise, maybe, where nothing of the machine is adjusted to a result, as they then do."""
        return [Figure(one.what, one.published, one.unadjusted) for one in self.figures if one.unadjusted is not None]

    def note(self, of: Figure | Order) -> int:
        """The number of the note on a miss, from 1; 0: it is none, or there is none."""
        missed = not (of.right if isinstance(of, Order) else of.within(NEAR) or of.contained())
        found = (number for number, note in enumerate(self.notes, start=1) if note.of.fullmatch(of.what))
        return next(found, 0) if missed else 0

    def records(self) -> list[dict[str, Any]]:
        """For programs: every figure and order, with what is unexplained of it."""
        texts = [None, *(note.text for note in self.notes)]
        compared = [*self.figures, *self.orders]
        return [
            {"score": one.what, "published": one.published, "ours": one.ours,
             "difference": one.difference if isinstance(one, Figure) else None,
             "interval": one.interval if isinstance(one, Figure) else None,
             "unadjusted": one.unadjusted if isinstance(one, Figure) else None,
             "said": _said(one) if isinstance(one, Figure) else _said_of_order(one), "unexplained": texts[self.note(one)],
             "simulated": True}
            for one in compared
        ]  # fmt: skip

    def lines(self) -> list[dict[str, Any]]:
        """The misses first."""
        lines = [
            {"what": figure.what, "published": figure.published, "ours": figure.ours, "interval": figure.interval,
             "unadjusted": figure.unadjusted, "difference": f"{100 * figure.difference:+.0f} %", "said": _said(figure),
             "note": self.note(figure) or None}
            for figure in sorted(self.figures, key=lambda figure: (figure.right_sign, -abs(figure.difference)))
        ]  # fmt: skip
        orders = [
            {"what": order.what, "published": " > ".join(order.published), "ours": " > ".join(order.ours), "interval": None,
             "unadjusted": None, "difference": "", "said": _said_of_order(order), "note": self.note(order) or None}
            for order in sorted(self.orders, key=lambda order: order.right)
        ]  # fmt: skip
        return [*lines, *orders]

    def sections(self) -> list[Section]:
        columns = {
            "what": "what", "published": "published", "ours": "simulated", "interval": "95 %", "difference": "off by", "said": "",
            **({"unadjusted": "unadjusted"} if self.unadjusted() else {}), "note": "note",
        }  # fmt: skip
        text = "; ".join(self.sentences()) + ". The misses come first."
        score = Section("Score: every published figure that was simulated", columns, self.lines(), text)
        used = self.used_notes()
        return [score, Section("What is unexplained, and what was tried", {}, (), _numbered(used))] if used else [score]

    def used_notes(self) -> dict[int, Note]:
        used = sorted({self.note(one) for one in (*self.figures, *self.orders)} - {0})
        return {number: self.notes[number - 1] for number in used}


def _numbered(notes: Mapping[int, Note]) -> str:
    return "\n".join(f"{number}. {note.text}" for number, note in notes.items())


def _said_of_order(order: Order) -> str:
    return "as published" if order.right else "another order"


def _said(figure: Figure) -> str:
    if not figure.right_sign:
        return "wrong sign"
    if figure.contained():
        return "inside our interval"
    return next((f"within {share:.0%}" for share in (NEAR, CLOSE) if figure.within(share)), "missed")
