"""The summary at the end of `manage.py test`."""

from __future__ import annotations

from tests.__main__ import outcome_of


def write_report(path, *, tests, skipped=0, failed=(), errors=()):
    cases = [
        *(f'<testcase classname="c" name="{name}"><failure/>' for name in failed),
        *(f'<testcase classname="c" name="{name}"><error/>' for name in errors),
    ]
    body = "".join(f"{case}</testcase>" for case in cases)
    path.write_text(
        f'<testsuites><testsuite tests="{tests}" skipped="{skipped}">{body}'
        "</testsuite></testsuites>"
    )


def test_tests_that_fail_once_and_pass_alone_are_flaky(tmp_path):
    report, again = tmp_path / "report.xml", tmp_path / "again.xml"
    write_report(report, tests=9, skipped=2, failed=["a", "b"], errors=["b", "d"])
    write_report(again, tests=3, failed=["b"])

    outcome = outcome_of("slow, SQLite", 1, report, again, seconds=12.3)

    assert not outcome.passed_all
    assert str(outcome).splitlines() == [
        "slow, SQLite       4 passed, 1 failed, 2 flaky, 2 skipped, 12 s",
        "  FAILED:",
        "    c.b",
        "  FLAKY, failed once and passed alone:",
        "    c.a",
        "    c.d",
    ]


def test_failed_tests_that_were_not_repeated_are_failed(tmp_path):
    report = tmp_path / "report.xml"
    write_report(report, tests=2, failed=["a"])

    outcome = outcome_of("SQLite", 1, report, tmp_path / "none.xml", seconds=1)

    assert (outcome.passed, outcome.failed, outcome.flaky) == (1, ("c.a",), ())


def test_a_suite_without_a_report_failed(tmp_path):
    report = tmp_path / "none.xml"

    assert not outcome_of("SQLite", 3, report, report, seconds=1).passed_all
