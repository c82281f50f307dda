"""Questions: `interrupt`, answers, what a waiting thread shows."""

import operator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from ..registry import async_case, case
from .states import Log, Mixed, ask, graph_of, kept, line_of, say


def asking(api: Any, *questions: str) -> Any:
    """START -> a -> b, where b asks every question in turn -> c."""

    def b(state: Log):
        return {"log": [f"{q}={api.interrupt(q)}" for q in questions]}

    builder = line_of(api, "a").add_node("b", b).add_node("c", say("c"))
    return kept(api, builder.add_edge("a", "b").add_edge("b", "c"))


def two_ask(api: Any) -> Any:
    """left and right ask side by side, end follows."""
    builder = (
        graph_of(api, "end")
        .add_node("left", ask(api, "left?"))
        .add_node("right", ask(api, "right?"))
    )
    builder.add_edge(api.START, "left").add_edge(api.START, "right").add_edge(
        ["left", "right"], "end"
    )
    return kept(api, builder)


def ids(result: Any) -> list[str]:
    """The ids of all open questions, in the alphabetical order of the questions."""
    asked = sorted(result["__interrupt__"], key=lambda question: str(question.value))
    return [question.id for question in asked]


@case
def a_question_and_its_answer(api):
    talk = asking(api, "sure?")
    talk.invoke({"log": []})
    talk.state()
    talk.invoke(api.Command(resume="yes"))
    talk.state()
    talk.history()


@case
def a_waiting_thread_in_history(api):
    talk = asking(api, "sure?")
    talk.invoke({"log": []})
    talk.history()


@case
def a_question_with_a_structured_payload(api):
    talk = kept(
        api, api.StateGraph(Log).add_node("a", ask(api, {"q": [1, 2]})).add_edge(api.START, "a")
    )
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume={"fine": True}))


@case
def answers_of_every_kind(api):
    for answer in (0, False, "", [], {"a": 1}, 2.5, "text"):
        asking(api, "?").invoke({"log": []})
        talk = asking(api, "?")
        talk.invoke({"log": []})
        talk.invoke(api.Command(resume=answer))


@case
def an_answer_of_none(api):
    talk = asking(api, "?")
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume=None))
    talk.state()


@case
def an_answer_of_an_empty_dict(api):
    talk = asking(api, "?")
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume={}))
    talk.state()


@case
def two_questions_in_one_node(api):
    talk = asking(api, "one?", "two?")
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume=1))
    talk.state()
    talk.invoke(api.Command(resume=2))
    talk.history()


@case
def questions_in_a_loop_inside_one_node(api):
    passes = []

    def b(state: Log):
        passes.append(1)
        total = sum(api.interrupt(f"number {i}") for i in range(4))
        return {"log": [str(total)]}

    talk = kept(api, api.StateGraph(Log).add_node("b", b).add_edge(api.START, "b"))
    talk.invoke({"log": []})
    for number in range(4):
        talk.invoke(api.Command(resume=number))
    api.note("passes", len(passes))


@case
def the_same_question_until_the_answer_fits(api):
    def b(state: Log):
        question = "how old?"
        while not isinstance(answer := api.interrupt(question), int):
            question = f"{answer!r} is no number, how old?"
        return {"log": [str(answer)]}

    talk = kept(api, api.StateGraph(Log).add_node("b", b).add_edge(api.START, "b"))
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume="old"))
    talk.invoke(api.Command(resume="very"))
    talk.invoke(api.Command(resume=41))


@case
def questions_in_a_loop_of_the_graph(api):
    def step(state: Mixed):
        return {"n": state["n"] + api.interrupt(f"at {state['n']}")}

    builder = api.StateGraph(Mixed).add_node("step", step).add_edge(api.START, "step")
    builder.add_conditional_edges("step", lambda s: "step" if s["n"] < 3 else api.END)
    talk = kept(api, builder)
    talk.invoke({"n": 0})
    for _ in range(3):
        talk.invoke(api.Command(resume=1))
    talk.history()


@case
def two_branches_ask_and_are_answered_by_id(api):
    talk = two_ask(api)
    left, right = ids(talk.invoke({"log": []}))
    talk.state()
    talk.invoke(api.Command(resume={right: "R", left: "L"}))
    talk.state()


@case
def two_branches_ask_and_one_is_answered_first(api):
    talk = two_ask(api)
    left, right = ids(talk.invoke({"log": []}))
    talk.invoke(api.Command(resume={right: "R"}))
    talk.state()
    talk.invoke(api.Command(resume={left: "L"}))
    talk.history()


