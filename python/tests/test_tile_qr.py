"""TileQR: factors of tile QR in every form."""

import numpy as np
import pytest
import trencadis
from matrices import DTYPES, random_array

FORMS = ("flat", "plasma", "binary", "greedy", "fibonacci")


def tolerance(dtype, *sizes):
    return 30 * max(sizes) * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("variant", FORMS)
@pytest.mark.parametrize("shape", [(1, 1), (90, 40), (40, 90), (70, 70)])
def test_q_times_r_is_the_matrix(shape, variant, dtype):
    a = random_array(shape, dtype)
    factors = trencadis.TileQR(a, variant, nb=16)
    q, full = factors.q(), factors.q("full")
    assert q.dtype == dtype and q.shape == (shape[0], min(shape)) and full.shape == (shape[0],) * 2
    assert np.abs(q.conj().T @ q - np.eye(q.shape[1])).max() < tolerance(dtype, *shape)
    assert np.abs(q @ factors.r - a).max() < tolerance(dtype, *shape)
    assert np.abs(factors.apply(a, adjoint=True)[: min(shape)] - factors.r).max() < tolerance(dtype, *shape)
    assert np.allclose(factors.apply(np.eye(shape[0], dtype=dtype)), full, atol=tolerance(dtype, *shape))


@pytest.mark.parametrize("dtype", DTYPES)
def test_least_squares(dtype):
    a, b = random_array((120, 30), dtype), random_array((120, 2), dtype, seed=1)
    factors, before = trencadis.TileQR(a, nb=16), b.copy()
    for rhs in (b, b[:, 0], np.asfortranarray(b)):
        x = factors.solve(rhs)
        assert x.shape == (30, *rhs.shape[1:]) and np.allclose(x, np.linalg.lstsq(a, rhs, rcond=None)[0], atol=tolerance(dtype, 120))
    assert np.array_equal(b, before)


def test_what_is_wrong_is_said():
    a = random_array((20, 10), np.float64)
    factors = trencadis.TileQR(a)
    with pytest.raises(ValueError, match="greedy"):
        trencadis.TileQR(a, "gredy")
    with pytest.raises(ValueError, match="shape"):
        trencadis.TileQR(a[0])
    with pytest.raises(ValueError, match="20 rows"):
        factors.solve(a[:3])
    with pytest.raises(ValueError, match="complex"):
        factors.apply(a * 1j)
    with pytest.raises(ValueError, match="economic"):
        factors.q("reduced")
    with pytest.raises(ValueError, match="as many rows"):
        trencadis.TileQR(a.T).solve(a[:10])
    with pytest.raises(np.linalg.LinAlgError, match="zero"):
        trencadis.TileQR(np.zeros((5, 2))).solve(np.ones(5))
