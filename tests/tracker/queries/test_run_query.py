"""Results of the query language on real rows of each database."""

from __future__ import annotations

import math
import operator
import os
from datetime import UTC, datetime, timedelta
from itertools import cycle

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import (
    make_member,
    make_project,
    make_run,
    write_series,
    write_tags,
    write_values,
)
from tests.tracker.queries.findings import add_finding
from tests.tracker.queries.ledgers import add_ledger
from tests.tracker.queries.run_query.written import computed, queries
from tracker.models import Attribute, Kind, Run, State
from tracker.queries.run_query.arithmetic import LARGEST, SMALLEST, operator_count
from tracker.queries.run_query.tree import (
    SUMMARIES,
    AttributeField,
    Calculation,
    Negation,
    Number,
)
from tracker.queries.runs import pages
from tracker.queries.runs.filter import filters
from tracker.queries.runs.filter.filters import (
    Found,
    InvalidQuery,
    RunFilter,
    read_query,
)
from tracker.queries.runs.order import RunOrder
from tracker.queries.runs.table import runs_page
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]

EXAMPLES = int(os.environ.get("TEST_EXAMPLES", "10"))
LONG = "x" * 200
NEVER = 10**9


@pytest.fixture(params=["few", "many", "most", "half"])
def size(request, monkeypatch):
    """Run each query with every strategy: ids of few runs, sets of many runs, and lookups
    of the first ones, one by one or in a set. All must give the same result.
    """
    if request.param != "few":
        monkeypatch.setattr(filters, "FEW", 0)
    monkeypatch.setattr(
        pages, "SORTED_MEANWHILE", NEVER if request.param == "many" else 0
    )
    monkeypatch.setattr(
        pages, "COLLECTED_MEANWHILE", NEVER if request.param == "half" else 0
    )


@pytest.fixture
def project(member, size):
    project = make_project(member)
    low, high, nan, empty = (
        make_run(project, name) for name in ("low", "high", "nan", "empty")
    )
    write_values(
        low,
        {
            "params/lr": 0.1,
            "params/n": 3,
            "params/amp": True,
            "params/opt": "Adam",
            "note": LONG,
            "when": datetime(2026, 1, 2, tzinfo=UTC),
            'odd "path" \\ µ': 1,
            "city": "Ένα ΘΈΡΜΗ, Łódź",
            "cities": ["ŁÓDŹ", "Rīga"],
            "story": "Ж" * 150,
        },
    )
    write_values(
        high,
        {
            "params/lr": 0.5,
            "params/n": 2**60,
            "params/amp": False,
            "params/opt": "sgd",
            "note": "y",
            "when": datetime(2026, 2, 2, tzinfo=UTC),
        },
    )
    write_values(nan, {"params/lr": math.nan, "params/opt": 7})
    write_values(nan, {"gpu": 7, "monitoring/train/facts/effective_cores": 4})
    write_summaries(low, high, nan, member)
    write_tags(low, "dali", "50 %")
    write_tags(high, 'a "b"')
    for run, values in [(low, [3.0, 1.0]), (high, [1.0, 2.0]), (nan, [1.0, math.nan])]:
        write_series(run, "train/loss", values)
        compact_run(run.id)
    Run.objects.filter(pk=high.pk).update(state=State.FAILED)
    trashed = make_run(project, "trashed")
    write_values(trashed, {"params/lr": 0.1})
    Run.objects.filter(pk=trashed.pk).update(trashed_at=timezone.now())
    other = make_run(make_project(make_member("mallory")), "elsewhere")
    write_values(other, {"params/lr": 0.1})
    assert empty.attributes.count() == 0
    return project


