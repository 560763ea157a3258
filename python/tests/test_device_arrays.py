"""Arrays that lie on devices: what is computed with them, given back, and refused. On emulated devices, whose memory nobody else
can read, and on the stand-in for CUDA."""

import gc
import sys

import numpy as np
import pytest
import scipy.linalg
import trencadis
from trencadis import _core
from trencadis.device_arrays import DeviceArray

DTYPES = ("f", "d", "F", "D")


@pytest.fixture(params=["emulated:2,memory=32MiB", "emulated:2,memory=32MiB,factors=yes"])
def session(request):
    """Of devices that leave factorizations to cores, and of some that have their own."""
    with trencadis.session(workers=1, devices=request.param) as opened:
        yield opened


def random(shape, dtype, seed=1):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if dtype in "FD":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def tolerance(dtype, n):
    return 50 * n * np.finfo(dtype).eps


Nothing = object()  #: what a maker returns who returns None


class Foreign:
    """An array of another library on a device: DLPack alone, and counts the capsules whose maker was told of their end."""

    def __init__(self, array, **changes):
        self.array, self.changes, self.streams = array, changes, []

    def __dlpack_device__(self):
        return self.changes.get("place", self.array.__dlpack_device__())

    def __dlpack__(self, **words):
        self.streams.append(words.pop("stream", "unsaid"))
        if not self.changes.get("versioned", True) and "max_version" in words:
            raise TypeError("an unknown argument")
        self.capsule = self.changes.get("capsule") or self.array.__dlpack__(**words)
        return None if self.capsule is Nothing else self.capsule


@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_go_there_and_come_back_as_they_were(session, dtype, order):
    for shape in [(1, 4), (4, 1), (6,), (0, 3), (1,), (5, 7)]:
        host = np.array(random(shape, dtype), order=order)
        for device in (0, 1):
            there = session.device_array(host, device)
            assert (there.shape, there.dtype, there.device) == (host.shape, host.dtype, device)
            assert np.array_equal(there.to_host(), host)
            assert np.array_equal(there.copy().to_host(), host)
            if host.ndim == 2 and host.size:
                assert np.array_equal(there.T.to_host(), host.T)
    foreign = host.astype(host.dtype.newbyteorder())
    there = session.device_array(foreign)
    assert there.dtype == np.dtype(dtype) and np.array_equal(there.to_host(), foreign)


