"""A draft goes round until a person is content: a loop with a question in it.

python examples/approval.py            # asks on the terminal
"""

import operator
from typing import Annotated, Literal, TypedDict

from caesura import END, START, Command, MemoryStore, StateGraph, interrupt


class Letter(TypedDict):
    subject: str
    wishes: Annotated[list[str], operator.add]
    text: str


def write(letter: Letter) -> dict[str, str]:
    wishes = "".join(f" ({wish})" for wish in letter["wishes"])
    return {"text": f"Dear customer, about {letter['subject']}:{wishes} we are sorry."}


def review(letter: Letter) -> Command[Literal["write", "__end__"]]:
    wish = interrupt({"draft": letter["text"], "please": "'ok', or what to change"}, key="review")
    if wish == "ok":
        return Command(goto=END)
    return Command(update={"wishes": [wish]}, goto="write")


letters = (
    StateGraph(Letter)
    .add_node(write)
    .add_node(review)
    .add_edge(START, "write")
    .add_edge("write", "review")
    .compile(checkpointer=MemoryStore())  # SqliteStore("letters.db") would survive the process
)


def main() -> None:
    letter = letters.invoke({"subject": "the delay", "wishes": []}, thread="letter-1")
    while letter.interrupts:
        print(letter.interrupts[0].value["draft"])
        letter = letters.invoke(Command(resume=input("ok, or what to change: ")), thread="letter-1")
        print()
    print("Sent:", letter["text"])


if __name__ == "__main__":
    main()