def write_summaries(low, high, nan, member):
    """Add agent metrics and diagnoses to the runs."""
    gpu, cpu = "gpu/{}/utilization_percent", "job/cpu_cores"
    cores = "facts/effective_cores"
    write_values(low, {f"monitoring/train/{cores}": 4})
    for run, path, values in [
        (low, gpu.format(0), [90.0, 70.0]),
        (high, gpu.format(0), [20.0]),
        (high, gpu.format(1), [40.0]),
        (low, cpu, [1.0, 3.0]),
        (high, cpu, [1.0]),
    ]:
        write_series(run, f"monitoring/train/{path}", values)
    add_ledger(low, computing=5_400.0, idle=1_800.0, energy=7.2e6)
    add_ledger(high, computing=900.0, idle=2_700.0)
    add_ledger(nan, unknown=3_600.0)
    add_finding(low, "Memory is nearly full", severity="warning")
    add_finding(low, "Training waits for data", severity="critical")
    add_finding(low, "Nothing is measured", severity="critical", confidence=0.5)
    add_finding(high, "Memory is nearly full", severity="notice")
    add_finding(
        high, "Dismissed data", severity="critical", dismissed_at=timezone.now()
    )
    add_finding(nan, "Closed data", severity="critical", is_open=False)
    makers = {low: member.user_id, high: make_member("eve").user_id}
    for run in low.project.runs.all():
        Run.objects.filter(pk=run.pk).update(made_by=makers.get(run))


def found(project, query, sort="name"):
    page = runs_page(
        project.id,
        wanted=RunFilter(query=read_query(query)),
        order=RunOrder(sort, is_descending=False),
        keys=[],
        limit=100,
    )
    names = [row.name for row in page.rows]
    assert page.matching == len(names)
    assert page.total == 4
    return names


MEANT = [
    ("params/lr < 0.3", ["low"]),
    ("params/lr >= 0.1", ["high", "low"]),
    ("params/lr = 0.5", ["high"]),
    ("params/lr != 0.5", ["low"]),
    ("params/lr is nan", ["nan"]),
    ("not params/lr < 0.3", ["empty", "high", "nan"]),
    ("params/n = 3", ["low"]),
    ("params/n > 1e18", ["high"]),
    ("params/amp = true", ["low"]),
    ("params/amp != true", ["high"]),
    ("params/amp = 1", []),
    ("params/amp != 1", ["high", "low"]),
    ("params/opt = Adam", ["low"]),
    ("params/opt = adam", []),
    ("params/opt != Adam", ["high"]),
    ('params/opt ~ "ADA"', ["low"]),
    ('params/opt ~ "%"', []),
    (f"note = {LONG}", ["low"]),
    (f"note != {LONG}", ["high"]),
    ('note ~ "XXXX"', ["low"]),
    ("when > 2026-01-15", ["high"]),
    ("when = 2026-01-02", ["low"]),
    ("tags contains dali", ["low"]),
    ("tags contains dal", []),
    ('tags contains "50 %"', ["low"]),
    ('tags contains "a \\"b\\""', ["high"]),
    ('tags ~ "ALI"', ["low"]),
    ('city ~ "łÓDŹ"', ["low"]),
    ('city ~ "θέρμη, ł"', ["low"]),
    ('not city ~ "łódź"', ["empty", "high", "nan"]),
    ('cities ~ "łódź"', ["low"]),
    ('cities ~ "RĪGA"', ["low"]),
    ('cities ~ "łódź, rīga"', []),
    ('story ~ "жжж"', ["low"]),
    ('params/n ~ "é"', []),
    ('"odd \\"path\\" \\\\ µ" = 1', ["low"]),
    ("exists params/lr", ["high", "low", "nan"]),
    ("not exists params/lr", ["empty"]),
    ("train/loss < 1.5", ["low"]),
    ("train/loss is nan", ["nan"]),
    ("min(train/loss) = 1", ["high", "low", "nan"]),
    ("max(train/loss) > 2", ["low"]),
    ("mean(train/loss) < 1.9", ["high", "nan"]),
    ("count(train/loss) = 2", ["high", "low", "nan"]),
    ("count(params/lr) >= 0", []),
    ("last_step(train/loss) = 1", ["high", "low", "nan"]),
    ("state = failed", ["high"]),
    ("state != failed", ["empty", "low", "nan"]),
    ("name = low", ["low"]),
    ('name ~ "A"', ["nan"]),
    ("started > 2020-01-01", ["empty", "high", "low", "nan"]),
    ("started > -1s", []),
    ("duration > 1h", ["empty", "high", "low", "nan"]),
    ("ended > 2020-01-01", []),
    ("not ended > 2020-01-01", ["empty", "high", "low", "nan"]),
    ("train/loss < 3 and params/lr > 0.3", ["high"]),
    ("train/loss > 0 and train/loss < 1.5", ["low"]),
    ("params/lr is nan or params/lr < 0.3", ["low", "nan"]),
    ("params/lr < 1 and not (state = failed or tags contains x)", ["low"]),
    ("not (params/lr < 1 and state = failed)", ["empty", "low", "nan"]),
    ('train/loss < 0.3 and tags contains dali or state = "failed"', ["high"]),
]


