"""Calls into a BLAS and LAPACK shared library by its Fortran symbols, for the peers that we are measured against."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np

_LETTERS = {"f4": "s", "f8": "d", "c8": "c", "c16": "z"}
#: Stands for the `info` argument in FortranLibrary.call.
_INFO = object()


class FortranLibrary:
    """Symbols with 32-bit integers, as `dpotrf_` or with a prefix as `scipy_dpotrf_`, looked up in the files in order.

    The files are opened in reverse order with their symbols visible to those opened later, so that a LAPACK without a BLAS of
    its own finds the one listed after it. OSError when a file cannot be opened.
    """

    info = _INFO

    def __init__(self, files: Sequence[str], prefix: str = "") -> None:
        self.files = list(files)
        self._prefix = prefix
        self._handles = [ctypes.CDLL(file, mode=ctypes.RTLD_GLOBAL) for file in reversed(files)][::-1]

    def function(self, symbol: str) -> Callable[..., object]:
        """The first file's function of that exact name; AttributeError when no file has it."""
        for handle in self._handles:
            if hasattr(handle, symbol):
                return getattr(handle, symbol)
        raise AttributeError(f"no symbol {symbol} in {', '.join(self.files)}")

    def text(self, symbol: str, *arguments: object) -> str:
        """What a `const char*` function answers."""
        function = self.function(symbol)
        function.restype = ctypes.c_char_p  # type: ignore[attr-defined]
        return (function(*arguments) or b"").decode()  # type: ignore[attr-defined]

    def call(self, routine: str, dtype: np.dtype, *arguments: object) -> Callable[[], int]:
        """A call with its arguments converted once: flags, integers, scalars and arrays, all by address. Calling it
        returns the info argument where one was given, else 0. The arrays must outlive it."""
        function = self.function(f"{self._prefix}{_LETTERS[dtype.str[1:]]}{routine}_")
        info = ctypes.c_int(0)
        addresses = [ctypes.byref(info) if argument is _INFO else _address(argument) for argument in arguments]
        # Fortran compilers add the length of each character argument at the end, as a size_t by value.
        addresses += [ctypes.c_size_t(1) for argument in arguments if isinstance(argument, str)]

        def run() -> int:
            function(*addresses)
            return info.value

        return run


def _address(argument: object) -> object:
    if isinstance(argument, str):
        return ctypes.byref(ctypes.c_char(argument.encode()))
    if isinstance(argument, int):
        return ctypes.byref(ctypes.c_int(argument))
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    if isinstance(argument, np.generic):
        box = np.array(argument)
        pointer = ctypes.c_void_p(box.ctypes.data)
        pointer.keep = box  # type: ignore[attr-defined]  # the number lives as long as its address
        return pointer
    raise TypeError(f"no Fortran form for {argument!r}")
