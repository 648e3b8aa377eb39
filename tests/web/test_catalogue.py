"""The texts of the pages lie in one place, as they are written."""

from __future__ import annotations

import re
import shutil

import pytest
from django.core.management import CommandError, call_command

from web.languages import FOLDER
from web.management.commands.texts import DOMAINS, PROGRAMS, WEB

missing = [name for name in PROGRAMS if shutil.which(name) is None]
needs_gettext = pytest.mark.skipif(
    bool(missing), reason=f"there is no {', '.join(missing)}; install GNU gettext"
)
# A call with a literal text, on one or more lines.
CALL = re.compile(r'\bn?gettext\(\s*"((?:[^"\\]|\\.)*)"')


def catalogue(folder, language, domain):
    return (folder / language / "LC_MESSAGES" / f"{domain}.po").read_text()


@needs_gettext
def test_the_committed_catalogue_is_what_the_command_writes(tmp_path):
    call_command("texts", folder=tmp_path)

    for domain in DOMAINS:
        written = catalogue(tmp_path, "en", domain)
        assert written == catalogue(FOLDER, "en", domain), "run: manage.py texts"


@needs_gettext
def test_a_language_is_made_kept_and_compiled(tmp_path):
    call_command("texts", "de", folder=tmp_path)
    source = tmp_path / "de" / "LC_MESSAGES" / "django.po"
    untold = 'msgid "Page not found"\nmsgstr ""'
    assert untold in source.read_text()
    translated = source.read_text().replace(untold, untold[:-2] + '"Hier ist nichts"')
    source.write_text(translated + '\nmsgid "A text that went"\nmsgstr "Weg"\n')

    call_command("texts", folder=tmp_path)

    text = source.read_text()
    assert 'msgid "Page not found"\nmsgstr "Hier ist nichts"' in text
    # Kept in case the text returns.
    assert '#~ msgid "A text that went"' in text
    assert "fuzzy" not in text
    assert source.with_suffix(".mo").stat().st_size
    assert not (tmp_path / "en" / "LC_MESSAGES" / "django.mo").exists()


def test_without_gettext_the_command_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(CommandError, match="Install GNU gettext"):
        call_command("texts", folder=tmp_path)


def test_every_text_of_a_script_is_gathered():
    """xgettext reads a language without regular expressions and templates."""
    catalogue_text = catalogue(FOLDER, "en", "djangojs").replace('"\n"', "")
    scripts = (WEB / "static" / "web" / "js").rglob("*.js")
    called = {text for path in scripts for text in CALL.findall(path.read_text())}

    assert called
    assert [text for text in sorted(called) if f'"{text}"' not in catalogue_text] == []
