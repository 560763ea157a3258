"""What a system takes as its BLAS and LAPACK: ours first, everything else from the library behind, and how that one is found."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "build" / "lib" / "system"
SCRIPT = ROOT / "build" / "trencadis-system-blas"
NAMES = ("libblas.so.3", "liblapack.so.3", "libblas64.so.3", "liblapack64.so.3")
TRIPLET = sysconfig.get_config_var("MULTIARCH") or "x86_64-linux-gnu"
SYSTEM = Path("/usr/lib") / TRIPLET
#: Sets of a BLAS and a LAPACK that may be behind ours, as Debian installs them.
OTHERS = {
    "reference": (SYSTEM / "blas/libblas.so.3", SYSTEM / "lapack/liblapack.so.3"),
    "openblas": (SYSTEM / "openblas-pthread/libblas.so.3", SYSTEM / "openblas-pthread/liblapack.so.3"),
    "blis": (SYSTEM / "blis-pthread/libblas.so.3", SYSTEM / "lapack/liblapack.so.3"),
}

pytestmark = pytest.mark.skipif(not (BUILT / "libblas.so.3").exists(), reason=f"{BUILT}/libblas.so.3 is not built")
needs_alternatives = pytest.mark.skipif(
    not shutil.which("update-alternatives"), reason="update-alternatives is not here: systems other than Debian's have none"
)


def behind_name(library):
    return f"{library}-behind-trencadis--run-trencadis-system-blas-register"


def run(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **options)


def installed(folder):
    """Our libraries, as they lie beside libtrencadis.so when they are installed."""
    own = folder / "trencadis"
    own.mkdir()
    for name in NAMES:
        shutil.copy(BUILT / name, own / name)
    (folder / "libtrencadis.so.0").symlink_to(ROOT / "build" / "lib" / "libtrencadis.so.0")
    return own


CLIENT = r"""
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
extern void dgemm_(), dpotrf_(), dsyev_();
extern double ddot_();
extern double _Complex zdotc_(); /* as gfortran gives it back */
enum { n = 120 };
static double a[n * n], b[n * n], c[n * n], w[n], work[40 * n];
int main(void)
{
    const int order = n, one_step = 1, length = 40 * n;
    const double one = 1, zero = 0;
    int info = -7;
    for (int i = 0; i < n * n; ++i) a[i] = b[i] = (double)rand() / RAND_MAX;
    for (int i = 0; i < n; ++i) a[i * n + i] += n;
    dgemm_("N", "T", &order, &order, &order, &one, a, &order, a, &order, &zero, c, &order);
    dpotrf_("L", &order, c, &order, &info);
    const double norm = ddot_(&order, b, &one_step, b, &one_step);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += b[i] * b[i];
    const double _Complex z[2] = {1 + 2 * I, 3 - I};
    const int two = 2;
    const double _Complex square = zdotc_(&two, z, &one_step, z, &one_step);
    dsyev_("V", "L", &order, b, &order, w, work, &length, &info);
    printf("%d %d %g %g\n", info, norm - sum < 1e-12 && sum - norm < 1e-12, creal(square), cimag(square));
    return 0;
}
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A program linked with -lblas -llapack, against whatever has been built for that."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "client.c").write_text(CLIENT)
    anything = [path for pair in OTHERS.values() for path in pair if path.exists()]
    if not {path.name for path in anything} >= {"libblas.so.3", "liblapack.so.3"}:
        pytest.skip("there is no other BLAS and LAPACK here: apt install libblas3 liblapack3")
    pair = next(pair for pair in OTHERS.values() if pair[0].exists() and pair[1].exists())
    result = run(["cc", "-w", "-O1", folder / "client.c", *reversed(pair), "-o", folder / "client"])
    assert result.returncode == 0, result.stderr
    return folder / "client"


def run_client(client, own, **environment):
    variables = {**os.environ, "LD_LIBRARY_PATH": str(own), "TRENCADIS_VERBOSE": "1", "OPENBLAS_NUM_THREADS": "1", **environment}
    return run([client], env=variables)


@pytest.mark.parametrize("other", OTHERS)
def test_ours_come_first_and_the_rest_from_behind_whose_own_calls_are_ours_too(other, client, tmp_path):
    if not all(path.exists() for path in OTHERS[other]):
        pytest.skip(f"{other} is not here: apt install libblas3 liblapack3 libopenblas0-pthread libblis4-pthread")
    own = installed(tmp_path)
    (own / "behind").mkdir()
    for name, path in zip(NAMES, OTHERS[other], strict=False):
        (own / "behind" / behind_name(name)).symlink_to(path)
    result = run_client(client, own)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "0 1 15 0\n"
    calls = re.findall(r"^trencadis: (\w+) ", result.stderr, re.MULTILINE)
    assert {"dgemm", "dpotrf", "dsyr2k"} <= set(calls), calls  # the last one from inside dsyev


