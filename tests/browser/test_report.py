"""The report in a real browser, from a file: it plays, turns, prints, and fits its window, by day and by night."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pfmhr.motion.embedded import embedded_motion
from pfmhr.prior import PosePrior
from pfmhr.report import build_report
from pfmhr.report.page import Player, Section, write_page
from pfmhr.report.watching import clips_player
from pfmhr.robots import Robot
from pfmhr.viewer.lineup import Part
from pfmhr.viewer.recording import record
from pfmhr.viewer.takes import Take
from tests.browser.conftest import PICTURES, WatchedPage
from tests.report.conftest import RESULTS, experiment_row, summary, tracking_row

PLAYER, FRAME = ".player", ".player iframe"
TIMELINE = "[role=slider]"
NOW = "Number(document.querySelector('.curves').style.getPropertyValue('--now'))"
CALM = """
const next = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (draw) => setTimeout(() => next(draw), 150);
document.addEventListener("DOMContentLoaded", () => {
  const style = document.createElement("style");
  style.textContent = ".mantine-Notifications-root, #webgl-software-rendering { display: none !important }";
  document.head.append(style);
});
"""
"""A processor that draws as often as it can has no time for anything else, and of that viser warns."""


@pytest.fixture(scope="module")
def report(g1: Robot, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips to watch, tables as wide as they get, studies with their figures, an experiment with radar charts."""
    folder = tmp_path_factory.mktemp("report")
    rows = [tracking_row(name=f"g1_walk, {name}, residual") for name in ("ADD", "ADD + PFM-HR", "ADD + FM-Recon")]
    curves = [
        {"name": row["name"], "seed": 0, "samples": [0, 10**6], "success": [0.1, 0.5 + 0.1 * place]}
        for place, row in enumerate(rows)
    ]
    compared = {"rows": rows, "curves": curves, "command": "pfmhr track compare runs/a runs/b"}
    matrix = summary(
        *(
            experiment_row(skill, method, position_error=0.02 + 0.002 * (len(skill) + len(method)))
            for skill in ("walk", "run", "spinkick", "speed_vault")
            for method in ("add", "pdf_hr", "pfm")
        )
    )
    stored = []
    for name, content in {"compared": compared, "matrix": matrix}.items():
        stored.append(folder / f"{name}.json")
        stored[-1].write_text(json.dumps(content))
    studies = [RESULTS / f"{name}.json" for name in ("study_timestep", "study_perturbation", "bench_score_small_256")]
    walk = embedded_motion("walk", g1)
    noise = np.random.default_rng(0).normal(scale=0.02, size=walk.joint_pos.shape)
    clips = {"as made": walk, "trembling": replace(walk, joint_pos=walk.joint_pos + noise)}
    player = clips_player(PosePrior.load("g1-small"), g1, clips, 1 / 30, "A walk and a trembling copy.")
    build_report([*stored, *studies], folder / "report.html", before=[Section("Watch", [player])])
    return folder / "report.html"


@pytest.fixture
def opened(page: WatchedPage, report: Path) -> Callable[..., WatchedPage]:
    """Opens the report, its first scene in sight; complaints are checked by the tests."""

    def open_(width: int = 1100, scheme: Any = "light") -> WatchedPage:
        page.tab.set_viewport_size({"width": width, "height": 800})
        page.tab.emulate_media(color_scheme=scheme)
        page.tab.add_init_script(CALM)
        page.tab.goto(report.as_uri())
        page.tab.locator(FRAME).scroll_into_view_if_needed()
        inside(page).locator(TIMELINE).wait_for(state="attached")
        return page

    return open_


def inside(page: WatchedPage) -> Any:
    """The scene's own page."""
    return page.tab.frame_locator(FRAME).first


def moment(page: WatchedPage) -> float:
    """Where the timeline is, in s."""
    return float(inside(page).locator(TIMELINE).get_attribute("aria-valuenow"))


