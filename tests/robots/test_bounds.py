"""Files that would make MuJoCo run for hours, or lie: refused from their XML, before anything is compiled."""

from __future__ import annotations

import os
import time
from pathlib import Path

import mujoco
import pytest

from pfmhr.errors import InputError
from pfmhr.robots import Robot
from pfmhr.robots.mjcf import MAX_ELEMENTS, require_bounded
from pfmhr.sim import Scene

ARM = '<body name="arm"><joint name="shoulder"/><geom size="0.1"/>{more}</body>'


def robot(path: Path, more: str = "", beside: str = "", world: str = "") -> Path:
    """An arm of one joint, with something on it, something beside the world and something in it."""
    path.write_text(f"<mujoco>{beside}<worldbody>{world}{ARM.format(more=more)}</worldbody></mujoco>")
    return path


def refused(path: Path, code: str, *words: str) -> None:
    """That loading is refused, soon, in such words."""
    begun = time.perf_counter()
    with pytest.raises(InputError) as caught:
        Robot.load(path)
    assert time.perf_counter() - begun < 5.0
    assert caught.value.code == code
    for word in (str(path.parent), *words):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "more",
    [
        '<replicate count="3000000"><geom size="0.1"/></replicate>',
        '<replicate count="200"><replicate count="200"><geom size="0.1"/></replicate></replicate>',
        '<replicate count="1e7"><geom size="0.1"/></replicate>',
        '<a b="<!--"/><replicate count="3000000"/><a b="-->"/>',
        '<replicate count="300"><include file="many.xml"/></replicate>',
        '<replicate count="30000"><attach model="part" body="x" prefix="p"/></replicate>',
        '<flexcomp name="f" type="grid" count="300 300 300"/>',
        '<composite type="cable" count="1000000 1 1"/>',
    ],
    ids=["many", "product", "exponent", "no_comment", "included", "attached", "flexcomp", "composite"],
)
def test_endless_repetition_is_refused_at_once(tmp_path: Path, more: str) -> None:
    (tmp_path / "many.xml").write_text("<mujocoinclude>" + '<geom size="0.1"/>' * 100 + "</mujocoinclude>")
    (tmp_path / "part.xml").write_text('<mujoco><worldbody><body name="x"/></worldbody></mujoco>')
    path = robot(tmp_path / "toy.xml", more, '<asset><model name="part" file="part.xml"/></asset>')
    refused(path, "bad_mjcf" if "<!--" in more else "too_large")


def test_submodels_that_double_one_another_are_counted_as_what_they_become(tmp_path: Path) -> None:
    """Twenty files that attach the next one twice: a million bodies of forty lines."""
    twice = '<asset><model name="n" file="{n}.xml"/></asset><worldbody><body name="b">' + "".join(
        f'<attach model="n" body="b" prefix="p{number}"/>' for number in (1, 2)
    )
    for number in range(20):
        (tmp_path / f"{number}.xml").write_text(f"<mujoco>{twice.format(n=number + 1)}</body></worldbody></mujoco>")
    (tmp_path / "20.xml").write_text('<mujoco><worldbody><body name="b"/></worldbody></mujoco>')
    refused(tmp_path / "0.xml", "too_large", "elements")


def test_a_repetition_that_a_robot_may_have_is_read(tmp_path: Path) -> None:
    loaded = Robot.load(robot(tmp_path / "toy.xml", '<replicate count="100"><geom size="0.1"/></replicate>'))
    assert loaded.compile().ngeom == 101


def test_elements_are_counted_with_all_their_repetitions(tmp_path: Path) -> None:
    """Besides the replicates, the file has mujoco, worldbody, body, joint and geom: five elements."""
    least, repeated = 5 + 1, '<replicate count="{}"><geom size="0.1"/></replicate>'
    most = (MAX_ELEMENTS - least + 1) // 2  # a replicate counts as often as what is in it
    require_bounded(robot(tmp_path / "toy.xml", repeated.format(most)))
    with pytest.raises(InputError, match="20,000 elements"):
        require_bounded(robot(tmp_path / "toy.xml", repeated.format(most + 1)))


@pytest.mark.parametrize(
    "beside",
    [
        '<asset><texture name="t" builtin="flat" width="20000"/></asset>',
        '<asset><texture name="t" type="2d" builtin="flat" width="20000" height="20000"/></asset>',
        '<asset><hfield name="h" nrow="20000" ncol="20000" size="1 1 1 1"/></asset>',
        '<sensor><user name="u" dim="300000000"/></sensor>',
        '<size nuser_body="300000000"/>',
    ],
    ids=["cube", "texture", "hfield", "sensor", "user"],
)
def test_memory_that_no_robot_needs_is_refused(tmp_path: Path, beside: str) -> None:
    refused(robot(tmp_path / "toy.xml", beside=beside), "too_large", "numbers")


