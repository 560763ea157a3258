"""What functions of the package do with arrays that lie on devices: shapes are looked at here, values never."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from warnings import warn

import numpy as np

from . import _core
from .conversion import pivots_of
from .device_arrays import DeviceArray, Matrix, empty, session_here, taken
from .errors import LinAlgError, not_positive_definite
from .residence import written


def _common(*matrices: Matrix) -> tuple[_core.Session, str]:
    dtypes = {m.dtype for m in matrices}
    if len(dtypes) > 1:
        said = ", ".join(f"{m.name} has {m.dtype}" for m in matrices)
        raise ValueError(f"arrays on a device are not converted: {said}")
    return session_here(), matrices[0].dtype.char


def _square(a: Matrix) -> int:
    if a.rows != a.cols:
        raise ValueError(f"{a.name} is {a.rows} x {a.cols}, must be square")
    return a.rows


def _apart(out: Matrix, *others: Matrix) -> None:
    begin, end = out.span()
    for other in others:
        first, last = other.span()
        if begin < last and first < end:
            raise ValueError(f"{out.name} shares memory with {other.name}, and is written while that is read")


def _beside(a: Matrix, b: Matrix) -> Matrix:
    """b, or a copy of it where it is another part of a's memory: data have one size for one address."""
    (begin, end), (first, last) = a.span(), b.span()
    same = (begin, a.ld, a.rows, a.cols) == (first, b.ld, b.rows, b.cols)
    if same or begin >= last or first >= end:
        return b
    apart = b.owner.copy(order="K") if isinstance(b.owner, np.ndarray) else b.copy(session_here(), b.owner.shape)
    return Matrix.of(apart, b.name)


def _result(given: Any, array: DeviceArray | np.ndarray, overwrite: bool, name: str) -> tuple[Any, Matrix]:
    """What a routine overwrites, for the caller and for the routine."""
    m = Matrix.of(array, name)
    if overwrite:
        m.require_writable()
        return array if isinstance(array, np.ndarray) else given, m
    if isinstance(array, np.ndarray):
        fresh: Any = array.copy(order="K")
    else:
        fresh = m.copy(session_here(), array.shape)
    return fresh, Matrix.of(fresh, name)


def matmul(a: Any, b: Any, out: Any = None) -> Any:
    A, B = Matrix.of(taken(a, "a"), "a"), Matrix.of(taken(b, "b"), "b")
    if getattr(a, "ndim", 2) != 2 or getattr(b, "ndim", 2) != 2:
        raise ValueError("matmul: products of arrays on a device are of matrices; a vector is a matrix of one column")
    (m, k), (rows, n) = _shape(A), _shape(B)
    if k != rows:
        raise ValueError(f"matmul: a is {m} x {k} and b is {rows} x {n}")
    session, dtype = _common(A, B)
    B = _beside(A, B)
    result = out
    if out is None:  # then one of the operands lies on a device
        device = B.device if A.device is None else A.device
        result = empty(session, device, A.dtype, (m, n), A.by_rows and B.by_rows)
    C = Matrix.of(taken(result, "out"), "out")
    C.require_writable()
    if _shape(C) != (m, n):
        raise ValueError(f"matmul: out is {_shape(C)[0]} x {_shape(C)[1]}; the product is {m} x {n}")
    _common(A, B, C)
    _apart(C, A, B)
    if C.by_rows:  # C^T = B^T A^T
        A, B, m, n = B, A, n, m
    transposed = [("T" if x.by_rows != C.by_rows else "N") for x in (A, B)]
    if m and n:
        _core.gemm_on_device(session, dtype, *transposed, m, n, k, A.address, A.ld, B.address, B.ld, C.address, C.ld)
    return result


def _shape(m: Matrix) -> tuple[int, int]:
    return (m.cols, m.rows) if m.by_rows else (m.rows, m.cols)


def _triangle(m: Matrix, lower: bool) -> str:
    """By rows the lower triangle is the upper one of what is by columns, and the factor's as well."""
    return "L" if bool(lower) != m.by_rows else "U"


def cho_factor(a: Any, lower: bool, overwrite_a: bool) -> Any:
    result, A = _result(a, taken(a, "a"), overwrite_a, "a")
    n = _square(A)
    session, dtype = _common(A)
    if info := _core.potrf_on_device(session, dtype, _triangle(A, lower), n, A.address, A.ld):
        raise not_positive_definite(info)
    return result


@dataclass
class _RightSides:
    """By columns, and overwritten with the solutions."""

    matrix: Matrix
    result: Any  #: the caller's
    apart: Matrix | None = None  #: the caller's vector whose elements do not follow each other, which gets the solution at last

    def done(self) -> Any:
        if self.apart is not None and isinstance(self.apart.owner, np.ndarray):
            self.apart.owner[...] = self.matrix.owner
            written(self.apart.owner)
        elif self.apart is not None:
            self.matrix.copy_to(self.apart)
        return self.result