# Arithmetic on several attributes.
COMPUTED = [
    ("train/loss - params/lr > 1", ["high"]),
    ("1 < train/loss - params/lr", ["high"]),
    ("train/loss / params/lr = 10", ["low"]),
    ("(params/n + 1) * params/lr < 0.5", ["low"]),
    ("params/n * params/lr > 1e17", ["high"]),
    ("max(train/loss) - min(train/loss) = 2", ["low"]),
    ("max(train/loss) - min(train/loss) != 2", ["high", "nan"]),
    ("mean(train/loss) * count(train/loss) >= 3", ["high", "low"]),
    ("train/loss < params/lr * 5", ["high"]),
    ("params/lr < train/loss", ["high", "low"]),
    ("params/lr = last(params/lr)", ["high", "low"]),
    ("params/lr - params/lr = 0", ["high", "low"]),
    ("params/lr / (params/lr - params/lr) != 1", []),
    ("params/opt - 1 != 1", ["nan"]),
    ("note - 1 != 1", []),
    ("nowhere - params/lr < 1", []),
    ("not train/loss - params/lr > 1", ["empty", "low", "nan"]),
    ("params/amp + params/lr > 1", ["low"]),
    ("train/loss - params/lr > 0 and params/lr < 0.3", ["low"]),
    ("train/loss - params/lr > 0 or state = failed", ["high", "low"]),
    ('not (params/lr * 2 < 0.5 or name = "nan")', ["empty", "high"]),
    ("1 + 2 < params/lr * 10", ["high"]),
]

# Columns of the run summary.
SUMMARY_QUERIES = [
    ("gpu_idle > 40", ["high"]),
    ("gpu_idle <= 40", ["low"]),
    ("gpu_idle != 25", ["high"]),
    ("not gpu_idle > 40", ["empty", "low", "nan"]),
    ("gpu_hours >= 1", ["high", "low", "nan"]),
    ("gpu_hours = 2", ["low"]),
    ("energy = 2", ["low"]),
    ("energy < 1000", ["low"]),
    ("gpu > 50", ["low"]),
    ("gpu = 30", ["high"]),
    ('"gpu" = 7', ["nan"]),
    ("cpu = 50", ["low"]),
    ("cpu >= 0", ["low"]),
    ("cpu > 40 or gpu < 40", ["high", "low"]),
    ('finding ~ "DATA"', ["low"]),
    ('finding = "Memory is nearly full"', ["high"]),
    ('finding != "Memory is nearly full"', ["low"]),
    ('not finding ~ "data"', ["empty", "high", "nan"]),
    ("made_by = ada", ["low"]),
    ("made_by != ada", ["high"]),
    ('made_by ~ "VE"', ["high"]),
    ("not made_by = ada", ["empty", "high", "nan"]),
    ("exists made_by", ["high", "low"]),
    ("not exists finding", ["empty", "nan"]),
    ("exists gpu_hours and not exists gpu_idle", ["nan"]),
    ("exists gpu", ["high", "low"]),
    ("exists cpu", ["low"]),
    ("exists energy", ["low"]),
    ("exists state", ["empty", "high", "low", "nan"]),
    ("not exists ended", ["empty", "high", "low", "nan"]),
    ("params/lr < 1 and gpu_idle > 40", ["high"]),
    ("params/lr < 1 and not (gpu_idle > 40 or made_by = mallory)", ["low"]),
]


def test_finds_the_runs_that_are_meant(project):
    # With orders by an attribute, by a summary of a series, and by the run summary.
    sorts = cycle(("path:params/lr", "mean:train/loss", "tags", "gpu", "stages"))
    otherwise = {}
    for (query, names), sort in zip(MEANT, sorts, strict=False):
        if (sorted_names := sorted(found(project, query, sort))) != names:
            otherwise[query, sort] = sorted_names
        if (by_name := found(project, query)) != names:
            otherwise[query] = by_name

    assert otherwise == {}


