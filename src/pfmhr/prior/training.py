"""Learning a prior: the flow matching objective on batches that are a function of the step."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from pfmhr.corpus import PoseCorpus
from pfmhr.corpus.sampling import batch_rows
from pfmhr.corpus.split import Split
from pfmhr.prior.batches import draw_batch
from pfmhr.prior.config import PriorConfig, TrainConfig
from pfmhr.prior.denoiser import Denoiser
from pfmhr.prior.heldout import held_out_loss
from pfmhr.prior.prior import PosePrior

HELD_OUT_POSES = 8192


class Objective(nn.Module):
    """The mean loss of a batch, as a module so that it can be compiled and distributed."""

    def __init__(self, denoiser: Denoiser) -> None:
        super().__init__()
        self.denoiser = denoiser

    def forward(self, clean_pose: Tensor, noise: Tensor, flow_time: Tensor) -> Tensor:
        """Loss per joint, a scalar."""
        return self.denoiser.loss(clean_pose, noise, flow_time).mean() / clean_pose.shape[-1]


class PriorTask:
    """Flow matching on a corpus, in one prior's coordinates."""

    def __init__(
        self,
        corpus: PoseCorpus,
        split: Split,
        config: PriorConfig,
        train: TrainConfig,
        prior: PosePrior,
        model: Denoiser,
        rank: int = 0,
        world: int = 1,
    ) -> None:
        self.corpus, self.split, self.config, self.train = corpus, split, config, train
        self.prior, self.model, self.objective = prior, model, Objective(model)
        self._part = (rank, world)
        self._held_out = prior.normalise(corpus.rows(split.held_out.spread(HELD_OUT_POSES)))

    def batch(self, step: int) -> tuple[Tensor, ...]:
        """Normalised poses, noise and flow times of a step."""
        batch = draw_batch(self.corpus, self.split.train, self.config.time, self.train, step, *self._part)
        return self.prior.normalise(batch.poses), batch.noise, batch.flow_time

    def held_out_loss(self, model: Denoiser) -> float:
        """Loss per joint on poses of held-out sources."""
        device = next(model.parameters()).device
        return held_out_loss(model, self._held_out.to(device), self.config.time)

    def rows(self, step: int) -> Sequence[int]:
        """Corpus rows of a step's batch."""
        train = self.split.train
        return train.rows(batch_rows(len(train), step, self.train.batch_size, self.train.seed)).tolist()
