"""Arrays whose copies stay on a session's devices from call to call."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .session import current


class Residence:
    """What `Session.resident` returns: a `with` block in which copies of the arrays stay on the session's devices.

    Between calls the arrays have the current values as ever, and can be read. After the program has written into one, other than
    by calls of this session, it says so with `touch` before the next call. The arrays are not freed while the block is open.

    >>> with trencadis.session(devices="cuda:0") as s, s.resident(a, b) as kept:
    ...     c = trencadis.matmul(a, b)  # a and b go there
    ...     d = trencadis.matmul(b, a)  # and are there
    ...     a[0] = 1
    ...     kept.touch(a)
    """

    def __init__(self, session: _core.Session, arrays: tuple[Any, ...]) -> None:
        if not arrays:
            raise TypeError("resident() takes the arrays that are to stay on the devices, and none was given")
        self._session, self._arrays = session, arrays

    def __enter__(self) -> Residence:
        begun: list[Any] = []
        try:
            for array in self._arrays:
                self._session.keep(array)
                begun.append(array)
        except BaseException:
            for array in begun:
                self._session.leave(array)
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        for array in self._arrays:
            self._session.leave(array)

    def touch(self, *arrays: Any) -> None:
        """The program has written into these, of all of them where none is named."""
        for array in arrays or self._arrays:
            self._session.touch(array)


def written(array: np.ndarray) -> None:
    """A call of ours has had NumPy write into the array: where it is resident in the current session, its copies go."""
    session = current.get()
    if session is None or array.size == 0:
        return
    ends = [(n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True)]
    below, above = sum(min(0, end) for end in ends), sum(max(0, end) for end in ends)
    session.written(array.ctypes.data + below, above - below + array.itemsize)
