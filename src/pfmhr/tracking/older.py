"""Settings that earlier versions wrote, as this one writes them."""

from __future__ import annotations

from typing import Any

from pfmhr.reward.available import MODULATORS
from pfmhr.reward.configuring import places_of

_G1_KEY_BODIES = [
    "left_ankle_roll_link",
    "right_ankle_roll_link",
    "torso_link",
    "left_wrist_yaw_link",
    "right_wrist_yaw_link",
]
_LAID_OUT = ("kind", "prior", "settings", "fade")


def modern_run(about: Any) -> Any:
    """A run's settings, its config included; anything else is left to whoever checks it."""
    if not isinstance(about, dict) or "config" not in about:
        return about
    return {**about, "config": modern_config(about["config"])}


def modern_config(config: Any) -> Any:
    """A tracker's config as it is written now."""
    return _grouped_modulator(_open_key_bodies(config))


def _open_key_bodies(config: Any) -> Any:
    """The key bodies of the G1 were the default of every robot; now a robot has its own."""
    environment = config.get("environment") if isinstance(config, dict) else None
    if not isinstance(environment, dict) or environment.get("key_bodies") != _G1_KEY_BODIES:
        return config
    return {**config, "environment": {**environment, "key_bodies": None}}


def _grouped_modulator(config: Any) -> Any:
    """The modulator's settings were beside its kind, those of all kinds together.

    Calibrations then had one draw of the noise per transition.
    """
    flat = config.get("modulator") if isinstance(config, dict) else None
    if not isinstance(flat, dict) or "settings" in flat or not flat.keys() - set(_LAID_OUT):
        return config
    kind = flat.get("kind", "none")
    if not isinstance(kind, str) or kind not in MODULATORS:
        return config
    settings: dict[str, Any] = {}
    for name, place in places_of(MODULATORS[kind].settings).items():
        old = name if name in flat else f"pdf_{name}"
        value = 1 if name == "draws" else flat.get(old)
        if value is not None:
            inside = settings
            for part in place[:-1]:
                inside = inside.setdefault(part, {})
            inside[place[-1]] = value
    kept = {name: flat[name] for name in _LAID_OUT if name in flat}
    return {**config, "modulator": {**kept, "settings": settings}}
