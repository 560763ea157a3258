"""The extension module: arguments in, errors out; the numerics are in the C++ library.

Arrays of the in-place routines are numpy arrays (anything with the buffer protocol) of float32, float64, complex64 or
complex128, all of one dtype, column-major with any leading dimension: a one-dimensional array is one column. `session` is a
Session, or None for the standard session (made at the first call from the environment). The interpreter lock is
released while computing. Ctrl-C cancels the run within about 50 ms and raises KeyboardInterrupt.

Errors: ValueError for a bad argument (its message says what was given and what would be right), BackendError (a
RuntimeError) for a back end that this machine lacks, MemoryError, RuntimeError for the rest of the environment.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from .device_arrays import DeviceArray
from .residence import Residence

__version__: str

class BackendError(RuntimeError):
    """A named back end is not on this machine."""

class Trace:
    """What happened between Session.start_trace and Session.stop_trace."""

    @property
    def title(self) -> str: ...
    @property
    def origin(self) -> Literal["measured", "emulated", "simulated"]: ...
    @property
    def span_s(self) -> float: ...
    @property
    def working_s(self) -> float:
        """From the begin of the first task to the end of the last."""
    def chrome_json(self) -> str:
        """Chrome trace event format; opens in Perfetto and chrome://tracing."""
    def svg(self, view: Literal["kernel", "order"] = "kernel") -> str:
        """Gantt chart, coloured by kernel or by creation order."""
    def html(self) -> str:
        """Both charts and both tables on one page without outside references."""
    def paraver(self) -> dict[str, str]:
        """Text of the files `.prv`, `.pcf`, `.row`, by suffix (with the dot)."""
    def worker_table(self) -> list[dict[str, Any]]:
        """Per worker: worker, cpu, kind, tasks, shares, and busy, share, idle, runtime each as _s and _fraction."""
    def kernel_table(self) -> list[dict[str, Any]]:
        """Per kernel: name, calls, total_s, mean_ms, gflops, on_kinds."""
    def node_bytes(self) -> list[dict[str, Any]]:
        """Of the products by memory node, as Session.node_bytes."""
    def choices(self) -> list[dict[str, Any]]:
        """Of calls that named neither tile size nor form: call, plan, times, workers (1: its caller alone), callers at once."""

class ChoicesElsewhere:
    """What would be chosen on a described machine, by its kernel times."""

    def __init__(
        self, machine: str, workers: list[str] = ..., submit_s: float = 0, pop_s: float = 0, jitter: float = 0
    ) -> None:
        """Of those of its cores (as of simulations; none: all), tasks being submitted and taken in so long."""
    @property
    def cores(self) -> list[int]: ...
    def considered(self, routine: str, precision: str, m: int, n: int, k: int) -> list[dict[str, Any]]:
        """By so many of its cores, the chosen number first: workers, chosen, considered (as `considered` of a session)."""
    def plans(self, routine: str, precision: str, m: int, n: int, k: int) -> list[str]: ...
    def foreseen(self, plan: str, routine: str, precision: str, m: int, n: int, k: int) -> float:
        """Seconds by all of the cores; infinite where it is not known."""
    def laid_out(
        self, plan: str, routine: str, precision: str, m: int, n: int, k: int, workers: int = 0
    ) -> dict[str, Any]:
        """As what it is simulated: variant (None: the caller computes alone), nb (0: by cut_for), cut_for, cores."""

class TimedPlans:
    """A call on operands of its own, to be timed in one plan after another."""

    def __init__(self, session: Session, routine: str, precision: str, m: int, n: int, k: int) -> None: ...
    def time(self, plan: str) -> float:
        """Seconds of the call in that plan, its operands restored before."""

def chosen_routines() -> list[str]:
    """Those whose calls are chosen where this host is calibrated (docs/choices.md)."""

def plans(session: Session, routine: str, precision: str, m: int, n: int, k: int) -> list[str]:
    """The plans that a calibration tries for a call, the rule first. k: the depth of a product, else 0."""

def considered(session: Session, routine: str, precision: str, m: int, n: int, k: int) -> list[dict[str, Any]]:
    """What is expected of each plan, the chosen one first: plan, variant, nb, grain, workers, seconds, against (of the rule's),
    nearest (octaves to what was measured), chosen. Empty: calls of this session go by rule."""

