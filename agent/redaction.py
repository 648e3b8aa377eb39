"""Removes secrets from text before it leaves the machine.

A secret is recognized by its shape (tokens of cloud and hub services), by its name
(`password=…`), or by its value (environment variables with such names). Others are not
recognized. Every repetition in the expressions is bounded: the time is proportional to
the length of the text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence

from seamark.capture.texts import REDACTED as MARK

# A shorter value is as likely to be an ordinary word.
_SHORTEST_KNOWN = 8  # characters
_MAX_KNOWN = 200

# By shape: token prefixes chosen by their issuers. Each has a hint that the text must
# contain, searched first because expressions are slow.
_SHAPES = tuple(
    (hint, re.compile(shape))
    for hints, shape in (
        # Seamark's tokens and sign-in links.
        ("smk_", r"smk_[\w-]{6,}"),
        ("sml_", r"sml_[\w-]{6,}"),
        ("/sign-in/", r"(?<=/sign-in/)[\w-]{8,}"),
        # Clouds.
        ("AKIA ASIA ABIA ACCA", r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
        ("AIza", r"\bAIza[\w-]{35}"),
        ("ya29.", r"\bya29\.[\w-]{16,}"),
        ("GOCSPX-", r"\bGOCSPX-[\w-]{20,}"),
        ("_v1_", r"\bdo[opr]_v1_[0-9a-f]{40,}"),
        ("dapi", r"\bdapi[0-9a-f]{32}(?:-\d)?\b"),
        ("LTAI", r"\bLTAI[0-9A-Za-z]{16,}"),
        ("AGE-SECRET", r"\bAGE-SECRET-KEY-1[0-9A-Z]{40,}"),
        ("hv", r"\bhv[sb]\.[\w-]{20,}"),
        # Hubs of models, packages and images.
        ("hf_", r"\bhf_[A-Za-z0-9]{20,}"),
        ("api_org_", r"\bapi_org_[A-Za-z0-9]{20,}"),
        ("wandb_v", r"\bwandb_v\d+_\w{20,}"),
        ("pypi-", r"\bpypi-[\w-]{40,}"),
        ("npm_", r"\bnpm_[A-Za-z0-9]{30,}"),
        ("dckr_", r"\bdckr_(?:pat|oat)_[\w-]{20,}"),
        ("r8_", r"\br8_[A-Za-z0-9]{30,}"),
        ("nvapi-", r"\bnvapi-[\w-]{30,}"),
        # Version control.
        ("ghp_ gho_ ghu_ ghs_ ghr_", r"\bgh[pousr]_[A-Za-z0-9]{30,}"),
        ("github_pat_", r"\bgithub_pat_\w{22,}"),
        (
            "glpat- glptt- glrt- glcbt- gldt- gloas- glsoat- glft- glagent- glimt-",
            r"\bgl(?:pat|ptt|rt|cbt|dt|oas|soat|ft|agent|imt)-[\w.-]{16,}",
        ),
        ("ATBB", r"\bATBB[A-Za-z0-9]{24,}"),
        ("ATATT3", r"\bATATT3[\w=-]{40,}"),
        # Services.
        ("sk-", r"\bsk-[\w-]{20,}"),
        ("gsk_", r"\bgsk_[A-Za-z0-9]{30,}"),
        ("k_", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
        ("whsec_", r"\bwhsec_[0-9A-Za-z]{16,}"),
        ("xox", r"\bxox[abeoprs]-[\w-]{10,}"),
        ("xapp-", r"\bxapp-\d-[\w-]{10,}"),
        ("hooks.slack.com", r"(?<=hooks\.slack\.com/services/)[\w/]{20,}"),
        ("hooks.slack.com", r"(?<=discord\.com/api/webhooks/)[\w/-]{20,}"),
        ("SG.", r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
        ("SK", r"\bSK[0-9a-f]{32}\b"),
        (":AA", r"\b\d{8,10}:AA[\w-]{32,}"),
        ("lin_api_", r"\blin_api_[A-Za-z0-9]{30,}"),
        ("sntry", r"\bsntry[su]_[\w+/=-]{30,}"),
        # JSON Web Tokens, whole or in part, and tokens that are JSON in Base64.
        ("eyJ", r"\beyJ[\w-]{8,}(?:\.[\w-]*){1,4}"),
        ("eyJ", r"\beyJ[A-Za-z0-9+/_-]{30,}={0,2}"),
    )
    for hint in hints.split()
)

_PEM = re.compile(
    r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)"
    r"(?:(?!-----END).)*"
    r"(?:(-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)|\Z)",
    re.DOTALL,
)

# `scheme://user:password@host`. The user `git` alone is not a secret, and a number
# after a host may be a port.
_USER_INFO = re.compile(
    r"(?<=://)(?!git@)"
    r"(?:[^\s/?#'\"<>@:]{0,256}:(?!\d{1,5}/)[^\s'\"<>]{1,512}@"
    r"|[^\s/?#'\"<>@]{1,512}@)"
)

# By name. The suffixes after `token` are limited: `tokens`, `tokenizer` and `token_id`
# are common words in language model training.
_NAME = (
    r"pass(?:word|wd|phrase|code)|(?<![a-z])(?:pwd|pw)(?![a-z])|secret|credential|"
    r"(?:api|access|account|auth|private|signing|encryption|license|master|shared|"
    r"storage|sas|subscription|service|deploy|client)[_-]?key|accesskey|apikey|"
    r"(?<![a-z])(?:pat|dsn|jwt)(?![a-z])|token(?![a-z0-9]|[_-]?(?:i?ds?|i?dx|types?|"
    r"length|len|count|embed|dim|limit|budget|size|per|level|class|mask|num))"
)
_NAME_HINTS = (
    *("pass", "pwd", "pw", "secret", "credential", "key", "pat", "dsn", "jwt"),
    "token",
)
_NAME_RE = re.compile(_NAME, re.IGNORECASE)
_QUOTED_VALUE = re.compile(
    rf"(?i)((?:{_NAME})[\w-]{{0,40}}[\"']?\]?\s{{0,8}}(?:=>|:=|==?|:|,)\s{{0,8}}"
    r"[rbuf]{0,2})([\"'])((?:(?!\2)[^\\\n]|\\.){4,2048})(\2?)"
)
_BARE_VALUE = re.compile(
    rf"(?i)((?:{_NAME})[\w-]{{0,40}}[\"']?\s{{0,8}}(?:=>|:=|=|:)\s{{0,8}})"
    r"([^\s\"'`,;&|()<>\[\]{}]{4,2048})(?![\w(\[])"
)
_OPTION_VALUE = re.compile(
    rf"(?i)(--?[\w-]{{0,40}}(?:{_NAME})[\w-]{{0,40}}\s{{1,8}})"
    r"([\"']?)([^\s\"'-][^\s\"']{3,2048})"
)
_ENDS_AS_OPTION = re.compile(rf"(?i)^--?[\w.-]{{0,60}}(?:{_NAME})[\w.-]{{0,40}}$")
# By the text before it, with a hint.
_MARKED = tuple(
    (word, re.compile(pattern))
    for word, pattern in (
        (
            "authorization",
            r"(?i)(\b(?:proxy-)?authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
            r"(?:(?:basic|bearer|token|digest|negotiate)\s{1,4})?)[^\s\"',]{1,4096}",
        ),
        ("bearer", r"(?i)(\bbearer\s{1,4})[\w.~+/-]{20,4096}={0,2}"),
        (
            "cookie",
            r"(?i)(\b(?:set-)?cookie[\"']?\s{0,4}:\s{0,4}[\"']?)[^\n\"']{1,4096}",
        ),
        (
            "login",
            r"(\b(?:machine\s{1,8}\S{1,256}|default)\s{1,8}login\s{1,8}\S{1,256}\s{1,8}"
            r"(?:account\s{1,8}\S{1,256}\s{1,8})?password\s{1,8})\S{1,512}",
        ),
        ('"auth"', r"(\"auth\"\s{0,4}:\s{0,4}\")[A-Za-z0-9+/=]{8,4096}"),
        (
            "=",
            r"(?i)([?&;](?:sig|signature|x-amz-signature|x-amz-credential|x-goog-signature|"
            r"x-goog-credential|awsaccesskeyid|code|key|auth)=)[^\s&#'\"<>]{6,2048}",
        ),
        (
            "login",
            r"(?i)(\b(?:wandb|huggingface-cli|hf|neptune|comet|docker|gh|az|npm|twine|clearml)"
            r"(?:\s{1,4}auth)?\s{1,4}login\b[^\n]{0,200}?\s)([A-Za-z0-9_.-]{20,512})\b",
        ),
    )
)

# Harmless values after such names in code.
_HARMLESS = re.compile(
    r"(?i)^(?:none|null|nil|true|false|yes|no|str|bytes|int|float|bool|string|object|"
    r"optional\b.*|self\..*|args\..*|config\..*|cfg\..*|os\..*|settings\..*|kwargs\..*|"
    r"\$\w*(?:/.*)?|\$[({].*|%\w{0,20}%?|%[-+.\d]*[a-z]|%[({].*|\*+|x+|\.+|…|-+|"
    r"required|optional|default|unset|empty|missing|invalid|expired|changeme|"
    r"[+-]?[\d.,_]+(?:e[+-]?\d+)?[a-z%/]{0,8}|.*\.(?:py|json|txt|model))$"
)
# Values of such environment variables that are not searched for. These are matched as a
# whole, because passwords may begin and end with any characters.
_NO_SECRET = re.compile(
    r"(?i)(?:none|null|nil|true|false|yes|no|required|optional|default|unset|empty|"
    r"missing|invalid|expired|changeme|disabled|undefined|[+-]?[\d.,_]+(?:e[+-]?\d+)?|"
    r"([-*x.=_#])\1*|<[\w| -]*>|\[[A-Z_]*\])"
)
# Variables that name the location of a secret or of the process: the working directory
# is not a password.
_NAMES_A_PLACE = re.compile(
    r"(?i)(?:_|^)(?:file|path|dir|directory|folder|location|root|home|sock|socket)s?"
    r"(?:_override)?$|^google_application_credentials$|^(?:old)?pwd$"
)
# Structural lines of keys and configuration files: redacting them would hide the
# context by which other secrets are recognized.
_STRUCTURE = re.compile(r"-----.*-----|.*[:{\[(]")
_SPECIAL_TOKEN = re.compile(
    r"^(?:<[^<>]{0,60}>|\[[A-Z_]{1,30}\]|\W{1,8}|\\.*|<\|.*\|>)$"
)


class Redactor:
    """Removes secrets from text, including those in this process's environment."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        """Create it; only the first of too many known values are searched for."""
        values = dict.fromkeys(
            value for value in known if len(value) >= _SHORTEST_KNOWN
        )
        # The longest first: one value may begin with another.
        longest = sorted([*values][:_MAX_KNOWN], key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest))) if longest else None

    def __call__(self, text: str) -> str:
        """Return the text without recognized secrets."""
        if self._known is not None:
            text = self._known.sub(MARK, text)
        return redacted(text)


