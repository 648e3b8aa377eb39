"""Which metric says most about a run, guessed from its path (pure)."""

from __future__ import annotations

# Words of a path that measures how good a model is, the most telling first.
QUALITY_WORDS = (
    "accuracy",
    "acc",
    "f1",
    "auc",
    "map",
    "iou",
    "bleu",
    "perplexity",
    "error",
    "loss",
)
# Quality on examples that were not trained on says more.
HELD_OUT_WORDS = ("test", "val", "eval", "holdout", "infer")
# These say how far a run is, not how good.
BOOKKEEPING_WORDS = ("epoch", "step", "iteration", "iter", "lr", "learning", "momentum")

# What only counts how far a run is, by the last part of its path.
COUNTED_WORDS = frozenset(
    {"epoch", "epochs", "step", "steps", "iteration", "iterations", "iter", "iters"}
)
COUNTING_WORDS = COUNTED_WORDS | {"global", "current", "count", "number", "num"}

IDENTIFIER_WORDS = frozenset(
    {"id", "ids", "uuid", "hash", "seed", "port", "pid", "rank", "version", "timestamp"}
)

# Which end of a metric is the good one; a path that has words of both is not known.
GOOD_WHEN_HIGH = frozenset(
    {
        *("accuracy", "acc", "f1", "auc", "auroc", "map", "iou", "dice", "bleu"),
        *("rouge", "precision", "recall", "r2", "psnr", "ssim", "reward", "throughput"),
        "mfu",
    }
)
GOOD_WHEN_LOW = frozenset(
    {
        *("loss", "error", "err", "perplexity", "ppl", "wer", "cer", "mae", "mse"),
        *("rmse", "fid", "latency", "seconds", "ms", "duration"),
    }
)

_QUALITY, _OTHER, _BOOKKEEPING = range(3)


def quality_rank(path: str) -> tuple[int, bool] | None:
    """Rank a path that seems to measure quality, the best guess lowest."""
    words = _words(path)
    ranks = [rank for rank, word in enumerate(QUALITY_WORDS) if word in words]
    if not ranks:
        return None
    is_held_out = any(word in words for word in HELD_OUT_WORDS)
    return min(ranks), not is_held_out


def importance(path: str) -> tuple[int, tuple[int, bool], str]:
    """Sort key of metrics: quality first, then the others by path, bookkeeping last."""
    rank = quality_rank(path)
    if rank is not None:
        return _QUALITY, rank, path
    words = _words(path.rpartition("/")[2])
    is_bookkeeping = any(word in words for word in BOOKKEEPING_WORDS)
    return _BOOKKEEPING if is_bookkeeping else _OTHER, (0, False), path


def is_counter(path: str) -> bool:
    """Tell what only says how far a run is: runs are not compared by that."""
    words = set(_words(path.rpartition("/")[2]))
    return bool(words & COUNTED_WORDS) and words <= COUNTING_WORDS


def is_identifier(path: str) -> bool:
    """Tell a number that names something: a relative change of it means nothing."""
    return not IDENTIFIER_WORDS.isdisjoint(_words(path.rpartition("/")[2]))


def is_good_high(path: str) -> bool | None:
    """Say whether more of a metric is better, by its name; None: it does not tell.

    What counts something per second is better high, though it speaks of seconds.
    """
    for name in (path.rpartition("/")[2], path):
        words = set(_words(name))
        is_high, is_low = words & GOOD_WHEN_HIGH, words & GOOD_WHEN_LOW
        if "per" in words or (is_high and not is_low):
            return True
        if is_low:
            return None if is_high else False
    return None


def _words(path: str) -> list[str]:
    return path.lower().replace("/", "_").replace("-", "_").split("_")