def rule(session: Session, routine: str, precision: str, m: int, n: int, k: int) -> dict[str, Any]:
    """What the fixed rule comes to for a call: plan (by its other word), variant, nb, grain, workers."""

def last_calls(session: Session, routine: str, precision: str, m: int, n: int, k: int) -> list[dict[str, Any]]:
    """What the last calls of that size took on this host, the oldest first: plan, workers (1: the caller alone), seconds."""

def foreseen(session: Session, routine: str, precision: str, m: int, n: int, k: int) -> list[dict[str, Any]]:
    """What a call is weighed for in a session with devices, the form of cores with their tiles first: variant, nb, devices (their
    numbers), seconds (with them; None: not known), alone (by cores), chosen. Empty: there are no devices."""

def read_calibration(session: Session) -> dict[str, Any]:
    """path (empty: no cache folder), trouble (why the file is not used; empty), rows."""

def write_calibration(session: Session, rows: list[dict[str, Any]]) -> None: ...

def refuse_session(engine: str, communicator: int, why: str) -> None:
    """Said to the processes that make the session together with this one."""

class Session:
    """Machine, engine, scheduler, kernels and threads under one name each; empty and zero mean the environment's
    choice (TRENCADIS_NUM_THREADS, _SCHEDULER, _ENGINE, _KERNELS), then the default. Safe for several threads."""

    def __init__(
        self,
        engine: str = "",
        scheduler: str = "",
        kernels: str = "",
        threads: str = "",
        workers: Sequence[int] = (),
        worker_count: int = 0,
        window: int = 0,
        slow: Mapping[int, float] = {},
        machine: str = "",
        pages: str = "",
        relief: str = "",
        communicator: int = 0,
        devices: str = "",
        reproducible: bool = False,
        objective: str = "",
    ) -> None: ...
    def options(self) -> dict[str, Any]:
        """As resolved: engine, scheduler, kernels, threads (str), workers (list of OS core numbers, or of places
        in the described machine), window (int), slow (dict of core to fraction), machine, pages (str; empty: the real one),
        relief, devices (str), reproducible (bool), objective (str)."""
    @property
    def workers(self) -> int: ...
    @property
    def device_bytes(self) -> float:
        """Memory of the smallest device that takes part; 0: there is none."""
    @property
    def planned_workers(self) -> int:
        """Those that calls are cut up for: the workers, or of a reproducible session a number of its own."""
    @property
    def runtime(self) -> str:
        """Whose runtime the engine stands on: version, what its build allows. Empty for our own."""
    @property
    def kernels_version(self) -> str:
        """What the kernel library says of itself, e.g. "OpenBLAS 0.3.21 SkylakeX"."""
    def default_variant(self, routine: str) -> str:
        """The tile variant of a call that names none."""
    def last_variant(self, routine: str) -> tuple[str, int]:
        """Variant and tile size (0: as default_tile says) of the last call of the routine since reset_statistics, in a session
        with devices; elsewhere, and where it took no tasks, the variant of calls in which no device takes part."""
    @property
    def machine_name(self) -> str:
        """Of the machine that the session sees: the described one where one is laid over this."""
    def count_node_bytes(self, on: bool) -> None:
        """Whether products count what the workers of each memory node read and wrote."""
    def node_bytes(self) -> list[dict[str, Any]]:
        """Per memory node since reset_statistics: node, local_read, remote_read, local_written, remote_written, in bytes."""
    def statistics(self) -> list[dict[str, Any]]:
        """Per worker since the start or since reset_statistics: cpu (-1: of a device), kind, busy_s, idle_s, tasks, shares,
        reliefs."""
    def device_traffic(self) -> list[dict[str, Any]]:
        """Per device since then: device, bytes_to, bytes_from, bytes_across, bytes_staged, hits, misses, evictions."""
    def reset_statistics(self) -> None: ...
    def resident(self, *arrays: Any) -> Residence:
        """A `with` block in which copies of the arrays stay on the devices from call to call."""
    def device_array(self, array: Any, device: int = 0) -> DeviceArray:
        """A copy of an array on a device of the session, by its number from 0."""
    def keep(self, array: Any) -> None: ...
    def touch(self, array: Any) -> None:
        """The program has written into a kept array."""
    def written(self, begin: int, bytes: float) -> None:
        """These bytes have been written otherwise than by calls of the session: copies of them go."""
    def leave(self, array: Any) -> None: ...
    def start_trace(self) -> None: ...
    def stop_trace(self, title: str = "") -> Trace: ...

