#!/usr/bin/env python3
"""Checks that every function has one definition: that no two of the objects listed define one name in different places.

    ninja -C BUILD -t inputs TARGET... | scripts/one_definition.py BUILD

What is listed that is no object does not matter, and what lies in BUILD and is not listed may be old.

Two inline functions, or an inline one and an ordinary one, of one name and the same arguments in different sources are no error
to the compiler or the linker: the linker keeps one of them for both, whichever it likes. Where the optimiser has put them into
their callers nobody notices. So the build should be one without optimisation and with debug information (preset asan), in which
each has its body in its object. Prints a line per name and exits with 1 if there is one.
"""

import re
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

#: Address, kind, name and place; small letters are an object's own, and U is what it takes from others. u and v are of all.
SYMBOL = re.compile(r"[0-9a-f]+ (?P<kind>[A-TV-Zuv]) (?P<name>\S+)\t(?P<place>\S+:[1-9]\d*)$")
PROGRAM = re.compile(r"\bCMakeFiles/([^/]+)\.dir/")
#: What many programs and loaded libraries have one of each, on purpose: their beginnings, what a plug-in of GLT is asked for,
#: and the names by which others limit our threads, which two libraries of ours bring.
OF_PROGRAMS = ("main", "LLVMFuzzerTestOneInput", "glt_plugin", "openblas_get_num_threads", "openblas_set_num_threads")


def definitions(thing):
    """(name, file:line) of what an object shows to others, without the folder in which it was compiled."""
    text = subprocess.run(["nm", "-l", "--defined-only", thing], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        if (found := SYMBOL.match(line)) and found["name"] not in OF_PROGRAMS:
            yield found["name"], "/".join(found["place"].split("/")[-3:])


def program_of(thing):
    """The test program that an object belongs to; those of libraries are in all programs."""
    name = found[1] if (found := PROGRAM.search(str(thing))) else ""
    return name if name.startswith("test_") else ""


def clashes(objects):
    """{name: places} of the names with more than one in some program.

    Places are told apart by their lines: now and then nm of binutils 2.40 says another file of the object, with the right line.
    """
    places = defaultdict(lambda: defaultdict(dict))  # of a name, of a program, of a line
    with ThreadPoolExecutor() as pool:
        for thing, found in zip(objects, pool.map(lambda thing: list(definitions(thing)), objects), strict=True):
            for name, place in found:
                places[name][program_of(thing)].setdefault(place.rpartition(":")[2], place)
    wrong = {}
    for name, of_programs in places.items():
        everywhere = of_programs.get("", {})
        most = max((everywhere | those for those in of_programs.values()), key=len)
        if len(most) > 1:
            wrong[name] = sorted(most.values())
    return wrong


def readable(names):
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return text.splitlines()


def main():
    objects = sorted({Path(sys.argv[1]) / line for line in sys.stdin.read().split("\n") if line.endswith(".o")})
    if not objects:
        sys.exit("no objects")
    wrong = clashes(objects)
    for name, places in zip(readable(wrong), wrong.values(), strict=True):
        print(f"{name} is defined in {' and in '.join(places)}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
