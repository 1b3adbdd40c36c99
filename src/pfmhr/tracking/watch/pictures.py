"""Pictures of reference and rollout beside each other: by MuJoCo off screen, or by our own pen where it cannot draw."""

from __future__ import annotations

import importlib
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from pfmhr.robots.drawing import Pen
from pfmhr.robots.quiet import no_log_file
from pfmhr.tracking.watch.episode import Episode, Positions

BLUE, GREY = (0.25, 0.5, 0.95), (0.66, 0.67, 0.69)
SIDE, ABOVE = 35.0, 12.0
"""Degrees from straight ahead of the robot, and above the floor, from which the camera looks."""
AIM = 0.68
"""m above the floor at which it looks."""

Frame = NDArray[np.uint8]
Painter = Callable[[Positions, Positions], Frame]


def _aim(wanted: Positions, done: Positions) -> Positions:
    """(3,) where the camera looks: between the roots, so that neither leaves the picture, at a steady height."""
    return np.array([*(0.5 * (wanted[:2] + done[:2])), AIM])


# Pictures by MuJoCo

_PROBE = """
import importlib, sys, mujoco
context = importlib.import_module("mujoco." + sys.argv[1]).GLContext(64, 64)
context.make_current()
mujoco.MjrContext(mujoco.MjModel.from_xml_string("<mujoco/>"), mujoco.mjtFontScale.mjFONTSCALE_100)
"""


@cache
def working_backend() -> str:
    """``egl``, ``osmesa``, or nothing where neither can draw; what MUJOCO_GL names is the only one tried.

    Tried in a process of its own: a broken driver takes the whole process with it.
    """
    wanted = os.environ.get("MUJOCO_GL", "").lower().strip()
    if wanted in ("disable", "disabled", "off", "false", "0"):
        return ""
    for backend in (wanted,) if wanted in ("egl", "osmesa") else ("egl", "osmesa"):
        try:
            tried = subprocess.run([sys.executable, "-c", _PROBE, backend], capture_output=True, timeout=60)
        except subprocess.TimeoutExpired:
            continue
        if tried.returncode == 0:
            return backend
    return ""


@contextmanager
def stage(episode: Episode, size: tuple[int, int], backend: str) -> Iterator[Painter]:
    """Draws with MuJoCo's own renderer, off screen.

    Not with ``mujoco.Renderer``: that takes the backend chosen when mujoco was imported, long ago.
    """
    model = _stage_model(episode, size)
    reference, rollout = mujoco.MjData(model), mujoco.MjData(model)
    screen = importlib.import_module(f"mujoco.{backend}").GLContext(*size)
    screen.make_current()
    context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
    mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, context)
    scene, window = mujoco.MjvScene(model, 4 * model.ngeom + 100), mujoco.MjrRect(0, 0, *size)
    option, nothing, camera = mujoco.MjvOption(), mujoco.MjvPerturb(), mujoco.MjvCamera()
    option.geomgroup[:] |= not (model.geom_group[model.geom_bodyid > 0] < 3).any()  # a robot of hidden shapes only
    camera.azimuth, camera.elevation = math.degrees(episode.heading) + SIDE + 180.0, -ABOVE
    camera.distance = 3.9
    everything, moving = mujoco.mjtCatBit.mjCAT_ALL.value, mujoco.mjtCatBit.mjCAT_DYNAMIC.value

    def paint(wanted: Positions, done: Positions) -> Frame:
        for data, positions, shift in zip((reference, rollout), (wanted, done), episode.shifts, strict=True):
            data.qpos[:] = positions
            data.qpos[:3] += shift
            mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, reference)
        camera.lookat[:] = _aim(wanted, done)
        screen.make_current()
        mujoco.mjv_updateScene(model, reference, option, nothing, camera, everything, scene)
        first = scene.ngeom
        mujoco.mjv_addGeoms(model, rollout, option, nothing, moving, scene)
        _tint(scene, first)
        picture = np.empty((size[1], size[0], 3), dtype=np.uint8)
        mujoco.mjr_render(window, scene, context)
        mujoco.mjr_readPixels(picture, None, window, context)
        return picture[::-1].copy()  # OpenGL counts rows from below

    try:
        yield paint
    finally:
        context.free()
        screen.free()


