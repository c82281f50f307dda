"""An agent that asks before it acts: reading is free, deleting needs a person.

    python examples/agent.py

The model is a script, so this runs without a network; put a real one in the place of `model`. Its
answers are kept by `once`: a model that is asked again after a restart may say something else.
"""

from caesura import Command, MemoryStore, interrupt, once, workflow

Message = dict[str, str]

FILES = {"notes.txt": "buy milk", "draft.txt": "old", "thesis.txt": "ten years of work"}
DANGEROUS = {"delete"}


def model(messages: list[Message]) -> Message:
    """A fake: look, try the dangerous thing, then be content with whatever came of it."""
    script = [
        {"tool": "list", "file": "*"},
        {"tool": "delete", "file": "draft.txt"},
        {"tool": "delete", "file": "thesis.txt"},
        {"say": "I tidied up."},
    ]
    return script[sum(message["role"] == "tool" for message in messages)]


def use(tool: str, file: str) -> str:
    print(f"  [{tool} {file}]")
    if tool == "list":
        return ", ".join(sorted(FILES))
    del FILES[file]
    return "deleted"


@workflow(checkpointer=MemoryStore())
def tidy(task: str) -> list[Message]:
    messages = [{"role": "user", "text": task}]
    while True:
        wish = once(model, messages)
        if "say" in wish:
            return [*messages, {"role": "agent", "text": wish["say"]}]
        if wish["tool"] in DANGEROUS and interrupt({"may I": wish}, key="permission") != "yes":
            result = "the person said no"
        else:
            result = once(use, wish["tool"], wish["file"])
        messages = [*messages, {"role": "tool", "text": f"{wish['tool']}: {result}"}]


def main() -> None:
    result = tidy.invoke("tidy up my files", thread="tidy-1")
    while asked := tidy.get_state("tidy-1").interrupts:
        wish = asked[0].value["may I"]
        answer = input(f"May I {wish['tool']} {wish['file']}? ")
        result = tidy.invoke(Command(resume=answer), thread="tidy-1")
    for message in result:
        print(f"{message['role']}: {message['text']}")


if __name__ == "__main__":
    main()