def test_finds_runs_by_what_is_computed(project):
    sorts = cycle(("name", "path:params/lr", "mean:train/loss"))
    otherwise = {}
    for (query, names), sort in zip(COMPUTED, sorts, strict=False):
        if (in_order := sorted(found(project, query, sort))) != names:
            otherwise[query, sort] = in_order

    assert otherwise == {}


# Runs with every kind of number at some of three paths, and with other values.
ODD = [
    {},
    {"a": 1.0, "b": 2.0, "c": 4.0},
    {"a": 0.1, "b": 0.2, "c": 0.3},
    {"a": 3, "b": -0.0, "c": True},
    {"a": math.nan, "b": math.inf, "c": -math.inf},
    {"a": 1e308, "b": 1e308, "c": -1e308},
    {"a": 5e-324, "b": -5e-324, "c": 1e-200},
    {"a": 1e40, "b": -1e40, "c": 1e-40},
    {"a": 1.0, "b": math.nextafter(1.0, 2.0), "c": 2**60},
    {"a": "a text", "b": datetime(2026, 1, 2, tzinfo=UTC), "c": 1.0},
    {"b": [1.0, 2.5, math.nan], "c": [1e308, 1e307]},
    {"a": [5e-324, 5e-324], "b": [math.inf, -math.inf], "c": [math.nan]},
]
SUMMARY_OF = {
    "last": lambda series: series[-1],
    "min": lambda series: min(_without_nan(series), default=math.nan),
    "max": lambda series: max(_without_nan(series), default=math.nan),
    "mean": lambda series: _mean([each for each in series if math.isfinite(each)]),
    "count": lambda series: float(len(series)),
    "first_step": lambda _: 0.0,
    "last_step": lambda series: len(series) - 1.0,
}
OF_SIGN = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right if right else math.nan,
}
OF_OPERATOR = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    # NaN stands for unknown, for which no comparison is true.
    "!=": lambda left, right: left < right or left > right,
}


def _without_nan(series):
    return [each for each in series if not math.isnan(each)]


def _mean(series):
    total = sum(series)
    return (
        (total if abs(total) >= SMALLEST else 0.0) / len(series) if series else math.nan
    )


def is_true(condition, values):
    """Evaluate a condition with arithmetic for a run, without a database."""
    is_bounded = operator_count(condition) > 0

    def of(term):
        match term:
            case Number(value=value):
                return value
            case Calculation(left=left, sign=sign, right=right):
                return OF_SIGN[sign](of(left), of(right))
        value = held(values.get(term.path), term.summary)
        if not is_bounded:
            return value
        size = abs(value)
        return value if SMALLEST <= size <= LARGEST else 0.0 if size < 1 else math.nan

    compare = OF_OPERATOR[condition.operator]
    return compare(of(condition.left), of(condition.right))


def held(value, summary):
    match value:
        case list():
            return SUMMARY_OF[summary](value)
        case float() | int() if summary == "last":
            return float(value)
    return math.nan


@settings(
    max_examples=3 * EXAMPLES,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    condition=computed(
        st.builds(AttributeField, st.sampled_from("abc"))
        | st.builds(AttributeField, st.sampled_from("abc"), st.sampled_from(SUMMARIES))
    )
)
def test_conditions_give_the_same_result_as_in_python(odd_project, condition):
    names = {f"run-{n}" for n, values in enumerate(ODD) if is_true(condition, values)}

    for tree, expected in (
        (condition, names),
        (Negation(condition), {f"run-{n}" for n in range(len(ODD))} - names),
    ):
        found = Found(odd_project.id, RunFilter(query=tree))
        assert {run.name for run in found.runs()} == expected
        ids = list(odd_project.runs.values_list("id", flat=True))
        assert len(found.among(ids)) == len(expected)


@pytest.fixture
def odd_project(member):
    project = make_project(member, "odd")
    for number, values in enumerate(ODD):
        run = make_run(project, f"run-{number}")
        single = {p: each for p, each in values.items() if not isinstance(each, list)}
        write_values(run, single)
        for path in values.keys() - single.keys():
            write_series(run, path, values[path])
        compact_run(run.id)
    return project


