"""A graph that is called inside another one: as a node, or by a function that runs in a node.

Promises: a child is a run of the same log. A later pass of its caller finds it by its input, where
it stands; one that has finished gives its output again and runs nothing. In the node's own order a
call with another input goes on with that of its first pass. A child that waits makes its caller
wait, whatever the caller does with the pause, and one that runs beside a question runs on until it
has finished or waits.
Called by `engine.tasks` for nodes that are graphs, and by the facade for calls inside of nodes.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, NamedTuple

from caesura.core.control import Command
from caesura.core.events import Entered, Left, Started
from caesura.core.state import output_for, start_values
from caesura.engine.calls import Beginning, Work
from caesura.engine.context import namespace_part
from caesura.engine.fingerprint import fingerprint
from caesura.engine.inputs import keys_of, start_event
from caesura.engine.loop import advance
from caesura.engine.shielding import settled
from caesura.errors import ParentCommand, Unsupported

if TYPE_CHECKING:
    from caesura.engine.compiled import CompiledGraph
    from caesura.engine.performer import Performer
    from caesura.engine.scopes import Scope


class _Entry(NamedTuple):
    """One call of a graph in one pass of its caller."""

    key: str
    run_id: int | None
    aside: bool


async def run_node(scope: Scope, graph: CompiledGraph, value: Any, performer: Performer) -> Any:
    """Run a graph that is a node: each task has one, whatever input a later pass brings."""
    if graph.keeps_nothing:
        return await graph.run_unstored(value, performer, scope, {})
    entry = _Entry(*scope.enter(graph.name, "", aside=False), aside=False)
    try:
        return await _run(scope, graph, value, performer, {}, entry)
    finally:
        scope.leave()


async def call_graph(
    scope: Scope, graph: CompiledGraph, value: Any, performer: Performer, settings: dict[str, Any]
) -> Any:
    """Run a graph that a function in a node calls."""
    if graph.keeps_nothing:
        return await graph.run_unstored(value, performer, scope, settings)
    about, aside = (
        fingerprint(value, scope.work.call.ledger.codec.registry),
        not scope.is_main_strand(),
    )
    entry = _Entry(*scope.enter(graph.name, about, aside=aside), aside=aside)
    if performer.on_loop:
        return await _shielded(scope, _run(scope, graph, value, performer, settings, entry))
    try:
        return await _run(scope, graph, value, performer, settings, entry)
    finally:
        scope.leave()


async def _shielded(scope: Scope, run: Coroutine[Any, Any, Any]) -> Any:
    """On the loop. A pause beside it, which cancels a group's tasks, lets it run on."""
    import asyncio

    task = asyncio.get_running_loop().create_task(run)
    scope.keep_call(task)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not scope.waits:
            task.cancel()
            await settled(task, each_time=lambda _: task.cancel())
        raise


async def _run(
    scope: Scope,
    graph: CompiledGraph,
    value: Any,
    performer: Performer,
    settings: dict[str, Any],
    entry: _Entry,
) -> Any:
    """Run a child graph as far as it gets; its output, or the pause of its caller."""
    work = scope.work
    ledger = work.call.ledger
    run_id = entry.run_id
    space = f"{work.space}/{scope.node}"
    if run_id is None:
        if isinstance(value, Command):
            raise Unsupported(
                f"Node {scope.node!r} gave a Command to the graph {graph.name!r} that it calls. "
                f"Answers go to the thread: graph.invoke(Command(resume=...), thread=...)."
            )
        start = start_event(graph.plan, value, work.call.ids.new)
        run_id = _enter(scope, graph, entry, space, start)
    else:
        start = None
        ledger.family.learn(run_id, graph.plan)
        ledger.fold.attach(ledger.view.runs[run_id])
    run = ledger.view.runs[run_id]
    child = Work(
        work.call,
        graph.plan,
        run_id,
        performer,
        parent=work,
        space=space,
        namespace=(*work.namespace, namespace_part(scope)),
        settings={**work.settings, **graph.settings, **settings},
        caller=scope,
    )
    if start is not None:
        before = (start_values(graph.plan.state), run.step - 1, None)
        child.beginning = Beginning("input", keys_of(start), before)
    if not run.finished:
        await _go_on(scope, child)
    run = ledger.view.runs[run_id]
    if run.command is not None:
        raise ParentCommand(run.command)
    return run.output


def _enter(scope: Scope, graph: CompiledGraph, entry: _Entry, space: str, start: Started) -> int:
    ledger = scope.work.call.ledger
    step, index = scope.origin
    entered = Entered(
        step,
        index,
        entry.key,
        graph.name,
        space,
        keeps=graph.keeps_memory,
        aside=entry.aside,
        router=scope.router,
    )
    return ledger.enter(entered, graph.plan, start)


async def _go_on(scope: Scope, child: Work) -> None:
    """Advance; a finished child leaves its output in the log."""
    ledger = child.call.ledger
    try:
        await advance(child)
    except ParentCommand as leaving:
        from dataclasses import replace

        command = leaving.args[0]
        ledger.stage(Left(child.run_id, None, replace(command, graph=None)))
        return
    if child.run.tasks:
        if scope.failure is not None:
            raise scope.failure
        raise scope.wait_for_child()
    output = output_for(child.plan.output, child.run.values)
    ledger.stage(Left(child.run_id, output))
