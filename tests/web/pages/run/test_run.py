"""A run's first page."""

import re
from datetime import timedelta
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from django.db.models.signals import post_init
from django.utils import timezone

from tests.builders import (
    SECOND,
    START,
    Process,
    actor_of,
    close_message,
    make_run,
    write,
    write_series,
    write_tags,
    write_values,
)
from tests.tracker.api.v1.test_files import deliver, file_message
from tests.web.sample_run import make_sample_run, settle
from tracker.actions.diagnoses.rule_settings import set_rule
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.actions.prices import set_price
from tracker.models import Attribute, Diagnosis, Finding, Run, Stage, State
from tracker.queries.run.key_values import MAX_METRICS, MAX_PARAMS

pytestmark = pytest.mark.django_db

# Maximum number of queries per tab.
STATEMENTS = {
    "": 28,
    "charts": 19,
    "hardware": 17,
    "profile": 19,
    "attributes": 17,
    "logs": 16,
}
NAMESPACES = ("params", "model", "monitoring/train", "monitoring/train/rank-1/facts")
HOSTILE = "<script>alert(1)</script>\"'../../__proto__\u202e"


@pytest.fixture
def page(client_of, member):
    """Return a function that gives the text of a run's page."""
    client = client_of(member)

    def read(run, tab="", **headers):
        response = client.get(f"/runs/{run.id}/{tab}", headers=headers)
        assert response.status_code == 200
        return response.content.decode()

    return read


def test_says_first_why_training_was_slow_and_what_to_try(project, page):
    text = page(make_sample_run(project))

    finding, metrics = text.index("Not enough data-loader"), text.index("Key metrics")
    assert text.index('id="stage-1"') < finding < metrics
    assert text.index("<h2", text.index('id="run-overview"')) < finding
    assert "DataLoader(dataset, num_workers=2, persistent_workers=True)" in text
    assert "Expected</span>" in text
    assert "at most</span>" in text
    assert "How to rule it out" in text
    assert "confirmed" in text


def test_each_finding_leads_to_the_page_of_its_rule(project, page, client_of, member):
    text = page(make_sample_run(project))
    links = set(re.findall(r'href="(/docs/rules/[\w-]+)">About this rule', text))

    assert links
    for link in links:
        assert ">Example</h2>" in client_of(member).get(link).content.decode()


def test_training_comes_before_the_stages_that_began_earlier(project, page):
    text = page(make_sample_run(project))

    assert (
        text.index(">train</h2>")
        < text.index(">preprocess</h2>")
        < text.index(">infer</h2>")
    )


def test_unanswered_rules_say_what_would_answer_them(project, page):
    text = page(make_sample_run(project))

    assert "unanswered" in text
    assert "for batch in run.loader(loader):" in text


def test_what_would_answer_many_rules_is_said_once(project, page):
    text = unescape(page(make_sample_run(project)))
    unanswered = text[text.index('id="unanswered-2"') : text.index('id="healthy-2"')]

    assert max(map(int, re.findall(r"For (\d+) checks?, add", unanswered))) > 5
    assert "agent.init" not in unanswered  # the script has called it
    assert unanswered.count("for batch in run.loader(loader):") <= 5


def test_a_stage_of_which_little_is_known_is_not_called_well(project, page):
    text = unescape(page(make_sample_run(project)))
    preprocess = text[text.index(">preprocess</h2>") : text.index(">infer</h2>")]

    assert "No speed diagnosis" in preprocess
    assert "stage__verdict--well" not in preprocess
    assert "for batch in run.loader(loader):" in preprocess


def test_only_rules_that_lack_a_gpu_are_said_to_need_one(project, page):
    text = unescape(page(make_sample_run(project)))
    needing, _, others = text.partition('id="elsewhere-1"')

    title = "Faster than the previous run, but learns worse"
    assert title not in needing[needing.index('id="not-applicable-1"') :]
    assert "an earlier run to compare with" in others[: others.index(title)]


