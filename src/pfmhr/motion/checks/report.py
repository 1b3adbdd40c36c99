"""What a check says."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from pfmhr.motion.source import clip_name


class Severity(str, Enum):
    """ERROR must be fixed and keeps a file out of a corpus; WARNING is worth a look."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, in a sentence and in numbers."""

    code: str
    """Stable identifier, such as ``joint_limits``."""
    message: str
    severity: Severity = Severity.ERROR
    detail: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The fault as plain data."""
        return {"code": self.code, "severity": self.severity.value, "message": self.message, **self.detail}


@dataclass(frozen=True)
class FileReport:
    """All that was found in one clip of one file."""

    path: str
    clip: str
    frames: int
    fps: float
    faults: tuple[Fault, ...]
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The file, and which clip of it if that has a name of its own."""
        return self.path if self.clip in ("", clip_name(Path(self.path))) else f"{self.path}:{self.clip}"

    @property
    def errors(self) -> tuple[Fault, ...]:
        """The faults that must be fixed."""
        return tuple(fault for fault in self.faults if fault.severity is Severity.ERROR)

    @property
    def ok(self) -> bool:
        """Whether nothing must be fixed."""
        return not self.errors

    def as_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "path": self.path,
            "clip": self.clip,
            "frames": self.frames,
            "fps": self.fps,
            "ok": self.ok,
            "faults": [fault.as_json() for fault in self.faults],
            "notes": list(self.notes),
        }
