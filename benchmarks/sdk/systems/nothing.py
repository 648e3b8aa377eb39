"""A call without effect: the cost of measuring."""

from __future__ import annotations

from benchmarks.sdk.client import Client, Metrics


class Nothing(Client):
    package = ""
    writing = "a function that returns at once"

    def load(self) -> None:
        pass

    def open(self, run: str) -> None:  # noqa: ARG002 - there is none
        self.log = _ignore

    def close(self) -> None:
        pass


def _ignore(metrics: Metrics, step: int) -> None:
    pass


CLIENT = Nothing
