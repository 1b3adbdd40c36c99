"""Building, adding to, opening and verifying a corpus."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pfmhr.corpus import BuildConfig, PoseCorpus, add_to_corpus, build_corpus, make_subset
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.embedded import embedded_motion
from pfmhr.robots import Robot

MakeWalk = Callable[..., Motion]


@pytest.fixture
def folder(tmp_path: Path, make_walk: MakeWalk) -> Path:
    """Two categories of csv clips, 5 + 3, of 40 frames each."""
    for category, count in (("walk", 5), ("stroll", 3)):
        (tmp_path / "data" / category).mkdir(parents=True)
        for number in range(count):
            stride = (0.3 if category == "walk" else 0.2) + 0.01 * number
            make_walk(frames=40, stride=stride).write(tmp_path / "data" / category / f"{category}{number}.csv")
    return tmp_path / "data"


def test_poses_keep_the_order_of_their_sources(folder: Path, tmp_path: Path, g1: Robot) -> None:
    corpus = PoseCorpus.build(tmp_path / "corpus", [folder], robot=g1)
    assert len(corpus) == 8 * 40
    assert corpus.poses.shape == (320, 29)
    assert [source.category for source in corpus.sources] == ["stroll"] * 3 + ["walk"] * 5
    for source in corpus.sources:
        path = folder.parent / source.path
        expected = Motion.read(path, g1, fps=30).joint_pos
        assert np.array_equal(corpus.poses[source.start : source.start + source.rows], expected)


def test_the_result_does_not_depend_on_the_number_of_workers(folder: Path, tmp_path: Path, g1: Robot) -> None:
    manifests = [
        build_corpus(tmp_path / f"corpus{workers}", [folder], g1, workers=workers).manifest for workers in (1, 4)
    ]
    assert manifests[0] == manifests[1]


def test_motions_files_and_folders_can_be_mixed(folder: Path, tmp_path: Path, g1: Robot, make_walk: MakeWalk) -> None:
    walk = make_walk(frames=10, name="march-001")
    corpus = PoseCorpus.build(tmp_path / "corpus", [walk, folder / "walk", folder / "stroll" / "stroll0.csv"], robot=g1)
    assert [source.rows for source in corpus.sources] == [10, 40, 40, 40, 40, 40, 40]
    assert corpus.sources[0].category == "march"
    assert np.array_equal(corpus.poses[:10], walk.joint_pos)


def test_a_bad_file_is_left_out_with_its_reason_and_nothing_stops(folder: Path, tmp_path: Path, g1: Robot) -> None:
    (folder / "walk" / "pointer.csv").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    (folder / "walk" / "empty.csv").write_bytes(b"")
    (folder / "walk" / "copy.csv").write_bytes((folder / "walk" / "walk0.csv").read_bytes())
    degrees = np.loadtxt(folder / "walk" / "walk1.csv", delimiter=",")
    degrees[:, 7:] = np.rad2deg(degrees[:, 7:])
    np.savetxt(folder / "walk" / "degrees.csv", degrees, delimiter=",", fmt="%.6f")
    corpus = PoseCorpus.build(tmp_path / "corpus", [folder], robot=g1)
    assert len(corpus) == 320
    reasons = {Path(entry.path).name: entry.code for entry in corpus.manifest.rejected}
    assert reasons == {
        "pointer.csv": "lfs_pointer",
        "empty.csv": "empty",
        "walk0.csv": "duplicate",  # "copy.csv" comes first
        "degrees.csv": "degrees",
    }


def test_odd_names_and_broken_links_stop_nothing(folder: Path, tmp_path: Path, g1: Robot) -> None:
    (folder / "walk" / "walk0.csv").rename(folder / "walk" / os.fsdecode(b"w\xff k.csv"))
    (folder / "walk" / "broken.csv").symlink_to(tmp_path / "nowhere.csv")
    (folder / "walk" / "loop").symlink_to(folder)
    corpus = PoseCorpus.build(tmp_path / "corpus", [folder], robot=g1)
    assert len(corpus) == 320
    assert [(entry.code, Path(entry.path).name) for entry in corpus.manifest.rejected] == [("not_found", "broken.csv")]
    assert len(PoseCorpus.open(tmp_path / "corpus")) == 320


def test_repairs_happen_only_when_asked_for_and_are_written_down(
    tmp_path: Path, g1: Robot, make_walk: MakeWalk
) -> None:
    walk = make_walk(frames=40)
    beyond, jumping = walk.joint_pos.copy(), walk.joint_pos.copy()
    beyond[10, 14] = 0.9  # waist pitch, limit 0.52
    jumping[20:, 15] -= 2.5  # 75 rad/s at 30 Hz
    clips = [
        Motion.from_arrays(g1, beyond, 30, walk.root_pos, walk.root_quat, name="beyond"),
        Motion.from_arrays(g1, jumping, 30, walk.root_pos, walk.root_quat, name="jumping"),
    ]
    with pytest.raises(InputError) as error:
        PoseCorpus.build(tmp_path / "none", clips, robot=g1)
    assert error.value.code == "nothing_usable"
    repaired = PoseCorpus.build(tmp_path / "both", clips, g1, BuildConfig(clip_limits=True, drop_jumps=True))
    assert [source.rows for source in repaired.sources] == [40, 38]
    assert repaired.poses[10, 14] == g1.upper[14]
    assert "clipped" in repaired.sources[0].notes[-1]
    assert "dropped 2 poses" in repaired.sources[1].notes[-1]


def test_the_same_command_accepts_its_own_result_and_another_is_refused(
    folder: Path, tmp_path: Path, g1: Robot
) -> None:
    said: list[str] = []
    first = build_corpus(tmp_path / "corpus", [folder], g1)
    again = build_corpus(tmp_path / "corpus", [folder], g1, say=said.append)
    assert again.manifest == first.manifest
    assert "already built" in said[0]
    with pytest.raises(InputError) as error:
        build_corpus(tmp_path / "corpus", [folder / "walk"], g1)
    assert error.value.code == "exists"


def test_adding_never_touches_existing_poses(folder: Path, tmp_path: Path, g1: Robot) -> None:
    corpus = tmp_path / "corpus"
    opened = build_corpus(corpus, [folder / "walk"], g1, BuildConfig(shard_rows=80))
    before = opened.manifest
    stored = (corpus / "poses.npy").read_bytes()[128:]
    grown = add_to_corpus(corpus, [folder], g1)
    assert (corpus / "poses.npy").read_bytes()[128:].startswith(stored)
    assert grown.manifest.shards[: len(before.shards)] == before.shards
    assert len(opened) == 200 and np.array_equal(opened.poses, grown.poses[:200])  # one opened earlier still holds
    assert len(grown) == 320
    assert [entry.code for entry in grown.manifest.rejected] == ["duplicate"] * 5
    assert add_to_corpus(corpus, [folder], g1).manifest == grown.manifest


def test_the_poses_are_one_array_that_numpy_reads_however_they_were_stored(
    folder: Path, tmp_path: Path, g1: Robot
) -> None:
    one = build_corpus(tmp_path / "one", [folder], g1)
    many = build_corpus(tmp_path / "many", [folder], g1, BuildConfig(shard_rows=50))
    assert (len(one.manifest.shards), len(many.manifest.shards)) == (1, 4)
    assert (tmp_path / "one" / "poses.npy").read_bytes() == (tmp_path / "many" / "poses.npy").read_bytes()
    assert np.array_equal(np.load(tmp_path / "many" / "poses.npy"), many.poses)
    index = np.array([319, 0, 81, 80, 79])
    assert np.array_equal(many.rows(index), many.poses[index])
    for wrong in (many.poses[:, 0] > 0, [0.5, 1.5]):
        with pytest.raises(InputError, match="must be whole numbers"):
            many.rows(wrong)


def as_format_1(corpus: PoseCorpus) -> PoseCorpus:
    """The corpus as it was stored before: a file for each stretch, its checksum that of the whole file."""
    shards, start = [], 0
    for number, shard in enumerate(corpus.manifest.shards):
        path = corpus.path / f"shard-{number:05d}.npy"
        np.save(path, corpus.poses[start : start + shard.rows])
        shards.append({"file": path.name, "rows": shard.rows, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()})
        start += shard.rows
    manifest = corpus.path / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"version": 1, "shards": shards}))
    (corpus.path / "poses.npy").unlink()
    return PoseCorpus.open(corpus.path)


def test_a_corpus_of_format_1_can_be_read(folder: Path, tmp_path: Path, g1: Robot) -> None:
    new = build_corpus(tmp_path / "new", [folder], g1, BuildConfig(shard_rows=50))
    old = as_format_1(build_corpus(tmp_path / "old", [folder], g1, BuildConfig(shard_rows=50)))
    assert np.array_equal(old.poses, new.poses) and len(old) == 320 and old.verify() == []
    assert np.array_equal(old.batch(3, 64, seed=1), new.batch(3, 64, seed=1))
    assert np.array_equal(old.rows([319, 0, 81, 80, 79]), new.rows([319, 0, 81, 80, 79]))
    assert build_corpus(tmp_path / "old", [folder], g1, BuildConfig(shard_rows=50)).manifest == old.manifest
    (tmp_path / "old" / "shard-00001.npy").write_bytes(b"x")
    with pytest.raises(InputError, match=r"shard-00001\.npy: the file has the wrong size"):
        PoseCorpus.open(tmp_path / "old")


def test_adding_to_a_corpus_of_format_1_makes_it_one_file(folder: Path, tmp_path: Path, g1: Robot) -> None:
    config = BuildConfig(shard_rows=80)
    new, old = (build_corpus(tmp_path / name, [folder / "walk"], g1, config) for name in ("new", "old"))
    as_format_1(old)
    assert add_to_corpus(tmp_path / "old", [folder], g1).manifest == add_to_corpus(new.path, [folder], g1).manifest
    assert (tmp_path / "old" / "poses.npy").read_bytes() == (tmp_path / "new" / "poses.npy").read_bytes()
    assert {path.name for path in (tmp_path / "old").iterdir()} == {".lock", "manifest.json", "poses.npy"}


def test_a_flipped_byte_is_found(folder: Path, tmp_path: Path, g1: Robot) -> None:
    corpus = build_corpus(tmp_path / "corpus", [folder], g1, BuildConfig(shard_rows=50))
    assert corpus.verify() == []
    third = sum(shard.rows for shard in corpus.manifest.shards[:2])
    path = tmp_path / "corpus" / "poses.npy"
    data = bytearray(path.read_bytes())
    data[128 + 4 * 29 * third] ^= 1
    path.write_bytes(data)
    last = third + corpus.manifest.shards[2].rows - 1
    assert PoseCorpus.open(tmp_path / "corpus").verify() == [f"poses.npy from row {third} to {last}"]


def _truncate(folder: Path) -> None:
    path = folder / "poses.npy"
    path.write_bytes(path.read_bytes()[:-4])


DAMAGES = {
    "no poses": lambda folder: (folder / "poses.npy").unlink(),
    "a pose cut short": _truncate,
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "half a manifest": lambda folder: (folder / "manifest.json").write_bytes(b'{"format": "pfmhr-corp'),
    "a foreign manifest": lambda folder: (folder / "manifest.json").write_text('{"format": "something"}'),
    "an incomplete manifest": lambda folder: (folder / "manifest.json").write_text(
        '{"format": "pfmhr-corpus", "version": 1}'
    ),
    "no folder": lambda folder: shutil.rmtree(folder),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_corpus_gives_a_clear_error(damage: str, folder: Path, tmp_path: Path, g1: Robot) -> None:
    build_corpus(tmp_path / "corpus", [folder], g1)
    DAMAGES[damage](tmp_path / "corpus")
    with pytest.raises(InputError) as error:
        PoseCorpus.open(tmp_path / "corpus")
    assert error.value.code in ("bad_corpus", "not_found")
    assert str(tmp_path / "corpus") in str(error.value)


def test_a_corpus_for_other_joints_is_refused(folder: Path, tmp_path: Path, g1: Robot) -> None:
    mjcf = tmp_path / "arm.xml"
    mjcf.write_text(
        "<mujoco><worldbody><body name='a'><joint name='j' type='hinge'/><geom size='.1'/></body></worldbody></mujoco>"
    )
    build_corpus(tmp_path / "corpus", [folder], g1)
    with pytest.raises(InputError) as error:
        PoseCorpus.open(tmp_path / "corpus", robot=Robot.load(mjcf))
    assert error.value.code == "wrong_robot"


def test_an_array_becomes_a_corpus(tmp_path: Path, g1: Robot) -> None:
    poses = np.random.default_rng(0).normal(size=(100, 29))
    corpus = PoseCorpus.from_array(tmp_path / "toy", poses, robot=g1)
    assert np.array_equal(corpus.poses, poses.astype(np.float32))
    assert len(PoseCorpus.from_array(tmp_path / "toy", poses, robot=g1)) == 100
    for wrong, code in ((poses[:, :28], "bad_shape"), (poses[:0], "bad_shape"), (poses * np.nan, "not_finite")):
        with pytest.raises(InputError) as error:
            PoseCorpus.from_array(tmp_path / "wrong", wrong, robot=g1)
        assert error.value.code == code
    with pytest.raises(InputError) as error:
        PoseCorpus.from_array(tmp_path / "toy", poses + 1, robot=g1)
    assert error.value.code == "exists"
    with pytest.raises(InputError) as error:
        PoseCorpus.from_array(tmp_path / "toy", poses, robot=g1, category="another")
    assert error.value.code == "exists"


def test_a_folder_with_other_files_is_left_alone(folder: Path, tmp_path: Path, g1: Robot) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    np.save(mine / "poses.npy", np.zeros(3))
    corpus = build_corpus(tmp_path / "corpus", [folder], g1)
    for write in (
        lambda: build_corpus(mine, [folder], g1),
        lambda: PoseCorpus.from_array(mine, np.zeros((5, 29)), robot=g1),
        lambda: make_subset(corpus, mine, 10),
    ):
        with pytest.raises(InputError) as error:
            write()
        assert error.value.code == "not_empty"
    assert np.load(mine / "poses.npy").shape == (3,)


def test_adding_to_nothing_makes_no_folder(folder: Path, tmp_path: Path, g1: Robot) -> None:
    with pytest.raises(InputError):
        add_to_corpus(tmp_path / "absent", [folder], g1)
    assert not (tmp_path / "absent").exists()


def test_a_place_that_may_not_be_written_is_named(
    folder: Path, tmp_path: Path, g1: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "corpus"

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(InputError, match="cannot write: Permission denied") as caught:
        build_corpus(target, [folder], g1)
    assert (caught.value.code, caught.value.where) == ("not_writable", target)


def test_an_empty_folder_says_so(tmp_path: Path, g1: Robot) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError) as error:
        build_corpus(tmp_path / "corpus", [tmp_path / "empty"], g1)
    assert error.value.code == "empty_folder"
    assert not (tmp_path / "corpus").exists()


def test_every_sound_clip_of_the_real_data_goes_in(real_data: Path, tmp_path: Path, g1: Robot) -> None:
    corpus = build_corpus(tmp_path / "corpus", [real_data / "lafan1_g1", real_data / "g1_moves"], g1)
    assert [entry.code for entry in corpus.manifest.rejected] == ["jump"] * 17
    lafan = [source for source in corpus.sources if source.path.startswith("lafan1_g1")]
    assert sum(source.rows for source in lafan) == 264_705
    assert set(corpus.manifest.categories) == {"lafan1_g1", "dance", "karate"}


def test_a_clip_of_which_no_pose_is_left_is_rejected(
    tmp_path: Path, g1: Robot, make_walk: MakeWalk, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk = make_walk(frames=40)
    jumping = walk.joint_pos.copy()
    jumping[20:, 15] -= 2.5  # 75 rad/s at 30 Hz
    clips = [
        Motion.from_arrays(g1, jumping, 30, walk.root_pos, walk.root_quat, name="jumping"),
        embedded_motion("squat", g1),
    ]
    monkeypatch.setattr("pfmhr.corpus.reading.jump_frames", lambda motion, speed: np.arange(motion.num_frames - 1))
    corpus = PoseCorpus.build(tmp_path / "corpus", clips, g1, BuildConfig(drop_jumps=True))
    (rejected,) = corpus.manifest.rejected
    assert (rejected.code, rejected.reason, len(corpus.sources)) == ("jump", "no pose is left", 1)
