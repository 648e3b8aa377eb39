"""From raw reviews to a sentiment model: prepare, archive the raw files, train."""

import argparse
import hashlib
import tarfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

import agent

RAW, READY = Path("raw"), Path("ready")


def collect(parts, per_part):
    rng = np.random.default_rng(21)
    vocabulary = np.array(
        [
            bytes(rng.integers(97, 123, rng.integers(3, 11)).astype(np.uint8)).decode()
            for _ in range(40_000)
        ]
    )
    RAW.mkdir(exist_ok=True)
    for part in range(parts):
        stars = rng.integers(0, 2, per_part)
        picks = rng.zipf(1.25, (per_part, 120)) % len(vocabulary)
        picks[:, :5] = rng.integers(0, 200, (per_part, 5)) + 200 * stars[:, None]
        lines = [
            f"{star}\t{' '.join(vocabulary[row])}"
            for star, row in zip(stars, picks, strict=True)
        ]
        (RAW / f"part-{part:03}.tsv").write_text("\n".join(lines))


def prepare(run):
    READY.mkdir(exist_ok=True)
    vectorizer = HashingVectorizer(n_features=2**18, ngram_range=(1, 2))
    for path in sorted(RAW.iterdir()):
        rows = [line.split("\t") for line in path.read_text().splitlines()]
        features = vectorizer.transform([text for _, text in rows])
        sparse.save_npz(READY / f"{path.stem}.npz", features, compressed=False)
        np.save(READY / f"{path.stem}.npy", np.array([int(star) for star, _ in rows]))
        run.log({"prepare/nonzero": features.nnz})


def archive(fixed):
    target = Path("raw.tar" if fixed else "raw.tar.xz")
    with tarfile.open(target, "w" if fixed else "w:xz") as tar:
        tar.add(RAW)
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    Path(f"{target}.sha256").write_text(digest)


def train(run, epochs):
    model = SGDClassifier(loss="log_loss", alpha=1e-6)
    paths = sorted(READY.glob("*.npz"))
    for epoch in range(epochs):
        for path in paths:
            features, stars = sparse.load_npz(path), np.load(path.with_suffix(".npy"))
            accuracy = model.score(features, stars) if epoch else 0.5
            for rows in np.array_split(
                np.random.default_rng(epoch).permutation(len(stars)), 4
            ):
                model.partial_fit(features[rows], stars[rows], classes=[0, 1])
            run.log(
                {
                    "train/accuracy": accuracy,
                    "train/norm": float(np.abs(model.coef_).sum()),
                }
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", type=int, default=28)
    parser.add_argument("--epochs", type=int, default=18)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    collect(args.parts, 1200)
    began = time.monotonic()
    with agent.init("sentiment", project="reviews", stage="prepare") as run:
        prepare(run)
    prepared = time.monotonic()
    archive(args.fixed)
    archived = time.monotonic()
    with agent.init("sentiment", project="reviews", stage="train") as run:
        train(run, args.epochs)
    ended = time.monotonic()
    print(
        f"prepare {prepared - began:.1f} s, archive {archived - prepared:.1f} s, train {ended - archived:.1f} s, all {ended - began:.1f} s"
    )