@case
def the_last_open_question_takes_a_plain_answer(api):
    talk = two_ask(api)
    left, _ = ids(talk.invoke({"log": []}))
    talk.invoke(api.Command(resume={left: "L"}))
    talk.invoke(api.Command(resume="R"))


@case
def one_plain_answer_for_two_open_questions(api):
    talk = two_ask(api)
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume="for whom?"))
    talk.state()


@case
def three_sends_ask_and_are_answered_in_another_order(api):
    def worker(state: Any):
        return {"log": [f"{state['who']}={api.interrupt(state['who'])}"]}

    builder = api.StateGraph(Log).add_node("w", worker)
    builder.add_conditional_edges(
        api.START, lambda s: [api.Send("w", {"who": w}) for w in "abc"], ["w"]
    )
    talk = kept(api, builder)
    a, b, c = ids(talk.invoke({"log": []}))
    talk.invoke(api.Command(resume={c: 3}))
    talk.invoke(api.Command(resume={a: 1}))
    talk.state()
    talk.invoke(api.Command(resume={b: 2}))


@case
def a_sibling_finishes_while_another_asks(api):
    calls = []

    def quick(state: Log):
        calls.append("quick")
        return {"log": ["quick"]}

    builder = graph_of(api, "end").add_node("asks", ask(api, "?")).add_node("quick", quick)
    builder.add_edge(api.START, "asks").add_edge(api.START, "quick")
    builder.add_edge(["asks", "quick"], "end")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.state()
    talk.history()
    talk.invoke(api.Command(resume="!"))
    talk.history()
    api.note("calls", calls)


@case
def a_sibling_fails_while_another_asks(api):
    tries = []

    def weak(state: Log):
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("weak")
        return {"log": ["strong"]}

    builder = api.StateGraph(Log).add_node("asks", ask(api, "?")).add_node("weak", weak)
    builder.add_edge(api.START, "asks").add_edge(api.START, "weak")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.state()
    talk.invoke(api.Command(resume="!"))
    talk.state()


@case
def none_while_a_question_is_open(api):
    passes = []

    def b(state: Log):
        passes.append(1)
        return {"log": [api.interrupt("?")]}

    talk = kept(api, api.StateGraph(Log).add_node("b", b).add_edge(api.START, "b"))
    talk.invoke({"log": ["in"]})
    talk.invoke(None)
    talk.state()
    api.note("passes", len(passes))


@case
def new_input_while_a_question_is_open(api):
    talk = asking(api, "?")
    talk.invoke({"log": ["one"]})
    talk.invoke({"log": ["two"]})
    talk.state()
    talk.invoke(api.Command(resume="yes"))
    talk.history()


@case
def an_answer_for_an_unknown_question(api):
    talk = asking(api, "?")
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume={"0" * 32: "x"}))
    talk.state()


@case
def an_answer_given_twice(api):
    talk = asking(api, "one?", "two?")
    (first,) = ids(talk.invoke({"log": []}))
    talk.invoke(api.Command(resume={first: 1}))
    talk.invoke(api.Command(resume={first: "again"}))
    talk.state()


@case
def an_answer_with_an_update(api):
    talk = asking(api, "?")
    talk.invoke({"log": ["in"]})
    talk.invoke(api.Command(resume="yes", update={"log": ["noted"]}))
    talk.history()


@case
def an_answer_with_a_goto(api):
    builder = line_of(api, "a").add_node("b", ask(api, "?")).add_node("side", say("side"))
    talk = kept(api, builder.add_edge("a", "b"))
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume="yes", goto="side"))
    talk.history()


@case
def an_update_without_an_answer_while_a_question_is_open(api):
    talk = asking(api, "?")
    talk.invoke({"log": ["in"]})
    talk.invoke(api.Command(update={"log": ["noted"]}))
    talk.state()


@case
def a_goto_without_an_answer_while_a_question_is_open(api):
    builder = line_of(api, "a").add_node("b", ask(api, "?")).add_node("side", say("side"))
    talk = kept(api, builder.add_edge("a", "b"))
    talk.invoke({"log": []})
    talk.invoke(api.Command(goto="side"))
    talk.state()


@case
def a_question_before_a_command_goto(api):
    def b(state: Log):
        return api.Command(update={"log": ["b"]}, goto=api.interrupt("where?"))

    builder = graph_of(api, "x", "y").add_node("b", b).add_edge(api.START, "b")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume="y"))


