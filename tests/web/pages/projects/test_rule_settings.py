"""The rules of a project, and their limits."""

import pytest

from tests.tracker.queries.measured import measured_run
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.models import Finding, Member, Role, User

pytestmark = pytest.mark.django_db

D1 = "data-wait-dominates"


@pytest.fixture
def owner(client_of, member):
    return client_of(member)


def address(project):
    return f"/w/{project.workspace.slug}/{project.slug}/settings/rules"


def form(**limits):
    fields = {f"limit:{name.replace('_', ' ')}": v for name, v in limits.items()}
    return {"rule": D1, "on": "on", **fields}


def test_lists_rules_with_their_limits(project, owner):
    text = owner.get(address(project)).content.decode()

    assert "Training waits for data" in text
    assert 'name="limit:notable share"' in text
    assert "default 0.1<" in text
    assert "changed</span>" not in text


def test_a_changed_limit_is_kept_marked_and_reset(project, owner):
    saved = owner.post(
        address(project), form(notable_share="0,25", release_share="0.07")
    )
    project.refresh_from_db()

    assert saved.status_code == 302
    assert project.rule_settings == {
        D1: {"off": False, "limits": {"notable share": 0.25}}
    }
    text = owner.get(address(project)).content.decode()
    assert ">changed</span>" in text
    assert 'value="0.25"' in text

    owner.post(address(project), {"rule": D1, "reset": "1"})
    project.refresh_from_db()
    assert project.rule_settings == {}


def test_a_rule_that_is_off_finds_nothing_any_more(owner, client_of):
    run = measured_run()
    diagnose_run(run.id)
    assert Finding.objects.get(rule=D1).is_open

    theirs = client_of(Member.objects.get(workspace=run.project.workspace))
    theirs.post(address(run.project), {"rule": D1})
    diagnose_run(run.id)

    assert not Finding.objects.get(rule=D1).is_open


@pytest.mark.parametrize("value", ["much", "nan", "-1", "1e999", "0"])
def test_what_is_no_limit_is_refused(project, owner, value):
    response = owner.post(address(project), form(notable_share=value))

    project.refresh_from_db()
    assert response.status_code == 400
    assert "notable share" in response.content.decode()
    assert project.rule_settings == {}


def test_what_was_typed_stays_where_it_was_refused(project, owner):
    typed = form(notable_share="much", release_share="0.07")
    del typed["on"]

    text = owner.post(address(project), typed).content.decode()

    mine = text.partition(f'id="{D1}"')[2].partition("</details>")[0]
    assert 'value="much"' in mine
    assert 'value="0.07"' in mine
    assert " checked" not in mine
    assert text.count('value="much"') == 1


@pytest.mark.parametrize("fields", [{"rule": "no-such"}, {}])
def test_a_rule_that_does_not_exist_is_not_found(project, owner, fields):
    assert owner.post(address(project), fields).status_code == 404


def test_a_limit_that_does_not_exist_is_refused(project, owner):
    assert owner.post(address(project), form(no_such="1")).status_code == 400


def test_only_owners_change_rules(project, client_of, stranger):
    user = User.objects.create(username="eve")
    editor = client_of(
        Member.objects.create(workspace=project.workspace, user=user, role=Role.MEMBER)
    )

    assert "disabled" in editor.get(address(project)).content.decode()
    assert editor.post(address(project), form(notable_share="1")).status_code == 403
    assert client_of(stranger).get(address(project)).status_code == 404
