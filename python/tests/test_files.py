"""Reading and writing matrices."""

import io
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
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


@pytest.mark.parametrize(("shape", "field"), [((0, 0), "real"), ((0, 3), "integer"), ((3, 0), "complex"), ((0, 0), "complex")])
def test_a_dense_matrix_market_file_of_nothing_is_nothing(tmp_path, shape, field):
    """SciPy's reader ends the process."""
    text = f"%%MatrixMarket matrix array {field} general\n{shape[0]} {shape[1]}\n"
    (tmp_path / "a.mtx").write_text(text)
    assert files.read_matrix(tmp_path / "a.mtx").shape == shape


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.npy", b"", "is empty"),
        (
            "a.npy",
            b"\x93NUMPY\x01\x00\x40\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (True, 3), } \n" + bytes(24),
            "header is damaged",
        ),
        ("a.npy", b"junk" * 30, "is not a .npy file"),
        ("a.npy", b"\x93NUMPY\x01\x00\xff\xff{'descr'", "header is damaged"),
        ("a.npy", b"\x93NUMPY\x09\x00\x02\x00{}", "is not a .npy file, or its header is damaged"),
        ("a.mtx", b"", "is not a Matrix Market file"),
        ("a.mtx", b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 5\n", "truncated"),
        ("a.mtx", b"%%MatrixMarket matrix coordinate real general\n3 3 1\n4 1 5\n", "damaged"),
        ("a.mtx", b"%%MatrixMarket matrix array real general\n2 2\n1\n2\nx\n4\n", "a.mtx:5: 'x' is not a number"),
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

    def fail(file, array):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_write_npy", fail)
    with pytest.raises(UsageError, match="x.npy: cannot be written: No space left on device"):
        files.write_matrix(path, np.zeros(5))
    assert np.array_equal(np.load(path), np.ones(3)) and names_in(tmp_path) == ["x.npy"]


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(file, array):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "_write_npy", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.write_matrix(tmp_path / "x.npy", np.zeros(5))
    assert names_in(tmp_path) == []


def test_modes_and_links_are_kept_and_devices_not_replaced(tmp_path):
    path = tmp_path / "x.npy"
    files.write_matrix(path, np.ones(1))
    (tmp_path / "plain").touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    path.chmod(0o640)
    (tmp_path / "link.npy").symlink_to(path)
    files.write_matrix(tmp_path / "link.npy", np.zeros(2))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640 and (tmp_path / "link.npy").is_symlink() and np.load(path).shape == (2,)
    files.write_text("/dev/null", "nothing")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    with pytest.raises(UsageError, match="No space left on device"):
        files.write_text("/dev/full", "x" * 100_000)


def test_the_umask_is_never_another(tmp_path, monkeypatch):
    """It is that of all threads, and their files would get its mode."""
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the umask was set"))
    files.write_matrix(tmp_path / "x.npy", np.ones(1))


def test_what_replaces_a_file_is_never_more_open(tmp_path, monkeypatch):
    path, modes = tmp_path / "x.npy", []
    files.write_matrix(path, np.ones(1))
    path.chmod(0o600)
    write = files._write_npy

    def look(file, array):
        modes.append(stat.S_IMODE(os.fstat(file.fileno()).st_mode))
        write(file, array)

    monkeypatch.setattr(files, "_write_npy", look)
    files.write_matrix(path, np.zeros(1))
    assert modes == [0o600] and stat.S_IMODE(path.stat().st_mode) == 0o600


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


def test_names_may_be_as_long_as_the_system_takes_them(tmp_path):
    longest = "x" * 251 + ".npy"
    for name in (longest, "é" * 125 + ".npy"):
        files.check_output(tmp_path / name)
        files.write_matrix(tmp_path / name, np.ones(2))
        assert np.array_equal(files.read_matrix(tmp_path / name), np.ones(2))
    for write in (files.check_output, lambda path: files.write_matrix(path, np.ones(2))):
        with pytest.raises(UsageError, match="cannot be written: File name too long"):
            write(tmp_path / f"x{longest}")
    assert len(names_in(tmp_path)) == 2


BANNER = "%%MatrixMarket matrix "


@pytest.mark.parametrize("end", ["\n", "\r\n", " \t\n"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("array real general|2 1|4d1|-.5D-2", [[40], [-0.005]]),
        ("coordinate real general|2 2 2|1 1 4d1|2 2 3.E0", [[40, 0], [0, 3]]),
        ("coordinate real symmetric|2 2 2|1 1 1d+2|2 1 3", [[100, 3], [3, 0]]),
        ("coordinate complex hermitian|2 2 2|1 1 1d0 0|2 1 1 2D0", [[1, 1 - 2j], [1 + 2j, 0]]),
        ("array complex general|1 2|1d1 1d-1|0 2", [[10 + 0.1j, 2j]]),
    ],
)
def test_exponents_of_fortran_are_exponents(tmp_path, text, expected, end):
    (tmp_path / "a.mtx").write_bytes((BANNER + text.replace("|", end) + end).encode())
    assert np.array_equal(files.read_matrix(tmp_path / "a.mtx"), expected)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("array real general|2 1|4|3garbage", 4, "'3garbage' is not a number"),
        ("array real general|2 1|4|3 7", 4, "2 words, where the file's first line promises 1"),
        ("array real general|2 1|4d|3", 3, "'4d' is not a number"),
        ("array real general|2 1|1.5+10|3", 3, "is not a number"),
        ("array real general|2 1|0x10|3", 3, "is not a number"),
        ("array real general|2 1|1,5|3", 3, "is not a number"),
        ("array integer general|2 1|1.5|3", 3, "'1.5' is not a whole number"),
        ("array complex general|1 1|1", 3, "1 words"),
        ("coordinate real general|2 2 1|1.5 1 3", 3, "'1.5' is not a whole number"),
        ("coordinate real general|2 2 1|1 1 3x", 3, "'3x' is not a number"),
        ("coordinate real general|2 2 1|1 1", 3, "2 words, where the file's first line promises 3"),
        ("coordinate complex general|2 2 1|1 1 2 3i", 3, "'3i' is not a number"),
        ("coordinate pattern symmetric|2 2 1|2 1 7", 3, "3 words"),
        ("coordinate integer symmetric|2 2 1|2 1 7.0", 3, "'7.0' is not a whole number"),
        ("coordinate real general|2 2 1x|1 1 3", 2, "'1x' is not a whole number"),
        ("coordinate real general|2 2|1 1 3", 2, "2 words"),
        ("coordinate real general|% a|% b|2 2 2|1 1 3|||2 2 é", 8, "is not a number"),
    ],
)
def test_what_begins_as_a_number_and_is_none_is_refused_with_its_line(tmp_path, text, line, message):
    (tmp_path / "a.mtx").write_text(BANNER + text.replace("|", "\n"))
    with pytest.raises(UsageError) as caught:
        files.read_matrix(tmp_path / "a.mtx")
    assert f"a.mtx:{line}: " in str(caught.value) and message in str(caught.value) and "\n" not in str(caught.value)


