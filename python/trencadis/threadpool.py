"""threadpoolctl's view of our library: `threadpool_info()` lists it, `threadpool_limits(2)` limits its standard session.

Sessions that a program makes for itself have the workers it asked for and are not limited. Importing the package registers the
controller; programs that use the library without this package can do the same with this class.
"""

from __future__ import annotations

import ctypes
import os
import sys

# What a first import of threadpoolctl allows the OpenMP libraries of this process it would also allow those of all children.
_VARIABLE = "KMP_DUPLICATE_LIB_OK"
_ours = _VARIABLE not in os.environ and "threadpoolctl" not in sys.modules

import threadpoolctl  # noqa: E402

if _ours:
    os.environ.pop(_VARIABLE, None)


class TrencadisController(threadpoolctl.LibController):
    user_api = "blas"
    internal_api = "trencadis"
    filename_prefixes = ("libtrencadis.so",)  # not the libraries that bring it along: one entry is enough
    check_symbols = ("trc_get_num_threads", "trc_set_num_threads")

    def get_num_threads(self) -> int:
        return int(self.dynlib.trc_get_num_threads())

    def set_num_threads(self, num_threads: int) -> None:
        if self.dynlib.trc_set_num_threads(ctypes.c_int(num_threads)):
            message = self.dynlib.trc_last_error_message
            message.restype = ctypes.c_char_p
            raise ValueError(message().decode())

    def get_version(self) -> str:
        version = self.dynlib.trc_version
        version.restype = ctypes.c_char_p
        return version().decode()

    def set_additional_attributes(self) -> None:
        pass


threadpoolctl.register(TrencadisController)
