"""What the libraries show is what the installed headers declare, and what the installed headers are is a short list."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARIES = ROOT / "build" / "lib"
HEADERS = ROOT / "build" / "generated" / "include" / "trencadis"  # staged, as they are installed

pytestmark = pytest.mark.skipif(not (LIBRARIES / "libtrencadis.so").exists(), reason=f"{LIBRARIES}/libtrencadis.so is not built")


def run(words, **options):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300, **options)
    assert result.returncode == 0, result.stderr
    return result.stdout


def symbols(library, *options):
    """{symbol: version or ""} of the dynamic table."""
    lines = run(["nm", "-D", *options, library]).splitlines()
    names = [line.split()[-1] for line in lines]
    return {name.partition("@")[0]: name.rpartition("@")[2] for name in names if not name.startswith("TRENCADIS_")}


def demangled(names):
    names = sorted(names)
    return dict(zip(names, run(["c++filt"], input="\n".join(names)).splitlines(), strict=True))


def without_templates(text):
    while (shorter := re.sub(r"<[^<>]*>", "", text)) != text:
        text = shorter
    return text


def function_of(signature):
    """a::b of "void a::b<double>(int)"."""
    name = re.sub(r"\[abi:\w+\]", "", without_templates(signature)).partition("(")[0]
    return name.split()[-1]


def of_version(version):
    defined = symbols(LIBRARIES / "libtrencadis.so", "--defined-only")
    return {name for name, its in defined.items() if its == version}


def declared_by(statement):
    """The function that a statement of a header declares, or None: it is something else, or there is nothing left to define."""
    text = without_templates(re.sub(r"requires .*", "", re.sub(r"\b(?:public|private):", "", statement)))
    if re.search(r"=\s*(delete|default|0)?\s*$|\busing\b|\bfriend\b", text):
        return None
    function = re.match(r"[^=(]*?(~?\w+)\s*\((?!\*)", text)
    return function and function[1]


def functions_declared(text):
    """Names of the functions that a C++ header declares and does not define, with their namespaces and classes."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/|^#[^\n]*|= \{\}", "", text, flags=re.DOTALL | re.MULTILINE)
    names, scopes, statement, depth = set(), [], "", 0
    for piece in re.split(r"([{};])", text):
        if depth:  # inside a function or an enumeration
            depth += (piece == "{") - (piece == "}")
        elif piece == "{":
            opened = re.search(r"(?:^|\s)(?:namespace|(?<!enum )class|struct)\s+([\w:]+)[^()=]*$", statement)
            scopes += [opened[1]] if opened else []
            depth = not opened
        elif piece == "}":
            scopes.pop()
        elif piece == ";":
            if name := declared_by(statement):
                names.add("::".join([*scopes, name]))
        else:
            statement = piece
            continue
        statement = ""
    return names


def test_the_installed_headers_are_those_that_say_nothing_of_how_it_works():
    assert {str(path.relative_to(HEADERS)) for path in HEADERS.rglob("*.hpp")} == {
        *("trencadis.hpp", "flow.hpp", "base/error.hpp", "base/node_bytes.hpp", "base/scalar.hpp", "base/types.hpp"),
        *("graph/access_mode.hpp", "graph/info.hpp", "graph/waiting.hpp", "matrix/ops.hpp", "matrix/tile_owners.hpp"),
        *("drivers/distributed.hpp", "drivers/incremental_lu.hpp", "drivers/linear_algebra.hpp", "drivers/tile_qr.hpp"),
        *("observe/trace.hpp", "session/session.hpp"),
    }


def test_the_installed_headers_show_nothing_of_what_the_library_does_with_a_session():
    source, staged = (folder / "session" / "session.hpp" for folder in (ROOT / "src", HEADERS))
    functions = {name.rpartition("::")[2] for name in functions_declared(source.read_text())}
    installed = {name.rpartition("::")[2] for name in functions_declared(staged.read_text())}
    inside = {*("run", "open_flow", "executor", "kernels", "standard_kernels", "machine", "nodes_of_pages", "add_node_bytes"),
              *("made_before_fork", "require_workers", "run_shared", "processes", "sent", "device_traffic"),
              *("devices", "device_bytes", "chooser", "note_choice", "run_with", "devices_for", "keeps", "touch"),
              *("device", "device_of", "has_arrays", "minds_memory", "require_device", "require_there", "has_equal_workers"),
              *("device_kernels", "expected_there", "plan_of", "keep_plan", "turn_with", "give_up_idle_memory"),
              *("lock_pages", "refuse", "resolve", "is_traced", "was_asked_for_node_bytes")}  # fmt: skip
    assert functions - installed == inside
    types = r"\b(Executor|KernelProvider|Flow|Machine)\b"
    assert not re.search(types, re.sub(r"//.*", "", staged.read_text()))
    assert [path for path in HEADERS.rglob("*.hpp") if re.search(r"// inside\b|// <<<", path.read_text())] == []


def test_libtrencadis_shows_the_functions_of_the_c_headers():
    headers = "".join(path.read_text() for path in (ROOT / "include" / "trencadis").glob("*.h"))
    text = re.sub(r"/\*.*?\*/", "", headers, flags=re.DOTALL)
    declared = set(re.findall(r"^\w[\w *]*\b(trc_\w+)\(", text, re.MULTILINE))
    assert len(declared) > 50
    assert {name for name in of_version("TRENCADIS_0") if name.startswith("trc_")} == declared


