"""Extracts the texts of the pages, and updates the messages of each language.

Runs Django's makemessages on a copy, because it writes files next to templates and
would fuzzy-match English texts. The output is reproducible, without dates and line
numbers, so that each difference is a changed text.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.management.utils import find_command

from web.languages import FOLDER

WEB = FOLDER.parent
DOMAINS = ("django", "djangojs")
# Folders without texts of ours.
IGNORED = shutil.ignore_patterns("locale", "vendor", "__pycache__", "fonts")
STABLE = ("--add-location=file", "--no-wrap")
PROGRAMS = ("xgettext", "msguniq", "msgmerge", "msgattrib", "msgfmt")
DATES = re.compile(r'^"(?:POT-Creation|PO-Revision)-Date: .*\n', re.MULTILINE)
HEADER = re.compile(r'\A(?:[^\n]*\n)*?msgid ""\nmsgstr ""\n(?:"[^\n]*\n)*')
# The header that gettext writes into a new language.
PLACEHOLDERS = re.compile(r"\A# SOME DESCRIPTIVE TITLE\.\n(?:#[^\n]*\n)*")
SOURCE_HEADER = r"""# The texts of the pages, as they are written. `manage.py texts` writes this.
msgid ""
msgstr ""
"Language: en\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Content-Transfer-Encoding: 8bit\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"
"""


class Command(BaseCommand):
    help = (
        "Update and compile the translation files of the pages in web/locale; create "
        "those of new languages."
    )
    # It touches neither the database nor the pages.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "languages", nargs="*", help="new languages, such as de or pt_BR"
        )
        parser.add_argument("--folder", type=Path, default=FOLDER)

    def handle(self, *_: Any, **options: Any) -> None:
        if missing := [name for name in PROGRAMS if find_command(name) is None]:
            raise CommandError(
                f"Install GNU gettext: there is no {', '.join(missing)}."
            )
        folder: Path = options["folder"]
        there = [each.name for each in folder.glob("*") if each.is_dir()]
        languages = sorted({settings.LANGUAGE_CODE, *there, *options["languages"]})
        with tempfile.TemporaryDirectory(prefix="seamark-texts-") as name:
            locale = _extract(Path(name), folder, languages)
            for language in languages:
                _bring_home(locale / language, folder / language)
                if language != settings.LANGUAGE_CODE:
                    _compile(folder / language)


def _extract(copy: Path, folder: Path, languages: list[str]) -> Path:
    """Run Django's command on a copy of the pages; return its folder of languages."""
    shutil.copytree(WEB, copy / WEB.name, ignore=IGNORED)
    locale = copy / "locale"
    locale.mkdir()
    for language in languages:
        # English is extracted from scratch: a merge would fuzzy-match removed texts.
        if language != settings.LANGUAGE_CODE and (folder / language).exists():
            shutil.copytree(folder / language, locale / language)
    names = [part for language in languages for part in ("--locale", language)]
    for domain in DOMAINS:
        _run(
            *(sys.executable, "-m", "django", "makemessages", "--domain", domain),
            *(*names, *STABLE),
            cwd=copy,
        )
    return locale


def _bring_home(made: Path, folder: Path) -> None:
    target = folder / "LC_MESSAGES"
    target.mkdir(parents=True, exist_ok=True)
    for domain in DOMAINS:
        text = (made / "LC_MESSAGES" / f"{domain}.po").read_text(encoding="utf-8")
        if folder.name == settings.LANGUAGE_CODE:
            text = HEADER.sub(lambda _: SOURCE_HEADER, text, count=1)
        text = PLACEHOLDERS.sub("", DATES.sub("", text))
        (target / f"{domain}.po").write_text(text, encoding="utf-8")


def _compile(folder: Path) -> None:
    for domain in DOMAINS:
        source = folder / "LC_MESSAGES" / f"{domain}.po"
        target = source.with_suffix(".mo")
        _run("msgfmt", "--check-format", "-o", str(target), str(source), cwd=folder)


def _run(*command: str, cwd: Path) -> None:
    # makemessages needs no settings, and the copy has none.
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": ""}
    result = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode:
        raise CommandError(result.stderr.strip() or result.stdout.strip())
