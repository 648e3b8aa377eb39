"""Search forest settings for credit default; out-of-bag scores."""

import argparse
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=70)
parser.add_argument("--jobs", type=int, default=2)
args = parser.parse_args()

x, y = make_classification(6_000, 30, n_informative=14, flip_y=0.04, random_state=3)
rng = np.random.default_rng(0)
run = agent.init("credit-forest", project="credit", stage="search")
best = np.inf
trial = 0
start = time.monotonic()
while time.monotonic() - start < args.seconds:
    settings = {
        "max_depth": int(rng.integers(7, 13)),
        "max_features": int(rng.integers(4, 9)),
        "min_samples_leaf": int(rng.integers(1, 12)),
    }
    forest = RandomForestClassifier(
        50, oob_score=True, n_jobs=args.jobs, random_state=0, **settings
    )
    forest.fit(x, y)
    score = log_loss(y, np.nan_to_num(forest.oob_decision_function_, nan=0.5))
    best = min(best, score)
    trial += 1
    run.log({"search/log_loss": score, "search/best": best}, step=trial)
    run.log({f"settings/{name}": value for name, value in settings.items()}, step=trial)
print(f"{trial / (time.monotonic() - start):.2f} trials/s")
run["best"] = best
run.finish()
