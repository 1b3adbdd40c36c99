"""The fast pass: poses and directions side by side through the network, two matrix products a block.

At one flow time everything adaLN adds is constant, so it is folded into the weights once. What is
left of a block is ``h ← h + B·silu(A·(h/ρ) + a) + b`` with ``ρ`` the root mean square of ``h``. Since
``ρ`` is one number per row, ``A·(h/ρ) = (A·h)/ρ`` and its derivative along ``ḣ`` is
``(A·ḣ − (A·h)·⟨h, ḣ⟩/(n·ρ²))/ρ``: rows of poses and rows of directions share every product, and the
normalised rows are never formed. The rows kept are ``h/√n``, whose sum of squares is the mean of
``h``'s; the weights make up for it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from torch import Tensor

from pfmhr.prior.denoiser import Denoiser
from pfmhr.prior.network import NORM_EPS, PoseNetwork

ROWS_PER_PASS = 2048
"""Rows (poses and directions together) that go through the network at once: enough to keep the products
efficient, few enough for the rows to stay in the processor's cache. Working memory is three times
this × width."""
GPU_ROWS_PER_PASS = 65_536


@dataclass(frozen=True)
class _FoldedBlock:
    """Weights of one block with scale, shift and gate inside; ``first`` and ``last`` in product precision."""

    first: Tensor
    first_bias: Tensor
    last: Tensor | None
    """None in blocks of one linear map: the gate is then applied by itself."""
    gate: Tensor
    last_bias: Tensor


class FusedEngine:
    """The clean-pose map of a :class:`Denoiser` at one flow time, and its derivative, without autodiff.

    ``dtype`` is the precision of the matrix products; with bfloat16 the residual stream, the norms and
    all sums stay in float32.
    """

    def __init__(self, denoiser: Denoiser, flow_time: float, device: torch.device, dtype: torch.dtype) -> None:
        self._product_dtype = dtype
        self._dtype = torch.float32 if dtype == torch.bfloat16 else dtype
        self._flow_time = flow_time
        self._velocity = denoiser.prediction == "velocity"
        self._rows = ROWS_PER_PASS if device.type == "cpu" else GPU_ROWS_PER_PASS
        self._fold(denoiser, device)

    def clean_pose(self, noisy_pose: Tensor) -> Tensor:
        """F(z): ``(N, J)`` → ``(N, J)``."""
        out = torch.empty_like(noisy_pose)
        for part, into in zip(noisy_pose.split(self._rows), out.split(self._rows), strict=True):
            into.copy_(self._pass(part, part[None][:0])[0])
        return out

    def respond(self, noisy_pose: Tensor, directions: Tensor) -> Tensor:
        """``J(z)·d``: ``(N, J)``, ``(D, N, J)`` → ``(D, N, J)``; the poses' own pass is shared by all D."""
        out = torch.empty_like(directions)
        rows = max(1, self._rows // (1 + len(directions)))
        parts = zip(noisy_pose.split(rows), directions.split(rows, dim=1), out.split(rows, dim=1), strict=True)
        for poses, along, into in parts:
            into.copy_(self._pass(poses, along)[1])
        return out

    @torch.no_grad()
    def _fold(self, denoiser: Denoiser, device: torch.device) -> None:
        assert isinstance(denoiser.network, PoseNetwork)
        network = copy.deepcopy(denoiser.network).cpu().double()
        root = network.config.width**0.5
        condition = network.time(torch.tensor(self._flow_time, dtype=torch.float64))

        def weight(values: Tensor) -> Tensor:
            return values.to(device, self._product_dtype).T.contiguous()  # read a little faster than nn.Linear's layout

        def vector(values: Tensor) -> Tensor:
            return values.to(device, self._dtype)

        self._blocks = []
        for block in network.blocks:
            shift, scale, gate = block.adaptive(condition).chunk(3)  # type: ignore[operator, union-attr]
            linears = list(block.linears)  # type: ignore[arg-type]
            first, first_bias = root * linears[0].weight * (1.0 + scale), linears[0].bias + linears[0].weight @ shift
            gate = gate / root
            last = weight(gate[:, None] * linears[1].weight) if len(linears) == 2 else None
            last_bias = gate * linears[1].bias if len(linears) == 2 else torch.zeros_like(gate)
            self._blocks.append(_FoldedBlock(weight(first), vector(first_bias), last, vector(gate), vector(last_bias)))
        shift, scale = network.adaptive(condition).chunk(2)
        self._input, self._input_bias = vector(network.input.weight / root).T, vector(network.input.bias / root)
        self._output = vector(root * network.output.weight * (1.0 + scale)).T
        self._output_bias = vector(network.output.bias + network.output.weight @ shift)

    def _pass(self, noisy_pose: Tensor, directions: Tensor) -> tuple[Tensor, Tensor]:
        """One pass of ``(n, J)`` poses and ``(D, n, J)`` directions; returns both sides of the map."""
        stacked = torch.cat([noisy_pose[None], directions]).to(self._dtype)
        hidden = stacked @ self._input  # (1 + D, n, width)
        inner = torch.empty_like(hidden)  # the only other memory a pass works in
        pose, along, inner_pose, inner_along = hidden[0], hidden[1:], inner[0], inner[1:]
        pose += self._input_bias
        for block in self._blocks:
            inverse, share = _norm(hidden, inner)
            self._product(hidden, block.first, inner)
            _normalise_along(inner_along, inner_pose, inverse, share)
            torch.addcmul(block.first_bias, inner_pose, inverse, out=inner_pose)
            _silu(inner_pose, inner_along)
            self._add(hidden, inner, block)
            pose += block.last_bias
        inverse, share = _norm(hidden, inner)
        _normalise_along(along, pose, inverse, share)
        pose *= inverse
        out = hidden @ self._output
        out[0] += self._output_bias
        if self._velocity:
            out = stacked + (1.0 - self._flow_time) * out
        return out[0], out[1:]

    def _product(self, values: Tensor, weight: Tensor, out: Tensor) -> None:
        width = values.shape[-1]
        if self._product_dtype == self._dtype:
            torch.mm(values.view(-1, width), weight, out=out.view(-1, width))
        else:
            out.copy_(values.to(self._product_dtype) @ weight)

    def _add(self, hidden: Tensor, inner: Tensor, block: _FoldedBlock) -> None:
        """``hidden += last(inner)``, in place."""
        if block.last is None:
            hidden.addcmul_(inner, block.gate)
        elif self._product_dtype == self._dtype:
            width = hidden.shape[-1]
            hidden.view(-1, width).addmm_(inner.view(-1, width), block.last)
        else:
            hidden += inner.to(self._product_dtype) @ block.last


def _norm(hidden: Tensor, scratch: Tensor) -> tuple[Tensor, Tensor]:
    """``1/ρ`` of each pose row ``(n, 1)``, and ``⟨h, ḣ⟩/(n·ρ²)`` of each direction ``(D, n, 1)``."""
    sums = torch.mul(hidden, hidden[0], out=scratch).sum(dim=-1, keepdim=True)
    square = sums[0].add(NORM_EPS)
    return square.rsqrt(), sums[1:].div_(square)


def _normalise_along(along: Tensor, pose: Tensor, inverse: Tensor, share: Tensor) -> None:
    """The derivative of dividing by ρ, in place; ``pose`` not yet divided."""
    along.addcmul_(pose, share, value=-1.0).mul_(inverse)


def _silu(pose: Tensor, along: Tensor) -> None:
    """``x·σ(x)`` of the poses and its derivative along the directions, in place; one sigmoid serves both."""
    sigmoid = pose.sigmoid()
    pose.mul_(sigmoid)
    along.mul_(torch.add(sigmoid, pose).addcmul_(pose, sigmoid, value=-1.0))
