"""A question may have a deadline; what happens then is decided once, by the clock."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta

import pytest

from caesura import interrupt, once
from caesura.errors import AuthoringError, Conflict, NotFound, QuestionClosed, QuestionExpired

LATE = (QuestionClosed, QuestionExpired)  # how a late answer is refused


@pytest.fixture
def graph(app):
    """A node that takes silence for a no after two hours."""

    def confirm(state):
        return {"notes": [interrupt("sure?", timeout="2h", default="no")]}

    return app.chain(confirm)


@pytest.fixture
def strict(app):
    """A node that notes when nobody answered for two hours."""

    def confirm(state):
        try:
            verdict = interrupt("sure?", timeout="2h")
        except QuestionExpired:
            verdict = "nobody came"
        return {"notes": [verdict]}

    return app.chain(confirm)


def test_a_question_says_when_it_is_due(app, graph):
    (question,) = app.run(graph, {}).interrupts
    assert question.deadline is not None


def test_a_question_without_a_timeout_is_never_due(app):
    def confirm(state):
        return {"notes": [interrupt("sure?")]}

    graph = app.chain(confirm)
    asked = app.run(graph, {}).interrupts
    app.wait(days=3650)

    assert asked[0].deadline is None
    assert app.go_on(graph).interrupts == asked


def test_before_its_deadline_a_question_stays_open(app, graph):
    asked = app.run(graph, {}).interrupts
    app.wait(hours=1, minutes=59)

    assert app.go_on(graph).interrupts == asked


def test_an_answer_in_time_counts(app, graph):
    app.run(graph, {})
    app.wait(hours=1, minutes=59)

    assert app.answer(graph, "yes")["notes"] == ["yes"]


def test_an_answer_in_time_counts_when_the_run_goes_on_too_late(app, graph):
    (question,) = app.run(graph, {}).interrupts
    app.wait(hours=1)
    app.record_answer(graph, question.id, "yes")
    app.wait(hours=5)

    assert app.go_on(graph)["notes"] == ["yes"]


@pytest.mark.parametrize("timeout", ["2h", "120m", 7200, 7200.0, timedelta(hours=2)], ids=repr)
def test_a_timeout_is_told_in_several_ways(app, timeout):
    def confirm(state):
        return {"notes": [interrupt("sure?", timeout=timeout, default="no")]}

    graph = app.chain(confirm)
    app.run(graph, {})
    app.wait(hours=1, minutes=59)
    before = app.go_on(graph).get("notes", [])
    app.wait(minutes=2)

    assert (before, app.go_on(graph)["notes"]) == ([], ["no"])


# ------------------------------------------------------------------------------------ the default
def test_after_the_deadline_the_default_is_the_answer(app, graph):
    app.run(graph, {})
    app.wait(hours=3)

    assert app.go_on(graph)["notes"] == ["no"]


def test_after_the_deadline_the_default_is_the_answer_in_a_restarted_program(app):
    def confirm(state):
        return {"notes": [interrupt("sure?", timeout="2h", default="no")]}

    app.run(app.chain(confirm), {})
    app.restart()
    app.wait(hours=3)

    assert app.go_on(app.chain(confirm))["notes"] == ["no"]


@pytest.mark.parametrize("default", [None, False, 0, {}], ids=repr)
def test_a_default_may_be_nothing_much(app, default):
    heard = []

    def confirm(state):
        heard.append(interrupt("sure?", timeout="2h", default=default))

    graph = app.chain(confirm)
    app.run(graph, {})
    app.wait(hours=3)
    app.go_on(graph)

    assert heard == [default]


def test_a_default_is_applied_exactly_once(app, till):
    def confirm(state):
        once(till.charge, interrupt("how much?", timeout="2h", default=5))

    graph = app.chain(confirm)
    app.run(graph, {})
    app.wait(hours=3)
    for _ in range(3):
        app.go_on(graph)

    assert till.charged == [5]


def test_a_default_has_the_form_of_the_schema(app):
    heard = []

    def confirm(state):
        heard.append(interrupt("sure?", schema=Verdict, timeout="2h", default=Verdict(ok=False)))

    graph = app.chain(confirm)
    app.run(graph, {})
    app.wait(hours=3)
    app.go_on(graph)

    assert heard == [Verdict(ok=False)]


def test_a_default_stays_the_answer_on_later_passes(app):
    def confirm(state):
        verdict = interrupt("sure?", timeout="2h", default="no")
        return {"notes": [verdict, interrupt("really?")]}

    graph = app.chain(confirm)
    app.run(graph, {})
    app.wait(hours=3)
    app.go_on(graph)

    assert app.answer(graph, "really")["notes"] == ["no", "really"]


def test_looking_in_does_not_lengthen_a_deadline(app, graph):
    app.run(graph, {})
    app.wait(hours=1)
    app.go_on(graph)
    app.wait(hours=1, minutes=1)

    assert app.go_on(graph)["notes"] == ["no"]


def test_an_update_that_leaves_the_question_unchanged_does_not_lengthen_its_deadline(app, graph):
    app.run(graph, {})
    app.wait(hours=1)
    app.update(graph, {"amount": 7})
    app.go_on(graph)
    app.wait(hours=1, minutes=1)

    assert app.go_on(graph)["notes"] == ["no"]


# ----------------------------------------------------------------------------------- late answers
def test_a_late_answer_is_refused_and_says_what_happened(app, graph):
    (question,) = app.run(graph, {}).interrupts
    app.wait(hours=3)

    with pytest.raises(LATE, match=r"expired|Nobody answered"):
        app.record_answer(graph, question.id, "yes")


def test_a_late_answer_is_refused_also_when_the_default_was_applied_before(app, graph):
    (question,) = app.run(graph, {}).interrupts
    app.wait(hours=3)
    app.go_on(graph)

    with pytest.raises(LATE, match=r"expired|Nobody answered"):
        app.record_answer(graph, question.id, "yes")


def test_a_late_answer_by_value_is_refused(app, graph):
    app.run(graph, {})
    app.wait(hours=3)

    with pytest.raises((NotFound, Conflict)):
        app.answer(graph, "yes")


def test_a_late_answer_does_not_replace_the_default(app, graph):
    app.run(graph, {})
    app.wait(hours=3)
    with pytest.raises((NotFound, Conflict)):
        app.answer(graph, "yes")

    assert app.go_on(graph)["notes"] == ["no"]


def test_an_overdue_question_is_closed_as_expired(app, graph):
    (question,) = app.run(graph, {}).interrupts
    app.wait(hours=3)
    app.go_on(graph)

    assert app.status_of(question.id) == "expired"


# ------------------------------------------------------------------------------ without a default
def test_without_a_default_the_node_is_told_at_the_question(app, strict):
    app.run(strict, {})
    app.wait(hours=3)

    assert app.go_on(strict)["notes"] == ["nobody came"]


def test_a_node_is_told_again_on_later_passes(app):
    def confirm(state):
        try:
            interrupt("sure?", timeout="2h")
        except QuestionExpired:
            return {"notes": ["nobody came", interrupt("what now?")]}

    graph = app.chain(confirm)
    app.run(graph, {})
    app.wait(hours=3)
    waiting = app.go_on(graph)

    assert [question.value for question in waiting.interrupts] == ["what now?"]
    assert app.answer(graph, "stop")["notes"] == ["nobody came", "stop"]


def test_an_expiry_that_the_node_does_not_catch_is_raised(app):
    def confirm(state):
        interrupt("sure?", timeout="2h")

    graph = app.chain(confirm)
    app.run(graph, {})
    app.wait(hours=3)

    with pytest.raises(QuestionExpired):
        app.go_on(graph)


# ----------------------------------------------------------------------------------- among others
def test_only_the_overdue_one_of_two_branches_goes_on(app):
    def soon(state):
        return {"notes": [f"soon {interrupt('soon?', timeout='1h', default='no')}"]}

    def later(state):
        return {"notes": [f"later {interrupt('later?', timeout='1d', default='no')}"]}

    graph = app.side_by_side(soon, later)
    app.run(graph, {})
    app.wait(hours=2)
    waiting = app.go_on(graph)

    assert [question.value for question in waiting.interrupts] == ["later?"]
    assert waiting["notes"] == ["soon no"]


def test_a_node_with_an_overdue_question_still_waits_for_its_other_one(app):
    async def confirm(state):
        async def ask(what, **deadline):
            return interrupt(f"{what}?", **deadline)

        both = await asyncio.gather(ask("soon", timeout="1h", default="no"), ask("whenever"))
        return {"notes": list(both)}

    graph = app.chain(confirm)
    app.run(graph, {})
    app.wait(hours=2)
    waiting = app.go_on(graph)

    assert [question.value for question in waiting.interrupts] == ["whenever?"]
    assert app.answer(graph, "yes")["notes"] == ["no", "yes"]


def test_a_default_that_does_not_fit_the_schema_is_refused_when_asking(app):
    def confirm(state):
        interrupt("sure?", key="sure", schema=Verdict, timeout="2h", default="no")

    graph = app.chain(confirm)
    with pytest.raises(AuthoringError, match=r"default of question .sure. does not fit its schema"):
        app.run(graph, {})
    assert app.open_questions(graph) == []


def test_a_default_that_no_longer_fits_the_schema_is_an_error_that_says_so(app):
    schema, default = [str], ["no"]

    def confirm(state):
        interrupt("sure?", key="sure", schema=schema[0], timeout="2h", default=default[0])

    graph = app.chain(confirm)
    app.run(graph, {})
    schema[0], default[0] = int, 0
    app.wait(hours=3)

    with pytest.raises(AuthoringError, match=r"default of question .sure. does not fit its schema"):
        app.go_on(graph)


@dataclass
class Verdict:
    ok: bool
