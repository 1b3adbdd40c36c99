# MuJoCo's bindings are compiled and carry no types; this lets the rest be checked.
from typing import Any

def __getattr__(name: str) -> Any: ...
