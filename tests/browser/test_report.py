"""The report in a real browser: it plays, turns, zooms, prints, and fits its window, by day and by night."""

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
from pfmhr.report.player import Actor, scene
from pfmhr.report.watching import clips_player
from pfmhr.robots import Robot
from pfmhr.sim import Box
from tests.browser.conftest import PICTURES, WatchedPage
from tests.report.conftest import RESULTS, experiment_row, summary, tracking_row

VIEW, LINES, SLIDER, PLAY = "canvas.view", "canvas.lines", "input[type=range]", "button"
PLAYER = "window.players[0]"


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
    """Opens the report; complaints are checked by the tests."""

    def open_(width: int = 1100, scheme: Any = "light") -> WatchedPage:
        page.tab.set_viewport_size({"width": width, "height": 800})
        page.tab.emulate_media(color_scheme=scheme)
        page.tab.goto(report.as_uri())
        assert page.tab.evaluate("window.players.length") == 1
        return page

    return open_


def picture(name: str) -> Path:
    PICTURES.mkdir(parents=True, exist_ok=True)
    return PICTURES / f"{name}.png"


def drawing(page: WatchedPage) -> str:
    """What is on the canvas, exactly."""
    return page.tab.evaluate("document.querySelector('canvas.view').toDataURL()")


def of_player(page: WatchedPage, what: str) -> Any:
    return page.tab.evaluate(f"{PLAYER}.{what}")


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
        seen = opened(scheme=scheme).pixels(VIEW)
        empty = seen[3, 3]
        other = np.abs(seen - empty).max(axis=2) > 60
        assert 0.02 < other.mean() < 0.3, scheme
        blue = seen[..., 2] - seen[..., 0] > 60
        assert blue.sum() > 1000, scheme


def test_play_moves_the_clock_and_the_robots(opened: Callable[..., WatchedPage]) -> None:
    page = opened()
    before = drawing(page)
    assert page.tab.inner_text(".clock") == "0.00 s"
    page.tab.click(PLAY)
    page.tab.wait_for_function(f"{PLAYER}.frame > 2")
    assert page.tab.inner_text(PLAY) == "Pause" and page.tab.get_attribute(PLAY, "aria-pressed") == "true"
    page.tab.click(PLAY)
    frame = of_player(page, "frame")
    assert page.tab.inner_text(".clock") == f"{frame / 30:.2f} s" and page.tab.inner_text(PLAY) == "Play"
    assert page.tab.input_value(SLIDER) == str(frame) and drawing(page) != before
    page.tab.wait_for_timeout(300)
    assert of_player(page, "frame") == frame
    assert page.errors == []


def test_time_passes_as_it_does_and_slower_on_demand(opened: Callable[..., WatchedPage]) -> None:
    page = opened()
    page.tab.evaluate(f"{PLAYER}.count = 1e9")  # never at the end
    for speed, rate in (("1", 30.0), ("0.25", 7.5)):
        page.tab.select_option("select", speed)
        passed = page.tab.evaluate(f"""async () => {{
            const player = {PLAYER}, start = performance.now(), first = player.position;
            player.show = () => {{}};
            player.toggle();
            while (performance.now() - start < 1000) await new Promise(requestAnimationFrame);
            const seconds = (performance.now() - start) / 1000;
            player.toggle();
            return (player.position - first) / seconds;
        }}""")
        assert passed == pytest.approx(rate, rel=0.15)


