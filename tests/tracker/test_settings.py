from __future__ import annotations

import secrets
import threading
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from tracker import settings


def test_a_secret_may_come_from_a_file(tmp_path, monkeypatch):
    (tmp_path / "secret").write_text("from a file\n")
    monkeypatch.setenv("SEAMARK_SECRET_KEY", "from the environment")
    monkeypatch.setenv("SEAMARK_SECRET_KEY_FILE", str(tmp_path / "secret"))

    assert settings.text("SEAMARK_SECRET_KEY") == "from a file"


@pytest.mark.parametrize("value", ["", "-1", "1.5", "٣", "many"])
def test_a_number_that_is_none_is_refused_by_name(monkeypatch, value):
    monkeypatch.setenv("SEAMARK_PORT", value)

    with pytest.raises(ImproperlyConfigured, match="SEAMARK_PORT"):
        settings.integer("SEAMARK_PORT", 1)


def test_a_misspelt_setting_is_refused(monkeypatch):
    monkeypatch.setenv("SEAMARK_DATABASE", "x")

    with pytest.raises(ImproperlyConfigured, match="SEAMARK_DATABASE"):
        settings.refuse_unknown_names()


def test_settings_of_the_agent_may_share_the_environment(monkeypatch):
    monkeypatch.setenv("SEAMARK_TOKEN", "x")
    monkeypatch.setenv("SEAMARK_SECRET_KEY_FILE", "x")

    settings.refuse_unknown_names()


def test_the_secret_key_is_made_once_for_its_owner_alone(tmp_path):
    path = tmp_path / "secret-key"

    first = settings.stored_secret(path)

    assert settings.stored_secret(path) == first
    assert len(first) >= 50
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("secret", ["", "x" * 64, "0123456789abcdef" * 3, "secret"])
def test_a_secret_key_that_can_be_guessed_is_refused(secret):
    with pytest.raises(ImproperlyConfigured, match="openssl rand -hex 32"):
        settings.strong_secret(secret)


def test_the_secret_keys_that_pages_tell_to_make_are_strong(tmp_path):
    made = settings.stored_secret(tmp_path / "secret-key")
    openssl = secrets.token_hex(32)

    assert settings.strong_secret(made) == made
    assert settings.strong_secret(openssl) == openssl


def test_processes_that_start_at_once_agree_on_the_secret_key(tmp_path):
    found = []
    threads = [
        threading.Thread(
            target=lambda: found.append(settings.stored_secret(tmp_path / "key"))
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 8
    assert len(set(found)) == 1
    assert found[0]


def test_a_data_folder_inside_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(ImproperlyConfigured, match="cannot be written"):
        settings.usable_folder(tmp_path / "file/data")


def test_a_new_data_folder_is_for_its_owner_alone(tmp_path):
    folder = settings.usable_folder(tmp_path / "new/data")

    assert folder.stat().st_mode & 0o777 == 0o700
    assert folder.is_absolute()


def test_the_folder_for_tests_is_not_the_users(settings):
    assert "seamark-tests-" in str(settings.DATA_FOLDER)
    assert Path.home() not in settings.AGENT_FILE.parents


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("localhost", 200),
        ("evil.test", 400),
        ("localhost.evil.test", 400),
        ("[::1]", 200),
    ],
)
def test_only_listed_hosts_are_answered(client, host, status):
    response = client.get("/sign-in", headers={"host": host})

    assert response.status_code == status


def test_a_forwarded_host_changes_nothing(client):
    headers = {"host": "127.0.0.1", "x-forwarded-host": "evil.test"}

    response = client.get("/sign-in", headers=headers)

    assert response.status_code == 200
    assert "evil.test" not in response.content.decode()


def test_passwords_are_hashed_with_argon2():
    assert settings.PASSWORD_HASHERS[0].endswith(".Argon2PasswordHasher")


def test_groups_have_roles_and_names_with_colons(monkeypatch):
    monkeypatch.setenv("SEAMARK_OIDC_GROUPS", "urn:ml:leads:admin, *:viewer")

    pairs = settings.roles_by_group("SEAMARK_OIDC_GROUPS")

    assert pairs == [("urn:ml:leads", "admin"), ("*", "viewer")]


@pytest.mark.parametrize("value", ["ml-team", "ml-team:king", ":admin"])
def test_a_group_without_a_possible_role_is_refused(monkeypatch, value):
    monkeypatch.setenv("SEAMARK_OIDC_GROUPS", value)

    with pytest.raises(ImproperlyConfigured, match="SEAMARK_OIDC_GROUPS"):
        settings.roles_by_group("SEAMARK_OIDC_GROUPS")


def test_an_address_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("SEAMARK_PROXY_ADDRESSES", "10.0.0.0/8, proxy.local")

    with pytest.raises(ImproperlyConfigured, match="SEAMARK_PROXY_ADDRESSES"):
        settings.networks("SEAMARK_PROXY_ADDRESSES")