def test_with_nothing_behind_the_loader_names_what_is_missing_and_what_to_do(client, tmp_path):
    result = run_client(client, installed(tmp_path))
    assert result.returncode == 127
    assert f"{behind_name('libblas.so.3')}: cannot open shared object file" in result.stderr.replace("lapack", "blas")


def test_ours_behind_ourselves_ends_with_the_missing_symbol(client, tmp_path):
    own = installed(tmp_path)
    (own / "behind").mkdir()
    for name in NAMES:
        (own / "behind" / behind_name(name)).symlink_to(own / name)
    result = run_client(client, own)
    assert result.returncode == 127
    assert "undefined symbol" in result.stderr


def shown(library):
    return set(re.findall(r" ([\w]+)$", run(["nm", "-D", "--defined-only", library]).stdout, re.MULTILINE))


def test_they_have_the_plain_names_of_the_drop_in_library_which_are_wide_ones_in_the_wide_libraries():
    drop_in = shown(ROOT / "build" / "lib" / "libtrencadis_lapack.so")
    plain = {name for name in drop_in if not re.match(r"scipy_|LAPACKE_|.*64_?$", name)}
    assert {"dgemm_", "cblas_dgemm", "zgesv_"} <= plain
    for name in NAMES:
        expected = plain | {f"{each}64_" for each in plain} & drop_in if "64" in name else plain
        assert shown(BUILT / name) == expected


# What libraries do that choose a BLAS while a program runs (FlexiBLAS, Julia's libblastrampoline): they open it by its path, for
# themselves, look up every name, and find out the width of its integers by a length that is 3 to 32-bit readers, else negative.
CHOOSER = """
import ctypes, os, sys
path, names = sys.argv[1], sys.argv[2:]
library = ctypes.CDLL(path, mode=os.RTLD_LOCAL | os.RTLD_NOW)
print([name for name in names if not hasattr(library, name)])
length, step = ctypes.c_uint64(0xFFFFFFFF00000003), ctypes.c_int64(1)
at = library.isamax_(ctypes.byref(length), (ctypes.c_float * 3)(1, 2, 1), ctypes.byref(step))
info = ctypes.c_int64(0)
order, leading = ctypes.c_int64(2), ctypes.c_int64(0)
library.dpotrf_(b"U", ctypes.byref(order), (ctypes.c_double * 4)(), ctypes.byref(leading), ctypes.byref(info))
print({2: 32, 0: 64}[at], {0xFFFFFFFC: 32, -4: 64}[info.value])
"""


@pytest.mark.parametrize(("name", "width"), [("libblas", 32), ("libblas64", 64)])
def test_who_opens_it_by_its_path_finds_every_routine_and_the_width_of_its_integers(name, width, tmp_path):
    other = SYSTEM / name.removeprefix("lib") / f"{name}.so.3"
    if not other.exists():
        pytest.skip(f"the reference BLAS is not here: apt install {name}{'-' if width == 64 else ''}3")
    own = installed(tmp_path)
    (own / "behind").mkdir()
    (own / "behind" / behind_name(f"{name}.so.3")).symlink_to(other)
    names = [each for each in shown(other) if re.fullmatch(r"[a-z0-9_]+", each)]
    assert len(names) > 250
    result = run([sys.executable, "-c", CHOOSER, own / f"{name}.so.3", *names])
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"[]\n{width} {width}\n"


# What the programs do that set the threads of "the BLAS", whichever it is.
LIMITER = """
import ctypes, os, sys
path, behind = sys.argv[1:]
library = ctypes.CDLL(path, mode=os.RTLD_LOCAL | os.RTLD_NOW)
before = library.openblas_get_num_threads()
said = [before]
for threads in 1, 0, 1:
    library.openblas_set_num_threads(threads)
    said.append(library.openblas_get_num_threads())
library.openblas_set_num_threads_(ctypes.byref(ctypes.c_int(10_000)))
said.append(library.openblas_get_num_threads_())
assert said == [before, 1, before, 1, before], said
library.openblas_set_num_threads(1)
print(ctypes.CDLL(behind).openblas_get_num_threads(), before)
"""


