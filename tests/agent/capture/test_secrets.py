"""Planted secrets never leave the machine, whatever part is captured."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.agent.capture.test_git import run_git
from tests.agent.conftest import REPOSITORY
from tests.agent.planted import SECRETS

SCRIPT = """
import agent, os, sys
TEXTS = {texts!r}
{comments}
run = agent.init("r")
for text in TEXTS:
    print("here is", text)
    print("and", text, file=sys.stderr)
raise RuntimeError("failed with " + " ; ".join(TEXTS))
"""


def test_no_planted_secret_leaves_the_machine(tracker, tmp_path):
    texts = {name: text for name, (text, _) in SECRETS.items()}
    assert len(texts) >= 40
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "config.txt").write_text("nothing yet\n")
    run_git(repository, "init")
    run_git(repository, "add", ".")
    run_git(repository, "commit", "-m", "First\n\n" + "\n".join(texts.values()))
    run_git(repository, "remote", "add", "origin", SECRETS["url-user"][0])
    (repository / "config.txt").write_text("\n".join(texts.values()))
    script = repository / "train.py"
    comments = "\n".join(f"# {line}" for t in texts.values() for line in t.split("\n"))
    script.write_text(SCRIPT.format(texts=list(texts.values()), comments=comments))
    planted = {f"OMP_{n}": text for n, text in enumerate(texts.values())}
    planted |= {
        f"MY_{n}_SECRET": secret for n, (_, secret) in enumerate(SECRETS.values())
    }

    ended = subprocess.run(
        [sys.executable, script, *texts.values(), "--token", "a b c d"],
        env={**os.environ, **planted, "PYTHONPATH": str(REPOSITORY)},
        cwd=repository,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 1
    assert "RuntimeError" in ended.stderr
    sent = "\n".join(map(str, tracker.messages()))
    paths = tracker.attributes()
    for needed in ("git/diff", "git/remote", "source/text", "failure/traceback"):
        assert f"monitoring/main/{needed}" in paths
    assert len(tracker.texts("monitoring/main/stdout")) >= len(texts)
    leaked = [name for name, (_, secret) in SECRETS.items() if secret in sent]
    assert leaked == []


def test_shapes_and_names_alone_find_what_the_environment_does_not_tell(
    tracker, run_script
):
    texts = [text for text, _ in SECRETS.values()]
    run_script(f"import agent\nrun = agent.init('r')\nfor t in {texts!r}: print(t)")

    sent = "\n".join(map(str, tracker.messages()))
    assert [name for name, (_, secret) in SECRETS.items() if secret in sent] == []
