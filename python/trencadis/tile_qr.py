"""QR factors by tiles, which LAPACK and SciPy have no form for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .checks import one_of, shown, tile_size, word
from .conversion import validated
from .forms import forms_of
from .session import current
from .tile_factors import TileFactors

#: Whose trees may be asked for.
FORMS = tuple(forms_of("geqrf", own_factors=True))


class TileQR(TileFactors):
    """The QR factors of a matrix by tiles, on the current session.

    Tiles are eliminated one by one, in the order of a tree, so that no panel is needed as a whole.

    Parameters
    ----------
    a : (M, N) array_like
    variant : str
        'flat', 'plasma', 'binary', 'greedy' or 'fibonacci'; '': 'greedy'.
    overwrite_a : bool
        Allow the data of a to be overwritten; they hold the factors then and must stay as they are.
    check_finite : bool
        Check all of `a` for infinities and NaNs.
    nb : int
        The tile size; 0 to have it chosen.

    Attributes
    ----------
    r : (min(M, N), N) ndarray
        R; a copy.

    Notes
    -----
    4/3 n^3 (1 + 8 / nb) flops for M = N, 4 times as many for complex. Buttari, Langou, Kurzak, Dongarra 2009; Bouwmeester,
    Jacquelin, Langou, Robert 2011.
    """

    def __init__(
        self, a: ArrayLike, variant: str = "", overwrite_a: bool = False, check_finite: bool = True, nb: int = 0
    ) -> None:
        tile, form = tile_size(nb), word("variant", variant)
        if form:
            one_of("variant of TileQR", form, FORMS)
        a1 = validated(a, check_finite)
        if a1.ndim != 2:
            raise ValueError(f"expected a matrix, got an array of shape {a1.shape}")
        super().__init__(a, a1, overwrite_a)
        self._factors = _core.TileFactors(current.get(), self._matrix, form, tile)

    @property
    def r(self) -> np.ndarray:
        return np.triu(self._matrix[: min(self._matrix.shape)])

    def q(self, mode: str = "economic") -> np.ndarray:
        """The first min(M, N) columns of Q, or all M of them: mode 'economic' or 'full'."""
        if mode not in ("economic", "full"):
            raise ValueError(f"mode is {shown(mode)}; give 'economic' or 'full'")
        m, n = self._matrix.shape
        q = np.empty((m, m if mode == "full" else min(m, n)), dtype=self._matrix.dtype, order="F")
        if q.size:
            self._factors.form(q)
        return q

    def apply(self, c: ArrayLike, adjoint: bool = False, overwrite_c: bool = False) -> np.ndarray:
        """Q c, or Q^H c, c of shape (M,) or (M, K), in the precision of a."""
        x = self._operand("c", c, overwrite_c, False)
        if x.size:
            self._factors.apply(x, adjoint)
        return x

    def solve(self, b: ArrayLike, overwrite_b: bool = False, check_finite: bool = True) -> np.ndarray:
        """The x that minimises |a x - b|, M >= N, b of shape (M,) or (M, NRHS), in the precision of a.

        Raises LinAlgError where R has a zero on its diagonal.
        """
        m, n = self._matrix.shape
        if m < n:
            raise ValueError(f"a has the shape {self._matrix.shape}; least squares need at least as many rows as columns")
        x = self._operand("b", b, overwrite_b, check_finite)
        if x.size and (zero := self._factors.solve(x)):
            raise np.linalg.LinAlgError(f"a is singular: diagonal entry {zero} of R is zero")
        return x[:n]
