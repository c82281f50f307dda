"""A refund that waits for a person: the workflow, and a process that works on it.

    python examples/refund.py refunds.db effects.log

Kill the process whenever you like and start it again: it goes on where it was, and nobody pays
twice. The question can be answered from any process that opens the same file; `demo.py` does both
before your eyes.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from caesura import SqliteStore, interrupt, once, workflow

EFFECTS = Path("effects.log")  # the outside world: a line for each thing that really happened


class Order(TypedDict):
    number: str
    amount: float


@dataclass
class Verdict:
    approved: bool
    reason: str = ""


# --------------------------------------------------------------------------------- the workflow
def refund(order: Order) -> str:
    label = once(charge, "return label", 4.90)
    risk = once(assess_risk, order["number"])
    verdict = interrupt(
        {"refund": order["number"], "amount": order["amount"], "risk": risk, "label": label},
        key="verdict",
        schema=Verdict,
    )
    if verdict.approved:
        once(pay_back, order["number"], order["amount"])
    once(send_mail, order["number"], "paid" if verdict.approved else "refused")
    return "paid" if verdict.approved else "refused"


# ---------------------------------------------- what it does to the world, each a line in a file
def charge(what: str, amount: float) -> str:
    happened("charge", f"{what} {amount:.2f} key={once.key()[:8]}")
    return f"{what}, {amount:.2f} charged"


def assess_risk(number: str) -> str:
    happened("assess-begun", f"{number} key={once.key()[:8]}")
    time.sleep(1.5)  # a slow service far away
    happened("assess-done", number)
    return "low"


def pay_back(number: str, amount: float) -> None:
    happened("pay-back", f"{number} {amount:.2f} key={once.key()[:8]}")


def send_mail(number: str, outcome: str) -> None:
    happened("mail", f"{number} {outcome}")


def happened(what: str, detail: str) -> None:
    with EFFECTS.open("a", encoding="utf-8") as effects:
        effects.write(f"{what} {detail}\n")


# ----------------------------------------------------------------------------------- the worker
def work(store: SqliteStore, order: Order) -> None:
    """Begin, or go on where another process was stopped, until the refund is decided."""
    refunds = workflow(checkpointer=store)(refund)
    thread = order["number"]
    refunds.invoke(order, thread=thread, request_id=thread)  # safe to repeat: it begins once
    while (state := refunds.get_state(thread)).next:
        if state.interrupts:
            time.sleep(0.1)  # somebody may answer in a second or in a month
        else:
            refunds.invoke(None, thread=thread)


if __name__ == "__main__":
    database, EFFECTS = sys.argv[1], Path(sys.argv[2])
    with SqliteStore(database) as store:
        work(store, {"number": "order-1042", "amount": 89.90})
