"""What simulated runs assume beside machine and policy, as it is typed."""

import pytest
from trencadis.effects import EFFECTS, effect_words, parse_effects
from trencadis.errors import UsageError


def test_an_effect_has_a_value_and_a_standard_one():
    assert parse_effects(["submit=50us", "remap=0.5s", "central-lock", "no-overlap", "jitter=0.1", "placement=interleave"]) == {
        "submit_s": 5e-5, "remap_s": 0.5, "central_lock": True, "overlap": False, "jitter": 0.1,
        "placement": "interleave",
    }  # fmt: skip
    assert parse_effects(["submit", "pop"]) == {"submit_s": 2e-5, "pop_s": 5e-6}
    assert parse_effects(["no-peer", "one-stream"]) == {"peer": False, "one_stream": True}
    assert parse_effects(["device-only", "fetch-and-wait", "caller-first"]) == {
        "device_only": True, "fetch_and_wait": True, "caller_first": True,
    }  # fmt: skip
    assert parse_effects(["spin", "wake", "no-sleep=low"]) == {"spin_s": 0.2, "wake_s": 109e-6, "awake_state": "low"}
    assert parse_effects(["copy-operands"]) == {"copy_operands": True}
    assert parse_effects(["no-overlap=no", "power-state=turbo"]) == {"overlap": True, "power_state": "turbo"}


@pytest.mark.parametrize(
    "words",
    [
        ["submit=50us", "remap=2.5ms", "jitter=0.1"],
        ["central-lock", "no-overlap"],
        ["no-peer", "one-stream"],
        ["device-only", "fetch-and-wait", "caller-first"],
        ["spin=200ms", "wake=109us", "no-sleep=powersave", "copy-operands"],
        ["power-state=turbo"],
        [],
    ],
)
def test_effects_are_shown_as_they_are_typed(words):
    assert effect_words(parse_effects(words)) == words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["qqqqqqq"], r"unknown effect 'qqqqqqq' \(known: "),
        (["sumbit"], "unknown effect 'sumbit'; did you mean 'submit'"),
        (["submit=50"], "'submit=50' must be submit=VALUE with a time such as 20us"),
        (["submit=-1s"], "must be submit=VALUE"),
        (["submit=0s"], "must be submit=VALUE"),
        (["submit="], "must be submit=VALUE"),
        (["jitter=1"], "a fraction above 0 and below 1"),
        (["jitter=nan"], "a fraction above 0 and below 1"),
        (["central-lock=maybe"], "yes or no"),
        (["power-state"], "a state that the machine describes"),
        (["no-sleep"], "a state that the machine describes"),
        (["copy-operands=some"], "yes or no"),
        (["placement=everywhere"], "first-touch or interleave"),
        (["pop", "pop=1us"], "pop is given twice"),
    ],
)
def test_a_bad_effect_is_refused(words, message):
    with pytest.raises(UsageError, match=message):
        parse_effects(words)


def test_every_effect_states_its_cause():
    assert all(len(effect.cause) > 30 for effect in EFFECTS.values())
