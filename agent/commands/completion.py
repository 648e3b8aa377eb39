"""Print a script for shell completion of commands, options and names.

Names of projects and runs come from the server, with a timeout of one second. Only
names that need no quotes are offered.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import itemgetter

from seamark import commands
from seamark.commands.output import print_json_rows, say
from seamark.commands.parsing import GENERAL, Parser, options_of, parser_of
from seamark.errors import AgentError
from seamark.reading.client import ask
from seamark.servers import find_server

HELP = "print a completion script for bash, zsh or fish"
EXAMPLES = (
    'eval "$(seamark completion bash)"   # in ~/.bashrc',
    'eval "$(seamark completion zsh)"    # in ~/.zshrc, after compinit',
    "seamark completion fish | source    # in ~/.config/fish/config.fish",
)

# `seamark completion words WORD…` prints completions of the last word. Without
# candidates or errors, the shell completes file names.
SCRIPTS = {
    "bash": """\
_seamark() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(seamark completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _seamark seamark
""",
    "zsh": """\
#compdef seamark
_seamark() {
    local -a found
    found=("${(@f)$(seamark completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    found=(${found:#})
    if (( ${#found} )); then
        compadd -a found
    else
        _files
    fi
}
if [ "$funcstack[1]" = "_seamark" ]; then
    _seamark "$@"
else
    compdef _seamark seamark
fi
""",
    "fish": """\
function __seamark_words
    set -l tokens (commandline -opc) (commandline -ct)
    seamark completion words -- $tokens[2..-1] 2>/dev/null
end
complete -c seamark -a '(__seamark_words)'
""",
}
_SECONDS = 1.0
_MOST = 100
_PLAIN = re.compile(r"[\w.+@%/][\w.+@%/,-]*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=(*SCRIPTS, "words"), help="bash, zsh or fish")
    parser.add_argument("words", nargs="*", metavar="WORD", help=argparse.SUPPRESS)


def perform(chosen: argparse.Namespace) -> int:
    if chosen.shell != "words":
        script = SCRIPTS[chosen.shell]
        if chosen.json:
            print_json_rows({"shell": chosen.shell, "script": script})
        else:
            say(script.rstrip("\n"))
        return 0
    for word in completions(chosen.words or [""]):
        say(word)
    return 0


def completions(words: Sequence[str]) -> list[str]:
    """Return the completions of the last word."""
    *before, current = words
    found = sorted(set(_candidates(before, current)))
    is_option = current.startswith("-")
    # A name that the shell must quote could run a command, and one that begins with a
    # dash could be an option.
    return [
        word
        for word in found
        if word.startswith(current) and (is_option or _PLAIN.fullmatch(word))
    ]


def _candidates(before: Sequence[str], current: str) -> Iterable[str]:
    if not before and current.startswith("-"):
        return [word for words in GENERAL for word in words.split(", ")]
    name = " ".join(before[:2])
    if name not in commands.COMMANDS:
        name = before[0] if before else ""
    if name not in commands.COMMANDS:
        # A command of two words needs its second one first.
        place = len(before)
        known = (command.split() for command in commands.COMMANDS)
        return [c[place] for c in known if len(c) > place and c[:place] == [*before]]
    if "--" in before:
        return []
    parser = parser_of(name, commands.COMMANDS[name])
    options = options_of(parser)
    action = options.get(before[-1])
    if action is not None and action.nargs is None:
        return _values(action, before)
    if current.startswith("-"):
        return [option for option in options if option.startswith("--")]
    return _positional(name, parser, before[1:])


def _positional(name: str, parser: Parser, before: Sequence[str]) -> Iterable[str]:
    given = _given(parser, before)
    if name == "ls" and given == ["attributes"]:
        return _runs(before)
    if given:
        return []
    if name == "export":
        return _runs(before)
    actions = [a for a in parser.actions if not a.option_strings and a.choices]
    return [str(c) for a in actions for c in a.choices or () if c != "words"]


def _given(parser: Parser, words: Sequence[str]) -> list[str]:
    """Return the words that are neither options nor their values."""
    options, given, is_value = options_of(parser), [], False
    for word in words:
        action = options.get(word)
        if action is None and not is_value and not word.startswith("-"):
            given.append(word)
        is_value = action is not None and action.nargs is None
    return given


def _values(action: argparse.Action, before: Sequence[str]) -> Iterable[str]:
    if action.choices:
        return [str(choice) for choice in action.choices]
    if action.dest == "project":
        return [row["slug"] for row in _fetched_rows("/projects", "projects")]
    if action.dest == "run":
        return _runs(before)
    return []


def _runs(before: Sequence[str]) -> Iterable[str]:
    """Return the names of the latest runs of the project in the command line."""
    named = dict(pairwise(before)).get("--project")
    requested = named or os.environ.get("SEAMARK_PROJECT") or "default"
    for row in _fetched_rows("/projects", "projects"):
        if requested in (row["slug"], row["name"], f"{row['workspace']}/{row['slug']}"):
            place = f"/projects/{row['workspace']}/{row['slug']}/runs"
            return [run["name"] for run in _fetched_rows(place, "runs", limit=_MOST)]
    return []


# Any: JSON.
def _fetched_rows(place: str, name: str, **query: object) -> list[dict[str, str]]:
    """Return the rows of a response; an empty list on any failure."""
    server = find_server(os.environ)
    if server is None:
        return []
    try:
        found = ask(server, place, itemgetter(name), query, seconds=_SECONDS)
    except AgentError:
        return []
    return found if isinstance(found, list) else []
