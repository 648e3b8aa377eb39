"""Writes docs/commands.md from the commands: python -m seamark.commands.reference."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Collection

from seamark.commands import COMMANDS
from seamark.commands.parsing import GENERAL, JSON, Command, parser_of

_HEAD = """\
# Commands

`seamark` comes with the SDK: `pip install https://seamark.example.org/sdk/seamark-0.1.0.tar.gz`, with your server's URL, into the environment that training uses.
From a checkout, without installing anything, the same is `python -m seamark`.
Without a command it lists the commands and shows the configured server and undelivered data.

<!-- Written by `python -m seamark.commands.reference > docs/commands.md`; a test compares. -->
"""
_COMMON = """\
## All commands

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | failed, completely or in part: standard error has the reason and a fix. `sync`: undelivered data is left; `doctor`: there is a problem |
| 2 | usage error: an unknown command or option, or an invalid setting |
| 130 | interrupted by Ctrl-C |
| 141 | the reader of the output has closed the pipe, as in `seamark ls \\| head` |

`seamark run` ends with its program's exit code instead: 128 plus the signal's number if a signal ended it (after Ctrl-C, `seamark run` ends by SIGINT too, so that a shell loop stops), 127 if the program is not found, 126 if it cannot be started.

- `--json` makes a command print one JSON object. Fields are stable; later versions may add some. A failure is `{"error": {"code": …, "message": …}}`, with the same exit code; [codes](how-to/http-api.md#conventions) are the API's, or others such as `no_answer`, `invalid_usage` and `invalid_setting`.
- Colors appear only on terminals, unless `NO_COLOR` is set or `TERM` is `dumb`.
- Control characters in names of runs and paths are shown as escapes such as `\\x1b`.
- Options cannot be abbreviated: write `--project` in full.
"""
_FIELDS = """\
## What `--json` prints

| command | fields |
|---|---|
| none | `version`, `server` (URL or null), `has_token`, `spools`, `commands` |
| `login` | `url`, `file`, `user`, `scope`, `workspaces` (each `slug`, `name`, `role`), `version` (the server's, or null) |
| `logout` | `url`, `file`, `was_stored` |
| `run`, `watch` | on the last line of standard error: `run`, `project`, `stage`; of `run` also `exit_code` and `failure` |
| `status` | `folder`, `spools`: each `id`, `run`, `is_in_use`, `pending_bytes`, `points_in_memory`, `seconds_since_written` |
| `sync` | `folder`, `left`: each `id`, `run`, `reason`, `in_use`: each `id`, `run`, `pending_bytes`; with `--discard`, `folder` and `discarded`: ids |
| `doctor` | `ok`, `checks`: each `name`, `state` (`ok`, `note`, `problem`), `text`, `advice` |
| `ls projects` | `projects`, as in the API |
| `ls runs` | `runs`: each `id`, `name`, `state`, `started_at`, `ended_at`, `tags`, `attributes` by path; `more` if `--limit` left some out |
| `ls attributes` | `run`, `attributes`, as in the API |
| `export` | `folder`, `runs`: as `ls runs`, with `folder`, `was_there` and `settled`; `failed`: each `id`, `name`, `code`, `message` |
| `import …` | `run`, `project`, `stage`, `points`, `from`, `to`, `not_understood`: each `file`, `cause`, `lines` (the first), `count`; of several runs `runs` and `failed`: each `run`, `code`, `message` |
| `completion` | `shell`, `script` |
| `up` | no JSON: the server prints its own output |
"""
# Options that at least so many commands have are listed once.
_SHARED = 4


def reference() -> str:
    """Return the page."""
    options = Counter(
        option for name, c in COMMANDS.items() for option in _options(name, c)
    )
    of_a_run = _options("run", COMMANDS["run"])
    shared = [option for option in of_a_run if options[option] >= _SHARED]
    parts = [_HEAD, _summary(), _COMMON, "## Options of a run\n", *shared, "", _FIELDS]
    parts += [_section(name, command, shared) for name, command in COMMANDS.items()]
    return "\n".join(parts)


def _summary() -> str:
    rows = [
        f"| [`{name}`](#seamark-{name.replace(' ', '-')}) | {c.HELP} |"
        for name, c in COMMANDS.items()
    ]
    options = [f"| `{option}` | {_cell(text)} |" for option, text in GENERAL.items()]
    return "\n".join(["| command | does |", "|---|---|", *rows, *options, ""])


def _section(name: str, command: Command, shared: Collection[str]) -> str:
    lines = [f"## `seamark {name}`", "", (command.__doc__ or "").strip(), ""]
    lines += ["```bash", *command.EXAMPLES, "```", ""]
    options = _options(name, command)
    own = [option for option in options if option not in shared]
    if len(own) + 2 < len(options):
        own.append("- the [options of a run](#options-of-a-run)")
    else:
        own = options
    return "\n".join([*lines, *own, ""] if own else lines)


def _options(name: str, command: Command) -> list[str]:
    """Return the arguments of a command as lines of a list."""
    return [
        f"- `{_written(action)}`: {action.help}"
        for action in parser_of(name, command).actions
        if action.help not in (argparse.SUPPRESS, JSON) and action.dest != "help"
    ]


def _written(action: argparse.Action) -> str:
    takes_value = action.nargs != 0
    shown = action.metavar or action.dest.upper()
    if action.choices:
        shown = "|".join(str(choice) for choice in action.choices if choice != "words")
    if not action.option_strings:
        return f"[{shown}]" if action.nargs == "?" else str(shown)
    return (
        f"{action.option_strings[0]} {shown}"
        if takes_value
        else action.option_strings[0]
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(reference())
