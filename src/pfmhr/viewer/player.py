"""Where a clip stands: playing or not, which frame, how fast."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Player:
    """Counts time into frames; at the end it begins again."""

    frames: int
    rate: float
    """Frames per second."""
    playing: bool = False
    speed: float = 1.0
    _position: float = 0.0

    @property
    def frame(self) -> int:
        """The frame to show, 0 to ``frames`` − 1."""
        return min(int(self._position), self.frames - 1)

    @property
    def time(self) -> float:
        """s from the first frame."""
        return self.frame / self.rate

    def advance(self, seconds: float) -> bool:
        """Let time pass; True if another frame is to be shown."""
        if not self.playing or self.frames < 2:
            return False
        before = self.frame
        self._position = (self._position + seconds * self.rate * self.speed) % self.frames
        return self.frame != before

    def seek(self, frame: int) -> None:
        """Go to a frame; beyond either end means the end."""
        self._position = float(min(max(int(frame), 0), self.frames - 1))
