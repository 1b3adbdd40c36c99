"""Two small robots of our own: one with four legs, one with arms and a head."""

from __future__ import annotations

from pathlib import Path

from pfmhr.robots import Robot

LEG = """<body name="{n}_thigh" pos="{x} {y} -0.05"><joint name="{n}_hip" axis="0 1 0"/><geom size="0.03" mass="1"/>
<body name="{n}_shin" pos="0 0 -0.2"><joint name="{n}_knee" axis="0 1 0"/><geom size="0.03" mass="1"/>
<body name="{n}_foot" pos="0 0 -0.2"><geom size="0.03" mass="0.2"/></body></body></body>"""
ARM = """<body name="{n}_upper" pos="0 {y} 0.3"><joint name="{n}_shoulder" axis="0 1 0"/><geom size="0.03" mass="1"/>
<body name="{n}_fore" pos="0 0 -0.15"><joint name="{n}_elbow" axis="0 1 0"/><geom size="0.03" mass="1"/>
<body name="{n}_palm" pos="0 0 -0.12"><geom size="0.03" mass="0.2"/></body></body></body>"""
TAIL = '<body name="tail" pos="-0.3 0 0.1"><joint name="wag" axis="0 0 1"/><geom size="0.02" mass="0.1"/></body>'
HEAD = '<body name="head" pos="0 0 0.4"><joint name="neck" axis="0 0 1"/><geom size="0.05" mass="1"/></body>'
CHEST = '<body name="chest" pos="0 0 0.1"><joint name="waist" axis="0 0 1"/><geom size="0.1" mass="5"/>'
SIDES = (("l", 0.1), ("r", -0.1))
CORNERS = (("fl", 0.2, 0.1), ("fr", 0.2, -0.1), ("rl", -0.2, 0.1), ("rr", -0.2, -0.1))
POSITION = '<position joint="{}" kp="40" kv="2" forcerange="-30 30"/>'
MOTOR = '<motor joint="{}" gear="2" ctrllimited="true" ctrlrange="-15 15"/>'


def quadruped(folder: Path, actuator: str = POSITION) -> Robot:
    """Four legs and a tail in the middle."""
    return _robot(folder, "".join(LEG.format(n=n, x=x, y=y) for n, x, y in CORNERS) + TAIL, actuator)


def humanoid(folder: Path, actuator: str = POSITION) -> Robot:
    """Two legs, and two arms and a head on a chest."""
    legs = "".join(LEG.format(n=n, x=0, y=y) for n, y in SIDES)
    arms = "".join(ARM.format(n=n, y=2 * y) for n, y in SIDES)
    return _robot(folder, f"{legs}{CHEST}{arms}{HEAD}</body>", actuator)


def _robot(folder: Path, inside: str, actuator: str) -> Robot:
    """A trunk at 0.5 m with something on it, and an actuator for each of its joints."""
    path = folder / "own.xml"
    trunk = f'<body name="trunk" pos="0 0 0.5"><freejoint/><geom size="0.1" mass="5"/>{inside}</body>'
    body = f"<worldbody>{trunk}</worldbody>"
    path.write_text(f"<mujoco>{body}</mujoco>")
    motors = "".join(actuator.format(joint) for joint in Robot.load(path).joint_names)
    path.write_text(f"<mujoco>{body}<actuator>{motors}</actuator></mujoco>")
    return Robot.load(path)
