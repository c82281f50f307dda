"""Every measurement runs in a tiny size and checks its own results; nothing asserts on time."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

from bench.__main__ import main
from bench.measure import Bound, Measurement, measure
from bench.measurements import ALL, chosen
from bench.report import lines_of, table

pytestmark = pytest.mark.slow

PEER_IS_HERE = find_spec("langgraph") is not None


@pytest.mark.parametrize(
    "measurement", [m for m in ALL if not m.on_request], ids=lambda measurement: measurement.name
)
def test_every_side_of_a_measurement_does_its_work(measurement, tmp_path):
    outcome = measure(measurement, "smoke", parent=tmp_path)

    if not PEER_IS_HERE:
        outcome.troubles.pop("langgraph", None)
    assert outcome.troubles == {}
    assert outcome.figures["ours"]
    assert table(lines_of(outcome))


def test_a_growing_list_is_written_as_deltas(tmp_path):
    """The bound is a size, not a time, so it may be asserted."""
    (growing,) = chosen(["growing-list"])
    figures = growing.sides["ours"](tmp_path, 1000)

    assert figures["bytes"] < 1_000_000


# ------------------------------------------------------------------------------- the table itself
def made_up(ours: list[float], theirs: list[float], *bounds: Bound) -> Measurement:
    """A measurement whose rounds are known."""
    left = {"ours": list(ours), "langgraph": list(theirs)}

    def side(name):
        return lambda directory, size: {"wall": left[name].pop(0)}

    rounds = {"full": len(ours), "quick": len(ours), "smoke": len(ours)}
    return Measurement(
        name="made-up",
        title="made up",
        unit="ms",
        sides={"ours": side("ours"), "langgraph": side("langgraph")},
        bounds=bounds,
        rounds=rounds,
    )


def test_a_bound_is_judged_by_the_medians():
    outcome = measure(made_up([1, 1, 9], [10, 10, 10], Bound("wall", 0.2)), "smoke")

    verdict = outcome.verdict(outcome.measurement.bounds[0])
    assert verdict.met
    assert verdict.reached == pytest.approx(0.1)


def test_a_verdict_that_noise_could_turn_around_says_so():
    outcome = measure(made_up([1, 1, 9], [10, 10, 10], Bound("wall", 0.2)), "smoke")

    assert "met ~" in table(lines_of(outcome))


def test_a_missed_bound_is_printed_as_missed():
    outcome = measure(made_up([5], [10], Bound("wall", 0.2)), "smoke")

    assert "MISSED" in table(lines_of(outcome))
    assert outcome.missed() == [Bound("wall", 0.2)]


def test_a_side_that_fails_says_why_and_the_other_is_still_measured():
    broken = made_up([], [10], Bound("wall", 0.2))
    broken.rounds["smoke"] = 1

    outcome = measure(broken, "smoke")

    assert "pop from empty list" in outcome.troubles["ours"]
    assert outcome.typical("langgraph", "wall") == 10
    assert "FAILED" in table(lines_of(outcome))


def test_the_json_holds_every_round(tmp_path, capsys):
    file = tmp_path / "result.json"
    main(["distributions", "--smoke", "--dir", str(tmp_path), "--json", str(file)])

    (measured,) = json.loads(file.read_text())["measurements"]
    assert measured["figures"]["ours"][0]["count"] >= 2
    assert "distributions that the core needs" in capsys.readouterr().out


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(SystemExit, match=r"no measurement 'speed'.*superstep-memory"):
        chosen(["speed"])
