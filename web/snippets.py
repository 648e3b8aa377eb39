"""Texts to copy into a script or a terminal, filled in for who reads them."""

from __future__ import annotations

import json

FIRST_RUN = """\
import agent

run = agent.init("my-first-run", project={project})
run["train/loss"].append(0.42)
run.finish()"""

FIRST_FILES = """\
run["model/best"].upload("best.pt")
run["plots/confusion"].upload(figure)
run["checkpoints"].upload_files("checkpoints/*.pt")"""


TOKEN = "smk_…"


def first_run(project: str) -> str:
    # JSON's strings are Python's, and they escape what could end the line.
    return FIRST_RUN.format(project=json.dumps(project))


def start_elsewhere(url: str, token: str) -> str:
    """Return what a shell on another machine needs before it logs."""
    return (
        f"pip install .  # in a checkout of Seamark\n{environment(url, token or TOKEN)}"
    )


def environment(url: str, token: str) -> str:
    return f"export SEAMARK_URL={url}\nexport SEAMARK_TOKEN={token}"


def agent_file(url: str, token: str) -> str:
    return json.dumps({"url": url, "token": token}, indent=2)


def download_file(run: str, project: str, path: str) -> str:
    # JSON's strings are Python's, and they escape what could end the line.
    name, slug, place = map(json.dumps, (run, project, path))
    return (
        "import agent\n\n"
        f"run = agent.open_run({name}, project={slug})\n"
        f'run[{place}].download("there/")'
    )
