"""Energy on the command line and from Python, by meters that are files of a test."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import trencadis
from commands import refusal, rows
from commands import trencadis as command
from trencadis import energy

WATTS = 100.0
ZONE = "sys/class/powercap/intel-rapl:0"


class Counter:
    """A package that draws 100 W, its cores, which draw 60, a DIMM whose counter may not be read, and a psys that counts nothing.
    Counters begin anew at 1,000 J, which the package is 60 J away from. They are renewed every `step_s`."""

    def __init__(self, root: Path, step_s: float = 0.001) -> None:
        self._step_s = step_s
        psys = "sys/class/powercap/intel-rapl:1"
        self._zones = {ZONE: ("package-0", WATTS), f"{ZONE}:0": ("core", 0.6 * WATTS), psys: ("psys", 0.0)}
        self._root, self._ending = root, threading.Event()
        for zone, (name, _) in self._zones.items():
            (root / zone).mkdir(parents=True)
            (root / zone / "name").write_text(name + "\n")
            (root / zone / "max_energy_range_uj").write_text("999999999\n")
        (root / f"{ZONE}:1" / "energy_uj").mkdir(parents=True)  # cannot be read, even by root
        (root / f"{ZONE}:1" / "name").write_text("dram\n")
        self._files = {zone: (root / zone / "energy_uj").open("w") for zone in self._zones}
        self._begin = self._last = time.perf_counter()
        self.longest_pause_s = 0.0
        self._count()
        self._thread = threading.Thread(target=self._go, daemon=True)
        self._thread.start()

    def _count(self) -> None:
        now = time.perf_counter()
        self.longest_pause_s, self._last = max(self.longest_pause_s, now - self._last), now
        for zone, (_, watts) in self._zones.items():
            text = f"{int(940e6 + 1e6 * watts * (time.perf_counter() - self._begin)) % 1_000_000_000:020d}\n"
            self._files[zone].seek(0)
            self._files[zone].write(text)
            self._files[zone].flush()

    def _go(self) -> None:
        while not self._ending.wait(self._step_s):
            self._count()

    def end(self) -> None:
        self._ending.set()
        self._thread.join()


@pytest.fixture
def counter(tmp_path, monkeypatch):
    monkeypatch.setenv("TRENCADIS_SYSTEM_ROOT", str(tmp_path / "root"))
    energy.meters.cache_clear()
    running = Counter(tmp_path / "root")
    yield running
    running.end()
    energy.meters.cache_clear()


@pytest.fixture
def slow_counter(tmp_path, monkeypatch):
    """Renewed ten times a second: within what a search for meters waits."""
    monkeypatch.setenv("TRENCADIS_SYSTEM_ROOT", str(tmp_path / "root"))
    energy.meters.cache_clear()
    running = Counter(tmp_path / "root", step_s=0.1)
    yield running
    running.end()
    energy.meters.cache_clear()


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("TRENCADIS_SYSTEM_ROOT", str(tmp_path / "empty"))
    energy.meters.cache_clear()
    yield
    energy.meters.cache_clear()


def test_a_session_reads_its_meters_over_a_block(counter):
    with_energy = trencadis.session(energy=True)
    before = time.perf_counter()
    with with_energy:
        begin = time.perf_counter()
        while time.perf_counter() - begin < 0.5:
            trencadis.matmul(np.ones((300, 300)), np.ones((300, 300)))
        with pytest.raises(RuntimeError, match="after the `with` block"):
            with_energy.energy()
        inside = time.perf_counter() - begin
    around = time.perf_counter() - before
    domains = with_energy.energy()
    assert set(domains) == {"package", "core"}  # psys stands still, dram cannot be read
    assert domains["package"]["how"] == "measured" and domains["core"]["inside"] == ["package", "psys", "machine"]
    late = counter.longest_pause_s + 0.02  # so old may be what the counter shows, and a reading
    assert WATTS * (inside - 2 * late) < domains["package"]["joules"] < WATTS * (around + 2 * late)
    assert abs(domains["core"]["joules"] - 0.6 * domains["package"]["joules"]) < WATTS * 2 * late
    with pytest.raises(RuntimeError, match="energy=True"):
        trencadis.session().energy()


def test_blocks_that_read_meters_may_lie_within_each_other_and_beside(counter):
    outer, inner = trencadis.session(energy=True), trencadis.session(energy=True)
    with outer:
        with inner:
            time.sleep(0.1)
            with inner:  # one object, entered twice
                time.sleep(0.1)
        joules = inner.energy()["package"]["joules"]
        with pytest.raises(RuntimeError, match="after the `with` block"):
            outer.energy()
        threads = [threading.Thread(target=within, args=(trencadis.session(energy=True), 0.1)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    late = counter.longest_pause_s + 0.02
    assert joules >= WATTS * (0.2 - 2 * late) and outer.energy()["package"]["joules"] >= joules + WATTS * (0.1 - 4 * late)
    with inner:
        time.sleep(0.05)
    assert inner.energy()["package"]["joules"] > 0


def within(session, seconds):
    with session:
        time.sleep(seconds)


def test_a_child_of_a_fork_leaves_a_block_that_reads_meters(counter):
    with trencadis.session(energy=True, workers=1) as _:
        child = os.fork()
        if child:
            deadline = time.monotonic() + 20
            while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
                time.sleep(0.01)
            if ended == (0, 0):
                os.kill(child, signal.SIGKILL)
    if not child:
        os._exit(7)  # the block has been left
    assert os.waitstatus_to_exitcode(ended[1]) == 7


def test_bench_gives_joules_of_a_call_with_what_metering_costs(counter):
    (row,) = rows("bench", "potrf", "--n", "2500", "--repeat", "3", "--energy")
    package = row["energy"]["package"]
    late = WATTS * 2 * (counter.longest_pause_s + 0.01)  # at constant watts only the counter's own pauses are in the error
    assert package["how"] == "measured" and package["joules"] == pytest.approx(WATTS * row["seconds_median"], abs=late)
    assert 0 < row["energy_cost"]["share"] < 0.2 and row["energy_cost"]["period_s"] == pytest.approx(0.01)
    out, _ = command("bench", "potrf", "--n", "1500", "--repeat", "2", "--energy")
    assert re.search(r"a call of ours takes, measured: core .* J, package .* J", out)


def test_a_counter_that_did_not_move_during_a_call_is_unavailable_and_not_0_j(slow_counter):
    found = rows("bench", "potrf", "--n", "300,600", "--repeat", "40", "--energy")
    for package in (row["energy"]["package"] for row in found):  # calls of some milliseconds; not all have a step in them
        assert (package["joules"], package["how"]) == (None, "unavailable")
        assert package["why"] == "package-0: did not move during the run"
    out, _ = command("bench", "potrf", "--n", "300", "--repeat", "40", "--energy")
    assert "package unavailable (package-0: did not move during the run)" in out
    longer = trencadis.session(energy=True)
    with longer:
        time.sleep(0.5)
    assert longer.energy()["package"]["how"] == "measured"


def test_compare_gives_joules_of_both(counter):
    (row,) = rows("compare", "gemm", "--against", "openblas", "--n", "200", "--repeat", "2", "--energy")
    for key, seconds in (("energy", row["seconds_median"]), ("peer_energy", row["peer_seconds_median"])):
        assert row[key]["package"]["joules"] > 0.2 * WATTS * seconds


@pytest.mark.parametrize("suffix", ["svg", "html", "json"])
def test_a_trace_has_the_power_under_its_timeline(suffix, counter, tmp_path):
    file = tmp_path / f"t.{suffix}"
    out, _ = command("trace", "potrf", "--n", "1500", "--nb", "150", "-o", file, "--energy")
    assert "energy, measured: core" in out
    text = file.read_text()
    if suffix == "json":
        counters = [event for event in json.loads(text)["traceEvents"] if event.get("ph") == "C"]
        assert {event["name"] for event in counters} == {"core W", "package W"}
    else:
        assert text.count("<polyline") == 2 and "Power, measured" in text
        assert text.count("<svg") == text.count("</svg>")
    assert ".prv has no power curve" in refusal("trace", "potrf", "--n", "300", "-o", tmp_path / "t.prv", "--energy")


def test_machine_lists_meters_with_the_reason_of_those_that_do_not_count(counter):
    (row,) = rows("machine")
    there = {meter["name"]: meter for meter in row["meters"] if meter["available"]}
    missing = {meter["name"]: meter["why"] for meter in row["meters"] if not meter["available"]}
    assert set(there) == {"package-0", "package-0/core"} and there["package-0"]["source"] == "powercap"
    assert "counts nothing under load" in missing["psys"] and "directory" in missing["package-0/dram"]
    out, _ = command("machine")
    assert "package-0/core" in out and "counts nothing under load" in out


def test_a_campaign_has_the_energy_of_its_runs(counter, tmp_path):
    (tmp_path / "c.toml").write_text('name = "c"\nrepetitions = 3\n[factors]\nroutine = "potrf"\nn = [300, 600]\n')
    command("campaign", "c.toml", cwd=tmp_path)
    records = [json.loads(line) for line in (tmp_path / "c" / "runs.jsonl").read_text().splitlines()]
    assert all(r["energy"]["package"]["joules"] > 0 and r["energy"]["package"]["how"] == "measured" for r in records)
    out, _ = command("report", "c", cwd=tmp_path)
    assert "energy of package: measured" in out and "Energy or speed" in out


def test_a_machine_without_meters_says_what_was_looked_for(nothing, tmp_path):
    out, said = command("bench", "potrf", "--n", "100", "--repeat", "1", "--energy", "--json", "-")
    row = json.loads(out)
    (machine,) = row["energy"].values()
    assert list(row["energy"]) == ["machine"] and (machine["joules"], machine["how"]) == (None, "unavailable")
    assert machine["why"] in said and row["energy_cost"] is None and row["temperature_c"] is None
    (row,) = rows("compare", "gemm", "--against", "openblas", "--n", "100", "--repeat", "1", "--energy")
    assert row["energy"] == row["peer_energy"] == {"machine": machine}
    (tmp_path / "c.toml").write_text('name = "c"\nrepetitions = 3\n[factors]\nroutine = "potrf"\nn = 100\n')
    command("campaign", "c.toml", cwd=tmp_path)
    records = [json.loads(line) for line in (tmp_path / "c" / "runs.jsonl").read_text().splitlines()]
    assert all(record["energy"] == {"machine": machine} for record in records)
    assert "no meter counted in any of the runs" in command("report", "c", cwd=tmp_path)[0]
    assert said.count("\n") == 1 and all(word in said for word in ("powercap", "perf", "hwmon", "NVML", "battery"))
    command("trace", "potrf", "--n", "300", "--nb", "100", "-o", tmp_path / "t.svg", "--energy")
    assert "<polyline" not in (tmp_path / "t.svg").read_text()
    with pytest.warns(UserWarning, match="no meter of energy counts here"):
        with_energy = trencadis.session(energy=True)
    with with_energy:
        pass
    assert with_energy.energy() is None
    out, _ = command("machine")
    assert "no meter of energy counts here" in out


def sensor(root):
    chip = root / "sys/class/hwmon/hwmon0"
    chip.mkdir(parents=True)
    for name, text in {"name": "coretemp", "temp1_input": "51000", "temp1_label": "Package id 0", "temp2_input": "63000"}.items():
        (chip / name).write_text(text + "\n")


def test_the_temperature_of_the_hottest_core_stands_beside_the_energy(counter, tmp_path):
    sensor(tmp_path / "root")
    (row,) = rows("bench", "potrf", "--n", "300", "--repeat", "2", "--energy")
    assert row["temperature_c"] == 63 and set(row["energy"]) == {"core", "package"}
    (row,) = rows("compare", "gemm", "--against", "openblas", "--n", "200", "--repeat", "1", "--energy")
    assert row["temperature_c"] == 63
    out, _ = command("bench", "potrf", "--n", "300", "--repeat", "2", "--energy")
    assert "n = 300: the hottest core meanwhile, measured: 63 C" in out


def test_a_machine_that_tells_temperatures_alone_has_them_and_no_energy(nothing, tmp_path):
    sensor(tmp_path / "empty")
    out, said = command("bench", "potrf", "--n", "300", "--repeat", "1", "--energy")
    assert "measured: 63 C" in out and "takes, measured" not in out and "no meter of energy counts here" in said
    (row,) = rows("bench", "potrf", "--n", "300", "--repeat", "1", "--energy")
    assert row["energy"]["machine"]["how"] == "unavailable" and row["temperature_c"] == 63
    with pytest.warns(UserWarning, match="no meter of energy counts here"):
        with_energy = trencadis.session(energy=True)
    with with_energy:
        pass
    assert with_energy.energy() is None
    command("trace", "potrf", "--n", "300", "--nb", "100", "-o", tmp_path / "t.svg", "--energy")
    assert "<polyline" not in (tmp_path / "t.svg").read_text()


#: NVML as far as it is called: two devices, one that counts 300 W, one that has no counter and draws 75 W.
NVML = """
#include <string.h>
#include <time.h>
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned number, void** device) { *device = (void*)(1L + number); return 0; }
int nvmlDeviceGetName(void* device, char* name, unsigned length) { strncpy(name, "Fake GPU", length); return 0; }
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) { *milliwatts = 75000; return 0; }
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *millijoules = 300ULL * (now.tv_sec % 100000 * 1000 + now.tv_nsec / 1000000);
    return device == (void*)1 ? 0 : 3;
}
"""


def test_devices_are_read_through_nvml_where_it_is(tmp_path):
    (tmp_path / "nvml.c").write_text(NVML)
    subprocess.run(["cc", "-shared", "-fPIC", "nvml.c", "-o", "libnvidia-ml.so.1"], cwd=tmp_path, check=True, timeout=300)
    program = """
