"""A notebook as text: its cells in order, with their output (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

# Maximum output per cell; the rest is in the file.
MAX_OUTPUT = 4_000
RULE = "─" * 60


def notebook_text(content: str) -> str:
    """Return the cells of a notebook; "" if it is invalid."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    cells = found.get("cells") if isinstance(found, dict) else None
    if not isinstance(cells, list):
        return ""
    return "\n\n".join(_cell(cell) for cell in cells if isinstance(cell, dict))


# Any: untrusted JSON.
def _cell(cell: dict[str, Any]) -> str:
    source = _joined(cell.get("source"))
    if cell.get("cell_type") != "code":
        return source
    count = cell.get("execution_count")
    number = count if isinstance(count, int) else " "
    outputs = cell.get("outputs")
    printed = "\n".join(_outputs(outputs)) if isinstance(outputs, list) else ""
    parts = [f"{RULE}\nIn [{number}]:\n{source}"]
    if printed:
        cut = f"{printed[:MAX_OUTPUT]}…" if len(printed) > MAX_OUTPUT else printed
        parts.append(f"Out:\n{cut}")
    return "\n\n".join([*parts, RULE])


# Any: as above.
def _outputs(outputs: list[Any]) -> Iterator[str]:
    for output in outputs:
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        plain = data.get("text/plain") if isinstance(data, dict) else None
        text = _joined(output.get("text")) or _joined(plain)
        if output.get("output_type") == "error":
            text = f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
        if text:
            yield text.rstrip("\n")
        elif isinstance(data, dict) and data:
            yield f"[{', '.join(sorted(map(str, data)))}]"


# Any: a text, or its lines.
def _joined(text: Any) -> str:
    if isinstance(text, list):
        return "".join(line for line in text if isinstance(line, str))
    return text if isinstance(text, str) else ""
