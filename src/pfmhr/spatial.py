"""scipy's rotations, imported where the first of them is used: that takes as long as checking fifteen files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation, Slerp

__all__ = ["Rotation", "Slerp"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'pfmhr.spatial' has no attribute '{name}'; it has {', '.join(__all__)}")
    from scipy.spatial import transform

    return getattr(transform, name)