@pytest.mark.parametrize("name", NAMES)
def test_the_limits_that_programs_set_to_openblas_are_ours_and_those_of_the_library_behind(name, tmp_path):
    behind = OTHERS["openblas"][0]
    if not behind.exists():
        pytest.skip("OpenBLAS is not here: apt install libopenblas0-pthread")
    own = installed(tmp_path)
    (own / "behind").mkdir()
    (own / "behind" / behind_name(name)).symlink_to(behind)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    result = run([sys.executable, "-c", LIMITER, own / name, SYSTEM / "libopenblas.so.0"], env=environment)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"1 {len(os.sched_getaffinity(0))}\n"


# A system's BLAS is in programs that run with their owner's rights, too.
OTHERS_CODE = """
#include <unistd.h>
__attribute__((constructor)) static void speak(void) { (void)!write(1, "a stranger's code ran\\n", 22); }
"""
PRIVILEGED = """
#include <stdio.h>
extern void dgemm_();
enum { n = 700 };
static double a[n * n], c[n * n];
int main(void)
{
    const int order = n;
    const double one = 1, zero = 0;
    for (int i = 0; i < n * n; ++i) a[i] = 1;
    dgemm_("N", "N", &order, &order, &order, &one, a, &order, a, &order, &zero, c, &order);
    printf("%g\\n", c[n * n - 1]);
    return 0;
}
"""


