"""What a recording holds, read as viser's player reads it."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import zstandard

from pfmhr.viewer.recording import Recording


@dataclass(frozen=True)
class Recorded:
    """Messages with their times in s, arrays in place."""

    seconds: float
    messages: list[tuple[float, dict[str, Any]]]

    def track(self, node: str, what: str) -> dict[float, Any]:
        """A property of a scene node by the time it was set; the last one of a moment counts."""
        found: dict[float, Any] = {}
        for time, message in self.messages:
            if message["type"] == "SceneNodeUpdateMessage" and message["name"] == node:
                found |= {round(time, 6): message["updates"][what]} if what in message["updates"] else {}
        return found

    def nodes(self) -> list[str]:
        """Names of the scene nodes, in the order in which they were made."""
        return [message["name"] for _, message in self.messages if "props" in message]


def decoded(recording: Recording) -> Recorded:
    """Undo base64, zstd and msgpack."""
    packed = base64.b64decode(recording.scene)
    whole = zstandard.ZstdDecompressor().decompress(packed[8:], max_output_size=int.from_bytes(packed[:8], "little"))
    size = int.from_bytes(whole[:8], "little")
    content = msgspec.msgpack.decode(whole[8 : 8 + size])
    buffers, at = [], 8 + size
    for length in content["binaryBufferLengths"]:
        at += -at % 8
        buffers.append(whole[at : at + length])
        at += length
    messages = [(time, _filled(message, buffers)) for time, message in content["messages"]]
    return Recorded(content["durationSeconds"], messages)


def _filled(value: Any, buffers: list[bytes]) -> Any:
    if isinstance(value, dict):
        if "__binary_index" in value:
            return np.frombuffer(buffers[value["__binary_index"]], dtype=value["dtype"])
        return {name: _filled(each, buffers) for name, each in value.items()}
    return [_filled(each, buffers) for each in value] if isinstance(value, list) else value
