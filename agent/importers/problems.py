"""Problems in an imported file: one entry per cause, with line numbers and a count."""

from __future__ import annotations

from dataclasses import dataclass, field

_MAX_CAUSES = 50
_LINES_SHOWN = 3
_OTHERS = "more lines could not be parsed"


@dataclass
class Problems:
    """Causes in order of occurrence."""

    # The first lines of each cause, and the number of lines.
    causes: dict[str, tuple[list[int], int]] = field(default_factory=dict)
    # The unit that the numbers count.
    noun: str = "line"

    def add(self, cause: str, line: int) -> None:
        """Add a line that could not be parsed."""
        if cause not in self.causes and len(self.causes) >= _MAX_CAUSES:
            cause = _OTHERS
        lines, count = self.causes.get(cause, ([], 0))
        if len(lines) < _LINES_SHOWN:
            lines.append(line)
        self.causes[cause] = lines, count + 1

    def sentences(self) -> list[str]:
        """Return a sentence for each cause."""
        found = []
        for cause, (lines, count) in self.causes.items():
            shown = ", ".join(f"{line:,}" for line in lines)
            more = f", and {count - len(lines):,} more" if count > len(lines) else ""
            plural = "s" if count > 1 else ""
            found.append(f"{self.noun}{plural} {shown}{more}: {cause}")
        return found
