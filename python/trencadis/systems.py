"""scipy.linalg.solve on the current session.

The fast way is one call into C++ (`_core.solve_general`, `_core.solve_positive`) for plain arrays of one supported dtype; it
names the structure of a matrix that is better solved here. What it declines comes back as None and is converted and broadcast as
SciPy does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike

from . import _core, on_devices
from .checks import unknown_structure
from .conversion import columns, native, replaceable, require_variant, scipy_may_overwrite, solve_dtype, validated
from .device_arrays import any_on_device
from .errors import LinAlgError, not_positive_definite
from .session import current
from .triangular import solve_triangular

_POSITIVE = "positive definite"
_STRUCTURES = {
    None: "",
    "general": "general",
    "gen": "general",
    "diagonal": "diagonal",
    "tridiagonal": "tridiagonal",
    "upper triangular": "upper triangular",
    "lower triangular": "lower triangular",
    "symmetric": "symmetric",
    "sym": "symmetric",
    "hermitian": "hermitian",
    "her": "hermitian",
    "positive definite": _POSITIVE,
    "pos": _POSITIVE,
}

#: What an attempt answers: the solution, alone or with a doubtful reciprocal condition; the number of a pivot that is zero.
Attempt = np.ndarray | tuple[np.ndarray, float] | int


def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: str | None = None,
    transposed: bool = False,
    *,
    variant: str = "",
) -> np.ndarray:
    """Solve a x = b for x.

    Parameters
    ----------
    a : (..., N, N) array_like
    b : (..., N, NRHS) or (N,) array_like
    lower : bool
        With 'sym', 'her' and 'pos' only one triangle of `a` is used: the upper, or with this the lower.
    overwrite_a, overwrite_b : bool
        Allow the data of a or b to be overwritten; saves a copy when the array can be used in place.
    check_finite : bool
        Check all of `a` and `b` for infinities and NaNs.
    assume_a : None or str
        The structure of `a`, which is believed: 'general' ('gen'), 'positive definite' ('pos'), 'symmetric' ('sym'), 'hermitian'
        ('her'), 'upper triangular', 'lower triangular', 'diagonal', 'tridiagonal', 'banded'. With None it is found out, for each
        matrix of a stack; a Hermitian matrix that turns out not to be positive definite counts as general.
    transposed : bool
        Solve a^T x = b.
    variant : str
        The form of LU's tile algorithm, one of gesv's in `trencadis list routines`: `a` is one matrix then and counts as
        general, and its condition is not looked at.

    Returns
    -------
    x : ndarray of b's shape

    Raises
    ------
    LinAlgError
        `a` is singular: a pivot is exactly zero; or with 'pos' a leading minor is not positive, and the message names its order.
    ValueError
        Sizes do not fit, or values are not finite, or there is no such structure.
    NotImplementedError
        `transposed` with complex `a`.

    Warns
    -----
    LinAlgWarning
        The reciprocal condition in the 1-norm, estimated as LAPACK does, is below the precision. With 'pos' the estimate is made
        where the diagonal of the factor raises doubt, which hardly ever misses.

    Notes
    -----
    General: LU with partial pivoting and two triangular solves (LAPACK's getrf, getrs): 2/3 n^3 + 2 n^2 nrhs flops. Positive
    definite: Cholesky (posv), half as many. Four times as many for complex. Triangular: BLAS's trsm. Symmetric and Hermitian
    matrices that are not positive definite are solved as general ones (SciPy: sysv, hesv). Tridiagonal and banded systems are
    given to SciPy's LAPACK.
    """
    if variant != "" and variant is not None:
        return _solve_by_variant(a, b, assume_a, transposed, overwrite_a, overwrite_b, check_finite, variant)
    if assume_a == "banded":
        from scipy.linalg import solve as scipy_solve

        one = np.ndim(a) == 2 and np.ndim(b) <= 2  # SciPy overwrites a b that a whole stack is solved with
        free_a, free_b = scipy_may_overwrite(a, one and overwrite_a), scipy_may_overwrite(b, one and overwrite_b)
        return scipy_solve(a, b, lower, free_a, free_b, check_finite, assume_a, transposed)
    structure = _structure(assume_a)
    x = None
    if not transposed:
        x = _attempt(a, b, structure, lower, False, overwrite_a, overwrite_b, check_finite)
    if type(x) is np.ndarray:
        return x
    if x is None and any_on_device(a, b):
        return on_devices.solve(a, b, lower, overwrite_a, overwrite_b, assume_a, transposed)
    if x is None:
        x, doubtful = _solve_converted(a, b, structure, lower, transposed, overwrite_a, overwrite_b, check_finite)
    elif type(x) is tuple:
        x, doubtful = x[0], [(0, x[1])]
    else:
        raise_singular(0)
    if doubtful:
        warn_ill_conditioned(doubtful)
    return x


def _structure(assume_a: object) -> str:
    if assume_a is None or isinstance(assume_a, str) and assume_a in _STRUCTURES:
        return _STRUCTURES[assume_a]  # type: ignore[index]
    raise ValueError(unknown_structure(assume_a, _STRUCTURES))


def _solve_by_variant(
    a: ArrayLike, b: ArrayLike, assume_a: str | None, transposed: bool, overwrite_a: bool, overwrite_b: bool,
    check_finite: bool, variant: str,
) -> np.ndarray:  # fmt: skip
    """gesv in the form that is asked for."""
    require_variant("gesv", variant)
    if assume_a is not None and _structure(assume_a) not in ("", "general") or transposed:
        raise ValueError("variant: goes with assume_a 'general' and without transposed")
    a1, b1 = validated(a, check_finite), validated(b, check_finite)
    if a1.ndim != 2 or a1.shape[0] != a1.shape[1]:
        raise ValueError(f"expected a square matrix, got an array of shape {a1.shape}; variant: takes no stacks")
    n = len(a1)
    if b1.ndim not in (1, 2) or b1.shape[0] != n:
        raise ValueError(f"b has the shape {b1.shape}; {n} rows are needed")
    dtype = solve_dtype(a1, b1)
    x = columns(b1, dtype, replaceable(b1, b, overwrite_b) and not np.may_share_memory(a1, b1))
    if x.size == 0:
        return x
    factors = columns(a1, dtype, replaceable(a1, a, overwrite_a))
    pivots = np.empty(n, np.int64)
    if _core.lapack("gesv", current.get(), n, x.size // n, factors, pivots, x, variant=variant):
        raise_singular(0)
    return x


def raise_singular(place: int) -> NoReturn:
    """In SciPy's words; `place` is the number of the matrix in its stack."""
    raise LinAlgError(f"A singular matrix detected: slice(s) [{place}] are singular.")


def warn_ill_conditioned(doubtful: list[tuple[int, float]]) -> None:
    """In SciPy's words and of its class, to whoever called the public function that calls this."""
    from scipy.linalg import LinAlgWarning

    slices = ",".join(f"slice {place} has rcond = {rcond}" for place, rcond in doubtful)
    warn(f"An ill-conditioned matrix detected: {slices}.", LinAlgWarning, stacklevel=3)


def _attempt(
    a: Any,
    b: Any,
    structure: str,
    lower: bool,
    transposed: bool,
    overwrite_a: bool,
    overwrite_b: bool,
    check_finite: bool,
) -> Attempt | None:
    """One system; None where a and b are no plain arrays of one supported dtype and fitting shapes."""
    session = current.get()
    if structure == _POSITIVE:
        x = _core.solve_positive(session, a, b, lower, overwrite_a, overwrite_b, check_finite)
        if type(x) is int:
            raise not_positive_definite(x)
        return x
    if structure not in _SOLVERS:
        x = _core.solve_general(session, a, b, structure, lower, transposed, overwrite_a, overwrite_b, check_finite)
        if type(x) is not str:
            return x
        structure = x
    if structure == _POSITIVE:  # it may be so; where it is not, a is needed again
        x = _core.solve_positive(session, a, b, False, False, overwrite_b, check_finite)
        if type(x) is not int:
            return x
        return _core.solve_general(session, a, b, "general", lower, transposed, overwrite_a, overwrite_b, check_finite)
    if not _is_plain_system(a, b):
        return None
    a, b = validated(a, check_finite), validated(b, check_finite)
    x = _SOLVERS[structure](a, b if b.ndim == 2 else b[:, None], transposed, overwrite_b)
    if type(x) is int or b.ndim == 2:
        return x
    return (x[0][:, 0], x[1]) if type(x) is tuple else x[:, 0]


def _is_plain_system(a: Any, b: Any) -> bool:
    """What `_core.solve_general` takes."""
    if not (type(a) is type(b) is np.ndarray and a.dtype == b.dtype and a.dtype.char in "fdFD" and a.dtype.isnative):
        return False
    if a.ndim != 2 or b.ndim not in (1, 2) or not (a.flags.aligned and b.flags.aligned):
        return False
    return len(a) > 1 and a.shape[0] == a.shape[1] == b.shape[0] and b.size > 0


def _judged(x: np.ndarray, rcond: float) -> Attempt:
    return x if rcond >= np.finfo(x.dtype).eps else (x, float(rcond))


def _zero_pivot(diagonal: np.ndarray) -> int:
    """The place, from 1, of the first zero; 0 where there is none."""
    zeros = np.flatnonzero(diagonal == 0)
    return int(zeros[0]) + 1 if zeros.size else 0


def _diagonal(a: np.ndarray, b: np.ndarray, transposed: bool, overwrite_b: bool) -> Attempt:
    d = a.diagonal()
    if zero := _zero_pivot(d):
        return zero
    sizes = np.abs(d)
    return _judged(b / d[:, None], sizes.min() / sizes.max())


def _triangular(lower: bool) -> Callable[[np.ndarray, np.ndarray, bool, bool], Attempt]:
    def solve(a: np.ndarray, b: np.ndarray, transposed: bool, overwrite_b: bool) -> Attempt:
        if zero := _zero_pivot(a.diagonal()):
            return zero
        if not (a.flags.c_contiguous or a.flags.f_contiguous):
            a = np.asfortranarray(a)
        x = solve_triangular(a, b, int(transposed), lower, overwrite_b=overwrite_b, check_finite=False)
        return _judged(x, _core.triangular_rcond(current.get(), a, lower))

    return solve


def _tridiagonal(a: np.ndarray, b: np.ndarray, transposed: bool, overwrite_b: bool) -> Attempt:
    from scipy.linalg import get_lapack_funcs

    if len(a) == 2:  # which SciPy's functions do not take
        return _core.solve_general(current.get(), a, b, "general", False, transposed, False, overwrite_b, False)
    gttrf, gttrs, gtcon = get_lapack_funcs(("gttrf", "gttrs", "gtcon"), (a, b))
    below, middle, above = (a.diagonal(k) for k in (-1, 0, 1))
    sums = np.abs(middle)
    sums[:-1] += np.abs(below)
    sums[1:] += np.abs(above)
    *factors, info = gttrf(below, middle, above)
    if info > 0:
        return int(info)
    free_b = scipy_may_overwrite(b, overwrite_b)
    x, _ = gttrs(*factors, b, trans="T" if transposed else "N", overwrite_b=free_b)
    rcond, _ = gtcon(*factors, sums.max())
    return _judged(x, rcond)


_SOLVERS = {
    "diagonal": _diagonal,
    "upper triangular": _triangular(lower=False),
    "lower triangular": _triangular(lower=True),
    "tridiagonal": _tridiagonal,
}


def _solve_converted(
    a: ArrayLike,
    b: ArrayLike,
    structure: str,
    lower: bool,
    transposed: bool,
    overwrite_a: bool,
    overwrite_b: bool,
    check_finite: bool,
) -> tuple[np.ndarray, list[tuple[int, float]]]:
    """The solutions, and which matrices of the stack have a doubtful reciprocal condition."""
    a1 = np.atleast_2d(validated(a, check_finite))
    b1 = np.atleast_1d(validated(b, check_finite))
    dtype = solve_dtype(a1, b1)
    a1, b1 = native(a1, dtype), native(b1, dtype)
    if a1.shape[-1] != a1.shape[-2]:
        raise ValueError(f"Expected square matrix, got a of shape {a1.shape}")
    if transposed and dtype.kind == "c":
        raise NotImplementedError("trencadis.solve can not solve a^T x = b or a^H x = b for complex matrices.")
    b_is_vector = b1.ndim == 1
    if b_is_vector:
        b1 = b1[:, None]
    if b1.shape[-2] != a1.shape[-1] and a1.size != 1:
        raise ValueError(f"incompatible shapes: a of shape {a1.shape} and b of shape {np.shape(b)}")
    if a1.size == 1:
        x, doubtful = _solve_scalar(a1, b1, structure), []
    else:
        batch = np.broadcast_shapes(a1.shape[:-2], b1.shape[:-2])
        a1 = np.broadcast_to(a1, batch + a1.shape[-2:])
        if not batch and b1.size and len(a1) > 1:
            x, doubtful = judged(_attempt(a1, b1, structure, lower, transposed, overwrite_a, overwrite_b, False), 0)
        else:
            x = np.empty(batch + b1.shape[-2:], dtype)
            doubtful = _solve_stack(a1, b1, x, structure, lower, transposed) if x.size else []
    return (x[..., 0] if b_is_vector else x), doubtful


def judged(attempt: Attempt | None, place: int) -> tuple[np.ndarray, list[tuple[int, float]]]:
    """Number `place` of a stack: the solution, and whether it is doubtful; raises where the matrix is singular."""
    if type(attempt) is int:
        raise_singular(place)
    return (attempt[0], [(place, attempt[1])]) if type(attempt) is tuple else (attempt, [])


def _solve_scalar(a: np.ndarray, b: np.ndarray, structure: str) -> np.ndarray:
    """SciPy broadcasts a matrix of one element over right sides of any height."""
    if structure == _POSITIVE and not np.real(a.item()) > 0:
        raise not_positive_definite(1)
    if a.item() == 0:
        raise LinAlgError("A singular matrix detected.")
    return b / a


def _solve_ones(a: np.ndarray, b: np.ndarray, structure: str) -> np.ndarray:
    """Stacks of matrices of one element; where LAPACK is told that they are Hermitian it reads the real part alone."""
    if structure in (_POSITIVE, "hermitian"):
        a = np.real(a)
    if structure == _POSITIVE and not (a > 0).all():
        raise not_positive_definite(1)
    if zero := _zero_pivot(a.ravel()):
        raise_singular(zero - 1)
    return b / a


def _solve_stack(
    a: np.ndarray, b: np.ndarray, x: np.ndarray, structure: str, lower: bool, transposed: bool
) -> list[tuple[int, float]]:
    b = np.broadcast_to(b, x.shape)
    if a.shape[-1] == 1:
        x[...] = _solve_ones(a, b, structure)
        return []
    # x is contiguous; of the others broadcasting may leave no choice but a copy.
    a, b, x = (array.reshape(-1, *array.shape[-2:]) for array in (a, b, x))
    return fill_stack(
        *(a, b, x, structure, lower, transposed),
        lambda i: _attempt(a[i], b[i], structure, lower, transposed, False, False, False),
    )


def fill_stack(
    a: np.ndarray,
    b: np.ndarray,
    x: np.ndarray,
    structure: str | None,
    lower: bool,
    transposed: bool,
    one: Callable[[int], Attempt | None],
) -> list[tuple[int, float]]:
    """The solutions of a stack in x, all of three dimensions and one dtype: small general and positive definite matrices in one
    call, what that leaves over by `one`, which solves number i; all of them where `structure` is None. Returns which matrices
    have a doubtful reciprocal condition."""
    told = None
    if structure in ("", "general", _POSITIVE):
        told = _core.solve_stack(current.get(), a, b, x, transposed, structure, lower)
    singular, doubtful, left = told if told is not None else (-1, [], range(len(x)))
    for place in left:
        if 0 <= singular < place:
            break
        x[place], doubts = judged(one(place), place)
        doubtful += doubts
    if singular >= 0:
        raise_singular(singular)
    return sorted(doubtful)
