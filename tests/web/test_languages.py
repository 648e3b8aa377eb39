"""Pages use the browser's language if available, otherwise English."""

from __future__ import annotations

import shutil
import subprocess
from http import HTTPStatus

import pytest
from django.conf import settings as configured
from django.test import Client
from django.utils import translation

from tests.builders import make_project, make_run, write_series
from tests.web.languages import languages
from tracker.settings import translated_languages
from web.languages import script_address, version

pytestmark = pytest.mark.django_db

HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'
# German, as far as this test has learned it.
PAGES = """
msgid "Page not found"
msgstr "Hier ist nichts"

msgid "step"
msgstr "Schritt"

msgid "Note saved."
msgstr "Die Notiz ist aufbewahrt."
"""
SCRIPTS = """
msgid "Copied"
msgstr "Kopiert"

msgid "%(count)s group"
msgid_plural "%(count)s groups"
msgstr[0] "%(count)s Gruppe"
msgstr[1] "%(count)s Gruppen"
"""
GERMAN = {"accept-language": "de-AT,de;q=0.9,en;q=0.5"}
NOWHERE = "/nowhere"


@pytest.fixture
def german(tmp_path):
    """A second language, from texts that were really compiled."""
    if shutil.which("msgfmt") is None:
        pytest.skip("there is no msgfmt; install GNU gettext")
    folder = tmp_path / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    for domain, texts in {"django": PAGES, "djangojs": SCRIPTS}.items():
        source = folder / f"{domain}.po"
        source.write_text(HEADER + texts)
        target = source.with_suffix(".mo")
        subprocess.run(["msgfmt", "-o", str(target), str(source)], check=True)
    with languages("de", folder=tmp_path):
        yield


def varies_by_language(response):
    return "accept-language" in response.get("Vary", "").lower()


@pytest.fixture
def only_english():
    with languages():
        yield


def test_with_one_language_nothing_is_asked(only_english, member, client_of):
    project = make_project(member)

    for path in ("/sign-in", NOWHERE, f"/w/{project.workspace.slug}/{project.slug}/"):
        response = client_of(member).get(path, headers=GERMAN, follow=True)

        assert not varies_by_language(response)
        assert "Content-Language" not in response
        assert b"/texts/" not in response.content


def test_pages_speak_the_language_of_the_browser(german):
    response = Client().get(NOWHERE, headers=GERMAN)

    page = response.content.decode()
    assert '<html lang="de" dir="ltr"' in page
    assert "Hier ist nichts" in page
    assert response["Content-Language"] == "de"
    assert varies_by_language(response)


@pytest.mark.parametrize("wanted", ["en", "fr, it;q=0.5", "", "x" * 5_000, "*"])
def test_whoever_wants_another_gets_english(german, wanted):
    Client().get(NOWHERE, headers=GERMAN)

    response = Client().get(NOWHERE, headers={"accept-language": wanted})

    page = response.content.decode()
    assert '<html lang="en" dir="ltr"' in page
    assert "Page not found" in page
    assert "/texts/" not in page
    assert varies_by_language(response)


def test_lines_begin_where_the_language_has_them_begin():
    with languages("he"):
        response = Client().get(NOWHERE, headers={"accept-language": "he"})

    page = response.content.decode()
    assert '<html lang="he" dir="rtl"' in page


@pytest.mark.database
def test_figures_are_told_apart_by_their_language(german, member, client_of):
    run = make_run(make_project(member))
    write_series(run, "loss", [3.0, 2.0, 1.0])
    client, path = client_of(member), f"/runs/{run.id}/figures/series?path=loss"

    def asked(**headers):
        return client.get(path, headers=headers)

    english, spoken = asked(), asked(**GERMAN)

    assert english.json()["layout"]["xaxis"]["title"]["text"] == "step"
    assert spoken.json()["layout"]["xaxis"]["title"]["text"] == "Schritt"
    assert english["ETag"] != spoken["ETag"]
    # The answer cache is separate for each language.
    assert asked().content == english.content
    cached = {"if-none-match": english["ETag"]}
    assert asked(**cached).status_code == HTTPStatus.NOT_MODIFIED
    assert asked(**cached, **GERMAN).status_code == HTTPStatus.OK


@pytest.mark.parametrize("path", ["/api/v1/projects", "/api/v1/nowhere", "/livez"])
def test_programs_are_answered_in_english(german, member, client_of, path):
    client = client_of(member)
    english = client.get(path)
    client.get(NOWHERE, headers=GERMAN)

    response = client.get(path, headers=GERMAN)

    assert response.content == english.content
    assert not varies_by_language(response)
    assert "Content-Language" not in response


def test_pages_load_what_their_scripts_say(german):
    page = Client().get(NOWHERE, headers=GERMAN).content.decode()
    with translation.override("de"):
        address = script_address()

    assert f'<script src="{address}"></script>' in page
    # Before the modules, which take it from there.
    assert page.index(address) < page.index('type="module"')


def test_what_scripts_say_is_kept_under_an_address_with_its_version(german):
    response = Client().get(
        f"/texts/de/{version()}.js", headers={"accept-language": "en"}
    )

    text = response.content.decode()
    assert '"Copied": "Kopiert"' in text
    assert '"%(count)s Gruppe"' in text
    assert response["Content-Type"].startswith("text/javascript")
    assert "immutable" in response["Cache-Control"]


def test_an_older_version_gets_what_there_is_now(german):
    response = Client().get(f"/texts/de/{'0' * 12}.js")

    assert "Kopiert" in response.content.decode()
    assert response["Cache-Control"] == "public, max-age=60"


def test_there_are_no_texts_of_languages_that_there_are_not(german):
    assert Client().get(f"/texts/fr/{version()}.js").status_code == 404


def test_a_language_is_a_folder_with_compiled_texts():
    assert [("en", "English"), *translated_languages()] == configured.LANGUAGES
    assert configured.LANGUAGE_CODE not in dict(translated_languages())