@case
def a_question_in_a_conditional_edge(api):
    builder = graph_of(api, "a", "x", "y").add_edge(api.START, "a")
    builder.add_conditional_edges("a", lambda s: api.interrupt("where?"), ["x", "y"])
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.state()
    talk.invoke(api.Command(resume="y"))


@case
def a_question_in_the_first_and_the_last_node(api):
    builder = api.StateGraph(Log).add_node("a", ask(api, "first?")).add_node("b", ask(api, "last?"))
    talk = kept(api, builder.add_edge(api.START, "a").add_edge("a", "b"))
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume=1))
    talk.invoke(api.Command(resume=2))
    talk.invoke(api.Command(resume=3))
    talk.history()


@case
def a_question_without_a_checkpointer(api):
    builder = api.StateGraph(Log).add_node("a", ask(api, "?")).add_edge(api.START, "a")
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_question_outside_of_a_node(api):
    api.attempt("interrupt", lambda: api.interrupt("?"))


@case
def equal_questions_in_different_nodes_have_their_own_ids(api):
    builder = api.StateGraph(Log).add_node("a", ask(api, "?")).add_node("b", ask(api, "?"))
    talk = kept(api, builder.add_edge(api.START, "a").add_edge(api.START, "b"))
    talk.invoke({"log": []})
    first, second = (task.interrupts[0].id for task in talk.state().tasks)
    talk.invoke(api.Command(resume={second: "for b", first: "for a"}))


@case
def equal_questions_twice_in_one_node(api):
    talk = asking(api, "again?", "again?")
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume=1))
    talk.invoke(api.Command(resume=2))


@case
def a_swallowed_question(api):
    def b(state: Log):
        try:
            answer = api.interrupt("?")
        except Exception:
            answer = "made up"
        return {"log": [answer]}

    talk = kept(api, api.StateGraph(Log).add_node("b", b).add_edge(api.START, "b"))
    talk.invoke({"log": []})
    talk.state()


@case
def a_retry_policy_does_not_retry_a_pause(api):
    passes = []

    def b(state: Log):
        passes.append(1)
        return {"log": [api.interrupt("?")]}

    policy = api.RetryPolicy(initial_interval=0.0, retry_on=Exception)
    builder = api.StateGraph(Log).add_node("b", b, retry_policy=policy)
    talk = kept(api, builder.add_edge(api.START, "b"))
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume="x"))
    api.note("passes", len(passes))


@case
def a_typed_question(api):
    @dataclass
    class Verdict:
        ok: bool

    def b(state: Log):
        return {"log": [f"ok is {api.interrupt('?', response_schema=Verdict).ok}"]}

    talk = kept(api, api.StateGraph(Log).add_node("b", b).add_edge(api.START, "b"))
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume={"ok": True}))


@case
def a_typed_question_refuses_an_answer_and_stays_open(api):
    @dataclass
    class Verdict:
        ok: bool

    def b(state: Log):
        return {"log": [f"ok is {api.interrupt('?', response_schema=Verdict).ok}"]}

    talk = kept(api, api.StateGraph(Log).add_node("b", b).add_edge(api.START, "b"))
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume={"ok": "not a boolean"}))
    talk.state()
    talk.invoke(api.Command(resume={"ok": False}))


@case
def an_answer_that_is_given_by_id(api):
    talk = asking(api, "one?", "two?")
    (first,) = ids(talk.invoke({"log": []}))
    (second,) = ids(talk.invoke(api.Command(resume={first: 1})))
    talk.invoke(api.Command(resume={second: 2}))


@case
def a_pause_in_a_step_with_a_reducer_and_a_private_key(api):
    class State(TypedDict):
        log: Annotated[list[str], operator.add]
        count: Annotated[int, operator.add]

    builder = api.StateGraph(State).add_node("b", ask(api, "?"))
    builder.add_node("c", lambda s: {"count": 5})
    talk = kept(api, builder.add_edge(api.START, "b").add_edge(api.START, "c"))
    talk.invoke({"log": [], "count": 1})
    talk.invoke(api.Command(resume="!"))


@async_case
def an_async_node_asks(api):
    async def b(state: Log):
        return {"log": [f"{api.interrupt('one?')}{api.interrupt('two?')}"]}

    talk = kept(api, api.StateGraph(Log).add_node("b", b).add_edge(api.START, "b"))
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume=1))
    talk.invoke(api.Command(resume=2))
