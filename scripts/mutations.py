#!/usr/bin/env python3
"""Builds the library with one deliberate fault at a time and runs our own tests, which must notice each.

    scripts/mutations.py [--jobs N] [--only WORD] [--list] [--check]

The faults (scripts/faults.py) are those that public tests have missed: an info that is always 0, the other triangle or the rows
between m and the leading dimension written, no call of xerbla, a pivot off by one, one element off by 1e-12, and their kin of QR,
norms and estimates. They are applied to
a copy of the tree in build-mutations/, which is kept, so that the next run compiles what has changed. --check only looks whether
every fault still has its place in the sources; make test does so. Exit status: 0 all caught, 1 one was missed, 2 a fault has lost
its place or the build failed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time

from faults import FACE, ROOT, faults

TREE = ROOT / "build-mutations"
#: Each source by itself: a fault is in one of them.
CONFIGURE = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTRC_PYTHON=OFF", "-DTRC_BENCHMARKS=OFF", "-DTRC_EXAMPLES=OFF"]
CONFIGURE.append("-DTRC_UNITY=OFF")
#: The second run of the faces' tests.
IN_TILES = {"TRENCADIS_TILE": "5", "TRENCADIS_BLOCKS": "8,24,32"}
#: Seconds of a test program without any fault, and how many times as long a fault may make it: one that hangs it is noticed, too.
#: A busy machine slows both.
LONGEST, LONGER = 3600, 5


def copy_tree():
    """What git knows and what is new, written where it differs, so that nothing else is compiled again."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
    names = {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    for name in names:
        source, copy = ROOT / name, TREE / name
        if copy.exists() and copy.read_bytes() == source.read_bytes():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
    for folder in ("src", "include", "tests", "cmake"):
        for copy in (TREE / folder).rglob("*"):
            if copy.is_file() and str(copy.relative_to(TREE)) not in names:
                copy.unlink()


class Broken(Exception):
    """The build failed, which says nothing about the tests."""


def build(tests, jobs):
    targets = [f"test_{name}" for name in sorted(tests)]
    command = ["cmake", "--build", TREE / "build", "-j", str(jobs), "--target", *targets]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise Broken("\n".join(line for line in result.stdout.splitlines() if "error" in line) or result.stdout[-2000:])


def fails(test, environment, limit):
    """What the test program had to say against the library, in a few words; None: nothing."""
    variables = {**os.environ, "TRENCADIS_SOURCE_DIR": str(TREE), **environment}
    command = [TREE / "build" / "bin" / f"test_{test}", "--gtest_brief=1", "--gtest_fail_fast"]
    try:
        result = subprocess.run(command, env=variables, capture_output=True, errors="replace", timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return f"did not end within {limit:.0f} s"
    if result.returncode == 0:
        return None
    failed = re.search(r"\[  FAILED  \] ([\w/.]+)", result.stdout)
    return failed[1] if failed else f"ended with {result.returncode}"


def runs(tests):
    for test in tests:
        yield test, {}
        if test == FACE:
            yield test, IN_TILES


def first_failure(tests, limit=LONGEST):
    for test, environment in runs(tests):
        if said := fails(test, environment, limit):
            return f"test_{test}{' in tiles' if environment else ''}: {said}"
    return None


def try_fault(fault, jobs, limits):
    """Which test noticed it; None: none."""
    place = TREE / fault.file
    right = place.read_text()
    place.write_text(right.replace(fault.right, fault.wrong))
    try:
        for test in fault.tests:
            build((test,), jobs)
            if noticed := first_failure((test,), limits[test]):
                return noticed
        return None
    finally:
        place.write_text(right)


def check_places(chosen):
    lost = [fault for fault in chosen if not fault.has_its_place()]
    for fault in lost:
        print(f"{fault.file}: the place of '{fault.what}' is not there, or not once:\n    {fault.right}", file=sys.stderr)
    return not lost


def unharmed(test):
    """The seconds that the library without faults takes to pass, or what follows would say nothing."""
    begin = time.monotonic()
    if said := first_failure((test,)):
        raise Broken(f"without any fault: {said}")
    return time.monotonic() - begin


def prepare(tests, jobs):
    """The limit of each test program, in seconds."""
    copy_tree()
    if not (TREE / "build" / "build.ninja").exists():
        subprocess.run(["cmake", "-S", TREE, "-B", TREE / "build", *CONFIGURE], stdout=subprocess.DEVNULL, check=True)
    build(tests, jobs)
    return {test: max(300, LONGER * unharmed(test)) for test in tests}


def main():
    parser = argparse.ArgumentParser(description="Shows that our own tests notice deliberate faults.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="faults whose description has this in it")
    parser.add_argument("--list", action="store_true", help="print the faults and end")
    parser.add_argument("--check", action="store_true", help="look whether the sources still have the faults' places, and end")
    options = parser.parse_args()
    chosen = [fault for fault in faults() if options.only in fault.what]
    if options.list:
        print("\n".join(fault.what for fault in chosen))
        return 0
    if not check_places(chosen):
        return 2
    if options.check:
        return 0
    missed = 0
    try:
        limits = prepare(sorted({test for fault in chosen for test in fault.tests}), options.jobs)
        for fault in chosen:
            begin = time.monotonic()
            noticed = try_fault(fault, options.jobs, limits)
            missed += noticed is None
            verdict = f"{'caught' if noticed else 'MISSED'} {time.monotonic() - begin:4.0f} s"
            print(f"{verdict}  {fault.what}: {noticed or 'by no test'}", flush=True)
    except Broken as failure:
        print(failure, file=sys.stderr)
        return 2
    print(f"{len(chosen) - missed} of {len(chosen)} faults caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
