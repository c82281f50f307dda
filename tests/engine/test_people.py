"""A scripted human answers a workflow's questions as its script says, and says when it cannot."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, TypedDict

import pytest

from caesura import (
    END,
    START,
    InvalidAnswer,
    MemoryStore,
    QuestionExpired,
    StateGraph,
    interrupt,
)
from caesura.errors import AuthoringError
from caesura.testing import ManualClock, ScriptedHuman, UnexpectedQuestion

THREAD = "order-7"


class Story(TypedDict, total=False):
    amount: int
    notes: Annotated[list[Any], operator.add]


@dataclass
class Verdict:
    ok: bool


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def compiled(clock: ManualClock) -> Callable[..., Any]:
    """A graph that runs these functions one after another."""

    def chain(*nodes: Any) -> Any:
        builder = StateGraph(Story)
        names = [START, *(node.__name__ for node in nodes), END]
        for node in nodes:
            builder.add_node(node)
        for source, target in pairwise(names):
            builder.add_edge(source, target)
        return builder.compile(checkpointer=MemoryStore(clock=clock))

    return chain


@pytest.fixture(params=["sync", "async"])
def work(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Let somebody work, through one of the two APIs."""
    if request.param == "sync":
        return lambda human, graph, *given: human.work(graph, *given, thread=THREAD)
    return lambda human, graph, *given: asyncio.run(human.awork(graph, *given, thread=THREAD))


def review(state: Story) -> Any:
    return {"notes": [interrupt({"approve": state["amount"]}, key="verdict")]}


def name(state: Story) -> Any:
    return {"notes": [interrupt("your name?")]}


def asking(*payloads: Any, **options: Any) -> Callable[..., Any]:
    def ask(state: Story) -> Any:
        return {"notes": [interrupt(payload, **options) for payload in payloads]}

    return ask


# ------------------------------------------------------------------------------------ answering
def test_answers_are_found_by_key(compiled, work):
    human = ScriptedHuman({"verdict": {"ok": True}})
    assert work(human, compiled(review), {"amount": 5})["notes"] == [{"ok": True}]


def test_answers_are_found_by_what_is_asked(compiled, work):
    human = ScriptedHuman().when(lambda payload: "name" in payload, "Bo")
    assert work(human, compiled(name), {})["notes"] == ["Bo"]


def test_answers_are_given_in_order(compiled, work):
    human = ScriptedHuman(["first", "second"])
    assert work(human, compiled(asking("a?", "b?")), {})["notes"] == ["first", "second"]


def test_the_key_decides_before_the_payload_and_the_payload_before_the_order(compiled, work):
    human = ScriptedHuman({"verdict": "by key"})
    human.when(lambda payload: "name" in payload, "by payload").then("in order")
    graph = compiled(review, name, asking("else?"))
    result = work(human, graph, {"amount": 5})
    assert result["notes"] == ["by key", "by payload", "in order"]


def test_the_first_predicate_that_fits_decides(compiled, work):
    human = ScriptedHuman().when(lambda p: p == "other?", 1).when(str, 2).when(str, 3)
    assert work(human, compiled(name), {})["notes"] == [2]


def test_one_answer_serves_every_question_of_its_key(compiled, work):
    graph = compiled(asking("a?", "b?", key="same"))
    assert work(ScriptedHuman({"same": "yes"}), graph, {})["notes"] == ["yes", "yes"]


def test_several_answers_serve_one_question_each(compiled, work):
    graph = compiled(asking("a?", "b?", key="same"))
    human = ScriptedHuman().on("same", "first", "second")
    assert work(human, graph, {})["notes"] == ["first", "second"]


def test_an_answer_may_be_worked_out_from_the_payload(compiled, work):
    human = ScriptedHuman({"verdict": lambda payload: payload["approve"] < 10})
    assert work(human, compiled(review), {"amount": 5})["notes"] == [True]


@pytest.mark.parametrize("answer", [None, False, {}, 0, ""])
def test_an_empty_answer_is_an_answer(compiled, work, answer):
    assert work(ScriptedHuman({"verdict": answer}), compiled(review), {"amount": 5})["notes"] == [
        answer
    ]


def test_answers_take_the_form_of_their_schema(compiled, work):
    graph = compiled(asking("sure?", key="verdict", schema=Verdict))
    assert work(ScriptedHuman({"verdict": {"ok": True}}), graph, {})["notes"] == [Verdict(True)]


def test_questions_that_are_open_side_by_side_are_all_answered(work):
    builder = StateGraph(Story)
    for side in ("left", "right"):
        builder.add_node(side, asking(f"{side}?", key=side))
        builder.add_edge(START, side)
    graph = builder.compile(checkpointer=MemoryStore())
    human = ScriptedHuman({"left": 1, "right": 2})
    assert work(human, graph, {})["notes"] == [1, 2]


# ------------------------------------------------------------------------------ where it begins
def test_a_thread_that_waits_already_is_worked_on(compiled, work):
    graph = compiled(review)
    graph.invoke({"amount": 5}, thread=THREAD)
    assert work(ScriptedHuman({"verdict": "yes"}), graph)["notes"] == ["yes"]


def test_a_thread_that_is_done_gives_its_values_and_runs_nothing(compiled, work):
    runs: list[str] = []

    def count(state: Story) -> Any:
        runs.append("ran")
        return {"notes": ["done"]}

    graph = compiled(count)
    graph.invoke({"amount": 5}, thread=THREAD)
    assert work(ScriptedHuman(), graph) == {"amount": 5, "notes": ["done"]}
    assert runs == ["ran"]


