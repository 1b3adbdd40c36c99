"""``pfmhr completion``: scripts that let a shell complete commands, options, their values and files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Literal

import tyro

from pfmhr.cli.commands import Command, all_commands
from pfmhr.cli.signature import EVERYWHERE, Option, options_of

Shell = Literal["bash", "zsh", "fish"]


def completion(shell: Annotated[tyro.conf.Positional[Shell], tyro.conf.arg(metavar="{bash,zsh,fish}")], /) -> int:
    """Print a script that makes a shell complete commands, options, their values and files.

    Examples:
        pfmhr completion bash > ~/.local/share/bash-completion/completions/pfmhr
        pfmhr completion zsh > ~/.zfunc/_pfmhr
        pfmhr completion fish > ~/.config/fish/completions/pfmhr.fish

    Args:
        shell: for which shell.
    """
    print(SCRIPTS[shell](all_commands()), end="")
    return 0


def bash(commands: dict[str, Command]) -> str:
    """For bash: put it where bash-completion looks, or source it."""
    return _BASH.replace("@TABLE@", _table(commands)).replace("@WORDS@", _first_words(commands))


def zsh(commands: dict[str, Command]) -> str:
    """For zsh: a file ``_pfmhr`` in a folder of ``$fpath``. It is the function for bash, which zsh can run."""
    return f"#compdef pfmhr\nautoload -Uz bashcompinit && bashcompinit\n{bash(commands)}"


def fish(commands: dict[str, Command]) -> str:
    """For fish: a file ``pfmhr.fish`` in its folder of completions."""
    lines = [_FISH, "complete -c pfmhr -f"]
    groups = dict.fromkeys(name.split()[0] for name in commands if " " in name)
    lines += [f"complete -c pfmhr -n '__pfmhr_at' -a {first}" for first in groups]
    for name, command in commands.items():
        *above, last = name.split()
        lines.append(f"complete -c pfmhr -n '{' '.join(['__pfmhr_at', *above])}' -a {last} -d \"{command.summary}\"")
    for name, command in commands.items():
        condition = f"complete -c pfmhr -n '__pfmhr_in {name}'"
        lines += [condition + _for_fish(option) for option in _all(command)]
    return "\n".join(lines) + "\n"


SCRIPTS: dict[Shell, Callable[[dict[str, Command]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def _all(command: Command) -> list[Option]:
    return [*options_of(command.function), *(Option((name,), (), False, "none") for name in EVERYWHERE)]


def _first_words(commands: dict[str, Command]) -> str:
    return " ".join(dict.fromkeys(name.split()[0] for name in commands))


def _table(commands: dict[str, Command]) -> str:
    """Lines of a case: what may stand at a place, each place a command, or a command and the option before it."""
    lines = []
    for first in dict.fromkeys(name.split()[0] for name in commands if " " in name):
        below = " ".join(name.split()[1] for name in commands if name.startswith(f"{first} "))
        lines.append(f'        "{first}") words="{below}" ;;')
    for name, command in commands.items():
        options = _all(command)
        written = " ".join(each for option in options for each in option.names)
        positional = [option for option in options if not option.names]
        files = any(option.files for option in positional)
        choices = " ".join(word for option in positional for word in option.choices)
        lines.append(f'        "{name}") words="{choices}" options="{written}" files={int(files)} ;;')
        lines += [line for option in options for line in _values(name, option)]
    return "\n".join(lines)


def _values(name: str, option: Option) -> Iterator[str]:
    if option.names and option.values != "none":
        places = "|".join(f'"{name} {each}"' for each in option.names)
        many = int(option.values == "many")
        yield f'        {places}) words="{" ".join(option.choices)}" files={int(option.files)} many={many} ;;'


def _for_fish(option: Option) -> str:
    if not option.names:
        return f" -a '{' '.join(option.choices)}'" if option.choices else " -F"
    names = "".join(f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}" for name in option.names)
    if option.values == "none":
        return names
    words = f" -a '{' '.join(option.choices)}'" if option.choices else ""
    return f"{names} -r{' -F' if option.files else ' -f'}{words}"


_BASH = """\
# Completes the command pfmhr; made by `pfmhr completion`.

# What may stand after a command, or after a command's option: sets words, options, files and many.
_pfmhr_place() {
    words="" options="" files=0 many=0
    case "$1" in
@TABLE@
        *) return 1 ;;
    esac
}

_pfmhr() {
    local current="${COMP_WORDS[COMP_CWORD]}" command="" option="" distance=0 index word
    local words options files many IFS=$' \\n'
    for ((index = 1; index < COMP_CWORD; index++)); do
        word="${COMP_WORDS[index]}"
        if [[ "$word" == -* ]]; then
            option="$word" distance=0
        elif [ -z "$option" ] && _pfmhr_place "${command:+$command }$word"; then
            command="${command:+$command }$word"
        else
            distance=$((distance + 1))
        fi
    done
    if [ "$COMP_CWORD" = 1 ]; then
        words="@WORDS@" files=0
    elif [[ "$current" == -* ]]; then
        _pfmhr_place "$command"
        words="$options" files=0
    elif ! { [ -n "$option" ] && _pfmhr_place "$command $option" && [ "$distance" -le $((99 * many)) ]; }; then
        _pfmhr_place "$command"
        [ -n "$words" ] || [ "$files" = 1 ] || words="$options"
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    if [ "$files" = 1 ]; then
        IFS=$'\\n'
        COMPREPLY+=($(compgen -f -- "$current"))
        compopt -o filenames 2>/dev/null
    fi
    return 0
}

complete -F _pfmhr pfmhr
"""

_FISH = """\
# Completes the command pfmhr; made by `pfmhr completion`.

# The words before the cursor that are not options are exactly these.
function __pfmhr_at
    set -l words (commandline -opc | string match -v -- '-*')
    test "$words[2..]" = "$argv"
end

# The line begins with this command.
function __pfmhr_in
    set -l words (commandline -opc)
    test (count $words) -gt (count $argv); and test "$words[2..$(math (count $argv) + 1)]" = "$argv"
end
"""