def test_a_cleared_finding_is_in_one_list_and_says_why(project, page):
    run = make_sample_run(project)
    healthy = Diagnosis.objects.get(stage__run=run, stage__name="train").healthy
    gone = Finding.objects.filter(run=run, stage__name="train").first()
    gone.rule, gone.title = healthy[0], "It was slow"
    gone.is_open, gone.is_primary, gone.cleared_at = False, False, timezone.now()
    gone.save()

    text = unescape(page(run))
    train = text[text.index('id="checks"') : text.index('id="unanswered-2"')]
    listed = train[train.index('id="healthy-1"') : train.index('id="cleared-1"')]

    assert f"rules/{healthy[0]}" not in listed
    assert f"{len(healthy) - 1} healthy" in listed
    assert "Not found in the" in train[train.index('id="cleared-1"') :]


def test_a_limit_says_which_side_of_it_is_bad(project, page):
    table = page(make_sample_run(project)).partition("finding__table")[2]

    assert "&gt; 10 %" in table.partition("</table>")[0]
    assert "&lt; 3.4 cores" in table or "&lt; 1.7 cores" in table


def test_key_metrics_leave_out_what_the_agent_measured(project, page):
    metrics = page(make_sample_run(project)).partition("Key metrics")[2]

    assert "train/<wbr>loss" in metrics
    assert "monitoring/" not in metrics


def test_a_run_nobody_diagnosed_says_what_is_missing(project, page):
    text = page(make_run(project))

    assert "No diagnosis yet" in text
    assert "for batch in run.loader(loader):" in text
    assert "No metrics yet" in text


def test_a_failed_stage_shows_why(project, page):
    run = make_run(project, state="failed", failure="ValueError: shapes do not match")

    assert "ValueError: shapes do not match" in page(run)


def test_a_traceback_does_not_repeat_the_exception_above_it(project, page):
    traceback = (
        'Traceback (most recent call last):\n  File "train.py", line 12, in <module>\n'
        "    loss.backward()\nRuntimeError: no gradient"
    )
    shown = page(make_run(project, state="failed", failure=traceback))

    assert '<p class="stage__raised">RuntimeError: no gradient</p>' in shown
    [code] = re.findall(r"<pre[^>]*><code>(Traceback.*?)</code>", shown, re.DOTALL)
    assert unescape(code) == traceback.removesuffix("\nRuntimeError: no gradient")
    [copied] = re.findall(r'data-copy-text="(Traceback[^"]*)"', shown)
    assert unescape(copied) == traceback


@pytest.mark.parametrize(
    ("is_live", "head", "saved"),
    [
        (
            False,
            r"[sn], [\d,]+ steps analyzed after warm-up",
            "for a run of this length",
        ),
        (
            True,
            r" so far, [\d,]+ steps after warm-up; findings cover the last \d",
            "up to now",
        ),
    ],
)
def test_the_page_tells_a_running_stage_from_one_that_ended(
    project, page, is_live, head, saved
):
    shown = page(make_sample_run(project, has_gpu=True, is_live=is_live))

    assert re.search(head, shown)
    savings = shown.partition("Expected savings:")[2].partition("</p>")[0]
    assert saved in savings
    assert re.search(r"(confirmed|likely), \d+ % confidence", shown)


def test_a_preempted_stage_says_that_it_was_told_to_end(project, page):
    shown = page(make_run(project, state="preempted"))

    assert "was preempted and stopped cleanly" in shown
    assert "chip--preempted" in shown


@pytest.mark.parametrize(
    ("watched", "words"),
    [
        ("left alone", "for a while. Its exit status is unknown"),
        ("ended, exit code unknown", "until it ended. Its exit status is unknown"),
    ],
)
def test_a_stage_that_was_watched_from_outside_does_not_claim_to_know_its_end(
    project, page, watched, words
):
    values = {"monitoring/train/watched": watched}
    ended, live = make_run(project, "a", "finished"), make_run(project, "b")
    for run in (ended, live):
        write_values(run, values)

    assert words in page(ended)
    assert words not in page(live)


def test_a_crashed_stage_says_that_nobody_knows_why(project, page):
    assert "stopped without reporting an exit" in page(
        make_run(project, state="crashed")
    )