def test_finds_runs_by_readings_ledgers_findings_and_makers(project):
    sorts = cycle(("name", "mean:train/loss", "name"))
    otherwise = {}
    for (query, names), sort in zip(SUMMARY_QUERIES, sorts, strict=False):
        if (in_order := sorted(found(project, query, sort))) != names:
            otherwise[query, sort] = in_order

    assert otherwise == {}


def test_sorts_by_a_condition_s_own_attribute(project):
    assert found(project, "params/lr < 1", "path:params/lr") == ["low", "high"]
    assert found(project, "not params/lr > 1", "path:params/lr") == [
        *("low", "high", "nan", "empty")
    ]


SORTED = [
    ("min:train/loss", {"high", "low", "nan"}),
    ("max:train/loss", ["nan", "high", "low"]),
    ("mean:train/loss", ["nan", "high", "low"]),
    ("path:train/loss", ["low", "high", "nan"]),
    ("path:params/opt", ["nan", "low", "high"]),  # a number before texts
    ("path:note", ["high", "low"]),  # short texts before long ones
    ("path:params/n", ["low", "high"]),
    ("path:when", ["low", "high"]),
]


def test_sorts_by_what_runs_hold_and_the_others_come_last(project):
    for key, names in SORTED:
        rows = found(project, "not name = trash", key)

        first = rows[: len(names)]
        assert (set(first) if isinstance(names, set) else first) == names, key
        assert "empty" in rows[len(names) :], key


def test_whatever_is_written_is_only_a_value(project):
    for value in ("' OR 1=1 --", "%", "_", "\\", '"', "{}", "%s", "é"):
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')

        assert found(project, f'params/opt = "{quoted}"') == [], value
        assert found(project, f'"{quoted}" = 1') == [], value
        assert found(project, f'tags contains "{quoted}"') == [], value


@settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(tree=queries)
def test_any_query_can_be_asked(project, tree):
    page = runs_page(
        project.id,
        wanted=RunFilter(query=tree),
        order=RunOrder("path:params/lr"),
        keys=[],
        limit=10,
    )

    assert len(page.rows) == page.matching <= page.total == 4


def test_a_query_costs_the_same_for_many_runs(project):
    def cost() -> int:
        with CaptureQueriesContext(connection) as statements:
            found_page(project)
            return len(statements)

    def found_page(project):
        runs_page(
            project.id,
            wanted=RunFilter(query=read_query("params/lr < 9 and not state = failed")),
            order=RunOrder("path:params/lr"),
            keys=["path:params/lr"],
            limit=100,
        )

    # Runs without a finding need one more statement.
    write_values(make_run(project, "plain"), {"params/lr": 1})
    before = cost()
    runs = Run.objects.bulk_create(
        Run(project=project, name=f"more {number}") for number in range(50)
    )
    Attribute.objects.bulk_create(
        Attribute(
            run=run, project=project, path="params/lr", kind=Kind.FLOAT, number=place
        )
        for place, run in enumerate(runs)
    )

    assert cost() <= before


def test_a_bad_query_says_where(member):
    with pytest.raises(InvalidQuery, match="character 5") as refusal:
        read_query("a = & 3")

    assert (refusal.value.position, refusal.value.length) == (4, 1)


def test_nothing_written_asks_for_everything():
    assert read_query("  ") is None


def test_time_passes_for_a_run_that_runs(member):
    project = make_project(member)
    now = timezone.now()
    Run.objects.create(
        project=project,
        name="r",
        started_at=now - timedelta(hours=30),
        active_seconds=3_600,
        active_since=now - timedelta(hours=2),
    )
    run_filters = [
        RunFilter(query=read_query(text))
        for text in (
            *("duration > 2h", "duration > 4h"),
            *("wall_time > 29h", "wall_time > 31h"),
        )
    ]

    counts = [
        runs_page(
            project.id, wanted=one, order=RunOrder("duration"), keys=[], limit=1
        ).matching
        for one in run_filters
    ]

    assert counts == [1, 0, 1, 0]
