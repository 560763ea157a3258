"""The libraries and runtimes that `compare` measures us against, and where they are.

Every linear algebra peer gets the fastest code path of this processor. Variables that take one away (OPENBLAS_CORETYPE, ...)
are not set in its process. Some versions fall back to older paths on processors whose names they do not know: where the
processor has AVX-512 and the library says that it chose less, the choice is made by the library's own variable (makers.py).
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from .checks import one_of
from .errors import UsageError
from .fortran import FortranLibrary
from .makers import MKL_PATH, RESTRICTING, THREAD_VARIABLES

_DEBIAN = ("/usr/lib", "/usr/lib64", "/usr/local/lib")


@dataclass(frozen=True)
class LinearAlgebraPeer:
    """A BLAS and LAPACK. `find` gives its files, LAPACK before BLAS, or none when it is not installed."""

    name: str
    summary: str
    install: str
    find: Callable[[], list[str]]
    preload: Callable[[], str] = str
    """A library of ours that is loaded before it; empty: none."""
    implied: bool = False
    """It comes with another one, and is left out with a word where it does not work."""

    def available(self) -> bool:
        return bool(self.find())

    def load(self) -> FortranLibrary:
        files = self.find()
        try:
            library = FortranLibrary(files)
        except OSError as error:
            raise UsageError(f"--against: {self.name} cannot be opened: {error}") from None
        if library.has("trc_version"):
            raise UsageError(f"--against: {self.name} is trencadis, which is the other side already")
        return library

    def settings(self, threads: int) -> dict[str, str | None]:
        """Environment of its process; what is None is not set there."""
        before = {"LD_PRELOAD": self.preload()} if self.preload() else {}
        return {**before, "MKL_DYNAMIC": "FALSE", **dict.fromkeys(THREAD_VARIABLES, str(threads)), **dict.fromkeys(RESTRICTING)}


@dataclass(frozen=True)
class TaskPeer:
    """A task runtime: a program that runs empty kernels on the Cholesky graph, `tasks_peer_NAME ROWS THREADS`."""

    name: str
    summary: str
    install: str
    environment: dict[str, str] = field(default_factory=dict)

    def program(self) -> str | None:
        """Beside this package's build, or in a build below the current folder."""
        here = Path(__file__).resolve()
        roots = (here.parents[2], Path(sys.prefix).parent, Path.cwd())
        programs = (root / "build/bin" / f"tasks_peer_{self.name}" for root in roots)
        return next((str(program) for program in programs if os.access(program, os.X_OK)), None)

    def available(self) -> bool:
        return self.program() is not None

    def settings(self, threads: int) -> dict[str, str | None]:
        return {**self.environment, "OMP_NUM_THREADS": str(threads)}


Peer = LinearAlgebraPeer | TaskPeer


def peer_names(routine: str) -> list[str]:
    return list(TASK_PEERS if routine == "tasks" else LINEAR_ALGEBRA_PEERS)


def is_path(name: str) -> bool:
    """Whether a word of --against is a file, or LAPACK:BLAS, rather than a name."""
    return "/" in name or ".so" in name


def peer_named(name: str) -> LinearAlgebraPeer:
    """UsageError for a path that leads nowhere, KeyError for an unknown name."""
    if not is_path(name):
        return LINEAR_ALGEBRA_PEERS[name]
    files = [str(Path(file).expanduser().absolute()) for file in name.split(":")]
    for file in files:
        if not Path(file).is_file():
            raise UsageError(f"--against: there is no file {file}")
    return LinearAlgebraPeer(name, "the library given", "", lambda: files)


def select_peers(routine: str, names: Iterable[str], warn: Callable[[str], None]) -> list[Peer]:
    """The named peers that are installed. `warn` hears about each that is not, with what would install it. UsageError for a
    name that is no peer of this routine, and when none is left."""
    found = []
    missing = []
    wanted = {name: _known(routine, name) for name in (name.strip() for name in names)}
    if "mkl" in wanted and MKL_INTEL.name not in wanted and MKL_INTEL.available():
        wanted[MKL_INTEL.name] = replace(MKL_INTEL, implied=True)
    for name, peer in wanted.items():
        if peer.available():
            found.append(peer)
        else:
            missing.append(f"{name} is not installed: {peer.install}")
    if not found:
        raise UsageError("; ".join(missing))
    for message in missing:
        warn(message)
    return found


def _known(routine: str, name: str) -> Peer:
    if routine != "tasks" and is_path(name):
        return peer_named(name)
    known: dict[str, Peer] = dict(TASK_PEERS) if routine == "tasks" else dict(LINEAR_ALGEBRA_PEERS)
    return known[one_of(f"peer for {routine} in --against", name, known)]


def _files(pattern: str, folders: Iterable[str | Path]) -> list[str]:
    """The first match, the plainest and newest name first."""
    for folder in folders:
        matches = sorted(Path(folder).glob(pattern), key=lambda path: (len(path.name), path.name))
        if matches:
            return [str(matches[0])]
    return []


