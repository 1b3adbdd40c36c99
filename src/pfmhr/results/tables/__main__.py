"""Write the tables and figures of the documentation in the working directory."""

from __future__ import annotations

import sys
from pathlib import Path

from pfmhr.results.tables.pages import write_pages

if __name__ == "__main__":
    missing = write_pages(Path.cwd())
    sys.exit("\n".join(f"{page}: no stored result for its table '{name}'" for page, name in missing) or 0)
