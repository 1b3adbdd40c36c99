"""The page stands alone, escapes what it is given, and its drawings live on any paper."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pfmhr.errors import InputError
from pfmhr.report.curves import Curves, Line
from pfmhr.report.page import (
    Command,
    Figure,
    Heading,
    Player,
    Section,
    Table,
    Text,
    anchored,
    drawn,
    for_any_background,
    plain,
    write_page,
)
from pfmhr.viewer.recording import Recording

CURVES = Curves("<i>curve", "<i>low", "high", (Line("#123456", "M0 0L1 1"),))
CLIENT = "<html><script>// http://www.w3.org</script>PFMHR-SCENE</html>"
"""What plays scenes, in short."""


class Parts(HTMLParser):
    """Every tag with its attributes, and every id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def named(self, attribute: str) -> list[str]:
        return [values[attribute] or "" for _, values in self.tags if attribute in values]


def two_panels(path: Path) -> None:
    """Markers, clipped lines, a legend, an image: everything of matplotlib that refers to something by an id."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2)
    axes[0].plot([0, 1], [0, 5], "o-", color="#000000", label="a$b$ <b>")
    axes[0].set_ylim(0, 1)
    axes[0].legend()
    axes[1].imshow([[0, 1], [2, 3]], cmap="RdBu_r")
    figure.savefig(path)
    pyplot.close(figure)


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> list[Figure]:
    folder = tmp_path_factory.mktemp("figures")
    return [drawn(folder, name, two_panels, name) for name in ("first", "second")]


@pytest.fixture(scope="module")
def text(figures: list[Figure], tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "new" / "page.html"
    parts = [
        Heading("<i>heading"),
        Text("<i>text & more"),
        Command("pfmhr <i>", "<i>about"),
        Table(("<i>head", "paper", "why"), [("<i>cell", "1", "<i>why")], theirs=("paper",), words=("why",)),
        *(Player(Recording(scene, CLIENT, 2.0), 'a "caption" <i>', (CURVES,)) for scene in ("c2NlbmU=", "YWdhaW4=")),
        *figures,
    ]
    write_page(path, "<i>title", "<i>lead", [Section("<i>one", list(parts)), Section("two")])
    return path.read_text()


def test_the_page_needs_nothing_else(text: str) -> None:
    own = "".join(line for line in text.splitlines() if 'id="client"' not in line)  # viser's is tested with it
    assert "http:" not in own and "https:" not in own and "@import" not in own
    parts = Parts(text)
    assert not parts.named("src")
    for link in parts.named("href") + parts.named("xlink:href"):
        assert link.startswith(("#", "data:")), link
    assert not re.findall(r"url\((?!#)", text)


def test_whatever_is_given_is_text(text: str) -> None:
    assert "<i>" not in text.lower()
    for words in ("title", "lead", "one", "heading", "text &amp; more", "about", "head", "cell", "why", "curve", "low"):
        assert f"&lt;i&gt;{words}" in text, words
    assert text.count("</script>") == 4  # two scenes, what plays them, and what starts that


def test_scenes_share_what_plays_them(text: str, tmp_path: Path) -> None:
    for once in ('<script type="text/plain">c2NlbmU=</script>', '<script type="text/plain">YWdhaW4=</script>'):
        assert text.count(once) == 1
    client = re.findall(r'<script type="application/json" id="client">(.*?)</script>', text)
    assert [json.loads(each) for each in client] == [CLIENT]
    write_page(tmp_path / "none.html", "title", "lead", [Section("one", [Text("no player")])])
    assert "<script" not in (tmp_path / "none.html").read_text()


def test_links_lead_to_sections(text: str) -> None:
    parts = Parts(text)
    targets = [link[1:] for link in parts.named("href") if link.startswith("#")]
    assert targets == ["i-one", "two"] and set(targets) <= set(parts.named("id"))


def test_sections_of_one_name_have_links_of_their_own() -> None:
    sections = [Section("Experiment: walk"), Section("Experiment: walk"), Section("走")]
    assert list(anchored(sections)) == ["experiment-walk", "experiment-walk-1", "section"]
    assert plain("../g1_walk, <b> Ä") == "g1-walk-b" and len(plain("x" * 300)) == 60


def test_columns_of_the_paper_and_of_words_stand_out(text: str) -> None:
    assert '<th class="theirs">paper</th>' in text and '<td class="theirs">1</td>' in text
    assert '<th class="words">why</th>' in text and '<td class="">&lt;i&gt;cell</td>' in text


def test_ids_are_used_and_unlike_those_of_other_drawings(text: str, figures: list[Figure]) -> None:
    ids = Parts(text).named("id")
    assert len(ids) == len(set(ids))
    for figure in figures:
        defined = set(re.findall(r' id="([^"]+)"', figure.svg))
        used = set(re.findall(r"url\(#([^)]+)\)", figure.svg)) | set(re.findall(r'href="#([^"]+)"', figure.svg))
        assert defined == used and len(used) >= 2  # a clip path and a marker at least
        assert "clipPath" in figure.svg


def test_drawings_have_no_paper_and_ink_of_the_page(figures: list[Figure]) -> None:
    svg = figures[0].svg
    assert svg.startswith("<svg ") and svg.rstrip().endswith("</svg>")
    assert "#ffffff" not in svg and "#000000" not in svg and "currentColor" in svg
    assert "<metadata" not in svg and "<style" not in svg
    head = svg[: svg.index(">")]
    assert "width=" not in head and "height=" not in head and "viewBox=" in head
    assert 'style="min-width: 304px; max-width: 553px"' in head  # 460.8 points
    assert "a$b$ &lt;b&gt;" in svg  # names are no formulae


def test_only_black_and_white_change() -> None:
    svg = (
        '<?xml version="1.0"?><svg width="10pt" height="5pt" viewBox="0 0 10 5"><g id="a">'
        '<path style="fill: #ffffff"/><path style="fill: #fff; stroke: #333333"/><path style="fill:#000000"/>'
        '<path style="stroke: #ffffff00; fill: #4c6a92"/></g></svg>'
    )
    assert for_any_background(svg) == (
        '<svg viewBox="0 0 10 5" style="min-width: 7px; max-width: 12px"><g>'
        '<path style="fill: none"/><path style="fill: none; stroke: currentColor"/><path style="fill: currentColor"/>'
        '<path style="stroke: #ffffff00; fill: #4c6a92"/></g></svg>'
    )


def test_figures_are_kept_as_svg_and_pdf_and_are_the_same_every_time(figures: list[Figure], tmp_path: Path) -> None:
    svg, pdf = figures[0].files
    assert svg.read_text().startswith("<?xml") and pdf.read_bytes().startswith(b"%PDF")
    assert drawn(tmp_path, "first", two_panels, "").svg == figures[0].svg


def test_a_page_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        write_page(tmp_path / "file" / "page.html", "", "", [])
    with pytest.raises(InputError, match="cannot write"):
        write_page(tmp_path, "", "", [])


def test_names_that_are_no_text_are_written_as_escapes(tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", "caf\udce9", "", [])
    assert "caf\\udce9" in (tmp_path / "page.html").read_text(encoding="utf-8")
