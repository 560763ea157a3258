"""Dense linear algebra at the speed of the machine you really have.

    import trencadis
    x = trencadis.solve(a, b, assume_a="pos")

SciPy's names, arguments and exceptions; see `trencadis.session` to choose workers, scheduler and kernels, and
`trencadis.trace` to record how the cores shared the work. The interpreter lock is released while computing.
"""

import os as _os
import sys as _sys

import numpy as _numpy

from . import _core
from ._core import BackendError, __version__

# Vendor libraries from PyPI lie in the environment this package runs in: MKL in lib, OpenBLAS beside numpy.
for _folder in (_os.path.join(_sys.prefix, "lib"), _os.path.dirname(_os.path.dirname(_numpy.__file__))):
    _core.add_kernel_library_folder(_folder)

from .linalg import cho_factor, cho_solve, cholesky, matmul, solve, solve_triangular  # noqa: E402
from .session import session, trace  # noqa: E402

__all__ = [
    "BackendError", "__version__", "cho_factor", "cho_solve", "cholesky", "matmul", "session", "solve", "solve_triangular", "trace",
]