class MeterRecord:
    """What the meters told beside a run. Times are those of time.perf_counter."""

    @property
    def period_s(self) -> float: ...
    @property
    def reading_s(self) -> float:
        """What a reading of all meters takes, mean."""
    @property
    def rounds(self) -> int: ...
    def between(self, begin: float, end: float) -> list[dict[str, Any]]:
        """Per domain: domain, source, joules (None: unavailable), why, inside (domains that count it as well)."""
    def series(self) -> list[dict[str, Any]]:
        """Per meter: source, domain, name, kind (energy, power, temperature), lost, readings (time, value)."""

class DeviceMemory:
    """Memory of an array on a device of a session, while it lives."""

    address: int  #: by which routines of the session take it
    device: int
    outside: tuple[int, int]  #: for others: address or handle, and bytes behind its beginning

class Tensor:
    """What a DLPack capsule held; its maker is told when this ends."""

    def __init__(self, capsule: Any) -> None: ...
    device: tuple[int, int]
    memory: int
    byte_offset: int
    shape: list[int]
    strides: list[int]  #: in elements
    type: str
    read_only: bool

def device_names(session: Session) -> list[str]: ...
def allocate_on(session: Session, device: int, bytes: int) -> DeviceMemory: ...
def adopt(session: Session, device: int, memory: int, bytes: int) -> DeviceMemory: ...
def synchronize_device(session: Session, device: int, stream: int) -> None: ...
def export_dlpack(owner: Any, memory: DeviceMemory, *what: Any) -> Any:
    """`what`: offset, type, kind, number, shape, strides, versioned, read_only."""

# By addresses: of arrays, of the host's memory, of either. Matrices lie by columns: an address, and the distance of columns.
def copy_to_device(session: Session, *array_host_rows_cols_element: int) -> None: ...
def copy_from_device(session: Session, *array_host_rows_cols_element: int) -> None: ...
def copy_on_device(session: Session, *to_from_rows_cols_element: int) -> None: ...
def gemm_on_device(session: Session, type: str, op_a: str, op_b: str, m: int, n: int, k: int, *matrices: int) -> None: ...
def potrf_on_device(session: Session, type: str, uplo: str, n: int, *matrix: int) -> int: ...
def potrs_on_device(session: Session, type: str, uplo: str, n: int, nrhs: int, *matrices: int) -> None: ...
def posv_on_device(session: Session, type: str, uplo: str, n: int, nrhs: int, *matrices: int) -> int: ...
def getrf_on_device(session: Session, type: str, m: int, n: int, *matrix_and_pivots: int) -> int: ...
def getrs_on_device(session: Session, type: str, op: str, n: int, nrhs: int, *matrices: int) -> None: ...

class EnergyMeters:
    """The machine's meters of energy, power and temperature, of each domain those of one source."""

    def __init__(self, root: str = "", probe_s: float = 0.3) -> None:
        """`root`: where sys is looked for; `probe_s`: seconds of load within which a meter must move."""
    def list(self) -> list[dict[str, Any]]:
        """Per meter: source, domain, name, kind, where."""
    def missing(self) -> list[dict[str, Any]]:
        """Per meter that cannot be had: source, name, why."""
    def start(self, period_s: float = 0.01) -> None: ...
    def so_far(self) -> MeterRecord:
        """What has been read since `start`; reading goes on."""
    def stop(self) -> MeterRecord: ...

def list_graph(
    *,
    routine: str,
    variant: str = "",
    n: int,
    m: int = 0,
    nb: int = 0,
    inner: int = 0,
    precision: str = "d",
    most: int,
) -> dict[str, Any]:
    """A routine's task graph, nothing of it computed: routine, variant, n, m (None: square), nb, precision as resolved, depth
    (tasks of the longest chain), width (most tasks with equally long chains before them) and tasks, in the order of their
    submission: kernel, variant, flops, inside (the task that submitted it, or None), data (mode, name), after (numbers of the
    tasks it waits for). ValueError where there are more than `most`."""