def test_a_live_run_refreshes_itself_and_a_finished_one_does_not(project, page):
    live, ended = make_run(project, "live"), make_run(project, "ended", "finished")

    assert page(live).count('hx-trigger="every') == 2
    assert 'hx-trigger="every' not in page(ended)


def test_a_refresh_gets_the_body_alone(project, page):
    text = page(make_run(project), **{"HX-Request": "true"})

    assert text.startswith('<div id="run-overview"')
    assert "<html" not in text


def test_the_header_alone_keeps_a_live_page_true(project, page):
    text = page(make_run(project), "header")

    assert text.startswith('<header id="run-header"')
    assert "running" in text


def test_names_are_shown_as_text(project, page):
    run = make_run(project, HOSTILE, "failed", failure=HOSTILE)
    write_values(run, {f"params/{HOSTILE}": HOSTILE})
    settle(run)

    for tab in ("", "charts", "hardware", "attributes"):
        assert "<script>alert" not in page(run, tab)


def test_the_snippet_that_joins_the_run_is_python_whatever_its_name(project, page):
    text = page(make_run(project, 'a"b\\c'))

    assert r"    &quot;a\&quot;b\\c&quot;," in text
    assert "    project=&quot;vision&quot;," in text


def test_values_that_are_not_finite_are_shown_as_such(project, page):
    run = make_run(project)
    write_series(run, "train/loss", [1.0, float("inf"), float("nan")])
    write_values(run, {"params/limit": float("-inf")})
    settle(run)

    text = page(run)
    assert "NaN" in text
    assert "\N{MINUS SIGN}∞" in text


@pytest.mark.parametrize("tab", ["", "header", "charts", "hardware", "attributes"])
def test_a_stranger_finds_nothing(project, client_of, stranger, tab):
    run = make_run(project)

    assert client_of(stranger).get(f"/runs/{run.id}/{tab}").status_code == 404


@pytest.mark.parametrize("tab", ["", "header", "charts", "hardware", "attributes"])
def test_who_is_not_signed_in_is_asked_to(project, client, tab):
    response = client.get(f"/runs/{make_run(project).id}/{tab}")

    assert response.status_code == 302
    assert response.headers["Location"].startswith("/sign-in")


@pytest.mark.parametrize("tab", STATEMENTS)
def test_a_page_costs_the_same_few_statements_however_long_the_run(
    project, client_of, member, tab, django_assert_max_num_queries
):
    run = make_sample_run(project)
    client = client_of(member)

    with django_assert_max_num_queries(STATEMENTS[tab]):
        assert client.get(f"/runs/{run.id}/{tab}").status_code == 200


@pytest.mark.parametrize("tab", ["", "header", "charts", "hardware", "attributes"])
def test_a_page_reads_no_attribute_that_it_does_not_show(project, page, tab):
    run = make_run(project, state="finished")
    write_values(run, {f"{name}/{n}": n for name in NAMESPACES for n in range(200)})
    read = []

    def note(instance, **_):
        read.append(instance.path)

    post_init.connect(note, sender=Attribute)
    try:
        page(run, tab)
    finally:
        post_init.disconnect(note, sender=Attribute)

    assert len(read) <= MAX_METRICS + MAX_PARAMS


def test_points_the_agent_dropped_are_owned_up_to(project, page):
    process = Process(project, "lossy")
    process.open()
    process.send([close_message(time=process.opening["time"] + 1)])
    spool = process.spool
    spool.dropped_points = 12
    spool.save(update_fields=["dropped_points"])

    assert "dropped 12 points" in page(spool.run)


def test_what_is_only_possible_is_folded_and_leaves_the_verdict_in_doubt(project, page):
    run = make_sample_run(project, has_gpu=True)
    Finding.objects.filter(run=run).update(confidence=0.35)

    text = page(run)

    assert text.index("No certain bottleneck") < text.index('id="possible-1"')
    rule = "too-few-loader-workers"
    position = text.index("with weak evidence:")
    assert text.index(f'href="#{rule}"', position) < text.index('id="possible-1"')
    assert text.index('id="possible-1"') < text.index(f'id="{rule}"')


