"""A robot of one's own, from its MJCF to a trained tracker: motions, corpus, prior, score, tracker.

Run ``python examples/own_robot.py``; it takes about a minute and writes into ``own-robot/``. The
guide docs/howto/own-robot.md explains the steps.
"""

from pathlib import Path

import numpy as np
import torch
import tyro

from pfmhr import Calibration, Motion, PoseCorpus, PoseGeometryScore, PosePrior, RewardModulator, Robot
from pfmhr.prior import PriorConfig, TrainConfig, preset, train_prior
from pfmhr.tracking import EnvironmentConfig, ModulatorConfig, TrackerConfig
from pfmhr.tracking.runs import train_tracker

LEG = """
<body name="{side}_thigh" pos="0 {y} -0.1">
  <joint name="{side}_hip" axis="0 1 0" range="-90 60"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.04" mass="1"/>
  <body name="{side}_shin" pos="0 0 -0.22">
    <joint name="{side}_knee" axis="0 1 0" range="0 120"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.03" mass="0.5"/>
    <body name="{side}_foot" pos="0 0 -0.24">
      <joint name="{side}_ankle" axis="0 1 0" range="-60 60"/>
      <geom type="box" size="0.09 0.06 0.02" pos="0.02 0 0" mass="0.2"/>
    </body>
  </body>
</body>
"""
MOTOR = '<position joint="{side}_{joint}" kp="120" dampratio="1" forcerange="-60 60"/>'
SIDES = {"left": 0.1, "right": -0.1}
MJCF = f"""
<mujoco model="biped">
  <worldbody>
    <body name="trunk" pos="0 0 0.58">
      <freejoint/>
      <geom type="box" size="0.08 0.14 0.08" mass="4"/>
      {"".join(LEG.format(side=side, y=y) for side, y in SIDES.items())}
    </body>
  </worldbody>
  <actuator>
    {"".join(MOTOR.format(side=side, joint=joint) for side in SIDES for joint in ("hip", "knee", "ankle"))}
  </actuator>
</mujoco>
"""
THIGH, SHIN, SOLE = 0.22, 0.24, 0.02  # m


def squats(robot: Robot, seconds: float, pace: float, depth: float) -> Motion:
    """Bends and stretches both legs, ``pace`` times a second, knees up to ``depth`` rad, soles flat on the floor."""
    time = np.arange(0.0, seconds, 1 / 60)
    knee = 0.1 + depth * (0.5 - 0.5 * np.cos(2 * np.pi * pace * time))
    hip = -np.arctan2(SHIN * np.sin(knee), THIGH + SHIN * np.cos(knee))  # the foot stays below the hip
    leg = np.stack([hip, knee, -hip - knee], axis=1)
    height = 0.1 + THIGH * np.cos(hip) + SHIN * np.cos(hip + knee) + SOLE
    root = np.stack([0 * time, 0 * time, height], axis=1)
    return Motion.from_arrays(robot, np.concatenate([leg, leg], axis=1), fps=60, root_pos=root, name=f"squats {pace}")


def learn_prior(folder: Path, robot: Robot, clips: list[Motion], steps: int) -> PosePrior:
    """A corpus of the clips, and the smallest prior of it; for a real robot keep the defaults of both settings."""
    corpus = PoseCorpus.build(folder / "corpus", clips, robot)
    quick = TrainConfig(steps=steps, batch_size=256, distinct_times=8, learning_rate=3e-3, warmup=20, ema_decay=0.95)
    train_prior(folder / "prior", corpus, robot, PriorConfig(network=preset("tiny")), quick)
    return PosePrior.load(folder / "prior", robot)


def mean_factors(prior: PosePrior, clip: Motion, rate: float) -> dict[str, float]:
    """The reward factor of the clip's own steps, and of the same steps with one leg going the wrong way."""
    score = PoseGeometryScore(prior)
    modulator = RewardModulator(score, Calibration.fit(score, [clip], 1 / rate, phases=4))
    poses = torch.from_numpy(clip.resample(rate).joint_pos)
    before, change = poses[:-1], poses[1:] - poses[:-1]
    wrong = change * torch.tensor([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    return {
        "as in the clip": modulator(before, before + change, 1 / rate).mean().item(),
        "one leg backwards": modulator(before, before + wrong, 1 / rate).mean().item(),
    }


def main(folder: Path = Path("own-robot"), prior_steps: int = 400, samples: int = 120_000) -> dict[str, float]:
    """Everything in a row; returns the mean factors.

    Args:
        folder: where everything is written; the same command goes on where it stopped.
        prior_steps: steps of the prior's training.
        samples: control steps the tracker learns from.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "biped.xml").write_text(MJCF)
    robot = Robot.load(folder / "biped.xml")
    print(f"{robot.name}: {', '.join(robot.joint_names)}")
    clips = [squats(robot, 6.0, pace, depth) for pace, depth in ((0.4, 1.2), (0.6, 0.9), (0.8, 0.6))]
    prior = learn_prior(folder, robot, clips, prior_steps)
    factors = mean_factors(prior, clips[1], rate=30.0)
    for change, factor in factors.items():
        print(f"reward factor of steps {change}: {factor:.3f}")
    config = TrackerConfig(
        EnvironmentConfig(environments=64, episode_seconds=5.0),
        modulator=ModulatorConfig(kind="pfm", prior=str(folder / "prior")),
        samples=samples,
        evaluation_episodes=16,
    )
    result = train_tracker(folder / "tracker", robot, [clips[1]], config, say=print)
    first, last = (each.success for each in (result.evaluations[0], result.evaluations[-1]))
    print(f"the tracker follows {last:.0%} of the clip after {samples:,} samples, {first:.0%} before")
    return factors


if __name__ == "__main__":
    tyro.cli(main)
