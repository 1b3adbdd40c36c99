"""Two motions, and a prior, in the viewer."""

from __future__ import annotations

from typing import Any

import numpy as np

from .viewing import STAGE, Slider, changed, press, settled, shown, wait_for


def test_two_clips_are_compared(chromium: Any) -> None:
    with shown(chromium, "embedded:walk", "embedded:wave") as page:
        press(page, "+10")
        picture = settled(page)
        page.screenshot("viewer_compare")
        teal = np.argwhere((picture[..., 1] - picture[..., 0] > 25) & (picture[..., 2] - picture[..., 0] > 15))
        assert len(teal) > 0.01 * picture[..., 0].size  # the second one
        assert np.median(teal[:, 1]) > 0.55 * picture.shape[1]  # on the right
        for name in ("walk-000", "wave-000"):
            assert page.tab.get_by_role("cell", name=name).count() == 1


def test_a_pose_moves_along_a_mode_and_back(chromium: Any) -> None:
    with shown(chromium, "g1-small") as page:
        start = settled(page)
        mode = Slider(page, "mode 1, σ")
        mode.click(0.9)
        moved = settled(page)
        page.screenshot("viewer_prior_mode")
        assert changed(start, moved) > 0.01
        press(page, "Sample a pose")
        wait_for(lambda: mode.value == 0.0, page)
        sampled = settled(page)
        page.screenshot("viewer_prior_sample")
        assert changed(start, sampled) > 0.01
        press(page, "Reset")
        wait_for(lambda: changed(start, page.pixels(STAGE)) < 1e-3, page)
