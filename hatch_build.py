"""Compiles the small C functions when the package is built; without a C compiler the package works, slower."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = (Path("src/pfmhr/corpus/_gather.c"),)


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
        if self.target_name != "wheel" or compiler is None or os.name == "nt":
            return
        for source in SOURCES:
            library = source.with_suffix(".so")
            command = [compiler, "-O3", "-shared", "-fPIC", "-o", str(root / library), str(root / source)]
            if subprocess.run(command, check=False).returncode != 0:
                self.app.display_warning(f"{source} could not be compiled; numpy will do its work, slower")
                return
            build_data["artifacts"].append(str(library))
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"
