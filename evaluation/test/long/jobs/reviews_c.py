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


def prepare(run, passes):
    READY.mkdir(exist_ok=True)
    for gram in range(1, passes + 1):
        vectorizer = HashingVectorizer(n_features=2**18, ngram_range=(1, gram))
        for number, path in enumerate(sorted(RAW.iterdir())):
            stars, texts = zip(
                *(line.split("\t") for line in path.read_text().splitlines()),
                strict=True,
            )
            features = vectorizer.transform(texts)
            sparse.save_npz(
                READY / f"{gram}-{path.stem}.npz", features, compressed=False
            )
            np.save(READY / f"{gram}-{path.stem}.npy", np.array(stars, dtype=int))
            run.log(
                {f"prepare/nonzero_{gram}": features.nnz, "prepare/parts": number + 1}
            )


def archive(fixed, copies):
    for copy in range(copies):
        target = f"raw-{copy}.tar" if fixed else f"raw-{copy}.tar.xz"
        with tarfile.open(target, "w" if fixed else "w:xz") as tar:
            tar.add(RAW)
        Path(f"{target}.sha256").write_text(
            hashlib.sha256(Path(target).read_bytes()).hexdigest()
        )


def train(run, epochs):
    model = SGDClassifier(loss="log_loss", alpha=1e-6)
    paths = sorted(READY.glob("2-*.npz"))
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
    parser.add_argument("--parts", type=int, default=24)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    collect(args.parts, 1200)
    began = time.monotonic()
    with agent.init("sentiment", project="reviews", stage="prepare") as run:
        prepare(run, 2)
    prepared = time.monotonic()
    archive(args.fixed, 1)
    archived = time.monotonic()
    with agent.init("sentiment", project="reviews", stage="train") as run:
        train(run, args.epochs)
    ended = time.monotonic()
    print(
        f"prepare {prepared - began:.1f} s, archive {archived - prepared:.1f} s, train {ended - archived:.1f} s, all {ended - began:.1f} s"
    )
