"""Reading and writing matrices."""

import os
import stat
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import random_array
from trencadis import files
from trencadis.errors import UsageError


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("suffix", [".npy", ".mtx"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128, np.int32])
@pytest.mark.parametrize("shape", [(3, 4), (5,), (1, 1)])
def test_what_is_written_is_read_back(tmp_path, suffix, dtype, shape):
    array = (random_array(shape, np.complex128 if np.dtype(dtype).kind == "c" else np.float64) * 100).astype(dtype)
    files.write_matrix(tmp_path / f"a{suffix}", array)
    again = files.read_matrix(tmp_path / f"a{suffix}")
    assert again.dtype == dtype or suffix == ".mtx"
    assert np.array_equal(again.reshape(shape).astype(dtype), array)
    assert names_in(tmp_path) == [f"a{suffix}"]


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_npy_version_and_order_is_read(tmp_path, version, order):
    array = np.asarray(random_array((4, 3), np.float64), order=order)
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array(file, array, version=version)
    assert np.array_equal(files.read_matrix(tmp_path / "a.npy"), array)


FORMS = [
    (symmetry, sparse, field)
    for symmetry in ("general", "symmetric", "hermitian", "skew-symmetric")
    for sparse in (True, False)
    for field in ("real", "complex", "pattern", "integer")
    if field != "pattern" or (sparse and symmetry in ("general", "symmetric"))
    if field == "complex" or symmetry != "hermitian"
]


@pytest.mark.parametrize(("symmetry", "sparse", "field"), FORMS)
def test_every_matrix_market_form_is_read(tmp_path, symmetry, sparse, field):
    a = np.round(random_array((6, 6), np.complex128 if field == "complex" else np.float64) * 5)
    a = {"general": a, "symmetric": a + a.T, "hermitian": a + a.conj().T, "skew-symmetric": a - a.T}[symmetry]
    if field == "pattern":
        a = (a != 0).astype(float)
    if field == "integer":
        a = a.astype(np.int64)
    scipy.io.mmwrite(tmp_path / "a.mtx", scipy.sparse.coo_array(a) if sparse else a, field=field, symmetry=symmetry)
    notes = []
    assert np.array_equal(files.read_matrix(tmp_path / "a.mtx", notes.append), a)
    assert len(notes) == sparse and (not sparse or "made dense" in notes[0])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.npy", b"", "is empty"),
        ("a.npy", b"junk" * 30, "is not a .npy file"),
        ("a.npy", b"\x93NUMPY\x01\x00\xff\xff{'descr'", "header is damaged"),
        ("a.npy", b"\x93NUMPY\x09\x00\x02\x00{}", "is not a .npy file, or its header is damaged"),
        ("a.mtx", b"", "is not a Matrix Market file"),
        ("a.mtx", b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 5\n", "truncated"),
        ("a.mtx", b"%%MatrixMarket matrix coordinate real general\n3 3 1\n4 1 5\n", "damaged"),
        ("a.mtx", b"%%MatrixMarket matrix array real general\n2 2\n1\n2\nx\n4\n", "damaged"),
        ("a.mtx", b"%%MatrixMarket matrix array real general\n-2 2\n1\n", "damaged"),
        ("a.mtx", b"\x93NUMPY", "is not a Matrix Market file"),
        ("a.txt", b"1 2 3", "cannot tell the format"),
    ],
)
def test_a_damaged_file_is_named_in_one_line(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=message) as caught:
        files.read_matrix(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value) and "\n" not in str(caught.value)


@settings(max_examples=200, deadline=None)
@given(cut=st.integers(0, 400), flip=st.integers(0, 399), value=st.integers(0, 255))
def test_no_damage_to_a_npy_file_is_worse_than_an_error(tmp_path_factory, cut, flip, value):
    path = tmp_path_factory.mktemp("damage") / "a.npy"
    np.save(path, np.arange(34.0).reshape(2, 17))
    raw = bytearray(path.read_bytes()[:cut])
    if flip < len(raw):
        raw[flip] = value
    path.write_bytes(raw)
    try:
        files.read_matrix(path)
    except (UsageError, MemoryError) as error:
        assert "\n" not in str(error)


def test_pickles_are_never_loaded(tmp_path):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "exploded"),)

    np.save(tmp_path / "a.npy", np.array([[Bomb()]], dtype=object), allow_pickle=True)
    with pytest.raises(UsageError, match="pickled Python objects, which are never loaded"):
        files.read_matrix(tmp_path / "a.npy")
    assert not (tmp_path / "exploded").exists()


def test_a_truncated_file_says_how_much_is_there(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((10, 10)))
    raw = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(raw[:-100])
    with pytest.raises(UsageError, match=r"is truncated: 700 of 800 bytes are there for an array of shape \(10, 10\), float64"):
        files.read_matrix(tmp_path / "a.npy")


def test_what_is_no_matrix_of_numbers_is_refused(tmp_path):
    for array, message in (
        (np.array(["x"]), "not numbers"),
        (np.ones((2, 2, 2)), "a matrix or a vector"),
        (np.array(3.0), "a matrix or"),
        (np.zeros(3, [("x", float)]), "not numbers"),
        (np.array(["2020-01-01"], "M8[D]"), "not numbers"),
    ):
        np.save(tmp_path / "a.npy", array)
        with pytest.raises(UsageError, match=message):
            files.read_matrix(tmp_path / "a.npy")


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        files.read_matrix(tmp_path / "none.npy")
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        files.read_matrix(tmp_path / "folder.npy")
    with pytest.raises(UsageError, match="it is a folder"):
        files.write_matrix(tmp_path / "folder.npy", np.ones(1))


def test_a_dense_matrix_beyond_memory_is_refused_before_it_is_made(tmp_path):
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n900000000 900000000 1\n1 1 5\n")
    with pytest.raises(MemoryError, match="needs .* GB of memory; .* GB are available"):
        files.read_matrix(tmp_path / "a.mtx")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "x.npy"
    np.save(path, np.ones(3))

    def fail(file, array, **_):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(UsageError, match="x.npy: cannot be written: No space left on device"):
        files.write_matrix(path, np.zeros(5))
    assert np.array_equal(np.load(path), np.ones(3)) and names_in(tmp_path) == ["x.npy"]


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(file, array, **_):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np.lib.format, "write_array", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.write_matrix(tmp_path / "x.npy", np.zeros(5))
    assert names_in(tmp_path) == []


def test_modes_and_links_are_kept_and_devices_not_replaced(tmp_path):
    path = tmp_path / "x.npy"
    files.write_matrix(path, np.ones(1))
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    path.chmod(0o640)
    (tmp_path / "link.npy").symlink_to(path)
    files.write_matrix(tmp_path / "link.npy", np.zeros(2))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640 and (tmp_path / "link.npy").is_symlink() and np.load(path).shape == (2,)
    files.write_text("/dev/null", "nothing")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    with pytest.raises(UsageError, match="No space left on device"):
        files.write_text("/dev/full", "x" * 100_000)


def test_an_output_is_checked_before_the_work(tmp_path):
    files.check_output(tmp_path / "x.npy")
    assert names_in(tmp_path) == []
    with pytest.raises(UsageError, match="there is no folder"):
        files.check_output(tmp_path / "none" / "x.npy")
    with pytest.raises(UsageError, match="cannot tell the format to write"):
        files.check_output(tmp_path / "x.csv")
    if os.geteuid() == 0:
        return  # nothing is forbidden to root; the command line's test gives that up
    (tmp_path / "x.npy").touch(0o400)
    with pytest.raises(UsageError, match="exists and cannot be written: no permission"):
        files.check_output(tmp_path / "x.npy")
