"""How far a long command has come, on standard error."""

import pytest
from trencadis import records
from trencadis.records import LINE_S, progress_bar


@pytest.fixture
def clock(monkeypatch):
    """Seconds since the start, as the test sets them."""
    seconds = [1000.0]
    monkeypatch.setattr(records.time, "monotonic", lambda: seconds[0])
    return seconds


def run(clock, step_s, steps, lines):
    with progress_bar(steps, lines) as step:
        for _ in range(steps):
            clock[0] += step_s
            step("one", 1)


def test_where_nobody_looks_a_long_command_says_each_minute_how_much_is_left(clock, capsys):
    run(clock, LINE_S / 2, 6, lines=True)
    out, err = capsys.readouterr()
    assert out == ""
    # Of three minutes the end of the first and the second; the last line would be late.
    assert err == "2 of 6 done, about 2 min left\n4 of 6 done, about 1 min left\n"


@pytest.mark.parametrize(("step_s", "lines"), [(LINE_S, False), (LINE_S / 7, True)])
def test_it_says_nothing_else(clock, capsys, step_s, lines):
    run(clock, step_s, 6, lines)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_has_a_bar_with_the_time_left(monkeypatch, capsys):
    monkeypatch.setattr(records.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with progress_bar(4, lines=True) as step:
        step("one", 2)
    err = capsys.readouterr().err
    assert "left" in err and "about" not in err
