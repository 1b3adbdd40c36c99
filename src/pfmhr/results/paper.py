"""Every number of the paper that a result stands beside.

Tracking tables: samples to 80 % in million, errors in m and rad, mean and deviation over three seeds. Methods are ADD
(``none``), ADD with PDF-HR, ADD with PFM-HR and, for four skills, what PFM-HR was compared with: FM-Recon (``recon``)
and v-prediction (``velocity``). Score tables: one row of figures per setting.
"""

from __future__ import annotations

Number = tuple[float, float] | None
"""Mean and population deviation; None where the paper says "Failed"."""
METHODS = {"add": "none", "pdf": "pdf", "pfm": "pfm", "recon": "recon", "pfm_velocity": "velocity"}
"""Methods as experiments call them, and as the tables here do."""

SAMPLES: dict[str, dict[str, Number]] = {
    "walk": {
        "none": (70.036, 6.179),
        "pdf": (56.929, 6.179),
        "pfm": (65.667, 0.0),
        "recon": (56.929, 6.179),
        "velocity": (70.036, 6.179),
    },
    "run": {
        "none": (113.727, 6.179),
        "pdf": (70.036, 6.179),
        "pfm": (74.405, 6.179),
        "recon": (74.405, 16.348),
        "velocity": (83.143, 6.179),
    },
    "jump": {"none": (222.953, 10.702), "pdf": (188.001, 16.348), "pfm": (183.632, 10.702)},
    "spinkick": {"none": (135.572, 6.179), "pdf": (91.881, 0.0), "pfm": (109.358, 6.179)},
    "cartwheel": {"none": (183.632, 0.0), "pdf": (161.787, 12.358), "pfm": (144.310, 18.536)},
    "backflip": {
        "none": None,
        "pdf": (183.632, 18.536),
        "pfm": (157.417, 10.702),
        "recon": (170.525, 18.536),
        "velocity": (170.525, 18.536),
    },
    "sideflip": {
        "none": (336.549, 62.708),
        "pdf": (166.156, 6.179),
        "pfm": (161.787, 6.179),
        "recon": (161.787, 12.358),
        "velocity": (166.156, 6.179),
    },
    "speed_vault": {"none": (388.978, 49.430), "pdf": (122.465, 6.179), "pfm": (118.096, 0.0)},
    "double_kong": {"none": None, "pdf": (288.489, 10.702), "pfm": (205.477, 6.179)},
}
POSITION: dict[str, dict[str, Number]] = {
    "walk": {
        "none": (0.008, 0.001),
        "pdf": (0.009, 0.0),
        "pfm": (0.008, 0.003),
        "recon": (0.008, 0.001),
        "velocity": (0.008, 0.003),
    },
    "run": {
        "none": (0.015, 0.0),
        "pdf": (0.017, 0.0),
        "pfm": (0.016, 0.001),
        "recon": (0.018, 0.001),
        "velocity": (0.017, 0.0),
    },
    "jump": {"none": (0.022, 0.003), "pdf": (0.024, 0.001), "pfm": (0.020, 0.003)},
    "spinkick": {"none": (0.031, 0.0), "pdf": (0.032, 0.001), "pfm": (0.030, 0.001)},
    "cartwheel": {"none": (0.031, 0.0), "pdf": (0.028, 0.003), "pfm": (0.028, 0.003)},
    "backflip": {
        "none": None,
        "pdf": (0.048, 0.0),
        "pfm": (0.045, 0.001),
        "recon": (0.046, 0.0),
        "velocity": (0.047, 0.001),
    },
    "sideflip": {
        "none": (0.051, 0.002),
        "pdf": (0.050, 0.003),
        "pfm": (0.049, 0.001),
        "recon": (0.051, 0.003),
        "velocity": (0.051, 0.001),
    },
    "speed_vault": {"none": (0.024, 0.001), "pdf": (0.023, 0.0), "pfm": (0.021, 0.003)},
    "double_kong": {"none": None, "pdf": (0.031, 0.001), "pfm": (0.028, 0.001)},
}
ROTATION: dict[str, dict[str, Number]] = {
    "walk": {"none": (0.038, 0.001), "pdf": (0.042, 0.002), "pfm": (0.039, 0.0)},
    "run": {"none": (0.063, 0.001), "pdf": (0.070, 0.001), "pfm": (0.069, 0.003)},
    "jump": {"none": (0.108, 0.004), "pdf": (0.103, 0.003), "pfm": (0.101, 0.005)},
    "spinkick": {"none": (0.150, 0.002), "pdf": (0.161, 0.004), "pfm": (0.147, 0.002)},
    "cartwheel": {"none": (0.129, 0.007), "pdf": (0.126, 0.010), "pfm": (0.125, 0.005)},
    "backflip": {"none": None, "pdf": (0.205, 0.004), "pfm": (0.203, 0.003)},
    "sideflip": {"none": (0.241, 0.003), "pdf": (0.242, 0.005), "pfm": (0.238, 0.001)},
    "speed_vault": {"none": (0.118, 0.003), "pdf": (0.116, 0.001), "pfm": (0.116, 0.0)},
    "double_kong": {"none": None, "pdf": (0.157, 0.003), "pfm": (0.154, 0.002)},
}
GENERAL: dict[float, dict[str, tuple[tuple[float, float], tuple[float, float]]]] = {
    10.0: {
        "none": ((0.022, 0.001), (0.121, 0.007)),
        "pdf": ((0.023, 0.002), (0.129, 0.011)),
        "pfm": ((0.021, 0.001), (0.119, 0.009)),
    },
    20.0: {
        "none": ((0.023, 0.002), (0.123, 0.007)),
        "pdf": ((0.023, 0.003), (0.127, 0.008)),
        "pfm": ((0.020, 0.002), (0.117, 0.008)),
    },
    30.0: {
        "none": ((0.022, 0.001), (0.122, 0.008)),
        "pdf": ((0.022, 0.002), (0.125, 0.007)),
        "pfm": ((0.020, 0.002), (0.117, 0.007)),
    },
}
"""34 LAFAN1 clips with one policy: per horizon in s, position and rotation error."""

