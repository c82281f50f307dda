"""What a node or a conditional edge returned: writes to the state, and where to go.

Promises: everything a node may return is read here and nowhere else; what cannot be read is refused
with the node's name. Called by `engine.tasks` and by updates from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from caesura.core.control import END, Command, Send
from caesura.core.parts import Sent, Target
from caesura.core.plan import Branch, Plan
from caesura.core.retry import coerce_timeout
from caesura.core.state import read_update, read_updates
from caesura.errors import InvalidUpdateError, ParentCommand, UnknownNode

Writes = list[dict[str, Any]]
NewId = Callable[[], str]


class Returned(NamedTuple):
    """A node's result, taken apart."""

    writes: Writes
    goto: list[Target]


NOTHING = Returned([], [])


def read_returned(plan: Plan, node: str, value: Any, new_id: NewId) -> Returned:
    """Raises `ParentCommand` when the node speaks to the graph around its own."""
    if value is None:
        return NOTHING
    if type(value) is not dict:
        if type(value) is Returned:
            return value
        if isinstance(value, Command):
            return read_command(plan, node, value, new_id)
        if isinstance(value, list | tuple) and any(isinstance(v, Command) for v in value):
            return _read_several(plan, node, value, new_id)
    update = read_update(
        plan.state, value, f"node {node!r}", new_id=new_id, quietly=_is_graph(plan, node)
    )
    return Returned([update] if update is not None else [], [])


def _is_graph(plan: Plan, node: str) -> bool:
    known = plan.nodes.get(node)
    return known is not None and known.is_graph


def _read_several(plan: Plan, node: str, values: Iterable[Any], new_id: NewId) -> Returned:
    writes: Writes = []
    goto: list[Target] = []
    for value in values:
        part = read_returned(plan, node, value, new_id)
        writes += part.writes
        goto += part.goto
    return Returned(writes, goto)


def read_command(plan: Plan, node: str, command: Command[Any], new_id: NewId) -> Returned:
    if command.graph == Command.PARENT:
        raise ParentCommand(command)
    if command.graph is not None:
        raise InvalidUpdateError(
            f"Node {node!r} returned Command(graph={command.graph!r}). Use Command.PARENT, or "
            f"leave graph out for the node's own graph."
        )
    where = f"Command(goto=...) of node {node!r}"
    writes = read_updates(plan.state, command.update, f"node {node!r}", new_id=new_id)
    return Returned(writes, targets(plan, command.goto, where))


def targets(plan: Plan, goto: Any, where: str) -> list[Target]:
    """Where a `goto` leads, as it is planned."""
    if isinstance(goto, str | Send):
        goto = (goto,)
    found: list[Target] = []
    for target in goto:
        if isinstance(target, Send):
            found.append(sent(plan, target, where))
        elif target != END:
            found.append(_known(plan, str(target), where))
    return found


def sent(plan: Plan, send: Send, where: str) -> Sent:
    if send.node == END:
        raise InvalidUpdateError(f"{where} sends to END, which takes no input. Leave the Send out.")
    timeout = coerce_timeout(send.timeout, f"Send({send.node!r})")
    seconds: Any = timeout.run_timeout if timeout is not None else None
    return Sent(_known(plan, send.node, where), send.arg, seconds)


def _known(plan: Plan, name: str, where: str) -> str:
    if name not in plan.nodes:
        raise UnknownNode(name, where=where, known=tuple(plan.nodes))
    return name


def read_routed(plan: Plan, node: str, branch: Branch, value: Any) -> list[Target]:
    """Where the function of a conditional edge leads."""
    where = f"The conditional edge {branch.name!r} of {node!r}"
    found: list[Target] = []
    for one in value if isinstance(value, list | tuple) else (value,):
        if isinstance(one, Send):
            found.append(sent(plan, one, where))
            continue
        if branch.targets is not None:
            try:
                one = branch.targets[one]
            except (KeyError, TypeError):
                raise UnknownNode(
                    str(one), where=where, known=[str(k) for k in branch.targets], verb="returned"
                ) from None
        if one is None:
            raise UnknownNode("None", where=where, known=tuple(plan.nodes), verb="returned")
        if one != END:
            found.append(_known(plan, one if isinstance(one, str) else str(one), where))
    return found
