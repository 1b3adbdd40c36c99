"""Serving a page: the port, the loop, a clean end."""

from __future__ import annotations

import contextlib
import errno
import io
import socket
import time
from collections.abc import Callable, Iterator
from typing import Protocol

import viser

from pfmhr.errors import InputError
from pfmhr.viewer.wire import guarded_server

TICK = 1.0 / 60.0
LONGEST_TICK = 0.25
"""s: after a pause of the computer a clip goes on where it was, and does not leap."""


class Page(Protocol):
    """Something that goes on by itself."""

    def tick(self, seconds: float) -> None:
        """Let time pass."""
        ...


def require_port(host: str, port: int) -> None:
    """Refuse an address that cannot be served; viser itself would take another port, or wait for ever."""
    if not 0 <= port <= 65535:
        raise InputError("no such port", expected="0 to 65535", got=port, code="bad_port")
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except socket.gaierror as error:
        raise InputError(f"no such host '{host}'", got=error.strerror, fix="Try 127.0.0.1.", code="bad_host") from None
    for family, kind, protocol, _, address in addresses:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
            try:
                probe.bind(address)
            except OSError as error:
                raise _refusal(host, port, error) from None


def _refusal(host: str, port: int, error: OSError) -> InputError:
    if error.errno == errno.EADDRINUSE:
        return _in_use(port)
    if error.errno == errno.EADDRNOTAVAIL:
        fix = "127.0.0.1 is seen from here alone, 0.0.0.0 by the whole network."
        return InputError(f"'{host}' is not an address of this machine", fix=fix, code="bad_host")
    if error.errno == errno.EACCES:
        return InputError(
            f"port {port} is not ours to use", fix="Choose one from 1024 on with --port.", code="bad_port"
        )
    return InputError(f"cannot listen on {host}, port {port}: {error.strerror}", code="bad_port")


def _in_use(port: int) -> InputError:
    fix = f"Stop the program that uses it, or choose another, such as --port {port + 1} (--port 0 takes any free one)."
    return InputError(f"port {port} is already in use", fix=fix, code="port_in_use")


@contextlib.contextmanager
def running(host: str, port: int) -> Iterator[viser.ViserServer]:
    """A server on exactly this port (any free one for 0), stopped at the end."""
    require_port(host, port)
    with contextlib.redirect_stdout(io.StringIO()):  # viser greets at length; we say what is needed ourselves
        server = guarded_server(host, port, "PFM-HR")
    try:
        if port not in (0, server.get_port()):
            raise _in_use(port)  # somebody was quicker
        yield server
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


def address(server: viser.ViserServer) -> str:
    """Where a browser finds it."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(server.get_host(), server.get_host())
    return f"http://{f'[{host}]' if ':' in host else host}:{server.get_port()}"


def serve(page: Page, greeting: str, say: Callable[[str], object]) -> None:
    """Say where a page is, and let it live until Ctrl-C, which may come as soon as that is said."""
    try:
        say(greeting)
        last = time.perf_counter()
        while True:
            time.sleep(TICK)
            now = time.perf_counter()
            page.tick(min(now - last, LONGEST_TICK))
            last = now
    except KeyboardInterrupt:
        say("stopped")
