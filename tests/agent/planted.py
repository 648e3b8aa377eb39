"""Secrets of all kinds that must be redacted, and similar texts.

Assembled from parts, so that secret scanners do not report this file.
"""

from __future__ import annotations

import base64

_LETTERS = "aB3dE5gH7jK9mN1pQ2sT4vW6xY8zA0cD"
_HEX = "0123456789abcdef0123456789abcdef"
_BASE64 = base64.b64encode(_LETTERS.encode() * 3).decode().rstrip("=")

# A text, and the secret part of it.
SECRETS: dict[str, tuple[str, str]] = {
    "aws-key-id": ("id " + "AKIA" + "IOSFODNN7EXAMPLE", "AKIA" + "IOSFODNN7EXAMPLE"),
    "aws-secret": (
        "AWS_SECRET_ACCESS_KEY=" + _BASE64[:40],
        _BASE64[:40],
    ),
    "aws-session": ('aws_session_token = "' + _BASE64 + '"', _BASE64),
    "google-api": ("AIza" + _LETTERS + "abc", "AIza" + _LETTERS),
    "google-oauth": ("ya29." + _LETTERS, "ya29." + _LETTERS),
    "google-client": ("GOCSPX-" + _LETTERS, "GOCSPX-" + _LETTERS),
    "azure-storage": (
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=" + _BASE64 + "==",
        _BASE64,
    ),
    "azure-sas": ("https://x.blob.core.windows.net/c?sv=1&sig=" + _BASE64, _BASE64),
    "digitalocean": ("dop_v1_" + _HEX * 2, _HEX * 2),
    "databricks": ("dapi" + _HEX, "dapi" + _HEX),
    "vault": ("hvs." + _LETTERS, "hvs." + _LETTERS),
    "huggingface": ("hf_" + _LETTERS, "hf_" + _LETTERS),
    "wandb-env": ("WANDB_API_KEY=" + _HEX + "01234567", _HEX),
    "wandb-login": ("wandb login " + _HEX + "01234567", _HEX),
    "neptune": ("eyJhcGlf" + _BASE64, _BASE64),
    "openai": ("sk-proj-" + _LETTERS, "sk-proj-" + _LETTERS),
    "anthropic": ("sk-ant-api03-" + _LETTERS, _LETTERS),
    "pypi": ("pypi-" + _BASE64, "pypi-" + _BASE64),
    "npm": ("npm_" + _LETTERS + "abcd", "npm_" + _LETTERS),
    "docker-pat": ("dckr_pat_" + _LETTERS, "dckr_pat_" + _LETTERS),
    "docker-config": ('{"auths": {"r.io": {"auth": "' + _BASE64 + '"}}}', _BASE64),
    "github": ("ghp_" + _LETTERS + "abcd", "ghp_" + _LETTERS),
    "github-fine": ("github_pat_" + _LETTERS, "github_pat_" + _LETTERS),
    "gitlab": ("glpat-" + _LETTERS[:20], "glpat-" + _LETTERS[:20]),
    "slack": ("xoxb-" + "1234567890-" + _LETTERS, _LETTERS),
    "slack-hook": (
        "https://hooks.slack.com/services/" + "T000/B000/" + _LETTERS,
        _LETTERS,
    ),
    "stripe": ("sk_live_" + _LETTERS, "sk_live_" + _LETTERS),
    "sendgrid": ("SG." + _LETTERS[:22] + "." + _LETTERS, _LETTERS),
    "telegram": ("123456789:AA" + _LETTERS + "x", "AA" + _LETTERS),
    "jwt": (
        "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxIn0." + _LETTERS,
        _LETTERS,
    ),
    "dsn-postgres": ("postgres://app:s3cr3t-pw@db.local:5432/x", "s3cr3t-pw"),
    "dsn-at-sign": ("mysql://root:p@ss/w0rd@db/x", "ss/w0rd"),
    "dsn-sentry": ("https://" + _HEX + "@o1.ingest.sentry.io/2", _HEX),
    "dsn-redis": ("redis://:hunter2hunter2@cache:6379/0", "hunter2hunter2"),
    "dsn-libpq": ("host=db user=app password=hunter2 dbname=x", "hunter2"),
    "url-user": ("https://oauth2:" + _LETTERS + "@git.example/x.git", _LETTERS),
    "netrc": ("machine git.example login me password hunter2x", "hunter2x"),
    "pem": (
        "-----BEGIN RSA PRIVATE KEY-----\n"
        + _BASE64
        + "\n-----END RSA PRIVATE KEY-----",
        _BASE64,
    ),
    "pem-openssh": (
        "-----BEGIN OPENSSH PRIVATE KEY-----\n" + _BASE64 + "\n" + _LETTERS,
        _LETTERS,
    ),
    "bearer": ("curl -H 'Authorization: Bearer " + _LETTERS + "'", _LETTERS),
    "basic": ("Authorization: Basic " + _BASE64[:24], _BASE64[:24]),
    "cookie": ("Cookie: session=" + _LETTERS + "; other=1", _LETTERS),
    "option": ("python train.py --api-key " + _LETTERS + " --lr 1", _LETTERS),
    "yaml": ("db_password: Tr0ub4dor&3", "Tr0ub4dor"),
    "json": ('{"client_secret": "tiny-secret-value"}', "tiny-secret-value"),
    "python": ("password = 'correct horse'", "correct horse"),
    "environ": ("os.environ['API_TOKEN'] = 'some-thing-here'", "some-thing-here"),
    "seamark": ("smk_" + _LETTERS, "smk_" + _LETTERS),
}

