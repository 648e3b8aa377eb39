from __future__ import annotations

import time

import pytest

from seamark.capture.texts import REDACTED as MARK
from seamark.redaction import (
    Redactor,
    redacted,
    redacted_arguments,
    secret_values,
)
from tests.agent.planted import FALSE_REDACTIONS, HARMLESS, SECRETS


@pytest.mark.parametrize("name", SECRETS)
def test_every_planted_secret_is_taken_out(name):
    text, secret = SECRETS[name]

    shown = redacted(f"before {text} after")

    assert secret not in shown
    assert MARK in shown
    assert shown.startswith("before ")


@pytest.mark.parametrize("text", HARMLESS)
def test_what_training_scripts_say_stays_as_it_is(text):
    assert redacted(text) == text


@pytest.mark.parametrize("text", FALSE_REDACTIONS)
def test_known_false_redactions_are_these(text):
    # Unwanted false positives of the rules; keep the list short.
    assert redacted(text) != text


def test_what_the_environment_holds_under_a_secrets_name_is_known_by_its_value():
    environment = {"DEPLOY_TOKEN": "correct horse battery", "HOME": "/home/someone"}
    redact = Redactor(secret_values(environment))

    assert redact("it is correct horse battery!") == f"it is {MARK}!"
    assert redact("/home/someone") == "/home/someone"


@pytest.mark.parametrize(
    "secret",
    [
        "$tr0ng-Passw0rd",
        "$ecret_horse",
        "%pa55 word%",
        "args.of.a.horse",
        "/correct/horse",
        "~battery~staple",
        "\\staple\\horse",
        "horse.json",
        "<horse> & [STAPLE]",
    ],
)
def test_a_secret_is_known_by_its_value_whatever_it_looks_like(secret):
    redact = Redactor(secret_values({"DB_PASSWORD": f" {secret}\n"}))

    assert redact(f"sent {secret} to it") == f"sent {MARK} to it"


def test_of_a_secret_of_several_lines_each_is_known():
    key = "-----BEGIN PRIVATE KEY-----\nc29tZXRoaW5n\r\nZWxzZSBlbnRpcmVseQ==\n"
    redact = Redactor(
        secret_values({"DEPLOY_KEY": f"{key}-----END PRIVATE KEY-----\n"})
    )

    assert redact("> c29tZXRoaW5n") == f"> {MARK}"
    assert redact("> ZWxzZSBlbnRpcmVseQ==") == f"> {MARK}"
    # The identifiers of other keys stay.
    assert "b3RoZXIgb25l" not in redact("-----BEGIN PRIVATE KEY-----\nb3RoZXIgb25l")


def test_of_very_many_lines_no_shorter_secret_is_forgotten():
    key = "\n".join(f"{number:064}a" for number in range(500))
    redact = Redactor(secret_values({"DEPLOY_KEY": key, "PASSWORD": "hunter22"}))

    assert redact("hunter22") == MARK


def test_a_password_that_begins_as_a_template_is_known_by_its_name():
    assert "Passw0rd" not in redacted("DB_PASSWORD=$tr0ng-Passw0rd")
    assert "Passw0rd" not in redacted("password: '%tr0ng-Passw0rd'")
    for template in ("$PASSWORD", "${PASSWORD}", "$(cat key)", "%s", "%(password)s"):
        assert redacted(f"password='{template}'") == f"password='{template}'"


def test_values_that_are_no_secrets_are_not_searched_for():
    environment = {
        "TOKEN": "none",
        "API_KEY": "short",
        "SECRET": "required",
        "SEED_SECRET": "1234567890",
        "EOS_TOKEN": "<|endoftext|>",
        "PASSWORD": "----------",
        "SECRET_FILE": "/run/secret.txt",
        "SECRETS_ROOT": "/workspace",
        "GOOGLE_APPLICATION_CREDENTIALS": "/home/me/key.json",
        "PWD": "/home/me/project",
        "OLDPWD": "/home/me",
    }
    text = " ".join(environment.values())

    assert Redactor(secret_values(environment))(text) == text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--token", "12345678"], ["--token", MARK]),
        (["--api-key=k3yk3yk3y"], [f"--api-key={MARK}"]),
        (["--hf_token", "abc", "--lr", "0.1"], ["--hf_token", MARK, "--lr", "0.1"]),
        (["--password", "--verbose"], ["--password", "--verbose"]),
        (["--max-tokens", "512"], ["--max-tokens", "512"]),
        (["--tokenizer", "gpt2"], ["--tokenizer", "gpt2"]),
        (["--pad-token-id", "0"], ["--pad-token-id", "0"]),
    ],
)
def test_arguments_after_a_secrets_name_are_taken_out(arguments, expected):
    assert redacted_arguments(arguments) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a" * 500_000,
        "password" * 60_000,
        "token=" * 80_000,
        "://" + "a" * 500_000,
        "://a:" * 100_000,
        "-----BEGIN PRIVATE KEY-----\n" * 20_000,
        "eyJ" * 150_000,
        "machine " * 60_000,
        "login " * 80_000,
        " " * 500_000,
        "\\" * 500_000,
        'token="' + "\\" * 400_000,
        "wandb login " * 40_000,
    ],
    ids=lambda text: text[:12],
)
def test_no_text_takes_long(text):
    began = time.monotonic()
    redacted(text)

    # Quadratic time would be minutes.
    assert time.monotonic() - began < 10
