"""Reads the messages that a command left in the spool."""

from __future__ import annotations


def of_kind(messages, kind):
    return [message for message in messages if message["t"] == kind]


def paths_of(messages):
    return {path for each in of_kind(messages, "points") for path in each["paths"]}


def points_of(messages, path):
    """Return the step and the time of each point of a series."""
    return [
        point
        for each in of_kind(messages, "points")
        if path in each["paths"]
        for point in zip(
            memoryview(each["steps"]).cast("d"),
            memoryview(each["times"]).cast("q"),
            strict=True,
        )
    ]


def values_of(messages):
    return {each["path"]: each["value"] for each in of_kind(messages, "set")}


def values_at(messages, path):
    """Return the value of each point of a series."""
    found = []
    for each in of_kind(messages, "points"):
        if path in each["paths"]:
            rows = len(memoryview(each["steps"]).cast("d"))
            first = each["paths"].index(path) * rows
            column = memoryview(each["values"]).cast("d")[first : first + rows]
            found += column.tolist()
    return found