import json, time
from trencadis import _core
meters = _core.EnergyMeters("/nowhere", 0.3)
meters.start(0.005)
begin = time.perf_counter()
time.sleep(0.4)
end = time.perf_counter()
(device,) = meters.stop().between(begin, end)
print(json.dumps([meters.list(), device["joules"] / (end - begin), device["domain"]]))
del meters
"""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env=environment)
    assert run.returncode == 0, run.stderr
    found, watts, domain = json.loads(run.stdout)
    assert [(one["name"], one["kind"], one["source"]) for one in found] == [
        ("Fake GPU:0", "energy", "nvml"), ("Fake GPU:1", "power", "nvml")
    ]  # fmt: skip
    assert domain == "device" and watts == pytest.approx(375, rel=0.1)


def test_a_device_that_two_sources_show_counts_once_and_others_stay(tmp_path):
    places = """
struct place { char old[16]; unsigned domain, bus, device, numbers, subsystem; char address[32]; };
int nvmlDeviceGetPciInfo_v3(void* device, struct place* at) { at->domain = 0; at->bus = (long)device; at->device = 0; return 0; }
"""
    (tmp_path / "nvml.c").write_text(NVML + places)
    subprocess.run(["cc", "-shared", "-fPIC", "nvml.c", "-o", "libnvidia-ml.so.1"], cwd=tmp_path, check=True, timeout=300)
    for number, (driver, address) in enumerate({"amdgpu": "0000:03:00.0", "nouveau": "0000:01:00.0"}.items()):
        chip, device = tmp_path / f"root/sys/class/hwmon/hwmon{number}", tmp_path / "root/sys/devices" / address
        chip.mkdir(parents=True)
        device.mkdir(parents=True)
        (chip / "device").symlink_to(device)
        (chip / "name").write_text(f"{driver}\n")
        (chip / "energy1_input").write_text("1000000\n")
    program = f"""
import json
from trencadis import _core
meters = _core.EnergyMeters({str(tmp_path / "root")!r}, 0)
print(json.dumps([[one["name"] for one in meters.list()], meters.missing()]))
del meters
"""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env=environment)
    names, missing = json.loads(run.stdout)
    assert names == ["amdgpu/energy1", "nouveau/energy1", "Fake GPU:1"]
    assert [(one["name"], one["why"]) for one in missing] == [("Fake GPU:0", "counts what hwmon counts")]


def test_meters_are_read_once_at_a_time(counter):
    meters = energy.meters()
    meters.start(0.005)
    with pytest.raises(RuntimeError, match="already"):
        meters.start()
    record = meters.stop()
    assert record.rounds >= 2
    with pytest.raises(RuntimeError, match="not being read"):
        meters.stop()
    for bad in (float("nan"), float("inf"), 1e300):
        with pytest.raises(ValueError):
            record.between(bad, 1.0)
