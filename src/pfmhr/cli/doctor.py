"""``pfmhr doctor``."""

from __future__ import annotations

import os
import platform
from importlib import metadata, util
from typing import Any

import pfmhr
from pfmhr.cli.console import print_json, print_table, say
from pfmhr.motion.checks.paths import available_cores

LIBRARIES = ("numpy", "scipy", "mujoco", "torch", "tyro", "rich", "matplotlib")
EXTRAS = {
    "tracking": ("rsl_rl", "training, filming and exporting trackers", "pip install 'pfm-hr[tracking]'"),
    "viewer": ("viser", "motions and rollouts in a browser", "pip install 'pfm-hr[viewer]'"),
    "distance": ("faiss", "distance fields (PDF-HR)", "pip install 'pfm-hr[distance]'"),
    "fast": ("isal", "reading csv and gz files in less time (with pyarrow)", "pip install 'pfm-hr[fast]'"),
    "hub": ("huggingface_hub", "priors from Hugging Face", "pip install 'pfm-hr[hub]'"),
    "ray": ("ray", "experiments on a cluster", "pip install 'pfm-hr[ray]'"),
    "mjlab": ("mjlab", "comparing our G1 with mjlab's (tests)", "pip install 'pfm-hr[mjlab]'"),
    "docs": ("sphinx", "building the documentation", "pip install 'pfm-hr[docs]'"),
    "dev": ("pytest", "running the tests", "pip install 'pfm-hr[dev]'"),
    "parquet": ("pyarrow", "BONES-SEED metadata in parquet (csv needs nothing)", "pip install pyarrow"),
}


def doctor(json: bool = False) -> int:
    """Print versions, threads, devices and extras, and what is missing for which feature.

    Examples:
        pfmhr doctor
        pfmhr doctor --json

    Args:
        json: print one JSON object.
    """
    facts = _facts()
    if json:
        print_json(facts)
        return 0
    say(f"pfm-hr {facts['pfmhr']}, Python {facts['python']}, {facts['platform']}")
    say(f"cores: {facts['cores']} usable of {facts['cores_of_machine']}; devices: {', '.join(facts['devices'])}")
    print_table(
        "", ["library", "version"], [[name, version or "missing"] for name, version in facts["libraries"].items()]
    )
    rows = [
        [name, "found" if extra["found"] else "missing", extra["feature"], "" if extra["found"] else extra["install"]]
        for name, extra in facts["extras"].items()
    ]
    print_table("", ["extra", "", "needed for", "how"], rows)
    return 0


def _facts() -> dict[str, Any]:
    return {
        "pfmhr": pfmhr.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": available_cores(),
        "cores_of_machine": os.cpu_count(),
        "devices": _devices(),
        "libraries": {name: _version(name) for name in LIBRARIES},
        "extras": {
            name: {"found": util.find_spec(module) is not None, "feature": feature, "install": install}
            for name, (module, feature, install) in EXTRAS.items()
        },
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _devices() -> list[str]:
    try:
        import torch
    except ImportError:
        return ["cpu (torch missing)"]
    devices = ["cpu"]
    devices += [f"cuda:{index} {torch.cuda.get_device_name(index)}" for index in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        devices.append("mps")
    return devices