def test_a_notice_does_not_exclude_what_is_possible(project, page):
    run = make_sample_run(project)
    found = Finding.objects.filter(run=run)
    found.update(confidence=0.35, explained_by="")
    found.filter(is_primary=True).update(confidence=0.7, severity="notice")

    text = page(run)

    assert "No certain bottleneck" in text
    assert "No other problems found" not in text


def test_a_cause_is_shown_with_what_its_symptoms_explain(project, page):
    text = page(make_sample_run(project))

    assert "Explains 2 other findings" in text or "Explains 3 other findings" in text
    assert "Training waits for data" in text


def test_a_run_without_stages_says_how_one_appears(project, page):
    run = make_run(project, state="finished")
    Stage.objects.filter(run=run).delete()

    assert "No data yet" in page(run)


def test_a_stage_without_steps_says_what_measures_them(project, page):
    run = make_run(project, state="finished")
    write_values(run, {"params/lr": 0.1})
    settle(run)

    text = page(run)

    assert "for batch in run.loader(loader):" in text
    assert "Throughput" not in text


def test_fifty_stages_stay_a_page(project, page):
    for number in range(50):
        run = make_run(project, state="finished", stage=f"stage-{number:02}")
    Stage.objects.filter(run=run, name="stage-33").update(failure="ValueError: 33")

    text = page(run)

    assert text.count('id="folded-') == 49
    assert text.index("ValueError: 33") < text.index("stage__folded", 1)


def test_a_run_that_failed_at_once_says_why_before_anything_else(project, page):
    run = make_run(project, state="failed", failure="ModuleNotFoundError: torch")

    text = page(run)

    assert text.index("ModuleNotFoundError: torch") < text.index("Key metrics")


def test_sixty_four_ranks_that_fail_alike_are_told_once(project, page):
    for rank in range(64):
        process = Process(project, "wide", rank=rank)
        process.open()
        process.send([close_message("failed", failure=f"rank {rank < 63}", time=START)])

    text = page(process.run)

    assert text.count("stage__failure") <= 3
    assert "64 processes" in text


def test_duration_is_defined_as_in_the_runs_table(project, page):
    script = Path("web/static/web/js/table/run_columns.js").read_text("utf-8")
    hints = dict(re.findall(r'^  (\w+): \{.*hint: gettext\("([^"]+)"\)', script, re.M))
    run = make_run(project, state=State.FINISHED)
    end = run.started_at + timedelta(days=2)
    Run.objects.filter(id=run.id).update(ended_at=end, active_seconds=3_600.0)

    text = page(run)

    for key, label in (("duration", "Duration"), ("wall_time", "Wall time")):
        assert f'<dt title="{hints[key]}">{label}</dt>' in text


def test_a_silent_run_says_for_how_long(project, page):
    run = make_run(project)
    Run.objects.filter(id=run.id).update(
        last_seen_at=timezone.now() - timedelta(hours=1)
    )

    assert re.search(
        r'not responding for <span [^>]*data-seconds="36\d\d"[^>]*>1 h<', page(run)
    )


def test_says_who_where_on_what_and_with_which_code(project, page, member):
    run = make_sample_run(project, has_gpu=True)
    write_values(
        run,
        {
            "monitoring/train/git/commit": "3179d2f0a1b2c3d4",
            "monitoring/train/git/is_dirty": True,
            "monitoring/train/source/arguments": "python train.py --lr <1>",
        },
    )

    about = page(run).partition("About</h2>")[2].partition("</section>")[0]

    for shown in ("node-1", "2 × NVIDIA H100", "3179d2f0a1<", "--lr &lt;1&gt;"):
        assert shown in about
    assert "with uncommitted changes</a>" in about
    assert f'href="/runs/{run.id}/source?stage=train#diff-title"' in about
    assert "GPU time" in about
    set_price(project, 2.0, "EUR")
    assert "EUR" in page(run).partition("About</h2>")[2].partition("</section>")[0]