def _tint(scene: mujoco.MjvScene, first: int) -> None:
    """Light parts of robots take a colour, dark ones a little of it; ``first``: where the rollout's shapes begin."""
    for number in range(scene.ngeom):
        shape, tint = scene.geoms[number], np.array(BLUE if number < first else GREY)
        if shape.category == mujoco.mjtCatBit.mjCAT_DYNAMIC.value:
            colour = np.array(shape.rgba[:3])
            shape.rgba[:3] = tint if colour.mean() > 0.5 else 0.75 * colour + 0.25 * tint


def _stage_model(episode: Episode, size: tuple[int, int]) -> mujoco.MjModel:
    """One robot (it is drawn twice), a floor, light, and the boxes of both."""
    with no_log_file():
        spec = mujoco.MjSpec.from_file(str(episode.robot.path))
    look, world = spec.visual, spec.worldbody
    look.global_.offwidth, look.global_.offheight, look.global_.fovy = *size, 30.0
    look.quality.offsamples = 1  # smoothing would take a processor half of the time
    look.headlight.ambient, look.headlight.diffuse = [0.45] * 3, [0.45] * 3
    texture, checker = mujoco.mjtTexture, mujoco.mjtBuiltin.mjBUILTIN_CHECKER
    tiles = {"builtin": checker, "rgb1": [0.93] * 3, "rgb2": [0.84] * 3, "width": 256, "height": 256}
    spec.add_texture(name="pfmhr_floor", type=texture.mjTEXTURE_2D, **tiles)
    sky = {"builtin": mujoco.mjtBuiltin.mjBUILTIN_FLAT, "rgb1": [0.97] * 3, "rgb2": [0.97] * 3}
    spec.add_texture(name="pfmhr_sky", type=texture.mjTEXTURE_SKYBOX, width=16, height=16, **sky)
    material = spec.add_material(name="pfmhr_floor", texrepeat=[1, 1], texuniform=True)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "pfmhr_floor"
    world.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05], material="pfmhr_floor")
    world.add_light(type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, dir=[0.3, 0.4, -1], diffuse=[0.4] * 3, castshadow=0)
    for box in episode.boxes:
        for shift in episode.shifts:
            about = {"size": box.size, "pos": box.position + shift, "quat": box.quat, "rgba": [0.78, 0.69, 0.55, 1]}
            world.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, **about)
    with no_log_file():
        return spec.compile()


# Pictures where MuJoCo cannot draw


@contextmanager
def sketch(episode: Episode, size: tuple[int, int]) -> Iterator[Painter]:
    """Draws with our own pen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    pen = Pen(episode.robot, math.degrees(episode.heading) + SIDE, ABOVE)
    figure = Figure(figsize=(size[0] / 100, size[1] / 100), dpi=100)
    canvas, axes = FigureCanvasAgg(figure), figure.add_axes((0, 0, 1, 1))

    def paint(wanted: Positions, done: Positions) -> Frame:
        axes.clear()
        axes.axis("off")
        aim = _aim(wanted, done)
        pen.draw_floor(axes, aim)
        for _, draw in sorted(_things(pen, axes, episode, wanted, done), key=lambda thing: thing[0]):
            draw()  # the nearest last
        across, up, _ = pen.project(aim)
        half = 1.05
        axes.set_xlim(across - half * size[0] / size[1], across + half * size[0] / size[1])
        axes.set_ylim(up - half, up + half)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()

    yield paint


def _things(
    pen: Pen, axes: Any, episode: Episode, wanted: Positions, done: Positions
) -> Iterator[tuple[float, Callable[[], None]]]:
    """Robots and boxes: how near each is, and what draws it."""
    for positions, shift, tint in zip((wanted, done), episode.shifts, (BLUE, GREY), strict=True):
        root = positions[:3] + shift
        yield pen.project(root)[2], partial(pen.draw, axes, positions[7:], root, positions[3:7], tint)
        for box in episode.boxes:
            place = box.position + shift
            yield pen.project(place)[2], partial(pen.draw_box, axes, box.size, place, box.yaw)
