"""``python -m pfmhr`` is the command ``pfmhr``."""

from pfmhr.cli import main

if __name__ == "__main__":
    main()
