"""Train on compressed shards that a thread reads ahead."""

import argparse
import gzip
import os
import queue
import threading
import time

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--shards", type=int, default=12)
parser.add_argument("--rows", type=int, default=400, help="of a shard")
parser.add_argument("--columns", type=int, default=128)
parser.add_argument("--batch", type=int, default=50, help="rows")
parser.add_argument("--ahead", type=int, default=16, help="batches")
parser.add_argument("--readers", type=int, default=1)
parser.add_argument("--text", action="store_true", help="shards of text")
parser.add_argument("--row-files", action="store_true", help="one file for each row")
parser.add_argument("--uncached", action="store_true")
parser.add_argument("--work", type=int, default=10)
parser.add_argument("--epoch-setup", type=float, default=0.0, help="of a reader")
parser.add_argument("--loader", action="store_true")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()

rng = np.random.default_rng(31)
os.mkdir("shards")
for number in range(args.shards):
    table = rng.normal(size=(args.rows, args.columns)).astype(np.float32)
    if args.row_files:
        for row, values in enumerate(table):
            np.save(f"shards/{number}-{row}.npy", values)
    elif args.text:
        with gzip.open(f"shards/{number}.gz", "wt", compresslevel=1) as file:
            np.savetxt(file, table, "%.5f")
    else:
        with gzip.open(f"shards/{number}.gz", "wb", compresslevel=1) as file:
            file.write(table.tobytes())
os.sync()
run = agent.init("shards", project="storage")
run["params"] = vars(args)
deadline = time.time() + args.seconds


def content(path):
    with open(path, "rb") as file:
        if args.uncached:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return file.read()


def shard(number):
    if args.row_files:
        rows = [content(f"shards/{number}-{row}.npy") for row in range(args.rows)]
        return np.stack([np.frombuffer(row[-4 * args.columns :], "f4") for row in rows])
    raw = gzip.decompress(content(f"shards/{number}.gz"))
    if args.text:
        rows = [[float(c) for c in line.split()] for line in raw.decode().splitlines()]
        return np.array(rows, np.float32)
    return np.frombuffer(raw, np.float32).reshape(args.rows, args.columns)


def read(batches, mine):
    if args.epoch_setup:
        time.sleep(args.epoch_setup)
    for number in mine:
        table = shard(number)
        for start in range(0, args.rows, args.batch):
            batches.put(table[start : start + args.batch])
            if time.time() > deadline:
                break
    batches.put(None)


def epoch():
    batches = queue.Queue(args.ahead)
    order = rng.permutation(args.shards)
    for reader in range(args.readers):
        mine = order[reader :: args.readers]
        threading.Thread(target=read, args=(batches, mine), daemon=True).start()
    ended = 0
    while ended < args.readers:
        if (batch := batches.get()) is None:
            ended += 1
        else:
            yield batch


weights = np.zeros((args.columns, 256), np.float32)
while time.time() < deadline:
    for batch in run.loader(epoch()) if args.loader else epoch():
        for _ in range(args.work):
            hidden = np.maximum(batch @ weights, 0)
            weights += 1e-4 * batch.T @ (1 - hidden)
        run["objective"].append(float(hidden.mean()))
        if time.time() > deadline:
            break
run.finish()
