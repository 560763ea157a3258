"""The published tables beside ours: rows, tables, charts and report from made-up records, and each gallery as a command."""

import json
import re
import tomllib
import xml.dom.minidom
from pathlib import Path

import pytest
from trencadis import _core
from trencadis.report import findings
from trencadis.reproduce import (
    GALLERIES,
    asym,
    asym_units,
    constants,
    energy,
    energy_tables,
    gallery,
    locality,
    numa,
    numa_traffic,
)  # fmt: skip
from trencadis.reproduce.gallery import Case, beside, plan, published_figures
from trencadis.reproduce.report import markdown_table, write_report
from trencadis.reproduce.scores import Figure, Scores, in_order, notes_of
from trencadis.seeds import mean_record


def record(case, number):
    """What a simulation might have come to: every number differs from run to run."""
    return {
        "gflops": 5.0 + number % 17, "bound_gflops": 40.0, "makespan_s": 2.0, "energy_j": 100.0 + number,
        "cores_j": 50.0 + number, "package_j": 80.0 + number, "memory_j": 20.0, "idle_fraction": 0.25,
        "bytes_moved": 1e9 * number, "local_bytes": 2e9, "remote_bytes": 1e9, "scheduler": case.simulation.scheduler,
        "traffic": [{"at": "node0", "by": f"node{k}", "read_bytes": 4e9, "written_bytes": 1e9, "copied_bytes": 0}
                    for k in range(1 + number % 4)],
        "per_worker": [{"name": "w0", "kind": "cortex-a15", "idle_fraction": 0.25, "busy_s": 1.5}],
        "per_kernel": [{"name": "gemm", "kind": "cortex-a15", "calls": 3, "mean_ms": 89.0}],
    }  # fmt: skip


def made_up(name, quick=False, seeds=1):
    gallery = GALLERIES[name]
    cases = plan(gallery, quick, None)
    drawn = ([record(case, number + k) for k in range(seeds)] for number, case in enumerate(cases))
    return list(gallery.rows((case, mean_record(case.simulation, some)) for case, some in zip(cases, drawn, strict=True)))


@pytest.mark.parametrize("name", GALLERIES)
@pytest.mark.parametrize("quick", [False, True])
def test_every_gallery_becomes_rows_sections_charts_and_a_report(name, quick, tmp_path):
    rows = made_up(name, quick)
    assert all({"published", "published_field", "difference"} <= set(row) and row["simulated"] for row in rows)
    written = write_report(GALLERIES[name], rows, tmp_path, "the command")
    text = (tmp_path / "report.md").read_text()
    assert "the command" in text and all(section.title in text for section in GALLERIES[name].sections(rows))
    records = [json.loads(line) for line in (tmp_path / "rows.json").read_text().splitlines()]
    assert records[: len(rows)] == rows
    score = GALLERIES[name].score(rows)
    assert [record["score"] for record in records[len(rows) :]] == [one.what for one in (*score.figures, *score.orders)]
    charts = [file for file in written if file.suffix == ".svg"]
    assert charts
    for chart in charts:
        assert chart.name in text
        xml.dom.minidom.parseString(chart.read_text())


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("asym", ["method", "n", "nb", "gflops", "idle_fraction", "per_worker", "per_kernel"]),
        ("energy", ["routine", "preset", "gflops", "joules"]),
        ("locality", ["routine", "method", "gpus", "overlap", "gflops", "bytes_moved"]),
        ("numa", ["method", "nodes", "speedup", "local_bytes", "remote_bytes"]),
    ],
)
def test_rows_have_the_promised_fields(name, fields):
    assert all(set(fields) <= set(row) for row in made_up(name))


def test_the_methods_are_those_that_were_published_and_ours():
    assert {row["method"] for row in made_up("asym")} == {
        "oblivious", "big-only", "virtual-cores", "cats", "ours", "one-big", "one-virtual-core",
        *(f"workers-{count}" for count in range(1, 9)), *(f"cats-4+{little}" for little in (1, 2, 3)),
        *(f"tiles-{count}" for count in range(1, 5)), *(f"model-{name}" for name in asym_units.MODELS),
    }  # fmt: skip
    assert {row["method"] for row in made_up("locality")} == {"default", "h1", "h2", "ours"}
    assert {row["gpus"] for row in made_up("locality")} == set(range(1, 9))
    assert {row["nodes"] for row in made_up("numa")} == {1, 2, 3, 4}


