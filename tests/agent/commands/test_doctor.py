"""`seamark doctor` finds and explains connection problems."""

from __future__ import annotations

import json
import os
import time
from argparse import Namespace
from email.utils import formatdate

import pytest

from seamark.commands.doctor import perform as look
from seamark.queue import ring
from seamark.queue.mounts import Mount
from seamark.queue.spool import create_spool
from tests.agent.commands.site import ME, TOKEN, as_json
from tests.agent.conftest import REPOSITORY
from tests.agent.queue.test_spool import ORIGIN
from tests.agent.upload.test_orphans import say_of

LOG = "import agent; run = agent.init('r', monitor=False); run['a'].append(1.0)"


@pytest.fixture
def doctor(capsys):
    """Return a function that gives the exit code and the findings by name."""

    def run():
        code = look(Namespace(json=True))
        printed = json.loads(capsys.readouterr().out)
        assert printed["ok"] is (code == 0)
        return code, {check["name"]: check for check in printed["checks"]}

    return run


@pytest.fixture
def known(site, monkeypatch):
    monkeypatch.setenv("SEAMARK_URL", site.url)
    monkeypatch.setenv("SEAMARK_TOKEN", TOKEN)
    return site


def problems(found):
    return [name for name, check in found.items() if check["state"] == "problem"]


def test_nothing_is_wrong_where_nothing_is(doctor, known):
    code, found = doctor()

    assert (code, problems(found)) == (0, [])
    assert "from SEAMARK_URL" in found["server"]["text"]
    assert "can write and read" in found["token"]["text"]
    assert not any(TOKEN in check["text"] for check in found.values())


def test_it_changes_nothing(doctor, known, tmp_path):
    before = sorted(tmp_path.rglob("*"))

    doctor()

    assert sorted(tmp_path.rglob("*")) == before


def test_people_are_told_in_lines_with_what_to_do(perform):
    code, output, errors = perform("doctor")

    assert code == 1
    assert "problem   no server is configured" in output
    assert "-> start one with `seamark up`" in output
    assert output.endswith("1 problem found: data is not delivered.\n")
    assert errors == ""


@pytest.mark.parametrize(
    ("caller", "words"),
    [
        ({"scope": "read"}, "cannot write"),
        ({"workspaces": [{"slug": "h", "name": "H", "role": "viewer"}]}, "viewer"),
    ],
)
def test_a_token_that_may_not_write_is_a_problem(doctor, known, caller, words):
    known.answers["/api/v1/me"] = as_json({**ME, **caller})

    code, found = doctor()

    assert (code, problems(found)) == (1, ["token"])
    assert words in found["token"]["text"]


def test_a_token_that_is_refused_is_a_problem(doctor, known, monkeypatch):
    monkeypatch.setenv("SEAMARK_TOKEN", "smk_old")

    code, found = doctor()

    assert (code, problems(found)) == (1, ["token"])
    assert "seamark login" in found["token"]["advice"]


def test_a_file_of_the_token_that_cannot_be_read_is_a_problem(
    doctor, known, tmp_path, monkeypatch
):
    monkeypatch.delenv("SEAMARK_TOKEN")
    monkeypatch.setenv("SEAMARK_TOKEN_FILE", str(tmp_path / "token"))
    assert problems(doctor()[1]) == ["token_file", "token"]

    (tmp_path / "token").write_text(TOKEN)

    _, found = doctor()
    assert problems(found) == []
    assert "from SEAMARK_TOKEN_FILE belongs to" in found["token"]["text"]


def test_something_else_at_the_address_is_a_problem(doctor, known):
    known.answers["*"] = (200, {}, b"<html>sign in</html>")

    code, found = doctor()

    assert (code, problems(found)) == (1, ["reachable"])
    assert "browser" in found["reachable"]["text"]


def test_a_clock_that_is_wrong_is_noted(doctor, known):
    assert doctor()[1]["clock"]["state"] == "ok"
    known.date = formatdate(time.time() + 3600, usegmt=True)

    code, found = doctor()

    assert code == 0
    assert found["clock"]["state"] == "note"
    assert "behind the server's" in found["clock"]["text"]
    assert "NTP" in found["clock"]["advice"]


def test_settings_that_the_agent_refuses_are_problems(doctor, known, monkeypatch):
    monkeypatch.setenv("SEAMARK_EXIT_SECONDS", "soon")
    assert problems(doctor()[1]) == ["settings"]

    monkeypatch.setenv("SEAMARK_EXIT_SECONDS", "1")
    monkeypatch.setenv("SEAMARK_MODE", "offline")
    assert problems(doctor()[1]) == ["mode"]