def paused(page: WatchedPage) -> float:
    """Click the scene, then stop its timeline with the mouse; where it stands."""
    page.tab.locator(FRAME).first.scroll_into_view_if_needed()
    box = page.tab.locator(FRAME).first.bounding_box()
    assert box is not None
    page.tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + 0.4 * box["height"])
    page.tab.wait_for_function("document.querySelector('.player').matches('.awake')")
    button = inside(page).locator("button:visible").first
    spot = button.bounding_box()
    page.tab.mouse.click(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
    page.tab.wait_for_timeout(400)
    before = moment(page)
    page.tab.wait_for_timeout(600)
    assert moment(page) == before
    return before


def still(page: WatchedPage) -> np.ndarray:
    """The scene once it stands still."""
    before = page.pixels(FRAME)
    for _ in range(60):
        page.tab.wait_for_timeout(400)
        after = page.pixels(FRAME)
        if (np.abs(after - before).max(axis=2) > 24).mean() < 1e-4:
            return after
        before = after
    raise AssertionError("the picture never stood still")


def changed(before: np.ndarray, after: np.ndarray) -> float:
    """Share of the pixels that differ visibly."""
    return float((np.abs(before - after).max(axis=2) > 24).mean())


def picture(name: str) -> Path:
    PICTURES.mkdir(parents=True, exist_ok=True)
    return PICTURES / f"{name}.png"


def luminance(colour: list[float]) -> float:
    """As the accessibility guidelines define it, of [0, 255]."""
    parts = [part / 255 for part in colour[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(one: list[float], other: list[float]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


COLOURS = """() => {
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const of = (selector, what) => numbers(getComputedStyle(document.querySelector(selector))[what]);
  const strokes = [...document.querySelectorAll("figure:not(.robots) svg path, figure:not(.robots) svg use")]
    .map((path) => getComputedStyle(path).stroke).filter((stroke) => stroke.startsWith("rgb"));
  return {
    paper: of("body", "backgroundColor"), ink: of("body", "color"), panel: of(".player", "backgroundColor"),
    faint: of("figcaption", "color"), theirs: of("td.theirs", "color"), link: of("nav a", "color"),
    words: of("figure svg text", "fill"), strokes: [...new Set(strokes)].map(numbers),
  };
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_without_a_complaint_and_can_be_read(opened: Callable[..., WatchedPage], scheme: str) -> None:
    page = opened(scheme=scheme)
    page.tab.screenshot(path=picture(f"report-{scheme}"), full_page=True)
    assert page.errors == [] and page.requests == []
    colours = page.tab.evaluate(COLOURS)
    paper = colours["paper"]
    assert (luminance(paper) > 0.9) == (scheme == "light") and (luminance(paper) < 0.02) == (scheme == "dark")
    assert contrast(colours["ink"], paper) > 12 and contrast(colours["ink"], colours["panel"]) > 11
    for name in ("faint", "theirs", "link"):
        assert contrast(colours[name], paper) > 4.5, name
    assert contrast(colours["words"], paper) > 12  # of figures
    assert len(colours["strokes"]) > 5
    assert [stroke for stroke in colours["strokes"] if contrast(stroke, paper) < 2.0] == []


def test_robots_are_seen_on_either_paper(opened: Callable[..., WatchedPage]) -> None:
    for scheme in ("light", "dark"):
        page = opened(scheme=scheme)
        paused(page)
        seen = still(page)[10:-10, 10:-10]  # without its round corners
        page.screenshot(f"report-scene-{scheme}")
        height, width, _ = seen.shape
        blue = np.argwhere(seen[..., 2] - seen[..., 0] > 60)  # the first robot, and none of the second
        dark = np.argwhere(seen[: int(0.9 * height)].max(axis=-1) < 60)  # motors, soles and visors of both
        assert len(blue) > 0.005 * height * width and len(dark) > 0.005 * height * width, scheme
        assert np.ptp(dark[:, 0]) > 0.4 * height and 0.15 * width < np.ptp(dark[:, 1]) < 0.6 * width
        assert np.median(blue[:, 1]) < np.median(dark[:, 1]) + 0.2 * width


def test_it_plays_by_itself_and_the_cursor_follows(opened: Callable[..., WatchedPage]) -> None:
    page = opened()
    seconds = float(page.tab.get_attribute(PLAYER, "data-seconds") or 0)
    assert seconds == pytest.approx(64 / 30)
    places, pictures = set(), []
    for _ in range(8):
        pictures.append(page.pixels(FRAME))
        places.add(page.tab.evaluate(NOW))
        page.tab.wait_for_timeout(250)
    assert len(places) > 3 and all(0.0 <= place <= 1.0 for place in places)
    assert max(changed(pictures[0], each) for each in pictures[1:]) > 0.01
    assert page.errors == []


def test_the_timeline_stops_and_goes_where_it_is_clicked(opened: Callable[..., WatchedPage]) -> None:
    page = opened()
    paused(page)
    track = inside(page).locator(".mantine-Slider-track").bounding_box()
    pictures = []
    for share in (0.25, 0.75):
        page.tab.mouse.click(track["x"] + share * track["width"], track["y"] + track["height"] / 2)
        page.tab.wait_for_timeout(600)
        assert moment(page) == pytest.approx(share * 64 / 30, abs=0.05)
        assert page.tab.evaluate(NOW) == pytest.approx(share, abs=0.03)
        pictures.append(still(page))
        cursor, drawing = page.tab.evaluate("""() => [".curves .now", ".curves svg"].map((each) =>
            document.querySelector(each).getBoundingClientRect().toJSON())""")
        assert cursor["x"] == pytest.approx(drawing["x"] + share * drawing["width"], abs=0.03 * drawing["width"])
    assert 0.01 < changed(*pictures) < 0.5


def test_dragging_turns_the_scene(opened: Callable[..., WatchedPage]) -> None:
    page = opened()
    paused(page)
    before = still(page)
    box = page.tab.locator(FRAME).bounding_box()
    assert box is not None
    x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.3 * box["height"]
    page.tab.mouse.move(x, y)
    page.tab.mouse.down()
    for step in range(1, 6):
        page.tab.mouse.move(x + 30 * step, y + 8 * step)
        page.tab.wait_for_timeout(200)  # a hand is not quicker than frames are drawn
    page.tab.mouse.up()
    assert changed(before, still(page)) > 0.03
    page.screenshot("report-turned")


def test_the_wheel_scrolls_the_page_until_the_scene_is_clicked(opened: Callable[..., WatchedPage]) -> None:
    page = opened()
    box = page.tab.locator(FRAME).bounding_box()
    assert box is not None
    page.tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    place = page.tab.evaluate("scrollY")
    page.tab.mouse.wheel(0, 60)
    page.tab.wait_for_function(f"scrollY > {place}")
    paused(page)
    before, place = still(page), page.tab.evaluate("scrollY")
    box = page.tab.locator(FRAME).bounding_box()
    assert box is not None
    page.tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 0.4 * box["height"])
    page.tab.mouse.wheel(0, -300)
    assert changed(before, still(page)) > 0.03
    assert page.tab.evaluate("scrollY") == place


def test_a_scene_out_of_sight_costs_nothing(opened: Callable[..., WatchedPage]) -> None:
    page = opened(width=500)
    assert page.tab.evaluate("document.querySelector('iframe').hasAttribute('srcdoc')")
    page.tab.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.tab.wait_for_function("!document.querySelector('iframe').hasAttribute('srcdoc')")
    page.tab.evaluate("scrollTo(0, 0)")
    page.tab.locator(FRAME).scroll_into_view_if_needed()
    inside(page).locator(TIMELINE).wait_for(state="attached")
    assert page.errors == []


def test_an_episode_of_one_frame_without_curves_is_shown(page: WatchedPage, g1: Robot, tmp_path: Path) -> None:
    standing = np.concatenate([[0.0, 0.0, g1.default_root_height, 1.0, 0.0, 0.0, 0.0], g1.default_pose])[None]
    part = Part(Take("policy", standing, 30.0, g1.joint_names), end="lost after 0.0 s")
    player = Player(record(g1, [part]), "Lost at once.")
    write_page(tmp_path / "page.html", "One", "", [Section("Watch", [player])])
    page.tab.add_init_script(CALM)
    page.tab.goto((tmp_path / "page.html").as_uri())
    inside(page).get_by_text("policy (lost after 0.0 s)").or_(inside(page).locator("canvas")).first.wait_for()
    seen = still(page)
    dark = np.argwhere(seen.max(axis=-1) < 60)
    assert len(dark) > 0.003 * seen.shape[0] * seen.shape[1]
    assert not inside(page).locator(TIMELINE).is_visible()
    assert page.tab.locator(".curves").count() == 0 and page.errors == []
    page.screenshot("report-one-frame")


def test_on_paper_there_is_nothing_to_press(opened: Callable[..., WatchedPage]) -> None:
    page = opened(scheme="dark")
    assert page.tab.is_visible("nav") and page.tab.is_visible(".curves .now")
    page.tab.emulate_media(media="print")
    for gone in (".curves .now", "nav", ".hint"):
        assert not page.tab.is_visible(gone), gone
    assert page.tab.is_visible(".curves svg") and page.tab.is_visible("figcaption")
    assert page.tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.tab.emulate_media(media="null")
    assert page.tab.pdf(path=picture("report").with_suffix(".pdf"), prefer_css_page_size=True).startswith(b"%PDF")


@pytest.mark.parametrize("width", [400, 1100])
def test_it_fits_its_window(opened: Callable[..., WatchedPage], width: int) -> None:
    page = opened(width)
    page.tab.screenshot(path=picture(f"report-{width}"), full_page=True)
    assert page.tab.evaluate("document.documentElement.scrollWidth") == width
    beyond = page.tab.evaluate("""() => [...document.querySelectorAll("main *")]
        .filter((each) => !each.closest(".scroll") && each.getBoundingClientRect().right > innerWidth + 0.5)
        .map((each) => each.outerHTML)""")
    assert beyond == []
    cut = page.tab.evaluate("""() => [...document.querySelectorAll(".scroll")].filter((each) =>
        each.scrollWidth > each.clientWidth + 1).map((each) => each.innerHTML.slice(0, 200))""")
    assert width == 400 or cut == []  # what is too wide for a telephone scrolls by itself
    assert page.tab.evaluate("document.querySelector('iframe').clientHeight") > 150 and page.errors == []
