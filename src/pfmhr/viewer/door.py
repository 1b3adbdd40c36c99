"""Who may connect: by which address, and from which page.

A browser lets any page it shows open a connection to this computer. What it says of that page cannot be forged by the
page: ``Origin`` is where the page comes from, ``Host`` the address it asked for.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass

LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})
_AUTHORITY = re.compile(r"(?P<name>[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?", re.ASCII)
_SCHEME = "http://"


@dataclass(frozen=True)
class Door:
    """The names a page is served under."""

    names: frozenset[str]
    """Lower case; IPv6 addresses in brackets."""
    any_address: bool = False
    """Whether every numeric address of the computer is meant; a name that somebody else resolves never is."""

    @staticmethod
    def of(host: str) -> Door:
        """For the address a server listens on; all of them means the computer's own name and any numeric address."""
        name = _as_written(host)
        if host and not (_is_numeric(name) and ipaddress.ip_address(name.strip("[]")).is_unspecified):
            return Door(LOCAL | {name})
        own = socket.gethostname().lower()
        return Door(LOCAL | {own, f"{own}.local"}, any_address=True)

    def admits(self, hosts: Sequence[str], origins: Sequence[str], port: int) -> bool:
        """Whether a request with these ``Host`` and ``Origin`` headers may come in; programs send no origin."""
        if len(hosts) != 1 or len(origins) > 1:
            return False
        asked = _name(hosts[0], port)
        if asked is None or not self._serves(asked):
            return False
        if not origins:
            return True
        scheme, rest = origins[0][: len(_SCHEME)].lower(), origins[0][len(_SCHEME) :]
        page = _name(rest, port) if scheme == _SCHEME else None
        return page is not None and (page in self.names or page == asked)

    def _serves(self, name: str) -> bool:
        return name in self.names or (self.any_address and _is_numeric(name))


def _name(authority: str, port: int) -> str | None:
    """The name of ``name:port``, if it is this port; browsers leave out 80."""
    found = _AUTHORITY.fullmatch(authority.strip().lower())
    if found is None or int(found["port"] or 80) != port:
        return None
    return _as_written(found["name"].strip("[]"))


def _as_written(host: str) -> str:
    """A host as browsers write it: short, IPv6 in brackets."""
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return host.lower()
    return f"[{number}]" if number.version == 6 else str(number)


def _is_numeric(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
