"""Calls written for SciPy mean the same here: names and order of the arguments."""

import inspect
import re

import numpy as np
import pytest
import scipy.linalg
import scipy.linalg.lapack as theirs
import trencadis
import trencadis.lapack as ours

#: Arguments of ours alone stand behind the others, by keyword.
OWN = {"solve": ["variant"], "lu_factor": ["variant"]}


def wrapped(function):
    """Names of an f2py function's arguments: of `x,info = dtrtrs(a,b,[lower,...])`."""
    (arguments,) = re.search(r"= \w+\((.*)\)", function.__doc__.splitlines()[0]).groups()
    return arguments.replace("[", "").replace("]", "").split(",")


@pytest.mark.parametrize("name", [name for name in ours.__all__ if hasattr(theirs, name)])
def test_lapack_has_scipys_arguments_in_scipys_order(name):
    parameters = inspect.signature(getattr(ours, name)).parameters
    assert list(parameters) == wrapped(getattr(theirs, name))
    required = [p.name for p in parameters.values() if p.default is p.empty]
    assert required == getattr(theirs, name).__doc__.splitlines()[0].split("(")[1].split("[")[0].strip("),").split(",")


def test_nearly_all_of_lapack_was_compared():
    assert len([name for name in ours.__all__ if not hasattr(theirs, name)]) == 12, "gelqf, orglq and ormlq, which SciPy lacks"
    assert {"getrf", "getrs", "getri", "gesv", "potrf", "potrs", "posv", "geqp3"} <= {name[1:] for name in ours.__all__}


@pytest.mark.parametrize("name", [name for name in trencadis.__all__ if callable(getattr(scipy.linalg, name, None))])
def test_functions_have_scipys_arguments_in_scipys_order(name):
    mine, scipys = (list(inspect.signature(getattr(module, name)).parameters) for module in (trencadis, scipy.linalg))
    assert mine[: len(scipys)] == scipys and mine[len(scipys) :] == OWN.get(name, [])


def test_lapack_is_there_at_once():
    assert trencadis.lapack is ours


def test_ldas_place_is_not_the_one_of_overwrite_b():
    b = np.ones(3)
    x, info = ours.dtrtrs(2 * np.eye(3, order="F"), b, 0, 0, 0, 3)
    assert info == 0 and (b == 1).all() and (x == 0.5).all()
    with pytest.raises(ValueError, match="lda is 4; a has 3 rows"):
        ours.dtrtrs(np.eye(3), b, 0, 0, 0, 4)


A = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
B = np.array([1.0, 2, 3])


def calls(lapack, a, b, **overwrite):
    """Every routine with a right side, given a and b as they are."""
    lu, piv, _ = theirs.dgetrf(A)
    return {
        "gels": lapack.dgels(a, b, **overwrite),
        "gesv": lapack.dgesv(a, b, **overwrite),
        "posv": lapack.dposv(a, b, **overwrite),
        "gesvx": lapack.dgesvx(a, b, **overwrite),
        "posvx": lapack.dposvx(a, b, **overwrite),
        "trtrs": lapack.dtrtrs(np.triu(a), b),
        "getrs": lapack.dgetrs(lu, piv, b),
        "getrs^T": lapack.dgetrs(lu, piv, b, 1),
        "potrs": lapack.dpotrs(theirs.dpotrf(A)[0], b),
        "ormqr": lapack.dormqr("L", "T", *theirs.dgeqrf(A)[:2], b, 100)[::2],
    }


@pytest.mark.parametrize("b", [B, B[:, None], np.stack([B, B], axis=1), B.astype(int), np.ones((3, 4), order="C")])
@pytest.mark.parametrize("overwrite", [{}, {"overwrite_a": 1, "overwrite_b": 1}])
def test_shapes_and_values_are_scipys(b, overwrite):
    mine = calls(ours, A.copy(order="F"), b.copy(), **overwrite)
    scipys = calls(theirs, A.copy(order="F"), b.copy(), **overwrite)
    for name, expected in scipys.items():
        for got, wanted in zip(mine[name], expected, strict=True):
            if not isinstance(wanted, bytes):
                assert np.shape(got) == np.shape(wanted), name
                # both within some n eps of the exact result, whose condition is below 10, but for signs of reflectors
                assert np.allclose(got, wanted, rtol=1e-12, atol=1e-12), name


