"""Three people review at the same time and answer in any order: `asyncio.gather` over questions.

python examples/reviewers.py
"""

import asyncio

from caesura import MemoryStore, interrupt, once, workflow

REVIEWERS = ("legal", "press", "security")


async def review(reviewer: str, text: str) -> bool:
    answer = interrupt({"for": reviewer, "text": text}, key=reviewer)
    return bool(answer == "yes")


@workflow(checkpointer=MemoryStore())
async def announce(text: str) -> str:
    verdicts = await asyncio.gather(*(review(reviewer, text) for reviewer in REVIEWERS))
    if not all(verdicts):
        against = [who for who, agrees in zip(REVIEWERS, verdicts, strict=True) if not agrees]
        return f"held back by {', '.join(against)}"
    return once(publish, text)


def publish(text: str) -> str:
    print(f"*** {text} ***")
    return "published"


def main() -> None:
    announce.invoke("We are open on Sundays", thread="sundays")
    asked = announce.get_state("sundays").interrupts
    for question in reversed(asked):  # in any order: each answer names its question
        answer = input(f"{question.value['for']}, may we say {question.value['text']!r}? ")
        announce.answer(question.id, answer, by=question.value["for"])
    print(announce.invoke(None, thread="sundays"))


if __name__ == "__main__":
    main()
