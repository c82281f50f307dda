"""Going back: replays, forks, histories with filters."""

from typing import Any

from ..registry import case
from .states import ask, graph_of, kept, line_of, say


def finished(api: Any) -> tuple[Any, list[Any]]:
    """a -> b -> c has run; and its history."""
    talk = kept(api, line_of(api, "a", "b", "c"))
    talk.invoke({"log": []})
    return talk, talk.history()


@case
def a_replay_from_an_older_step(api):
    talk, history = finished(api)
    talk.invoke(None, at=history[2])
    talk.history()


@case
def a_replay_runs_the_nodes_again(api):
    calls = []

    def b(state):
        calls.append(list(state["log"]))
        return {"log": [f"b{len(calls)}"]}

    builder = line_of(api, "a").add_node("b", b).add_node("c", say("c"))
    talk = kept(api, builder.add_edge("a", "b").add_edge("b", "c"))
    talk.invoke({"log": []})
    before_b = next(s for s in talk.history() if s.next == ("b",))
    talk.invoke(None, at=before_b)
    talk.state()
    api.note("calls", calls)


@case
def a_replay_of_the_head_is_nothing(api):
    talk, history = finished(api)
    talk.invoke(None, at=history[0])
    talk.history()


@case
def a_replay_of_the_head_at_a_breakpoint(api):
    talk = kept(api, line_of(api, "a", "b"), interrupt_before=["b"])
    talk.invoke({"log": []})
    talk.invoke(None, at=talk.state())
    talk.history()


@case
def a_replay_from_the_very_beginning(api):
    talk, history = finished(api)
    talk.invoke(None, at=history[-1])
    talk.history()


@case
def new_input_at_an_older_step(api):
    talk, history = finished(api)
    talk.invoke({"log": ["new"]}, at=history[2])
    talk.history()


@case
def a_command_at_an_older_step(api):
    talk, history = finished(api)
    talk.invoke(api.Command(update={"log": ["noted"]}), at=history[2])
    talk.state()


@case
def an_update_of_an_older_step(api):
    talk, history = finished(api)
    talk.update({"log": ["other"]}, at=history[2])
    talk.state()
    talk.invoke(None)
    talk.history()


@case
def an_update_of_an_older_step_as_a_node(api):
    talk, history = finished(api)
    where = talk.update({"log": ["other"]}, at=history[3], as_node="b")
    talk.invoke(None, at=where)
    talk.history()


@case
def a_copy_of_an_older_step(api):
    talk, history = finished(api)
    talk.update(None, at=history[2], as_node="__copy__")
    talk.state()
    talk.invoke(None)
    talk.history()


@case
def two_forks_of_one_step(api):
    talk, history = finished(api)
    for word in ("first", "second"):
        talk.update({"log": [word]}, at=history[2])
        talk.invoke(None)
    talk.history()


@case
def the_state_of_an_older_step(api):
    talk, history = finished(api)
    for shot in history:
        talk.state(at=shot)


@case
def the_state_of_an_unknown_step(api):
    talk, history = finished(api)
    unknown = {"configurable": {**history[0].config["configurable"], "checkpoint_id": "f" * 32}}
    talk.state(at=unknown)


@case
def a_replay_asks_again(api):
    builder = line_of(api, "a").add_node("b", ask(api, "?")).add_edge("a", "b")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume="first"))
    before_b = next(s for s in talk.history() if s.next == ("b",))
    talk.invoke(None, at=before_b)
    talk.state()
    talk.invoke(api.Command(resume="second"))
    talk.history()


@case
def a_fork_before_a_question_asks_again(api):
    builder = line_of(api, "a").add_node("b", ask(api, "?")).add_edge("a", "b")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume="first"))
    before_b = next(s for s in talk.history() if s.next == ("b",))
    talk.update({"log": ["edited"]}, at=before_b)
    talk.invoke(None)
    talk.invoke(api.Command(resume="second"))
    talk.state()


@case
def a_replay_of_a_waiting_step_while_it_waits(api):
    builder = line_of(api, "a").add_node("b", ask(api, "?")).add_edge("a", "b")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.invoke(None, at=talk.state())
    talk.invoke(api.Command(resume="yes"), at=talk.state())
    talk.history()


@case
def a_replay_with_sends(api):
    builder = graph_of(api, "a", "end").add_node("w", lambda s: {"log": [f"w{s}"]})
    builder.add_edge(api.START, "a")
    builder.add_conditional_edges("a", lambda s: [api.Send("w", 1), api.Send("w", 2)], ["w"])
    talk = kept(api, builder.add_edge("w", "end"))
    talk.invoke({"log": []})
    before = next(s for s in talk.history() if s.next == ("w", "w"))
    talk.invoke(None, at=before)
    talk.history()


@case
def an_older_step_of_two_invocations(api):
    talk = kept(api, line_of(api, "a", "b"))
    talk.invoke({"log": ["one"]})
    talk.invoke({"log": ["two"]})
    first_end = talk.history()[4]
    talk.invoke({"log": ["three"]}, at=first_end)
    talk.history()


@case
def a_stream_of_a_replay(api):
    talk, history = finished(api)
    talk.stream(None, at=history[2])
    talk.stream(None, "values", at=history[2])
    talk.stream(None, "checkpoints", at=history[2])


# ---------------------------------------------------------------------------------------- history
@case
def history_is_limited(api):
    talk, _ = finished(api)
    talk.history(limit=2)
    talk.history(limit=0)


@case
def history_is_filtered_by_source_and_step(api):
    talk, _ = finished(api)
    talk.update({"log": ["x"]})
    talk.history(filter={"source": "update"})
    talk.history(filter={"source": "input"})
    talk.history(filter={"step": 1})
    talk.history(filter={"source": "nothing"})


@case
def history_before_a_step(api):
    talk, history = finished(api)
    talk.history(before=history[1].config)
    talk.history(before=history[1].config, limit=1)
    talk.history(before=history[-1].config)


@case
def history_of_nothing(api):
    talk = kept(api, line_of(api, "a"))
    talk.history()


@case
def created_at_grows_strictly(api):
    _, history = finished(api)
    times = [shot.created_at for shot in history]
    api.note("strictly", times == sorted(set(times), reverse=True))
