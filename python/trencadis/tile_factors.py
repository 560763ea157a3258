"""What the objects of tile factors share: the matrix they are of, and the operands they take."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .conversion import columns, common_dtype, converted_dtype, replaceable, validated


class TileFactors:
    """Factors in the place of a matrix, the caller's own where it may be overwritten."""

    def __init__(self, given: ArrayLike, a: np.ndarray, overwrite_a: bool) -> None:
        self._matrix = columns(a, converted_dtype(a), replaceable(a, given, overwrite_a))

    def _operand(self, name: str, given: ArrayLike, overwrite: bool, check_finite: bool) -> np.ndarray:
        """A vector or matrix with as many rows as the factors and of their precision, to be overwritten."""
        array = validated(given, check_finite)
        rows = len(self._matrix)
        if array.ndim not in (1, 2) or array.shape[0] != rows:
            raise ValueError(f"{name} has the shape {array.shape}; {rows} rows are needed")
        dtype = common_dtype(self._matrix, array)
        if dtype != self._matrix.dtype:
            raise ValueError(f"{name} needs {dtype}, the factors are of {self._matrix.dtype}")
        return columns(array, dtype, replaceable(array, given, overwrite))
