"""Messages between our own processes: a JSON header and raw bytes, length first.

8 bytes little-endian: length of the header; 8 bytes: length of the body; the header as JSON, in which Python writes and
reads NaN and infinities too; the body.
"""

import json
import socket
import struct
from typing import Any

from validation.records.text import one_line

LENGTHS = struct.Struct("<QQ")
CHUNK = 1 << 18
MOST_HEADER = 128 * 2**20  # bytes
MOST_BODY = 2**30  # bytes


class ClosedError(ConnectionError):
    """The other side is gone."""


class GarbledError(ValueError):
    """Bytes that are no message, as where an engine has written into our pipe; one line."""


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return LENGTHS.pack(len(text), len(body)) + text + body


def send(connection: socket.socket, header: dict[str, Any], body: bytes = b"") -> None:
    try:
        connection.sendall(pack(header, body))
    except (BrokenPipeError, ConnectionResetError) as error:
        raise ClosedError from error


class Reader:
    """Gathers bytes as they come and hands out whole messages."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    @property
    def rest(self) -> int:
        """Bytes of a message that has not come whole."""
        return len(self._bytes)

    def feed(self, data: bytes | bytearray) -> list[tuple[dict[str, Any], bytes]]:
        """Raises GarbledError."""
        self._bytes += data
        messages = []
        while (message := self._take()) is not None:
            messages.append(message)
        return messages

    def _take(self) -> tuple[dict[str, Any], bytes] | None:
        if len(self._bytes) < LENGTHS.size:
            return None
        header_length, body_length = LENGTHS.unpack_from(self._bytes)
        if header_length > MOST_HEADER or body_length > MOST_BODY:
            raise GarbledError(f"it announces {header_length + body_length} bytes")
        end = LENGTHS.size + header_length + body_length
        if len(self._bytes) < end:
            return None
        try:
            header = json.loads(self._bytes[LENGTHS.size : LENGTHS.size + header_length])
        except (ValueError, RecursionError) as error:
            raise GarbledError(f"it is not JSON: {one_line(str(error), 100)}") from None
        if not isinstance(header, dict):
            raise GarbledError(f"it begins with {header!r:.60}")
        with memoryview(self._bytes) as whole:
            body = bytes(whole[LENGTHS.size + header_length : end])
        del self._bytes[:end]
        return header, body


def receive(connection: socket.socket, reader: Reader) -> list[tuple[dict[str, Any], bytes]]:
    """What has come, after at most one wait. Raises ClosedError at the end of the stream, GarbledError."""
    try:
        data = connection.recv(CHUNK)
    except ConnectionResetError as error:
        raise ClosedError from error
    if not data:
        raise ClosedError
    return reader.feed(data)
