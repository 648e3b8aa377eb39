"""Parses command lines, with suggestions for misspelled words."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn, Protocol

from seamark.commands.output import MISUSED, Refusal, aligned, say
from seamark.version import VERSION

JSON = "print one JSON object instead of text"
_CHOICES = re.compile(r"argument ([^:]+): invalid choice: (.+?) \(choose from (.*)\)")


class Command(Protocol):
    """The interface of a command module."""

    HELP: str

    @property
    def EXAMPLES(self) -> Sequence[str]:  # noqa: N802 - a constant of the module
        """Examples, as typed on the command line."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""

    def perform(self, chosen: argparse.Namespace) -> int:
        """Run the command and return the exit code."""


class Parser(argparse.ArgumentParser):
    """Raises on errors, so that they can be printed as JSON."""

    @property
    def actions(self) -> list[argparse.Action]:
        """All actions, in the order in which they were added."""
        return self._actions

    def error(self, message: str) -> NoReturn:
        raise Refusal(
            "invalid_usage",
            f"{_of_choices(message)}. See `{self.prog} --help`.",
            MISUSED,
        )


def parser_of(name: str, command: Command) -> Parser:
    """Return the parser of one command."""
    examples = "".join(f"  {example}\n" for example in command.EXAMPLES)
    parser = Parser(
        prog=f"seamark {name}",
        description=command.__doc__,
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        # A unique abbreviation could become ambiguous in a later version.
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help=JSON)
    return parser


def parse(
    words: Sequence[str], commands: Mapping[str, Command]
) -> tuple[str | None, argparse.Namespace]:
    """Return the command, or None if none was named, and its arguments."""
    if words[:1] == ["help"]:
        words = [*words[1:3], "--help"]
    if group := _group_of_help(words, commands):
        _print_group(group, commands)
        raise SystemExit(0)
    name, rest = named_command(words, commands)
    if name is None:
        parser = Parser(prog="seamark", add_help=False, allow_abbrev=False)
        for option in GENERAL:
            parser.add_argument(*option.split(", "), action="store_true")
        chosen, unknown = parser.parse_known_args(words)
        _refuse_unknown(parser, unknown)
        return None, chosen
    if name not in commands:
        hint = nearest(name, commands)
        raise Refusal(
            "invalid_usage",
            f"Unknown command {name!a}{hint}. `seamark` lists all commands.",
            MISUSED,
        )
    parser = parser_of(name, commands[name])
    _refuse_unknown(parser, _unknown_options(parser, rest))
    chosen, unknown = parser.parse_known_args(rest)
    _refuse_unknown(parser, unknown)
    return name, chosen


def named_command(
    words: Sequence[str], commands: Iterable[str]
) -> tuple[str | None, Sequence[str]]:
    """Return the command, of one or two words, and the words after it."""
    if not words or words[0].startswith("-"):
        return None, words
    kinds = [name.split()[1] for name in commands if name.startswith(f"{words[0]} ")]
    if not kinds:
        return words[0], words[1:]
    second = words[1] if len(words) > 1 else ""
    if second in kinds:
        return f"{words[0]} {second}", words[2:]
    wrong = f" Not {second!a}{nearest(second, kinds)}." if second else ""
    raise Refusal(
        "invalid_usage",
        f"`seamark {words[0]}` must be followed by one of {', '.join(kinds)}.{wrong}",
        MISUSED,
    )


def _group_of_help(words: Sequence[str], commands: Iterable[str]) -> str | None:
    """Return the first word of commands of two words, if their help is requested."""
    is_group = (
        any(name.startswith(f"{words[0]} ") for name in commands) if words else False
    )
    return words[0] if is_group and words[1:2] in (["-h"], ["--help"]) else None


def _print_group(group: str, commands: Mapping[str, Command]) -> None:
    own = [
        (name, c.HELP) for name, c in commands.items() if name.startswith(f"{group} ")
    ]
    say(f"usage: seamark {group} {{{','.join(name.split()[1] for name, _ in own)}}} …")
    say()
    for line in aligned(own):
        say(line)
    say()
    say(f"`seamark {own[0][0]} --help` shows the arguments of a command.")


# Options of `seamark` without a command.
GENERAL = {
    "-h, --help": "show commands and first steps",
    "--version": f"print the version ({VERSION})",
    "--json": JSON,
}


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a suggestion for a misspelled word, as part of a sentence, or ""."""
    found = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f" (did you mean {found[0]}?)" if found else ""


def options_of(parser: Parser) -> dict[str, argparse.Action]:
    """Return every option by each of its names."""
    return {name: action for action in parser.actions for name in action.option_strings}


def _unknown_options(parser: Parser, words: Sequence[str]) -> list[str]:
    """Return unknown options, for which argparse would report their values."""
    options = options_of(parser)
    is_followed_by_anything = any(
        action.nargs == argparse.REMAINDER for action in parser.actions
    )
    is_value = False
    for word in words:
        if word == "--" or (
            is_followed_by_anything and not is_value and not word.startswith("-")
        ):
            break
        action = options.get(word)
        is_option = word.startswith("--") and not is_value
        if is_option and word.partition("=")[0] not in options:
            return [word]
        is_value = not is_value and action is not None and action.nargs is None
    return []


def _refuse_unknown(parser: Parser, unknown: Sequence[str]) -> None:
    if not unknown:
        return
    word = unknown[0]
    if not word.startswith("-"):
        parser.error(f"unexpected argument {word!a}")
    name = word.partition("=")[0]
    parser.error(f"unknown option {name}{nearest(name, options_of(parser))}")


def _of_choices(message: str) -> str:
    """Rewrite argparse's message on choices, with a suggestion."""
    found = _CHOICES.fullmatch(message)
    if found is None:
        return message
    option, given, listed = found.groups()
    known = re.findall(r"[\w-]+", listed)
    hint = nearest(given.strip("'\""), known)
    return f"{option}: unknown choice {given}{hint}; choose from {', '.join(known)}"