def test_names_the_runs_beside_it_and_changes_only_against_a_baseline(project, page):
    before = make_run(project, "first", "finished", started_at=START - 10 * SECOND)
    run = make_sample_run(project)
    after = make_run(project, "third", started_at=START + 10 * SECOND)
    write_values(before, {"train/final_loss": 2.0})
    write_values(run, {"train/final_loss": 1.0})

    text = page(run, "charts")
    assert f'href="/runs/{before.id}/charts"' in text
    assert f'href="/runs/{after.id}/charts"' in text

    metrics = page(run).partition("Key metrics</h2>")[2].partition("</section>")[0]
    assert f'href="/runs/{before.id}/"' not in metrics
    assert "\N{MINUS SIGN}50 %" not in metrics
    assert metrics.count('class="spark"') == 4


def test_a_commit_without_changes_and_a_long_command_are_told_in_few_words(
    project, page
):
    run, command = make_run(project), "/opt/env/bin/python3 /home/ada/code/train.py"
    values = {"git/commit": "3179d2f", "git/is_dirty": False}
    values |= {"source/arguments": command}
    write_values(
        run, {f"monitoring/train/{path}": each for path, each in values.items()}
    )

    about = page(run).partition("About</h2>")[2].partition("</section>")[0]

    assert "without uncommitted changes" in about
    assert ">python3 train.py</code>" in about
    assert f'data-copy-text="{command}"' in about


def test_a_run_without_findings_begins_with_charts_of_its_metrics(project, page):
    run = make_run(project, "plain", "finished")
    for path in ("train/loss", "val/accuracy", "monitoring/train/job/cpu_cores"):
        write_series(run, path, [1.0, 2.0])
    settle(run)

    text = page(run)

    assert text.count('id="metric-chart-') == 2
    assert text.index('id="metric-chart-') < text.index('id="stage-1"')
    sample = page(make_sample_run(project))
    assert sample.index('id="stage-1"') < sample.index('id="metric-chart-')


def test_the_latest_picture_of_each_path_is_shown(project, page, settings, tmp_path):
    settings.DATA_FOLDER = tmp_path
    run = make_run(project, "plain", "finished")
    for path, content in (("a", b"1"), ("b", b"2"), ("a", b"3")):
        write(run, [file_message(path, content, name="s.png", kind="image/png")])
    assert "Latest images" not in page(run)

    for content in (b"1", b"2", b"3"):
        deliver(run, content)

    assert page(run).count("gallery__card") == 2


def test_a_rung_is_compared_with_the_rung_before_it_and_a_baseline_with_none(
    project, page
):
    top, base = make_sample_run(project, "top"), make_sample_run(project, "base")
    rungs = [RungRequest(str(run.id)) for run in (base, top)]
    create_ladder(project, "faster", rungs)

    of_top, of_base = (
        page(run).partition("Key metrics</h2>")[2].partition("</section>")[0]
        for run in (top, base)
    )

    assert f'vs. <a href="/runs/{base.id}/">base</a>' in of_top
    assert "in the ladder faster" in of_top
    assert "vs." not in of_base
    assert ">Change</th>" not in of_base


def test_rules_that_nobody_asks_are_named(project, page):
    run = make_sample_run(project)
    assert "turned off" not in page(run)

    set_rule(project, "too-few-loader-workers", is_off=True, limits={})

    text = page(run)
    assert "1 rule is turned off" in text
    assert "Not enough data-loader workers" in text.partition("turned off")[2]


def test_an_address_leads_to_each_finding_and_ids_are_their_own(project, page):
    text = page(make_sample_run(project, has_gpu=True))

    assert 'id="too-few-loader-workers"' in text
    assert 'href="#too-few-loader-workers"' in text
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_evidence_leads_to_its_time_among_all_readings(project, page):
    run = make_sample_run(project)

    link = re.search(r'href="([^"]*hardware\?stage=train[^"]*)"', page(run))

    assert link is not None
    asked = parse_qs(urlsplit(unescape(link[1])).query)
    assert float(asked["low"][0]) < float(asked["high"][0])


