"""Power over the time of a trace: a curve under its timeline, or counters beside its events."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from .energy import Metering, counting, domain_text, power_curves

#: Told apart also by who does not see red from green (Okabe, Ito 2008).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_HEAD = re.compile(r"<svg[^>]*>")
_VIEW = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_HEIGHT, _TOP, _BOTTOM = 170, 34, 26
_LEFT, _RIGHT = 170, 30  # those of the timeline (src/observe/svg.cpp), so that times stand below each other


@dataclass(frozen=True)
class Power:
    """Watts by domain at seconds since the begin of a trace of `span_s`, and its energy in words."""

    curves: dict[str, list[tuple[float, float]]]
    span_s: float
    text: str


def power_of(metering: Metering, begin: float, end: float) -> Power | None:
    if metering.record is None or not counting():
        return None
    curves = {domain: curve for domain, curve in power_curves(metering.record, begin, end).items() if curve}
    return Power(curves, end - begin, domain_text(metering.domains([(begin, end)])))


def with_power(suffix: str, text: str, power: Power) -> str:
    """The file of a trace, with the power in it."""
    if suffix == ".json":
        return _with_counters(text, power)
    if suffix == ".svg":
        return _below(text, power)
    # A page has several pictures; the first is the timeline by kernel.
    first = text.index("</svg>") + len("</svg>")
    width, _ = _extent(text)
    curve = f'\n<svg viewBox="0 0 {width:g} {_HEIGHT}" font-family="sans-serif">{_chart(power, width)}</svg>'
    return text[:first] + curve + text[first:]


def _with_counters(text: str, power: Power) -> str:
    """Chrome's counter events, which Perfetto draws as tracks."""
    trace = json.loads(text)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    events += [
        {"name": f"{domain} W", "ph": "C", "pid": 0, "ts": 1e6 * max(0.0, at), "args": {"W": round(watts, 3)}}
        for domain, curve in power.curves.items()
        for at, watts in curve
    ]
    return json.dumps(trace)


def _below(svg: str, power: Power) -> str:
    """The picture, made taller, with the curve in the room below it."""
    width, height = _extent(svg)
    head = _HEAD.search(svg)[0]
    taller = _VIEW.sub(f'viewBox="0 0 {width:g} {height + _HEIGHT:g}"', head)
    taller = re.sub(r'height="[\d.]+"', f'height="{height + _HEIGHT:g}"', taller)
    end = svg.rindex("</svg>")
    curve = f'<g transform="translate(0 {height:g})" font-family="sans-serif">{_chart(power, width)}</g>'
    return svg[:end].replace(head, taller, 1) + curve + svg[end:]


def _extent(text: str) -> tuple[float, float]:
    """Of the first picture."""
    width, height = _VIEW.search(_HEAD.search(text)[0]).groups()
    return float(width), float(height)


def _chart(power: Power, width: float) -> str:
    left, right = _LEFT, width - _RIGHT
    most = max((watts for curve in power.curves.values() for _, watts in curve), default=0.0) or 1.0
    parts = [
        f'<rect width="{width:g}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{left:g}" y="16" font-size="12" fill="#222">Power, measured: {power.text}</text>',
        f'<path d="M{left:g} {_TOP}V{_HEIGHT - _BOTTOM}H{right:g}" fill="none" stroke="#888"/>',
        f'<text x="{left - 6:g}" y="{_TOP + 4}" font-size="11" text-anchor="end" fill="#222">{most:.3g} W</text>',
        f'<text x="{left - 6:g}" y="{_HEIGHT - _BOTTOM}" font-size="11" text-anchor="end" fill="#222">0</text>',
    ]
    for number, (domain, curve) in enumerate(power.curves.items()):
        points = " ".join(
            f"{left + (right - left) * at / max(power.span_s, 1e-12):.1f},"
            f"{_HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * max(0.0, watts) / most:.1f}"
            for at, watts in curve
        )
        colour = _COLOURS[number % len(_COLOURS)]
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts.append(f'<text x="{left + 90 * number:g}" y="{_HEIGHT - 8}" font-size="11" fill="{colour}">{domain}</text>')
    return "".join(parts)
