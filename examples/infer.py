"""Stage 3 of 3: reads the test photographs with the trained classifier, one by one.

python examples/infer.py --run baseline --images /tmp/digits
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from classifier import load_classifier
from images import PhotographImages

import agent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", required=True, help="name of the run to log into")
    parser.add_argument("--project", default="digits")
    parser.add_argument("--images", type=Path, required=True, help="image folder")
    options = parser.parse_args()

    with agent.init(options.run, project=options.project, stage="infer") as run:
        classifier = load_classifier(options.images / f"{options.run}.npz")
        images = PhotographImages(options.images / "test")
        right = 0
        for index in range(len(images)):
            started = time.perf_counter()
            (label,) = classifier.predict(images.read(index)[None])
            seconds = time.perf_counter() - started

            right += int(label == images.labels[index])
            run["infer/latency_seconds"].append(seconds, step=index)
        run["infer/accuracy"] = right / len(images)


if __name__ == "__main__":
    main()
