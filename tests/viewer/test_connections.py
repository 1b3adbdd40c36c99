"""A real viewer, a real websocket client, and bytes that are neither: who gets in, and what the terminal shows."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from signal import SIGINT
from typing import Any

import msgspec
import numpy as np
import pytest
import viser
import zstandard
from websockets.asyncio import server as websockets_server
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from pfmhr.robots import Robot
from pfmhr.viewer.clip_page import ClipPage, Part
from pfmhr.viewer.readout import about
from pfmhr.viewer.takes import Take
from pfmhr.viewer.wire import guarded_server

PROTOCOL = Subprotocol(f"viser-v{viser.__version__}")
CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1, 0, 0, 0],
    **{name: [0.0, 1, 0] for name in ("position", "look_at", "up_direction")},
    **{"fov": 1.0, "near": 0.1, "far": 100, "image_height": 480, "image_width": 640},
}
PATIENCE = 20


def joined(port: int, origin: str | None = None, protocol: Subprotocol = PROTOCOL) -> ClientConnection:
    page = None if origin is None else Origin(origin)
    return connect(f"ws://127.0.0.1:{port}", origin=page, subprotocols=[protocol], compression=None, max_size=None)


def sees_the_scene(port: int) -> bool:
    with joined(port, f"http://127.0.0.1:{port}") as page:
        return len(page.recv(PATIENCE)) > 1000


def answer(port: int, **headers: str) -> int:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


@dataclass
class Running:
    """The command, and what it has said since."""

    port: int
    process: subprocess.Popen[str]
    complaints: Path

    def stop(self) -> tuple[str, str]:
        self.process.send_signal(SIGINT)
        said, _ = self.process.communicate(timeout=60)
        return said, self.complaints.read_text()


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    complaints = tmp_path_factory.mktemp("viewer") / "stderr"
    words = [sys.executable, "-m", "pfmhr", "view", "--port", "0", "--no-shadows"]
    with (
        complaints.open("w") as stderr,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=stderr, text=True) as process,
    ):
        assert process.stdout is not None
        address = process.stdout.readline().split()[0]
        yield Running(int(address.rsplit(":", 1)[1]), process, complaints)
        process.kill()


@pytest.mark.parametrize("origin", ["http://evil.example", "http://localhost:3000", "null", "https://127.0.0.1"])
def test_a_page_from_elsewhere_cannot_open_the_websocket(server: viser.ViserServer, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused, joined(server.get_port(), origin):
        pass
    assert refused.value.response.status_code == 403


def test_the_page_itself_and_programs_can(server: viser.ViserServer) -> None:
    port = server.get_port()
    for origin in (None, f"http://127.0.0.1:{port}", f"http://localhost:{port}"):
        with joined(port, origin) as page:
            assert isinstance(page.recv(PATIENCE), bytes)


def test_a_name_that_was_turned_to_this_computer_gets_neither_files_nor_websocket(server: viser.ViserServer) -> None:
    port = server.get_port()
    assert answer(port) == answer(port, Host=f"localhost:{port}") == 200
    assert answer(port, Host=f"evil.example:{port}") == answer(port, Host=f"localhost:{port + 1}") == 403
    assert answer(port, Origin="http://evil.example") == 403
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as other:
        other.sendall(
            f"GET / HTTP/1.1\r\nHost: evil.example:{port}\r\nOrigin: http://evil.example:{port}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: {PROTOCOL}\r\n\r\n".encode()
        )
        assert other.recv(100).startswith(b"HTTP/1.1 403 ")


def garbage() -> Iterator[bytes]:
    client_hello, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
    secure = ssl.create_default_context().wrap_bio(client_hello, sent, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        secure.do_handshake()
    yield sent.read()
    yield bytes(range(256)) * 40
    yield b"\x00" * 100_000
    yield b"GET / HT"
    yield b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nUpgrade: websocket\r\nUpgrade: websocket\r\n\r\n"
    yield b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 100_000
    yield b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"
    yield b"SSH-2.0-OpenSSH_9.0\r\n"
    yield b""


def broken_messages(uuid: str) -> Iterator[bytes | str]:
    encode = msgspec.msgpack.encode
    yield "text"
    yield b""
    yield b"\xc1\xff garbage"
    yield b"\x81" * 5000  # maps in maps
    yield encode([1, 2, 3])
    yield encode({"no": "type"})
    yield encode({"type": "NoSuchMessage"})
    yield encode({"type": "ViewerCameraMessage"})
    yield encode(CAMERA | {"wxyz": [1.0]})
    for value in (float("nan"), float("inf"), "no such entry", [1], {}, None, 2**62, -1, "x" * 10_000):
        yield encode({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": value}})
    yield encode({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"removed": True}})
    yield encode({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"no_such_property": 1}})
    yield encode({"type": "GuiUpdateMessage", "uuid": 3, "updates": 4})


def test_garbage_is_not_seen_in_the_terminal_and_the_viewer_goes_on(command: Running) -> None:
    for content in garbage():
        with socket.create_connection(("127.0.0.1", command.port), timeout=PATIENCE) as other:
            other.sendall(content)
    for inputs in uuids(command.port):
        for message in broken_messages(inputs):
            with joined(command.port) as page:
                page.send(msgspec.msgpack.encode(CAMERA))  # from then on the viewer listens to it
                try:
                    page.send(message)
                    page.recv(PATIENCE)
                except ConnectionClosed:
                    pass
    with joined(command.port, protocol=Subprotocol("viser-v0.0.1")) as old, pytest.raises(ConnectionClosed) as closed:
        old.recv(PATIENCE)
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1002
    assert sees_the_scene(command.port) and answer(command.port) == 200
    assert command.process.poll() is None
    assert command.stop() == ("stopped\n", "")


def unpacked(raw: bytes | str) -> Any:
    """Messages of the server: the length of what is packed stands in front of it."""
    assert isinstance(raw, bytes)
    return msgspec.msgpack.decode(zstandard.decompress(raw[16 : 16 + int.from_bytes(raw[8:16], "little")]))


def texts(content: Any) -> Iterator[str]:
    """Every text in them."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, (dict, list)):
        for part in content.values() if isinstance(content, dict) else content:
            yield from texts(part)


