"""Arguments that cannot be: the message is one line, and speaks Python."""

import inspect
import re
import warnings

import numpy as np
import pytest
import trencadis
from trencadis import lapack


class Odd:
    """Nothing that anything could be made of."""


class OddName:
    """Its repr is a page."""

    def __repr__(self):
        return "a page\nof text " * 20


ODD = [
    None, "text", "", 1.5, -1, 2**70, 1j, float("nan"), (), [], {}, b"\xff", "\udcff", Odd(), OddName(), np.zeros(2),
    np.str_("x"), print,
]  # fmt: skip

A = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
B = np.array([1.0, 2, 3])
LU = trencadis.lu_factor(A)
C = trencadis.cho_factor(A)
R, TAU, *_ = lapack.dgeqrf(A)
_, PIV = LU
GIVEN = {"a": A, "b": B, "A": A, "c": A, "tau": TAU, "lu_and_piv": LU, "c_and_lower": C, "lu": LU[0], "piv": PIV, "anorm": 1.0,
         "norm": "1", "side": "L", "trans": "N", "lwork": 100}  # fmt: skip
#: What says that somebody else's language is spoken: C++, nanobind, the command line.
FOREIGN = re.compile(r"::|\bstd\b|nanobind|nb_|_core|\.[hc]pp|incompatible function arguments|NULL|--\w|IncrementalLu\b")


def names():
    yield from (name for name in trencadis.__all__ if callable(getattr(trencadis, name)) and name != "BackendError")
    yield from ("lapack." + name for name in lapack.__all__ if name[0] in "dz")
    yield from ("TileQR(A).solve", "TileQR(A).apply", "TileQR(A).q", "IncrementalLU(A).solve")


def called(name):
    if "(A)" not in name:
        return getattr(lapack, name[7:]) if name.startswith("lapack.") else getattr(trencadis, name)
    made, method = name.split("(A).")
    return getattr(getattr(trencadis, made)(A), method)


def is_one_line(error):
    text = str(error)
    return "\n" not in text and 0 < len(text) < 400 and not FOREIGN.search(text)


@pytest.mark.parametrize("name", list(names()))
def test_the_message_is_one_line(name):
    function = called(name)
    parameters = [p for p in inspect.signature(function).parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    given = {p.name: GIVEN[p.name] for p in parameters if p.default is p.empty and p.name in GIVEN}
    bad = []
    for parameter in parameters:
        for odd in ODD:
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    function(**{**given, parameter.name: odd})
            except (ValueError, TypeError, RuntimeError, MemoryError, NotImplementedError) as error:
                if not is_one_line(error):
                    bad.append((parameter.name, ascii(odd)[:30], type(error).__name__, str(error)[:100]))
            except Exception as error:  # noqa: BLE001
                bad.append((parameter.name, ascii(odd)[:30], type(error).__name__, str(error)[:300]))
    assert not bad, "\n".join(map(str, bad))
