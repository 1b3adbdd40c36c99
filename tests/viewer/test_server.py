"""Ports and addresses: one clear message, and nothing left behind."""

from __future__ import annotations

import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from signal import SIGINT

import pytest
import viser

from pfmhr.errors import InputError
from pfmhr.viewer.server import address, require_port, running, serve


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def refusal(host: str, port: int) -> InputError:
    with pytest.raises(InputError) as caught:
        require_port(host, port)
    return caught.value


def test_a_port_in_use_is_named_with_what_to_do(taken: int) -> None:
    error = refusal("127.0.0.1", taken)
    assert error.code == "port_in_use"
    assert f"port {taken} is already in use" in str(error)
    assert f"--port {taken + 1}" in str(error)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_number_that_is_no_port_is_refused(port: int) -> None:
    assert refusal("127.0.0.1", port).code == "bad_port"


def test_addresses_of_others_are_refused() -> None:
    assert "not an address of this machine" in str(refusal("192.0.2.1", 8080))  # kept for documentation: nobody's
    assert refusal("no such host", 8080).code == "bad_host"


def test_a_server_has_exactly_its_port_and_gives_it_back(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    with running("127.0.0.1", port) as server:
        assert address(server) == f"http://127.0.0.1:{port}"
        with urllib.request.urlopen(address(server), timeout=20) as answer:
            assert b"<html" in answer.read()
        assert refusal("127.0.0.1", port).code == "port_in_use"
    require_port("127.0.0.1", port)
    assert capsys.readouterr().out == ""  # what is said is ours to say


def test_a_server_listens_on_nothing_but_its_host() -> None:
    with running("127.0.0.1", 0) as server, pytest.raises(OSError):
        socket.create_connection(("127.0.0.2", server.get_port()), timeout=5)


def test_a_page_lives_until_it_is_stopped(server: viser.ViserServer) -> None:
    ticks: list[float] = []

    class Page:
        def tick(self, seconds: float) -> None:
            ticks.append(seconds)
            if len(ticks) == 5:
                raise KeyboardInterrupt

    said: list[str] = []
    serve(Page(), "here", said.append)
    assert said == ["here", "stopped"]
    assert all(0.0 < seconds <= 0.25 for seconds in ticks)


def test_ctrl_c_right_after_the_greeting_ends_it_as_well(server: viser.ViserServer) -> None:
    class Page:
        def tick(self, seconds: float) -> None:
            raise AssertionError("it was to be stopped by now")

    said: list[str] = []

    def say(what: str) -> None:
        said.append(what)
        if what == "here":
            raise KeyboardInterrupt

    serve(Page(), "here", say)
    assert said == ["here", "stopped"]


def test_ctrl_c_ends_the_command_without_a_trace() -> None:
    command = [sys.executable, "-m", "pfmhr", "view", "--port", "0", "--no-shadows"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said.startswith("http://127.0.0.1:") and "Ctrl-C stops it" in said
        page = said.split()[0]
        with urllib.request.urlopen(page, timeout=60) as answer:
            assert answer.status == 200
        process.send_signal(SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "stopped\n", "")
    require_port("127.0.0.1", int(page.rsplit(":", 1)[1]))
