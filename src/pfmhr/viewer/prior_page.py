"""The page of a prior: a pose to turn joint by joint or along the modes, and new poses."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import numpy as np
import viser

from pfmhr.robots.naming import limbs, words
from pfmhr.viewer.figure import Figure
from pfmhr.viewer.modes import PoseDesk
from pfmhr.viewer.readout import mode_table
from pfmhr.viewer.stage import Actor, Stage

REACH = 4.0
"""Standard deviations a mode's slider goes either way."""
SWING, PERIOD = 2.5, 2.4
"""Standard deviations and s of a swing."""
CALM = 0.1
"""s between two updates of the sliders while swinging."""


class PriorPage:
    """Sliders for modes and joints of one robot."""

    def __init__(self, server: viser.ViserServer, desk: PoseDesk, about: str, shadows: bool = True) -> None:
        self._server, self._desk = server, desk
        self._lock = threading.RLock()
        self._stage, self._figure = Stage(server, shadows), Figure(desk.robot)
        self._actor = Actor(server, "robot", self._figure)
        self._mode, self._swing_time, self._stale = 0, 0.0, 0.0
        server.gui.add_html(about)
        self._add_buttons()
        self._add_modes()
        self._add_joints()
        self.show()

    @property
    def swinging(self) -> bool:
        """Whether the robot goes back and forth along the mode that was moved last."""
        return self._swing.value

    @swinging.setter
    def swinging(self, swinging: bool) -> None:
        self._swing.value = swinging

    def tick(self, seconds: float) -> None:
        """Let time pass: only a swing moves."""
        with self._lock:
            if not self.swinging:
                return
            self._swing_time += seconds
            self._stale += seconds
            self._desk.set_mode(self._mode, SWING * math.sin(2 * math.pi * self._swing_time / PERIOD))
            self.show(sliders=self._stale >= CALM)

    def show(self, sliders: bool = True) -> None:
        """Draw the pose; ``sliders``: also put them where it is."""
        desk, pose = self._desk, self._desk.pose
        with self._server.atomic():
            self._actor.show(self._figure.standing(pose), np.zeros(3), desk.heat(self._mode))
        if not sliders:
            return
        self._stale = 0.0
        for slider, angle in zip(self._joint_sliders, pose, strict=True):
            slider.value = min(max(round(float(angle), 3), slider.min), slider.max)
        for slider, amplitude in zip(self._mode_sliders, desk.amplitudes, strict=True):
            slider.value = round(float(np.clip(amplitude, -REACH, REACH)), 2)
        self._table.content = mode_table(desk, self._mode)

    def _add_buttons(self) -> None:
        gui, desk = self._server.gui, self._desk
        actions = {
            ("Sample a pose", viser.Icon.DICE_5): desk.sample,
            ("Modes at this pose", viser.Icon.CURRENT_LOCATION): lambda: desk.settle(desk.pose),
            ("Reset", viser.Icon.REFRESH): desk.reset,
        }
        for (label, icon), action in actions.items():
            gui.add_button(label, icon=icon).on_click(lambda _, action=action: self._do(action))

    def _do(self, action: Callable[[], None]) -> None:
        with self._lock:
            self.swinging = False
            action()
            self.show()

    def _add_modes(self) -> None:
        gui = self._server.gui
        with gui.add_folder("Modes: how joints vary together at this pose"):
            self._mode_sliders = [
                gui.add_slider(f"mode {mode + 1}, σ", -REACH, REACH, 0.05, 0.0) for mode in range(self._desk.count)
            ]
            self._swing = gui.add_checkbox("swing", False, hint="back and forth along the mode that was moved last")
            self._table = gui.add_html("")
        for mode, slider in enumerate(self._mode_sliders):
            slider.on_update(lambda event, mode=mode: self._mode_moved(event, mode))

    def _mode_moved(self, event: viser.GuiEvent, mode: int) -> None:
        if event.client is None:
            return
        with self._lock:
            if self.swinging:
                self._desk.set_mode(self._mode, 0.0)  # a mode that swung does not stay where it happened to be
            self._mode = mode
            self._desk.set_mode(mode, self._mode_sliders[mode].value)
            self.show()

    def _add_joints(self) -> None:
        gui, robot = self._server.gui, self._desk.robot
        sliders: dict[int, viser.GuiSliderHandle[float]] = {}
        for limb, joints in limbs(robot.joint_names).items():
            with gui.add_folder(f"Joints: {limb}, rad", expand_by_default=False):
                for joint in joints:
                    low, high = float(robot.lower[joint]), float(robot.upper[joint])
                    label = words(robot.joint_names[joint])
                    start = float(np.clip(self._desk.base[joint], low, high))
                    sliders[joint] = gui.add_slider(label, low, high, 0.001, start)
        self._joint_sliders = [sliders[joint] for joint in range(robot.num_joints)]
        for joint, slider in enumerate(self._joint_sliders):
            slider.on_update(lambda event, joint=joint: self._joint_moved(event, joint))

    def _joint_moved(self, event: viser.GuiEvent, joint: int) -> None:
        if event.client is None:
            return
        with self._lock:
            self.swinging = False
            self._desk.set_joint(joint, self._joint_sliders[joint].value)
            self.show()
