"""What every score does to its poses: chunk by chunk, each with its noise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

POSES_PER_CHUNK = 4096
"""Poses (times corruption samples) handled at once: what a call needs beyond its input and output does not
grow with the batch. A multiple of 16, so that noise drawn chunk by chunk is the noise drawn at once."""


def chunks(count: int, size: int) -> Iterator[slice]:
    """Slices of at most ``size`` rows; one empty slice for no rows, so that results keep their shape."""
    for start in range(0, max(1, count), size):
        yield slice(start, min(start + size, count))


def corruption(
    clean: Tensor, samples: int, noise: Tensor | None, generator: torch.Generator | None
) -> Iterable[Tensor]:
    """Noise ``(n, J)`` of each corruption sample: that of ``(samples, n, J)`` if given, else drawn.

    Drawn row by row, all samples of a row together, so that the chunking of a batch does not show.
    """
    if noise is not None:
        return noise.to(clean.dtype).unbind(0)
    where = clean.device if generator is None else generator.device
    shape = (len(clean), samples, clean.shape[1])
    return torch.randn(shape, generator=generator, device=where, dtype=clean.dtype).to(clean.device).unbind(1)
