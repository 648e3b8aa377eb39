"""GPU hours and costs of a run and a project."""

import pytest

from tests.builders import make_run
from tests.web.sample_run import make_sample_run
from tracker.models import Diagnosis, Finding, Member, Role, User
from web.pages.projects.trend_columns import tick_step

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(client_of, member):
    return client_of(member)


def address(project, page):
    return f"/w/{project.workspace.slug}/{project.slug}/{page}"


def text_of(client, path):
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def test_a_run_says_where_its_gpu_time_went(project, owner):
    run = make_sample_run(project, has_gpu=True)

    text = text_of(owner, f"/runs/{run.id}/")

    assert "GPU time breakdown" in text
    assert "waiting for data" in text
    assert "use--data_wait" in text
    assert "GPU-h" in text or "GPU-min" in text


def test_a_run_without_a_gpu_says_so(project, owner):
    text = text_of(owner, f"/runs/{make_sample_run(project).id}/")

    assert "Time breakdown" in text
    assert "No GPU measured: shares of wall" in text


def test_the_time_of_a_run_without_a_gpu_adds_up_to_what_it_took(project, owner):
    run = make_sample_run(project)

    ledger = owner.get(f"/runs/{run.id}/").context["ledger"]

    parts = {part.use: part.seconds for part in ledger.parts}
    took = (run.ended_at - run.started_at).total_seconds()
    # Training begins five seconds after preprocessing has ended.
    assert parts["between"] == pytest.approx(5.0, abs=0.1)
    assert (ledger.of_what, ledger.seconds) == ("the whole run", pytest.approx(took))
    assert sum(part.share for part in ledger.parts) == pytest.approx(1.0)


def test_of_a_run_that_goes_on_the_time_is_that_of_its_stages(project, owner):
    run = make_sample_run(project, is_live=True)

    ledger = owner.get(f"/runs/{run.id}/").context["ledger"]

    assert "between" not in ledger.share_of
    assert ledger.of_what == "all stages"


def test_a_run_that_nobody_diagnosed_shows_no_ledger(project, owner):
    assert "ledger" not in text_of(owner, f"/runs/{make_run(project).id}/").replace(
        "ledger.css", ""
    )


def test_a_project_says_who_used_its_gpus_for_what(project, owner):
    make_sample_run(project, has_gpu=True)

    text = text_of(owner, address(project, "gpu-hours?days=all"))

    assert ">ada</bdi>" in text
    assert "between epochs" in text or "waiting for data" in text
    assert "set a price per GPU hour" in text


def test_a_project_without_gpu_time_says_why_and_what_would_appear(project, owner):
    make_sample_run(project)

    text = text_of(owner, address(project, "gpu-hours?days=all"))

    assert "1 run started so far, without a GPU." in text
    assert "About this page" in text
    assert "agent.init" in text


def test_a_time_without_runs_is_not_one_without_gpus(project, owner):
    make_sample_run(project)

    text = text_of(owner, address(project, "gpu-hours"))

    assert "No GPU time yet" in text
    assert "No runs started in the last 30 days." in text


def test_runs_that_nobody_diagnosed_are_not_called_without_a_gpu(project, owner):
    make_sample_run(project)
    make_run(project, "not diagnosed")

    text = text_of(owner, address(project, "gpu-hours?days=all"))

    assert "2 runs started so far: 1 without a GPU, 1 not diagnosed" in text


def test_old_runs_are_left_out_unless_asked_for(project, owner):
    make_sample_run(project, has_gpu=True)

    assert "No GPU time yet" in text_of(owner, address(project, "gpu-hours?days=7"))
    assert ">ada</bdi>" in text_of(owner, address(project, "gpu-hours?days=all"))


def test_money_is_shown_with_a_price(project, owner):
    run = make_sample_run(project, has_gpu=True)
    settings = address(project, "settings")

    saved = owner.post(settings, {"gpu_hour_price": "30", "currency": "EUR"})

    assert saved.status_code == 302
    # Two GPUs for two minutes.
    assert "2.00 EUR" in text_of(owner, f"/runs/{run.id}/")
    assert "2.00 EUR" in text_of(owner, address(project, "gpu-hours?days=all"))
    assert (
        owner.post(settings, {"gpu_hour_price": "", "currency": ""}).status_code == 302
    )
    assert "EUR" not in text_of(owner, f"/runs/{run.id}/")


@pytest.mark.parametrize("price", ["1234.567", "12345678", "0.1"])
def test_a_price_is_shown_with_all_of_its_digits(project, owner, price):
    settings = address(project, "settings")

    owner.post(settings, {"gpu_hour_price": price, "currency": "EUR"})

    assert f'value="{price}"' in owner.get(settings).content.decode()


@pytest.mark.parametrize(
    ("price", "currency"),
    [("much", "EUR"), ("nan", "EUR"), ("-1", "EUR"), ("2", ""), ("2", "x" * 9)],
)
def test_a_price_that_is_none_is_refused_and_kept_in_the_form(
    project, owner, price, currency
):
    response = owner.post(
        address(project, "settings"), {"gpu_hour_price": price, "currency": currency}
    )

    project.refresh_from_db()
    assert response.status_code == 400
    assert f'value="{price}"' in response.content.decode()
    assert project.gpu_hour_price is None


