"""One core for each test worker."""

from __future__ import annotations

import torch

torch.set_num_threads(1)  # two test workers share two cores
