"""Which addresses and which pages a server lets in."""

from __future__ import annotations

import socket

import pytest

from pfmhr.viewer.door import Door

LOCAL = Door.of("127.0.0.1")


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"])
def test_this_computer_is_reached_by_each_of_its_names(host: str) -> None:
    assert LOCAL.admits([host], [], 8080)
    assert LOCAL.admits([host], [f"http://{host}"], 8080)


def test_a_page_of_one_local_name_may_ask_another() -> None:
    assert LOCAL.admits(["127.0.0.1:8080"], ["http://localhost:8080"], 8080)


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example:8080", "localhost.evil.example:8080", "127.0.0.1.nip.io:8080", "192.168.1.5:8080"),
        *("localhost:8081", "localhost", "[::1]", "", ":8080", "localhost:"),
        *("localhost:8080@evil", "localhost:8080\x00", "localhost:٨٠٨٠"),
    ],
)
def test_other_hosts_are_refused(host: str) -> None:
    assert not LOCAL.admits([host], [], 8080)


@pytest.mark.parametrize(
    "origin",
    [
        *("http://evil.example", "http://evil.example:8080", "http://localhost:8080.evil.example"),
        *("http://localhost:3000", "http://localhost", "https://localhost:8080", "http://localhost:8080/"),
        *("localhost:8080", "file://", "null", ""),
    ],
)
def test_pages_from_elsewhere_are_refused(origin: str) -> None:
    assert not LOCAL.admits(["localhost:8080"], [origin], 8080)


def test_a_header_that_comes_twice_or_a_host_that_is_missing_is_refused() -> None:
    assert not LOCAL.admits([], [], 8080)
    assert not LOCAL.admits(["localhost:8080"] * 2, [], 8080)
    assert not LOCAL.admits(["localhost:8080"], ["http://localhost:8080"] * 2, 8080)


def test_port_80_goes_without_saying() -> None:
    assert LOCAL.admits(["localhost"], ["http://localhost"], 80)


def test_an_address_that_is_asked_for_is_let_in_and_no_other() -> None:
    door = Door.of("192.168.1.5")
    assert door.admits(["192.168.1.5:8080"], ["http://192.168.1.5:8080"], 8080)
    assert not door.admits(["192.168.1.6:8080"], [], 8080)
    assert Door.of("MyBox.lan").admits(["mybox.lan:8080"], [], 8080)
    assert Door.of("fe80:0:0:0:0:0:0:1").admits(["[fe80::1]:8080"], [], 8080)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_all_addresses_means_numbers_and_the_own_name(host: str) -> None:
    door = Door.of(host)
    own = socket.gethostname()
    for name in ("10.1.2.3", "[fd00::7]", "localhost", own):
        assert door.admits([f"{name}:8080"], [f"http://{name}:8080"], 8080)
    assert not door.admits(["evil.example:8080"], ["http://evil.example:8080"], 8080)  # a name turned to our address
    assert not door.admits(["10.1.2.3:8080"], ["http://6.6.6.6:8080"], 8080)  # a page of another computer
