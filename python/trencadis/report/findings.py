"""Tables of a group of runs: means with intervals, the best, what one choice costs in terms of the other, which lever does what.

Intervals are bootstrap intervals of the mean (BCa, Efron 1987), 95 %, with a seed of their own, so that a report repeats itself.
Correlations are over single runs where they were measured; simulated repetitions that are all alike count once, or they would
make anything significant.
"""

from __future__ import annotations

import itertools
import statistics
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from inspect import signature
from typing import Any

import numpy as np
from scipy import stats

from .read import PROBLEM, Group, Record, by, configuration_key, in_order, level_key

CONFIDENCE = 0.95
RESAMPLES = 2000
SEED = 20261

#: Of more values BCa, which leaves out each in turn, takes as many sums as their square; then its correction is small, and the
#: interval is that of the percentiles. Resamples are drawn so many numbers at a time.
MOST_FOR_BCA = 3000
AT_A_TIME = 2_000_000

Row = dict[str, Any]


@dataclass(frozen=True)
class Mean:
    mean: float
    low: float | None  #: None: fewer than three runs
    high: float | None
    runs: int

    def text(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.mean:.4g}"
        return f"{self.mean:.4g} [{self.low:.4g}, {self.high:.4g}]"


#: SciPy 1.15 has given the argument another name; before, the generator was called this.
_CHANCE = "rng" if "rng" in signature(stats.bootstrap).parameters else "random_state"


