"""Click prediction: two processes prepare shards, a linear model learns, a last stage scores."""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

import agent

SHARDS = Path("shards")


def prepare(number):
    rng = np.random.default_rng(number)
    seen = rng.normal(size=(40_000, 30))
    order = np.argsort(seen, axis=0)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(len(seen))[:, None], axis=0)
    scaled = ranks / len(seen) * 2 - 1
    clicked = (
        np.sin(3 * scaled[:, 0])
        + scaled[:, 1] * scaled[:, 2]
        + 0.3 * rng.normal(size=len(seen))
    ) > 0.4
    np.savez(SHARDS / f"{number:03}.npz", x=scaled.astype(np.float32), y=clicked)
    return len(seen)


def batches(numbers, rng, size):
    for number in rng.permutation(numbers):
        with np.load(SHARDS / f"{number:03}.npz") as shard:
            x, y = shard["x"], shard["y"]
        for first in range(0, len(x), size):
            yield x[first : first + size], y[first : first + size]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--shards", type=int, default=60)
    args = parser.parse_args()
    SHARDS.mkdir(exist_ok=True)
    numbers = np.arange(args.shards)
    began = time.monotonic()

    with (
        agent.init("clicks", project="ads", stage="prepare") as run,
        ProcessPoolExecutor(2) as pool,
    ):
        for rows in pool.map(prepare, numbers):
            run["prepare/rows"].append(rows)

    with agent.init(
        "clicks",
        project="ads",
        stage="train",
        params={"batch": 2000, "components": 200},
    ) as run:
        rng = np.random.default_rng(0)
        with run.phase("load_data"):
            first, _ = next(batches(numbers[:1], rng, 4000))
            features = Nystroem(gamma=0.05, n_components=200, random_state=0).fit(first)
        model = SGDClassifier(loss="log_loss", alpha=1e-5)
        held_out = [next(batches(numbers[-1:], rng, 2000))]
        step, until = 0, began + 0.8 * args.seconds
        while time.monotonic() < until:
            for x, y in run.loader(
                batches(numbers[:-1], rng, 2000), batch_size=2000, workers=0
            ):
                with run.phase("forward"):
                    mapped = features.transform(x)
                with run.phase("optimizer"):
                    model.partial_fit(mapped, y, classes=[False, True])
                step += 1
                if step % 20 == 0:
                    with run.phase("evaluate"):
                        xs, ys = held_out[0]
                        run.log(
                            {
                                "val/loss": log_loss(
                                    ys, model.predict_proba(features.transform(xs))
                                )
                            },
                            step=step,
                        )
                if time.monotonic() > until:
                    break

    with agent.init("clicks", project="ads", stage="score") as run:
        scored = 0
        while time.monotonic() < began + args.seconds:
            for x, _ in run.loader(
                batches(numbers, rng, 4000), batch_size=4000, workers=0
            ):
                with run.phase("forward"):
                    share = model.predict_proba(features.transform(x))[:, 1].mean()
                run["score/mean"].append(share)
                scored += len(x)
                if time.monotonic() > began + args.seconds:
                    break
    print(f"{step} steps, {scored} rows scored, {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