def test_a_wrong_word_far_down_is_found(tmp_path):
    lines = ["1.5"] * 2_000_000
    lines[1_999_990] = "1.5e"
    (tmp_path / "a.mtx").write_text(BANNER + "array real general\n2000000 1\n" + "\n".join(lines))
    with pytest.raises(UsageError, match="a.mtx:1999993: '1.5e' is not a number"):
        files.read_matrix(tmp_path / "a.mtx")


def test_a_pipe_gets_all_of_a_matrix(tmp_path):
    os.mkfifo(tmp_path / "f.npy")
    with ThreadPoolExecutor() as pool:
        read = pool.submit(lambda: (tmp_path / "f.npy").read_bytes())
        files.write_matrix(tmp_path / "f.npy", np.ones((300, 300)))
        assert np.array_equal(np.load(io.BytesIO(read.result())), np.ones((300, 300)))
    assert stat.S_ISFIFO((tmp_path / "f.npy").stat().st_mode)


@contextmanager
def files_of_at_most(size):
    """What a full disk does: a write takes a part, and the next one nothing."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("name", ["x.npy", "x.mtx", "x.npz", "x.NPY"])
def test_where_there_is_no_room_the_reason_is_told_and_nothing_is_left(tmp_path, name):
    with files_of_at_most(2160), pytest.raises(UsageError, match=f"{name}: cannot be written: File too large"):
        if name == "x.npz":
            files.write_arrays(tmp_path / name, lu=np.random.default_rng(1).random((300, 300)))
        else:
            files.write_matrix(tmp_path / name, np.ones((300, 300)))
    assert names_in(tmp_path) == []


def test_files_that_belong_together_are_all_there_or_none(tmp_path):
    (tmp_path / "t.prv").write_text("old")
    texts = {tmp_path / "t.prv": "short", tmp_path / "t.pcf": "x" * 5000, tmp_path / "t.row": "short"}
    with files_of_at_most(2160), pytest.raises(UsageError, match="t.pcf: cannot be written: File too large"):
        files.write_texts(texts)
    assert names_in(tmp_path) == ["t.prv"] and (tmp_path / "t.prv").read_text() == "old"
    files.write_texts(texts)
    assert {path: path.read_text() for path in texts} == texts


def test_a_full_device_says_so():
    with pytest.raises(UsageError, match="/dev/full: cannot be written: No space left on device"):
        files.write_text("/dev/full", "x" * 100_000)


def test_our_own_streams_are_written_as_they_are(tmp_path):
    script = 'from trencadis import files; files.check_writable("/dev/stdout"); files.write_text("/dev/stdout", "rows")'
    piped = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert (piped.stdout, piped.stderr) == ("rows", "")
    with (tmp_path / "out").open("w") as out:
        subprocess.run([sys.executable, "-c", script], stdout=out, check=True, timeout=300)
    assert (tmp_path / "out").read_text() == "rows" and names_in(tmp_path) == ["out"]


@pytest.fixture
def memory_folder():
    """A folder of plain files below /dev."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="/dev/shm is not there, or not ours to write")
def test_a_plain_file_below_dev_is_replaced_as_any(memory_folder):
    """What was added to its end was never read."""
    for value in (1.0, 2.0):
        files.check_output(memory_folder / "x.npy")
        files.write_matrix(memory_folder / "x.npy", np.full(3, value))
        assert np.array_equal(files.read_matrix(memory_folder / "x.npy"), np.full(3, value))
    assert names_in(memory_folder) == ["x.npy"]


@pytest.mark.parametrize("through", ["/dev/fd/{}", "/proc/self/fd/{}", "link"])
def test_a_file_that_is_open_is_written_on_from_its_end(tmp_path, through):
    with (tmp_path / "out").open("w") as out:
        out.write("above\n")
        out.flush()
        name = through.format(out.fileno())
        if through == "link":
            (tmp_path / "between").symlink_to(f"/dev/fd/{out.fileno()}")
            name = tmp_path / "link"
            name.symlink_to("between")
        files.write_text(name, "rows")
    assert (tmp_path / "out").read_text() == "above\nrows" and not (tmp_path / "out").is_symlink()