def test_the_gain_of_virtual_cores_is_set_beside_the_published_one():
    rows = [row for row in made_up("asym") if row["n"] == 6144 and not row["effects"]]
    speed = {row["method"]: row["gflops"] for row in rows}
    row, single = [row for row in rows if row["published"] is not None]
    assert single["method"] == "one-virtual-core" and single["published"] == 0.340
    assert single["gain"] == pytest.approx(speed["one-virtual-core"] - speed["one-big"])
    assert row["method"] == "virtual-cores" and row["published"] == 0.975 and row["published_field"] == "gain"
    assert row["gain"] == pytest.approx(speed["virtual-cores"] - speed["big-only"])
    assert row["difference"] == pytest.approx((row["gain"] - 0.975) / 0.975)


def test_sizes_are_the_published_ones_with_their_best_tiles():
    assert asym.sizes(quick=False)[0] == (512, 128) and (6144, 448) in asym.sizes(quick=False)
    assert len(asym.sizes(quick=False)) == 15


def test_published_figures_stand_only_beside_what_was_published():
    rows = [row for row in made_up("energy") if row["published"] is not None]
    assert {(row["routine"], row["preset"], row["turbo"], row["published"]) for row in rows} == {
        (entry["routine"], entry["preset"], entry["turbo"], entry["gflops"]) for entry in energy.PAPER["measured"]
    }  # fmt: skip
    assert len(rows) == len(energy.PAPER["measured"]) == 9 and {row["placement"] for row in rows} == {"interleave"}
    assert not any(row["published"] for row in made_up("energy", quick=True))
    h2 = {(row["routine"], row["overlap"], row["precision"]): row["published"] for row in made_up("locality") if row["published"]}
    assert h2 == {
        ("potrf", True, "d"): 1790, ("potrf", False, "d"): 1240, ("getrf", True, "d"): 816.5, ("potrf", True, "s"): 3920,
        ("getrf", True, "s"): 1240,
    }  # fmt: skip
    speedups = {(row["method"], row["nodes"]): row["published"] for row in made_up("numa") if row["published"]}
    assert speedups == {("default", 4): 2.01, ("copies", 2): 1.93, ("copies", 3): 2.73, ("copies", 4): 3.45}


def test_what_concurrent_writes_give_is_shown_by_size_and_for_both_places_of_the_tiles():
    rows = made_up("energy")
    ratios = next(s for s in energy.sections(rows) if s.title == "libkomp over libgomp").rows
    assert [(line["routine"], line["placement"]) for line in ratios] == [
        (routine, placement) for routine in ("potrf", "getrf", "geqrf") for placement in ("interleave", "first-touch")
    ]  # fmt: skip
    fast = energy_tables.pick(rows, routine="getrf", variant="kastors-cw", preset="libkomp")
    plain = energy_tables.pick(rows, routine="getrf", variant="kastors", preset="libgomp")
    gain = 100 * (fast["gflops"] / plain["gflops"] - 1)
    writes = next(s for s in energy.sections(rows) if "concurrent writes" in s.title).rows
    assert [line["n"] for line in writes] == [4096, 8192, 16384, 32768] and writes[-1]["percent"] == pytest.approx(gain)


def test_levers_are_what_the_clock_and_idle_cores_do():
    def effects(preset, turbo, c_states, governor):
        return energy.effects_of(preset, {"turbo": turbo, "c_states": c_states, "governor": governor})

    assert effects("libgomp", True, "all", "powersave") == {"power_state": "turbo", "wake_s": 109e-6}
    assert effects("libkomp", False, "none", "performance") == {
        "power_state": "nominal", "awake_state": "nominal", "spin_s": 0.2,
    }  # fmt: skip
    assert effects("xkaapi", True, "none", "powersave")["awake_state"] == "powersave"


def test_every_figure_of_table_2_stands_beside_speed_joules_and_watts():
    names = [figure.what for figure in energy.score(made_up("energy")).figures]
    assert sum("GFlop/s" in name for name in names) == sum("mean watts" in name for name in names) == 9
    assert sum("PKG kJ" in name for name in names) == sum("DRAM kJ" in name for name in names) - 3 == 6
    assert len(set(names)) == len(names)


