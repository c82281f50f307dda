"""Keys by name, and the form of what is encrypted with them.

Promises: a ciphertext says which key it needs; what was written under one name of a place cannot be
opened under another. A key that is missing or wrong is named, never its bytes.
Called by `encrypted`.

The form: four bytes that tell it from anything else, the length of the key's name and the name, a
nonce of twelve bytes, then the ciphertext with its tag.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from caesura.errors import CorruptRecord, MissingExtra, StoreMisconfigured

_MARK = b"\xc1CE1"  # no msgpack begins with C1
_KEY_BYTES, _NONCE_BYTES, _TAG_BYTES, _NAME_BYTES = 32, 12, 16, 255


class Keyring:
    def __init__(self, keys: Mapping[str, bytes], current: str) -> None:
        try:
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError as error:
            raise MissingExtra(
                "EncryptedStore", extra="encryption", package="cryptography"
            ) from error
        _check(keys, current)
        self._invalid: type[Exception] = InvalidTag
        self._ciphers = {name: AESGCM(key) for name, key in keys.items()}
        self._current = self._ciphers[current]
        name = current.encode()
        self._header = _MARK + bytes([len(name)]) + name

    @property
    def overhead(self) -> int:
        """Bytes that encryption adds."""
        return len(self._header) + _NONCE_BYTES + _TAG_BYTES

    def seal(self, body: bytes, kind: str, thread: str, place: str) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._current.encrypt(nonce, body, _bound_to(self._header, kind, thread, place))
        return self._header + nonce + sealed

    def open(self, sealed: bytes, kind: str, thread: str, place: str) -> bytes:
        where = f"The {kind} {place} of thread {thread!r}"
        if not sealed.startswith(_MARK):
            raise CorruptRecord(
                f"{where} is not encrypted: it was written without EncryptedStore. Open its store "
                f"without one, or copy its threads into an encrypted store."
            )
        end = len(_MARK) + 1 + sealed[len(_MARK)] if len(sealed) > len(_MARK) else 0
        header = sealed[:end]
        name = header[len(_MARK) + 1 :].decode(errors="replace")
        cipher = self._ciphers.get(name)
        if cipher is None:
            known = ", ".join(map(repr, sorted(self._ciphers)))
            raise CorruptRecord(
                f"{where} is encrypted with key {name!r}, which is not among the keys given "
                f"({known}). Add it to keys=."
            )
        nonce = sealed[end : end + _NONCE_BYTES]
        try:
            return cipher.decrypt(
                nonce, sealed[end + _NONCE_BYTES :], _bound_to(header, kind, thread, place)
            )
        except (self._invalid, ValueError) as error:  # ValueError: too short for a nonce
            raise CorruptRecord(
                f"{where} cannot be decrypted with key {name!r}. Either other bytes are given "
                f"under that name than it was written with: give the right ones in keys=. Or it "
                f"was damaged or moved: restore a backup."
            ) from error


def _check(keys: Mapping[str, Any], current: str) -> None:
    for name, key in keys.items():
        if not isinstance(key, bytes | bytearray) or len(key) != _KEY_BYTES:
            # Whatever was given may be part of a secret, so it is not shown.
            raise StoreMisconfigured(
                f"EncryptedStore: key {name!r} is not {_KEY_BYTES} bytes. Make one with "
                f"os.urandom({_KEY_BYTES}) and keep it with your other secrets."
            )
        if not 0 < len(name.encode()) <= _NAME_BYTES:
            raise StoreMisconfigured(
                f"EncryptedStore: {name!r} cannot be the name of a key. Give one of at most "
                f"{_NAME_BYTES} bytes, such as 'first' or '2024-05'."
            )
    if current not in keys:
        known = ", ".join(map(repr, sorted(keys))) or "none"
        raise StoreMisconfigured(
            f"EncryptedStore(current={current!r}): there is no key of that name, only {known}."
        )


def _bound_to(header: bytes, kind: str, thread: str, place: str) -> bytes:
    """What a ciphertext is bound to. Lengths keep two neighbours from sliding into one another."""
    parts = [header, kind.encode(), thread.encode("utf-8", "surrogatepass"), place.encode()]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)
