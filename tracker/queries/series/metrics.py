"""Guesses from its path how important a metric is (pure)."""

from __future__ import annotations

import re

_SEPARATORS = re.compile(r"[/_\-().\s]+")

# Words in paths of quality metrics, the most specific first.
QUALITY_WORDS = (
    "accuracy",
    "acc",
    "f1",
    "auc",
    "map",
    "map50",
    "iou",
    "bleu",
    "reward",
    "rew",
    "perplexity",
    "error",
    "loss",
    "score",
)
# Metrics of validation data are more important.
HELD_OUT_WORDS = ("test", "val", "eval", "holdout", "infer")
# These indicate progress, not quality.
BOOKKEEPING_WORDS = ("epoch", "step", "iteration", "iter", "lr", "learning", "momentum")

# Last parts of paths that only count progress.
COUNTED_WORDS = frozenset(
    {"epoch", "epochs", "step", "steps", "iteration", "iterations", "iter", "iters"}
)
COUNTING_WORDS = COUNTED_WORDS | {"global", "current", "count", "number", "num"}

IDENTIFIER_WORDS = frozenset(
    {"id", "ids", "uuid", "hash", "seed", "port", "pid", "rank", "version", "timestamp"}
)

# The better direction of a metric; unknown for a path with words of both.
GOOD_WHEN_HIGH = frozenset(
    {
        *("accuracy", "acc", "f1", "auc", "auroc", "map", "iou", "dice", "bleu"),
        *("rouge", "precision", "recall", "r2", "psnr", "ssim", "reward", "throughput"),
        *("mfu", "map50", "rew", "score"),
    }
)
GOOD_WHEN_LOW = frozenset(
    {
        *("loss", "error", "err", "perplexity", "ppl", "wer", "cer", "mae", "mse"),
        *("rmse", "fid", "latency", "seconds", "ms", "duration"),
    }
)

# Neither direction is better for the spread of a metric.
SPREAD_WORDS = frozenset({"std", "deviation", "variance"})

_QUALITY, _OTHER, _BOOKKEEPING, _NUMBERED = range(4)


def quality_rank(path: str) -> tuple[int, bool] | None:
    """Rank a path of a quality metric, the best guess lowest; None for other paths."""
    words = _words(path)
    ranks = [rank for rank, word in enumerate(QUALITY_WORDS) if word in words]
    if not ranks or not SPREAD_WORDS.isdisjoint(words):
        return None
    is_held_out = any(word in words for word in HELD_OUT_WORDS)
    return min(ranks), not is_held_out


def importance(path: str) -> tuple[int, tuple[int, bool], str]:
    """Sort key of metrics: quality, others, bookkeeping; one per layer come last."""
    rank = quality_rank(path)
    if rank is not None:
        return _QUALITY, rank, path
    if any(part[-1:].isdigit() for part in path.split("/")[:-1]):
        return _NUMBERED, (0, False), path
    words = _words(path.rpartition("/")[2])
    is_bookkeeping = any(word in words for word in BOOKKEEPING_WORDS)
    return _BOOKKEEPING if is_bookkeeping else _OTHER, (0, False), path


def is_counter(path: str) -> bool:
    """Return whether a metric only counts progress and should not be compared."""
    words = set(_words(path.rpartition("/")[2]))
    return bool(words & COUNTED_WORDS) and words <= COUNTING_WORDS


def is_identifier(path: str) -> bool:
    """Return whether a number is an identifier, whose relative change is meaningless."""
    return not IDENTIFIER_WORDS.isdisjoint(_words(path.rpartition("/")[2]))


def is_good_high(path: str) -> bool | None:
    """Return whether higher values are better, by the name; None if unknown.

    Higher is better for rates per second, although their names contain seconds.
    """
    for name in (path.rpartition("/")[2], path):
        words = set(_words(name))
        if words & SPREAD_WORDS:
            return None
        is_high, is_low = words & GOOD_WHEN_HIGH, words & GOOD_WHEN_LOW
        if "per" in words or (is_high and not is_low):
            return True
        if is_low:
            return None if is_high else False
    return None


def _words(path: str) -> list[str]:
    # Also `metrics/mAP50(B)`.
    return _SEPARATORS.split(path.lower())
