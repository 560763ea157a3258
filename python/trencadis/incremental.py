"""LU factors by incremental pivoting, which LAPACK and SciPy have no form for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .checks import tile_size
from .conversion import validated
from .session import current
from .tile_factors import TileFactors


class IncrementalLU(TileFactors):
    """The LU factors of a square matrix by incremental pivoting, on the current session.

    Tiles are eliminated one at a time, each with interchanges between its rows and those of the triangle on the diagonal: no
    panel is needed as a whole. The pivoting is weaker than partial pivoting.

    Parameters
    ----------
    a : (N, N) array_like
    overwrite_a : bool
        Allow the data of a to be overwritten; they hold the factors then and must stay as they are.
    check_finite : bool
        Check all of `a` for infinities and NaNs.
    nb : int
        The tile size; 0 to have it chosen.

    Attributes
    ----------
    singular : int
        The number, from 1, of the first diagonal entry of U that is exactly zero; 0: none. The factors are complete all the same.
    upper : (N, N) ndarray
        U; a copy.

    Notes
    -----
    2/3 n^3 (1 + 16 / nb) flops, 4 times as many for complex. Buttari, Langou, Kurzak, Dongarra 2009.
    """

    def __init__(self, a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True, nb: int = 0) -> None:
        tile = tile_size(nb)
        a1 = validated(a, check_finite)
        if a1.ndim != 2 or a1.shape[0] != a1.shape[1]:
            raise ValueError(f"expected a square matrix, got an array of shape {a1.shape}")
        super().__init__(a, a1, overwrite_a)
        self._factors = _core.IncrementalFactors(current.get(), self._matrix, tile)
        self.singular: int = self._factors.info

    @property
    def upper(self) -> np.ndarray:
        return np.triu(self._matrix)

    def solve(self, b: ArrayLike, overwrite_b: bool = False, check_finite: bool = True) -> np.ndarray:
        """Solve a x = b, b of shape (N,) or (N, NRHS), in the precision of a. A zero on the diagonal of U is divided by."""
        x = self._operand("b", b, overwrite_b, check_finite)
        if x.size:
            self._factors.solve(x)
        return x
