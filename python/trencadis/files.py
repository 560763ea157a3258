"""Matrices in files: .npy and .mtx (Matrix Market). Reading never runs code from a file; writing is all or nothing."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from math import prod
from pathlib import Path
from secrets import token_hex
from typing import IO

import numpy as np

from . import _core
from .errors import UsageError
from .matrix_market import checked

_SUFFIXES = (".npy", ".mtx")
_ARCHIVE = (".npz",)
_NUMBERS = "biufc"  #: kinds of dtypes
_TEMPORARY = ".trencadis."  #: how names of files begin that take another's place: a name of its own may be as long as any


def read_matrix(path: str | Path, note: Callable[[str], None] | None = None) -> np.ndarray:
    """The array in the file, with one or two dimensions of numbers. A sparse matrix is made dense, which `note` is told.

    Raises UsageError for a file that cannot be read, is damaged or holds something else, MemoryError for one too large.
    """
    path = Path(path)
    reader = {".npy": _read_npy, ".mtx": _read_mtx}.get(_suffix(path))
    if reader is None:
        raise UsageError(f"{path}: cannot tell the format from the name; give a file called {' or '.join(_SUFFIXES)}")
    try:
        array = reader(path, note or (lambda message: None))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    if array.dtype.kind not in _NUMBERS:
        raise UsageError(f"{path}: holds {array.dtype}, not numbers")
    if array.ndim not in (1, 2):
        raise UsageError(f"{path}: holds an array of shape {array.shape}; a matrix or a vector is needed")
    return array


def write_matrix(path: str | Path, array: np.ndarray) -> None:
    """Writes the array in the format of the suffix; the file is there in full or not at all."""
    path = Path(path)
    _require_suffix(path, _SUFFIXES)
    with _replacing(path) as (file,):
        if _suffix(path) == ".npy":
            _write_npy(file, array)
        else:
            from scipy.io import mmwrite

            mmwrite(file, array[:, None] if array.ndim == 1 else array, symmetry="general")


def _write_npy(file: IO[bytes], array: np.ndarray) -> None:
    """By `write`, which says why it fails, and takes pipes; NumPy's own way does neither."""
    header = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(file, header)
    plain = np.asarray(array, order="F" if header["fortran_order"] else "C")
    if plain.size:
        file.write(memoryview(plain.ravel(order="K").view(np.uint8)))


def write_text(path: str | Path, text: str) -> None:
    """Writes the text; the file is there in full or not at all."""
    write_texts({Path(path): text})


def write_texts(texts: Mapping[Path, str]) -> None:
    """Writes several files that belong together; they are all there in full, or none of them."""
    with _replacing(*texts) as files:
        for file, text in zip(files, texts.values(), strict=True):
            file.write(text.encode())


def write_bytes(path: str | Path, content: bytes) -> None:
    """Writes the bytes; the file is there in full or not at all."""
    with _replacing(Path(path)) as (file,):
        file.write(content)


def write_arrays(path: str | Path, **arrays: np.ndarray) -> None:
    """Writes the arrays by their names as .npz, which numpy.load reads; the file is there in full or not at all."""
    _require_suffix(Path(path), _ARCHIVE)
    with _replacing(Path(path)) as (file,):
        np.savez(file, allow_pickle=False, **arrays)


def check_output(path: str | Path, *, archive: bool = False) -> None:
    """Raises UsageError when `write_matrix`, or with `archive` `write_arrays`, could not write this file: to be called before a
    long computation."""
    _require_suffix(Path(path), _ARCHIVE if archive else _SUFFIXES)
    check_writable(path)


def check_writable(path: str | Path) -> None:
    """Raises UsageError when a file of this name could not be written now."""
    target = _target(Path(path))
    if _is_special(target):
        if not os.access(target, os.W_OK):
            raise UsageError(f"{path}: cannot be written: no permission")
        return
    try:
        handle, probe = tempfile.mkstemp(prefix=_TEMPORARY, dir=target.parent)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror} (folder {target.parent})") from None
    os.close(handle)
    Path(probe).unlink()


def _suffix(path: Path) -> str:
    return path.suffix.lower()


def _require_suffix(path: Path, known: tuple[str, ...]) -> None:
    if _suffix(path) not in known:
        raise UsageError(f"{path}: cannot tell the format to write from the name; give a file called {' or '.join(known)}")


def _target(path: Path) -> Path:
    """Where the data go: through links; UsageError for what is there and must not be replaced."""
    _refuse_long_name(path)
    if _is_special(path):
        return path
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise UsageError(f"{path}: cannot be written: it is a folder")
    if not target.parent.is_dir():
        raise UsageError(f"{path}: cannot be written: there is no folder {target.parent}")
    if target.exists() and not os.access(target, os.W_OK):
        raise UsageError(f"{path}: exists and cannot be written: no permission")
    return target


def _refuse_long_name(path: Path) -> None:
    """Which a temporary name would not be."""
    try:
        path.lstat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise UsageError(f"{path}: cannot be written: {error.strerror}") from None


def _is_special(path: Path) -> bool:
    """A device, a pipe or a stream of ours, as /dev/stdout is: written as it is, because replacing it would remove it."""
    if not path.exists() or path.is_dir():
        return False
    return not path.is_file() or _is_stream(path)


def _is_stream(path: Path) -> bool:
    """Do its links lead through /proc/.../fd, as those of /dev/stdout and /dev/fd/3 do? What is behind is open already, and may
    be a plain file; other plain files below /dev, those of /dev/shm, are replaced as any."""
    while True:
        folder = Path(os.path.realpath(path.parent))
        if folder.parts[1:2] == ("proc",) and folder.name == "fd":
            return True
        path = folder / path.name
        if not path.is_symlink():
            return False
        path = folder / path.readlink()


