"""Time into frames."""

from __future__ import annotations

from pfmhr.viewer.player import Player


def test_a_second_is_as_many_frames_as_the_rate() -> None:
    player = Player(frames=100, rate=30.0, playing=True)
    assert [player.advance(0.1) for _ in range(10)] == [True] * 10
    assert (player.frame, player.time) == (30, 1.0)


def test_short_moments_add_up_and_say_when_a_new_frame_is_due() -> None:
    player = Player(frames=100, rate=30.0, playing=True)
    due = [player.advance(1 / 120) for _ in range(8)]
    assert sum(due) == 2 == player.frame


def test_half_the_speed_is_half_the_frames() -> None:
    player = Player(frames=100, rate=30.0, playing=True, speed=0.5)
    player.advance(1.0)
    assert player.frame == 15


def test_after_the_end_it_begins_again() -> None:
    player = Player(frames=10, rate=10.0, playing=True)
    player.advance(1.25)
    assert player.frame == 2


def test_a_pause_and_a_single_frame_do_not_move() -> None:
    assert not Player(frames=10, rate=10.0).advance(5.0)
    assert not Player(frames=1, rate=10.0, playing=True).advance(5.0)


def test_seeking_stays_within_the_clip() -> None:
    player = Player(frames=10, rate=10.0, playing=True)
    for asked, got in ((4, 4), (-3, 0), (99, 9)):
        player.seek(asked)
        assert player.frame == got
