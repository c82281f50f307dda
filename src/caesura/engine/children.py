"""A graph that is called inside another one: as a node, or by a function that runs in a node.

Promises: a child is a run of the same log. A later pass of its caller finds it where it stands,
with the input of its first pass; one that has finished gives its output again and runs nothing. A
child that waits makes its caller wait, whatever the caller does with the pause.
Called by `engine.tasks` for nodes that are graphs, and by the facade for calls inside of nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from caesura.core.control import Command
from caesura.core.events import Entered, Left, Started
from caesura.core.state import output_for, start_values
from caesura.engine.calls import Work
from caesura.engine.context import namespace_part
from caesura.engine.inputs import keys_of, start_event
from caesura.engine.loop import advance
from caesura.errors import ParentCommand, Unsupported

if TYPE_CHECKING:
    from caesura.engine.compiled import CompiledGraph
    from caesura.engine.performer import Performer
    from caesura.engine.scopes import Scope


async def call_child(
    scope: Scope,
    graph: CompiledGraph,
    value: Any,
    performer: Performer,
    settings: dict[str, Any] | None = None,
) -> Any:
    """Run a child graph as far as it gets; its output, or the pause of its caller."""
    if graph.keeps_nothing:
        return await graph.run_unstored(value, performer, scope, settings or {})
    work = scope.work
    ledger = work.call.ledger
    key, run_id = scope.enter(graph.name)
    space = f"{work.space}/{scope.node}"
    if run_id is None:
        if isinstance(value, Command):
            raise Unsupported(
                f"Node {scope.node!r} gave a Command to the graph {graph.name!r} that it calls. "
                f"Answers go to the thread: graph.invoke(Command(resume=...), thread=...)."
            )
        start = start_event(graph.plan, value, work.call.ids.new)
        run_id = _enter(scope, graph, key, space, start)
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
        settings={**work.settings, **graph.settings, **(settings or {})},
    )
    if start is not None:
        child.began, child.input_wrote = "input", keys_of(start)
        child.before_input = (start_values(graph.plan.state), run.step - 1, None)
    if not run.finished:
        await _go_on(scope, child)
    run = ledger.view.runs[run_id]
    if run.command is not None:
        raise ParentCommand(run.command)
    return run.output


def _enter(scope: Scope, graph: CompiledGraph, key: str, space: str, start: Started) -> int:
    ledger = scope.work.call.ledger
    step, index = scope.origin
    entered = Entered(step, index, key, graph.name, space, keeps=graph.keeps_memory)
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
        raise scope.wait_for_child()
    output = output_for(child.plan.output, child.run.values)
    ledger.stage(Left(child.run_id, output))
