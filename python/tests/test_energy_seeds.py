"""What chance has to do with the levers and the order of the runtimes, from rows with a figure per seed."""

import pytest
from trencadis.reproduce import energy, energy_seeds
from trencadis.seeds import Estimate


def rows(speed, seeds=4):
    """`speed` of a configuration and a seed; energies follow."""
    found = []
    for labels in energy_seeds.configurations():
        speeds = [speed(labels, seed) for seed in range(seeds)]
        found.append({**labels, "seeds": seeds, "gflops": speeds, "package_kj": [2 * x for x in speeds],
                      "memory_kj": [1 / x for x in speeds]})  # fmt: skip
    return found


def test_all_settings_of_the_levers_and_all_published_orders_are_there_once():
    chosen = energy_seeds.configurations()
    assert len({tuple(labels.items()) for labels in chosen}) == len(chosen)
    for routine, variant, preset in energy.BEST:
        for levers in energy.LEVERS:
            assert energy_seeds.pick(chosen, routine=routine, variant=variant, preset=preset, **levers)
    for entry in energy.PAPER["order"]:
        for name in entry["names"]:
            variant, preset = name.split()
            assert energy_seeds.pick(chosen, routine=entry["routine"], variant=variant, preset=preset)
    assert len(chosen) - energy_seeds.runs(1) == len(energy.BEST) * 2  # both governors, with turbo and without


def test_a_lever_gives_what_it_gives_with_an_interval_of_the_seeds():
    best = energy.BEST[1]
    sure = rows(lambda labels, seed: 110.0 if labels["turbo"] else 100.0)
    assert energy_seeds.lever_gain(sure, best, "turbo") == Estimate(pytest.approx(10.0), 0.0)
    assert energy_seeds.lever_gain(sure, best, "c_states") == Estimate(pytest.approx(0.0), 0.0)
    drawn = rows(lambda labels, seed: (110.0 if labels["turbo"] else 100.0) + seed)
    gain = energy_seeds.lever_gain(drawn, best, "turbo")
    gains = [100 * 10 / (100 + seed) for seed in range(4)]
    assert gain.mean == pytest.approx(sum(gains) / 4)
    assert gain.half == pytest.approx(3.182 * (sum((x - gain.mean) ** 2 for x in gains) / 3 / 4) ** 0.5, rel=1e-3)  # t of 3
    assert energy_seeds.lever_gain(drawn, best, "governor") == Estimate(pytest.approx(0.0), 0.0)


def test_r_is_of_each_seed_and_none_where_one_of_the_two_does_not_vary():
    best = energy.BEST[1]
    drawn = rows(lambda labels, seed: 100.0 + (1 if labels["turbo"] else 0) + seed * (labels["governor"] == "performance"))
    r = energy_seeds.correlation(drawn, best, "gflops turbo")
    # Of seed s, speed is turbo + s * governor: r = 1 / sqrt(1 + s^2).
    assert r.mean == pytest.approx(sum((1 + s * s) ** -0.5 for s in range(4)) / 4, rel=1e-3) and r.half > 0.1
    assert energy_seeds.correlation(drawn, best, "gflops package").mean == pytest.approx(1.0)
    assert energy_seeds.correlation(rows(lambda labels, seed: 100.0), best, "gflops turbo") is None
