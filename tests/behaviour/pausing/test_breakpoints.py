"""Breakpoints hold a whole superstep until somebody says go on; they ask nothing."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

import pytest

from caesura import END, START, Command, StateGraph, interrupt
from caesura.errors import UnknownNode
from tests.behaviour.both import THREAD, Story


def draft(state):
    return {"notes": ["draft"]}


def review(state):
    return {"notes": ["review"]}


def ship(state):
    return {"notes": ["ship"]}


def back_and_forth(app, **options):
    """draft, review, draft, review, end."""
    builder = StateGraph(Story).add_node(draft).add_node(review)
    builder.add_edge(START, "draft").add_edge("draft", "review")
    builder.add_conditional_edges(
        "review", lambda state: "draft" if state["notes"].count("review") % 2 else END
    )
    return app.compile(builder, **options)


def notes(result):
    return result.get("notes", [])


# ------------------------------------------------------------------------------ before and after
def test_a_breakpoint_before_a_node_holds_it(app):
    graph = app.chain(draft, review, interrupt_before=["review"])
    assert notes(app.run(graph, {})) == ["draft"]
    assert app.state(graph).next == ("review",)


def test_a_breakpoint_after_a_node_holds_what_follows(app):
    graph = app.chain(draft, review, interrupt_after=["draft"])
    assert notes(app.run(graph, {})) == ["draft"]
    assert app.state(graph).next == ("review",)


def test_a_breakpoint_opens_no_question(app):
    graph = app.chain(draft, review, interrupt_before=["review"])
    assert app.run(graph, {}).interrupts == ()
    assert app.state(graph).interrupts == ()


def test_a_held_thread_goes_on_when_told(app):
    graph = app.chain(draft, review, interrupt_before=["review"])
    app.run(graph, {})
    assert notes(app.go_on(graph)) == ["draft", "review"]


def test_a_held_thread_goes_on_after_a_restart(app):
    app.run(app.chain(draft, review, interrupt_before=["review"]), {})
    app.restart()
    result = app.go_on(app.chain(draft, review, interrupt_before=["review"]))
    assert notes(result) == ["draft", "review"]


def test_a_breakpoint_before_the_first_node_holds_it(app):
    graph = app.chain(draft, review, interrupt_before=["draft"])
    assert notes(app.run(graph, {})) == []
    assert notes(app.go_on(graph)) == ["draft", "review"]


def test_a_breakpoint_fires_at_each_round_of_a_loop(app):
    graph = back_and_forth(app, interrupt_before=["review"])
    seen = [notes(app.run(graph, {})), notes(app.go_on(graph)), notes(app.go_on(graph))]
    assert seen == [
        ["draft"],
        ["draft", "review", "draft"],
        ["draft", "review", "draft", "review"],
    ]


def test_a_breakpoint_after_the_last_node_does_not_pause(app):
    graph = app.chain(draft, review, interrupt_after=["review"])
    assert notes(app.run(graph, {})) == ["draft", "review"]
    assert app.state(graph).next == ()


def test_a_star_holds_before_every_node(app):
    graph = app.chain(draft, review, interrupt_before="*")
    seen = [notes(app.run(graph, {})), notes(app.go_on(graph)), notes(app.go_on(graph))]
    assert seen == [[], ["draft"], ["draft", "review"]]


def test_a_star_holds_after_every_node_but_the_last(app):
    graph = app.chain(draft, review, ship, interrupt_after="*")
    seen = [notes(app.run(graph, {})), notes(app.go_on(graph)), notes(app.go_on(graph))]
    assert seen == [["draft"], ["draft", "review"], ["draft", "review", "ship"]]


@pytest.mark.parametrize("where", ["interrupt_before", "interrupt_after"])
def test_an_unknown_name_is_refused_at_compile_time_and_the_nearest_is_suggested(app, where):
    with pytest.raises(UnknownNode, match="'review'"):
        app.chain(draft, review, **{where: ["reveiw"]})


# ------------------------------------------------------------------------------ whole supersteps
def test_a_breakpoint_holds_the_whole_superstep(app):
    graph = app.side_by_side(draft, review, interrupt_before=["review"])
    assert notes(app.run(graph, {})) == []
    assert app.state(graph).next == ("draft", "review")


def test_a_held_superstep_goes_on_as_a_whole(app):
    graph = app.side_by_side(draft, review, interrupt_before=["review"])
    app.run(graph, {})
    assert notes(app.go_on(graph)) == ["draft", "review"]


def test_the_stream_of_updates_ends_with_an_empty_interrupt(app):
    graph = app.chain(draft, review, interrupt_before=["review"])
    assert app.stream(graph, {}, stream_mode="updates") == [
        {"draft": {"notes": ["draft"]}},
        {"__interrupt__": ()},
    ]


# ------------------------------------------------------------------------------- those of a call
def test_breakpoints_of_a_call_hold_until_that_run_ends(app):
    graph = back_and_forth(app)
    seen = [
        notes(app.run(graph, {}, interrupt_before=["review"])),
        notes(app.go_on(graph)),
        notes(app.go_on(graph)),
    ]
    assert seen == [
        ["draft"],
        ["draft", "review", "draft"],
        ["draft", "review", "draft", "review"],
    ]


def test_breakpoints_of_a_call_hold_over_a_restart(app):
    app.run(back_and_forth(app), {}, interrupt_before=["review"])
    app.restart()
    app.go_on(back_and_forth(app))
    assert app.state(back_and_forth(app)).next == ("review",)


def test_breakpoints_of_a_call_hold_over_a_question(app):
    def ask(state):
        return {"notes": [interrupt("sure?")]}

    graph = app.chain(ask, review, ship)
    app.run(graph, {}, interrupt_after=["review"])
    assert notes(app.answer(graph, "yes")) == ["yes", "review"]


def test_breakpoints_of_a_call_are_gone_when_its_run_has_ended(app):
    graph = app.chain(draft, review)
    app.run(graph, {}, interrupt_before=["review"])
    app.go_on(graph)
    app.run(graph, {})
    assert app.state(graph).next == ()


def test_breakpoints_of_a_call_do_not_reach_another_thread(app):
    graph = app.chain(draft, review)
    app.run(graph, {}, interrupt_before=["review"])
    assert notes(app.run(graph, {}, thread="another")) == ["draft", "review"]


def test_breakpoints_may_be_given_to_the_call_that_goes_on(app):
    graph = app.chain(draft, review, ship, interrupt_before=["review"])
    app.run(graph, {})
    assert notes(app.go_on(graph, interrupt_before=["ship"])) == ["draft", "review"]


# ----------------------------------------------------------------------------- those of a thread
def held_at_review(app):
    """A thread that has run before and now has a breakpoint of its own."""
    graph = app.chain(draft, review)
    app.run(graph, {})
    graph.breakpoints(THREAD).add("review")
    return graph


def test_a_breakpoint_of_a_thread_holds_its_next_run(app):
    graph = held_at_review(app)
    app.run(graph, {})
    assert app.state(graph).next == ("review",)


def test_a_breakpoint_of_a_thread_lasts_from_run_to_run(app):
    graph = held_at_review(app)
    for _ in range(3):
        app.run(graph, {})
        assert app.state(graph).next == ("review",)
        app.go_on(graph)
        assert app.state(graph).next == ()


def test_a_breakpoint_of_a_thread_lasts_over_a_restart(app):
    held_at_review(app)
    app.restart()
    graph = app.chain(draft, review)
    app.run(graph, {})
    assert app.state(graph).next == ("review",)


def test_a_removed_breakpoint_of_a_thread_holds_nothing(app):
    graph = held_at_review(app)
    graph.breakpoints(THREAD).remove("review")
    app.run(graph, {})
    assert app.state(graph).next == ()


def test_cleared_breakpoints_of_a_thread_hold_nothing(app):
    graph = held_at_review(app)
    graph.breakpoints(THREAD).add("*", after=True)
    graph.breakpoints(THREAD).clear()
    app.run(graph, {})
    assert app.state(graph).next == ()


def test_removing_a_breakpoint_before_a_node_leaves_the_one_after_it(app):
    graph = app.chain(draft, review)
    app.run(graph, {})
    graph.breakpoints(THREAD).add("draft")
    graph.breakpoints(THREAD).add("draft", after=True)
    graph.breakpoints(THREAD).remove("draft")
    app.run(graph, {})
    assert app.state(graph).next == ("review",)


def test_a_breakpoint_of_a_thread_does_not_reach_another_thread(app):
    graph = held_at_review(app)
    app.run(graph, {}, thread="another")
    assert app.state(graph, thread="another").next == ()


def test_a_breakpoint_can_be_added_while_the_thread_waits(app):
    def ask(state):
        return {"notes": [interrupt("sure?")]}

    graph = app.chain(ask, review)
    app.run(graph, {})
    graph.breakpoints(THREAD).add("review")
    assert notes(app.answer(graph, "yes")) == ["yes"]
    assert app.state(graph).next == ("review",)


# ---------------------------------------------------------------------------- beside other things
def test_a_breakpoint_that_was_passed_does_not_fire_again_when_its_node_asks(app):
    def confirm(state):
        return {"notes": [interrupt("sure?")]}

    graph = app.chain(confirm, review, interrupt_before=["confirm"])
    app.run(graph, {})
    assert [question.value for question in app.go_on(graph).interrupts] == ["sure?"]
    assert notes(app.answer(graph, "yes")) == ["yes", "review"]


def test_a_question_comes_before_the_breakpoint_after_its_node(app):
    def confirm(state):
        return {"notes": [interrupt("sure?")]}

    graph = app.chain(confirm, review, interrupt_after=["confirm"])
    assert [question.value for question in app.run(graph, {}).interrupts] == ["sure?"]
    assert notes(app.answer(graph, "yes")) == ["yes"]
    assert notes(app.go_on(graph)) == ["yes", "review"]


def test_an_update_of_a_held_thread_is_seen_by_the_held_node(app):
    def pay(state):
        return {"notes": [f"paid {state['amount']}"]}

    graph = app.chain(draft, pay, interrupt_before=["pay"])
    app.run(graph, {"amount": 5})
    app.update(graph, {"amount": 7})
    assert notes(app.go_on(graph)) == ["draft", "paid 7"]


def test_a_removed_state_key_does_not_make_a_breakpoint_fire_for_ever(app):
    class OldStory(TypedDict, total=False):
        amount: int
        mood: str
        notes: Annotated[list[str], operator.add]

    def draft_in_a_mood(state):
        return {"notes": ["draft"], "mood": "sunny"}

    def version(state):
        builder = StateGraph(state).add_node("draft", draft_in_a_mood).add_node(review)
        builder.add_edge(START, "draft").add_edge("draft", "review").add_edge("review", END)
        return app.compile(builder, interrupt_before=["review"])

    app.run(version(OldStory), {"mood": "grey"})
    assert notes(app.go_on(version(Story))) == ["draft", "review"]


# ------------------------------------------------------------------------ commands on a held thread
def test_an_answer_to_a_held_thread_lets_it_go_on_and_reaches_no_question(app):
    def confirm(state):
        return {"notes": [interrupt("sure?")]}

    graph = app.chain(draft, confirm, interrupt_before=["confirm"])
    app.run(graph, {})
    assert [question.value for question in app.answer(graph, "yes").interrupts] == ["sure?"]


def test_a_goto_adds_its_node_beside_the_held_one(app):
    builder = StateGraph(Story).add_node(draft).add_node(review).add_node(ship)
    builder.add_edge(START, "draft").add_edge("draft", "review").add_edge("review", END)
    graph = app.compile(builder, interrupt_before=["review"])
    app.run(graph, {})
    assert sorted(notes(app.run(graph, Command(goto="ship")))) == ["draft", "review", "ship"]


def test_an_update_in_a_command_is_applied_before_the_held_node_runs(app):
    def pay(state):
        return {"notes": [f"paid {state['amount']}"]}

    graph = app.chain(draft, pay, interrupt_before=["pay"])
    app.run(graph, {"amount": 5})
    assert notes(app.run(graph, Command(update={"amount": 7}))) == ["draft", "paid 7"]