def uuids(port: int) -> list[str]:
    """The inputs of a page: what a client that knows the page could name."""
    with joined(port) as page:
        sent: list[dict[str, Any]] = []
        while "GuiSliderMessage" not in texts(sent):
            sent = unpacked(page.recv(PATIENCE))["messages"]
    kinds = {f"Gui{kind}Message" for kind in ("Button", "Slider", "ButtonGroup", "Dropdown", "Checkbox")}
    found = {message["type"]: message["uuid"] for message in sent if message.get("type") in kinds}
    assert set(found) == kinds
    return list(found.values())


def test_nobody_can_ask_for_a_public_tunnel(server: viser.ViserServer, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(viser.ViserServer, "request_share_url", lambda self: asked.append("share"))
    moved: list[float] = []
    slider = server.gui.add_slider("s", 0.0, 9.0, 1.0, 0.0)
    slider.on_update(lambda _: moved.append(slider.value))
    with joined(server.get_port()) as page:
        for message in (
            CAMERA,
            {"type": "ShareUrlRequest"},
            {"type": "GuiUpdateMessage", "uuid": slider._impl.uuid, "updates": {"value": 3}},
        ):
            page.send(msgspec.msgpack.encode(message))
        for _ in range(200):
            if moved:
                break
            time.sleep(0.05)
    assert (moved, asked) == ([3.0], [])


def test_a_viser_that_starts_otherwise_is_not_served_from(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[bool] = []

    class Otherwise:
        def __init__(self, **settings: object) -> None:
            pass

        def stop(self) -> None:
            stopped.append(True)

    before = websockets_server.serve
    monkeypatch.setattr(viser, "ViserServer", Otherwise)
    with pytest.raises(RuntimeError, match="cannot guard"):
        guarded_server("127.0.0.1", 0, "")
    assert stopped == [True] and websockets_server.serve is before


NAME = "a\x1b[31m\x00\u202e<b>\udcff"
"""Escapes, marks and a byte that is no text: all of them may be in the name of a file."""


def test_names_that_are_no_text_do_not_end_connections(server: viser.ViserServer, g1: Robot, takes: list[Take]) -> None:
    joints = tuple(f"{name}{NAME}" for name in takes[0].joint_names)
    strange = replace(takes[0], name=NAME, joint_names=joints, note=NAME)
    page = ClipPage(server, g1, [Part(strange), Part(strange)], about(NAME))
    page.player.seek(12)
    page.show()
    with joined(server.get_port()) as client:
        assert len(client.recv(PATIENCE)) > 50_000  # the shapes of two robots
        assert client.ping().wait(PATIENCE)


def test_a_robot_of_strange_names_is_shown(server: viser.ViserServer, tmp_path: Path) -> None:
    """Of its file, joint, body and mesh; the last is no text at all, and nobody asks for it."""
    folder = tmp_path / "a\x1b[2J<b>"
    folder.mkdir()
    corners = " ".join(str(value) for corner in np.ndindex(2, 2, 2) for value in corner)
    text = f"""<mujoco><asset><mesh name="MESH" vertex="{corners}"/></asset><worldbody><body name="b&#10;/../&lt;b&gt;">
        <freejoint/><geom type="mesh" mesh="MESH"/><body name="c"><joint name="j&#9;&#x202e;/&lt;i&gt;" range="-1 1"/>
        <geom size=".1"/></body></body></worldbody></mujoco>"""
    path = folder / "robot\x07.xml"
    path.write_bytes(text.encode().replace(b"MESH", b"mesh\xff\x1b"))
    robot = Robot.load(path)
    take = Take(robot.name, np.tile([0, 0, 1, 1, 0, 0, 0, 0.0], (3, 1)), 30.0, robot.joint_names)
    ClipPage(server, robot, [Part(take), Part(take)], about(f"{path}: {robot.name}"))
    with joined(server.get_port()) as client:
        shown = list(texts(unpacked(client.recv(PATIENCE))))
        assert client.ping().wait(PATIENCE)
    assert r"robot\x07" in shown and "/robot1/0" in shown  # the label, and a shape
    assert not [text for text in shown if set(text) & set("\x07\x1b\u202e") or "<b>" in text]
