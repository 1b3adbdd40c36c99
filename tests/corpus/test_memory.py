"""Memory while building does not grow with the input, and stays below 600 MB."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from pfmhr.motion import Motion

BUILD = """
    import json, resource, sys
    from pathlib import Path
    from pfmhr.corpus import BuildConfig, build_corpus
    from pfmhr.robots import Robot

    robot = Robot.load("g1")
    # The limit on private memory: going past it is a MemoryError, not a slow machine.
    resource.setrlimit(resource.RLIMIT_DATA, (600 * 2**20, 600 * 2**20))
    corpus = build_corpus(Path(sys.argv[2]), [Path(sys.argv[1])], robot, BuildConfig(fps=30))
    status = Path("/proc/self/status").read_text()
    peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
    print(json.dumps({"poses": len(corpus), "peak_megabytes": peak}))
"""


def build_under_limit(data: Path, out: Path) -> dict:
    command = [sys.executable, "-c", textwrap.dedent(BUILD), str(data), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write_csv_files(folder: Path, walk: Motion, count: int) -> int:
    """``count`` different clips: one csv text, one angle of its first frame changed. Returns the bytes written."""
    folder.mkdir()
    walk.write(folder / "walk.csv")
    first, rest = (folder / "walk.csv").read_text().split("\n", 1)
    (folder / "walk.csv").unlink()
    cells = first.split(",")
    written = 0
    for number in range(count):
        cells[-1] = f"{1e-5 * number:.6f}"
        written += (folder / f"{number:06d}.csv").write_text(",".join(cells) + "\n" + rest)
    return written


@pytest.mark.parametrize(
    ("clips", "frames"), [(40, 7000), pytest.param(1200, 7000, marks=pytest.mark.slow)], ids=["90 MB", "2.7 GB"]
)
def test_memory_stays_below_600_mb(clips: int, frames: int, tmp_path: Path, make_walk: Callable[..., Motion]) -> None:
    written = write_csv_files(tmp_path / "data", make_walk(frames=frames), clips)
    assert written > clips * frames * 290
    result = build_under_limit(tmp_path / "data", tmp_path / "corpus")
    assert result["poses"] > 0.9 * clips * frames
    assert result["peak_megabytes"] < 600
