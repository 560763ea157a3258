"""Calls into a BLAS and LAPACK shared library by its Fortran symbols, for the contestants of `compare`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .errors import UsageError

_LETTERS = {"f4": "s", "f8": "d", "c8": "c", "c16": "z"}
#: Stands for the `info` argument in FortranLibrary.call.
_INFO = object()


@dataclass(frozen=True)
class Names:
    """How a library spells its symbols, `prefix` dgemm `suffix`, and how many bits its integers have."""

    prefix: str
    suffix: str
    bits: int


#: In the order in which they are looked for: what most programs call comes first.
_SPELLINGS = (
    Names("", "_", 32), Names("", "", 32), Names("scipy_", "_", 32),
    Names("", "_64_", 64), Names("", "_64", 64), Names("scipy_", "_64_", 64),
)  # fmt: skip


class FortranCall:
    """A call with its arguments converted once. Calling it returns the info argument where there is one, else 0.

    `address` and `words` are the same for who calls from C: the function, and what is passed to it.
    """

    def __init__(self, function: Callable[..., object], arguments: Sequence[object], integer: type[ctypes._SimpleCData]) -> None:
        self._function = function
        self._info = integer(0)
        self._boxes = [self._info if argument is _INFO else _box(argument, integer) for argument in arguments]
        # Fortran compilers add the length of each character argument at the end, as a size_t by value.
        letters = sum(isinstance(argument, str) for argument in arguments)
        self.address: int = ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]
        self.words: list[int] = [*map(_address, self._boxes), *[1] * letters]
        self._words = [ctypes.c_size_t(word) for word in self.words]

    @property
    def info(self) -> int:
        """Of the last call."""
        return int(self._info.value)

    def __call__(self) -> int:
        self._function(*self._words)
        return self.info


class FortranLibrary:
    """Symbols of a BLAS and LAPACK, looked up in the files in order; how they are spelt is found out.

    The files are opened in reverse order with their symbols visible to those opened later, so that a LAPACK without a BLAS of
    its own finds the one listed after it. OSError when a file cannot be opened, UsageError when it is no BLAS.
    """

    info = _INFO

    def __init__(self, files: Sequence[str]) -> None:
        self.files = list(files)
        self._handles = [ctypes.CDLL(file, mode=ctypes.RTLD_GLOBAL) for file in reversed(files)][::-1]
        self.names = self._spelling()

    @property
    def integer(self) -> type[np.signedinteger]:
        """Of arrays of integers, as pivots are."""
        return np.int64 if self.names.bits == 64 else np.int32

    def function(self, symbol: str) -> Callable[..., object]:
        """The first file's function of that exact name; AttributeError when no file has it."""
        for handle in self._handles:
            if hasattr(handle, symbol):
                return getattr(handle, symbol)
        raise AttributeError(f"no symbol {symbol} in {', '.join(self.files)}")

    def has(self, symbol: str) -> bool:
        return any(hasattr(handle, symbol) for handle in self._handles)

    def text(self, symbol: str, *arguments: object) -> str:
        """What a `const char*` function answers."""
        function = self.function(symbol)
        function.restype = ctypes.c_char_p  # type: ignore[attr-defined]
        return (function(*arguments) or b"").decode()  # type: ignore[attr-defined]

    def call(self, routine: str, dtype: np.dtype, *arguments: object) -> FortranCall:
        """A call: flags, integers, scalars and arrays, all by address. The arrays must outlive it."""
        symbol = f"{self.names.prefix}{_LETTERS[dtype.str[1:]]}{routine}{self.names.suffix}"
        if not self.has(symbol):
            files = ", ".join(self.files)
            raise UsageError(f"there is no {symbol} in {files}; a LAPACK of its own goes before it, LAPACK.so:BLAS.so")
        return FortranCall(self.function(symbol), arguments, ctypes.c_int64 if self.names.bits == 64 else ctypes.c_int32)

    def _spelling(self) -> Names:
        for names in _SPELLINGS:
            if self.has(f"{names.prefix}dgemm{names.suffix}") or self.has(f"{names.prefix}dpotrf{names.suffix}"):
                return Names(names.prefix, names.suffix, max(names.bits, self._integer_bits(names)))
        raise UsageError(f"there is no dgemm in {', '.join(self.files)}: not a BLAS with Fortran symbols")

    def _integer_bits(self, names: Names) -> int:
        """Plain names may have 64-bit integers, too. Of a count that is 1 in its lower half and negative as a whole, dscal
        scales one number or, as the reference does, none without a word."""
        if not self.has(f"{names.prefix}dscal{names.suffix}"):
            return 32
        number, count = np.ones(1), np.array([1 - 2**32, 1], dtype=np.int64)
        factor = np.array([2.0])
        scal = self.function(f"{names.prefix}dscal{names.suffix}")
        scal(*(ctypes.c_void_p(array.ctypes.data) for array in (count, factor, number, count[1:])))
        return 32 if number[0] == 2.0 else 64


def _box(argument: object, integer: type[ctypes._SimpleCData]) -> object:
    """What holds the argument in memory."""
    if isinstance(argument, str):
        return ctypes.c_char(argument.encode())
    if isinstance(argument, int):
        return integer(argument)
    if isinstance(argument, np.ndarray):
        return argument
    if isinstance(argument, np.generic):
        return np.array(argument)
    raise TypeError(f"no Fortran form for {argument!r}")


def _address(box: object) -> int:
    return box.ctypes.data if isinstance(box, np.ndarray) else ctypes.addressof(box)  # type: ignore[arg-type]