@contextmanager
def _replacing(*paths: Path) -> Iterator[list[IO[bytes]]]:
    """Files that take the place of these once all of them have been written whole and are on the disk."""
    targets = [_target(path) for path in paths]
    temporaries: dict[Path, Path] = {}
    at = targets[0]
    try:
        with ExitStack() as opened:
            files: list[IO[bytes]] = []
            for at in targets:
                files.append(opened.enter_context(_opened(at, temporaries)))
            yield files
            for at, file in zip(targets, files, strict=True):
                file.flush()
                if at in temporaries:
                    _take_mode(file, at)
                    os.fsync(file.fileno())
        for at, temporary in temporaries.items():
            temporary.replace(at)
    except OSError as error:
        raise UsageError(f"{at}: cannot be written: {error.strerror or error}") from None
    finally:
        for temporary in temporaries.values():
            with suppress(OSError):
                temporary.unlink()


def _opened(target: Path, temporaries: dict[Path, Path]) -> IO[bytes]:
    if _is_special(target):
        return target.open("ab" if target.is_file() else "wb")
    name = target.parent / f"{_TEMPORARY}{token_hex(8)}"
    # A new file's mode is the system's to lower: asking for the umask would set it, for all threads.
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if target.exists() else 0o666)
    temporaries[target] = name
    return os.fdopen(handle, "wb")


def _take_mode(file: IO[bytes], target: Path) -> None:
    """Of the file it replaces."""
    with suppress(FileNotFoundError):
        os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))


def require_memory(path: Path, size: float, what: str) -> None:
    """Raises MemoryError when `what` would need more than there is: Linux grants more than it can keep, and then kills."""
    available = _core.available_memory()
    if size > available:
        raise MemoryError(f"{path}: {what} needs {size / 1e9:.1f} GB of memory; {available / 1e9:.1f} GB are available")


def _read_npy(path: Path, note: Callable[[str], None]) -> np.ndarray:
    """Reads from the first byte to the last without going back, so that a pipe will do."""
    with path.open("rb") as file:
        shape, by_columns, dtype = _npy_header(path, file)
        if dtype.hasobject:
            raise UsageError(f"{path}: holds pickled Python objects, which are never loaded; save an array of numbers")
        if dtype.kind not in _NUMBERS:
            raise UsageError(f"{path}: holds {dtype}, not numbers")
        count = prod(int(extent) for extent in shape)
        needed = dtype.itemsize * count
        if _is_file(file):
            _require_bytes(path, os.fstat(file.fileno()).st_size - file.tell(), needed, shape, dtype)
        require_memory(path, needed, f"an array of shape {shape}")
        array = np.empty(count, dtype)
        _require_bytes(path, _read_into(file, array), needed, shape, dtype)
    return array.reshape(shape, order="F" if by_columns else "C")


def _is_file(file: IO[bytes]) -> bool:
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def _require_bytes(path: Path, here: int, needed: int, shape: tuple[int, ...], dtype: np.dtype) -> None:
    if here < needed:
        raise UsageError(f"{path}: is truncated: {here} of {needed} bytes are there for an array of shape {shape}, {dtype}")


def _read_into(file: IO[bytes], array: np.ndarray) -> int:
    """Fills the array; the number of bytes that were there."""
    if array.nbytes == 0:
        return 0
    view, done = memoryview(array.view(np.uint8)), 0
    while done < len(view) and (count := file.readinto(view[done:])):
        done += count
    return done


def _npy_header(path: Path, file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read(file)
        if any(isinstance(extent, bool) or extent < 0 for extent in shape):
            raise ValueError(f"the shape is {shape}")
        return shape, by_columns, dtype
    except OSError:
        raise
    except Exception as error:  # numpy parses the header as Python, and a damaged one raises what the parser raises
        if _is_file(file) and os.fstat(file.fileno()).st_size == 0:
            raise UsageError(f"{path}: is empty") from None
        raise UsageError(f"{path}: is not a .npy file, or its header is damaged: {_first_line(error)}") from None


def _read_mtx(path: Path, note: Callable[[str], None]) -> np.ndarray:
    from scipy.io import mminfo, mmread
    from scipy.sparse import issparse

    text = checked(path, path.read_bytes())
    try:
        rows, cols, entries, layout, field, _ = mminfo(io.BytesIO(text))
        item = 16 if field == "complex" else 8
        require_memory(path, float(rows) * cols * item, f"a dense {rows} x {cols} matrix")
        if layout == "array" and rows * cols == 0:  # SciPy's reader divides by the number of rows
            return np.empty((rows, cols), complex if field == "complex" else float)
        matrix = mmread(io.BytesIO(text))
    except OSError:
        raise
    except (ValueError, OverflowError, TypeError, EOFError) as error:
        raise UsageError(f"{path}: is not a Matrix Market file, is truncated or damaged: {_first_line(error)}") from None
    if not issparse(matrix):
        return np.asarray(matrix)
    note(f"{path}: made dense: {entries} stored entries of a sparse {rows} x {cols} matrix, {rows * cols * item / 1e6:.1f} MB")
    return matrix.toarray(order="F")


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def warn(message: str) -> None:
    """One line for the person at the terminal; whether it can be read changes nothing of what is done."""
    with suppress(OSError):
        print(f"trencadis: {message}", file=sys.stderr)
