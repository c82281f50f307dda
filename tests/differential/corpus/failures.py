"""Failures: exceptions, retries, timeouts, error handlers, empty inputs."""

import asyncio
from typing import Any

from ..registry import async_case, case
from .states import Log, fail, graph_of, kept, line_of, say


class Flaky:
    """A node that fails some times before it works."""

    def __init__(self, times: int, error: type[Exception] = ConnectionError) -> None:
        self.left, self.error, self.calls = times, error, 0

    def __call__(self, state: Log) -> dict[str, list[str]]:
        self.calls += 1
        if self.left:
            self.left -= 1
            raise self.error(f"attempt {self.calls}")
        return {"log": [f"after {self.calls}"]}


def no_wait(api: Any, **changes: Any) -> Any:
    return api.RetryPolicy(initial_interval=0.0, max_interval=0.0, jitter=False, **changes)


def flaky(api: Any, node: Any, **options: Any) -> Any:
    builder = line_of(api, "a").add_node("b", node, **options).add_node("c", say("c"))
    return kept(api, builder.add_edge("a", "b").add_edge("b", "c"))


@case
def a_node_raises_and_is_run_again_by_none(api):
    node = Flaky(1, ValueError)
    talk = flaky(api, node)
    talk.invoke({"log": ["in"]})
    talk.state()
    talk.invoke(None)
    talk.state()
    talk.history()
    api.note("calls", node.calls)


@case
def the_nodes_own_exception_object_is_raised(api):
    error = ValueError("this very one")

    def node(state: Log):
        raise error

    talk = kept(api, api.StateGraph(Log).add_node("a", node).add_edge(api.START, "a"))
    try:
        api.wait(talk._method("invoke")({"log": []}, talk.config()))
    except ValueError as caught:
        api.note("same", caught is error)


@case
def a_failed_sibling_does_not_undo_the_others(api):
    node = Flaky(1, ValueError)
    builder = graph_of(api, "a", "end").add_node("b", node)
    builder.add_edge(api.START, "a").add_edge(api.START, "b").add_edge(["a", "b"], "end")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.state()
    talk.stream(None)
    talk.state()


@case
def new_input_on_a_failed_thread(api):
    talk = flaky(api, Flaky(1, ValueError))
    talk.invoke({"log": ["one"]})
    talk.invoke({"log": ["two"]})
    talk.history()


@case
def a_command_on_a_failed_thread(api):
    talk = flaky(api, Flaky(1, ValueError))
    talk.invoke({"log": ["one"]})
    talk.invoke(api.Command(update={"log": ["fixed"]}))
    talk.state()


@case
def none_for_a_thread_that_never_started(api):
    talk = kept(api, line_of(api, "a"))
    talk.invoke(None)
    talk.state()
    talk.stream(None)


@case
def none_for_a_graph_without_a_checkpointer(api):
    api.talk(line_of(api, "a").compile(), None).invoke(None)


@case
def none_for_a_finished_thread(api):
    talk = kept(api, line_of(api, "a"))
    talk.invoke({"log": ["in"]})
    talk.invoke(None)
    talk.stream(None, "values")
    talk.stream(None)
    talk.history()


# ---------------------------------------------------------------------------------------- retries
@case
def a_retry_policy_tries_again(api):
    node = Flaky(2)
    flaky(api, node, retry_policy=no_wait(api)).invoke({"log": []})
    api.note("calls", node.calls)


@case
def a_retry_policy_gives_up(api):
    node = Flaky(9)
    talk = flaky(api, node, retry_policy=no_wait(api, max_attempts=2))
    talk.invoke({"log": []})
    talk.state()
    api.note("calls", node.calls)


@case
def the_default_policy_does_not_retry_mistakes(api):
    for error in (ValueError, TypeError, RuntimeError, KeyError, OSError, ConnectionError):
        node = Flaky(1, error)
        flaky(api, node, retry_policy=no_wait(api)).invoke({"log": []})
        api.note(f"calls after {error.__name__}", node.calls)


@case
def a_policy_names_the_errors_to_retry(api):
    node = Flaky(1, ValueError)
    flaky(api, node, retry_policy=no_wait(api, retry_on=ValueError)).invoke({"log": []})
    node = Flaky(1, KeyError)
    flaky(api, node, retry_policy=no_wait(api, retry_on=(ValueError, TypeError))).invoke(
        {"log": []}
    )
    node = Flaky(1, KeyError)
    wanted = no_wait(api, retry_on=lambda error: isinstance(error, KeyError))
    flaky(api, node, retry_policy=wanted).invoke({"log": []})


@case
def several_policies_the_first_that_fits_counts(api):
    policies = [
        no_wait(api, retry_on=KeyError, max_attempts=1),
        no_wait(api, retry_on=ValueError, max_attempts=4),
    ]
    node = Flaky(3, ValueError)
    flaky(api, node, retry_policy=policies).invoke({"log": []})
    api.note("calls", node.calls)


