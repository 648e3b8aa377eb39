"""The SDK at /sdk/: a source distribution for pip, for every visitor."""

from __future__ import annotations

import io
import re
import tarfile
from pathlib import Path

import pytest
import tomllib
from django.test import Client

from tests.builders import make_member
from web.pages.sdk import source_archive as module
from web.pages.sdk.source_archive import source_archive

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[4]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAME = f"seamark-{PROJECT['version']}.tar.gz"
ADDRESS = f"/sdk/{NAME}"


def files_of(content: bytes) -> dict[str, bytes]:
    """Return the files of the archive by their path below its folder."""
    folder = f"{NAME.removesuffix('.tar.gz')}/"
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        members = archive.getmembers()
        assert all(m.isfile() and m.name.startswith(folder) for m in members)
        return {
            member.name.removeprefix(folder): archive.extractfile(member).read()
            for member in members
        }


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A copy of a few files, in which tests may add others."""
    for name in ("pyproject.toml", "LICENSE", "agent/README.md", "agent/version.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((ROOT / name).read_bytes())
    (tmp_path / "agent/alias").mkdir()
    (tmp_path / "agent/alias/__init__.py").write_text("")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "SOURCES", tmp_path / "agent")
    return tmp_path


def test_a_visitor_without_a_session_gets_the_sdk():
    response = Client().get(ADDRESS)

    assert response.status_code == 200
    assert response["Content-Type"] == "application/gzip"
    assert "Set-Cookie" not in response.headers
    assert len(response.content) < 1_000_000
    assert set(response.cookies) == set()


def test_it_holds_both_packages_and_the_files_of_a_build():
    files = files_of(Client().get(ADDRESS).content)

    packages = {
        f"seamark/{path.relative_to(ROOT / 'agent')}"
        for path in (ROOT / "agent").rglob("*.py")
    }
    aliases = {name for name in packages if name.startswith("seamark/alias/")}
    packages -= aliases
    others = {"PKG-INFO", "LICENSE", "pyproject.toml", "seamark/py.typed"}
    others |= {"agent/README.md", "agent/alias/py.typed"}
    expected = {name.replace("seamark/", "agent/", 1) for name in aliases}
    assert files.keys() == packages | expected | others
    assert files["seamark/version.py"] == (ROOT / "agent/version.py").read_bytes()


def test_the_metadata_are_those_of_the_project():
    lines = files_of(Client().get(ADDRESS).content)["PKG-INFO"].decode().splitlines()

    assert "Name: seamark" in lines
    assert f"Version: {PROJECT['version']}" in lines
    assert f"Requires-Python: {PROJECT['requires-python']}" in lines
    required = [line for line in lines if line.startswith("Requires-Dist: ")]
    assert required == [f"Requires-Dist: {each}" for each in PROJECT["dependencies"]]


def test_other_files_of_a_checkout_stay_on_the_server(checkout):
    for name in ("notes.txt", "old.pyc", ".env", "__pycache__/version.pyc"):
        path = checkout / "agent" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("private")
    (checkout / "tracker").mkdir()
    (checkout / "tracker/settings.py").write_text("private")

    content = source_archive.__wrapped__().content

    assert files_of(content).keys() == {
        "PKG-INFO",
        "LICENSE",
        "pyproject.toml",
        "agent/README.md",
        "agent/alias/__init__.py",
        "seamark/version.py",
    }


def test_the_same_files_give_the_same_bytes(checkout):
    first = source_archive.__wrapped__()
    for path in checkout.rglob("*"):
        path.touch()
    (checkout / "agent/version.py").chmod(0o600)

    assert source_archive.__wrapped__() == first


def test_each_process_builds_it_once():
    assert source_archive() is source_archive()


def test_clients_keep_it_until_it_changes():
    client = Client()
    whole = client.get(ADDRESS)
    again = client.get(ADDRESS, headers={"If-None-Match": whole["ETag"]})

    assert whole["Cache-Control"] == "public, no-cache"
    assert (again.status_code, again.content) == (304, b"")


def test_head_answers_without_the_content():
    whole, head = Client().get(ADDRESS), Client().head(ADDRESS)

    assert (head.status_code, head.content) == (200, b"")
    assert head["Content-Length"] == str(len(whole.content))
    assert head["ETag"] == whole["ETag"]


@pytest.mark.parametrize("name", ["seamark-9.9.9.tar.gz", "other-0.1.0.tar.gz", "x"])
def test_for_another_version_it_names_its_own(name, settings):
    settings.PUBLIC_URL = "https://seamark.example.org"

    response = Client().get(f"/sdk/{name}")

    assert response.status_code == 404
    assert response.content.decode() == (
        f"This server has {NAME} only. Install it with:"
        f" pip install https://seamark.example.org/sdk/{NAME}\n"
    )


@pytest.mark.parametrize("is_signed_in", [False, True])
def test_the_page_has_the_command_and_a_link_with_a_digest(
    is_signed_in, client_of, settings
):
    settings.PUBLIC_URL = "https://seamark.example.org"
    client = client_of(make_member("vic", role="viewer")) if is_signed_in else Client()

    page = client.get("/sdk/").content.decode()

    assert f"pip install https://seamark.example.org{ADDRESS}" in page
    assert "seamark login --url https://seamark.example.org<" in page
    assert f"seamark @ https://seamark.example.org{ADDRESS}" in page
    (link,) = re.findall(rf'href="{re.escape(ADDRESS)}#sha256=([0-9a-f]+)"', page)
    assert link == source_archive().sha256


def test_the_documentation_has_this_version():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {
        name
        for page in pages
        for name in re.findall(r"/sdk/(\S+?\.tar\.gz)", page.read_text("utf-8"))
    }

    assert named == {NAME}
