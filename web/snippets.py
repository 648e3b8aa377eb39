"""Code to copy into a script or a terminal, filled in for the reader."""

from __future__ import annotations

import json

FIRST_RUN = """\
import agent

run = agent.init("my-first-run", project={project})
run["train/loss"].append(0.42)
run.finish()"""

TWO_RUNS = """\
import agent

for workers in (0, 4):
    run = agent.init(f"workers-{{workers}}", project={project}, stage="train")
    run["params/workers"] = workers
    for batch in run.loader(loader):  # your loader; this line times every step
        ...
    run.finish()"""

CAPTURE = """\
# on the machine that trains: export SEAMARK_URL={url}
import agent

run = agent.init("my-run", project={project}, stage="train", capture=True)"""

LADDER = """\
curl {url}/api/v1/projects/{workspace}/{project}/ladders \\
  -H "Authorization: Bearer $SEAMARK_TOKEN" -H "Content-Type: application/json" \\
  -d '{{"name": "faster", "rungs": [
        {{"run": "baseline", "note": "as it was"}},
        {{"run": "workers-4", "note": "four loader processes"}}]}}'"""

FIRST_FILES = """\
run["model/best"].upload("best.pt")
run["plots/confusion"].upload(figure)
run["checkpoints"].upload_files("checkpoints/*.pt")"""


FIRST_PICTURES = """\
for step in range(0, 1000, 100):
    run["samples/input"].append([image, image], step=step, captions=["cat", "dog"])
    run["samples/output"].append(agent.Image(pixels, boxes=boxes), step=step)"""


FIRST_MEDIA = """\
for step in range(0, 1000, 100):
    run["samples/input"].append(agent.Image(pixels), step=step)
    run["samples/caption"].append("a cat on a mat", step=step)
    run["grads/layer1"].append(agent.Histogram(gradients), step=step)"""


TOKEN = "smk_…"


def first_run(project: str) -> str:
    # JSON strings are valid Python, with line breaks escaped.
    return FIRST_RUN.format(project=json.dumps(project))


def start_elsewhere(install: str, url: str, token: str) -> str:
    """Return the shell commands that another machine needs before logging."""
    return f"{install}\n{environment(url, token or TOKEN)}"


def two_runs(project: str) -> str:
    return TWO_RUNS.format(project=json.dumps(project))


def capture(url: str, project: str) -> str:
    return CAPTURE.format(url=url, project=json.dumps(project))


def ladder(url: str, workspace: str, project: str) -> str:
    return LADDER.format(url=url, workspace=workspace, project=project)


def environment(url: str, token: str) -> str:
    return f"export SEAMARK_URL={url}\nexport SEAMARK_TOKEN={token}"


def agent_file(url: str, token: str) -> str:
    return json.dumps({"url": url, "token": token}, indent=2)


def download_file(run: str, project: str, path: str) -> str:
    # JSON strings are valid Python, with line breaks escaped.
    name, slug, place = map(json.dumps, (run, project, path))
    return (
        "import agent\n\n"
        f"run = agent.open_run({name}, project={slug})\n"
        f'run[{place}].download("there/")'
    )
