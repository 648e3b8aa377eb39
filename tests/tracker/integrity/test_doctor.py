"""`manage.py doctor`, for users and scripts."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command

from tests.builders import make_project, make_run
from tests.tracker.integrity.stored import OF_A_CHUNK, POINTS, chunks_of, damage, fill
from tracker.integrity import report as report_module
from tracker.management.commands import doctor
from tracker.models import Attribute, JournalEntry, Run, SeriesTicks

ROOT = Path(__file__).resolve().parents[3]
in_the_database = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def run(member):
    return fill(make_project(member))


@pytest.fixture
def diagnose(capsys, monkeypatch):
    """Call the command; return its exit code and its output."""
    # The machine that runs the tests must not affect the result.
    monkeypatch.setattr(doctor, "look_around", lambda *, is_thorough: iter(()))

    def call(*arguments):
        with pytest.raises(SystemExit) as end:
            call_command("doctor", *arguments)
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    return call


class TestOfRuns:
    pytestmark = in_the_database

    def test_a_sound_store_is_well(self, run, diagnose):
        code, output, _ = diagnose()

        assert code == 0
        assert output.endswith("0 more cannot be read\nNo problems found.\n")
        assert f"read {2 * POINTS + 302:,} points in" in output

    def test_damage_is_one_line_that_says_what_to_do(self, run, diagnose):
        damage(chunks_of(run, "loss")[0])

        code, output, _ = diagnose()

        assert code == 2
        (line,) = [line for line in output.splitlines() if line.startswith("ERROR")]
        assert f"run baseline ({run.id}), loss, chunk" in line
        assert "→ restore the last backup" in line
        assert "1 error and 0 warnings." in output

    def test_a_warning_leads_to_another_exit_code(self, run, diagnose):
        damage(chunks_of(run, "loss")[0], "overview")

        assert diagnose()[0] == 1

    def test_it_only_reads_unless_asked_to_repair(self, run, diagnose):
        Attribute.objects.filter(path="loss").update(count=7)
        SeriesTicks.objects.update(chunk_count=9)
        damage(JournalEntry.objects.get())

        assert diagnose()[0] == 2
        assert Attribute.objects.get(path="loss").count == 7

        code, output, _ = diagnose("--repair")
        assert "REPAIRED run baseline" in output
        assert "5 repaired." in output, output
        assert code == 0
        assert Attribute.objects.get(path="loss").count == POINTS

    def test_drawing_buckets_are_made_anew(self, run, diagnose):
        for path in ("loss", "accuracy"):
            damage(chunks_of(run, path)[0], "overview")
        damage(
            SeriesTicks.objects.get(id=chunks_of(run, "loss")[0].ticks_id), "overview"
        )

        code, output, _ = diagnose("--repair")

        assert (code, output.count("REPAIRED")) == (0, 3), output
        assert diagnose()[1].endswith("No problems found.\n")

    def test_json_says_the_same(self, run, diagnose):
        damage(chunks_of(run, "loss")[0])

        code, output, _ = diagnose("--json")

        answer = json.loads(output)
        assert (code, answer["exit_code"], answer["errors"]) == (2, 2, 1)
        (problem,) = answer["problems"]
        assert problem["code"] == "chunk-damaged"
        assert problem["run_id"] == str(run.id)
        assert answer["read"]["unreadable_points"] == OF_A_CHUNK
        assert answer["rows"]["Run"] == 1

    def test_looks_at_one_run_when_told_to(self, run, diagnose):
        other = make_run(run.project, "other")
        damage(chunks_of(run, "loss")[0])

        assert diagnose("--run", str(other.id))[0] == 0
        assert diagnose("--run", str(run.id))[0] == 2
        code, _, complaint = diagnose("--run", str(uuid4()))
        assert (code, "not found" in complaint) == (2, True)

    def test_much_damage_is_counted_not_listed(self, run, diagnose, monkeypatch):
        monkeypatch.setattr(report_module, "LISTED", 2)
        monkeypatch.setattr(doctor, "KEPT", 3)
        for chunk in (*chunks_of(run, "loss"), *chunks_of(run, "accuracy")):
            damage(chunk)

        code, output, _ = diagnose()

        assert code == 2
        assert output.count("ERROR") == 2
        assert "2 more of the kind chunk-damaged" in output
        assert "4 errors" in output

    def test_a_name_cannot_make_lines_of_its_own(self, run, diagnose):
        Run.objects.update(name="a\nERROR    \x1b[31mfake\u202e")
        damage(chunks_of(run, "loss")[0])

        _, output, _ = diagnose()

        assert output.count("\nERROR") + output.startswith("ERROR") == 1
        assert "\x1b" not in output
        assert "\u202e" not in output

    def test_a_long_walk_says_how_far_it_is(self, run, diagnose, monkeypatch):
        monkeypatch.setattr(report_module, "PROGRESS_SECONDS", 0)

        _, output, muttered = diagnose("--json")

        assert f"run 1 of 1, {2 * POINTS + 302:,} points read" in muttered
        json.loads(output)

    def test_everything_around_is_looked_at_too(self, run, capsys):
        with pytest.raises(SystemExit) as end:
            call_command("doctor", "--json")

        answer = json.loads(capsys.readouterr().out)
        if django_settings.IS_SQLITE:
            assert answer["errors"] == 0
        else:
            assert "postgresql-fsync" in answer["kinds"]
            assert end.value.code == 2


@pytest.mark.processes
class TestAsAProcess:
    @pytest.fixture
    def call(self, tmp_path):
        environment = dict(os.environ)
        environment.pop("SEAMARK_DATABASE_URL", None)

        def call(*arguments):
            return subprocess.run(
                [sys.executable, "manage.py", *arguments],
                cwd=ROOT,
                env=environment | {"SEAMARK_DATA": str(tmp_path)},
                capture_output=True,
                text=True,
                check=False,
            )

        return call

    def test_makes_no_database_where_there_is_none(self, call, tmp_path):
        result = call("doctor")

        assert result.returncode == 2
        assert "No database found at" in result.stderr
        assert not list(tmp_path.glob("*.sqlite3"))

    def test_says_so_when_the_database_is_of_another_version(self, call, tmp_path):
        with closing(sqlite3.connect(tmp_path / "seamark.sqlite3")) as connection:
            connection.execute("CREATE TABLE t (x)")

        result = call("doctor")

        assert result.returncode == 2
        assert "schema is outdated" in result.stderr

    def test_finds_a_file_that_is_damaged(self, call, tmp_path):
        assert call("migrate", "-v0").returncode == 0
        assert call("doctor").returncode in (0, 1)
        path = tmp_path / "seamark.sqlite3"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (root,) = connection.execute(
                "SELECT rootpage FROM sqlite_master WHERE name = 'spool_running'"
            ).fetchone()
            (page,) = connection.execute("PRAGMA page_size").fetchone()
        with path.open("r+b") as file:
            file.seek((root - 1) * page)
            file.write(b"\xff" * page)

        result = call("doctor")

        assert result.returncode == 2
        assert "ERROR" in result.stdout + result.stderr or "malformed" in result.stderr