def simulate(
    *,
    machine: str,
    routine: str,
    n: int,
    nb: int = 0,
    precision: str = "d",
    variant: str = "",
    scheduler: str = "",
    workers: Sequence[str] = (),
    model: str = "",
    seed: int = 1,
    effects: Mapping[str, Any] = {},
    grid_rows: int = 0,
    grid_cols: int = 0,
    distribution: str = "block-cyclic",
    as_called: bool = False,
    k: int = 0,
    cut_for: int = 0,
    trace: bool = False,
) -> tuple[dict[str, Any], Trace]:
    """One configuration in virtual time on a described machine; once in a process. The record: routine, n, nb, inner, precision,
    variant, scheduler, machine, model as resolved; makespan_s, gflops, bound_gflops, area_s, critical_s, idle_fraction,
    energy_j, cores_j, package_j, memory_j (None where the machine does not say what it draws), tasks, untimed, bytes_moved,
    transfers, local_bytes, remote_bytes, per_worker (name, kind, busy_s, idle_s, idle_fraction, tasks, shares, polling_s,
    energy_j), per_kernel (name, kind, calls, mean_ms, total_s, gflops). The trace is empty unless asked for. Of a machine of many
    hosts also hosts, distribution, grid, messages, bytes_sent, most_messages_of_a_host, most_bytes_of_a_host,
    peak_bytes_of_a_host, owned_bytes, per_host (messages_sent, messages_received, bytes_sent, bytes_received, owned_bytes,
    peak_bytes)."""

def chooses_at_random(scheduler: str) -> bool:
    """Do choices of the policy, or of the one inside it, follow the seed of a simulation?"""

def set_num_threads(count: int) -> None:
    """So many workers for the standard session from now on."""

def get_num_threads() -> int:
    """Workers of the standard session; starts none."""

def standard_session() -> Session:
    """The session that None stands for."""

# Routines on column-major arrays. trans: "N", "T", "C"; uplo: "L", "U"; side: "L", "R"; diag: "N", "U". nb = 0: chosen by us.

def gemm(
    session: Session | None,
    transa: str,
    transb: str,
    alpha: complex,
    a: np.ndarray,
    b: np.ndarray,
    beta: complex,
    c: np.ndarray,
    nb: int = 0,
    variant: str = "",
) -> None:
    """C <- alpha op(A) op(B) + beta C."""

def syrk(
    session: Session | None,
    uplo: str,
    trans: str,
    alpha: complex,
    a: np.ndarray,
    beta: complex,
    c: np.ndarray,
    nb: int = 0,
    variant: str = "",
) -> None:
    """C <- alpha op(A) op(A)^T + beta C, one triangle."""

def herk(
    session: Session | None,
    uplo: str,
    trans: str,
    alpha: float,
    a: np.ndarray,
    beta: float,
    c: np.ndarray,
    nb: int = 0,
    variant: str = "",
) -> None:
    """C <- alpha op(A) op(A)^H + beta C, one triangle. The same as syrk for real arrays."""

def trsm(
    session: Session | None,
    side: str,
    uplo: str,
    transa: str,
    diag: str,
    alpha: complex,
    a: np.ndarray,
    b: np.ndarray,
    nb: int = 0,
    variant: str = "",
) -> None:
    """B <- alpha op(A)^-1 B, or B op(A)^-1 for side "R"."""

def potrf(session: Session | None, uplo: str, a: np.ndarray, nb: int = 0, variant: str = "") -> int:
    """A = L L^H or U^H U in place; returns LAPACK's info: the order of the first leading minor that is not positive."""

def potrs(session: Session | None, uplo: str, a: np.ndarray, b: np.ndarray, nb: int = 0, variant: str = "") -> None:
    """B <- A^-1 B with the factor of potrf."""

def posv(session: Session | None, uplo: str, a: np.ndarray, b: np.ndarray, nb: int = 0, variant: str = "") -> int:
    """potrf of A, then B <- A^-1 B; returns info. B is left as it was when info > 0."""

def lapack_norm(function: str, session: Session | None, *arguments: str | int | np.ndarray) -> float:
    """The norm of a matrix by LAPACK's function of that name without the precision's letter; no leading dimensions."""

def exchange_rows(a: np.ndarray, pivots: np.ndarray, first: int, last: int, backward: bool) -> None:
    """Exchanges rows i and pivots[i] - 1 of a, column-major, for first <= i < last, or from the last to the first."""

def lapack(routine: str, session: Session | None, *arguments: str | float | np.ndarray, nb: int = 0, variant: str = "") -> int:
    """Calls a routine of LAPACK by its name, with its arguments but leading dimensions and info, which it returns."""

