"""Tracks whether GPUs and their MIG slices are present and respond."""

from __future__ import annotations

from seamark.recording.values import Value

PRESENT = "present"


class States:
    """The state of each device, by its path, such as `gpu/0`."""

    def __init__(self, known: dict[str, str]) -> None:
        """`known` are states reported before; they outlive a probe."""
        self._known = known

    def say(self, place: str, state: str = PRESENT) -> None:
        """Note a state; a device that was always present is not reported."""
        if place in self._known or state != PRESENT:
            self._known[place] = state

    @property
    def facts(self) -> dict[str, Value]:
        return {f"facts/{place}/state": state for place, state in self._known.items()}
