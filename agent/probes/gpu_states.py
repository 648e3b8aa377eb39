"""Whether GPUs, and slices of them, are there and answer."""

from __future__ import annotations

from seamark.recording.values import Value

PRESENT = "present"


class States:
    """The state of each, by its place, such as `gpu/0`."""

    def __init__(self, known: dict[str, str]) -> None:
        """`known` are those that were told before, which outlive a probe."""
        self._known = known

    def say(self, place: str, state: str = PRESENT) -> None:
        """Note a state; of what has been present all the time nothing is said."""
        if place in self._known or state != PRESENT:
            self._known[place] = state

    @property
    def facts(self) -> dict[str, Value]:
        return {f"facts/{place}/state": state for place, state in self._known.items()}
