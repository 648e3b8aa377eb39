"""Which project is read from, on which server."""

from __future__ import annotations

import os
from dataclasses import dataclass

from agent.asking import Json, ask
from agent.errors import CannotRead, InvalidSetting
from agent.servers import Server, find_server

_MOST_NAMED = 10


@dataclass(frozen=True)
class StoredProject:
    server: Server
    workspace: str
    slug: str

    def __str__(self) -> str:
        return f"/projects/{self.workspace}/{self.slug}"

    def ask(self, place: str, **query: object) -> Json:
        return ask(self.server, f"{self}{place}", query)


def known_server() -> Server:
    server = find_server(os.environ)
    if server is None:
        raise InvalidSetting(
            "SEAMARK_URL",
            "and SEAMARK_TOKEN must be set (or say `seamark login`), or a server run "
            "on this machine",
        )
    return server


def find_project(wanted: str | None) -> StoredProject:
    server = known_server()
    name = wanted or os.environ.get("SEAMARK_PROJECT") or "default"
    rows = ask(server, "/projects")["projects"]
    found = [
        StoredProject(server, row["workspace"], row["slug"])
        for row in rows
        if name in (row["name"], row["slug"], f"{row['workspace']}/{row['slug']}")
    ]
    if not found:
        there = ", ".join(row["slug"] for row in rows[:_MOST_NAMED])
        more = f"; there are: {there}" if there else ""
        raise CannotRead("not_found", f"{server.url} has no project {name!a}{more}.")
    if len(found) > 1:
        names = ", ".join(f"{one.workspace}/{one.slug}" for one in found)
        raise CannotRead("ambiguous", f"There are several: {names}.")
    return found[0]
