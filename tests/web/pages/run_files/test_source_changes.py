"""Differences between the sources of two runs."""

from tracker.queries.run.source import CapturedSource
from web.pages.run_files.source_changes import MAX_CHANGES, source_changes
from web.pages.run_files.text_diff import LINES_AT_MOST

BEFORE = {
    "git": {"commit": "aaa", "branch": "main", "is_dirty": False},
    "source": {"arguments": "python a.py --lr 0.1 --amp", "text": "lr = 1\nfit()\n"},
    "packages": {"list": "numpy==1\ntorch==2\n"},
    "environment": {"OMP_NUM_THREADS": "8"},
    "facts": {"host": "node-1", "host_cores": 8, "readings": "not a card's"},
}
AFTER = {
    **BEFORE,
    "git": {"commit": "bbb", "branch": "main", "is_dirty": True, "diff": "-a\n+b\n"},
    "source": {"arguments": "python a.py --lr 0.2", "text": "lr = 2\nfit()\n"},
    "packages": {"list": "numpy==1\ntorch==3\npillow==9\n"},
    "facts": {"host": "node-2", "host_cores": 8, "readings": "others"},
}


def changes(before, after):
    return source_changes(CapturedSource(before), CapturedSource(after))


def test_tells_what_differs_part_by_part():
    found = changes(BEFORE, AFTER)

    rows = {
        group.title: [(row.name, row.before, row.after) for row in group.rows]
        for group in found.groups
    }
    assert rows == {
        "Code": [
            ("commit", "aaa", "bbb"),
            ("uncommitted changes", "false", "true"),
            ("uncommitted diff", None, "2 lines of diff"),
        ],
        "Arguments": [("--amp", "set", None), ("--lr", "0.1", "0.2")],
        "Packages": [("pillow", None, "9"), ("torch", "2", "3")],
        "Machine": [("host", "node-1", "node-2")],
    }
    assert not found.is_same


def test_the_script_is_a_diff():
    script = changes(BEFORE, AFTER).script

    assert script is not None
    assert (script.added, script.removed) == (1, 1)


def test_an_end_of_line_is_no_change_of_the_script():
    def of(text):
        return {"source": {"text": text}}

    assert changes(of("a\nb\n"), of("a\r\nb")).is_same


def test_what_lies_beyond_what_is_compared_is_not_called_the_same():
    long = "line\n" * LINES_AT_MOST
    found = changes({"source": {"text": long}}, {"source": {"text": f"{long}more\n"}})

    assert found.script is not None
    assert found.script.is_cut
    assert not found.is_same


def test_the_same_is_the_same():
    assert changes(BEFORE, BEFORE).is_same


def test_what_only_one_has_is_not_compared():
    found = changes({"git": {"commit": "a"}}, {"packages": {"list": "a==1"}})

    assert found.unknown == ("code", "packages")
    assert not found.groups
    assert not found.is_same


def test_very_many_changes_are_counted():
    packages = {"list": "".join(f"p{n}==1\n" for n in range(500))}

    (group,) = changes({"packages": {"list": "a==1"}}, {"packages": packages}).groups

    assert (len(group.rows), group.hidden) == (MAX_CHANGES, 501 - MAX_CHANGES)
