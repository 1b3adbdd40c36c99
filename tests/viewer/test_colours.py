"""Warm and cold, and what stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from pfmhr.viewer.colours import BLUE, css, heat_of_parts, heat_of_shares, heated, linear, tinted

BASE = np.array([[0.8, 0.8, 0.8], [0.1, 0.1, 0.1]])


def test_cold_parts_keep_their_colour_and_hot_ones_are_red() -> None:
    assert heated(BASE, np.array([0.0, 0.0])).tolist() == [[204, 204, 204], [26, 26, 26]]
    assert heated(BASE, np.array([1.0, 1.0])).tolist() == [[217, 20, 20]] * 2
    assert heated(BASE, np.array([0.5, 0.5])).tolist() == [[255, 184, 38]] * 2
    assert heated(BASE, np.array([np.nan, 7.0])).tolist() == [[204, 204, 204], [217, 20, 20]]


def test_hotter_is_never_greener_or_bluer() -> None:
    row = heated(np.repeat(BASE[:1], 101, axis=0), np.linspace(0, 1, 101)).astype(int)
    assert (np.diff(row[:, 1:], axis=0) <= 0).all()


def test_only_light_parts_take_the_tint() -> None:
    assert tinted(BASE, BLUE).tolist() == [list(BLUE), [0.1, 0.1, 0.1]]
    assert tinted(BASE, None) is BASE


def test_contributions_share_one_scale_over_the_clip() -> None:
    """20 steps whose largest parts are 1 to 20: the 95th percentile is 19.05."""
    parts = np.zeros((20, 2))
    parts[:, 0] = np.arange(1, 21)
    heat = heat_of_parts(parts)
    assert heat[:, 0].tolist() == pytest.approx(np.minimum(np.arange(1, 21) / 19.05, 1.0).tolist())
    assert not heat[:, 1].any()


def test_shares_are_relative_to_each_step() -> None:
    assert heat_of_shares(np.array([[1.0, 4.0], [0.0, 0.0], [0.2, 0.1]])).tolist() == [[0.25, 1], [0, 0], [1, 0.5]]


def test_a_clip_in_which_nothing_moves_is_cold() -> None:
    for heat in (heat_of_parts, heat_of_shares):
        assert not heat(np.zeros((3, 29))).any()
        assert heat(np.zeros((0, 29))).shape == (0, 29)


def test_screen_colours_become_amounts_of_light() -> None:
    """The ends of sRGB, and its middle, which is a fifth of the light."""
    assert linear(np.array([0, 255, 128], dtype=np.uint8)).tolist() == [0, 255, 55]


def test_colours_for_style_sheets() -> None:
    assert css(np.array([1.0, 0.5, 0.0])) == "#ff8000"
