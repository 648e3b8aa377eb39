"""Stage 1 of 3: writes the training images to disk.

    python examples/preprocess.py --run baseline --images /tmp/digits

The run is found by its name, so that train.py and infer.py log into the same one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from pathlib import Path

from images import write_decoded, write_photographs

import agent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", required=True, help="name of the run to log into")
    parser.add_argument("--project", default="digits")
    parser.add_argument("--images", type=Path, required=True, help="image folder")
    parser.add_argument(
        "--decode-ahead", action="store_true", help="also store decoded images"
    )
    options = parser.parse_args()

    with agent.init(options.run, project=options.project, stage="preprocess") as run:
        run["preprocess/decode_ahead"] = options.decode_ahead
        written = follow(run, "written", write_photographs(options.images))
        if options.decode_ahead:
            follow(run, "decoded", write_decoded(options.images / "train"))
        run["preprocess/images"] = written


def follow(run: agent.Run, what: str, paths: Iterable[Path]) -> int:
    """Count finished images, and log how fast they come."""
    started, count = time.monotonic(), 0
    for count, _path in enumerate(paths, start=1):
        if count % 100 == 0:
            seconds = time.monotonic() - started
            run[f"preprocess/{what}_per_second"].append(count / seconds, step=count)
    return count


if __name__ == "__main__":
    main()
