"""trencadis.matmul against numpy.matmul."""

import numpy as np
import pytest
import trencadis
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import DTYPES, eps, layouts, random_array


def agrees(C, A, B):
    """Both sums of k products err by at most k eps |A| |B| (Higham 2002, section 3.5); complex products count for 4."""
    bound = 8 * max(A.shape[-1], 1) * eps(C.dtype) * (np.abs(A) @ np.abs(B)) + 1e-300
    return C.shape == (A @ B).shape and bool(np.all(np.abs(C - A @ B) <= bound))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 4), (65, 1, 64), (130, 257, 70), (300, 200, 260)])
def test_multiplies_matrices_stored_in_any_way(dtype, shape):
    m, k, n = shape
    A, B = random_array((m, k), dtype), random_array((k, n), dtype, seed=1)
    for a_name, a in layouts(A).items():
        for b_name, b in layouts(B).items():
            assert agrees(trencadis.matmul(a, b), A, B), (a_name, b_name)


@settings(deadline=None, max_examples=100)
@given(
    dtype=st.sampled_from("?bilefdgFD"),
    other=st.sampled_from("?bilefdgFD"),
    m=st.integers(0, 5),
    k=st.integers(0, 5),
    n=st.integers(0, 5),
    a_batch=st.sampled_from([(), (1,), (3,), (2, 3), (2, 1)]),
    b_batch=st.sampled_from([(), (1,), (3,), (2, 3), (0,)]),
)
def test_shapes_and_dtypes_are_numpys(dtype, other, m, k, n, a_batch, b_batch):
    A, B = np.ones((*a_batch, m, k), dtype), np.ones((*b_batch, k, n), other)
    try:
        expected = np.matmul(A, B)
    except ValueError:
        with pytest.raises(ValueError):
            trencadis.matmul(A, B)
        return
    C = trencadis.matmul(A, B)
    assert C.dtype == expected.dtype and np.array_equal(C, expected)


@pytest.mark.parametrize(
    "make",
    [
        lambda s: np.empty(s),
        lambda s: np.empty(s, order="F"),
        lambda s: np.empty((2 * s[0], 3 * s[1]))[::2, ::3],
        lambda s: np.empty(s, np.complex128),
        lambda s: np.full(s, np.nan),
    ],
)
def test_writes_into_out(make):
    A, B = random_array((40, 30), np.float64), random_array((30, 20), np.float64, seed=1)
    out = make((40, 20))
    assert trencadis.matmul(A, B, out=out) is out
    assert np.allclose(out, A @ B)


def test_out_may_be_an_operand():
    A = random_array((50, 50), np.float64)
    expected = A @ A.T
    assert trencadis.matmul(A, A.T, out=A) is A
    assert np.allclose(A, expected)


def test_bad_shapes_are_value_errors():
    with pytest.raises(ValueError, match=r"a of shape \(2, 3\) has 3 columns but b of shape \(2, 3\) has 2 rows"):
        trencadis.matmul(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"out has shape \(3, 3\); the product has \(2, 2\)"):
        trencadis.matmul(np.ones((2, 3)), np.ones((3, 2)), out=np.ones((3, 3)))
    with pytest.raises(TypeError):
        trencadis.matmul(np.ones((2, 3)), np.ones((3, 2)), out=np.ones((2, 2), np.int64))


def test_vectors_and_integers_are_numpys():
    A = random_array((3, 4), np.float64)
    assert np.allclose(trencadis.matmul(A, np.ones(4)), A @ np.ones(4))
    assert trencadis.matmul([[1, 2]], [[3], [4]]).dtype == np.int64


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("count", "size"), [(40, 64), (3, 400), (700, 3)])
def test_stacks_small_and_large_side_by_side_and_one_after_the_other(dtype, count, size):
    A, B = random_array((count, size, size), dtype), random_array((count, size, size), dtype, seed=1)
    for a in (A, np.ascontiguousarray(A.swapaxes(1, 2)).swapaxes(1, 2), A[:1], A[0]):
        assert agrees(trencadis.matmul(a, B), a, B)
        assert agrees(trencadis.matmul(B, a), B, a)
    with trencadis.session(engine="sequential"):
        assert agrees(trencadis.matmul(A, B), A, B)


