"""The network: a residual MLP over poses, conditioned on flow time by adaLN-Zero."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pfmhr.errors import InputError, unknown_name

NORM_EPS = 1e-6
MOST_BLOCKS, MOST_UNITS = 1_000, 65_536
"""Far beyond the paper's 10 and 1024: larger numbers in a config are a mistake or a trap."""


@dataclass(frozen=True)
class NetworkConfig:
    """Shape of the network. The paper gives depth and width; the rest are our stated choices."""

    depth: int = 6
    """Residual blocks; 10 in the paper."""
    width: int = 256
    """Hidden units; 1024 in the paper."""
    linears_per_block: int = 2
    """Linear maps in a block, SiLU between them; the paper does not say."""
    time_features: int = 256
    """Sinusoidal features of the flow time."""
    time_scale: float = 1000.0
    """Flow times are multiplied by this before the sinusoids, so that more than the first few of them vary."""

    def __post_init__(self) -> None:
        fits = 1 <= self.depth <= MOST_BLOCKS and 1 <= self.width <= MOST_UNITS and self.linears_per_block in (1, 2)
        if not (fits and 0 < self.time_features <= MOST_UNITS and self.time_features % 2 == 0):
            raise InputError(
                "impossible network",
                expected=f"1 to {MOST_BLOCKS} blocks, a width of 1 to {MOST_UNITS}, linears_per_block 1 or 2, an even "
                f"number of time features",
                got=self,
                code="bad_config",
            )


PRESETS: dict[str, NetworkConfig] = {
    "tiny": NetworkConfig(depth=2, width=64, time_features=32),
    "small": NetworkConfig(depth=6, width=256),
    "paper": NetworkConfig(depth=10, width=1024),
}


def preset(name: str) -> NetworkConfig:
    """A named network: tiny (tests), small (the default on a CPU), paper."""
    if name not in PRESETS:
        raise unknown_name("preset", name, PRESETS)
    return PRESETS[name]


def rms_norm(hidden: Tensor) -> Tensor:
    """Each row divided by its root mean square; no weights of its own, adaLN supplies them."""
    return functional.rms_norm(hidden, (hidden.shape[-1],), eps=NORM_EPS)


def modulate(hidden: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
    """``hidden·(1 + scale) + shift``."""
    return torch.addcmul(shift, hidden, 1.0 + scale)


def _linear(inputs: int, outputs: int, device: str) -> nn.Linear:
    return nn.Linear(inputs, outputs, device=device, dtype=torch.float32)


class TimeEmbedding(nn.Module):
    """Flow time → sinusoids → two-layer MLP → condition vector."""

    frequencies: Tensor

    def __init__(self, config: NetworkConfig, device: str) -> None:
        super().__init__()
        half = config.time_features // 2
        steps = torch.arange(half, dtype=torch.float32, device=device)
        frequencies = torch.exp(-math.log(10_000.0) * steps / half) * config.time_scale
        self.register_buffer("frequencies", frequencies, persistent=False)
        self.inner = _linear(config.time_features, config.width, device)
        self.outer = _linear(config.width, config.width, device)

    def forward(self, flow_time: Tensor) -> Tensor:
        """Any shape of times → that shape + (width,), through a SiLU ready for the adaLN layers."""
        angle = flow_time.unsqueeze(-1) * self.frequencies
        features = torch.cat([angle.cos(), angle.sin()], dim=-1)
        return functional.silu(self.outer(functional.silu(self.inner(features))))


class Block(nn.Module):
    """``h + gate·MLP(modulate(norm(h)))``; gate, shift and scale follow from the flow time, zero at first."""

    def __init__(self, config: NetworkConfig, device: str) -> None:
        super().__init__()
        width = config.width
        self.linears = nn.ModuleList(_linear(width, width, device) for _ in range(config.linears_per_block))
        self.adaptive = _linear(width, 3 * width, device)

    def forward(self, hidden: Tensor, condition: Tensor) -> Tensor:
        """hidden ``(…, width)``; condition broadcasts against it."""
        shift, scale, gate = self.adaptive(condition).chunk(3, dim=-1)
        inner = self.linears[0](modulate(rms_norm(hidden), shift, scale))
        inner = functional.silu(inner)
        for linear in list(self.linears)[1:]:
            inner = linear(inner)
        return torch.addcmul(hidden, gate, inner)


class PoseNetwork(nn.Module):
    """Noisy normalised poses and flow times in, one vector per pose out.

    Made in float32 on the CPU, whatever torch's defaults are; on the device "meta" it has sizes and no memory.
    """

    def __init__(self, joints: int, config: NetworkConfig, device: str = "cpu") -> None:
        super().__init__()
        self.joints = joints
        self.config = config
        self.time = TimeEmbedding(config, device)
        self.input = _linear(joints, config.width, device)
        self.blocks = nn.ModuleList(Block(config, device) for _ in range(config.depth))
        self.adaptive = _linear(config.width, 2 * config.width, device)
        self.output = _linear(config.width, joints, device)
        self._initialise()

    def _initialise(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        for layer in (self.time.inner, self.time.outer):
            nn.init.normal_(layer.weight, std=0.02)
        zero: list[Any] = [self.output, self.adaptive, *(block.adaptive for block in self.blocks)]
        for layer in zero:
            nn.init.zeros_(layer.weight)

    def forward(self, noisy_pose: Tensor, flow_time: Tensor) -> Tensor:
        """Shapes: noisy_pose ``(…, J)``; flow_time a scalar or anything that broadcasts to ``(…)``.

        Conditioning is computed on the shape of ``flow_time`` itself: with poses ``(G, R, J)`` and
        times ``(G, 1)`` it costs G rows, not G·R.
        """
        condition = self.time(flow_time)
        hidden = self.input(noisy_pose)
        for block in self.blocks:
            hidden = block(hidden, condition)
        shift, scale = self.adaptive(condition).chunk(2, dim=-1)
        return self.output(modulate(rms_norm(hidden), shift, scale))
