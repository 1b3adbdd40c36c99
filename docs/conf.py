"""Sphinx configuration."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from tables import write_tables

write_tables()

project = "PFM-HR"
author = "The PFM-HR developers"
copyright = author
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "PFM-HR"
exclude_patterns = ["_build", "generated"]