def test_out_may_be_a_tuple_of_one_and_may_hold_more_matrices_than_the_product():
    A, B = random_array((3, 4), np.float64), random_array((4, 2), np.float64, seed=1)
    out = np.full((5, 3, 2), np.nan)
    assert trencadis.matmul(A, B, out=(out,)) is out
    assert all(agrees(part, A, B) for part in out)
    assert agrees(trencadis.matmul(A, B, out=(None,)), A, B)
    with pytest.raises(ValueError, match="a tuple of 2"):
        trencadis.matmul(A, B, out=(out, out))


def test_out_that_cannot_be_written_is_refused_as_numpy_does():
    A = np.ones((4, 4))
    frozen = np.zeros((4, 4))
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        trencadis.matmul(A, A, out=frozen)
    with pytest.raises(TypeError, match="out is a list; give a numpy array"):
        trencadis.matmul(A, A, out=[[0.0] * 4] * 4)
    with pytest.raises(ValueError, match=r"out has shape \(4, 4\); the product has \(2, 4, 4\)"):
        trencadis.matmul(np.ones((2, 4, 4)), A, out=np.zeros((4, 4)))
    with pytest.raises(TypeError, match="out is float64, which the product of complex128 is not cast to"):
        trencadis.matmul(A * 1j, A, out=np.zeros((4, 4)))
    assert not frozen.any()


@pytest.mark.parametrize("place", [0, 1, "out"])
def test_masked_and_sparse_operands_are_refused_as_by_the_other_functions(place):
    import scipy.sparse

    A = np.eye(3)
    for bad, word in ((np.ma.masked_array(A, A > 0), "masked"), (scipy.sparse.csr_array(A), "Sparse")):
        operands = [A, A]
        if place != "out":
            operands[place] = bad
        with pytest.raises(ValueError, match=f"(?i){word} arrays"):
            trencadis.matmul(*operands, **({"out": bad} if place == "out" else {}))


class Tagged(np.ndarray):
    """A subclass that says nothing of itself."""


class Weak(np.ndarray):
    __array_priority__ = -5


class Counting(np.ndarray):
    """A subclass that carries out NumPy's functions by itself, as arrays with units do."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__, [type(operand).__name__ for operand in inputs]


@pytest.mark.parametrize("left", [np.ndarray, np.matrix, Tagged, Weak, np.memmap, list])
@pytest.mark.parametrize("right", [np.ndarray, np.matrix, Tagged, Weak, np.memmap, list])
def test_subclasses_come_back_as_from_numpy(left, right, tmp_path):
    def made(kind, array):
        if kind is list:
            return array.tolist()
        if kind is np.memmap:
            file = tmp_path / str(id(array))
            array.tofile(file)
            return np.memmap(file, array.dtype, "r", shape=array.shape)
        return array.view(kind)

    A, B = random_array((5, 5), np.float64), random_array((5, 5), np.float64, seed=1)
    a, b = made(left, A), made(right, B)
    ours = trencadis.matmul(a, b)
    assert type(ours) is type(np.matmul(a, b)) and agrees(np.asarray(ours), A, B)
    out = np.empty((5, 5)).view(Tagged)
    assert trencadis.matmul(a, b, out=out) is out and agrees(np.asarray(out), A, B)


def test_operands_that_carry_out_numpys_functions_are_asked():
    A = np.ones((2, 2))
    assert trencadis.matmul(A.view(Counting), A) == ("matmul", ["Counting", "ndarray"])
    assert trencadis.matmul(A, A, out=A.view(Counting))[0] == "matmul"


@pytest.mark.parametrize("given_out", [False, True])
def test_matrices_of_a_stack_may_lie_a_fraction_of_an_element_further(given_out):
    def stack():
        raw = np.zeros(3 * 72, np.uint8)
        return np.lib.stride_tricks.as_strided(raw[:16].view(np.complex128), (3, 2, 2), (72, 32, 16))

    a, out = stack(), stack()
    a[...] = np.arange(12.0).reshape(3, 2, 2)
    assert a.flags.aligned
    assert np.array_equal(trencadis.matmul(a, a, out=out if given_out else None), np.matmul(a, a))
