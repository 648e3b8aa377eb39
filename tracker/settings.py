"""All settings; the only reader of the environment.

Each variable has a default that suits one person on one machine. Secrets may come from
files: `X_FILE` names a file that holds the value of `X`.
"""

from __future__ import annotations

import ipaddress
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url
from django.conf.locale import LANG_INFO
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import to_language

from tracker.server import processes
from tracker.server.database_pool import pool_options

# Every variable that was read, so that misspelled ones can be rejected.
known_names: set[str] = set()
# Variables that only the agent reads; training processes may share our environment.
AGENT_NAMES = {
    f"SEAMARK_{name}"
    for name in (
        "DATASET",
        "CAPTURE",
        "EXIT_SECONDS",
        "MONITOR",
        "MONITORED",
        "MODE",
        "PROFILE",
        "PROJECT",
        "QUIET",
        "RUN",
        "RESUMED",
        "SAMPLE_SECONDS",
        "SPOOL",
        "SPOOL_GIB",
        "SPOOL_POINTS_GIB",
        "SEPARATE_RANKS",
        "STAGE",
        "TOKEN",
        "TOKEN_FILE",
    )
}
LANGUAGE_CODE = "en"
ROLES = ("owner", "admin", "member", "viewer", "guest")
MIN_SECRET_LENGTH, MIN_SECRET_CHARACTERS = 50, 8


def text(name: str, default: str = "") -> str:
    known_names.update((name, f"{name}_FILE"))
    if path := os.environ.get(f"{name}_FILE"):
        return Path(path).read_text(encoding="utf-8").strip()
    return os.environ.get(name, default)


def integer(name: str, default: int, *, least: int = 0) -> int:
    value = text(name, str(default))
    if not value.isascii() or not value.isdigit():
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}.")
    if int(value) < least:
        raise ImproperlyConfigured(f"{name} must be at least {least}, not {value}.")
    return int(value)


def boolean(name: str, *, default: bool) -> bool:
    value = text(name, "yes" if default else "no").lower()
    if value not in ("yes", "no"):
        raise ImproperlyConfigured(f"{name} must be yes or no, not {value!r}.")
    return value == "yes"


def listed(name: str) -> list[str]:
    """Return the comma-separated values in lower case."""
    return [part.strip().lower() for part in text(name).split(",") if part.strip()]


def networks(name: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    try:
        return [ipaddress.ip_network(part) for part in listed(name)]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}.") from error


def roles_by_group(name: str) -> list[tuple[str, str]]:
    """Read "group:role,…"; a group's name may contain colons."""
    pairs = [part.strip().rpartition(":") for part in text(name).split(",") if part]
    for group, _, role in pairs:
        if not group or role not in ROLES:
            raise ImproperlyConfigured(
                f"{name} must be like ml-team:member,ml-leads:admin; the roles are"
                f" {', '.join(ROLES)}."
            )
    return [(group, role) for group, _, role in pairs]


def refuse_unknown_names() -> None:
    ours = {name for name in os.environ if name.startswith("SEAMARK_")}
    if unknown := sorted(ours - known_names - AGENT_NAMES):
        raise ImproperlyConfigured(
            f"Unknown setting: {', '.join(unknown)}. See docs/configuration.md."
        )


def user_folder(variable: str, default: str) -> Path:
    """Return our folder in one of the user's XDG folders."""
    return Path(os.environ.get(variable) or Path.home() / default) / "seamark"


def usable_folder(path: Path) -> Path:
    """Create the folder if it is missing; raise if it is not writable."""
    folder = path.expanduser().absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {folder} cannot be written ({error.strerror}); "
            "choose another with SEAMARK_DATA."
        ) from error
    return folder


def stored_secret(path: Path) -> str:
    """Return this installation's secret, created once and readable only by its owner."""
    if not path.exists():
        # Written in full under a temporary name and then linked: of two processes that
        # start together neither reads a partial file, and both use the first one's
        # secret.
        with tempfile.NamedTemporaryFile("w", dir=path.parent) as file:
            file.write(secrets.token_urlsafe(48))
            file.flush()
            with suppress(FileExistsError):
                os.link(file.name, path)
    return path.read_text(encoding="utf-8").strip()