def test_a_correlation_is_pearsons_and_one_with_what_does_not_vary_is_none():
    r, p = findings.pearson([1, -1, 1, -1], [4.0, 2.0, 4.5, 2.5])
    assert r == pytest.approx(0.970, abs=1e-3) and 0.02 < p < 0.04
    assert findings.pearson([1, -1], [3.0, 3.0]) is None


def test_copies_are_ahead_from_the_size_on_after_which_none_is_behind():
    rows = [
        {"method": method, "nodes": 4, "n": n, "gflops": speed}
        for n, copies in ((10240, 90), (15360, 110), (20480, 95), (30720, 120), (61440, 130))
        for method, speed in (("copies", copies), ("default", 100))
    ]
    assert numa.crossover(rows) == 30720 and numa.crossover(rows[:1] + rows[1:2]) == 0


def test_the_best_tile_is_that_of_the_fastest_run_and_the_loss_of_the_published_one_is_said():
    rows = [
        {"method": "tiles-4", "n": 2048, "nb": nb, "gflops": speed} for nb, speed in ((128, 6.0), (192, 5.4), (256, 5.0))
    ]
    (line,) = asym_units._tile_lines(asym.PAPER, rows)
    assert (line["workers"], line["published"], line["ours"]) == (4, 192, 128) and line["loss"] == pytest.approx(10)


def test_an_effect_changes_only_whom_it_concerns():
    plain, all_on = asym.case("cats", 6144, 448, ()).simulation, asym.case("cats", 6144, 448, tuple(asym.EFFECTS)).simulation
    assert plain.effects == {} and plain.scheduler == "botlev"
    assert all_on.scheduler.startswith("botlev:") and "stealing=both" in all_on.scheduler and all_on.effects["submit_s"] > 0
    assert "remap_s" not in all_on.effects
    assert asym.case("oblivious", 6144, 448, ("os-mapping",)).simulation.effects == {"remap_s": 0.1}


def test_the_table_of_effects_says_which_of_them_bring_the_published_order_back():
    rows = [
        {"method": method, "n": n, "effects": list(effects), "gflops": speed}
        for n in (6144, 7680)
        for effects, speeds in (((), (3, 4, 1, 2)), (("slow-steals",), (4, 3, 2, 1)))
        for method, speed in zip(("virtual-cores", "cats", "big-only", "oblivious"), speeds, strict=True)
    ]
    table = asym._effects_section(rows)
    assert [(line["effects"], line["agrees"]) for line in table.rows] == [("no effect", False), ("slow-steals", True)] * 2
    pairs = {line["pair"]: line["with"] for line in asym._order_section(rows).rows}
    assert pairs["virtual-cores > cats"] == "slow-steals"
    assert asym.order_of(rows, 6144, ()) == ["cats", "virtual-cores", "oblivious", "big-only"]


def test_what_no_effects_bring_back_is_listed():
    every = tuple(asym.EFFECTS)
    rows = [
        {"method": method, "n": n, "effects": list(effects), "gflops": speed, "published": published, "gain": gain,
         "difference": published and (gain - published) / published}
        for n, gain in ((6144, 0.9), (7680, 0.1))
        for effects in ((), every)
        for method, speed, published in (
            ("virtual-cores", 4, {6144: 0.975, 7680: 0.902}[n]), ("cats", 3 if n == 6144 else 5, None),
            ("big-only", 2, None), ("oblivious", 1, None),
        )
    ]  # fmt: skip
    lines = asym._unexplained_section(rows).rows
    assert [(line["n"], line["what"]) for line in lines] == [(7680, "gain of virtual cores"), (7680, "order, fastest first")]


def test_scaling_stops_where_more_gpus_give_less_than_a_twentieth():
    curve = [{"gpus": gpus, "gflops": speed} for gpus, speed in ((1, 100), (2, 190), (3, 195), (4, 197), (5, 201))]
    assert locality.stops_at(curve) == 5 and locality.stops_at(curve[:4]) == 2


@pytest.mark.parametrize("name", GALLERIES)
def test_every_entry_of_a_paper_is_read(name):
    code = "".join(file.read_text() for file in Path(gallery.__file__).parent.glob("*.py"))
    tables = [value for value in GALLERIES[name].PAPER.values() for value in (value if isinstance(value, list) else [value])]
    keys = {*GALLERIES[name].PAPER, *(key for table in tables if isinstance(table, dict) for key in table)}
    assert not {key for key in keys if not re.search(rf"""["']{re.sub("_[0-9]$", "_", key)}""", code)}