@case
def a_failed_attempt_leaves_no_writes(api):
    calls = []

    def node(state: Log):
        calls.append(list(state["log"]))
        if len(calls) < 3:
            raise ConnectionError
        return {"log": ["b"]}

    flaky(api, node, retry_policy=no_wait(api)).stream({"log": []})
    api.note("calls", calls)


@case
def default_policy_for_all_nodes(api):
    node = Flaky(1)
    builder = line_of(api, "a").add_node("b", node).add_edge("a", "b")
    builder.set_node_defaults(retry_policy=no_wait(api))
    kept(api, builder).invoke({"log": []})
    api.note("calls", node.calls)


@case
def a_conditional_edges_function_fails_once(api):
    route = Flaky(1, ValueError)
    calls = []

    def a(state: Log):
        calls.append("a")
        return {"log": ["a"]}

    def where(state: Log) -> str:
        route(state)
        return "b"

    builder = graph_of(api, "b").add_node("a", a).add_edge(api.START, "a")
    talk = kept(api, builder.add_conditional_edges("a", where, ["b"]))
    talk.invoke({"log": []})
    talk.invoke(None)
    talk.state()
    api.note("calls", calls)


# --------------------------------------------------------------------------------------- timeouts
@async_case
def a_node_that_is_too_slow(api):
    async def slow(state: Log):
        await asyncio.sleep(5)

    talk = flaky(api, slow, timeout=0.05)
    talk.invoke({"log": []})
    talk.state()


@async_case
def a_node_that_is_fast_enough(api):
    async def quick(state: Log):
        await asyncio.sleep(0)
        return {"log": ["quick"]}

    flaky(api, quick, timeout=api.TimeoutPolicy(run_timeout=5.0)).invoke({"log": []})


@async_case
def a_slow_node_is_retried(api):
    calls = []

    async def slow_once(state: Log):
        calls.append(1)
        await asyncio.sleep(5 if len(calls) == 1 else 0)
        return {"log": ["done"]}

    talk = flaky(api, slow_once, timeout=0.05, retry_policy=no_wait(api))
    talk.invoke({"log": []})
    api.note("calls", len(calls))


# ---------------------------------------------------------------------------------- error handlers
def handled(api: Any, handler: Any, **options: Any) -> Any:
    builder = line_of(api, "a").add_node("b", fail("boom"), error_handler=handler, **options)
    builder.add_node("c", say("c")).add_node("d", say("d"))
    return kept(api, builder.add_edge("a", "b").add_edge("b", "c"))


@case
def an_error_handler_takes_over(api):
    def rescue(state: Log):
        return {"log": [f"rescued after {len(state['log'])}"]}

    talk = handled(api, rescue)
    talk.stream({"log": []})
    talk.history()


@case
def an_error_handler_is_told_which_error(api):
    def rescue(state: Log, error: api.NodeError):
        return {"log": [f"{error.node}: {type(error.error).__name__} {error.error}"]}

    handled(api, rescue).invoke({"log": []})


@case
def an_error_handler_goes_somewhere(api):
    def rescue(state: Log):
        return api.Command(update={"log": ["rescued"]}, goto="d")

    handled(api, rescue).invoke({"log": []})


@case
def an_error_handler_comes_after_the_retries(api):
    node = Flaky(9)
    builder = api.StateGraph(Log)
    builder.add_node(
        "b", node, retry_policy=no_wait(api), error_handler=lambda s: {"log": ["rescued"]}
    )
    kept(api, builder.add_edge(api.START, "b")).invoke({"log": []})
    api.note("calls", node.calls)


@case
def an_error_handler_that_fails(api):
    talk = handled(api, fail("worse"))
    talk.invoke({"log": []})
    talk.state()


@case
def an_error_handler_beside_a_sibling(api):
    builder = graph_of(api, "a", "end").add_node("b", fail("boom"), error_handler=say("rescued"))
    builder.add_edge(api.START, "a").add_edge(api.START, "b").add_edge("a", "end")
    talk = kept(api, builder)
    talk.stream({"log": []}, together=["a", "b", "end", "__error_handler__b"])
    talk.state()


@case
def a_default_error_handler(api):
    builder = line_of(api, "a").add_node("b", fail("boom")).add_edge("a", "b")
    builder.set_node_defaults(error_handler=say("rescued"))
    kept(api, builder).stream({"log": []})


@case
def an_error_handler_asks(api):
    def rescue(state: Log):
        return {"log": [f"told {api.interrupt('what now?')}"]}

    talk = handled(api, rescue)
    talk.invoke({"log": []})
    talk.state()
    talk.invoke(api.Command(resume="go on"))
    talk.state()


@case
def an_error_handler_and_a_join(api):
    builder = graph_of(api, "a", "end").add_node("b", fail("boom"), error_handler=say("rescued"))
    builder.add_edge(api.START, "a").add_edge(api.START, "b").add_edge(["a", "b"], "end")
    kept(api, builder).stream({"log": []}, together="ab")