TIMESTEP: dict[float, tuple[float, ...]] = {
    0.4: (0.061, 0.050, 0.019, 0.043),
    0.5: (0.089, 0.076, 0.028, 0.064),
    0.6: (0.121, 0.105, 0.040, 0.089),
    0.7: (0.159, 0.135, 0.053, 0.116),
    0.75: (0.169, 0.146, 0.057, 0.124),
    0.8: (0.164, 0.138, 0.054, 0.119),
    0.9: (0.106, 0.086, 0.033, 0.075),
}
"""Fall of the percentile under angular, permutation and sign flip perturbations and on average, by flow time."""
NOISE: dict[int, tuple[float, ...]] = {
    1: (0.976, 0.013, 0.979, 0.010, 0.750),
    2: (0.981, 0.011, 0.984, 0.007, 1.308),
    4: (0.990, 0.009, 0.989, 0.004, 2.847),
    8: (0.996, 0.005, 0.993, 0.002, 5.991),
    128: (1.000, 0.000, 1.000, 0.000, 97.112),
}
"""Rank correlation, percentile MAE, region agreement, reward MAE, latency in ms (RTX 4090), by noise samples K."""
PERTURBATION: dict[tuple[str, float], tuple[float, ...]] = {
    ("magnitude", 0.25): (0.984, -0.004, -0.001, 0.991),
    ("magnitude", 0.5): (0.995, -0.001, -0.000, 0.997),
    ("magnitude", 2.0): (1.001, 0.000, 0.000, 0.998),
    ("magnitude", 4.0): (1.002, 0.001, 0.000, 0.996),
    ("angular", 15.0): (0.928, -0.018, -0.006, 0.961),
    ("angular", 30.0): (0.794, -0.057, -0.021, 0.894),
    ("angular", 45.0): (0.623, -0.126, -0.058, 0.786),
    ("angular", 60.0): (0.441, -0.214, -0.118, 0.652),
    ("angular", 75.0): (0.350, -0.280, -0.160, 0.575),
    ("angular", 90.0): (0.268, -0.318, -0.205, 0.507),
    ("permutation", 0.25): (0.842, -0.043, -0.015, 0.918),
    ("permutation", 0.5): (0.654, -0.112, -0.047, 0.810),
    ("permutation", 0.75): (0.510, -0.180, -0.100, 0.703),
    ("permutation", 1.0): (0.372, -0.251, -0.151, 0.595),
    ("sign_flip", 0.25): (0.878, -0.032, -0.010, 0.934),
    ("sign_flip", 0.5): (0.712, -0.091, -0.035, 0.848),
    ("sign_flip", 0.75): (0.660, -0.105, -0.040, 0.830),
    ("sign_flip", 1.0): (1.000, 0.000, 0.000, 1.000),
}
"""Normalised PGS, changes of percentile and of factor, region agreement, by perturbation and severity."""
EXTENSION = {"extended_gpu_hours": 65, "scratch_gpu_hours": 100, "ratio": 0.65}
"""Cost of extending a prior and of training it anew."""


def skill_in(name: str) -> str | None:
    """The paper's skill a clip's name speaks of, if any."""
    plain = name.lower().replace("-", "_").removeprefix("g1_")
    return next((skill for skill in SAMPLES if plain == skill), None)