def test_nothing_published_gives_nulls():
    assert beside(3.0, None, "gflops") == {"published": None, "published_field": None, "difference": None}


def test_the_difference_is_positive_where_ours_is_more_also_beside_a_published_loss():
    assert beside(3.0, -2.0, "gain")["difference"] == 2.5
    assert beside(-3.0, -2.0, "gain")["difference"] == -0.5


def test_published_tables_are_complete():
    for name in GALLERIES:
        assert published_figures(name)["machine"]
    gain = published_figures("asym")["gain_over_big_only"]
    assert len(gain["n"]) == len(gain["gflops"]) == 12
    assert energy.PAPER["n"] == 32768 and numa.PAPER["machine"] == "kunpeng920x2"


def test_a_markdown_table_shows_numbers_names_and_gaps():
    text = markdown_table({"a": "A", "b": "B"}, [{"a": "x|y", "b": 1.23456}, {"a": None, "b": None}])
    assert text == "| A | B |\n| --- | ---: |\n| x\\|y | 1.235 |\n|  |  |\n"


def test_what_chance_has_a_part_in_has_an_interval_over_seeds_and_the_rest_says_that_it_is_deterministic():
    rows = made_up("locality", quick=True, seeds=4)
    h2 = next(row for row in rows if (row["routine"], row["method"], row["gpus"]) == ("potrf", "h2", 8))
    low, high = h2["interval"]
    assert h2["seeds"] == 4 and not h2["deterministic"] and h2["runs"] == "4 seeds" and low < h2["gflops"] < high
    ours = next(row for row in rows if row["method"] == "ours")
    assert ours["deterministic"] and ours["runs"] == "deterministic"
    lone = next(row for row in made_up("locality", quick=True) if row["method"] == "h2")
    assert lone["interval"] is None and lone["runs"] == "1 seed"