def test_libtrencadis_shows_what_the_cxx_headers_declare():
    declared = set().union(*(functions_declared(path.read_text()) for path in HEADERS.rglob("*.hpp")))
    shown = demangled(name for name in of_version("TRENCADIS_0") if name.startswith("_Z"))
    functions = {function_of(text) for text in shown.values() if not text.startswith(("typeinfo", "vtable"))}
    inside = {f"trencadis::Sleeper::{name}" for name in ("sleep", "wake", "leave")}  # what events and locks are made of
    assert functions == declared - inside
    routines = [text for text in shown.values() if text.startswith(("void ", "long "))]
    alone = ("::laswp<", "::larft<", "::larfb<")  # need no session
    others = [text for text in routines if ">(trencadis::Crew&, " not in text]
    assert [text for text in others if not any(name in text for name in alone)] == [], "of the same name, but inside"
    assert {text for text in shown.values() if text.startswith(("typeinfo", "vtable"))} == {
        "typeinfo for trencadis::Error",
        "typeinfo name for trencadis::Error",
        "vtable for trencadis::Error",
    }


def test_what_is_shown_besides_is_what_our_own_companions_need():
    companions = [LIBRARIES / "libtrencadis_lapack.so", *(ROOT / "python" / "trencadis").glob("_core.*.so")]
    assert len(companions) == 2
    needed = set().union(*(symbols(library, "--undefined-only") for library in companions))
    private = of_version("TRENCADIS_PRIVATE")
    assert {text for name, text in demangled(private).items() if name not in needed} == set()


def test_every_name_has_a_version():
    assert set(symbols(LIBRARIES / "libtrencadis.so", "--defined-only").values()) == {"TRENCADIS_0", "TRENCADIS_PRIVATE"}


def test_the_drop_in_library_shows_names_that_programs_call_only():
    text = (ROOT / "src" / "algorithms" / "signatures.hpp").read_text()
    lists = dict(re.findall(r"#define TRC_(\w+)_(?:ROUTINES|NAMES)\([^)]*\)((?:.*\\\n)*.*)", text))
    found = {name: re.findall(r"DEFINE\(([a-z0-9]+),", body) for name, body in lists.items()}
    blas = found["REAL_PRODUCT"] + found["TRIANGULAR"] + found["HERMITIAN_BLAS"]
    groups = ("PLAIN", "TILE", "SCRATCH", "WORKSPACE", "PIVOTED", "ORTHOGONAL", "UNITARY", "REFLECTOR", "SCALING", "CONDITION")
    groups += ("EXPERT", "REAL_NORM", "HERMITIAN_NORM")
    lapack = [routine for group in groups for routine in found[group]] + ["laswp"]
    fortran = rf"(scipy_)?[sdcz]({'|'.join(blas + lapack)})(_|_64_)|[sdcz]({'|'.join(blas + lapack)})_64"
    cblas = rf"(scipy_)?cblas_[sdcz]({'|'.join(blas)})(|64_)|cblas_[sdcz]({'|'.join(blas)})_64"
    lapacke = rf"LAPACKE_[sdcz]({'|'.join(lapack)})(_work)?(|_64|64_)"
    mixed = "(scipy_)?(ds|zc)(gesv|posv)(_|_64_)|(ds|zc)(gesv|posv)_64|LAPACKE_(ds|zc)(gesv|posv)(_work)?(|_64|64_)"
    threads = "openblas_[gs]et_num_threads_?"  # by which programs limit the threads of their BLAS
    names = symbols(LIBRARIES / "libtrencadis_lapack.so", "--defined-only")
    assert [name for name in names if not re.fullmatch(f"{fortran}|{cblas}|{lapacke}|{mixed}|{threads}", name)] == []
    for routine in blas + lapack:
        precisions = "sd" if routine in found["ORTHOGONAL"] else "cz"
        assert {name for name in names if re.fullmatch(f"[{precisions}]{routine}_", name)}, routine
    for routine in found["ORTHOGONAL"]:  # are called otherwise in complex precisions
        assert not {name for name in names if re.fullmatch(f".*[cz]{routine}_.*", name)}, routine


def test_a_program_catches_what_the_library_throws(tmp_path):
    (tmp_path / "catches.cpp").write_text("""
        #include <trencadis/trencadis.hpp>
        #include <cstdio>
        int main()
        {
            try {
                trencadis::SessionOptions options;
                options.scheduler = "no such thing";
                trencadis::Session session(options);
            } catch (const trencadis::Error& error) {
                return error.code() == trencadis::ErrorCode::bad_argument ? 0 : 1;
            }
            return 2;
        }
    """)
    for flags in ([], ["-fvisibility=hidden"]):
        command = ["c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", *flags, "catches.cpp", f"-I{HEADERS.parent}"]
        run([*command, f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}", "-ltrencadis", "-o", "catches"], cwd=tmp_path)
        run([tmp_path / "catches"])


@pytest.mark.parametrize("standard", ["c99", "c11", "gnu17"])
@pytest.mark.parametrize("header", ["trencadis.h", "distributed.h"])
def test_the_c_headers_leave_a_programs_own_names_to_it(header, standard):
    text = f"""
        #include <trencadis/{header}>
        struct complex {{ double re, im; }};
        static int imaginary(int n) {{ int sum = 0; for (int I = 0; I < n; ++I) sum += I; return sum; }}
        int main(void)
        {{
            struct complex one = {{1, 0}};
            trc_complex_double two = (trc_complex_double)2;
            return imaginary(1) + (int)one.im + (two == 2 ? 0 : 1);
        }}
    """
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}"]
    run(["cc", *flags, "-x", "c", "-"], input=text)


@pytest.mark.parametrize("header", sorted(str(path.relative_to(HEADERS.parent)) for path in HEADERS.rglob("*.hpp")))
def test_each_installed_header_is_whole_by_itself(header):
    text = f"#include <{header}>\n#include <{header}>\n"
    flags = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{HEADERS.parent}"]
    run(["c++", *flags, "-x", "c++", "-"], input=text)
