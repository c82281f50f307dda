"""What a call gives back.

Promises: a plain mapping for callers, with what the thread waits for at hand; made of the view that
the call ends with. Called by the facade.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from caesura.core.control import INTERRUPT, START, Interrupt
from caesura.core.state import apply_writes, output_for
from caesura.engine.calls import open_below
from caesura.engine.showing import interrupt_of, is_ended

if TYPE_CHECKING:
    from caesura.engine.calls import Work


class Result(dict[str, Any]):
    """The state that a call came to; `interrupts` are the questions that are open."""

    interrupts: tuple[Interrupt, ...] = ()


def result_of_call(work: Work, output_keys: Any = None) -> Any:
    run, plan = work.run, work.plan
    asked = tuple(interrupt_of(q) for i in range(len(run.tasks)) for q in open_below(work, run, i))
    values = run.values
    if asked:
        values = dict(values)
        finished = [w for t in run.tasks if is_ended(t) and t.node != START for w in t.writes or ()]
        apply_writes(plan.state, values, finished)
    if asked and plan.state.bare:
        values = {}
    output = selected(output_for(plan.output, values), output_keys)
    if not isinstance(output, Mapping) or isinstance(output_keys, str):
        if not asked:
            return output
        output = {}
    result = Result(output)
    if asked:
        result.interrupts = asked
        result[INTERRUPT] = list(asked)
    return result


def selected(values: Any, output_keys: Any) -> Any:
    """The keys that a caller asked for; one key by itself gives its bare value."""
    if output_keys is None or not isinstance(values, Mapping):
        return values
    if isinstance(output_keys, str):
        return values.get(output_keys)
    return {key: values[key] for key in output_keys if key in values}
