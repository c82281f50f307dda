"""What a call begins with: an input, a command, or nothing new; also at an older step.

Promises: what is refused leaves the thread as it was. Does not promise: to write; what is staged
goes out with the lease that the call takes.
Called by `engine.calling`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from caesura.core.control import UNSET, Command
from caesura.engine.calls import Beginning
from caesura.engine.commands import command, go_on
from caesura.engine.inputs import Wish, digest, give_input
from caesura.engine.rewinding import answer_there, go_back, is_head
from caesura.errors import RequestMismatch

if TYPE_CHECKING:
    from caesura.engine.calls import Call


def prepare(call: Call, wish: Wish) -> bool:
    """Stage what the call begins with; False when there is nothing to write and nothing to run."""
    ledger = call.ledger
    if ledger.exists:
        if wish.request_id is not None and _is_repeated(call, wish):
            wish = wish._replace(value=None, request_id=None)
        if wish.step is not None and not is_head(ledger.view, wish.step):
            is_input = wish.value is not None and not isinstance(wish.value, Command)
            run = go_back(call, wish.step, "update" if is_input else "replay")
            call.beginning = Beginning("step")
            if isinstance(wish.value, Command) and wish.value.resume is not UNSET:
                answer_there(call, wish.step, run, wish.value.resume)
                wish = wish._replace(value=replace(wish.value, resume=UNSET))
            return _begin(call, wish) or True
    elif wish.step is not None:
        go_back(call, wish.step)  # says that there is no such step
    return _begin(call, wish)


def _begin(call: Call, wish: Wish) -> bool:
    if wish.value is None:
        return go_on(call, wish)
    if isinstance(wish.value, Command):
        return command(call, wish, wish.value)
    return give_input(call, wish)


def _is_repeated(call: Call, wish: Wish) -> bool:
    known = call.ledger.view.requests.get(wish.request_id or "")
    if known is None:
        return False
    if wish.value is not None and known != digest(call, wish.value):
        raise RequestMismatch(call.ledger.thread, wish.request_id or "")
    return True