def strong_secret(secret: str) -> str:
    """Return the secret key; raise if it is too weak."""
    if len(secret) < MIN_SECRET_LENGTH or len(set(secret)) < MIN_SECRET_CHARACTERS:
        raise ImproperlyConfigured(
            f"SEAMARK_SECRET_KEY needs at least {MIN_SECRET_LENGTH} random characters; "
            "set it to the output of `openssl rand -hex 32`."
        )
    return secret


def translated_languages() -> list[tuple[str, str]]:
    """Return the codes and native names of the translated languages except English."""
    locale = Path(__file__).parents[1] / "web" / "locale"
    compiled = sorted(locale.glob("*/LC_MESSAGES/django.mo"))
    codes = [to_language(file.parents[1].name) for file in compiled]
    return [
        (code, LANG_INFO.get(code, {}).get("name_local", code))
        for code in codes
        if code != LANGUAGE_CODE
    ]


# Folder of the database, queue and files in embedded mode.
DATA_FOLDER = usable_folder(
    Path(text("SEAMARK_DATA") or user_folder("XDG_DATA_HOME", ".local/share"))
)
# File in which agents of the same user find the server's address and a token.
AGENT_FILE = Path(
    text("SEAMARK_CONFIG") or user_folder("XDG_CONFIG_HOME", ".config") / "agent.json"
)

# The listening address, and the URL for users and agents.
BIND = text("SEAMARK_BIND", "127.0.0.1")
PORT = integer("SEAMARK_PORT", 8713)
LOCAL_HOST = "127.0.0.1" if BIND in ("0.0.0.0", "::") else BIND
PUBLIC_URL = text("SEAMARK_URL", f"http://{LOCAL_HOST}:{PORT}").rstrip("/")

SECRET_KEY = strong_secret(
    text("SEAMARK_SECRET_KEY") or stored_secret(DATA_FOLDER / "secret-key")
)
DEBUG = False
ALLOWED_HOSTS = text("SEAMARK_HOSTS", "127.0.0.1,localhost,[::1]").split(",")
ALLOWED_HOSTS.append(urlsplit(PUBLIC_URL).hostname or "")
HTTPS = PUBLIC_URL.startswith("https://")

# Maximum PostgreSQL connections per process, and the web processes that share the
# database.
DATABASE_CONNECTIONS = integer(
    "SEAMARK_DATABASE_CONNECTIONS",
    processes.DATABASE_CONNECTIONS,
    least=processes.MIN_DATABASE_CONNECTIONS,
)
WEB_PROCESSES = integer("SEAMARK_WEB_PROCESSES", processes.WEB_PROCESSES, least=1)

# "sqlite:///…" or "postgres://…"; the default is a file in the data folder.
DATABASES = {
    "default": dj_database_url.parse(
        text("SEAMARK_DATABASE_URL", f"sqlite:///{DATA_FOLDER / 'seamark.sqlite3'}")
    )
}
IS_SQLITE = DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3"
if IS_SQLITE:
    DATABASES["default"]["ENGINE"] = "tracker.embedded.sqlite"
    # Opening is slow and closing checkpoints, so each thread keeps its connection.
    DATABASES["default"]["CONN_MAX_AGE"] = None
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": (
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "PRAGMA busy_timeout = 20000; PRAGMA cache_size = -32000;"
        ),
    }
else:
    # Each request takes a connection from its process's pool and returns it.
    DATABASES["default"]["CONN_MAX_AGE"] = 0
    DATABASES["default"]["OPTIONS"] = {
        "connect_timeout": 5,
        "pool": pool_options(DATABASE_CONNECTIONS),
        "options": (
            "-c statement_timeout=30000 -c lock_timeout=10000"
            # For prepared statements, which find single rows by key.
            " -c plan_cache_mode=force_generic_plan"
        ),
        # Without a threshold, Django disables prepared statements in psycopg.
        "prepare_threshold": 5,
    }

