"""Whose a session's block is, what a session says of itself, and when threads are started."""

import asyncio
import contextvars
import subprocess
import sys
import threading

import numpy as np
import pytest
import trencadis
from trencadis.session import current


def test_a_block_is_of_the_task_that_opened_it():
    async def seen():
        return current.get()

    async def main():
        begin = asyncio.Event()

        async def later():
            await begin.wait()
            return current.get()

        with trencadis.session(workers=1) as session:
            waiting = asyncio.create_task(later())
            assert current.get() is session and await seen() is session
            assert await asyncio.create_task(seen()) is None
            assert await asyncio.to_thread(current.get) is None
            await asyncio.sleep(0)
            assert current.get() is session
        begin.set()
        assert await waiting is None and await asyncio.to_thread(current.get) is None and current.get() is None

    asyncio.run(main())


def test_a_task_opens_blocks_of_its_own_inside_anothers():
    async def main():
        own, other = trencadis.session(workers=1), trencadis.session(workers=1)

        async def inner():
            assert current.get() is None
            with other as session, own as innermost:
                await asyncio.sleep(0)
                assert current.get() is innermost is not session
            return current.get()

        with own as session:
            assert [await task for task in [asyncio.create_task(inner()) for _ in range(3)]] == [None] * 3
            assert current.get() is session

    asyncio.run(main())


def test_a_thread_with_a_copy_of_the_context_has_no_block():
    seen = []
    with trencadis.session(workers=1):
        context = contextvars.copy_context()
        thread = threading.Thread(target=lambda: seen.append(context.run(current.get)))
        thread.start()
        thread.join()
    assert seen == [None] and context.run(current.get) is None, "nor after the block's end"


def test_blocks_nest():
    with trencadis.session(workers=1) as outer:
        with trencadis.session(workers=1) as inner:
            assert current.get() is inner
        assert current.get() is outer
    assert current.get() is None


SMALL = """
import os, threading, numpy as np, trencadis
threads = lambda: len(os.listdir("/proc/self/task"))
rng, before = np.random.default_rng(1), threads()
A, b = rng.random((10, 10)) + 10 * np.eye(10), rng.random(10)
S, stack = A @ A.T, rng.random((3, 8, 8)) + 8 * np.eye(8)
before = threads()
x = trencadis.solve(A, b)
assert np.allclose(A @ x, b)
trencadis.solve(S, b); trencadis.solve(S, b, assume_a="pos"); trencadis.solve(A, b, transposed=True)
trencadis.solve(np.triu(A), b); trencadis.cho_solve(trencadis.cho_factor(S), b)
trencadis.inv(A); trencadis.det(A); trencadis.lu(A); trencadis.lu_solve(trencadis.lu_factor(A), b); trencadis.qr(A)
trencadis.qr(A, pivoting=True); trencadis.lstsq(A[:, :5], b); trencadis.cholesky(S)
trencadis.solve_triangular(np.triu(A), b); trencadis.matmul(A, A); trencadis.solve(stack, np.ones((3, 8, 1)))
trencadis.inv(stack); trencadis.lu_factor(stack); trencadis.cholesky(stack @ stack.swapaxes(1, 2))
trencadis.orth(A); trencadis.rq(A); trencadis.qr_multiply(A, A)
trencadis.lapack.dgetrf(A); trencadis.lapack.dlange("1", A); trencadis.lapack.dgesvx(A, b)
trencadis.get_num_threads()
assert threads() == before, (before, threads())
{more}
"""


def run(script):
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


def test_small_calls_start_no_thread_and_large_ones_do():
    run(SMALL.format(more="large = rng.random((500, 500)); trencadis.matmul(large, large); assert threads() > before"))


def test_small_calls_go_on_in_a_forked_child():
    run(
        SMALL.format(
            more="""
pid = os.fork()
if pid == 0:
    os._exit(0 if np.array_equal(trencadis.solve(A, b), x) else 1)
assert os.waitpid(pid, 0)[1] == 0
large = rng.random((500, 500)); trencadis.matmul(large, large)
assert np.array_equal(trencadis.solve(A, b), x), "with and without workers"
"""
        )
    )


def test_the_number_of_threads_is_set_and_asked_for():
    before = trencadis.get_num_threads()
    try:
        trencadis.set_num_threads(1)
        assert trencadis.get_num_threads() == 1
        a = np.random.default_rng(1).random((300, 300))
        assert np.allclose(trencadis.matmul(a, a), a @ a)
        trencadis.set_num_threads(10**9)
        assert trencadis.get_num_threads() >= before, "at most one for each core"
        with trencadis.session(workers=1):
            assert trencadis.get_num_threads() == 1
    finally:
        trencadis.set_num_threads(before)
    for wrong in (0, -1, 1.5, None):
        with pytest.raises((ValueError, TypeError), match="^n is "):
            trencadis.set_num_threads(wrong)


def test_what_computes_is_shown(capsys):
    trencadis.show_config()
    printed = capsys.readouterr().out
    shown = trencadis.show_config("dicts")
    assert set(shown) == {"trencadis", "machine", "session", "kernels"} and all(f"{part}:\n" in printed for part in shown)
    assert shown["trencadis"]["version"] == trencadis.__version__ and "native" in shown["kernels"]["available"]
    with trencadis.session(workers=[0], scheduler="ws"):
        assert trencadis.show_config("dicts")["session"]["workers"] == [0]
        assert trencadis.show_config("dicts")["session"]["scheduler"] == "ws"
    with pytest.raises(ValueError, match="did you mean 'dicts'"):
        trencadis.show_config("dict")


def test_a_session_says_its_workers_policy_and_kernels():
    block = trencadis.session(workers=[0], scheduler="ws")
    with block as session:
        assert repr(session) == repr(block)
    text = "trencadis.session(engine='native', scheduler='ws', kernels='native', threads='native', workers=[0])"
    assert repr(block) == text
    assert "machine='exynos5422'" in repr(trencadis.session(machine="exynos5422", workers="cortex-a15"))


def test_workers_are_kinds_of_the_machine_that_is_laid_over():
    with trencadis.session(machine="exynos5422", workers="cortex-a15") as session:
        assert session.options()["workers"] == [4, 5, 6, 7]
    with trencadis.session(machine="exynos5422", workers="cortex-a15,0") as session:
        assert session.options()["workers"] == [4, 5, 6, 7, 0]
    with pytest.raises(ValueError, match="^workers: 'cortex-a16' .* did you mean 'cortex-a15'") as caught:
        trencadis.session(machine="exynos5422", workers="cortex-a16")
    assert "--" not in str(caught.value)
    with pytest.raises(ValueError, match="^workers: '9+' is not a list of numbers"):
        trencadis.session(workers="9" * 20)