def test_the_slider_goes_to_a_frame_also_while_it_plays(opened: Callable[..., WatchedPage]) -> None:
    page = opened()
    before, last = drawing(page), int(page.tab.get_attribute(SLIDER, "max") or 0)
    page.tab.fill(SLIDER, str(last // 2))
    assert of_player(page, "frame") == last // 2 and drawing(page) != before
    assert page.tab.inner_text(".clock") == f"{last // 2 / 30:.2f} s"
    page.tab.fill(SLIDER, "0")
    assert drawing(page) == before
    page.tab.select_option("select", "0.25")
    page.tab.click(PLAY)
    page.tab.fill(SLIDER, str(last // 2))
    page.tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert of_player(page, "frame") >= last // 2


def test_it_begins_again_at_the_end(opened: Callable[..., WatchedPage]) -> None:
    page = opened()
    last = int(page.tab.get_attribute(SLIDER, "max") or 0)
    page.tab.fill(SLIDER, str(last))
    page.tab.click(PLAY)
    page.tab.wait_for_function(f"{PLAYER}.frame > 0 && {PLAYER}.frame < {last}")


def test_dragging_turns_the_scene(opened: Callable[..., WatchedPage]) -> None:
    page = opened()
    before, azimuth, elevation = drawing(page), of_player(page, "azimuth"), of_player(page, "elevation")
    box = page.tab.locator(VIEW).bounding_box()
    assert box is not None
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.tab.mouse.move(*middle)
    page.tab.mouse.move(middle[0] + 50, middle[1])
    assert drawing(page) == before  # nothing is pressed
    page.tab.mouse.down()
    page.tab.mouse.move(middle[0] + 150, middle[1] + 50)
    page.tab.mouse.up()
    assert of_player(page, "azimuth") == pytest.approx(azimuth - 0.8, abs=0.01)
    assert of_player(page, "elevation") == pytest.approx(elevation + 0.3, abs=0.01)
    assert drawing(page) != before
    page.screenshot("report-turned")


def test_a_click_into_the_curves_goes_there(opened: Callable[..., WatchedPage]) -> None:
    page = opened()
    page.tab.locator(LINES).scroll_into_view_if_needed()
    box = page.tab.locator(LINES).bounding_box()
    assert box is not None
    last = int(page.tab.get_attribute(SLIDER, "max") or 0)
    for share in (0.75, 0.25):
        page.tab.mouse.click(box["x"] + 118 + share * (box["width"] - 126), box["y"] + 20)
        assert of_player(page, "frame") == pytest.approx(share * last, abs=1)
    page.tab.mouse.click(box["x"] + 4, box["y"] + 20)  # the names at the left are before the beginning
    assert of_player(page, "frame") == 0


def test_the_wheel_zooms_once_clicked_and_scrolls_the_page_before(opened: Callable[..., WatchedPage]) -> None:
    page = opened()
    page.tab.locator(VIEW).scroll_into_view_if_needed()
    page.tab.locator(VIEW).hover()
    distance, place = of_player(page, "distance"), page.tab.evaluate("scrollY")
    page.tab.mouse.wheel(0, 200)
    page.tab.wait_for_function(f"scrollY > {place}")
    assert of_player(page, "distance") == distance
    page.tab.locator(VIEW).click()
    before, place = drawing(page), page.tab.evaluate("scrollY")
    page.tab.mouse.wheel(0, -300)
    page.tab.wait_for_function(f"{PLAYER}.distance < {distance}")
    assert of_player(page, "distance") == pytest.approx(distance * np.exp(-0.3), rel=0.01)
    assert drawing(page) != before and page.tab.evaluate("scrollY") == place


def test_keys_play_and_step(opened: Callable[..., WatchedPage]) -> None:
    page = opened()
    page.tab.focus(VIEW)
    for key, frame in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("ArrowLeft", 0), ("ArrowLeft", 0)):
        page.tab.keyboard.press(key)
        assert of_player(page, "frame") == frame
    page.tab.keyboard.press("Space")
    assert of_player(page, "playing") is True


def test_an_episode_of_one_frame_without_curves_is_shown(page: WatchedPage, g1: Robot, tmp_path: Path) -> None:
    standing = np.concatenate([[0.0, 0.0, g1.default_root_height, 1.0, 0.0, 0.0, 0.0], g1.default_pose])[None]
    content = scene(
        g1, 30.0, [Actor("policy", standing, end="lost after 0.0 s")], boxes=[Box((0.2, 0.2, 0.2), (1, 0, 0.2))]
    )
    write_page(tmp_path / "page.html", "One", "", [Section("Watch", [Player(content, "Lost at once.")])])
    page.tab.goto((tmp_path / "page.html").as_uri())
    page.tab.click(PLAY)
    page.tab.wait_for_timeout(200)
    assert of_player(page, "frame") == 0 and page.tab.locator(LINES).count() == 0 and page.errors == []
    page.screenshot("report-one-frame")


def test_on_paper_there_is_nothing_to_press(opened: Callable[..., WatchedPage]) -> None:
    page = opened(scheme="dark")
    assert page.tab.is_visible(".controls") and page.tab.is_visible("nav")
    page.tab.emulate_media(media="print")
    for gone in (".controls", "nav", ".hint"):
        assert not page.tab.is_visible(gone), gone
    assert page.tab.is_visible(VIEW) and page.tab.is_visible("figcaption")
    assert page.tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.tab.wait_for_function(
        """() => { const view = document.querySelector("canvas.view");
        return Math.abs(view.width / view.height - view.clientWidth / view.clientHeight) < 0.01; }"""
    )  # drawn anew, not stretched
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
    assert page.tab.evaluate(f"{PLAYER}.view.clientHeight") > 150 and page.errors == []