def test_who_does_not_own_the_project_sees_no_form(project, owner, client_of):
    editor = User.objects.create(username="eve")
    made = Member.objects.create(
        workspace=project.workspace, user=editor, role=Role.MEMBER
    )
    client = client_of(made)

    assert "No price set" in text_of(client, address(project, "settings"))
    refused = client.post(
        address(project, "settings"), {"gpu_hour_price": "1", "currency": "EUR"}
    )
    assert refused.status_code == 403


def test_strangers_see_nothing(project, client_of, stranger):
    assert client_of(stranger).get(address(project, "gpu-hours")).status_code == 404


def test_a_finding_says_what_has_to_be_cured_first(project, owner):
    run = make_sample_run(project)
    finding = Finding.objects.filter(run=run, is_primary=True).get()
    finding.body["judgement"]["comes_after"] = "gpu-memory-is-nearly-full"
    finding.save()

    text = text_of(owner, f"/runs/{run.id}/")

    assert "Fix <a" in text
    assert "GPU memory is nearly full</a>" in text


@pytest.mark.parametrize(
    ("group", "label"), [("machine", "Machine"), ("gpu", "GPU type")]
)
def test_groups_by_machine_and_gpu_type(project, owner, group, label):
    make_sample_run(project, has_gpu=True)

    text = text_of(owner, address(project, f"gpu-hours?days=all&by={group}"))

    assert f'aria-current="true">{label}</a>' in text
    assert f'<th scope="col">{label}</th>' in text


def test_a_trend_has_a_column_for_each_week(project, owner):
    make_sample_run(project, has_gpu=True)

    response = owner.get(address(project, "gpu-hours?days=all"))

    trend = response.context["trend"]
    tallest = max(trend.columns, key=lambda column: column.seconds)
    assert trend.is_weekly
    assert 0.5 < sum(part.height for part in tallest.parts) <= 1


def test_the_trend_has_a_vertical_axis_with_a_unit(project, owner):
    make_sample_run(project, has_gpu=True)

    text = text_of(owner, address(project, "gpu-hours?days=all"))

    # Two GPUs for two minutes.
    assert "GPU-min by run start, UTC" in text
    assert "<span>4</span><span>2</span><span>0</span>" in text


@pytest.mark.parametrize(
    ("highest", "step"),
    [(9.47, 5), (10, 5), (10.1, 7.5), (2.1, 1.5), (0.31, 0.2), (120, 75), (0, 1)],
)
def test_ticks_are_round_and_reach_the_tallest_column(highest, step):
    assert tick_step(highest) == step


def test_lists_the_gpu_time_that_runs_wasted(project, owner):
    run = make_sample_run(project, has_gpu=True)
    Diagnosis.objects.filter(run=run, ledger__isnull=False).update(
        ledger={"gpus": 1, "computing": 45.0, "data_wait": 15.0, "evaluation": 60.0}
    )

    response = owner.get(address(project, "gpu-hours?days=all"))

    wasted = response.context["wasteful"][0].ledger
    assert wasted.wasted_share == pytest.approx(15 / 120)
    text = response.content.decode().partition("Runs with the most wasted GPU time")[2]
    assert '<th scope="col" class="number">Wasted</th>' in text
    assert "12 %" in text
    assert text.count("waiting for data") == 1  # in the breakdown


def test_counts_the_runs_that_are_not_included(project, owner):
    make_sample_run(project, has_gpu=True)
    page = address(project, "gpu-hours?days=all")
    assert "not included" not in text_of(owner, page)

    make_run(project, "not diagnosed")
    text = text_of(owner, page)
    assert "1 run is not diagnosed yet." in text
    assert "not included" not in text

    make_sample_run(project, name="on a CPU")
    text = text_of(owner, page)
    assert "1 run without a GPU is not included. 1 run is not diagnosed yet." in text


def test_emissions_need_the_carbon_intensity_of_the_electricity(project, owner):
    make_sample_run(project, has_gpu=True)
    Diagnosis.objects.filter(ledger__isnull=False).update(
        ledger={"gpus": 1, "computing": 60.0, "energy_joules": 7.2e6}
    )
    settings = address(project, "settings")

    before = text_of(owner, address(project, "gpu-hours?days=all"))
    owner.post(
        settings, {"gpu_hour_price": "2", "currency": "EUR", "carbon_intensity": "400"}
    )
    after = text_of(owner, address(project, "gpu-hours?days=all"))

    assert "CO₂e at" not in before
    assert "kg CO₂e at 400 g/kWh" in after


def test_an_impossible_carbon_intensity_is_refused(project, owner):
    response = owner.post(
        address(project, "settings"),
        {"gpu_hour_price": "2", "currency": "EUR", "carbon_intensity": "-1"},
    )

    assert response.status_code == 400
    assert "carbon_intensity" in response.content.decode()