def test_entities_are_refused_and_a_plain_doctype_is_not(tmp_path: Path) -> None:
    """A billion words out of ten lines."""
    lines = [f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10)]
    bomb = f'<!DOCTYPE mujoco [<!ENTITY e0 "x">{"".join(lines)}]>'
    path = robot(tmp_path / "toy.xml")
    path.write_text(bomb + path.read_text().replace('"arm"', '"&e9;"'))
    refused(path, "bad_mjcf", "entities")
    path.write_text("<!DOCTYPE mujoco>" + robot(path).read_text())
    require_bounded(path)


def test_files_that_include_or_attach_themselves_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text('<mujocoinclude><include file="b.xml"/></mujocoinclude>')
    (tmp_path / "b.xml").write_text('<mujocoinclude><include file="a.xml"/></mujocoinclude>')
    refused(robot(tmp_path / "toy.xml", '<include file="a.xml"/>'), "bad_mjcf", "without end")
    refused(robot(tmp_path / "self.xml", beside='<asset><model name="s" file="self.xml"/></asset>'), "bad_mjcf")


def test_an_include_is_found_beside_the_file_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/a.xml").write_text('<mujocoinclude><include file="b.xml"/></mujocoinclude>')
    endless = '<mujocoinclude><replicate count="3000000"><geom size="0.1"/></replicate></mujocoinclude>'
    (tmp_path / "parts/b.xml").write_text(endless)
    refused(robot(tmp_path / "toy.xml", '<include file="parts/a.xml"/>'), "too_large")


@pytest.mark.parametrize("compiler", ["", '<compiler meshdir="parts"/>'], ids=["beside", "meshdir"])
def test_a_mesh_that_is_a_pipe_is_not_waited_for(tmp_path: Path, compiler: str) -> None:
    (tmp_path / "parts").mkdir()
    os.mkfifo(tmp_path / ("parts" if compiler else "") / "hand.stl")
    path = robot(tmp_path / "toy.xml", beside=f'{compiler}<asset><mesh name="m" file="hand.stl"/></asset>')
    refused(path, "not_a_file", "a pipe")


def test_what_mujoco_allows_beyond_xml_is_still_read(tmp_path: Path) -> None:
    """Dashes in comments, letters of another encoding, a declaration after an empty line, a mark at the beginning."""
    path = robot(tmp_path / "toy.xml", world="<!-- --- <replicate count='3000000'/> \xe9 --- -->")
    text = path.read_text().encode("latin-1")
    for head in (b'\n<?xml version="1.0" encoding="gb2312"?>', b"\xef\xbb\xbf"):
        path.write_bytes(head + text)
        assert Robot.load(path).joint_names == ("shoulder",)


KEYS = '<keyframe><key name="home" qpos="{}"/></keyframe>'


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e300"])
def test_a_keyframe_that_is_no_pose_is_refused_by_key_and_joint(
    tmp_path: Path, number: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    path = tmp_path / "here/toy.xml"
    path.write_text(
        f'<mujoco><worldbody><body><freejoint name="root"/>{ARM.format(more="")}<geom size="0.1"/></body></worldbody>'
        f"{KEYS.format(f'0 0 1 1 0 0 0 {number}')}</mujoco>"
    )
    refused(path, "not_finite", "keyframe 'home'", "joint 'shoulder'")
    path.write_text(path.read_text().replace(f"0 0 1 1 0 0 0 {number}", f"0 0 {number} 1 0 0 0 0"))
    refused(path, "not_finite", "keyframe 'home'", "joint 'root'")
    assert [each.name for each in tmp_path.iterdir()] == ["here"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "words"),
    [('name="shoulder" range="nan 1"', "'shoulder'"), ('name="shoulder" damping="nan"', "dof_damping")],
)
def test_nan_elsewhere_in_a_robot_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = robot(tmp_path / "toy.xml")
    path.write_text(path.read_text().replace('name="shoulder"', text))
    refused(path, "not_finite", words)


def test_neither_loading_nor_compiling_leaves_a_log_of_mujocos(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """MuJoCo warns of NaN while it reads, here in a light that no robot needs; who listens to it goes on hearing."""
    (tmp_path / "here").mkdir()
    light, there = '<light pos="nan 0 0"/>', tmp_path / "there"
    path = tmp_path / "here/toy.xml"
    path.write_text(
        f"<mujoco><worldbody>{light}<body name='trunk'><freejoint/><geom size='0.1'/>{ARM.format(more='')}</body>"
        "</worldbody><actuator><position joint='shoulder'/></actuator></mujoco>"
    )
    there.mkdir()
    monkeypatch.chdir(there)
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(None)
    try:
        loaded = Robot.load(path)
        loaded.compile()
        Scene(loaded)
        assert mujoco.get_mju_user_warning() is None
        assert not list(there.iterdir()) and capfd.readouterr() == ("", "")
        heard: list[str] = []
        mujoco.set_mju_user_warning(heard.append)
        Robot.load(path)
        assert heard
    finally:
        mujoco.set_mju_user_warning(before)