HARMLESS = [
    "epoch 3: loss 0.41, 1,024 tokens/s, tokens: 123456789",
    "tokenizer=AutoTokenizer.from_pretrained('bert-base-uncased')",
    "max_tokens=512 num_tokens: 1024 token_count=77",
    "tokenizer.pad_token = tokenizer.eos_token",
    "pad_token='<pad>' eos_token: '</s>' bos_token=\"[CLS]\"",
    "token_id=50256 pad_token_id: 0 token_ids=[1, 2, 3]",
    "TOKENIZERS_PARALLELISM=false",
    "special tokens: <|endoftext|> [MASK]",
    "key=value monkey=banana keyboard: qwerty",
    "state_dict key: encoder.layers.0.self_attn.in_proj_weight",
    "for key, value in secrets.items():",
    "def login(password: str, token: str | None = None) -> None:",
    "password=None token=None api_key=None",
    "password = os.environ['DATABASE_PASSWORD']",
    "token = get_token()",
    "secret = args.secret",
    "token = self.token",
    "commit 3179d2f0a1b2c3d4e5f60718293a4b5c6d7e8f90",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "https://huggingface.co/bert-base-uncased/resolve/main/config.json",
    "git@github.com:org/project.git",
    "ssh://git@github.com/org/project.git",
    "http://localhost:8713/runs/1f0e/@me",
    "s3://bucket/path/to/data?versionId=3",
    "mail me@example.org",
    "Bearer of good news",
    "Basic training starts",
    "author: Someone <someone@example.org>",
    "sk-learn and sk-image are fine",
    "lr=3e-4 wd=0.1 beta1=0.9",
    "cookie dough recipe",
    "step 10 | password-free login",
    "2026-11-21 10:00:00 INFO root: authorization done",
    "/home/me/data/secret_garden.txt",
    "model.embed_tokens.weight torch.Size([50257, 768])",
    "passed=12 failed=0 passing: 12",
    "+    eos_token: Optional[str] = None,",
    "compass: north, bypass=1, passenger=Rose",
    "export CUDA_VISIBLE_DEVICES=0,1",
    "uuid 123e4567-e89b-12d3-a456-426614174000",
]

# Redacted without need: names of secrets before ordinary words.
FALSE_REDACTIONS = [
    "password: forgotten",
    "sentencepiece token: Hamburg2025",
    "secret = 'a story about secrets'",
    "https://maps.example/?key=place123",
    "credentials: loaded-from-cache-2",
]
