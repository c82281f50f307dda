"""Changing the state, or giving a new input, while somebody is being asked."""

from __future__ import annotations

import pytest

from caesura import END, START, StateGraph, interrupt, once
from caesura.errors import QuestionClosed
from tests.behaviour.both import Story


def prepare(state):
    return {"notes": ["prepared"]}


@pytest.fixture
def ran():
    """Every start of a node, in order."""
    return []


@pytest.fixture
def graph(app, ran, till):
    """After `prepare`, one node finishes while another pays a deposit and asks about the amount."""

    def finish(state):
        ran.append("finish")
        return {"notes": ["finished"]}

    def pay(state):
        ran.append("pay")
        receipt = once(till.charge, 1, key="deposit")
        verdict = interrupt({"pay": state["amount"]})
        return {"notes": [f"{verdict} to {state['amount']} with {receipt}"]}

    builder = StateGraph(Story).add_node(prepare).add_node(finish).add_node(pay)
    builder.add_edge(START, "prepare").add_edge("prepare", "finish").add_edge("prepare", "pay")
    builder.add_edge("finish", END).add_edge("pay", END)
    return app.compile(builder)


def test_a_finished_sibling_is_not_run_again(app, graph, ran):
    app.run(graph, {"amount": 5})
    app.update(graph, {"amount": 7})
    app.go_on(graph)
    app.answer(graph, "yes")

    assert ran.count("finish") == 1


def test_a_finished_sibling_s_result_is_kept(app, graph):
    app.run(graph, {"amount": 5})
    app.update(graph, {"amount": 7})
    app.go_on(graph)

    assert "finished" in app.answer(graph, "yes")["notes"]


def test_the_waiting_node_sees_the_new_state(app, graph):
    app.run(graph, {"amount": 5})
    app.update(graph, {"amount": 7})
    app.go_on(graph)

    assert "yes to 7 with receipt 1" in app.answer(graph, "yes")["notes"]


def test_effects_of_the_waiting_node_are_not_repeated(app, graph, till):
    app.run(graph, {"amount": 5})
    app.update(graph, {"amount": 7})
    app.go_on(graph)
    app.answer(graph, "yes")

    assert till.charged == [1]


def test_a_question_that_the_update_did_not_change_stays_open_with_its_id(app, graph):
    asked = app.run(graph, {"amount": 5}).interrupts
    app.update(graph, {"notes": ["by the way"]})

    assert app.go_on(graph).interrupts == asked


def test_a_question_that_the_update_did_not_change_can_be_answered_at_once(app, graph):
    app.run(graph, {"amount": 5})
    app.update(graph, {"notes": ["by the way"]})

    assert "yes to 5 with receipt 1" in app.answer(graph, "yes")["notes"]


def test_a_question_that_the_update_changed_is_asked_anew(app, graph):
    app.run(graph, {"amount": 5})
    app.update(graph, {"amount": 7})

    assert [question.value for question in app.go_on(graph).interrupts] == [{"pay": 7}]


def test_a_question_that_the_update_changed_is_superseded(app, graph):
    (old,) = app.run(graph, {"amount": 5}).interrupts
    app.update(graph, {"amount": 7})
    app.go_on(graph)

    assert app.status_of(old.id) == "superseded"


def test_an_answer_to_a_superseded_question_says_so(app, graph):
    (old,) = app.run(graph, {"amount": 5}).interrupts
    app.update(graph, {"amount": 7})
    app.go_on(graph)

    with pytest.raises(QuestionClosed, match="superseded"):
        app.record_answer(graph, old.id, "yes")


def test_an_answer_given_right_after_the_update_is_not_applied_to_a_changed_question(app, graph):
    app.run(graph, {"amount": 5})
    app.update(graph, {"amount": 7})
    waiting = app.answer(graph, "yes")

    assert [question.value for question in waiting.interrupts] == [{"pay": 7}]


def test_an_update_itself_runs_nothing(app, graph, ran):
    app.run(graph, {"amount": 5})
    so_far = list(ran)
    app.update(graph, {"amount": 7})

    assert ran == so_far


def test_an_update_of_a_thread_that_waits_in_its_first_node_is_seen_by_it(app):
    def pay(state):
        return {"notes": [f"{interrupt('pay?')}: {state['amount']}"]}

    graph = app.chain(pay)
    app.run(graph, {"amount": 5})
    app.update(graph, {"amount": 7})

    assert app.answer(graph, "yes")["notes"] == ["yes: 7"]


# -------------------------------------------------------------------------------------- new input
@pytest.fixture
def asking(app):
    def confirm(state):
        return {"notes": [f"{interrupt({'pay': state['amount']})} to {state['amount']}"]}

    return app.chain(confirm)


def test_a_new_input_asks_its_own_question(app, asking):
    (old,) = app.run(asking, {"amount": 5}).interrupts
    (new,) = app.run(asking, {"amount": 7}).interrupts

    assert new.value == {"pay": 7}
    assert new.id != old.id


def test_a_new_input_withdraws_the_open_question_visibly(app, asking):
    (old,) = app.run(asking, {"amount": 5}).interrupts
    app.run(asking, {"amount": 7})

    assert app.status_of(old.id) == "withdrawn"


def test_an_answer_to_a_withdrawn_question_says_so(app, asking):
    (old,) = app.run(asking, {"amount": 5}).interrupts
    app.run(asking, {"amount": 7})

    with pytest.raises(QuestionClosed, match="withdrawn"):
        app.record_answer(asking, old.id, "yes")


def test_an_answer_after_a_new_input_reaches_the_new_question(app, asking):
    app.run(asking, {"amount": 5})
    app.run(asking, {"amount": 7})

    assert app.answer(asking, "yes")["notes"] == ["yes to 7"]


def test_the_same_question_asked_by_a_new_input_is_another_question(app, asking):
    (old,) = app.run(asking, {"amount": 5}).interrupts
    (new,) = app.run(asking, {"amount": 5}).interrupts

    assert new.id != old.id
    assert app.status_of(old.id) == "withdrawn"


def test_a_recorded_answer_is_not_taken_over_by_a_new_input(app, asking):
    (old,) = app.run(asking, {"amount": 5}).interrupts
    app.record_answer(asking, old.id, "yes")
    waiting = app.run(asking, {"amount": 5})

    assert [question.value for question in waiting.interrupts] == [{"pay": 5}]
