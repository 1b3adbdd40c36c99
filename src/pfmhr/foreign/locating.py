"""From what a prior or a distance field is called to the directory it lies in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pfmhr.errors import InputError, unknown_name
from pfmhr.layout import CARD, CONFIG, HUB, WEIGHTS

_REPOSITORY = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*", re.ASCII)


def locate(source: str | Path, kind: str, bundled: Mapping[str, Path]) -> Path:
    """The directory of an artefact: a path, the name of a bundled one, or ``hf:owner/name``.

    Nothing is fetched unless ``hf:`` says so; a path that does not exist is an error.
    """
    text = str(source)
    if text.startswith(HUB):
        return _download(text.removeprefix(HUB), kind)
    path = Path(source)
    if path.is_dir():
        return path
    if text in bundled:
        return bundled[text]
    if path.exists():
        got = "a file"
        raise InputError(f"a {kind} is a directory", where=path, got=got, code=f"bad_{kind.replace(' ', '_')}")
    known = [*bundled, "a directory", f"or {HUB}owner/name on Hugging Face"]
    if "/" not in text:
        raise unknown_name(kind, text, known)
    fix = f"Available: {', '.join(known)}."
    raise InputError(f"no such {kind}: there is no such directory", where=text, fix=fix, code="not_found")


def _download(repository: str, kind: str) -> Path:
    if not _REPOSITORY.fullmatch(repository):
        raise InputError("not a repository", where=HUB + repository, expected=f"{HUB}owner/name", code="unknown_name")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise InputError(
            f"fetching a {kind} from Hugging Face needs huggingface_hub",
            where=HUB + repository,
            fix="`pip install 'pfm-hr[hub]'`.",
            code="missing_extra",
        ) from None
    try:
        return Path(snapshot_download(repository, allow_patterns=[WEIGHTS, CONFIG, CARD]))
    except Exception as error:  # the hub's client raises many kinds; each means the same to the caller
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise InputError(
            f"Hugging Face did not give it: {reason}",
            where=HUB + repository,
            fix="Check the name and the connection.",
            code="not_found",
        ) from error
