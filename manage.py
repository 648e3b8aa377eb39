#!/usr/bin/env python3
"""Runs Seamark's commands, and first creates the environment they need.

The syntax is that of Python 3.6, so that an old Python can report that it is too old. Everything else is in tracker/embedded/environment.py and the commands.
"""

import os
import sys

OLDEST_PYTHON = (3, 11)

COMMANDS = [
    ("demo", "Run the example pipeline and show it in a server on this machine."),
    ("up", "Start the server on this machine."),
    ("link", "Print a one-time sign-in link."),
    ("user", "List, create, deactivate and reactivate accounts."),
    ("invite", "Print an invitation link; with an address, also email it."),
    ("member", "List the members of a workspace, change roles, and remove members."),
    ("key", "List, create and revoke API keys."),
    ("service-account", "List, create and delete service accounts."),
    ("workspace", "List, create and rename workspaces; require a second factor."),
    ("project", "List, create, archive and delete projects; move runs between them."),
    ("doctor", "Check for damaged data and unsafe settings."),
    ("shrink", "Shrink the SQLite file by reclaiming the space of deleted data."),
    ("test", "Check the code and run the tests, on SQLite and on PostgreSQL."),
    ("lock", "Pin every package that requirements*.in need, with hashes."),
    ("docs", "Build the documentation that the server shows at /help/."),
    ("texts", "Update the translation files of the pages and compile them."),
    (
        "screenshots",
        "Take the documentation's screenshots of the demo, or of `--all` or `--main` pages.",
    ),
    ("migrate", "Apply database migrations."),
    (
        "prepare",
        "Create the database, its owner and the SDK's API key; `up` does this too.",
    ),
    ("serve", "Run only the web server, for team installations."),
    ("worker", "Run only the background worker, for team installations."),
    ("scheduler", "Run only the scheduler, for team installations; start only one."),
    ("help", "List the commands; `help <command>` explains one."),
]
# Options that settings must know before Django loads them.
OPTIONS = {
    "--data": "SEAMARK_DATA",
    "--port": "SEAMARK_PORT",
    "--bind": "SEAMARK_BIND",
}
COMMANDS_WITH_OPTIONS = (
    "demo",
    "up",
    "link",
    "user",
    "invite",
    "member",
    "key",
    "service-account",
    "workspace",
    "project",
    "serve",
)


def main(arguments: list) -> int:  # type: ignore[type-arg] # list[str] is newer
    if sys.version_info[:2] < OLDEST_PYTHON:
        oldest, this = (
            ".".join(map(str, version))
            for version in (OLDEST_PYTHON, sys.version_info[:2])
        )
        sys.stderr.write(f"Seamark needs Python {oldest} or later; this is {this}.\n")
        return 1
    if arguments in ([], ["help"], ["--help"], ["-h"]):
        print_help()
        return 0

    from tracker.embedded import environment
    from tracker.embedded.refusal import Refusal

    try:
        environment.enter(arguments)
        return run(arguments)
    except Refusal as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 1


def print_help() -> None:
    print("Usage: python3 manage.py <command> [options]\n")
    for name, sentence in COMMANDS:
        print(f"  {name:16} {sentence}")
    print("\nDjango's own commands work too: python3 manage.py help --commands")


def run(arguments: list) -> int:  # type: ignore[type-arg] # list[str] is newer
    """Run a command in the prepared environment."""
    if arguments[0] == "test":
        from tests.__main__ import main as run_tests

        return run_tests(arguments[1:])

    if arguments[0] == "docs":
        from web.pages.help.build import main as build_docs

        return build_docs()

    if arguments[0] == "screenshots" and len(arguments) > 1:
        from tests.every_picture import main as take_every_picture
        from tests.main_pictures import main as take_main_pictures

        is_main = "--main" in arguments
        return (take_main_pictures if is_main else take_every_picture)(arguments[1:])

    if arguments[0] in COMMANDS_WITH_OPTIONS:
        os.environ.update(settings_from(arguments))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tracker.settings")

    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        # Reading one setting loads them all.
        bool(settings.DATA_FOLDER)
    except ImproperlyConfigured as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if arguments[0] == "screenshots":
        import django

        django.setup()
        from tests.screenshots import main as take_screenshots

        return take_screenshots()
    execute_from_command_line(["manage.py", *arguments])
    return 0


def settings_from(arguments: list) -> dict:  # type: ignore[type-arg] # as above
    """Return options such as `--port 80` as environment variables."""
    found = {}
    for position, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in OPTIONS and not equals:
            value = "".join(arguments[position + 1 : position + 2])
        if name in OPTIONS and value:
            found[OPTIONS[name]] = value
    return found


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