# -------------------------------------------------------------------------------- what it has seen
def test_it_remembers_what_it_was_asked_and_what_it_said(compiled, work):
    human = ScriptedHuman({"verdict": "yes"}).then("Bo")
    work(human, compiled(review, name), {"amount": 5})
    assert [(seen.key, seen.payload, seen.answer, seen.refused) for seen in human.seen] == [
        ("verdict", {"approve": 5}, "yes", None),
        (None, "your name?", "Bo", None),
    ]


def test_its_answers_bear_its_name(compiled, work):
    graph = compiled(review)
    human = ScriptedHuman({"verdict": "yes"}, by="ana")
    work(human, graph, {"amount": 5})
    with pytest.raises(Exception, match="answered by ana"):
        graph.answer(human.seen[0].id, "no", by="bo")


# -------------------------------------------------------------------- what it has no answer to
def test_a_question_without_an_answer_is_shown_beside_what_the_script_knows(compiled, work):
    human = ScriptedHuman({"verdct": "yes", "name": "Bo"}).when(callable, 1)
    with pytest.raises(UnexpectedQuestion) as unexpected:
        work(human, compiled(review), {"amount": 5})
    said = str(unexpected.value)
    for part in ("'order-7'", "'verdict'", "{'approve': 5}", "'verdct', 'name'", "callable"):
        assert part in said
    assert "Did you mean 'verdct'?" in said


def test_a_question_without_an_answer_fails_a_test_as_an_assertion_does(compiled, work):
    with pytest.raises(AssertionError, match="a question without a key"):
        work(ScriptedHuman(), compiled(name), {})


def test_answers_that_are_used_up_are_said_to_be(compiled, work):
    graph = compiled(asking("a?", "b?", "c?", key="same"))
    with pytest.raises(UnexpectedQuestion, match="its answers to 'same' are used up"):
        work(ScriptedHuman().on("same", 1, 2), graph, {})


def test_it_answers_all_that_it_can_before_it_complains(compiled, work):
    graph = compiled(review, name)
    human = ScriptedHuman({"verdict": "yes"})
    with pytest.raises(UnexpectedQuestion) as unexpected:
        work(human, graph, {"amount": 5})
    assert [question.value for question in unexpected.value.questions] == ["your name?"]
    assert graph.get_state(THREAD).values["notes"] == ["yes"]


def test_questions_may_be_left_for_others(compiled, work):
    graph = compiled(review, name)
    result = work(ScriptedHuman({"verdict": "yes"}, leave_others=True), graph, {"amount": 5})
    assert [question.value for question in result.interrupts] == ["your name?"]
    assert work(ScriptedHuman(["Bo"]), graph)["notes"] == ["yes", "Bo"]


def test_an_answer_that_does_not_fit_is_the_script_s_mistake(compiled, work):
    graph = compiled(asking("sure?", key="verdict", schema=Verdict))
    with pytest.raises(InvalidAnswer, match="ok"):
        work(ScriptedHuman({"verdict": {"ok": "perhaps"}}), graph, {})


def test_a_workflow_that_asks_until_it_hears_something_else_is_stopped(compiled, work):
    def insist(state: Story) -> Any:
        while interrupt("sure?", key="sure") != "yes":
            pass

    with pytest.raises(AuthoringError, match="asked more than 20 questions"):
        work(ScriptedHuman({"sure": "no"}, most_answers=20), compiled(insist), {})


def test_a_script_needs_answers():
    with pytest.raises(AuthoringError, match="needs an answer"):
        ScriptedHuman().on("verdict")


# ---------------------------------------------------------------------------------- taking time
def test_each_answer_takes_its_time(compiled, work, clock):
    before = clock.now()
    human = ScriptedHuman(["Bo", "Mo"], clock=clock, takes="90m")
    work(human, compiled(asking("a?", "b?")), {})
    assert clock.now() - before == 3 * 3600 * 1_000_000


def test_some_answers_may_take_longer_than_others(compiled, work, clock):
    before = clock.now()
    human = ScriptedHuman(["Bo"], clock=clock).on("verdict", "yes", takes=5)
    work(human, compiled(review, name), {"amount": 5})
    assert clock.now() - before == 5_000_000


def test_an_answer_in_time_is_taken(compiled, work, clock):
    graph = compiled(asking("sure?", key="verdict", timeout="2h", default="nobody said"))
    human = ScriptedHuman({"verdict": "yes"}, clock=clock, takes="1h")
    assert work(human, graph, {})["notes"] == ["yes"]


def test_an_answer_that_comes_too_late_is_noted_and_the_workflow_goes_on(compiled, work, clock):
    graph = compiled(asking("sure?", key="verdict", timeout="2h", default="nobody said"))
    human = ScriptedHuman({"verdict": "yes"}, clock=clock, takes="3h")
    assert work(human, graph, {})["notes"] == ["nobody said"]
    (seen,) = human.seen
    assert seen.refused is not None


def test_a_workflow_that_insists_on_an_answer_in_time_fails(compiled, work, clock):
    graph = compiled(asking("sure?", key="verdict", timeout="2h"))
    with pytest.raises(QuestionExpired):
        work(ScriptedHuman({"verdict": "yes"}, clock=clock, takes="3h"), graph, {})


def test_taking_time_needs_a_clock_to_move():
    with pytest.raises(AuthoringError, match="clock="):
        ScriptedHuman({"verdict": "yes"}, takes="3h")
    with pytest.raises(AuthoringError, match="clock="):
        ScriptedHuman().on("verdict", "yes", takes=3)
