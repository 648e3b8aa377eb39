"""The profile tab of a run."""

import pytest

from tests.builders import make_run, write_values
from tests.tracker.queries.run.test_code_profile import STEPS, profile, write_profile
from tests.web.sample_run import make_sample_run
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.models import Finding

pytestmark = pytest.mark.django_db

SCRIPT = {
    "script": "/job/train.py",
    "folder": "/job",
    "text": "import x\n\nfor <a> in b:\n",
}
# Ten times the usual samples; in triples, the last is their number.
LONG = [value * 10 if at % 3 == 2 else value for at, value in enumerate(STEPS)]


@pytest.fixture
def run(project):
    return make_run(project)


@pytest.fixture
def page(client_of, member, run):
    client = client_of(member)

    def read(query="", **headers):
        response = client.get(f"/runs/{run.id}/profile{query}", **headers)
        assert response.status_code == 200
        return response.content.decode()

    return read


def test_begins_with_the_most_expensive_function(run, page):
    write_profile(run)
    text = page()

    assert (
        "<strong>70 %</strong> of the training time is spent in <code>decode</code>"
        ' (<span class="mono">data.py:42</span>), mostly in <code>PIL.Image.open</code>.'
    ) in text
    assert "100 samples, at most ten a second on average." in text
    assert "rough picture" not in text


def test_lists_the_lines_with_their_source_and_where_they_wait(run, page):
    write_profile(run)
    write_values(
        run, {f"monitoring/train/source/{name}": text for name, text in SCRIPT.items()}
    )
    text = page()

    assert text.index("data.py:42</span>") < text.index("train.py:3</a>")
    assert 'title="for &lt;a&gt; in b:">for &lt;a&gt; in b:</code>' in text
    assert f"/runs/{run.id}/source?stage=train&amp;line=3#line" in text
    assert '<span class="chip">waiting</span>' in text


def test_the_flame_graph_has_a_frame_for_each_place(run, page):
    write_profile(run)
    text = page()

    assert text.count('class="flame__frame ') == 5
    assert "decode · data.py:42 · 70 % · 70 samples (10 in itself)" in text
    assert 'flame__frame--waiting"' in text


def test_periods_are_chosen_in_the_address(run, page):
    write_profile(run)
    text = page("?period=start")

    assert "of the time before the second step is spent in" in text
    assert "30 samples" in text
    assert "rough picture" in text
    assert f"/runs/{run.id}/profile?stage=train&amp;period=steps" in text


def test_without_steps_there_is_only_time(run, page):
    write_profile(run, profile(trees={"start": [-1, 0, 60]}))

    assert "</strong> of the time is spent in" in page()


def test_training_is_the_default_stage_and_others_can_be_chosen(run, page):
    write_profile(run, profile(trees={"steps": [-1, 0, 9]}), stage="evaluate")
    write_profile(run)

    assert "decode" in page()
    other = page("?stage=evaluate")
    assert "decode" not in other
    assert f"/runs/{run.id}/profile?stage=train" in other


def test_ranks_of_several_machines_can_be_chosen(run, page):
    write_profile(run)
    write_profile(run, profile(trees={"steps": [-1, 0, 9]}), rank=8)

    assert "decode" in page()
    assert '<option value="8">Rank 8</option>' in page()
    assert "decode" not in page("?stage=train&rank=8")


def test_many_lines_are_shown_on_request(run, page):
    names = [["f", "train.py", line] for line in range(1, 21)]
    values = [value for line in range(20) for value in (-1, line, 20 - line)]
    write_profile(run, profile(names=names, trees={"steps": values}))

    assert "train.py:15</span>" in page()
    assert "train.py:16</span>" not in page()
    assert "Show 5 more lines" in page()
    assert "train.py:20</span>" in page("?all=1")


def test_samples_in_packages_only_have_no_line(run, page):
    write_profile(run, profile(trees={"steps": [-1, 4, 60]}))
    text = page()

    assert "No sample is in your own code" in text
    assert "Not in your code" in text


@pytest.mark.parametrize(
    "text",
    [
        "{",
        profile(trees={"steps": [5, 0, 1]}),
        profile(trees={"steps": [-1, 0, 0]}, samples={}),
    ],
)
def test_a_malformed_profile_is_as_none(run, page, text):
    write_profile(run, text)

    assert "No profile yet" in page()


def test_the_tab_is_there_with_a_profile_only(run, page, client_of, member):
    assert f'href="/runs/{run.id}/profile"' not in page()
    assert "SEAMARK_PROFILE=no" in page()

    write_profile(run)

    overview = client_of(member).get(f"/runs/{run.id}/").content.decode()
    assert f'href="/runs/{run.id}/profile"' in overview


def test_an_unknown_stage_is_not_found(run, client_of, member):
    assert client_of(member).get(f"/runs/{run.id}/profile?stage=x").status_code == 404


def test_a_stage_without_a_profile_leads_to_the_others(run, page):
    write_profile(run)
    write_values(run, {"x": 1}, stage="evaluate")
    text = page("?stage=evaluate")

    assert "No profile yet" in text
    assert f"/runs/{run.id}/profile?stage=train" in text


def test_a_poll_gets_the_content_once(run, client_of, member):
    write_profile(run)
    client, address = client_of(member), f"/runs/{run.id}/profile"
    first = client.get(address, headers={"HX-Request": "true"})

    assert first.content.startswith(b'<div id="run-profile"')
    again = client.get(
        address, headers={"HX-Request": "true", "If-None-Match": first["ETag"]}
    )
    assert again.status_code == 304


def test_the_text_stays_out_of_the_attributes(run, client_of, member):
    write_profile(run)
    prefix = "monitoring/train/facts/"
    text = client_of(member).get(f"/runs/{run.id}/attributes?prefix={prefix}")

    assert b"PIL.Image" not in text.content
    assert f'<a href="/runs/{run.id}/profile">Profile</a>'.encode() in text.content


def test_a_finding_that_names_a_line_leads_to_the_profile(project, client_of, member):
    run = make_sample_run(project)
    write_profile(run, profile(samples={"steps": 1000}, trees={"steps": LONG}))
    diagnose_run(run.id)

    text = client_of(member).get(f"/runs/{run.id}/").content.decode()

    assert "The training thread is in decode (data.py:42) for 70 % of training." in text
    assert f'href="/runs/{run.id}/profile?stage=train">' in text


def test_a_stage_without_a_fault_names_its_busiest_code(project, client_of, member):
    run = make_sample_run(project)
    Finding.objects.filter(run=run).update(confidence=0.35)
    write_profile(run)

    text = client_of(member).get(f"/runs/{run.id}/").content.decode()

    assert "No certain bottleneck" in text
    assert (
        "<strong>70 %</strong> of the training time is spent in <code>decode</code>"
    ) in text
