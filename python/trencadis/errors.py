"""Errors of the package, and what the command line makes of them."""

from __future__ import annotations

from numpy.linalg import LinAlgError  # the class that scipy.linalg.LinAlgError names, too

from ._core import BackendError

__all__ = ["BackendError", "LinAlgError", "UsageError", "not_positive_definite"]


class UsageError(ValueError):
    """Bad usage or bad input; the message is one line that says what was given and what would be right."""


def not_positive_definite(order: int) -> LinAlgError:
    """SciPy's exception, in SciPy's words, for LAPACK's `info` = order."""
    return LinAlgError(f"{order}-th leading minor of the array is not positive definite")
