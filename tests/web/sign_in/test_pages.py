"""No page of django-allauth's own can show."""

from __future__ import annotations

from django.apps import apps

from web.pages.people.account_urls import urlpatterns


def test_every_view_of_allauth_has_a_template_of_ours():
    shown = {}
    for pattern in urlpatterns:
        view = getattr(pattern.callback, "view_class", None)
        if view is not None and getattr(view, "template_name", None):
            given = pattern.callback.view_initkwargs.get("template_name")
            shown[pattern.name] = given or view.template_name

    assert shown
    assert {name for name in shown.values() if not name.startswith("people/")} == set()


def test_templates_of_allauth_are_not_installed():
    assert not apps.is_installed("allauth")