def make_redactor() -> Redactor:
    """Return a Redactor with the secrets in this process's environment."""
    return Redactor(secret_values(os.environ))


def redacted(text: str) -> str:
    """Return the text without secrets recognized by shape or name."""
    if "PRIVATE KEY" in text:
        text = _PEM.sub(_without_key, text)
    if "://" in text:
        text = _USER_INFO.sub(f"{MARK}@", text)
    for hint, shape in _SHAPES:
        if hint in text:
            text = shape.sub(MARK, text)
    lower = text.lower()
    for word, pattern in _MARKED:
        if word in lower:
            text = pattern.sub(rf"\1{MARK}", text)
    if _may_name(lower) and _NAME_RE.search(text):
        text = _QUOTED_VALUE.sub(_without_quoted, text)
        text = _BARE_VALUE.sub(_without_bare, text)
        text = _OPTION_VALUE.sub(_without_option, text)
    return text


def _may_name(lower: str) -> bool:
    for hint in _NAME_HINTS:  # noqa: SIM110 - any() takes four times as long
        if hint in lower:
            return True
    return False


def redacted_arguments(arguments: Sequence[str]) -> list[str]:
    """Return a command line's arguments without secrets."""
    found: list[str] = []
    is_value = False
    for argument in arguments:
        if is_value and not argument.startswith("--"):
            found.append(MARK)
            is_value = False
            continue
        is_value = _ENDS_AS_OPTION.match(argument) is not None
        found.append(redacted(argument))
    return found


