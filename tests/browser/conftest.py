"""A real Chromium without a display, and pages that remember what went wrong in them.

Other tests of pages may use these: ``chromium`` is the browser, ``page`` a fresh page in it. Pictures go to
``build/browser/``.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

PICTURES = Path(__file__).resolve().parents[2] / "build" / "browser"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    # A processor draws what a graphics card would: slowly, but three dimensions work.
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
)
RECTANGLE = """(element) => {
    element.scrollIntoView({block: "nearest"});
    const {x, y, width, height} = element.getBoundingClientRect();
    return {x, y, width, height};
}"""
SIZE = (1280, 800)
PATIENCE = 120_000
"""ms: a processor that draws and is shared with other tests may take long."""


@dataclass
class WatchedPage:
    """A tab, with everything it complained about and every other place it asked for something."""

    tab: Tab
    errors: list[str] = field(default_factory=list)
    """Errors on the console, uncaught ones, and requests that failed."""
    requests: list[str] = field(default_factory=list)
    """Addresses asked for over the network; files and data in the page itself are none."""

    def __post_init__(self) -> None:
        self.tab.on("console", lambda message: self._complain(message.text) if message.type == "error" else None)
        self.tab.on("pageerror", lambda error: self._complain(str(error)))
        self.tab.on("requestfailed", lambda request: self._complain(f"failed: {request.url}"))
        self.tab.on("request", lambda request: self._ask(request.url))

    def pixels(self, element: str | None = None) -> np.ndarray:
        """What is seen, ``(height, width, 3)`` in [0, 255]: of the first element of a selector, or the whole page."""
        # A picture of an element alone would wait until it stands still, which takes long where drawing does.
        clip = self.tab.locator(element).first.evaluate(RECTANGLE) if element else None
        shot = self.tab.screenshot(clip=clip)
        with Image.open(BytesIO(shot)) as image:
            return np.asarray(image.convert("RGB")).astype(int)

    def screenshot(self, name: str) -> Path:
        """Keep a picture of the page under ``build/browser/``."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        path = PICTURES / f"{name}.png"
        self.tab.screenshot(path=path)
        return path

    def _complain(self, what: str) -> None:
        self.errors.append(what)

    def _ask(self, address: str) -> None:
        if address.startswith(("http:", "https:", "ws:", "wss:")):
            self.requests.append(address)


def open_page(chromium: Browser, size: tuple[int, int] = SIZE) -> WatchedPage:
    """A fresh page, for fixtures that keep one longer than a test; close its ``tab.context`` afterwards."""
    context = chromium.new_context(viewport={"width": size[0], "height": size[1]})
    context.set_default_timeout(PATIENCE)
    return WatchedPage(context.new_page())


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The system's Chromium, driven by Playwright."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: make test-browser installs it")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium here: make test-browser installs it, or says what to install")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(ARGUMENTS), timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[WatchedPage]:
    """A fresh page that is closed after the test."""
    watched = open_page(chromium)
    yield watched
    watched.tab.context.close()
