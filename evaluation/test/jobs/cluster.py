"""Mini-batch k-means with a quality check after some of its steps."""

import argparse
import time

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--clusters", type=int, default=64)
parser.add_argument("--dimensions", type=int, default=48)
parser.add_argument("--batch", type=int, default=1500)
parser.add_argument("--check-every", type=int, default=0)
parser.add_argument("--check-points", type=int, default=3000)
parser.add_argument("--pause-every", type=int, default=0, help="steps")
parser.add_argument("--pause", type=float, default=0.6)
parser.add_argument("--trace", action="store_true", help="write each assignment")
parser.add_argument("--named", action="store_true")
parser.add_argument("--growing", action="store_true", help="keep points in the batch")
parser.add_argument("--loader", action="store_true")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()

rng = np.random.default_rng(17)
centers = rng.normal(size=(args.clusters, args.dimensions))
truth = rng.normal(size=(args.clusters, args.dimensions)) * 3
counts = np.ones(args.clusters)
run = agent.init("kmeans", project="segments")
run["params"] = vars(args)
kept = np.zeros((0, args.dimensions))
trace = open("trace.txt", "w")


def points(count):
    chosen = truth[rng.integers(args.clusters, size=count)]
    return chosen + rng.normal(size=(count, args.dimensions))


def distances(x):
    return (x**2).sum(1)[:, None] - 2 * x @ centers.T + (centers**2).sum(1)


def silhouette():
    nearest = np.sort(distances(points(args.check_points)), axis=1)
    return float(1 - np.mean(nearest[:, 0] / nearest[:, 1]))


def write(assigned):
    for number, cluster in enumerate(assigned):
        print(f"point {number} is in cluster {cluster}", file=trace, flush=True)


def batches():
    end = time.time() + args.seconds
    while time.time() < end:
        yield points(args.batch)


for step, x in enumerate(run.loader(batches()) if args.loader else batches()):
    if args.growing:
        kept = x = np.concatenate([kept, x[:40]])
    found = distances(x)
    assigned = found.argmin(1)
    for cluster in np.unique(assigned):
        members = x[assigned == cluster]
        counts[cluster] += len(members)
        centers[cluster] += (members - centers[cluster]).sum(0) / counts[cluster]
    run["inertia"].append(float(found.min(1).mean()))
    if args.trace:
        if args.named:
            with run.phase("log"):
                write(assigned)
        else:
            write(assigned)
    if args.check_every and step % args.check_every == args.check_every - 1:
        if args.named:
            with run.phase("evaluate"):
                run["silhouette"].append(silhouette())
        else:
            run["silhouette"].append(silhouette())
    if args.pause_every and step % args.pause_every == args.pause_every - 1:
        time.sleep(args.pause)
run.finish()