class IncrementalFactors:
    """The LU factors of a by incremental pivoting, in its place; a is column-major and must stay as it is."""

    def __init__(self, session: Session | None, a: np.ndarray, nb: int = 0) -> None: ...
    @property
    def info(self) -> int: ...
    def solve(self, b: np.ndarray) -> None:
        """B <- A^-1 B."""

class TileFactors:
    """The factors of a by tile QR, in its place; a is column-major and must stay as it is. Arrays are column-major."""

    def __init__(self, session: Session | None, a: np.ndarray, variant: str = "", nb: int = 0) -> None: ...
    def apply(self, c: np.ndarray, adjoint: bool) -> None:
        """C <- Q C, or Q^H C."""
    def form(self, q: np.ndarray) -> None:
        """The first columns of Q."""
    def solve(self, b: np.ndarray) -> int:
        """The first rows of B <- the least squares solution; returns 0, or which diagonal entry of R is exactly zero."""

def tasks(session: Session | None, n: int) -> int:
    """Runs empty kernels on the Cholesky graph with n tile rows; returns the number of tasks."""

def signatures() -> list[dict[str, Any]]:
    """Every routine's name, arguments in order and precisions, as the list of signatures tells them."""

def routine_flops(routine: str, complex: bool, n: float, m: float = 0, k: float = 0, nrhs: float = 1) -> float:
    """Real operations of a routine, as LAPACK counts them; extents that are 0 are n."""

# The direct way of the Python API, for plain arrays; checks, copies and the finite check in one call.

def solve_positive(
    session: Session | None, a: Any, b: Any, lower: bool, overwrite_a: bool, overwrite_b: bool, check_finite: bool
) -> np.ndarray | tuple[np.ndarray, float] | int | None:
    """The solution; with its reciprocal condition where that is below the precision; or the order (int) of the leading minor that
    is not positive; or None where a and b are not plain arrays, square of order 2 or more and with one or two dimensions,
    aligned, native, of one supported dtype and of fitting shapes: the caller then converts, or complains."""

def solve_general(
    session: Session | None,
    a: Any,
    b: Any,
    assumed: str,
    lower: bool,
    transposed: bool,
    overwrite_a: bool,
    overwrite_b: bool,
    check_finite: bool,
) -> np.ndarray | tuple[np.ndarray, float] | int | str | None:
    """The solution by LU; with its reciprocal condition where that is below the precision; or the number of the pivot that is
    zero; or None as in solve_positive. `assumed`: "general"; "symmetric", "hermitian", of which one triangle is read; or "", and
    then another structure (diagonal, tridiagonal, upper or lower triangular, possibly positive definite) is answered by its name,
    and nothing was done."""

def invert(
    session: Session | None, a: Any, assumed: str, lower: bool, overwrite_a: bool, check_finite: bool
) -> np.ndarray | tuple[np.ndarray, float] | int | str | None:
    """The inverse; with its reciprocal condition where that is below the precision; or the number of the pivot that is zero; or
    "diagonal", and nothing was done; or None where a is no plain square matrix. `assumed` as in solve_general, or another
    structure, which is believed."""

def triangular_rcond(session: Session | None, a: np.ndarray, lower: bool) -> float:
    """The reciprocal condition in the 1-norm, as LAPACK's trcon estimates it, of a triangle stored by columns or by rows."""

def solve_stack(
    session: Session | None, a: np.ndarray, b: np.ndarray, x: np.ndarray, transposed: bool, structure: str, lower: bool
) -> tuple[int, list[tuple[int, float]], list[int]] | None:
    """Solves for stacks (three dimensions, of equal length and dtype) into x, several matrices at a time: which is the first
    singular one, or -1; the ill-conditioned ones with their reciprocal conditions; and those that were left. `structure` is
    "general", "positive definite", where those are left that are not or perhaps not well so, or empty: it is found out, and other
    structures are left. None where the matrices are too large for one worker each."""

def factor_stack(session: Session | None, a: np.ndarray, pivots: np.ndarray) -> list[int]:
    """getrf of each matrix of a stack in C order as LAPACK sees it, its transpose; pivots from 1, a row of int64 for each matrix.
    The infos."""

def factor_positive_stack(session: Session | None, a: np.ndarray, lower: bool, clean: bool) -> list[int]:
    """The Cholesky factor of each matrix of a stack in C order, in place in one triangle; zeros in the other one where `clean`.
    The infos."""

