"""Dense linear algebra at the speed of the machine you really have.

    import trencadis
    x = trencadis.solve(a, b)

SciPy's names, arguments and exceptions; see `trencadis.session` to choose workers, scheduler and kernels, and
`trencadis.trace` to record how the cores shared the work. The interpreter lock is released while computing.
"""

import sys as _sys
from pathlib import Path as _Path

import numpy as _numpy

from . import _core
from ._core import BackendError, __version__

# Vendor libraries from PyPI lie in the environment this package runs in: MKL in lib, OpenBLAS beside numpy.
for _folder in (_Path(_sys.prefix) / "lib", _Path(_numpy.__file__).parents[1]):
    _core.add_kernel_library_folder(str(_folder))

from . import lapack  # noqa: E402
from . import threadpool as _threadpool  # noqa: E402, F401
from .incremental import IncrementalLU  # noqa: E402
from .inverse import det, inv  # noqa: E402
from .least_squares import lstsq  # noqa: E402
from .linalg import cho_factor, cho_solve, cholesky  # noqa: E402
from .lu import lu, lu_factor, lu_solve  # noqa: E402
from .products import matmul  # noqa: E402
from .qr import orth, qr, qr_multiply, rq  # noqa: E402
from .session import session, trace  # noqa: E402
from .systems import solve  # noqa: E402
from .threads import get_num_threads, set_num_threads, show_config  # noqa: E402
from .tile_qr import TileQR  # noqa: E402
from .triangular import solve_triangular  # noqa: E402

__all__ = [
    "BackendError",
    "IncrementalLU",
    "TileQR",
    "__version__",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "det",
    "get_num_threads",
    "inv",
    "lapack",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul",
    "orth",
    "qr",
    "qr_multiply",
    "rq",
    "session",
    "set_num_threads",
    "show_config",
    "solve",
    "solve_triangular",
    "trace",
]
