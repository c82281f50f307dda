"""Answering: by a value, by recording, and what calling with nothing new does."""

from __future__ import annotations

import asyncio

import pytest

from caesura import Answer, Answers, Command, interrupt


@pytest.fixture
def passes():
    """How often the node has been run."""
    return []


@pytest.fixture
def graph(app, passes):
    """A node that asks for a name and then for an age."""

    def introduce(state):
        passes.append("pass")
        return {"notes": [interrupt("name?"), interrupt("age?")]}

    return app.chain(introduce)


@pytest.mark.parametrize(
    "answer",
    ["yes", True, False, None, 0, "", {}, [], {"ok": True}, [1, 2]],
    ids=repr,
)
def test_any_plain_value_is_an_answer(app, answer):
    heard = []

    def confirm(state):
        heard.append(interrupt("sure?"))

    graph = app.chain(confirm)
    app.run(graph, {})
    result = app.answer(graph, answer)

    assert result.interrupts == ()
    assert heard == [answer]


def test_a_waiting_result_carries_the_question_in_both_ways(app, graph):
    result = app.run(graph, {})

    assert isinstance(result, dict)
    assert result["__interrupt__"] == list(result.interrupts)


def test_calling_with_nothing_new_runs_nothing(app, graph, passes):
    app.run(graph, {})
    app.go_on(graph)

    assert passes == ["pass"]


def test_calling_with_nothing_new_returns_the_open_question(app, graph):
    asked = app.run(graph, {}).interrupts

    assert app.go_on(graph).interrupts == asked


def test_calling_with_nothing_new_after_an_answer_does_not_answer_the_next_question(app, graph):
    app.run(graph, {})
    asked = app.answer(graph, "Ana").interrupts
    waiting = app.go_on(graph)

    assert waiting.interrupts == asked
    assert [question.value for question in asked] == ["age?"]


def test_calling_with_nothing_new_on_a_finished_thread_returns_its_state(app, graph, passes):
    app.run(graph, {})
    app.answer(graph, "Ana")
    app.answer(graph, "7")
    so_far = len(passes)

    assert app.go_on(graph)["notes"] == ["Ana", "7"]
    assert len(passes) == so_far


def test_recording_an_answer_runs_nothing(app, graph, passes):
    (name,) = app.run(graph, {}).interrupts
    app.record_answer(graph, name.id, "Ana")

    assert passes == ["pass"]


def test_a_recorded_answer_closes_the_question(app, graph):
    (name,) = app.run(graph, {}).interrupts
    app.record_answer(graph, name.id, "Ana", by="ana")

    assert app.open_questions(graph) == []
    assert app.status_of(name.id) == "answered"


def test_a_recorded_answer_is_used_by_the_next_call(app, graph):
    (name,) = app.run(graph, {}).interrupts
    app.record_answer(graph, name.id, "Ana")
    waiting = app.go_on(graph)

    assert [question.value for question in waiting.interrupts] == ["age?"]


def test_a_recorded_answer_survives_a_restart(app):
    def confirm(state):
        return {"notes": [interrupt("sure?")]}

    (question,) = app.run(app.chain(confirm), {}).interrupts
    app.record_answer(app.chain(confirm), question.id, "yes")
    app.restart()

    assert app.go_on(app.chain(confirm))["notes"] == ["yes"]


def test_an_answer_in_a_wrapper_is_the_answer_whatever_it_looks_like(app):
    heard = []

    def confirm(state):
        heard.append(interrupt("sure?", key="verdict"))

    graph = app.chain(confirm)
    app.run(graph, {})
    app.answer(graph, Answer({"verdict": "yes"}))

    assert heard == [{"verdict": "yes"}]


def test_an_update_beside_an_answer_is_seen_by_the_node(app):
    def pay(state):
        verdict = interrupt("pay?")
        return {"notes": [f"{verdict}: {state['amount']}"]}

    graph = app.chain(pay)
    app.run(graph, {"amount": 5})
    result = app.run(graph, Command(resume="yes", update={"amount": 7}))

    assert result["notes"] == ["yes: 7"]


# -------------------------------------------------------------------------- several at one time
@pytest.fixture
def two_tasks(app, passes):
    """Two nodes side by side; one asks for a name, the other for an age."""

    def name(state):
        passes.append("name")
        return {"notes": [f"name {interrupt('name?', key='name')}"]}

    def age(state):
        passes.append("age")
        return {"notes": [f"age {interrupt('age?', key='age')}"]}

    return app.side_by_side(name, age)


def ids_of(result):
    return {question.value: question.id for question in result.interrupts}


def test_a_map_by_id_answers_several_questions(app, two_tasks):
    ids = ids_of(app.run(two_tasks, {}))
    result = app.answer(two_tasks, {ids["age?"]: "7", ids["name?"]: "Ana"})

    assert sorted(result["notes"]) == ["age 7", "name Ana"]


def test_a_map_by_key_answers_several_questions(app, two_tasks):
    app.run(two_tasks, {})
    result = app.answer(two_tasks, {"age": "7", "name": "Ana"})

    assert sorted(result["notes"]) == ["age 7", "name Ana"]


def test_a_wrapped_map_by_key_answers_several_questions(app, two_tasks):
    app.run(two_tasks, {})
    result = app.answer(two_tasks, Answers({"age": "7", "name": "Ana"}))

    assert sorted(result["notes"]) == ["age 7", "name Ana"]


@pytest.mark.parametrize("naming", ["id", "key"])
def test_a_partial_map_answers_its_own_question_only(app, two_tasks, naming):
    waiting = app.run(two_tasks, {})
    age = next(question for question in waiting.interrupts if question.value == "age?")
    result = app.answer(two_tasks, {getattr(age, naming): "7"})

    assert [question.value for question in result.interrupts] == ["name?"]
    assert result["notes"] == ["age 7"]


def test_a_partial_map_does_not_run_the_task_that_still_waits(app, two_tasks, passes):
    ids = ids_of(app.run(two_tasks, {}))
    passes.clear()
    app.answer(two_tasks, {ids["age?"]: "7"})

    assert passes == ["age"]


def test_a_task_goes_on_when_all_its_open_questions_are_answered(app, passes):
    async def introduce(state):
        async def ask(what):
            return interrupt(f"{what}?")

        passes.append("pass")
        return {"notes": list(await asyncio.gather(ask("name"), ask("age")))}

    graph = app.chain(introduce)
    ids = ids_of(app.run(graph, {}))
    app.answer(graph, {ids["age?"]: "7"})
    between = len(passes)
    result = app.answer(graph, "Ana")

    assert between == 1
    assert result["notes"] == ["Ana", "7"]


def test_recorded_answers_may_come_one_by_one(app, two_tasks):
    ids = ids_of(app.run(two_tasks, {}))
    app.record_answer(two_tasks, ids["age?"], "7", by="bo")
    app.record_answer(two_tasks, ids["name?"], "Ana", by="ana")

    assert sorted(app.go_on(two_tasks)["notes"]) == ["age 7", "name Ana"]


def test_one_open_question_of_a_former_pair_takes_a_plain_value(app, two_tasks):
    ids = ids_of(app.run(two_tasks, {}))
    app.answer(two_tasks, {ids["age?"]: "7"})

    assert sorted(app.answer(two_tasks, "Ana")["notes"]) == ["age 7", "name Ana"]
