"""Give recorded values their types back.

Promises: calls nothing but the readers of registered types and of the standard ones; imports
nothing that a log names. An unknown name becomes an `Opaque`. A reader that fails is reported as
`CorruptRecord` when the graph is at hand, and shown as `Opaque` when it is not.
Called by `codec`.
"""

from __future__ import annotations

from typing import Any

from msgspec.msgpack import Decoder

from caesura.engine.opaque import Opaque
from caesura.engine.registry import Registry
from caesura.engine.standard import NAMED, READERS, STANDARD_NAMES
from caesura.errors import CorruptRecord


class Reader:
    """Turns extension records back into values."""

    def __init__(self, registry: Registry, *, strict: bool) -> None:
        self._named, self._strict = registry.named, strict
        self.unpack = Decoder(ext_hook=self.extension).decode

    def extension(self, code: int, data: memoryview) -> Any:
        """What msgspec calls for each extension record that it meets."""
        if code == NAMED:
            name, content = self.unpack(data)
            if type(name) is not str:
                raise ValueError("the name of a type is no text")
            kind = self._named(name)
            if kind is None:
                return Opaque(name, content, NAMED, bytes(data))
            read = kind.read
        else:
            reader = READERS.get(code)
            if reader is None:  # a standard type that only a newer version knows
                return Opaque(f"extension {code}", bytes(data), code, bytes(data))
            name, content, read = STANDARD_NAMES.get(code, "value"), self.unpack(data), reader
        try:
            return read(content)
        except CorruptRecord:
            raise
        except Exception as error:  # whatever a foreign class does when it is put together
            if not self._strict:
                again = self.unpack(data)  # the reader may have taken `content` apart
                return Opaque(name, again[1] if code == NAMED else again, code, bytes(data))
            raise CorruptRecord(
                f"A recorded {name} cannot be read back as what it is today: "
                f"{type(error).__name__}: {error}. Give the type a form that takes what was "
                f"recorded (a default for a new field, an alias for a renamed member), or go on "
                f"with the version of the program that wrote it. Nothing was changed."
            ) from error
