"""Breakpoints: before, after, everywhere, compiled in or given to one call."""

from ..registry import case
from .states import ask, graph_of, kept, line_of, say


@case
def a_breakpoint_before_a_node(api):
    talk = kept(api, line_of(api, "a", "b", "c"), interrupt_before=["b"])
    talk.invoke({"log": []})
    talk.state()
    talk.invoke(None)
    talk.history()


@case
def a_breakpoint_after_a_node(api):
    talk = kept(api, line_of(api, "a", "b", "c"), interrupt_after=["b"])
    talk.invoke({"log": []})
    talk.state()
    talk.invoke(None)
    talk.history()


@case
def breakpoints_everywhere_before(api):
    talk = kept(api, line_of(api, "a", "b"), interrupt_before="*")
    talk.invoke({"log": []})
    talk.invoke(None)
    talk.invoke(None)
    talk.invoke(None)


@case
def breakpoints_everywhere_after(api):
    talk = kept(api, line_of(api, "a", "b"), interrupt_after="*")
    talk.invoke({"log": []})
    talk.invoke(None)
    talk.invoke(None)
    talk.state()


@case
def a_breakpoint_after_the_last_node(api):
    talk = kept(api, line_of(api, "a", "b"), interrupt_after=["b"])
    talk.stream({"log": []})
    talk.state()


@case
def breakpoints_of_one_call(api):
    talk = kept(api, line_of(api, "a", "b", "c"))
    talk.invoke({"log": []}, interrupt_before=["b"])
    talk.state()
    talk.invoke(None, interrupt_after=["b"])
    talk.state()
    talk.invoke(None)


@case
def everywhere_for_one_call(api):
    talk = kept(api, line_of(api, "a", "b"))
    talk.invoke({"log": []}, interrupt_before="*")
    talk.invoke(None, interrupt_before="*")
    talk.invoke(None)


@case
def a_breakpoint_in_a_stream(api):
    talk = kept(api, line_of(api, "a", "b", "c"), interrupt_before=["b"], interrupt_after=["b"])
    talk.stream({"log": []})
    talk.stream(None)
    talk.stream(None)


@case
def a_breakpoint_in_a_stream_of_values(api):
    talk = kept(api, line_of(api, "a", "b"), interrupt_before=["b"])
    talk.stream({"log": []}, "values")
    talk.stream(None, "values")


@case
def a_breakpoint_holds_the_whole_step(api):
    builder = graph_of(api, "a", "b", "end").add_edge(api.START, "a").add_edge(api.START, "b")
    talk = kept(api, builder.add_edge(["a", "b"], "end"), interrupt_before=["b"])
    talk.invoke({"log": []})
    talk.state()
    talk.stream(None, together="ab")


@case
def before_and_after_the_same_node(api):
    talk = kept(api, line_of(api, "a", "b", "c"), interrupt_before=["b"], interrupt_after=["b"])
    talk.invoke({"log": []})
    talk.invoke(None)
    talk.invoke(None)
    talk.state()


@case
def a_breakpoint_in_a_loop(api):
    builder = graph_of(api, "a", "b").add_edge(api.START, "a").add_edge("a", "b")
    builder.add_conditional_edges("b", lambda s: "a" if len(s["log"]) < 6 else api.END)
    talk = kept(api, builder, interrupt_before=["b"])
    talk.invoke({"log": []})
    for _ in range(4):
        talk.invoke(None)
    talk.state()


@case
def a_breakpoint_and_a_question_in_one_node(api):
    builder = line_of(api, "a").add_node("b", ask(api, "?")).add_edge("a", "b")
    talk = kept(api, builder, interrupt_before=["b"])
    talk.invoke({"log": []})
    talk.state()
    talk.invoke(None)
    talk.state()
    talk.invoke(api.Command(resume="yes"))


@case
def an_answer_at_a_breakpoint(api):
    talk = kept(api, line_of(api, "a", "b"), interrupt_before=["b"])
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume="to nobody"))
    talk.state()


@case
def an_update_at_a_breakpoint_by_command(api):
    talk = kept(api, line_of(api, "a", "b", "c"), interrupt_before=["b"])
    talk.invoke({"log": []})
    talk.invoke(api.Command(update={"log": ["noted"]}))
    talk.history()


@case
def a_goto_at_a_breakpoint(api):
    builder = line_of(api, "a", "b", "c").add_node("side", say("side"))
    talk = kept(api, builder, interrupt_before=["b"])
    talk.invoke({"log": []})
    talk.invoke(api.Command(goto="side"))
    talk.history()


@case
def new_input_at_a_breakpoint(api):
    talk = kept(api, line_of(api, "a", "b"), interrupt_before=["b"])
    talk.invoke({"log": ["one"]})
    talk.invoke({"log": ["two"]})
    talk.state()
    talk.invoke(None)


@case
def update_state_at_a_breakpoint(api):
    talk = kept(api, line_of(api, "a", "b", "c"), interrupt_before=["b"])
    talk.invoke({"log": []})
    talk.update({"log": ["edited"]})
    talk.state()
    talk.invoke(None)
    talk.history()


@case
def update_state_as_the_held_node(api):
    talk = kept(api, line_of(api, "a", "b", "c"), interrupt_before=["b"])
    talk.invoke({"log": []})
    talk.update({"log": ["instead of b"]}, as_node="b")
    talk.state()
    talk.invoke(None)


@case
def a_breakpoint_for_an_unknown_node(api):
    builder = line_of(api, "a")
    api.attempt("compile", lambda: builder.compile(interrupt_before=["nowhere"]) and "compiled")


@case
def a_breakpoint_without_a_checkpointer(api):
    talk = api.talk(line_of(api, "a", "b").compile(), None)
    talk.invoke({"log": []}, interrupt_before=["b"])
    talk.stream({"log": []}, interrupt_before=["b"])


@case
def a_breakpoint_before_a_node_reached_by_send(api):
    builder = graph_of(api, "end").add_node("w", lambda s: {"log": [f"w{s}"]})
    builder.add_conditional_edges(api.START, lambda s: [api.Send("w", 1), api.Send("w", 2)], ["w"])
    talk = kept(api, builder.add_edge("w", "end"), interrupt_before=["w"])
    talk.invoke({"log": []})
    talk.state()
    talk.invoke(None)
    talk.state()


@case
def a_breakpoint_before_the_first_node(api):
    talk = kept(api, line_of(api, "a", "b"), interrupt_before=["a"])
    talk.invoke({"log": ["in"]})
    talk.state()
    talk.invoke(None)
    talk.invoke({"log": ["second"]})
    talk.state()