# Maximum size of one file and of all files of a workspace; 0: no limit.
GIB = 1024**3
LARGEST_FILE_BYTES = integer("SEAMARK_FILE_GIB", 100) * GIB
WORKSPACE_FILE_BYTES = integer("SEAMARK_WORKSPACE_GIB", 0) * GIB

# "redis://…" for a team; without it Celery keeps its messages in the data folder.
REDIS_URL = text("SEAMARK_REDIS_URL")

# Holds the rate-limit counters, so all web processes must share it.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
    }
    if REDIS_URL
    else {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "tracker_cacheentry",
        # Above this number, Django drops random entries, including rate limits.
        "OPTIONS": {"MAX_ENTRIES": 50_000},
    }
}

# Mail server for alerts, "smtp://user:password@host:587" or "smtps://…"; empty: no
# mail.
SMTP_URL = text("SEAMARK_SMTP_URL")
MAIL_FROM = text("SEAMARK_MAIL_FROM")
# Retention of the audit log; 0: forever.
AUDIT_DAYS = integer("SEAMARK_AUDIT_DAYS", 365)
# Hosts in private networks to which webhooks may post, by name.
WEBHOOK_HOSTS = listed("SEAMARK_WEBHOOK_HOSTS")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    # Without "allauth" itself, none of its own templates can be shown.
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "django_htmx",
    "tracker",
    # Before ninja, because it overrides the template of ninja's API page.
    "web",
    "ninja",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    # Outside all middleware that changes the response.
    "web.compression.Compression",
    "web.security.ContentSecurity",
    "tracker.api.errors.ApiErrors",
    # Outside all middleware that may return a page.
    "web.languages.Languages",
    # Rejects unknown host names, so it precedes all middleware that may respond.
    "django.middleware.common.CommonMiddleware",
    "web.assets.Assets",
    "web.modules.Modules",
    "web.bodies.FormBodies",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "web.sign_in.activity.SessionActivity",
    "web.sign_in.proxy.ProxySignIn",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "web.errors.PageErrors",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "web.pages.sharing.shared_pages.sharing",
                "web.sign_in.required.factor_duty",
            ],
        },
    }
]
ROOT_URLCONF = "tracker.urls"
WSGI_APPLICATION = "tracker.wsgi.application"
MIGRATION_MODULES = {"tracker": "migrations"}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "tracker.User"
# Older hashes are replaced at the next sign-in.
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
MIN_PASSWORD_LENGTH = 10
# Lifetime of password-reset links, in seconds.
PASSWORD_RESET_TIMEOUT = 24 * 3600
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}", "OPTIONS": options}
    for name, options in {
        "UserAttributeSimilarityValidator": {
            "user_attributes": ("username", "name", "email")
        },
        "MinimumLengthValidator": {"min_length": MIN_PASSWORD_LENGTH},
        "CommonPasswordValidator": {},
    }.items()
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "projects"
AUTHENTICATION_BACKENDS = ["tracker.second_factor.Accounts"]

USE_TZ = True
TIME_ZONE = "UTC"
# English, the source language, and each language compiled in web/locale.
LANGUAGES = [(LANGUAGE_CODE, "English"), *translated_languages()]
# With one language, translation lookups are skipped.
USE_I18N = len(LANGUAGES) > 1

STATIC_URL = "/static/"
STORAGES = {"staticfiles": {"BACKEND": "web.assets.Versioned"}}
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "web.styles.JoinedStyles",
]
# WhiteNoise serves the apps' static folders, so collectstatic is not needed.
WHITENOISE_USE_FINDERS = True

