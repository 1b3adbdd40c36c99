"""Tables and figures of README and documentation, made from stored results: ``python -m pfmhr.results.tables``."""

from pfmhr.results.tables.pages import all_tables, fill, pages, write_pages

__all__ = ["all_tables", "fill", "pages", "write_pages"]
