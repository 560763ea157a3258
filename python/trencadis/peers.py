"""The libraries and runtimes that `compare` measures us against: where they are, how their threads are set and asked.

Every peer gets the fastest code path of this processor: Debian's and PyPI's OpenBLAS and BLIS fall back to older ones on
processors whose names they do not know, so where the processor has AVX-512 and the library says that it chose less, the
choice is made by the library's own environment variable. A variable that the user has set is left alone.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .errors import UsageError
from .fortran import FortranLibrary

_DEBIAN = ("/usr/lib", "/usr/lib64", "/usr/local/lib")


@dataclass(frozen=True)
class LinearAlgebraPeer:
    """A BLAS and LAPACK. `find` gives its files, LAPACK before BLAS, or none when it is not installed."""

    name: str
    summary: str
    install: str
    find: Callable[[], list[str]]
    version: Callable[[FortranLibrary], str]
    threads: Callable[[FortranLibrary, int], int]
    """Sets the number of threads and answers what the library then says."""
    faster_path: Callable[[FortranLibrary], dict[str, str]]
    """Environment that selects a faster code path than the library chose; empty when it chose well."""
    variables: tuple[str, ...]
    """Environment variables that hold the number of threads."""
    prefix: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def available(self) -> bool:
        return bool(self.find())

    def load(self) -> FortranLibrary:
        return FortranLibrary(self.find(), self.prefix)

    def settings(self, threads: int) -> dict[str, str]:
        """Environment of its process."""
        return {**self.environment, **dict.fromkeys(self.variables, str(threads))}


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

    def settings(self, threads: int) -> dict[str, str]:
        return {**self.environment, "OMP_NUM_THREADS": str(threads)}


Peer = LinearAlgebraPeer | TaskPeer


def peer_names(routine: str) -> list[str]:
    return list(TASK_PEERS if routine == "tasks" else LINEAR_ALGEBRA_PEERS)


def select_peers(routine: str, names: Iterable[str], warn: Callable[[str], None]) -> list[Peer]:
    """The named peers that are installed. `warn` hears about each that is not, with what would install it. UsageError for a
    name that is no peer of this routine, and when none is left."""
    known: dict[str, Peer] = dict(TASK_PEERS) if routine == "tasks" else dict(LINEAR_ALGEBRA_PEERS)
    names = list(dict.fromkeys(name.strip() for name in names))
    for name in names:
        if name not in known:
            raise UsageError(f"--against: '{name}' is not a peer for {routine}; peers: {', '.join(known)}")
    found = []
    missing = []
    for name in names:
        peer = known[name]
        if peer.available():
            found.append(peer)
        else:
            missing.append(f"{name} is not installed: {peer.install}")
    if not found:
        raise UsageError("; ".join(missing))
    for message in missing:
        warn(message)
    return found


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


def _avx512() -> bool:
    try:
        flags = set(re.findall(r"avx512\w+", Path("/proc/cpuinfo").read_text().split("flags", 1)[-1].split("\n", 1)[0]))
    except OSError:
        return False
    return {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"} <= flags


def _mkl_version(library: FortranLibrary) -> str:
    text = ctypes.create_string_buffer(256)
    library.function("MKL_Get_Version_String")(text, len(text))
    found = re.search(r"Version (\d[\d.]*)", text.value.decode())
    return f"MKL {found[1] if found else text.value.decode().strip()}"


def _mkl_threads(library: FortranLibrary, threads: int) -> int:
    library.function("MKL_Set_Dynamic")(0)
    library.function("MKL_Set_Num_Threads")(threads)
    return int(library.function("MKL_Get_Max_Threads")())  # type: ignore[call-overload]


def _openblas_version(prefix: str) -> Callable[[FortranLibrary], str]:
    def version(library: FortranLibrary) -> str:
        words = library.text(f"{prefix}openblas_get_config").split()
        number = words[words.index("OpenBLAS") + 1] if "OpenBLAS" in words[:-1] else "?"
        return f"OpenBLAS {number} {library.text(f'{prefix}openblas_get_corename')}"

    return version


def _openblas_threads(prefix: str) -> Callable[[FortranLibrary, int], int]:
    def threads(library: FortranLibrary, count: int) -> int:
        library.function(f"{prefix}openblas_set_num_threads")(count)
        return int(library.function(f"{prefix}openblas_get_num_threads")())  # type: ignore[call-overload]

    return threads


def _openblas_faster_path(prefix: str) -> Callable[[FortranLibrary], dict[str, str]]:
    def faster_path(library: FortranLibrary) -> dict[str, str]:
        chosen = library.text(f"{prefix}openblas_get_corename").lower()
        older = chosen in ("prescott", "core2", "nehalem", "sandybridge", "haswell", "zen", "unknown")
        return {"OPENBLAS_CORETYPE": "SkylakeX"} if older and _avx512() else {}

    return faster_path


def _blis_version(library: FortranLibrary) -> str:
    library.function("bli_init")()
    architecture = library.text("bli_arch_string", library.function("bli_arch_query_id")())
    flame = next((Path(file).resolve().name for file in library.files if "flame" in file), "")
    return f"BLIS {library.text('bli_info_get_version_str')} {architecture}" + (f" + {flame}" if flame else "")


def _blis_threads(library: FortranLibrary, threads: int) -> int:
    library.function("bli_thread_set_num_threads")(ctypes.c_int64(threads))
    return int(library.function("bli_thread_get_num_threads")())  # type: ignore[call-overload]


def _blis_faster_path(library: FortranLibrary) -> dict[str, str]:
    library.function("bli_init")()
    names = {library.text("bli_arch_string", number): number for number in range(3)}
    chosen = library.text("bli_arch_string", library.function("bli_arch_query_id")())
    older = chosen in ("generic", "haswell", "sandybridge", "penryn", "zen", "zen2", "zen3")
    return {"BLIS_ARCH_TYPE": str(names["skx"])} if older and "skx" in names and _avx512() else {}


LINEAR_ALGEBRA_PEERS: dict[str, LinearAlgebraPeer] = {
    peer.name: peer
    for peer in (
        LinearAlgebraPeer(
            name="mkl",
            summary="Intel oneMKL from PyPI",
            install="pip install 'trencadis[peers]' (PyPI's mkl)",
            find=lambda: _files("libmkl_rt.so*", (Path(sys.prefix) / "lib",)) or _system("libmkl_rt.so*"),
            version=_mkl_version,
            threads=_mkl_threads,
            faster_path=lambda library: {},  # its own choice is final: there is no supported override upwards
            variables=("MKL_NUM_THREADS",),
            environment={"MKL_DYNAMIC": "FALSE"},
        ),
        LinearAlgebraPeer(
            name="openblas",
            summary="OpenBLAS from PyPI",
            install="pip install 'trencadis[peers]' (PyPI's scipy-openblas32)",
            find=lambda: _files("libscipy_openblas.so*", _package_folder("scipy_openblas32")),
            version=_openblas_version("scipy_"),
            threads=_openblas_threads("scipy_"),
            faster_path=_openblas_faster_path("scipy_"),
            variables=("OPENBLAS_NUM_THREADS",),
            prefix="scipy_",
        ),
        LinearAlgebraPeer(
            name="openblas-system",
            summary="the system's OpenBLAS",
            install="apt-get install libopenblas0-pthread",
            find=lambda: _system("openblas-pthread/libopenblas.so*") or _system("libopenblas.so*"),
            version=_openblas_version(""),
            threads=_openblas_threads(""),
            faster_path=_openblas_faster_path(""),
            variables=("OPENBLAS_NUM_THREADS",),
        ),
        LinearAlgebraPeer(
            name="blis",
            summary="the system's BLIS, with libflame for LAPACK",
            install="apt-get install libblis4-pthread libflame1",
            find=lambda: _system("libflame.so*", "blis-pthread/libblis.so*") or _system("libflame.so*", "libblis.so*"),
            version=_blis_version,
            threads=_blis_threads,
            faster_path=_blis_faster_path,
            variables=("BLIS_NUM_THREADS",),
        ),
    )
}

_OPENMP = {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}

TASK_PEERS: dict[str, TaskPeer] = {
    peer.name: peer
    for peer in (
        TaskPeer("libgomp", "GCC's OpenMP runtime", "make build (needs g++)", _OPENMP),
        TaskPeer("libomp", "LLVM's OpenMP runtime", "apt-get install libomp-dev, then make build", _OPENMP),
        TaskPeer("starpu", "StarPU", "apt-get install libstarpu-dev, then make build"),
    )
}