@pytest.fixture
def open_folder():
    """One that others may enter, unlike pytest's."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes programs of root's that others run")
@pytest.mark.parametrize("variables", [("TRENCADIS_KERNELS", "TRENCADIS_OPENBLAS_LIBRARY"), ("HWLOC_PLUGINS_PATH",)])
def test_a_program_with_its_owners_rights_loads_nothing_that_its_caller_names(variables, open_folder):
    (open_folder / "stranger.c").write_text(OTHERS_CODE)
    (open_folder / "program.c").write_text(PRIVILEGED)
    stranger, program, drop_in = open_folder / "hwloc_stranger.so", open_folder / "program", ROOT / "build" / "lib"
    for command in (
        ["cc", "-w", "-shared", "-fPIC", open_folder / "stranger.c", "-o", stranger],
        ["cc", "-w", open_folder / "program.c", f"-L{drop_in}", f"-Wl,-rpath,{drop_in}", "-ltrencadis_lapack", "-o", program],
    ):
        assert run(command).returncode == 0
    values = {
        "TRENCADIS_KERNELS": "openblas",
        "TRENCADIS_OPENBLAS_LIBRARY": str(stranger),
        "HWLOC_PLUGINS_PATH": str(open_folder),
    }
    environment = {"PATH": "/usr/bin:/bin", "TRENCADIS_VERBOSE": "1", **{name: values[name] for name in variables}}
    plain = run([program], env=environment)
    assert "a stranger's code ran" in plain.stdout, "else the rest shows nothing"
    program.chmod(0o4755)
    trusted = run([program], env=environment, user=65534, group=65534, extra_groups=[])
    assert (trusted.returncode, trusted.stdout, trusted.stderr) == (0, "700\n", "")


# How the library behind is found. The register is one of our own, in a folder.
class Register:
    def __init__(self, folder):
        self.own = installed(folder)
        self.admin, self.links = folder / "register", folder / "links"
        for each in (self.admin / "admin", self.admin / "alternatives", self.links):
            each.mkdir(parents=True)

    def alternatives(self, *words):
        options = ["--quiet", "--admindir", self.admin / "admin", "--altdir", self.admin / "alternatives", "--log", "/dev/null"]
        return run(["update-alternatives", *options, *words])

    def add(self, name, path, priority):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text("another library")
        result = self.alternatives("--install", self.links / name, f"{name}-{TRIPLET}", path, priority)
        assert result.returncode == 0, result.stderr
        return path

    def call(self, word):
        result = run(["sh", SCRIPT, "--own", self.own, "--links", self.links, "--admin", self.admin, word])
        assert result.returncode == 0, result.stderr
        return result.stdout + result.stderr

    def chosen(self, name):
        found = re.search(r"^Value: (.*)$", self.alternatives("--query", f"{name}-{TRIPLET}").stdout, re.MULTILINE)
        return found and Path(found[1])

    def behind(self, name):
        link = self.own / "behind" / behind_name(name)
        return link.readlink() if link.is_symlink() else None


@pytest.fixture
def register(tmp_path):
    return Register(tmp_path)


@needs_alternatives
def test_the_best_of_the_others_is_behind_and_ours_is_chosen(register, tmp_path):
    register.add("libblas.so.3", tmp_path / "slow" / "libblas.so.3", 10)
    fast = register.add("libblas.so.3", tmp_path / "fast" / "libblas.so.3", 100)
    register.call("register")
    assert register.behind("libblas.so.3") == fast
    assert register.chosen("libblas.so.3") == register.own / "libblas.so.3"
    assert f"libblas.so.3: behind ours is {fast}" in register.call("show")
    register.call("register")  # again: it does not find itself
    assert register.behind("libblas.so.3") == fast


@needs_alternatives
def test_what_was_chosen_by_hand_is_behind(register, tmp_path):
    slow = register.add("libblas.so.3", tmp_path / "slow" / "libblas.so.3", 10)
    register.add("libblas.so.3", tmp_path / "fast" / "libblas.so.3", 100)
    register.alternatives("--set", f"libblas.so.3-{TRIPLET}", slow)
    register.call("register")
    assert register.behind("libblas.so.3") == slow
    assert register.chosen("libblas.so.3") == slow, "a choice by hand stays"


@needs_alternatives
def test_a_copy_of_ours_and_what_may_lead_back_to_us_are_never_behind(register, tmp_path):
    copy = tmp_path / "copy" / "libblas.so.3"
    copy.parent.mkdir()
    shutil.copy(BUILT / "libblas.so.3", copy)
    register.add("libblas.so.3", copy, 900)
    chooser = tmp_path / "chooser" / "libblas.so.3"
    chooser.parent.mkdir()
    chooser.write_text("needs libflexiblas.so.3")
    register.add("libblas.so.3", chooser, 800)
    other = register.add("libblas.so.3", tmp_path / "other" / "libblas.so.3", 10)
    register.call("register")
    assert register.behind("libblas.so.3") == other


@needs_alternatives
def test_where_there_is_no_other_ours_is_withdrawn_and_it_is_said(register, tmp_path):
    other = register.add("libblas.so.3", tmp_path / "other" / "libblas.so.3", 10)
    register.call("register")
    register.alternatives("--remove", f"libblas.so.3-{TRIPLET}", other)
    said = register.call("register")
    assert "no other libblas.so.3 is registered, so ours is not" in said
    assert "libblas64" not in said, "who has none with 64-bit integers does not miss it"
    assert register.chosen("libblas.so.3") is None
    assert register.behind("libblas.so.3") is None


@needs_alternatives
def test_a_file_that_went_without_being_unregistered_is_passed_over(register, tmp_path):
    gone = register.add("libblas.so.3", tmp_path / "gone" / "libblas.so.3", 100)
    other = register.add("libblas.so.3", tmp_path / "other" / "libblas.so.3", 10)
    gone.unlink()
    register.call("register")
    assert register.behind("libblas.so.3") == other


@needs_alternatives
def test_unregistering_leaves_the_others_and_nothing_of_ours(register, tmp_path):
    for name in NAMES:
        register.add(name, tmp_path / "other" / name, 10)
    register.call("register")
    assert {register.chosen(name) for name in NAMES} == {register.own / name for name in NAMES}
    register.call("unregister")
    assert {register.chosen(name) for name in NAMES} == {tmp_path / "other" / name for name in NAMES}
    assert not (register.own / "behind").exists()
    register.call("unregister")  # safe to repeat


@needs_alternatives
@pytest.mark.skipif(not shutil.which("flock"), reason="flock is not here")
def test_several_at_once_come_one_after_the_other(register, tmp_path):
    for name in NAMES:
        register.add(name, tmp_path / "other" / name, 10)
    command = ["sh", SCRIPT, "--own", register.own, "--links", register.links, "--admin", register.admin, "register"]
    several = [subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True) for _ in range(8)]
    assert [(each.communicate(timeout=300)[1], each.returncode) for each in several] == [("", 0)] * 8
    assert {register.behind(name) for name in NAMES} == {tmp_path / "other" / name for name in NAMES}
    assert len(list((register.own / "behind").iterdir())) == len(NAMES)


@needs_alternatives
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("word", ["register", "unregister"])
def test_who_may_not_write_there_is_told_and_may_look(word, open_folder):
    register = Register(open_folder)
    command = ["sh", SCRIPT, "--own", register.own, "--links", register.links, "--admin", register.admin]
    nobody = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": "/"}
    script = open_folder / "script"  # the checkout may be in a folder that others may not enter
    shutil.copy(SCRIPT, script)
    command[1] = script
    result = run([*command, word], **nobody)
    assert (result.returncode, result.stderr) == (
        1,
        f"trencadis-system-blas: {register.own} cannot be written to; as root, please\n",
    )
    assert "libblas.so.3: nothing behind ours" in run([*command, "show"], **nobody).stdout


@needs_alternatives
@pytest.mark.parametrize("words", [[], ["regster"], ["--own"], ["--onw", "x", "show"]])
def test_other_words_are_answered_with_the_usage(words):
    result = run(["sh", SCRIPT, *words])
    assert result.returncode == 2
    assert "trencadis-system-blas register" in result.stderr
