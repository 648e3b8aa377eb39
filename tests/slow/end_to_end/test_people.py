"""Members added by commands, on a server started by `manage.py up`."""

from __future__ import annotations

import re

import pytest
import requests

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

PASSWORD = "lighthouse keeper 1907"
HOME = "/w/home"


class Person:
    """A browser without scripts: it keeps cookies and sends the forms of pages."""

    def __init__(self, url):
        self.url = url
        self.session = requests.Session()

    def status(self, path):
        return self.session.get(self.url + path, timeout=60).status_code

    def send(self, page, to=None, **form):
        """Open a page and send a form with its token; return the last answer."""
        opened = self.session.get(self.url + page, timeout=60)
        token = re.search(r'csrfmiddlewaretoken" value="([^"]+)', opened.text)[1]
        address = self.url + to if to else opened.url
        form["csrfmiddlewaretoken"] = token
        headers = {"referer": opened.url}
        return self.session.post(address, form, headers=headers, timeout=60)


def command(up, *words):
    done = up.manage(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def path_of(up, link):
    assert link.startswith(up.url)
    return link.removeprefix(up.url)


def test_each_person_gets_in_by_a_command_and_is_refused_where_the_role_ends(up):
    up.start()
    up.send("baseline", [1.0, 2.0])
    vera, max_, ines, gil = (Person(up.url) for _ in range(4))

    # By a one-time link, by a link for a password, and by invitations.
    for name, role in (("vera", "viewer"), ("max", "member")):
        address = f"{name}@example.com"
        command(up, "user", "create", address, "--name", name, "--role", role)
    link = path_of(up, command(up, "link", "--user", "vera@example.com"))
    assert vera.send(link).status_code == 200
    link = path_of(up, command(up, "user", "password-link", "max"))
    passwords = {"password1": PASSWORD, "password2": PASSWORD}
    assert max_.send(link, **passwords).status_code == 200
    max_.send("/sign-in", login="max@example.com", password=PASSWORD)
    for person, *options in (
        (ines, "--role", "admin"),
        (gil, "--role", "viewer", "--project", "vision"),
    ):
        link = path_of(up, command(up, "invite", "--link", *options))
        form = {"name": options[1], "email": f"{options[1]}2@example.com"}
        assert person.send(link, password=PASSWORD, **form).status_code == 200
        assert Person(up.url).status(link) == 410

    # The member creates items that the guest must not see.
    made = max_.send(f"{HOME}/projects/new", name="speech", access="open")
    assert made.url == f"{up.url}{HOME}/speech/"
    opened = {
        path: [each.status(HOME + path) for each in (ines, max_, vera, gil)]
        for path in ("/vision/", "/speech/", "/members", "/audit")
    }
    assert opened == {
        "/vision/": [200, 200, 200, 200],
        "/speech/": [200, 200, 200, 404],
        "/members": [200, 200, 200, 403],
        "/audit": [200, 403, 403, 403],
    }
    invite = (f"{HOME}/members", f"{HOME}/members/invite")
    assert ines.send(*invite, role="member", days="7", uses="1").status_code == 201
    assert ines.send(*invite, role="owner", days="7", uses="1").status_code == 403

    # A key has at most its owner's permissions, and role changes apply at once.
    form = {"workspace": "home", "name": "cluster", "scope": "manage", "days": "365"}
    page = max_.send("/account/keys", access="all", **form)
    secret = re.search(r"smk_[\w-]{20,}", page.text)[0]
    key = {"Authorization": f"Bearer {secret}"}
    runs = f"{up.url}/api/v1/projects/home/vision/runs"
    (run,) = requests.get(runs, headers=key, timeout=60).json()["runs"]
    trash = f"{up.url}/api/v1/runs/{run['id']}/trash"
    command(up, "member", "role", "max", "viewer")
    assert requests.post(trash, headers=key, timeout=60).status_code == 403
    assert requests.get(runs, headers=key, timeout=60).status_code == 200
    command(up, "member", "offboard", "max")
    assert requests.get(runs, headers=key, timeout=60).status_code == 401
    assert "/sign-in" in max_.session.get(up.url, timeout=60).url
