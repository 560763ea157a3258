"""Arrays that lie on a session's devices: taken there, computed with there, and given back there.

They come by DLPack or `__cuda_array_interface__` from other libraries, or are made by `Session.device_array`. The functions of
the package that take them look at shapes here and never at values; what is not offered for them is refused in one line.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from operator import index
from typing import Any

import numpy as np

from . import _core
from .checks import pair, shown, whole_number, word
from .session import current

#: DLPack's kinds of memory that the processor reads: its own, and what CUDA and ROCm have page-locked.
HOST_MEMORY = (1, 3, 11)
_WORDS = {2: "cuda", 4: "opencl", 7: "vulkan", 8: "metal", 10: "rocm", 12: "emulated", 13: "cuda", 14: "oneapi", 15: "webgpu"}
#: What a back end's memory is for others; emulated devices are nobody else's kind.
_KINDS = {"cuda": 2, "opencl": 4, "emulated": 12}
#: CUDA's default stream, on which whoever exports makes the data ready.
_LEGACY_STREAM = 1
_ADDRESSES = 1 << 64


class DeviceArray:
    """An array of one or two dimensions on a device of a session. Its memory is given back when nobody has it any more.

    Others take it by DLPack, and from CUDA devices by `__cuda_array_interface__`; `to_host` copies it. Everything that was to be
    computed in it has been: there is no stream to wait for.
    """

    def __init__(
        self, memory: Any, session: _core.Session, dtype: np.dtype, shape: tuple[int, ...], strides: tuple[int, ...],
        offset: int = 0, read_only: bool = False,
    ) -> None:  # fmt: skip
        self._memory, self._session, self._offset, self.read_only = memory, session, offset, read_only
        #: Strides are in elements.
        self.dtype, self.shape, self.element_strides = dtype, shape, strides

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """In bytes, as NumPy has them."""
        return tuple(stride * self.dtype.itemsize for stride in self.element_strides)

    @property
    def device(self) -> int:
        """Its number among the session's, from 0."""
        return self._memory.device

    @property
    def T(self) -> DeviceArray:
        """The same memory, transposed."""
        return DeviceArray(
            self._memory, self._session, self.dtype, self.shape[::-1], self.element_strides[::-1], self._offset, self.read_only
        )

    def to_host(self) -> np.ndarray:
        """A copy in the host's memory, of the same order."""
        return Matrix.of(self, "the array").to_host(self.shape)

    def copy(self) -> DeviceArray:
        """A copy on the same device, of the same order."""
        return Matrix.of(self, "the array").copy(self._session, self.shape)

    def __repr__(self) -> str:
        where = _core.device_names(self._session)[self.device]
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, device='{where}')"

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError("the array lies on a device, and NumPy reads the host's memory: copy it there with to_host()")

    def __dlpack_device__(self) -> tuple[int, int]:
        word, _, number = _core.device_names(self._session)[self.device].partition(" ")
        return _KINDS[word], int(number or 0)

    def __dlpack__(
        self, *, stream: Any = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:  # fmt: skip
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the array lies on device {self.__dlpack_device__()}, and {tuple(dl_device)} was asked for")
        if copy:
            return self.copy().__dlpack__(stream=stream, max_version=max_version)
        versioned = max_version is not None and max_version[0] >= 1
        if self.read_only and not versioned:
            raise BufferError("the array is read-only, which DLPack says from version 1.0 on: ask for it with max_version=(1, 0)")
        return _core.export_dlpack(
            self, self._memory, self._offset, self.dtype.char, *self.__dlpack_device__(), list(self.shape),
            list(self.element_strides), versioned, self.read_only,
        )  # fmt: skip

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.__dlpack_device__()[0] != _KINDS["cuda"]:
            raise AttributeError("the array does not lie on a device of CUDA's")
        memory, offset = self._memory.outside
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (memory + offset + self._offset, self.read_only),
            "strides": self.strides, "version": 3, "stream": None,
        }  # fmt: skip