def _system(*patterns: str) -> list[str]:
    """One file per pattern, from the system's library folders and their multi-architecture subfolders; else none."""
    folders = [Path(root) / sub for root in _DEBIAN for sub in ("", f"{os.uname().machine}-linux-gnu")]
    found = [_files(pattern, folders) for pattern in patterns]
    return [files[0] for files in found] if all(found) else []


def _package_folder(package: str) -> list[Path]:
    specification = importlib.util.find_spec(package)
    places = specification.submodule_search_locations if specification else None
    return [Path(place) / "lib" for place in places or ()]


def _rooted(variable: str, places: Iterable[str], *patterns: str) -> list[str]:
    """One file per pattern from the installation that the variable names, else from the newest of `places`, else none."""
    roots = [Path(os.environ[variable])] if os.environ.get(variable) else []
    roots += [folder for place in places for folder in sorted(Path("/").glob(place), reverse=True)]
    for root in roots:
        found = [_files(pattern, [root / sub for sub in ("lib", "lib_LP64", "lib64")]) for pattern in patterns]
        if all(found):
            return [files[0] for files in found]
    return []


def _mkl() -> list[str]:
    return _files("libmkl_rt.so*", (Path(sys.prefix) / "lib",)) or _system("libmkl_rt.so*")


def beside_ours(name: str) -> str:
    """A library, of whatever version, in the folder of the libtrencadis.so that this process has loaded; empty: there is none."""
    from . import _core

    ours = Path(_core.__file__).parent
    for line in Path("/proc/self/maps").read_text().splitlines():
        file = Path(line.split(maxsplit=5)[-1])
        if file.name.startswith("libtrencadis.so"):
            ours = file.parent
    return next((str(file) for file in sorted(ours.glob(name + "*"))), "")


def _intel() -> bool:
    return "GenuineIntel" in Path("/proc/cpuinfo").read_text()


def _blis() -> list[str]:
    """BLIS from BLIS_ROOT where that is set, with the LAPACK beside it or the system's; else both from the system."""
    lapack = _rooted("BLIS_ROOT", (), "libflame.so*") or _system("libflame.so*")
    blas = _rooted("BLIS_ROOT", (), "libblis*.so*") or _system("blis-pthread/libblis.so*") or _system("libblis.so*")
    return [*lapack, *blas] if lapack and blas else []


LINEAR_ALGEBRA_PEERS: dict[str, LinearAlgebraPeer] = {
    peer.name: peer
    for peer in (
        LinearAlgebraPeer(
            name="mkl",
            summary="Intel oneMKL from PyPI",
            install="pip install 'trencadis[peers]' (PyPI's mkl)",
            find=_mkl,
        ),
        LinearAlgebraPeer(
            name="mkl-intel",
            summary="the same with the kernels that it takes on Intel's processors, on another maker's",
            install="mkl takes that path itself on Intel's processors; on others: pip install 'trencadis[peers]' (PyPI's mkl)",
            find=lambda: _mkl() if not _intel() and beside_ours(MKL_PATH) else [],
            preload=lambda: beside_ours(MKL_PATH),
        ),
        LinearAlgebraPeer(
            name="openblas",
            summary="OpenBLAS from PyPI",
            install="pip install 'trencadis[peers]' (PyPI's scipy-openblas32)",
            find=lambda: _files("libscipy_openblas.so*", _package_folder("scipy_openblas32")),
        ),
        LinearAlgebraPeer(
            name="openblas-system",
            summary="the system's OpenBLAS",
            install="apt-get install libopenblas0-pthread",
            find=lambda: _system("openblas-pthread/libopenblas.so*") or _system("libopenblas.so*"),
        ),
        LinearAlgebraPeer(
            name="blis",
            summary="BLIS in BLIS_ROOT or the system's, with libflame for LAPACK",
            install="apt-get install libblis4-pthread libflame1, or set BLIS_ROOT",
            find=_blis,
        ),
        LinearAlgebraPeer(
            name="aocl",
            summary="AMD's AOCL-BLAS and AOCL-LAPACK in AOCL_ROOT or /opt/AMD",
            install="set AOCL_ROOT to the folder whose lib has libflame.so and libblis-mt.so",
            find=lambda: _rooted("AOCL_ROOT", ("opt/AMD/aocl/aocl-linux-*/*",), "libflame.so*", "libblis-mt.so*"),
        ),
    )
}

#: Compared with wherever MKL is, on a processor of another maker.
MKL_INTEL = LINEAR_ALGEBRA_PEERS["mkl-intel"]

_OPENMP = {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}

TASK_PEERS: dict[str, TaskPeer] = {
    peer.name: peer
    for peer in (
        TaskPeer("libgomp", "GCC's OpenMP runtime", "make build (needs g++)", _OPENMP),
        TaskPeer("libomp", "LLVM's OpenMP runtime", "apt-get install clang-19 libomp-19-dev, then make build", _OPENMP),
        TaskPeer("starpu", "StarPU", "apt-get install libstarpu-dev, then make build"),
    )
}