def secret_values(environment: Mapping[str, str]) -> list[str]:
    """Return the values of environment variables with names of secrets.

    Includes each line of a value, because console output is redacted line by line.
    """
    values = [
        value.strip()
        for name, value in environment.items()
        if is_secret_name(name) and not _NAMES_A_PLACE.search(name)
    ]
    lines = [line.strip() for value in values for line in value.splitlines()]
    known = {*values}
    parts = [x for x in lines if x not in known and not _STRUCTURE.fullmatch(x)]
    return [text for text in [*values, *parts] if not _NO_SECRET.fullmatch(text)]


def is_secret_name(name: str) -> bool:
    """Return whether a name probably belongs to a secret."""
    return _NAME_RE.search(name) is not None


def _without_key(match: re.Match[str]) -> str:
    return f"{match[1]}{MARK}{match[2] or ''}"


def _without_quoted(match: re.Match[str]) -> str:
    if _is_harmless(match[3]):
        return match[0]
    return f"{match[1]}{match[2]}{MARK}{match[4]}"


def _without_bare(match: re.Match[str]) -> str:
    value = match[2]
    if value.startswith(MARK[:4]) or _is_harmless(value):
        return match[0]
    # `token: the` is a sentence, `token: a8f3…` is not. Passwords may be anything.
    is_password = re.match(r"(?i)pass|pwd|pw", match[1]) is not None
    if not is_password and not _looks_random(value):
        return match[0]
    return f"{match[1]}{MARK}"


def _without_option(match: re.Match[str]) -> str:
    value = match[3]
    if value.startswith(MARK[:4]) or _is_harmless(value):
        return match[0]
    return f"{match[1]}{match[2]}{MARK}"


def _is_harmless(value: str) -> bool:
    return bool(_HARMLESS.match(value) or _SPECIAL_TOKEN.match(value)) or MARK in value


def _looks_random(value: str) -> bool:
    has_digit = any(c.isdigit() for c in value)
    has_letter = any(c.isalpha() for c in value)
    has_both_cases = value.lower() != value != value.upper() and not value.istitle()
    return (
        len(value) >= _SHORTEST_KNOWN and has_letter and (has_digit or has_both_cases)
    )