def test_up_to_four_gpus_are_on_switches_of_their_own_and_all_other_cores_compute():
    for gpus in range(1, 9):
        units = locality.workers(gpus)
        chosen = [int(unit.removeprefix("gpu")) for unit in units if unit.startswith("gpu")]
        assert len(units) == 12 and len({gpu // 2 for gpu in chosen}) == min(gpus, 4)
        assert not {str(locality.HOST_CORES[gpu]) for gpu in chosen} & set(units)


def test_a_run_that_was_broken_off_is_marked_as_partial(tmp_path):
    rows = made_up("numa")[:3]
    write_report(numa, rows, tmp_path, "the command", "3 of 12 rows")
    assert "Partial: broken off" in (tmp_path / "report.md").read_text()
    last = json.loads((tmp_path / "rows.json").read_text().splitlines()[-1])
    assert last["partial"] is True and last["rows"] == "3 of 12 rows"


def test_scores_count_what_is_near_and_put_the_misses_first():
    figures = [Figure("a", 100, 110), Figure("b", 100, 130), Figure("c", -1, 1), Figure("d", 10, 12, [9.5, 14.5])]
    found = Scores(figures, [in_order("e", ["x", "y"], ["x", "y", "z"]), in_order("f", ["x", "y"], ["y", "x"])])
    assert found.sentences() == [
        "1 of 4 published figures are within 15%, 2 within 25%; 1 have the wrong sign", "1 of 2 published orders come out",
    ]  # fmt: skip
    lines = [(line["what"], line["said"]) for line in found.lines()]
    assert lines == [
        ("c", "wrong sign"), ("b", "missed"), ("d", "inside our interval"), ("a", "within 15%"),
        ("f", "another order"), ("e", "as published"),
    ]  # fmt: skip


def test_a_miss_by_more_than_fifteen_per_cent_has_the_first_note_on_it():
    entries = [("a|[bd]", "of\nit.", "that."), (".*", "of all.", "this.")]
    paper = {"unexplained": [dict(zip(("of", "why", "tried"), entry, strict=True)) for entry in entries]}
    figures = [Figure("a", 100, 114), Figure("b", 100, 116), Figure("bb", 100, 70), Figure("d", 10, 13, [9.5, 16.5])]
    found = Scores(figures, [in_order("e", ["x", "y"], ["y", "x"]), in_order("f", ["x"], ["x"])], notes_of(paper))
    first, second = "Unexplained: of it. Tried: that.", "Unexplained: of all. Tried: this."
    assert [record["unexplained"] for record in found.records()] == [None, first, second, None, second, None]
    assert {line["what"]: line["note"] for line in found.lines()} == {"a": None, "b": 1, "bb": 2, "d": None, "e": 2, "f": None}
    score, notes = found.sections()
    assert notes.text == f"1. {first}\n2. {second}" and "note" in score.columns
    assert len(Scores(figures[:1], [], notes_of(paper)).sections()) == 1


def test_lu_leaves_gpus_their_kernels_but_for_ours_and_what_was_tried_stands_apart():
    rows, cases = made_up("locality"), plan(locality, False, None)
    on_gpus = {(case.labels["routine"], case.labels["method"] != "ours") for case in cases
               if case.simulation.effects.get("device_only") and "tried" not in case.labels}  # fmt: skip
    assert on_gpus == {("getrf", True)}
    apart = [row for row in rows if row["tried"]]
    assert len(apart) == 4 * len(locality.TRIED) * len(locality.TRIED_METHODS)
    assert all(row["published"] is None and row["speedup"] is None for row in apart)
    assert not any(row["tried"] for row in locality.curve_of(rows, "potrf", "h2"))
    (line, *_) = locality.tried_lines(rows)
    speed = {(row["gpus"], row["overlap"], row["one_stream"]): row["gflops"] for row in apart
             if (row["tried"], row["method"]) == (line["tried"], line["method"])}  # fmt: skip
    assert line["added"] == speed[8, True, False] - speed[8, False, False] and line["on 4"] == speed[4, True, False]
    assert line["added_one_stream"] == speed[8, True, False] - speed[8, False, True]


@pytest.mark.parametrize("name", GALLERIES)
def test_every_gallery_has_a_score_of_what_was_published_at_its_sizes(name):
    full = GALLERIES[name].score(made_up(name))
    assert len(full.figures) >= 5 and full.orders
    assert all(figure.published for figure in full.figures)


def test_an_order_that_the_paper_gives_for_some_methods_says_nothing_of_the_others():
    assert asym.as_published(["d", "a", "b"], ["a", "b"]) and not asym.as_published(["b", "d", "a"], ["a", "b"])
    assert asym.as_published(["a", "b"], ["a"]) and not asym.as_published(["b", "a"], ["a"])


FIGURE_TABLES = ("kernels", "unadjusted", "kinds", "nodes", "caches", "devices", "links", "power")


def figures_of(described):
    """All figures as (table.key, kernel or None), those of power states as power.key."""
    for table in FIGURE_TABLES:
        for entry in described.get(table, ()):
            numbers = {key for key, value in entry.items() if isinstance(value, int | float)}
            yield from ((f"{table}.{key}", entry.get("kernel")) for key in numbers - {"count", "level", "each", "host_core"})
            for state in entry.get("power", ()):
                yield from ((f"power.{key}", None) for key in set(state) - {"name"})


@pytest.mark.parametrize("machine", [published_figures(name)["machine"] for name in GALLERIES] + [asym.PAPER["pair"]])
def test_every_figure_of_a_machine_of_a_paper_has_a_class_and_every_class_has_figures(machine):
    described = tomllib.loads(Path(json.loads(_core.load_machine(machine))["origin"]).read_text())
    figures = set(figures_of(described)) | {("base_w", None)}
    covered = set()
    for source in described["sources"]:
        named = {
            (figure, kernel) for figure, kernel in figures
            if figure in source["figures"].split(", ") and ("kernels" not in source or kernel in source["kernels"].split(", "))
        }  # fmt: skip
        assert {figure for figure, _ in named} == set(source["figures"].split(", ")), source
        covered |= named
    assert covered == figures, figures - covered


def test_rows_that_depend_on_an_adjusted_figure_say_so():
    record = {"machine": "exynos5422", "per_kernel": [{"name": "potrf"}]}
    assert constants.adjusted(record) == []
    (result,) = constants.adjusted({**record, "per_kernel": [{"name": "gemm"}]})
    assert "best tile sizes" in result
    shown = constants.section("exynos5422")
    assert result in markdown_table(shown.columns, shown.rows)


def test_beside_what_depends_on_an_adjusted_figure_stands_the_same_without_the_adjustment(monkeypatch):
    ran = []

    def over_seeds(simulations, counts, step, simulate):
        for number, simulation in enumerate(simulations):
            ran.append(simulation)
            made = record(Case(simulation), number)
            yield [{**made, "machine": simulation.machine} for _ in range(counts[number] if simulation.random else 1)]

    monkeypatch.setattr(gallery, "over_seeds", over_seeds)
    cases = [asym.case(method, 6144, 448, ()) for method in ("big-only", "virtual-cores")]
    big, virtual = gallery.run_gallery(asym, cases, 1, lambda text, done: None)
    assert [one.effects for one in ran] == [{}, {"unadjusted": True}] * 2
    assert ran[0].scheduler == ran[1].scheduler == "ompss-bf"
    assert [big["gflops"], big["gflops_unadjusted"], virtual["gflops"], virtual["gflops_unadjusted"]] == [5, 6, 7, 8]
    assert virtual["gain"] == 7 - 5 and virtual["gain_unadjusted"] == 8 - 6 and virtual["adjusted"] == big["adjusted"] != []
    assert gallery.count_runs(cases, 1) == 4
    ran.clear()
    (row,) = gallery.run_gallery(numa, numa.cases(True)[:1], 1, lambda text, done: None)
    assert len(ran) == 1 and row["adjusted"] == [] and not any(key.endswith("_unadjusted") for key in row)


@pytest.mark.parametrize("machine", sorted(_core.described_machines()))
def test_every_adjusted_kernel_has_what_it_was_before_unless_that_is_the_same(machine):
    described = tomllib.loads(Path(json.loads(_core.load_machine(machine))["origin"]).read_text())
    adjusted = [source for source in described.get("sources", ()) if source["class"] == constants.ADJUSTED]
    assert bool(adjusted) == bool(described.get("unadjusted"))
    kernels = {kernel for source in adjusted for kernel in source["kernels"].split(", ")}
    assert {"gemm", "trsm"} <= kernels if adjusted else not kernels
    before = {(entry["kernel"], entry["on"]) for entry in described.get("unadjusted", ())}
    same = {(entry["kernel"], entry["on"]) for entry in described.get("kernels", ()) if entry["kernel"] in ("syrk", "herk")}
    of_them = {(entry["kernel"], entry["on"]) for entry in described.get("kernels", ()) if entry["kernel"] in kernels}
    assert of_them - same <= before


def test_scores_show_what_comes_out_without_the_adjustment():
    found = Scores([Figure("a", 100, 110, unadjusted=140), Figure("b", 100, 130)], [])
    assert found.sentences()[-1] == "with unadjusted figures of the machine 0 of 1 are within 15%, 0 within 25%"
    assert found.sections()[0].columns["unadjusted"] and [line["unadjusted"] for line in found.lines()] == [None, 140]
    assert [one["unadjusted"] for one in found.records()] == [140, None]
    assert "unadjusted" not in Scores([Figure("b", 100, 130)], []).sections()[0].columns


def test_traffic_is_told_by_die_and_chip_and_set_beside_the_counted_events():
    assert [numa_traffic.distance("kunpeng920x2", "node0", f"node{k}") for k in range(4)] == [
        "local", "cross-die", "cross-chip", "cross-chip",
    ]  # fmt: skip
    assert numa_traffic.shares({"local": 3.0, "cross-die": 1.0}) == {"local": 75.0, "cross-die": 25.0}
    rows = made_up("numa")
    assert list(numa_traffic.counted(rows)) == list(numa_traffic.SETS)
    line = next(line for line in numa_traffic.set_lines(numa.PAPER, rows) if line["set"] == "0,1,2,3" and line["kind"] == "read")
    assert line["cross-chip published"] == pytest.approx(100 * 1.37 / (5.65 + 5.80 + 1.37))
    named = [figure.what for figure in numa.score(rows).figures if "default on nodes" in figure.what]
    assert len(named) == len(set(named)) == 28 and not any("nodes 0:" in name for name in named)
    assert {line["node"] for line in numa_traffic.node_lines("kunpeng920x2", rows)} == {f"node{k}" for k in range(4)}
