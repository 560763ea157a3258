"""trencadis graph on the command line."""

import json
import os
import shutil
import subprocess
from xml.etree import ElementTree

import pytest
from commands import COMMAND, refusal, rows, trencadis

SMALL = ["graph", "potrf", "--n", "3", "--nb", "1", "--variant", "in-place"]


def test_json_has_the_numbers_and_every_task():
    (row,) = rows(*SMALL)
    assert (row["routine"], row["variant"], row["n"], row["nb"], row["precision"]) == ("potrf", "in-place", 3, 1, "d")
    assert (row["tasks"], row["depth"], row["width"]) == (10, 7, 3)
    assert row["kernels"] == {"potrf": 3, "trsm": 3, "syrk": 3, "gemm": 1}
    assert row["dependences"] == sum(len(task["after"]) for task in row["graph"]) == 12
    gemm = row["graph"][4]
    assert gemm["data"] == [
        {"mode": "read", "name": "A(3,1)"}, {"mode": "read", "name": "A(2,1)"}, {"mode": "readwrite", "name": "A(3,2)"},
    ]  # fmt: skip
    assert gemm["after"] == [1, 2] and gemm["kernel"] == "gemm" and gemm["inside"] is None


def test_table_names_tiles_and_counts_kernels():
    text = trencadis(*SMALL)[0]
    assert "A(3,2)" in text and "A(3,1), A(2,1)" in text
    assert "10 tasks (3 potrf, 3 trsm, 3 syrk, 1 gemm), 12 dependences; the longest chain has 7, at most 3" in text


def test_tile_size_is_that_of_calls_where_none_is_given():
    (row,) = rows("graph", "getrf", "--n", "2000")
    assert 0 < row["nb"] < 2000 and row["tasks"] > 10


def test_dot_has_a_node_a_task_and_an_edge_a_dependence(tmp_path):
    file = tmp_path / "dag.dot"
    (row,) = rows(*SMALL, "-o", str(file))
    text = file.read_text()
    assert text.count(" -> ") == row["dependences"] and text.count("[label=") == row["tasks"]
    assert r'label="gemm\nA(3,2) | A(3,1), A(2,1)"' in text


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed: apt install graphviz")
@pytest.mark.parametrize(
    "words", [SMALL, ["graph", "potrf", "--n", "8", "--nb", "4", "--variant", "two-level", "--inner", "2"],
              ["graph", "geqrf", "--n", "64", "--nb", "16", "--variant", "flat"], ["graph", "potrf", "--n", "0"]]
)  # fmt: skip
def test_svg_has_every_task(tmp_path, words):
    file = tmp_path / "dag.svg"
    (row,) = rows(*words, "-o", str(file))
    groups = [g.get("class") for g in ElementTree.parse(file).iter("{http://www.w3.org/2000/svg}g")]
    assert groups.count("node") == row["tasks"]
    inside = sum(task["inside"] is not None and not task["after"] for task in row["graph"])
    assert groups.count("edge") == row["dependences"] + inside


def test_picture_without_graphviz_says_what_is_missing(tmp_path):
    words = [*COMMAND, *SMALL, "-o", str(tmp_path / "dag.svg")]
    nothing = tmp_path / "bin"
    nothing.mkdir()
    run = subprocess.run(words, capture_output=True, text=True, env=os.environ | {"PATH": str(nothing)}, timeout=300)
    assert run.returncode == 2 and "apt install graphviz, or write .dot" in run.stderr and run.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == [nothing]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["graph", "potr", "--n", "3"], "did you mean 'potrf'"),
        (["graph", "potrf", "--n", "3", "--variant", "in-plac"], "did you mean 'in-place'"),
        (["graph", "potrf"], "--n"),
        (["graph", "potrf", "--n", "-1"], "--n"),
        (["graph", "potrf", "--n", "9" * 20], "--n"),
        (["graph", "geqrf", "--n", "4", "--m", "9" * 20], "--m"),
        (["graph", "potrf", "--n", "4", "--inner", "9" * 20], "--inner"),
        (["graph", "potrf", "--n", "100", "--nb", "0"], "--nb"),
        (["graph", "potrf", "--n", "1000", "--nb", "1", "-o", "x.dot"], "more than 500000 tasks"),
        (["graph", "potrf", "--n", "40", "--nb", "1", "--variant", "in-place", "-o", "x.svg"], "too many for a picture"),
        (["graph", "potrf", "--n", "4", "--nb", "1", "-o", "x.png"], "none of the suffixes .dot, .gv, .svg"),
        (["graph", "potrf", "--n", "4", "--nb", "1", "-o", "no/such/folder/x.dot"], "cannot be written"),
        (["graph", "potrf", "--n", "4", "--precision", "q"], "precision"),
        (["graph", "potrf", "--n", "4", "--m", "7"], "m is 7"),
        (["graph", "potrf", "--n", "4", "--nb", "2", "--inner", "3"], "inner is 3"),
    ],
)
def test_bad_input_is_one_line(words, message):
    assert message in refusal(*words)


def test_json_goes_to_a_file_and_is_one_line(tmp_path):
    file = tmp_path / "dag.json"
    trencadis(*SMALL, "--json", str(file))
    (line,) = file.read_text().splitlines()
    assert json.loads(line)["tasks"] == 10