@pytest.mark.parametrize("orders", ["FFF", "FCF", "CFC", "CCC", "CCF", "FFC"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_products(session, dtype, orders):
    a, b = random((90, 70), dtype, 1), random((70, 50), dtype, 2)
    A = session.device_array(np.array(a, order=orders[0]))
    B = session.device_array(np.array(b, order=orders[1]), 1)
    bound = tolerance(dtype, 70) * np.abs(a).max() * np.abs(b).max()
    product = trencadis.matmul(A, B)
    assert isinstance(product, DeviceArray) and product.device == 0
    assert np.abs(product.to_host() - a @ b).max() <= bound
    out = session.device_array(np.zeros((90, 50), dtype, order=orders[2]), 1)
    assert trencadis.matmul(A, b, out=out) is out, "the other operand is the host's"
    assert np.abs(out.to_host() - a @ b).max() <= bound


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_the_hosts_matrices_come_to_lie_where_out_does(session, dtype):
    a, b = random((90, 70), dtype, 1), random((70, 50), dtype, 2)
    for device, order in ((0, "F"), (1, "C")):
        out = session.device_array(np.zeros((90, 50), dtype, order=order), device)
        assert trencadis.matmul(a, b, out=out) is out
        assert np.abs(out.to_host() - a @ b).max() <= tolerance(dtype, 70) * np.abs(a).max() * np.abs(b).max()
    with pytest.raises(ValueError, match="out is 90 x 50; the product is 90 x 3"):
        trencadis.matmul(a, b[:, :3], out=out)


@pytest.mark.parametrize("dtype", DTYPES)
def test_operands_may_be_parts_of_one_memory(session, dtype):
    host = np.asfortranarray(random((8, 8), dtype))
    A = session.device_array(host)
    for offset in range(2):
        part = DeviceArray(A._memory, session, A.dtype, (7, 8), (1, 8), offset * A.dtype.itemsize)
        rows = host[offset : offset + 7]
        assert np.allclose(trencadis.matmul(part, A).to_host(), rows @ host, atol=tolerance(dtype, 8))
        assert np.allclose(trencadis.matmul(A, A).to_host(), host @ host, atol=tolerance(dtype, 8))
        out = session.device_array(np.zeros((7, 8), dtype, order="F"))
        assert np.allclose(trencadis.matmul(rows, host, out=out).to_host(), rows @ host, atol=tolerance(dtype, 8))


@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky(session, dtype, lower, order):
    n = 120
    m = random((n, n), dtype)
    a = (m @ m.conj().T + n * np.eye(n)).astype(dtype)
    A = session.device_array(np.array(a, order=order))
    c, _ = trencadis.cho_factor(A, lower=lower)
    assert np.array_equal(A.to_host(), a), "it was not to be overwritten"
    assert trencadis.cho_factor(A, lower=lower, overwrite_a=True)[0] is A
    for factored in (c.to_host(), A.to_host()):  # not the same bits: tasks go where they are expected to end first
        factor = np.tril(factored) if lower else np.triu(factored).conj().T
        assert np.abs(factor @ factor.conj().T - a).max() <= tolerance(dtype, n) * np.abs(a).max()
    b = np.array(random((n, 5), dtype, 3), order="F")
    B = session.device_array(b, 1)
    if dtype in "FD" and order == "C":
        with pytest.raises(ValueError, match="by rows"):
            trencadis.cho_solve((c, lower), B)
        return
    x = trencadis.cho_solve((c, lower), B)
    assert np.abs(a @ x.to_host() - b).max() <= tolerance(dtype, n) * np.abs(a).max()
    assert np.array_equal(B.to_host(), b)


@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("assume", ["pos", "gen"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_systems(session, dtype, assume, order):
    n = 100
    m = random((n, n), dtype)
    a = (m @ m.conj().T + n * np.eye(n)).astype(dtype) if assume == "pos" else m + 20 * np.eye(n, dtype=dtype)
    A = session.device_array(np.array(a, order=order))
    if assume == "pos" and dtype in "FD" and order == "C":
        with pytest.raises(ValueError, match="by rows"):
            trencadis.solve(A, np.ones(n, dtype), assume_a=assume)
        return
    for b in (random(n, dtype, 5), np.array(random((n, 9), dtype, 5), order="F")):
        B = session.device_array(b)
        x = trencadis.solve(A, B, assume_a=assume)
        assert isinstance(x, DeviceArray) and x.shape == b.shape
        on_host = trencadis.solve(A, b, assume_a=assume)
        assert isinstance(on_host, np.ndarray), "right sides on the host"
        assert trencadis.solve(A, B, assume_a=assume, overwrite_b=True) is B
        for solution in (x.to_host(), on_host, B.to_host()):  # not the same bits: tasks go where they are expected to end first
            assert np.abs(a @ solution - b).max() <= tolerance(dtype, n) * np.abs(a).max()
    assert np.array_equal(A.to_host(), a)
    if dtype in "fd" and assume == "gen":
        x = trencadis.solve(A, session.device_array(b), assume_a="gen", transposed=True).to_host()
        assert np.abs(a.T @ x - b).max() <= tolerance(dtype, n) * np.abs(a).max()


@pytest.mark.parametrize("dtype", DTYPES)
def test_lu(session, dtype):
    a = np.array(random((130, 130), dtype), order="F")
    A = session.device_array(a)
    lu, piv = trencadis.lu_factor(A)
    expected, pivots = scipy.linalg.lu_factor(a)
    assert np.array_equal(piv, pivots)
    assert piv.dtype == np.int32
    assert np.abs(lu.to_host() - expected).max() <= tolerance(dtype, 130) * np.abs(expected).max()
    b = np.array(random((130, 3), dtype, 2), order="F")
    for trans in (0, 1, 2):
        x = trencadis.lu_solve((lu, piv), session.device_array(b, 1), trans)
        assert np.abs(x.to_host() - scipy.linalg.lu_solve((expected, pivots), b, trans)).max() <= 1e4 * tolerance(dtype, 130)
    with pytest.raises(ValueError, match="lu_factor takes arrays on a device that lie by columns"):
        trencadis.lu_factor(session.device_array(np.ascontiguousarray(a)))


@pytest.mark.parametrize("piv", [[0.5] * 8, [np.nan] * 8, ["a"] * 8, [8] * 8, [-1] * 8, [0] * 7, [[0]] * 8, [2**40] * 8])
def test_pivots_are_checked_as_those_beside_factors_of_the_host(session, piv):
    A = np.asfortranarray(np.eye(8))
    for lu in (A, session.device_array(A)):
        with pytest.raises(ValueError, match="piv must be 8 numbers of rows, from 0 to 7"):
            trencadis.lu_solve((lu, piv), np.ones(8))
    for piv in (np.arange(8, dtype=np.uint8), list(range(8)), np.arange(16)[::2] // 2):
        assert np.array_equal(trencadis.lu_solve((session.device_array(A), piv), np.ones(8)), np.ones(8))


def test_numerical_events_are_those_of_arrays_on_the_host(session):
    n = 80
    a = np.eye(n, order="F")
    a[40, 40] = -1
    with pytest.raises(scipy.linalg.LinAlgError, match="41-th leading minor"):
        trencadis.cho_factor(session.device_array(a))
    a[40, 40] = 0
    with pytest.raises(scipy.linalg.LinAlgError, match="singular"):
        trencadis.solve(session.device_array(a), np.ones(n), assume_a="gen")
    with pytest.warns(scipy.linalg.LinAlgWarning, match="41 is exactly zero"):
        trencadis.lu_factor(session.device_array(a))


# ---- arrays of other libraries


@pytest.mark.parametrize("versioned", [True, False])
def test_arrays_of_others_are_taken_by_dlpack_and_written_in_place(session, versioned):
    a, b = (np.array(random((40, 40), "d", seed), order="F") for seed in (1, 2))
    A, B = (session.device_array(x) for x in (a, b))
    C = session.device_array(np.zeros((40, 40), order="C"), 1)
    out = Foreign(C, versioned=versioned)
    product = trencadis.matmul(Foreign(A, versioned=versioned), Foreign(B.T, versioned=versioned), out=out)
    assert product is out
    assert np.abs(C.to_host() - a @ b.T).max() < 1e-12
    assert out.streams[-1] == "unsaid", "streams are CUDA's"


def test_a_capsule_is_ended_once_whether_it_is_used_or_not_also_on_errors(session):
    A = session.device_array(np.eye(8, order="F"))
    address = A._memory.address

    def used(call):
        foreign = Foreign(A)
        call(foreign)
        del foreign
        gc.collect()

    before = sys.getrefcount(A)
    for _ in range(3):
        used(lambda x: trencadis.matmul(x, x))
        with pytest.raises(ValueError, match="8 rows"):
            used(lambda x: trencadis.solve(x, np.ones(7), assume_a="gen"))
        with pytest.raises(ValueError, match="not converted"):
            used(lambda x: trencadis.matmul(x, np.ones((8, 8), "f", order="F")))
        A.__dlpack__(), A.__dlpack__(max_version=(1, 0))  # nobody takes these
        gc.collect()
        assert sys.getrefcount(A) == before
    assert A._memory.address == address
    assert np.array_equal(A.to_host(), np.eye(8))


def test_a_capsule_is_used_once(session):
    A = session.device_array(np.eye(8, order="F"))
    for capsule in (A.__dlpack__(), A.__dlpack__(max_version=(1, 0))):
        again = Foreign(A, capsule=capsule)
        trencadis.matmul(again, again.array)
        with pytest.raises(ValueError, match="was used already"):
            trencadis.matmul(again, again.array)
    for wrong, said in ((object(), "no DLPack capsule, a object"), (Nothing, "no DLPack capsule, a NoneType")):
        with pytest.raises(ValueError, match=said) as raised:
            trencadis.matmul(Foreign(A, capsule=wrong), A)
        assert "\n" not in str(raised.value)
    for place in ("x", (None, 0), (12, 0.5), 12):
        with pytest.raises(TypeError, match="__dlpack_device__ returned .*, must be the kind and the number") as raised:
            trencadis.matmul(Foreign(A, place=place), A)
        assert "\n" not in str(raised.value)


def test_others_keep_what_is_exported(session):
    A = session.device_array(np.full((8, 8), 3.0, order="F"))
    tensor = _core.Tensor(A.__dlpack__(max_version=(1, 0)))
    assert tensor.device == (12, 0) == A.__dlpack_device__()
    assert (tensor.shape, tensor.strides, tensor.type) == ([8, 8], [1, 8], "d")
    memory = A._memory
    room = session.device_bytes
    del A
    gc.collect()
    assert session.device_bytes == room, "the tensor has it"
    del tensor, memory
    gc.collect()
    assert session.device_bytes == room + 512


def test_read_only_arrays_are_read_and_not_written(session):
    A = session.device_array(np.eye(8, order="F"))
    frozen = DeviceArray(A._memory, session, A.dtype, A.shape, A.element_strides, read_only=True)
    with pytest.raises(BufferError, match="read-only"):
        frozen.__dlpack__()
    assert _core.Tensor(frozen.__dlpack__(max_version=(1, 0))).read_only
    assert np.array_equal(trencadis.matmul(Foreign(frozen), A).to_host(), np.eye(8))
    for call in (
        lambda: trencadis.matmul(A, A, out=Foreign(frozen)),
        lambda: trencadis.cho_factor(frozen, overwrite_a=True),
        lambda: trencadis.solve(A, frozen, assume_a="pos", overwrite_b=True),
    ):
        with pytest.raises(ValueError, match="is read-only") as raised:
            call()
        assert "\n" not in str(raised.value)


def test_parts_of_matrices_with_offsets_and_strides(session):
    host = np.array(random((50, 60), "d"), order="F")
    A = session.device_array(host)
    part = DeviceArray(A._memory, session, A.dtype, (20, 30), (1, 50), offset=(5 + 10 * 50) * 8)
    expected = host[5:25, 10:40]
    assert np.array_equal(part.to_host(), expected)
    assert np.abs(trencadis.matmul(Foreign(part), Foreign(part.T)).to_host() - expected @ expected.T).max() < 1e-12
    wide = DeviceArray(A._memory, session, A.dtype, (20, 30), (2, 50))
    backward = DeviceArray(A._memory, session, A.dtype, (20, 30), (1, -50), offset=29 * 50 * 8)
    for array in (wide, Foreign(wide), backward, Foreign(backward)):
        with pytest.raises(ValueError, match="strides") as raised:
            trencadis.matmul(array, A)
        assert "\n" not in str(raised.value)


class Said:
    """A capsule's content, some of it otherwise than its maker said it."""

    def __init__(self, tensor, **changes):
        self.tensor, self.changes = tensor, changes

    def __getattr__(self, name):
        return self.changes.get(name, getattr(self.tensor, name))


@pytest.mark.parametrize(("dtype", "by"), [("f", 2), ("d", 4), ("F", 4), ("D", 8)])
def test_arrays_that_begin_within_an_element_are_refused(session, monkeypatch, dtype, by):
    """A GPU's kernels end the process's context on such an address."""
    made = _core.Tensor
    host = np.asfortranarray(random((8, 8), dtype))
    A, one = session.device_array(host), session.device_array(np.eye(8, dtype=dtype))
    part = Foreign(DeviceArray(A._memory, session, A.dtype, (7, 8), (1, 8)))
    for rows in (0, 1):
        monkeypatch.setattr(_core, "Tensor", lambda capsule, rows=rows: Said(made(capsule), byte_offset=rows * host.itemsize))
        assert np.array_equal(trencadis.matmul(part, one).to_host(), host[rows:][:7])
    monkeypatch.setattr(_core, "Tensor", lambda capsule: Said(made(capsule), byte_offset=by))
    with pytest.raises(ValueError, match=f"no multiple of the {host.itemsize} bytes of {host.dtype}") as raised:
        trencadis.matmul(part, one)
    assert "\n" not in str(raised.value)


WRONG = {
    "an offset around the end": ({"byte_offset": 2**64 - 8}, "and no memory lies there"),
    "more bytes than there are": ({"shape": [2**40, 2**40], "strides": [1, 2**40]}, "and no memory lies there"),
    "an extent beyond 64 bits": ({"shape": [2**62, 8], "strides": [1, 2**62]}, "and no memory lies there"),
    "a stride beyond 64 bits": ({"strides": [1, 2**61]}, "and no memory lies there"),
    "a negative extent": ({"shape": [-3, 8]}, "an extent is a number from 0 to"),
    "nothing, and more than that": ({"shape": [0, 2**64]}, "an extent is a number from 0 to"),
    "too few strides": ({"strides": [8]}, "has 1 stride beside a shape of 2; there must be one for each extent"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_a_capsule_says_wrong_is_refused_in_one_line(session, monkeypatch, what):
    changes, said = WRONG[what]
    made, A = _core.Tensor, session.device_array(np.eye(8, order="F"))
    monkeypatch.setattr(_core, "Tensor", lambda capsule: Said(made(capsule), **changes))
    with pytest.raises(ValueError, match=said) as raised:
        trencadis.matmul(Foreign(A), A)
    assert "\n" not in str(raised.value)


def first_column(array, shape):
    """Of a matrix by rows, as a vector or as a matrix of one column."""
    strides = (array.element_strides[0], 1)[: len(shape)]
    return DeviceArray(array._memory, array._session, array.dtype, shape, strides)


@pytest.mark.parametrize("shape", [(50,), (50, 1)])
def test_a_column_of_a_matrix_by_rows_is_copied_by_itself(session, shape):
    host = random((50, 3), "d")
    column = first_column(session.device_array(host), shape)
    assert np.array_equal(column.to_host().ravel(), host[:, 0])
    assert np.array_equal(column.copy().to_host().ravel(), host[:, 0])
    with pytest.raises(ValueError, match="lie by columns"):
        trencadis.lu_factor(first_column(session.device_array(host), (50, 1)))


SOLVERS = {
    "gen": lambda A, b, **how: trencadis.solve(A, b, assume_a="gen", **how),
    "pos": lambda A, b, **how: trencadis.solve(A, b, assume_a="pos", **how),
    "lu_solve": lambda A, b, **how: trencadis.lu_solve(trencadis.lu_factor(A), b, **how),
    "cho_solve": lambda A, b, **how: trencadis.cho_solve(trencadis.cho_factor(A), b, **how),
}


@pytest.mark.parametrize("where", ["device", "host"])
@pytest.mark.parametrize("shape", [(50,), (50, 1)])
@pytest.mark.parametrize("solver", SOLVERS)
def test_right_sides_whose_elements_do_not_follow_each_other_are_solved_and_their_neighbours_stay(session, solver, shape, where):
    a = random((50, 50), "d")
    a = a @ a.T + 50 * np.eye(50)
    host = random((50, 3), "d", 2)
    A, X = session.device_array(np.array(a, order="F")), session.device_array(host) if where == "device" else host.copy()
    b = Foreign(first_column(X, shape)) if where == "device" else X[:, 0] if len(shape) == 1 else X[:, :1]
    now = X.to_host if where == "device" else X.copy

    def is_solved(x):
        x = x.to_host() if isinstance(x, DeviceArray) else x
        return x.shape == shape and np.abs(a @ x.ravel() - host[:, 0]).max() <= tolerance("d", 50) * np.abs(a).max()

    assert is_solved(SOLVERS[solver](A, b)) and np.array_equal(now(), host)
    assert SOLVERS[solver](A, b, overwrite_b=True) is b
    assert is_solved(now()[:, 0].reshape(shape)) and np.array_equal(now()[:, 1:], host[:, 1:])


REFUSED = {
    "another dtype": (lambda s, A: trencadis.matmul(A, s.device_array(np.ones((8, 8), "f"))), "not converted"),
    "foreign byte order": (lambda s, A: trencadis.matmul(A, np.eye(8, dtype=">f8")), "in this machine's byte order"),
    "parts of an element": (
        lambda s, A: trencadis.matmul(A, np.zeros((8, 8), [("x", "f8"), ("y", "f4")])["x"]),
        r"strides of \(96, 12\) bytes, .*; give a copy",
    ),
    "no structure": (lambda s, A: trencadis.solve(A, np.ones(8)), "say 'gen' or 'pos'"),
    "cholesky": (lambda s, A: trencadis.cholesky(A), "take cho_factor"),
    "qr": (lambda s, A: trencadis.qr(A), "copy it there first"),
    "inv": (lambda s, A: trencadis.inv(A), "copy it there first"),
    "lstsq": (lambda s, A: trencadis.lstsq(A, np.ones(8)), "copy it there first"),
    "NumPy": (lambda s, A: np.asarray(A), r"to_host\(\)"),
    "a vector's product": (lambda s, A: trencadis.matmul(A, s.device_array(np.ones(8))), "a vector is a matrix of one column"),
    "shapes": (lambda s, A: trencadis.matmul(A, s.device_array(np.ones((7, 8)))), "a is 8 x 8 and b is 7 x 8"),
    "out's shape": (lambda s, A: trencadis.matmul(A, A, out=s.device_array(np.ones((7, 8)))), "out is 7 x 8"),
    "out shares": (lambda s, A: trencadis.matmul(A, A, out=A), "out shares memory with a"),
    "b by rows": (lambda s, A: trencadis.solve(A, s.device_array(np.ones((8, 2))), assume_a="pos"), "b lies by rows"),
    "not square": (lambda s, A: trencadis.cho_factor(s.device_array(np.ones((8, 7)))), "must be square"),
    "a stack": (lambda s, A: s.device_array(np.ones((2, 3, 4))), "vectors and matrices"),
    "integers": (lambda s, A: s.device_array(np.ones((3, 4), int)), "float32, float64"),
    "no such device": (lambda s, A: s.device_array(np.ones(3), 2), "device 2 was named, and this session has 2"),
    "a number beyond all": (lambda s, A: s.device_array(np.ones(3), 2**40), "must be the number"),
    "no number": (lambda s, A: s.device_array(np.ones(3), "cuda"), "must be the number"),
    "too large": (lambda s, A: s.device_array(np.ones(1 << 23)), "bytes were asked for"),
    "another's kind": (lambda s, A: trencadis.matmul(Foreign(A, place=(10, 0)), A), "on device rocm:0, and the devices"),
    "another number": (lambda s, A: trencadis.matmul(Foreign(A, place=(12, 7)), A), "on device emulated:7"),
    "the wrong device": (lambda s, A: trencadis.matmul(Foreign(A, place=(12, 1)), A), "are in no memory of emulated 1"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_offered_is_refused_in_one_line(session, what):
    call, said = REFUSED[what]
    A = session.device_array(np.eye(8, order="F"))
    with pytest.raises((ValueError, TypeError, MemoryError), match=said) as raised:
        call(session, A)
    assert "\n" not in str(raised.value)
    assert np.array_equal(A.to_host(), np.eye(8))


def test_arrays_of_another_session_or_of_none_are_refused(session):
    A = session.device_array(np.eye(8, order="F"))
    with trencadis.session(workers=1, devices="emulated") as other:
        with pytest.raises(ValueError, match="of another session"):
            trencadis.matmul(A, A)
        with pytest.raises(ValueError, match="are in no memory of"):
            trencadis.matmul(Foreign(A), other.device_array(np.eye(8)))
    with trencadis.session(workers=1) as cores:
        with pytest.raises(ValueError, match="has no devices"):
            cores.device_array(np.eye(8))
        with pytest.raises(TypeError, match="lies on device emulated:0"):
            trencadis.matmul(Foreign(A), np.eye(8))
