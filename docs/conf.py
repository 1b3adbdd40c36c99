"""Sphinx configuration."""

import sys
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from reference_pages import write_reference

write_reference()

project = "PFM-HR"
author = "The PFM-HR developers"
copyright = author
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_default_options = {"special-members": "__call__"}
autodoc_mock_imports = [name for name in ("faiss", "mjlab", "ray", "viser") if find_spec(name) is None]
default_role = "code"
html_theme = "furo"
html_title = "PFM-HR"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
exclude_patterns = ["_build"]
