"""Watching a tracker: one episode as a video. Needs no display and no GPU."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from pfmhr.errors import InputError
from pfmhr.files import make_folder, write_atomically
from pfmhr.tracking.watch.episode import Episode
from pfmhr.tracking.watch.pictures import BLUE, Frame, Painter, sketch, stage, working_backend

RED = (0.8, 0.1, 0.1)
HOLD = 1.0
"""s for which the end of a lost episode stays."""

Progress = Callable[[int, int], object]


def film(
    episode: Episode,
    path: Path,
    fps: float = 30.0,
    size: tuple[int, int] = (640, 480),
    progress: Progress = lambda _done, _total: None,
) -> str:
    """Write an episode as ``.mp4`` or ``.gif``, ``size`` = (width, height); returns what drew it."""
    check_film(path, fps, size)
    backend = working_backend()
    count = max(1, round(len(episode.rollout) / episode.rate * fps))
    rows = [min(int(frame / fps * episode.rate + 1e-6), len(episode.rollout) - 1) for frame in range(count)]
    rows += [len(episode.rollout) - 1] * (round(HOLD * fps) if episode.lost else 0)

    def frames(painter: Painter) -> Iterator[Image.Image]:
        shown, last = np.empty(0, dtype=np.uint8), -1
        for number, row in enumerate(rows):
            if row != last:
                shown, last = painter(episode.reference[row], episode.rollout[row]), row
            yield _captioned(shown, episode, row / episode.rate, number >= count)
            progress(number + 1, len(rows))

    make_folder(path.parent)
    with stage(episode, size, backend) if backend else sketch(episode, size) as painter:
        write_atomically(path, lambda handle: _WRITERS[path.suffix](handle, frames(painter), len(rows), fps, size))
    return f"MuJoCo with {backend}" if backend else "matplotlib"


def check_film(path: Path, fps: float, size: tuple[int, int]) -> None:
    """Refuse what cannot be written before anything takes time."""
    if path.suffix not in _WRITERS:
        raise InputError("unknown kind of video", where=path, expected=" or ".join(_WRITERS), code="bad_input")
    fastest = 50 if path.suffix == ".gif" else 240  # viewers slow down what a GIF wants to show faster
    if not 1 <= fps <= fastest:
        raise InputError("impossible frame rate", expected=f"1 to {fastest} per second", got=fps, code="bad_fps")
    if any(side % 2 or not 64 <= side <= 4096 for side in size):
        raise InputError("impossible video size", expected="even numbers from 64 to 4096", got=size, code="bad_input")
    if path.suffix == ".mp4" and not _can_write_mp4():
        fix = "`pip install 'pfm-hr[tracking]'`, or write a .gif."
        raise InputError("writing mp4 needs imageio-ffmpeg", where=path, fix=fix, code="missing_extra")


def default_film(directory: Path) -> Path:
    """Where a run's video goes unless said."""
    return directory / ("play.mp4" if _can_write_mp4() else "play.gif")


def _can_write_mp4() -> bool:
    return importlib.util.find_spec("imageio_ffmpeg") is not None


def _captioned(shown: Frame, episode: Episode, seconds: float, over: bool) -> Image.Image:
    image = Image.fromarray(shown)
    pen, step = ImageDraw.Draw(image), max(10, image.height // 26)
    lines = [("reference", BLUE, 0.5), ("policy", (0.4, 0.4, 0.4), 1.7), (f"{seconds:.2f} s", (0.0, 0.0, 0.0), 2.9)]
    if over:
        below = image.height / step - 1.7
        lines.append((f"lost after {episode.tracked:.2f} s: {episode.lost}", RED, below))
    for text, colour, line in lines:
        pen.text((step / 2, line * step), text, fill=tuple(round(255 * part) for part in colour), font_size=step)
    return image


# Files


def _write_gif(handle: Any, frames: Iterator[Image.Image], count: int, fps: float, size: tuple[int, int]) -> None:
    # A GIF counts in hundredths of a second: rounding each end keeps the whole at its true length.
    ends = np.round(100 * np.arange(count + 1) / fps).astype(int)
    durations = [10 * int(length) for length in np.diff(ends)]
    next(frames).save(handle, "GIF", save_all=True, append_images=frames, duration=durations, loop=0)


def _write_mp4(handle: Any, frames: Iterator[Image.Image], count: int, fps: float, size: tuple[int, int]) -> None:
    import imageio_ffmpeg

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "video.mp4"
        writer = imageio_ffmpeg.write_frames(str(file), size, fps=fps, quality=8, macro_block_size=2)  # type: ignore[arg-type]
        writer.send(None)
        for image in frames:
            writer.send(image.tobytes())
        writer.close()
        handle.write(file.read_bytes())


_WRITERS: dict[str, Callable[..., None]] = {".mp4": _write_mp4, ".gif": _write_gif}
"""By the file's ending."""