@lru_cache(maxsize=100_000)
def _mean_of(values: tuple[float, ...]) -> Mean:
    mean = statistics.fmean(values)
    if len(values) < 3:
        return Mean(mean, None, None, len(values))
    if max(values) == min(values):
        return Mean(mean, mean, mean, len(values))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of degenerate samples, for which BCa answers NaN
        interval = stats.bootstrap(
            (np.array(values),), np.mean, confidence_level=CONFIDENCE, n_resamples=RESAMPLES, vectorized=True,
            method="BCa" if len(values) <= MOST_FOR_BCA else "percentile", batch=max(1, AT_A_TIME // len(values)),
            **{_CHANCE: np.random.default_rng(SEED)},
        ).confidence_interval  # fmt: skip
    low, high = float(interval.low), float(interval.high)
    return (
        Mean(mean, low, high, len(values))
        if np.isfinite([low, high]).all()
        else Mean(mean, min(values), max(values), len(values))
    )


def mean_of(values: Sequence[float]) -> Mean:
    return _mean_of(tuple(map(float, values)))


@dataclass(frozen=True)
class Metric:
    """Speed, or the energy of a domain. `sign`: +1 where more is better."""

    name: str
    unit: str
    sign: int
    value: Callable[[Record], float | None]


def metrics(group: Group) -> list[Metric]:
    rates = all(record["gflops"] is not None for record in group.succeeded)
    speed = (
        Metric("speed", "GFlop/s", +1, lambda record: record["gflops"])
        if rates
        else Metric("time", "s", -1, lambda record: record["seconds"])
    )
    return [speed, *(energy_metric(domain) for domain in group.domains())]


def energy_metric(domain: str) -> Metric:
    return Metric(f"energy {domain}", "J", -1, lambda record: record["energy"].get(domain, {}).get("joules"))


def how_of(group: Group, domain: str) -> str:
    """Measured or simulated; never mixed without a word."""
    having = _having(group, domain)
    how = " and ".join(sorted({str(record["energy"][domain].get("how", "measured")) for record in having}))
    return how if len(having) == len(group.succeeded) else f"{how}, in {len(having)} of {len(group.succeeded)} runs"


def _having(group: Group, domain: str) -> list[Record]:
    return [record for record in group.succeeded if domain in record["energy"]]


@dataclass
class Configuration:
    problem: tuple[Any, ...]
    levels: dict[str, Any]
    records: list[Record]
    means: dict[str, Mean] = field(default_factory=dict)  #: by metric; none where no run has a value

    def values(self, metric: Metric) -> list[float]:
        """Of the runs that have one."""
        return [value for record in self.records if (value := metric.value(record)) is not None]

    def name(self, levers: Sequence[str]) -> str:
        return ", ".join(f"{lever} {shown_level(self.levels.get(lever), lever)}" for lever in levers) or "as it is"


def shown_level(level: Any, factor: str = "") -> str:
    if isinstance(level, bool):
        return "on" if level else "off"
    if factor == "workers" and isinstance(level, str) and level[:1].isdigit():
        return f"cores {level}"  # 1 is how many, "1" is which
    return "default" if level in ("", None) else str(level)


def configurations(group: Group) -> list[Configuration]:
    found = []
    wanted = metrics(group)
    for problem, records in group.problems().items():
        for alike in by(records, configuration_key).values():
            one = Configuration(problem, alike[0]["configuration"], alike)
            for metric in wanted:
                if values := one.values(metric):
                    one.means[metric.name] = mean_of(values)
            found.append(one)
    order = {name: {level_key(level): place for place, level in enumerate(group.levels(name))} for name in group.varied()}
    return sorted(found, key=lambda one: [places[level_key(one.levels.get(name))] for name, places in order.items()])


def by_problem(found: Sequence[Configuration]) -> dict[tuple[Any, ...], list[Configuration]]:
    parts: dict[tuple[Any, ...], list[Configuration]] = {}
    for one in found:
        parts.setdefault(one.problem, []).append(one)
    return parts


def with_mean(found: Sequence[Configuration], metric: Metric) -> list[Configuration]:
    return [one for one in found if metric.name in one.means]


def best_of(found: Sequence[Configuration], metric: Metric) -> Configuration:
    """Of those that have its mean, of which there must be one."""
    return max(found, key=lambda one: metric.sign * one.means[metric.name].mean)


def as_good(best: Configuration, found: Sequence[Configuration], metric: Metric) -> list[Configuration]:
    """Those that the runs do not tell from the best (Welch's t test, 5 %)."""
    good = []
    for one in found:
        ours, theirs = (side.values(metric) for side in (best, one))
        if one is not best and _alike(ours, theirs):
            good.append(one)
    return good


def _alike(first: Sequence[Any], second: Sequence[Any]) -> bool:
    if min(len(first), len(second)) < 2:
        return False
    if len(set(first)) == len(set(second)) == 1:
        return first[0] == second[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of runs that are nearly alike, as simulated ones
        return float(stats.ttest_ind(first, second, equal_var=False).pvalue) > 1 - CONFIDENCE


def best_table(group: Group, found: Sequence[Configuration]) -> list[Row]:
    rows = []
    wanted, all_levers = metrics(group), group.levers()
    for problem, here in by_problem(found).items():
        levers = levers_within(all_levers, here)
        for metric in wanted:
            known = with_mean(here, metric)
            if not known:
                continue
            best = best_of(known, metric)
            rows.append(
                {"problem": group.problem_name(problem), "metric": metric.name, "best": best.name(levers),
                 "mean": best.means[metric.name].text(), "unit": metric.unit, "runs": len(best.values(metric)),
                 "as_good": len(as_good(best, known, metric)), "of": len(known)}
            )  # fmt: skip
    return rows


BEST_COLUMNS = {"problem": "problem", "metric": "metric", "best": "best configuration", "mean": "mean [95 %]", "unit": "unit",
                "runs": "runs", "as_good": "not told from it", "of": "of"}  # fmt: skip


def trade_table(group: Group, found: Sequence[Configuration]) -> list[Row]:
    """The leanest instead of the fastest, and back; percent."""
    speed, *energies = metrics(group)
    rows = []
    all_levers = group.levers()
    for problem, here in by_problem(found).items():
        levers = levers_within(all_levers, here)
        for energy in energies:
            known = with_mean(here, energy)
            if not known:
                continue
            fast, lean = best_of(known, speed), best_of(known, energy)
            speeds = [_speed(one, speed) for one in (fast, lean)]
            joules = [one.means[energy.name].mean for one in (fast, lean)]
            rows.append(
                {"problem": group.problem_name(problem), "domain": energy.name.removeprefix("energy "),
                 "fastest": fast.name(levers), "leanest": lean.name(levers),
                 "slower": 100 * (1 - speeds[1] / speeds[0]), "saved": 100 * (1 - joules[1] / joules[0]) if joules[0] else None,
                 "faster": 100 * (speeds[0] / speeds[1] - 1), "more": 100 * (joules[0] / joules[1] - 1) if joules[1] else None}
            )  # fmt: skip
    return rows


def _speed(one: Configuration, metric: Metric) -> float:
    mean = one.means[metric.name].mean
    return mean if metric.sign > 0 else 1 / mean


TRADE_COLUMNS = {"problem": "problem", "domain": "energy of", "fastest": "fastest", "leanest": "least energy",
                 "slower": "energy chosen: slower %", "saved": "saves %", "faster": "speed chosen: faster %",
                 "more": "energy more %"}  # fmt: skip


@dataclass(frozen=True)
class Coded:
    """A lever, or one level of it against the others, as numbers."""

    name: str
    code: Callable[[Any], float]


def coded(lever: str, levels: Sequence[Any]) -> Iterator[Coded]:
    if all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels):
        yield Coded(lever, float)
    elif len(levels) == 2:
        high = True if set(levels) == {True, False} else levels[1]
        yield Coded(f"{lever} {shown_level(high, lever)}", lambda level: 1.0 if level == high else -1.0)
    else:
        for one in levels:
            yield Coded(f"{lever} {shown_level(one, lever)}", lambda level, one=one: 1.0 if level == one else -1.0)


def correlation_table(group: Group, found: Sequence[Configuration]) -> list[Row]:
    """Of what varies within a problem, alone and with all other levers held."""
    rows = []
    wanted, all_levers = metrics(group), group.levers()
    for problem, here in by_problem(found).items():
        for lever in levers_within(all_levers, here):
            for code in coded(lever, levels_within(here, lever)):
                for metric in wanted:
                    samples = [(code.code(one.levels.get(lever)), value, _others(one, lever))
                               for one in here for value in _values(group, one, metric)]  # fmt: skip
                    row = {"problem": group.problem_name(problem), "lever": code.name, "metric": metric.name}
                    rows.append({**row, **_correlations([sample[:2] for sample in samples]), **_held(samples)})
    return rows


def levels_within(here: Sequence[Configuration], lever: str) -> list[Any]:
    return in_order({level_key(one.levels.get(lever)): one.levels.get(lever) for one in here}.values())


def levers_within(levers: Sequence[str], here: Sequence[Configuration]) -> list[str]:
    return [lever for lever in levers if len(levels_within(here, lever)) > 1]


def _others(one: Configuration, lever: str) -> str:
    return level_key({name: level for name, level in one.levels.items() if name != lever})


def _values(group: Group, one: Configuration, metric: Metric) -> list[float]:
    """Of simulated runs one value: their repetitions are alike, or nearly."""
    values = one.values(metric)
    return [statistics.fmean(values)] if group.simulated and values else values


def _correlations(pairs: Sequence[tuple[float, float]]) -> Row:
    """Null where one of both does not vary, or three pairs are not there."""
    xs, ys = (np.array([pair[place] for pair in pairs]) for place in (0, 1))
    found = None if len(pairs) < 3 else _correlation(xs, ys)
    if found is None:
        return {"runs": len(pairs), "pearson": None, "pearson_p": None, "spearman": None, "spearman_p": None, "significant": None}
    (pearson, p), (spearman, spearman_p) = found, _correlation(stats.rankdata(xs), stats.rankdata(ys))
    return {
        "runs": len(pairs), "pearson": pearson, "pearson_p": p, "spearman": spearman, "spearman_p": spearman_p,
        "significant": p < 1 - CONFIDENCE,
    }  # fmt: skip


#: Differences below this share of the values are rounding.
ROUNDING = 1e-9

#: Up to so many pairs all orders are gone through, 40,320 of them.
MOST_PERMUTED = 8


def _varies(values: np.ndarray) -> bool:
    return bool(np.ptp(values) > ROUNDING * np.abs(values).max())


def pearson(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float] | None:
    """r, and the chance of one so far from 0 without any, by the t distribution; None where one of both does not vary."""
    if not _varies(np.asarray(xs)) or not _varies(np.asarray(ys)):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of values that are nearly alike
        found = stats.pearsonr(xs, ys)
    return float(found.statistic), float(found.pvalue)


def _correlation(xs: np.ndarray, ys: np.ndarray) -> tuple[float, float] | None:
    """Pearson's, of ranks Spearman's. Of few pairs the chance is by all orders in which the values could have come: the t
    distribution leaves no chance to values in a line, which every twelfth order of four values is."""
    found = pearson(xs, ys)
    if found is None or len(xs) > MOST_PERMUTED:
        return found
    centred = [values - values.mean() for values in (xs, ys)]
    orders = centred[1][_orders(len(ys))] @ centred[0]
    return found[0], float(np.mean(np.abs(orders) >= abs(centred[0] @ centred[1]) * (1 - ROUNDING)))


@lru_cache(maxsize=MOST_PERMUTED)
def _orders(count: int) -> np.ndarray:
    return np.array(list(itertools.permutations(range(count))))


def _held(samples: Sequence[tuple[float, float, str]]) -> Row:
    """Pearson's correlation of what is left when each set of other levels has lost its own mean; its degrees of freedom are fewer
    by the number of these sets."""
    freedom = len(samples) - len({other for *_, other in samples}) - 1
    if freedom < 1:
        return {"held": None, "held_p": None}
    xs, ys = (_centred(samples, place) for place in (0, 1))
    size = float(np.sqrt((xs @ xs) * (ys @ ys)))
    if not xs.any() or size == 0 or np.ptp(ys) <= ROUNDING * max(abs(sample[1]) for sample in samples):
        return {"held": None, "held_p": None}
    r = float(np.clip(xs @ ys / size, -1, 1))
    t = abs(r) * np.sqrt(freedom / max(1 - r * r, 1e-300))
    return {"held": r, "held_p": float(2 * stats.t.sf(t, freedom))}


def _centred(samples: Sequence[tuple[float, float, str]], place: int) -> np.ndarray:
    parts: dict[str, list[float]] = {}
    for sample in samples:
        parts.setdefault(sample[2], []).append(sample[place])
    means = {other: statistics.fmean(values) for other, values in parts.items()}
    return np.array([sample[place] - means[sample[2]] for sample in samples])


CORRELATION_COLUMNS = {
    "problem": "problem", "lever": "lever", "metric": "with", "runs": "values", "pearson": "Pearson", "pearson_p": "p",
    "significant": "at 95 %", "spearman": "Spearman", "spearman_p": "p", "held": "others held", "held_p": "p",
}  # fmt: skip


def configuration_rows(group: Group, found: Sequence[Configuration]) -> list[Row]:
    """One per configuration, for programs: all factors, the group, and each metric's mean and interval."""
    wanted, domains = metrics(group), {domain: how_of(group, domain) for domain in group.domains()}
    bests = {(metric.name, id(best_of(known, metric))) for here in by_problem(found).values() for metric in wanted
             if (known := with_mean(here, metric))}  # fmt: skip
    rows = []
    for one in found:
        seconds = [record["seconds"] for record in one.records]
        time = mean_of(seconds)
        rates = [record["gflops"] for record in one.records if record["gflops"] is not None]
        rate = mean_of(rates) if rates else None
        rows.append(
            {"campaign": group.campaign, "commit": group.commit, "host": group.host, "simulated": group.simulated,
             **({"description": group.description} if group.description else {}),
             **({"emulated": True} if group.emulated else {}), **one.levels,
             "machine": group.machine, "runs": len(one.records), "seconds_mean": time.mean, "seconds_low": time.low,
             "seconds_high": time.high, "seconds_median": statistics.median(seconds), "seconds_min": min(seconds),
             "seconds_max": max(seconds), "gflops_mean": rate and rate.mean, "gflops_low": rate and rate.low,
             "gflops_high": rate and rate.high, "gflops_median": statistics.median(rates) if rates else None,
             "gflops_max": max(rates, default=None),
             "energy": {domain: _energy_row(mean, how) for domain, how in domains.items()
                        if (mean := one.means.get(energy_metric(domain).name))} or None,
             "best_for": [metric.name for metric in wanted if (metric.name, id(one)) in bests]}
        )  # fmt: skip
    return rows


def _energy_row(mean: Mean, how: str) -> Row:
    return {"joules_mean": mean.mean, "joules_low": mean.low, "joules_high": mean.high, "how": how}


def configuration_table(group: Group, found: Sequence[Configuration]) -> tuple[dict[str, str], list[Row]]:
    """Columns and rows, for people: varied factors, runs, means with intervals."""
    names = [name for name in group.varied() if name not in PROBLEM]
    columns = {"problem": "problem", **{name: name for name in names}, "runs": "runs"}
    columns |= {metric.name: f"{metric.name}, {metric.unit} [95 %]" for metric in metrics(group)}
    rows = [
        {"problem": group.problem_name(one.problem), "runs": len(one.records),
         **{name: shown_level(one.levels.get(name), name) for name in names},
         **{metric: mean.text() for metric, mean in one.means.items()}}
        for one in found
    ]  # fmt: skip
    return columns, rows
