"""A viser server behind our door: who may not connect gets 403, and what nobody understands is dropped.

Viser itself answers every page of every origin, opens a public tunnel to whoever asks for one, and lets what it cannot
decode end in the terminal. It has no setting for that, so its call of ``websockets.asyncio.server.serve`` is taken over
while it starts; if it ever starts in another way, we refuse to serve.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated, Any, Literal

import msgspec
import viser
from websockets.asyncio import server as websockets_server
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from pfmhr.inputs import BROKEN
from pfmhr.viewer.door import Door

LOGGER = logging.getLogger("pfmhr.viewer.connections")
LOGGER.addHandler(logging.NullHandler())  # strangers' bytes are for those who set up logging, not for the terminal
LARGEST_MESSAGE = 2**16
"""Bytes; what a page sends is a number or a camera."""
PROTOCOL_ERROR = 1002
"""What viser's page takes for another version than its own."""

Handler = Callable[[ServerConnection], Awaitable[None]]
Answer = Callable[[ServerConnection, Request], Response | None]
Triple = tuple[float, float, float]
_starting = threading.Lock()


class _Camera(msgspec.Struct, tag_field="type", tag="ViewerCameraMessage"):
    """Where somebody looks from."""

    wxyz: tuple[float, float, float, float]
    position: Triple
    look_at: Triple
    up_direction: Triple
    fov: float
    near: float
    far: float
    image_height: int
    image_width: int


class _Change(msgspec.Struct, tag_field="type", tag="GuiUpdateMessage"):
    """A button, slider or list that somebody used."""

    uuid: str
    updates: dict[Literal["value"], bool | int | float | Annotated[str, msgspec.Meta(max_length=100)]]


_MESSAGES = msgspec.msgpack.Decoder(_Camera | _Change)


def guarded_server(host: str, port: int, label: str) -> viser.ViserServer:
    """A running server that only pages and programs of its own address can talk to."""
    serve, taken = websockets_server.serve, threading.Event()

    def guarded(handler: Handler, *address: Any, process_request: Answer, **settings: Any) -> Any:
        taken.set()
        asyncio.get_running_loop().set_exception_handler(_note)
        settings |= {"max_size": LARGEST_MESSAGE, "logger": LOGGER, "create_connection": _Connection}
        answer = _checked(Door.of(host), process_request)
        return serve(_of_this_version(handler), *address, process_request=answer, **settings)

    with _starting:
        websockets_server.serve = guarded  # type: ignore[assignment]
        try:
            server = viser.ViserServer(host=host, port=port, label=label, verbose=False)
        finally:
            websockets_server.serve = serve
    if not taken.is_set():
        server.stop()
        raise RuntimeError(f"viser {viser.__version__} starts its server in a way we cannot guard")
    return server


def understood(message: str | bytes) -> bool:
    """Whether a message is one that the page sends: a camera, or the new value of an input."""
    if isinstance(message, str):
        return False
    try:
        content = _MESSAGES.decode(message)
    except (msgspec.DecodeError, RecursionError):
        return False
    values = content.updates.values() if isinstance(content, _Change) else ()
    return all(isinstance(value, str) or abs(value) <= BROKEN for value in values)  # NaN is not, either


class _Connection(ServerConnection):
    """Hands on what is understood, and drops the rest."""

    async def recv(self, decode: bool | None = None) -> Any:
        while not understood(message := await super().recv(decode)):
            LOGGER.debug("dropped a message of %d bytes", len(message))
        return message


def _checked(door: Door, answer: Answer) -> Answer:
    """Refuses strangers before any handshake and any file."""

    def check(connection: ServerConnection, request: Request) -> Response | None:
        port = connection.local_address[1]
        if door.admits(request.headers.get_all("Host"), request.headers.get_all("Origin"), port):
            return answer(connection, request)
        names = ", ".join(f"http://{name}:{port}" for name in sorted(door.names))
        return connection.respond(HTTPStatus.FORBIDDEN, f"Only for {names}, and for pages from there.\n")

    return check


def _of_this_version(handler: Handler) -> Handler:
    """Closes connections of other versions as viser does, without a word in the terminal."""

    async def handle(connection: ServerConnection) -> None:
        if connection.subprotocol == f"viser-v{viser.__version__}":
            await handler(connection)
        else:
            await connection.close(PROTOCOL_ERROR, f"Version mismatch: this is viser {viser.__version__}")

    return handle


def _note(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    LOGGER.error("%s", context["message"], exc_info=context.get("exception"))
