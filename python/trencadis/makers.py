"""Whose library an opened BLAS is, found out by the symbols that only its maker gives it, and how that maker's are asked for
their version and their threads."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .errors import BackendError
from .fortran import FortranLibrary

#: Ours that has MKL take the kernels of its maker's processors (src/interfaces/peers/mkl_path.c).
MKL_PATH = "libtrencadis-mkl-path.so"


@dataclass(frozen=True)
class Maker:
    version: Callable[[FortranLibrary], str]
    """With the code path that the library has chosen for this processor, where it can say so."""
    threads: Callable[[FortranLibrary, int], int]
    """Sets the number of threads and answers what the library then says."""
    faster_path: Callable[[FortranLibrary], dict[str, str]]
    """Environment that selects a faster code path than the library chose; empty when it chose well."""


#: What sets the number of threads when a library is opened, whoever made it.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS")

#: What takes faster code paths away from a library. A peer's process is without them: its choice is its own.
RESTRICTING = (
    "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "BLIS_ARCH_TYPE", "BLIS_MODEL_TYPE", "AOCL_ENABLE_INSTRUCTIONS",
    "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR",
)  # fmt: skip


def maker_of(library: FortranLibrary) -> Maker:
    """OTHER where no mark is known."""
    if library.has("MKL_Get_Version_String"):
        return MKL
    if _openblas_name(library, "get_config"):
        return OPENBLAS
    return BLIS if library.has("bli_info_get_version_str") else OTHER


def _avx512() -> bool:
    try:
        flags = set(re.findall(r"avx512\w+", Path("/proc/cpuinfo").read_text().split("flags", 1)[-1].split("\n", 1)[0]))
    except OSError:
        return False
    return {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"} <= flags


def _mkl_version(library: FortranLibrary) -> str:
    """With the kernels that it has loaded, which it does at the first call."""
    text = ctypes.create_string_buffer(256)
    library.function("MKL_Get_Version_String")(text, len(text))
    found = re.search(r"Version (\d[\d.]*)", text.value.decode())
    number = found[1] if found else text.value.decode().strip()
    loaded = Path("/proc/self/maps").read_text()
    kernels = re.search(r"libmkl_(avx\w*|mc3|def)\.so", loaded)
    path = ""
    if MKL_PATH in loaded:
        path = ", Intel's path"
        if not kernels or not kernels[1].startswith("avx"):
            raise BackendError(f"MKL {number} does not take the path of Intel's processors here, whatever it is told of this one")
    return f"MKL {number}{path}" + (f" {kernels[1]}" if kernels else "")


def _mkl_threads(library: FortranLibrary, threads: int) -> int:
    library.function("MKL_Set_Dynamic")(0)
    library.function("MKL_Set_Num_Threads")(threads)
    return int(library.function("MKL_Get_Max_Threads")())  # type: ignore[call-overload]


def _openblas_name(library: FortranLibrary, what: str) -> str:
    """OpenBLAS spells its own functions as the routines are spelt, nearly; empty where there is none."""
    names = (f"{prefix}openblas_{what}{suffix}" for prefix in ("", "scipy_") for suffix in ("", "64_", "_64"))
    return next((name for name in names if library.has(name)), "")


def _openblas_version(library: FortranLibrary) -> str:
    words = library.text(_openblas_name(library, "get_config")).split()
    number = words[words.index("OpenBLAS") + 1] if "OpenBLAS" in words[:-1] else "?"
    return f"OpenBLAS {number} {library.text(_openblas_name(library, 'get_corename'))}"


def _openblas_threads(library: FortranLibrary, count: int) -> int:
    library.function(_openblas_name(library, "set_num_threads"))(count)
    return int(library.function(_openblas_name(library, "get_num_threads"))())  # type: ignore[call-overload]


def _openblas_faster_path(library: FortranLibrary) -> dict[str, str]:
    chosen = library.text(_openblas_name(library, "get_corename")).lower()
    older = chosen in ("prescott", "core2", "nehalem", "sandybridge", "haswell", "zen", "unknown")
    return {"OPENBLAS_CORETYPE": "SkylakeX"} if older and _avx512() else {}


def _blis_version(library: FortranLibrary) -> str:
    library.function("bli_init")()
    architecture = library.text("bli_arch_string", library.function("bli_arch_query_id")())
    number = " ".join(library.text("bli_info_get_version_str").split()[:2])
    flame = next((Path(file).resolve().name for file in library.files if "flame" in file), "")
    maker = "" if "BLIS" in number or "BLAS" in number else "BLIS "
    return f"{maker}{number} {architecture}" + (f" + {flame}" if flame else "")


def _blis_threads(library: FortranLibrary, threads: int) -> int:
    library.function("bli_thread_set_num_threads")(ctypes.c_int64(threads))
    return int(library.function("bli_thread_get_num_threads")())  # type: ignore[call-overload]


def _blis_faster_path(library: FortranLibrary) -> dict[str, str]:
    library.function("bli_init")()
    names = {library.text("bli_arch_string", number): number for number in range(3)}
    chosen = library.text("bli_arch_string", library.function("bli_arch_query_id")())
    older = chosen in ("generic", "haswell", "sandybridge", "penryn", "zen", "zen2", "zen3")
    return {"BLIS_ARCH_TYPE": str(names["skx"])} if older and "skx" in names and _avx512() else {}


#: MKL's own choice is final: there is no supported override upwards.
MKL = Maker(_mkl_version, _mkl_threads, lambda library: {})
OPENBLAS = Maker(_openblas_version, _openblas_threads, _openblas_faster_path)
BLIS = Maker(_blis_version, _blis_threads, _blis_faster_path)
#: Of a library that cannot be asked nothing but its file is known; its threads are those of the environment.
OTHER = Maker(lambda library: Path(library.files[0]).resolve().name, lambda library, threads: threads, lambda library: {})
