"""How well the simulations agree with a paper: each published figure beside ours, the misses first, and each published order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .gallery import Section, beside

#: Shares of the published figure that count as near.
NEAR, CLOSE = 0.15, 0.25


@dataclass(frozen=True)
class Figure:
    """A published figure and ours; `interval`: of ours, where chance has a part in it."""

    what: str
    published: float
    ours: float
    interval: list[float] | None = None

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
class Scores:
    figures: Sequence[Figure]
    orders: Sequence[Order]

    def sentences(self) -> list[str]:
        count = len(self.figures)
        near, close = (sum(figure.within(share) for figure in self.figures) for share in (NEAR, CLOSE))
        wrong = [figure.what for figure in self.figures if not figure.right_sign]
        right = sum(order.right for order in self.orders)
        return [
            f"{near} of {count} published figures are within {NEAR:.0%}, {close} within {CLOSE:.0%}; "
            + (f"{len(wrong)} have the wrong sign" if wrong else "none has the wrong sign"),
            f"{right} of {len(self.orders)} published orders come out",
        ]

    def lines(self) -> list[dict[str, Any]]:
        """The misses first."""
        lines = [
            {"what": figure.what, "published": figure.published, "ours": figure.ours, "interval": figure.interval,
             "difference": f"{100 * figure.difference:+.0f} %", "said": _said(figure)}
            for figure in sorted(self.figures, key=lambda figure: (figure.right_sign, -abs(figure.difference)))
        ]  # fmt: skip
        orders = [
            {"what": order.what, "published": " > ".join(order.published), "ours": " > ".join(order.ours), "interval": None,
             "difference": "", "said": "as published" if order.right else "another order"}
            for order in sorted(self.orders, key=lambda order: order.right)
        ]  # fmt: skip
        return [*lines, *orders]

    def section(self) -> Section:
        columns = {
            "what": "what", "published": "published", "ours": "simulated", "interval": "95 %", "difference": "off by", "said": "",
        }  # fmt: skip
        text = "; ".join(self.sentences()) + ". The misses come first."
        return Section("Score: every published figure that was simulated", columns, self.lines(), text)


def _said(figure: Figure) -> str:
    if not figure.right_sign:
        return "wrong sign"
    if figure.contained():
        return "inside our interval"
    return next((f"within {share:.0%}" for share in (NEAR, CLOSE) if figure.within(share)), "missed")