@dataclass
class Matrix:
    """A matrix by columns, on a device or in the host's memory, of which nobody looks at an element."""

    address: int
    dtype: np.dtype
    rows: int
    cols: int
    ld: int
    by_rows: bool  #: what is by columns here is the caller's matrix transposed
    device: int | None
    name: str
    read_only: bool
    owner: Any  #: which keeps the memory

    @classmethod
    def of(cls, array: DeviceArray | np.ndarray, name: str) -> Matrix:
        """A vector is one column."""
        if isinstance(array, DeviceArray):
            strides, address, device = array.element_strides, array._memory.address + array._offset, array.device
            read_only = array.read_only
        else:
            item = array.dtype.itemsize
            if array.dtype.char not in "fdFD" or not array.dtype.isnative:
                raise ValueError(f"{name} has dtype {array.dtype}; beside arrays on a device float32, float64, complex64 and "
                                 "complex128 are taken, in this machine's byte order")  # fmt: skip
            if not array.flags.aligned or any(s % item for s in array.strides):
                raise ValueError(f"{name} has strides of {array.strides} bytes, or an address, that are no whole elements of "
                                 f"{array.dtype}; give a copy")  # fmt: skip
            strides, address, device = tuple(s // item for s in array.strides), array.ctypes.data, None
            read_only = not array.flags.writeable
        if array.ndim not in (1, 2):
            raise ValueError(f"{name} has the shape {array.shape}; arrays on a device are vectors and matrices")
        shape = array.shape if array.ndim == 2 else (*array.shape, 1)
        strides = strides if array.ndim == 2 else (*strides, max(1, array.shape[0]))
        by_rows = not _by_columns(shape, strides)
        if by_rows and not _by_columns(shape[::-1], strides[::-1]):
            right = "one of them must be 1, the other at least the length of that side, and none negative"
            raise ValueError(f"{name} has strides of {strides} elements; of arrays beside those on a device {right}")
        if by_rows:
            shape, strides = shape[::-1], strides[::-1]
        ld = strides[1] if shape[1] > 1 and prod(shape) else max(1, shape[0])
        return cls(address, array.dtype, *shape, ld, by_rows, device, name, read_only, array)

    def to_host(self, shape: tuple[int, ...]) -> np.ndarray:
        columns = np.empty((self.cols, self.rows), self.dtype)
        session = self.owner._session
        _core.copy_from_device(
            session, self.address, self.ld, columns.ctypes.data, max(1, self.rows), self.rows, self.cols, self.dtype.itemsize
        )
        return (columns if self.by_rows else columns.T).reshape(shape, order="C" if self.by_rows else "F")

    def copy(self, session: _core.Session, shape: tuple[int, ...]) -> DeviceArray:
        fresh = empty(session, self.device, self.dtype, shape, self.by_rows)
        address = Matrix.of(fresh, "the copy").address
        _core.copy_on_device(
            session, address, max(1, self.rows), self.address, self.ld, self.rows, self.cols, self.dtype.itemsize
        )
        return fresh

    def copy_to(self, vector: Matrix) -> None:
        """From a vector without gaps to one that may have some, which is by rows then."""
        _core.copy_on_device(vector.owner._session, vector.address, vector.ld, self.address, 1, 1, self.rows, self.dtype.itemsize)

    def require_writable(self) -> None:
        if self.read_only:
            raise ValueError(f"{self.name} is read-only, and is to be written")

    def span(self) -> tuple[int, int]:
        """Of its memory. CUDA's that was adopted twice has two addresses here, and one there."""
        bytes_ = ((self.cols - 1) * self.ld + self.rows) * self.dtype.itemsize if self.rows and self.cols else 0
        begin = self.address
        if isinstance(self.owner, DeviceArray) and self.owner.__dlpack_device__()[0] == _KINDS["cuda"]:
            begin = sum(self.owner._memory.outside) + self.owner._offset
        return begin, begin + bytes_


def _by_columns(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    (rows, cols), (row, col) = shape, strides
    return 0 in shape or ((row == 1 or rows == 1) and (cols == 1 or col >= rows) and (rows == 1 or row > 0))


def empty(session: _core.Session, device: int, dtype: np.dtype, shape: tuple[int, ...], by_rows: bool = False) -> DeviceArray:
    """Nothing has been written there."""
    memory = _core.allocate_on(session, device, max(1, prod(shape) * dtype.itemsize))
    strides = [1] * len(shape)
    order = range(len(shape) - 1, -1, -1) if by_rows else range(len(shape))
    step = 1
    for i in order:
        strides[i] = step
        step *= max(1, shape[i])
    return DeviceArray(memory, session, dtype, tuple(shape), tuple(strides))


def device_array(session: _core.Session, array: Any, device: int = 0) -> DeviceArray:
    """A copy of an array of the host's on that device; what is by columns stays so, all else is by rows."""
    if not isinstance(device, int) or isinstance(device, bool):
        raise TypeError(f"device is {device!r}, must be the number of a device of the session, from 0")
    if not 0 <= device < 2**31:
        raise ValueError(f"device is {shown(device)}, must be the number of a device of the session, from 0")
    host = np.asarray(array)
    if host.dtype.char not in "fdFD":
        raise ValueError(f"the array has dtype {host.dtype}; on devices are float32, float64, complex64 and complex128")
    if host.ndim not in (1, 2):
        raise ValueError(f"the array has the shape {host.shape}; on devices are vectors and matrices")
    by_rows = host.ndim == 2 and not host.flags.f_contiguous
    host = np.require(host, host.dtype.newbyteorder("="), ["C" if by_rows else "F", "A"])
    there = empty(session, device, host.dtype, host.shape, by_rows)
    to, source = Matrix.of(there, "the copy"), Matrix.of(host, "the array")
    _core.copy_to_device(session, to.address, to.ld, source.address, max(1, to.rows), to.rows, to.cols, host.dtype.itemsize)
    return there


# ---- whose arrays


def place_of(array: Any) -> tuple[int, int] | None:
    """DLPack's kind and number of the device that an array of any library lies on; None: the host's, or nobody says."""
    if isinstance(array, np.ndarray):
        return None
    asked = getattr(array, "__dlpack_device__", None)
    if asked is not None:
        kind, number = _kind_and_number(asked())
        return None if kind in HOST_MEMORY else (kind, number)
    if getattr(array, "__cuda_array_interface__", None) is not None:
        return _KINDS["cuda"], -1
    return None


def _kind_and_number(said: Any) -> tuple[int, int]:
    try:
        kind, number = said
        return index(kind), index(number)
    except (TypeError, ValueError):
        raise TypeError(f"__dlpack_device__ returned {shown(said)}, must be the kind and the number of a device") from None


def word_of(place: tuple[int, int]) -> str:
    kind, number = place
    word = _WORDS.get(kind, f"of kind {kind}")
    return word if number < 0 else f"{word}:{number}"


def any_on_device(*arrays: Any) -> bool:
    """Is one of them on a device of the current session? Then none of them is read."""
    for array in arrays:
        if isinstance(array, np.ndarray):
            continue
        if isinstance(array, DeviceArray):
            return True
        place = place_of(array)
        if place is not None and _numbers(session_here(), place):
            return True
    return False


def session_here() -> _core.Session:
    session = current.get()
    return _core.standard_session() if session is None else session


def _numbers(session: _core.Session, place: tuple[int, int]) -> list[int]:
    """The devices of the session that it may be."""
    kind, number = place
    word = "cuda" if kind == 13 else _WORDS.get(kind, "")
    if kind not in (*_KINDS.values(), 13):
        return []
    names = [name.partition(" ")[::2] for name in _core.device_names(session)]
    return [i for i, (its, ordinal) in enumerate(names) if its == word and number in (-1, int(ordinal or 0))]


def taken(array: Any, name: str) -> DeviceArray | np.ndarray:
    """As a DeviceArray of the current session where it lies on one of its devices, else as NumPy reads it."""
    session = session_here()
    if isinstance(array, DeviceArray):
        if array._session is not session:
            raise ValueError(f"{name} lies on a device of another session")
        return array
    place = place_of(array)
    if place is None:
        from .conversion import on_host

        return np.asarray(on_host(array))
    numbers = _numbers(session, place)
    if not numbers:
        has = ", ".join(_core.device_names(session)) or "none"
        raise ValueError(f"{name} lies on device {word_of(place)}, and the devices of this session are: {has}")
    if hasattr(array, "__dlpack__"):
        return _by_dlpack(session, array, numbers[0], name)
    return _by_cuda_interface(session, array.__cuda_array_interface__, array, numbers, name)


def _by_dlpack(session: _core.Session, array: Any, device: int, name: str) -> DeviceArray:
    cuda = array.__dlpack_device__()[0] in (2, 13)
    stream = {"stream": _LEGACY_STREAM} if cuda else {}
    try:
        capsule = array.__dlpack__(max_version=(1, 0), **stream)
    except TypeError:  # of a version before
        capsule = array.__dlpack__(**stream)
    tensor = _core.Tensor(capsule)
    if tensor.type not in ("f", "d", "F", "D"):
        right = "on devices float32, float64, complex64 and complex128 are taken"
        raise ValueError(f"{name} has elements of DLPack's {tensor.type}; {right}")
    dtype = np.dtype(tensor.type)
    where = tensor.memory + tensor.byte_offset
    strides = tuple(tensor.strides)
    adopted = _adopted(session, [device], where, dtype, tuple(tensor.shape), strides, tensor.read_only, tensor, name)
    if cuda:
        _core.synchronize_device(session, device, _LEGACY_STREAM)
    return adopted


def _by_cuda_interface(session: _core.Session, said: Any, owner: Any, numbers: list[int], name: str) -> DeviceArray:
    whose = f"{name}'s __cuda_array_interface__"
    if not isinstance(said, dict):
        raise TypeError(f"{whose} is {shown(said)}, must be a dictionary")
    if missing := [key for key in ("shape", "typestr", "data") if key not in said]:
        raise ValueError(f"{whose} has no '{missing[0]}'; it must have shape, typestr and data")
    if said.get("mask") is not None:
        raise ValueError(f"{name} has a mask, and masked arrays are not supported")
    try:
        dtype = np.dtype(word("typestr", said["typestr"]))
    except TypeError:
        raise TypeError(f"{whose} has the typestr {shown(said['typestr'])}, must be one such as '<f8'") from None
    if dtype.char not in "fdFD" or not dtype.isnative:
        raise ValueError(f"{name} has dtype {dtype}; on devices float32, float64, complex64 and complex128 are taken")
    shape = _whole_numbers(said["shape"], f"{whose}: shape")
    if said.get("strides") is not None:
        strides = _whole_numbers(said["strides"], f"{whose}: strides")
    else:
        strides = tuple(prod(shape[i + 1 :]) * dtype.itemsize for i in range(len(shape)))
    if any(stride % dtype.itemsize for stride in strides):
        raise ValueError(f"{name} has strides of {shown(strides)} bytes, which are no whole elements of {dtype}")
    stream = said.get("stream") if said.get("version", 0) >= 3 else None
    if stream == 0:
        raise ValueError(f"{name} says stream 0, which __cuda_array_interface__ leaves to nobody: 1 or 2 are the default streams")
    if stream is not None and not 0 < whole_number(f"{whose}: stream", stream) < _ADDRESSES:
        raise ValueError(f"{whose} has the stream {shown(stream)}; 1 and 2 are the default streams, others an address")
    memory, read_only = pair(f"{whose}: data", said["data"])
    memory = whole_number(f"{whose}: data", memory)
    elements = tuple(stride // dtype.itemsize for stride in strides)
    adopted = _adopted(session, numbers, memory, dtype, shape, elements, bool(read_only), owner, name)
    if stream is not None:  # of the device that has the memory, which only adopting it tells
        _core.synchronize_device(session, adopted.device, int(stream))
    return adopted


def _whole_numbers(said: Any, what: str) -> tuple[int, ...]:
    try:
        return tuple(index(number) for number in said)
    except TypeError:
        raise TypeError(f"{what} is {shown(said)}, must be whole numbers") from None


def _adopted(
    session: _core.Session, devices: list[int], where: int, dtype: np.dtype, shape: tuple[int, ...], strides: tuple[int, ...],
    read_only: bool, owner: Any, name: str,
) -> DeviceArray:  # fmt: skip
    """`owner` keeps the memory as long as the array is used."""
    if len(shape) not in (1, 2):
        raise ValueError(f"{name} has the shape {shown(shape)}; arrays on a device are vectors and matrices")
    if min(shape) < 0 or max(shape) >= 2**63:
        raise ValueError(f"{name} has the shape {shown(shape)}; an extent is a number from 0 to 2^63 - 1")
    if len(strides) != len(shape):
        counts = f"{len(strides)} stride{'s' * (len(strides) != 1)} beside a shape of {len(shape)}"
        raise ValueError(f"{name} has {counts}; there must be one for each extent")
    if any(stride < 0 for stride, n in zip(strides, shape, strict=True) if n > 1):
        raise ValueError(f"{name} has strides of {shown(strides)} elements; arrays on a device are taken where none is negative")
    if 0 in shape:
        return empty(session, devices[0], dtype, shape)
    if where % dtype.itemsize:
        within = f"which is no multiple of the {dtype.itemsize} bytes of {dtype}"
        raise ValueError(f"{name} begins at address {where:#x}, {within}; give a copy")
    extent = (sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True)) + 1) * dtype.itemsize
    if where < 0 or where + extent > _ADDRESSES:
        raise ValueError(f"{name} has {shown(extent)} bytes from address {where:#x} on, and no memory lies there")
    for device in devices:
        try:
            memory = _core.adopt(session, device, where, extent)
        except ValueError:
            if device == devices[-1]:
                raise
            continue
        array = DeviceArray(memory, session, dtype, shape, strides, 0, read_only)
        array._owner = owner  # type: ignore[attr-defined]
        return array
    raise AssertionError("there is a device to be tried")
