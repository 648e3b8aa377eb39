"""Cross-validate tree ensembles on a table and log each fold's score."""

import argparse
import time

from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--model", choices=("forest", "boosting"), default="forest")
parser.add_argument("--trees", type=int, default=100)
parser.add_argument("--rows", type=int, default=6000)
parser.add_argument("--features", type=int, default=30)
parser.add_argument("--jobs", type=int, default=1)
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()

run = agent.init("table", project="churn", stage="fit")
run["params"] = vars(args)
x, y = make_classification(args.rows, args.features, n_informative=8, random_state=0)
until, repeat = time.time() + args.seconds, 0
while time.time() < until:
    folds = StratifiedKFold(5, shuffle=True, random_state=repeat)
    for fold, (train, test) in enumerate(folds.split(x, y)):
        if args.model == "forest":
            model = RandomForestClassifier(args.trees, n_jobs=args.jobs)
        else:
            model = GradientBoostingClassifier(n_estimators=args.trees)
        model.fit(x[train], y[train])
        run["fold/accuracy"].append(model.score(x[test], y[test]))
        if time.time() > until:
            break
    repeat += 1
run["accuracy"] = model.score(x[test], y[test])
run.finish()
