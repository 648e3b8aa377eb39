"""Stage 2 of 3: trains a classifier of handwritten digits on augmented JPEG images.

python examples/train.py --run baseline --images /tmp/digits
"""

from __future__ import annotations

import os

# One core for the arithmetic, so that the others are free for loader workers.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from pathlib import Path

import numpy as np
from classifier import Classifier, make_classifier, save_weights
from images import DecodedImages, Images, PhotographImages
from loader import Loader

import agent

LEARNING_RATE = 0.01


def main() -> None:
    options = parse()
    folder = options.images / "train"
    images = DecodedImages(folder) if options.decoded else PhotographImages(folder)
    classifier = make_classifier(seed=options.seed)
    params = {
        "batch_size": options.batch_size,
        "loader_workers": options.workers,
        "decoded_ahead": options.decoded,
        "epochs": options.epochs,
        "learning_rate": LEARNING_RATE,
        "seed": options.seed,
        "device": classifier.device,
    }

    with agent.init(
        options.run,
        project=options.project,
        stage="train",
        tags=options.tag,
        params=params,
    ) as run:
        train(run, classifier, images, options)
        run["train/accuracy_on_test"] = accuracy(
            classifier, PhotographImages(options.images / "test")
        )
        save_weights(classifier, options.images / f"{options.run}.npz")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", required=True, help="name of the run to log into")
    parser.add_argument("--project", default="digits")
    parser.add_argument("--images", type=Path, required=True, help="image folder")
    parser.add_argument(
        "--decoded", action="store_true", help="read images that were decoded ahead"
    )
    parser.add_argument("--workers", type=int, default=0, help="loader processes")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tag", action="append", default=[])
    return parser.parse_args()


def train(
    run: agent.Run, classifier: Classifier, images: Images, options: argparse.Namespace
) -> None:
    loader = Loader(
        images,
        batch_size=options.batch_size,
        num_workers=options.workers,
        seed=options.seed,
    )
    examples = 0
    for epoch in range(options.epochs):
        for pixels, labels in run.loader(loader):
            with run.phase("forward"):
                loss = classifier.forward(pixels, labels)
            with run.phase("backward"):
                classifier.backward()
            with run.phase("optimizer"):
                classifier.update(LEARNING_RATE)

            examples += len(labels)
            run.log({"train/loss": loss, "train/epoch": epoch}, step=examples)
    loader.close()


def accuracy(classifier: Classifier, images: Images) -> float:
    pixels = np.stack([images.read(index) for index in range(len(images))])
    return float((classifier.predict(pixels) == images.labels).mean())


if __name__ == "__main__":
    main()