def columns(session: Session | None, a: Any, overwrite: bool, check_finite: bool) -> np.ndarray | None:
    """A column-major array that may be overwritten, with the elements of a: a itself where that is allowed and lies so. None
    where a is no plain matrix or vector."""

def factor_positive(
    session: Session | None, a: Any, lower: bool, overwrite_a: bool, clean: bool, check_finite: bool
) -> np.ndarray | int | None:
    """The Cholesky factor, the other triangle zeroed when `clean`; else as solve_positive."""

def solve_factored(
    session: Session | None, c: Any, lower: bool, b: Any, overwrite_b: bool, check_finite: bool
) -> np.ndarray | None:
    """The solution with a Cholesky factor; None as in solve_positive."""

def multiply(session: Session | None, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> bool:
    """C <- A B for matrices with unit stride in one dimension, or stacks of such (three dimensions, of equal length); False
    where the arrays are anything else."""

def product(session: Session | None, a: Any, b: Any) -> np.ndarray | None:
    """A B as a new array; None where a and b are not plain, non-empty matrices of fitting shapes that `multiply` takes."""

def all_finite(session: Session | None, a: np.ndarray) -> bool: ...
def is_hermitian(session: Session | None, a: np.ndarray) -> bool:
    """Element for element; a NaN is not equal to itself."""

def available_memory() -> float:
    """Bytes that can be allocated before the system kills somebody; infinity where that is not known."""

def add_kernel_library_folder(folder: str) -> None:
    """A folder to look in first for vendor libraries that are loaded from now on."""

# What there is. Each entry: name, available (bool), summary, source, and where they apply version and why_not.

def default_tile(routine: str, variant: str, n: int, element_bytes: int, workers: int, device_bytes: float = 0.0) -> int:
    """The tile size that a square problem gets when none is asked for; `device_bytes`: of the smallest device."""
    ...

def list_schedulers() -> list[dict[str, Any]]:
    """Also `options`: a list of name, values, standard (when not given), summary; given as NAME:KEY=VALUE,KEY=VALUE."""

def list_devices() -> list[dict[str, Any]]:
    """Back ends of devices."""

def devices(words: str = "") -> list[dict[str, Any]]:
    """Those that the words name, measured; without words those that are there, emulated ones left out."""

def list_engines() -> list[dict[str, Any]]:
    """Also what it does with the task model: parallel, live_priorities, malleable, emulates_slow, computes."""

def list_kernels() -> list[dict[str, Any]]: ...
def list_threads() -> list[dict[str, Any]]: ...
def list_machines() -> list[dict[str, Any]]: ...
def list_routines() -> list[dict[str, Any]]:
    """Also `variants`: the list of names that `variant` takes, the default first; and `simulated_variants`, those of its graph in
    simulated runs, None where there is no graph. `forms`: of each its name, and whether it can be called (called) or simulated,
    works on images of its operands (packs_images), has factors that are not LAPACK's (own_factors), of LU pivots otherwise than
    partial pivoting does (other_pivots), goes by memory nodes (by_nodes), is for tall matrices (tall)."""

def machine(measure: bool = True, fresh: bool = False) -> str:
    """This machine as one JSON object."""

def load_machine(name_or_path: str) -> str:
    """A described machine as one JSON object."""

def native_blocks(machine: str = "") -> list[dict[str, Any]]:
    """How our own kernels cut a product, per precision and kind of core: precision, kind, mr, nr, kc, mc, nc.
    Empty: this machine."""

def unknown_name(what: str, given: str, known: Sequence[str]) -> str:
    """The message for an unknown name: what it should name, the known names, and the one that was probably meant."""

def described_machines() -> list[str]: ...
def time_calls(
    function: int, words: Sequence[int], restores: Sequence[tuple[int, int, int]], *, dropped: float, least: float
) -> tuple[int, float, float, float]:
    """Calls the C function at that address with these words, again and again: first for `dropped` seconds, then for `least`,
    at least once. Of the latter, how many and the sum of their seconds, and by time.perf_counter when the first began and the
    last ended. Before each, outside of these seconds, `restores` copies: to, from, bytes. Nothing is checked: a wrong address
    ends the process."""

def time_lone_calls(
    function: int, words: Sequence[int], restores: Sequence[tuple[int, int, int]], *, silence: float, times: int
) -> list[float]:
    """The seconds of each of `times` calls, every one after `silence` seconds of sleep that follow the copies."""
