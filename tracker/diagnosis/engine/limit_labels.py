"""Labels of the limits of rules, for people."""

from __future__ import annotations

ACRONYMS = {word: word.upper() for word in ("gpu", "cpu", "sm", "fp32")} | {
    "gpus": "GPUs",
    "nvlink": "NVLink",
    "pcie": "PCIe",
}
WORDS = {"max": "maximum", "min": "minimum", "fewest": "minimum"}
UNIT_WORDS = {
    "percent": "%",
    "celsius": "°C",
    "seconds": "seconds",
    "bytes": "bytes",
    "microseconds": "µs",
}


def limit_label(name: str) -> str:
    """Return a limit's name as a label: "max gpu percent" is "Maximum GPU (%)"."""
    words = name.split()
    clears = "release" in words
    words = [word for word in words if word != "release"] or ["limit"]
    unit = UNIT_WORDS.get(words[-1], "") if len(words) > 1 else ""
    if unit:
        words.pop()
    text = " ".join(ACRONYMS.get(word, WORDS.get(word, word)) for word in words)
    if words[-1] == "share":
        unit = "0–1"
    ending = ", to close the finding" if clears else ""
    return f"{text[:1].upper()}{text[1:]}{f' ({unit})' if unit else ''}{ending}"
