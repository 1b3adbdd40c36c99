"""``pfmhr completion``: scripts that let a shell complete commands, options and their values."""

from __future__ import annotations

from typing import Annotated, Literal

import tyro

Shell = Literal["bash", "zsh", "fish"]
_BASH = """
# Files where tyro offers nothing, or options that nobody began to type.
_pfmhr() {
    _tyro_pfmhr
    local current="${COMP_WORDS[COMP_CWORD]}"
    if [[ "$current" != -* && ( -z "${COMPREPLY[*]}" || "${COMPREPLY[${#COMPREPLY[@]}-1]}" == -* ) ]]; then
        COMPREPLY=()
    fi
}
complete -o default -F _pfmhr pfmhr
"""
_ZSH = """
[[ "${words[CURRENT]}" == -* ]] || _files
"""
_FISH = """
complete --command pfmhr --condition 'not string match -q -- "-*" (commandline -ct)' \\
    --arguments '(__fish_complete_path (commandline -ct))'
"""
FILES: dict[Shell, str] = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""What is added to tyro's scripts: they complete options and their values, but no files that stand for themselves."""


def completion(shell: Annotated[tyro.conf.Positional[Shell], tyro.conf.arg(metavar="{bash,zsh,fish}")], /) -> int:
    """Print a script that makes a shell complete commands, options, their values and files.

    Examples:
        pfmhr completion bash > ~/.local/share/bash-completion/completions/pfmhr
        pfmhr completion zsh > ~/.zfunc/_pfmhr
        pfmhr completion fish > ~/.config/fish/completions/pfmhr.fish

    Args:
        shell: for which shell.
    """
    from pfmhr.cli.parsing import completion_script

    print(completion_script(shell) + FILES[shell], end="")
    return 0
