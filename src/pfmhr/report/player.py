"""Robots in motion as data for the page's 3-D player: what stands where in every frame, and timelines under it."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.inputs import as_positions
from pfmhr.robots import Robot
from pfmhr.robots.drawing import VISUAL_GROUP
from pfmhr.robots.kinematics import body_poses, heading
from pfmhr.sim import Box

BLUE, GREY, RED = (76, 132, 224), (158, 160, 166), (205, 92, 74)
DARK = 0.6
"""Shapes of the model darker than this keep their colour; lighter ones take the actor's."""
FARTHEST = 32.0
"""m from the origin that fit into the player's numbers."""

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Actor:
    """One robot of the scene: MuJoCo positions ``(T, 7 + J)``."""

    name: str
    positions: Array
    rgb: tuple[int, int, int] = GREY
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    end: str = ""
    """What to say once its last frame is reached."""


@dataclass(frozen=True)
class Line:
    """One curve of a timeline."""

    times: Sequence[float]
    values: Sequence[float]
    rgb: tuple[int, int, int] = GREY


@dataclass(frozen=True)
class Track:
    """One timeline: curves that share an axis."""

    name: str
    lines: Sequence[Line]
    range: tuple[float, float] | None = None
    """Lowest and highest value shown; those of the curves unless given."""


def scene(
    robot: Robot, rate: float, actors: Sequence[Actor], tracks: Sequence[Track] = (), boxes: Sequence[Box] = ()
) -> dict[str, Any]:
    """What the player plays, ready for JSON; ``rate``: frames per second.

    Raises:
        InputError: positions or curves that cannot be drawn; it names the frame.
    """
    actors = [replace(actor, positions=_positions(robot, actor)) for actor in actors]
    if not actors:
        raise InputError("a scene needs a robot", code="bad_shape")
    if not (math.isfinite(rate) and rate > 0):
        raise InputError("no such frame rate", expected="frames per second", got=rate, code="bad_config")
    start = np.mean([actor.positions[0, :2] for actor in actors], axis=0)
    return {
        "rate": rate,
        "azimuth": heading(actors[0].positions[0, 3:7]),
        "bodies": len(robot.body_names),
        "shapes": _shapes(robot),
        "actors": [_actor(robot, actor, start) for actor in actors],
        "tracks": [_track(track) for track in tracks],
        "boxes": [
            {
                "place": [float(value) for value in np.asarray(box.position) - [*start, 0.0] + actor.shift],
                "turn": list(box.quat),
                "size": list(box.size),
            }
            for actor in actors
            for box in boxes
        ],
    }


def to_json(content: dict[str, Any]) -> str:
    """JSON that may stand inside a page's script element."""
    return json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _positions(robot: Robot, actor: Actor) -> Array:
    if not all(math.isfinite(value) for value in actor.shift):
        raise InputError(f"robot '{actor.name}': moved to nowhere", got=actor.shift, code="not_finite")
    return as_positions(actor.positions, robot.num_joints, f"robot '{actor.name}'")


def _actor(robot: Robot, actor: Actor, start: Array) -> dict[str, Any]:
    where = actor.positions
    places, turns = body_poses(robot, where[:, :3], where[:, 3:7], where[:, 7:])
    places = np.clip(places - np.array([*start, 0.0]), -FARTHEST, FARTHEST)
    poses = np.concatenate([places * 1000.0, turns * 32767.0], axis=2)  # whole mm
    return {
        "name": actor.name,
        "rgb": list(actor.rgb),
        "shift": [float(value) for value in actor.shift],
        "end": actor.end,
        "frames": len(where),
        "poses": base64.b64encode(np.round(poses).astype("<i2").tobytes()).decode(),
    }


def _require_curves(track: Track) -> None:
    for line in track.lines:
        if len(line.times) != len(line.values):
            got = f"{len(line.times)} times, {len(line.values)} values"
            raise InputError(f"curve '{track.name}': one value per time is needed", got=got, code="bad_shape")
        for frame, time in enumerate(line.times):
            if not math.isfinite(time):
                what = f"curve '{track.name}': time of point {frame} is not finite"
                raise InputError(what, got=time, code="not_finite")
    if track.range is not None and not all(math.isfinite(end) for end in track.range):
        raise InputError(f"curve '{track.name}': no such range", got=track.range, code="not_finite")


def _track(track: Track) -> dict[str, Any]:
    _require_curves(track)
    values = [value for line in track.lines for value in line.values if math.isfinite(value)]
    low, high = track.range or (min(values, default=0.0), max(values, default=1.0))
    return {
        "name": track.name,
        "range": [float(low), float(high)],
        "lines": [
            {
                "colour": f"rgb{line.rgb}",
                "times": [round(float(time), 4) for time in line.times],
                "values": [float(f"{value:.4g}") if math.isfinite(value) else float(low) for value in line.values],
            }
            for line in track.lines
        ],
    }


def _shapes(robot: Robot) -> list[dict[str, Any]]:
    """The model's visible shapes; everything round becomes a bar with round ends."""
    model = robot.compile()
    shown = [geom for geom in range(model.ngeom) if model.geom_group[geom] == VISUAL_GROUP and model.geom_bodyid[geom]]
    found = []
    for geom in shown or [geom for geom in range(model.ngeom) if model.geom_bodyid[geom]]:
        material = model.geom_matid[geom]
        colour = (model.mat_rgba[material] if material >= 0 else model.geom_rgba[geom])[:3]
        about: dict[str, Any] = {
            "body": int(model.geom_bodyid[geom]) - 1,
            "place": [round(float(value), 4) for value in model.geom_pos[geom]],
            "turn": [round(float(value), 5) for value in model.geom_quat[geom]],
            "rgb": [round(255 * float(part)) for part in colour],
            "dark": bool(colour.mean() <= DARK),
        }
        found.append(about | _form(model.geom_type[geom], model.geom_size[geom]))
    return found


def _form(kind: int, size: Array) -> dict[str, Any]:
    types = mujoco.mjtGeom
    if kind == types.mjGEOM_BOX:
        return {"kind": "box", "size": [float(value) for value in size]}
    if kind in (types.mjGEOM_CAPSULE, types.mjGEOM_CYLINDER):
        half = size[1] if kind == types.mjGEOM_CAPSULE else max(0.0, size[1] - size[0] / 2)
        return _bar(float(size[0]), [0.0, 0.0, float(half)])
    radii = np.array([size[0]] * 3 if kind == types.mjGEOM_SPHERE else size, dtype=float)
    longest = int(radii.argmax())
    radius = float(np.delete(radii, longest).mean())  # an ellipsoid: as long as it is, as thick as its mean
    half = np.zeros(3)
    half[longest] = max(0.0, radii[longest] - radius)
    return _bar(radius, half.tolist())


def _bar(radius: float, half: list[float]) -> dict[str, Any]:
    return {"kind": "bar", "radius": round(radius, 4), "half": [round(value, 4) for value in half]}