def test_a_vector_in_place_of_a_matrix_goes_as_one():
    for name, answers in {"geqrf": 1, "getrf": 1, "geqp3": 1}.items():
        mine, scipys = (getattr(module, "d" + name)(B)[:answers] for module in (ours, theirs))
        assert [np.shape(part) for part in mine] == [np.shape(part) for part in scipys]


def test_factors_are_scipys():
    for name, arguments in {
        "getrf": (A,), "potrf": (A,), "potrf ": (A, 1), "potrf  ": (A, 0, 0), "potrf   ": (A - 4 * np.eye(3), 0, 0),
        "geqp3": (A,), "getri": theirs.dgetrf(A)[:2], "getrf ": (np.zeros((2, 2)),), "gesv": (np.zeros((2, 2)), B[:2]),
    }.items():  # fmt: skip
        mine, scipys = (getattr(module, "d" + name.strip())(*arguments) for module in (ours, theirs))
        for place, (got, wanted) in enumerate(zip(mine, scipys, strict=True)):
            if not (name == "geqp3" and place == 3):  # LAPACK's workspace
                assert np.allclose(got, wanted, rtol=1e-13, atol=1e-13), name
                assert getattr(got, "dtype", None) == getattr(wanted, "dtype", None), name


def overlapping():
    """Every function that may overwrite, given one array in two places; each takes (a, b, overwrite) of a symmetric a."""
    lu, piv = scipy.linalg.lu_factor(A)
    factor, lower = scipy.linalg.cho_factor(A)
    upper = np.triu(A)
    return {
        "solve": (A, lambda s, x, o: s.solve(x, x, overwrite_a=o, overwrite_b=o)),
        "solve pos": (A, lambda s, x, o: s.solve(x, x, overwrite_a=o, overwrite_b=o, assume_a="pos")),
        "solve column": (A, lambda s, x, o: s.solve(x, x[:, 1], overwrite_a=o, overwrite_b=o, assume_a="gen")),
        "solve_triangular": (upper, lambda s, x, o: s.solve_triangular(x, x, overwrite_b=o)),
        "lu_solve": (lu, lambda s, x, o: s.lu_solve((x, piv), x, overwrite_b=o)),
        "cho_solve": (factor, lambda s, x, o: s.cho_solve((x, lower), x, overwrite_b=o)),
        "lstsq": (A, lambda s, x, o: s.lstsq(x, x, overwrite_a=o, overwrite_b=o)[0]),
        "gesv": (A, lambda s, x, o: s.lapack.dgesv(x, x, o, o)[2]),
        "gels": (A, lambda s, x, o: s.lapack.dgels(x, x, overwrite_a=o, overwrite_b=o)[1]),
        "trtrs": (upper, lambda s, x, o: s.lapack.dtrtrs(x, x, overwrite_b=o)[0]),
        "potrs": (factor, lambda s, x, o: s.lapack.dpotrs(x, x, overwrite_b=o)[0]),
        "posvx": (A, lambda s, x, o: s.lapack.dposvx(x, x, overwrite_a=o, overwrite_b=o)[5]),
    }


@pytest.mark.parametrize("name", overlapping())
def test_to_overwrite_what_is_read_is_allowed_and_not_done(name):
    given, call = overlapping()[name]
    expected = call(scipy.linalg, given.copy(order="F"), False)
    for order in "CF":
        assert np.allclose(call(trencadis, given.copy(order=order), True), expected, rtol=1e-12, atol=1e-12)


def test_scipys_factors_of_a_stack_are_taken():
    stack, b = np.stack([A, 2 * A]), np.ones((2, 3, 1))
    for lower in (False, True):
        c = scipy.linalg.cho_factor(stack, lower=lower)
        assert np.allclose(stack @ trencadis.cho_solve(c, b), b, rtol=0, atol=1e-13)
    with pytest.raises(ValueError, match="not the same for all matrices"):
        trencadis.cho_solve((c[0], [True, False]), b)


@pytest.mark.parametrize("pivoting", [False, True])
def test_qr_of_a_stack_returns_r_as_scipy_does(pivoting):
    stack = np.stack([A, A + 1])
    mine, scipys = (module.qr(stack, mode="r", pivoting=pivoting) for module in (trencadis, scipy.linalg))
    assert isinstance(mine, np.ndarray) == isinstance(scipys, np.ndarray) and len(mine) == len(scipys)
    assert np.allclose(np.abs(mine[0]), np.abs(scipys[0]), atol=1e-13)
    assert isinstance(trencadis.qr(A, mode="r"), tuple) and trencadis.rq(stack, mode="r").shape == stack.shape