def _right_sides(b: Any, n: int, overwrite_b: bool, *others: Matrix) -> _RightSides:
    """`others` are read while it is written."""
    array = taken(b, "b")
    if array.shape[0] != n:
        raise ValueError(f"b has the shape {array.shape}; {n} rows are needed")
    m = Matrix.of(array, "b")
    if m.by_rows and m.cols > 1 and m.rows > 1:
        raise ValueError("b lies by rows; beside arrays on a device right sides lie by columns (Fortran's order)")
    result, B = _result(b, array, overwrite_b and not m.by_rows, "b")
    if not (overwrite_b and m.by_rows):
        _apart(B, *others)
        return _RightSides(B, result)
    m.require_writable()
    _apart(m, *others)
    return _RightSides(B, array if isinstance(array, np.ndarray) else b, m)


def _require_by_columns(a: Matrix, what: str) -> None:
    if a.by_rows:
        raise ValueError(f"{a.name} lies by rows; {what} takes arrays on a device that lie by columns (Fortran's order)")


def cho_solve(c: Any, lower: bool, b: Any, overwrite_b: bool) -> Any:
    C = Matrix.of(taken(c, "c"), "c")
    n = _square(C)
    if C.dtype.kind == "c":
        _require_by_columns(C, "cho_solve of complex matrices")
    sides = _right_sides(b, n, overwrite_b, C)
    B = sides.matrix
    session, dtype = _common(C, B)
    _core.potrs_on_device(session, dtype, _triangle(C, lower), n, B.cols, C.address, C.ld, B.address, B.ld)
    return sides.done()


def lu_factor(a: Any, overwrite_a: bool, variant: str) -> tuple[Any, np.ndarray]:
    if variant:
        raise ValueError(f"variant is '{variant}'; the form of arrays on a device is not chosen: leave it out")
    array = taken(a, "a")
    _require_by_columns(Matrix.of(array, "a"), "lu_factor")
    result, A = _result(a, array, overwrite_a, "a")
    session, dtype = _common(A)
    pivots = np.empty(min(A.rows, A.cols), np.int64)
    if info := _core.getrf_on_device(session, dtype, A.rows, A.cols, A.address, A.ld, pivots.ctypes.data):
        from scipy.linalg import LinAlgWarning

        warn(f"Diagonal number {info} is exactly zero. Singular matrix.", LinAlgWarning, stacklevel=3)
    return result, (pivots - 1).astype(np.int32)


def lu_solve(lu: Any, piv: Any, b: Any, trans: int, overwrite_b: bool) -> Any:
    A = Matrix.of(taken(lu, "lu"), "lu")
    _require_by_columns(A, "lu_solve")
    n = _square(A)
    if trans not in (0, 1, 2):
        raise ValueError(f"trans is {trans!r}, must be 0, 1 or 2")
    pivots = pivots_of(np.asarray(piv), n)
    sides = _right_sides(b, n, overwrite_b, A)
    B = sides.matrix
    session, dtype = _common(A, B)
    _core.getrs_on_device(session, dtype, "NTC"[trans], n, B.cols, A.address, A.ld, pivots.ctypes.data, B.address, B.ld)
    return sides.done()


def solve(a: Any, b: Any, lower: bool, overwrite_a: bool, overwrite_b: bool, assume_a: str | None, transposed: bool) -> Any:
    positive = assume_a in ("pos", "positive definite")
    if not positive and assume_a not in ("gen", "general"):
        raise ValueError(f"assume_a is {assume_a!r}; nobody looks at the elements of an array on a device: say 'gen' or 'pos'")
    array = taken(a, "a")
    A = Matrix.of(array, "a")
    n = _square(A)
    if A.dtype.kind == "c" and (positive or transposed):
        if transposed:
            raise NotImplementedError("scipy.linalg.solve can currently not solve a^T x = b or a^H x = b for complex matrices.")
        _require_by_columns(A, "solve of complex positive definite matrices")
    if isinstance(array, np.ndarray) or A.read_only:
        overwrite_a = False
    sides = _right_sides(b, n, overwrite_b, A)
    B = sides.matrix
    session, dtype = _common(A, B)
    _, A = _result(a, array, overwrite_a, "a")
    if positive:
        if info := _core.posv_on_device(session, dtype, _triangle(A, lower), n, B.cols, A.address, A.ld, B.address, B.ld):
            raise not_positive_definite(info)
        return sides.done()
    pivots = np.empty(n, np.int64)
    if _core.getrf_on_device(session, dtype, n, n, A.address, A.ld, pivots.ctypes.data):
        raise LinAlgError("A singular matrix detected: slice(s) [0] are singular.")
    op = "T" if A.by_rows != bool(transposed) else "N"
    _core.getrs_on_device(session, dtype, op, n, B.cols, A.address, A.ld, pivots.ctypes.data, B.address, B.ld)
    return sides.done()