# An OpenID Connect provider for sign-in.
OIDC_ISSUER = text("SEAMARK_OIDC_ISSUER").rstrip("/")
OIDC_NAME = text("SEAMARK_OIDC_NAME", "single sign-on")
OIDC_DOMAINS = listed("SEAMARK_OIDC_DOMAINS")
OIDC_GROUPS = roles_by_group("SEAMARK_OIDC_GROUPS")
OIDC_WORKSPACE = text("SEAMARK_OIDC_WORKSPACE", "home")
OIDC_CLIENT_ID = text("SEAMARK_OIDC_CLIENT_ID")
OIDC_CLIENT_SECRET = text("SEAMARK_OIDC_CLIENT_SECRET")
if OIDC_ISSUER and not OIDC_CLIENT_ID:
    raise ImproperlyConfigured("SEAMARK_OIDC_ISSUER needs SEAMARK_OIDC_CLIENT_ID, too.")

# An authenticating proxy sends the user in this header, and proves itself by a secret
# in another header or by its address.
PROXY_USER_HEADER = text("SEAMARK_PROXY_USER_HEADER")
PROXY_SECRET = text("SEAMARK_PROXY_SECRET")
PROXY_ADDRESSES = networks("SEAMARK_PROXY_ADDRESSES")
# Where a workspace requires a second factor, these sign-ins count as one.
SSO_IS_SECOND_FACTOR = boolean("SEAMARK_SSO_IS_SECOND_FACTOR", default=False)
if PROXY_USER_HEADER and not (PROXY_SECRET or PROXY_ADDRESSES):
    raise ImproperlyConfigured(
        "SEAMARK_PROXY_USER_HEADER needs SEAMARK_PROXY_SECRET or"
        " SEAMARK_PROXY_ADDRESSES; otherwise any client could send the header."
    )

# Sign-in with django-allauth, with templates and rules of our own.
ACCOUNT_ADAPTER = "web.sign_in.account_adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email", "username"}
# Sign-up is closed; allauth requires consistent fields.
ACCOUNT_SIGNUP_FIELDS = ["email*", "username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR = "tracker.reset_tokens.ResetTokens"
ACCOUNT_REAUTHENTICATION_REQUIRED = True
# No codes by mail: many servers cannot send mail.
ACCOUNT_REAUTHENTICATION_METHODS = ("password", "mfa")
# "ip" is the client's address, "key" the account; the first number is per "m"inute.
ACCOUNT_RATE_LIMITS = {
    "login": "30/m/ip",
    "login_failed": "10/m/ip,5/5m/key",
    "reset_password": "20/m/ip,3/5m/key",
    "sign_in_link": "20/m/ip",
}
SOCIALACCOUNT_ADAPTER = "web.sign_in.single_sign_on.SingleSignOnAdapter"
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
# The content security policy forbids a form that posts to the provider.
SOCIALACCOUNT_LOGIN_ON_GET = True
SOCIALACCOUNT_REQUESTS_TIMEOUT = 10
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "provider_class": "web.sign_in.single_sign_on.Provider",
        "APPS": [
            {
                "provider_id": "oidc",
                "name": OIDC_NAME,
                "client_id": OIDC_CLIENT_ID,
                "secret": OIDC_CLIENT_SECRET,
                "settings": {"server_url": OIDC_ISSUER, "oauth_pkce_enabled": True},
            }
        ]
        if OIDC_ISSUER
        else [],
    }
}
MFA_ADAPTER = "web.sign_in.second_factor_adapter.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_TOTP_ISSUER = "Seamark"
# Phone clocks may be off by half a minute.
MFA_TOTP_TOLERANCE = 1

SESSION_COOKIE_AGE = 30 * 24 * 3600
SESSION_COOKIE_NAME = "__Host-session" if HTTPS else "seamark-session"
CSRF_COOKIE_NAME = "__Host-csrf" if HTTPS else "seamark-csrf"
TOAST_COOKIE_NAME = "__Host-toasts" if HTTPS else "seamark-toasts"
MESSAGE_STORAGE = "web.toasts.ToastCookie"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
BEHIND_PROXY = boolean("SEAMARK_BEHIND_PROXY", default=False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
CSRF_FAILURE_VIEW = "web.errors.csrf_failure"

# The ingest endpoint limits its own bodies while streaming; see tracker/ingest.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "tracker.redaction.Formatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": text("SEAMARK_LOG_LEVEL", "WARNING")},
}

refuse_unknown_names()
