"""Headers of our own files: each states its format and, where formats change, its version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pfmhr.errors import InputError


def require_header(
    content: Any, what: str, format: str, versions: Sequence[int] = (), *, where: object, code: str
) -> dict[str, Any]:
    """The content of a file that states this format and one of these versions; without versions, any.

    Args:
        content: what was read, of any kind.
        what: names the content in errors, as "a prior's config".
        format: the format it should state.
        versions: the versions that can be read.
        where: the file, for errors.
        code: of the errors.

    Raises:
        InputError: another format, or a version that cannot be read.
    """
    stated = content.get("format") if isinstance(content, dict) else type(content).__name__
    if not isinstance(content, dict) or stated != format:
        raise InputError(f"not {what}", where=where, expected=format, got=stated, code=code)
    version = content.get("version")
    if versions and version not in versions:
        known = " or ".join(map(str, versions))
        newer = isinstance(version, int) and version > max(versions)
        fix = "A newer pfmhr wrote this; update yours." if newer else None
        raise InputError(f"unknown version of {what}", where=where, expected=known, got=version, fix=fix, code=code)
    return content
