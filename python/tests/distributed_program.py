"""What tests/test_distributed_matrix.py runs under mpirun, on each process; the words are the part, and a folder. Asserts."""

import sys
from pathlib import Path

import numpy as np
import pytest
import trencadis
from mpi4py import MPI
from trencadis import distributed as d

WORLD = MPI.COMM_WORLD
SIZES = (0, 1, 15, 16, 17, 100)  #: of blocks of 16
RNG = np.random.default_rng(5)


def scattered(whole, blocks, grid=None, first=(0, 0)):
    """The blocks of an array that all processes have, each its own; by the definition, element by element."""
    grid = grid or {1: (1, 1), 2: (1, 2), 4: (2, 2)}[WORLD.size]
    p, q = WORLD.rank // grid[1], WORLD.rank % grid[1]
    rows = [i for i in range(whole.shape[0]) if (i // blocks[0] + first[0]) % grid[0] == p]
    cols = [j for j in range(whole.shape[1]) if (j // blocks[1] + first[1]) % grid[1] == q]
    local = np.asfortranarray(whole[np.ix_(rows, cols)])
    return d.DistributedMatrix(local, whole.shape, blocks, grid, first)


def close(A, whole, n):
    """The solutions of systems with a condition below 4 are right to some n eps."""
    expected = scattered(whole, A.blocks, A.grid, A.first)
    return np.abs(A.local - expected.local).max(initial=0) <= 100 * (n + 1) * np.finfo(A.dtype).eps


def solves(dtype):
    for n in SIZES:
        noise = (RNG.random((n, n)) - 0.5) / max(n, 1)
        whole = (np.eye(n) + (noise + noise.T) / 4).astype(dtype)
        if whole.dtype.kind == "c":
            whole = whole + 1j * (noise - noise.T).astype(dtype) / 4
        X = RNG.random((n, 3)).astype(whole.dtype)
        A, B = scattered(whole, (16, 16)), scattered(whole @ X, (16, 2))
        assert close(d.solve(A, B, assume_a="pos", lower=n % 2 == 0), X, n)
        found = d.solve(A, B)
        assert close(found, X, n)
        assert d.residual(A, found, B) < 10
        factors, Y = A.copy(), B.copy()
        piv, info = d.getrf(factors, variant="panel" if n % 2 else "")
        assert info == 0
        d.getrs(factors, piv, Y)
        assert close(Y, X, n)
        assert d.potrf(factors := A.copy()) == 0
        d.potrs(factors, Y := B.copy())
        assert close(Y, X, n)
        lower = scattered(np.tril(whole), (16, 16))
        right = scattered((2 * np.tril(whole) @ RNG.random((n, n))).astype(whole.dtype), (16, 16))
        Z = right.copy()
        d.trsm(1, lower, Z, lower=True)
        d.gemm(1, lower, Z, -1, right)
        assert right.norm() <= 100 * (n + 1) * np.finfo(dtype).eps * max(Z.norm(), 1)
        assert abs(A.norm() - np.linalg.norm(whole)) <= (n + 1) * 10 * np.finfo(dtype).eps


def moves(folder):
    whole = RNG.random((70, 50))
    A = scattered(whole, (16, 16), first=(0, WORLD.size // 2 % 2))
    B = d.zeros((60, 60), (11, 13), (WORLD.size, 1))
    d.copy(A, B, (41, 37), source=(5, 7), target=(3, 9))
    expected = np.zeros((60, 60))
    expected[3:44, 9:46] = whole[5:46, 7:44]
    assert np.array_equal(B.local, scattered(expected, (11, 13), (WORLD.size, 1)).local)
    for suffix in (".npy", ".mtx"):
        A.write(folder / f"A{suffix}")
        again = d.read(folder / f"A{suffix}", (9, 20))
        assert np.array_equal(again.local, scattered(whole, (9, 20)).local)
    assert np.array_equal(np.load(folder / "A.npy"), whole)
    R = d.random((40, 30), 8, seed=3)
    R.write(folder / "R.npy")
    same = np.load(folder / "R.npy")
    assert np.array_equal(R.local, scattered(same, (8, 8)).local)
    assert np.abs(same).max() <= 0.5


def refused(folder):
    """By all processes, also where one of them is wrong alone."""
    odd = WORLD.rank == WORLD.size - 1
    A, B = d.definite(64, 16, seed=1), d.random((64, 3), (16, 3), seed=2)
    before = A.local.copy()
    zero = np.zeros((64, 64), order="F")
    wrong = {
        "local has shape": lambda: d.DistributedMatrix(zero[: 63 if odd else 64], (640, 640), 16),
        "by columns": lambda: d.DistributedMatrix(np.zeros(d.local_shape((64, 64), 16, A.grid, WORLD.rank)), (64, 64), 16),
        "float32, float64": lambda: d.DistributedMatrix(zero.astype(int), (64, 64), 16),
        "5x5 are 25 processes": lambda: d.zeros((64, 64), 16, (5, 5)),
        "blocks is 0": lambda: d.zeros((64, 64), 0 if odd else 16),
        "square": lambda: d.potrf(d.zeros((64, 64), (16, 8))),
        "cut alike": lambda: d.posv(A, d.zeros((60, 3), (16, 3))),
        "read meanwhile": lambda: d.gemm(1, A, B, 0, B),
        "one dtype": lambda: d.potrs(A, d.zeros((64, 3), (16, 3), dtype="f")),
        "must be 0, 1": lambda: d.getrs(A, np.zeros(64, int), B, trans=3 if odd else 0),
        "piv names rows": lambda: d.getrs(A, np.full(64, 99 if odd else 0), B),
        "variant": lambda: d.potrf(A, variant="no such"),
        "are not in a matrix": lambda: d.copy(A, B, (64, 4)),
        "no.npy": lambda: d.read(folder / "no.npy", 16),
        "there is no folder": lambda: A.write(folder / "no" / "A.npy"),
        "real": lambda: d.gemm(1j if odd else 1, A, A, 0, d.zeros((64, 64), 16)),
        "no floating-point number": lambda: d.gemm(10**400 if odd else 1, A, A, 0, d.zeros((64, 64), 16)),
        "variant is 3": lambda: d.potrf(A, variant=3 if odd else ""),
        "truth value": lambda: d.potrf(A, lower=np.array([1, 2]) if odd else True),
        "not NoneType": lambda: A.write(None if odd else folder / "odd.npy"),
        "os.PathLike": lambda: d.read(None if odd else folder / "A.npy", 16),
        "must be a whole number": lambda: A.like(np.zeros((2, 2)) if odd else None),
    }
    for said, call in wrong.items():
        with pytest.raises((ValueError, TypeError), match=said):
            call()
    if WORLD.size > 1:
        with pytest.raises(ValueError, match="all processes must make the same call"):
            d.potrf(A) if odd else A.norm()
    assert np.array_equal(A.local, before)
    assert d.potrf(d.zeros((64, 64), 16)) == 1
    for how, said in (("gen", "singular"), ("pos", "not positive definite")):
        with pytest.raises(np.linalg.LinAlgError, match=said):
            d.solve(d.zeros((64, 64), 16), B, assume_a=how)


def communicators():
    """Those that are none; one of some processes, in another order."""
    freed = WORLD.Dup()
    freed.Free()
    for communicator, error, said in ((MPI.COMM_NULL, ValueError, "MPI_COMM_NULL"), (freed, ValueError, "MPI_COMM_NULL"),
                                      (3, TypeError, "mpi4py")):  # fmt: skip
        with pytest.raises(error, match=said):
            trencadis.session(engine="starpu-mpi", communicator=communicator)
    with pytest.raises(ValueError, match="take engine 'starpu-mpi'"):
        trencadis.session(engine="native", communicator=WORLD)
    for wrong in ({"window": "many"}, {"kernels": 3}, {"scheduler": "no such"}):
        with pytest.raises((ValueError, TypeError), match="window|kernels|scheduler"):
            trencadis.session(engine="starpu-mpi", communicator=WORLD, **(wrong if WORLD.rank == 0 else {}))
    with pytest.raises(ValueError, match="need a session of theirs"):
        d.zeros((3, 3), 1)
    if WORLD.size == 1:
        return
    half = WORLD.Split(WORLD.rank % 2, -WORLD.rank)
    between = half.Create_intercomm(0, WORLD, WORLD.size - 1 - WORLD.rank % 2, 5)  # the first of the other half
    with pytest.raises(ValueError, match="intercommunicator"):
        trencadis.session(engine="starpu-mpi", communicator=between)
    with trencadis.session(engine="starpu-mpi", communicator=half):
        between.Free()
        A, B = d.definite(50, 8, seed=WORLD.rank % 2), d.random((50, 2), (8, 2), seed=1)
        assert A.grid[0] * A.grid[1] == half.size
        assert d.residual(A, d.solve(A, B), B) < 10


def main():
    if sys.argv[1] == "exit":  # the session lives until the interpreter ends
        global kept
        kept = trencadis.session(engine="starpu-mpi", communicator=WORLD)
        with kept:
            assert d.potrf(d.definite(100, 16)) == 0
        return
    folder = Path(sys.argv[2])
    communicators()
    with trencadis.session(engine="starpu-mpi", communicator=WORLD.Dup()):
        for dtype in (np.float32, np.float64, np.complex128):
            solves(dtype)
        moves(folder)
        refused(folder)


if __name__ == "__main__":
    main()