def test_a_file_that_others_may_read_is_noted_and_a_broken_one_a_problem(
    doctor, known, agent_file
):
    agent_file.parent.mkdir(parents=True)
    agent_file.write_text(json.dumps({"url": known.url, "token": TOKEN}))
    agent_file.chmod(0o644)
    assert doctor()[1]["file"]["state"] == "note"

    agent_file.write_text("{")
    assert problems(doctor()[1]) == ["file"]


def test_a_spool_folder_that_cannot_be_written_is_a_problem(
    doctor, known, tmp_path, monkeypatch
):
    # Not a folder at all, so that not even root may write there.
    monkeypatch.setenv("SEAMARK_SPOOL", "/proc/self/spool")

    _, found = doctor()

    assert "spool" in problems(found)
    assert "SEAMARK_SPOOL" in found["spool"]["advice"]


def test_a_network_file_system_and_scarce_memory_are_noted(doctor, known, monkeypatch):
    on_network = Mount("/home", "nfs4", "0:40", "server:/home")
    monkeypatch.setattr(
        "seamark.commands.checks.queues.mount_below", lambda _: on_network
    )
    monkeypatch.setattr(ring, "_SMALLEST_PART", 10**9)

    code, found = doctor()

    assert code == 0
    assert "nfs4" in found["spool_file_system"]["text"]
    assert "are free" in found["shared_memory"]["text"]


def test_what_another_machine_wrote_just_now_is_no_problem(doctor, known, spool_root):
    opened = create_spool(spool_root, ORIGIN, url=None)
    opened.close()
    say_of(opened.folder)

    code, found = doctor()

    assert code == 0
    assert "--any-host" in found["left_elsewhere"]["advice"]
    assert "left" not in found


def test_what_is_left_is_counted_and_what_waits_for_another_server_a_problem(
    doctor, known, run_script, spool_root, monkeypatch
):
    run_script(LOG, SEAMARK_MODE="offline")
    assert doctor()[1]["left"]["state"] == "note"

    for path in spool_root.rglob("*"):
        os.utime(path, (0, time.time() - 7200))
    assert problems(doctor()[1]) == ["left"]

    run_script(LOG, SEAMARK_URL="https://gone.example.org", SEAMARK_EXIT_SECONDS="0")
    _, found = doctor()
    assert "https://gone.example.org" in found["left_for_others"]["text"]
    assert "--any-server" in found["left_for_others"]["advice"]


def test_secrets_of_a_server_on_the_same_machine_are_not_said(
    doctor, known, monkeypatch
):
    monkeypatch.setenv("SEAMARK_SECRET_KEY", "of the signing kind")
    monkeypatch.setenv("SEAMARK_DATABASE_URL", "postgres://me:hidden-word@db/seamark")
    monkeypatch.setenv("SEAMARK_STAGE", "train")

    _, found = doctor()

    texts = " ".join(check["text"] for check in found.values())
    assert "SEAMARK_SECRET_KEY" in texts
    assert "SEAMARK_STAGE=train" in texts
    assert "of the signing kind" not in texts
    assert "hidden-word" not in texts


def test_a_password_in_an_address_that_is_none_is_not_said(doctor, monkeypatch):
    monkeypatch.setenv("SEAMARK_URL", "ftp://me:hidden-word@host")
    monkeypatch.setenv("SEAMARK_TOKEN", TOKEN)

    _, found = doctor()

    assert found["server"]["state"] == "problem"
    assert not any("hidden-word" in check["text"] for check in found.values())


def test_a_spool_folder_that_may_not_be_looked_at_is_a_problem(
    doctor, known, monkeypatch, tmp_path
):
    # No file system has such long names, so that stat() fails.
    monkeypatch.setenv("SEAMARK_SPOOL", str(tmp_path / ("x" * 300) / "spool"))

    _, found = doctor()

    assert "spool" in found


def test_a_module_of_the_folder_that_hides_the_library_is_noted(
    doctor, known, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent").mkdir()
    # A folder without a package shadows nothing.
    assert doctor()[1]["module"]["state"] == "ok"

    (tmp_path / "agent.py").write_text("raise RuntimeError('it must not be run')")

    code, found = doctor()

    assert code == 0
    assert found["module"]["state"] == "note"
    assert str(tmp_path / "agent.py") in found["module"]["text"]
    assert "import seamark as agent" in found["module"]["advice"]


def test_the_library_itself_hides_nothing(doctor, known, monkeypatch):
    monkeypatch.chdir(REPOSITORY)

    assert doctor()[1]["module"]["state"] == "ok"