def test_what_became_of_a_finding_is_told(project, page):
    run = make_sample_run(project)
    first = Finding.objects.filter(run=run, rule="too-few-loader-workers").get()
    entry = first.history[0]
    Finding.objects.filter(id=first.id).update(
        history=[entry, {**entry, "what": "changed", "severity": "notice"}]
    )

    text = page(run)

    assert "opened as critical" in text
    assert "changed to notice" in text


class TestPolls:
    """Polls of a live page."""

    def ask(self, client, address, held=""):
        headers = {"HX-Request": "true"} | ({"If-None-Match": held} if held else {})
        return client.get(address, headers=headers)

    def test_a_header_that_only_got_older_is_not_sent_again(
        self, client_of, member, project
    ):
        run, client = make_run(project), client_of(member)
        address = f"/runs/{run.id}/header"
        first = self.ask(client, address)

        assert self.ask(client, address, first["ETag"]).status_code == 304
        write_tags(run, "baseline")
        tagged = self.ask(client, address, first["ETag"])
        assert "baseline" in tagged.content.decode()
        Run.objects.filter(id=run.id).update(state=State.FINISHED)
        ended = self.ask(client, address, tagged["ETag"])
        assert "finished" in ended.content.decode()
        assert "Duration" in ended.content.decode()

    def test_a_header_for_a_poll_leaves_out_what_pages_keep(
        self, client_of, member, project
    ):
        run, client = make_run(project), client_of(member)

        page = client.get(f"/runs/{run.id}/charts").content.decode()
        poll = self.ask(client, f"/runs/{run.id}/header").content.decode()

        kept = re.findall(r'hx-morph-skip id="([^"]+)"', page)
        assert re.findall(r'hx-morph-skip id="([^"]+)"', poll) == kept
        assert "csrfmiddlewaretoken" in page
        assert "csrfmiddlewaretoken" not in poll

    def test_news_of_charts_that_are_none_are_not_sent_again(
        self, client_of, member, project
    ):
        run, client = make_run(project), client_of(member)
        write_series(run, "train/loss", [1.0, 2.0])
        address = f"/runs/{run.id}/charts?known=1"
        first = self.ask(client, address)

        assert self.ask(client, address, first["ETag"]).status_code == 304
        write_series(run, "val/loss", [1.0, 2.0])
        again = self.ask(client, address, first["ETag"])
        assert "1 new series" in again.content.decode()


def test_says_who_joined_the_run_after_it_had_finished(project, page, member):
    run = make_run(project, state="finished")
    assert "Processes that joined after the run finished" not in page(run)

    Process(project, run.name, actor=actor_of(member)).open()
    text = " ".join(page(run).split())

    assert "Processes that joined after the run finished" in text
    assert '<details class="card stage__folded" id="reopenings" open>' in text
    assert "reopened" in text
    assert "by ada with API key test (smk_" in text
    assert "stage train, rank 0, on node-1" in text


def test_the_next_stage_of_a_pipeline_is_no_reopening(project, page, member):
    run = make_run(project, state="finished")

    Process(project, run.name, actor=actor_of(member), stage="evaluate").open()

    assert '<details class="card stage__folded" id="reopenings"><summary>' in page(run)


def test_a_finding_of_a_trace_shows_the_traces_timeline(project, page):
    run = make_run(project)
    names = ["seconds", "trace/kernels", "trace/gpu_idle_seconds"]
    names.append("trace/longest_gap_seconds")
    for name, value in zip(names, (0.1, 900.0, 0.07, 0.001), strict=True):
        write_series(run, f"monitoring/train/step/{name}", [value] * 3)
    write_values(run, {"monitoring/train/facts/traced_with": "torch.profiler"})
    path = "monitoring/train/timelines/w.json"
    write(run, [file_message(path, b"{}", name="w.timeline.plotly.json")])
    settle(run)

    text = page(run)

    assert "GPU is launch-bound" in text
    assert f'data-behaviour="file-figure" data-figure-url="/runs/{run.id}' in text
    assert f"files?path={quote(path, safe='')}" in text
