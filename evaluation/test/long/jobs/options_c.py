"""Prices a book of options by simulation; worker processes share the contracts."""

import argparse
import multiprocessing as mp
import time

import numpy as np

import agent


def price(contract, paths=60_000, steps=40):
    rng = np.random.default_rng(contract["id"])
    dt = contract["expiry"] / steps
    spot = np.full(paths, contract["spot"])
    drift = (0.02 - contract["vol"] ** 2 / 2) * dt
    for _ in range(steps):
        spot *= np.exp(
            drift + contract["vol"] * np.sqrt(dt) * rng.standard_normal(paths)
        )
    payoff = np.maximum(spot - contract["strike"], 0).mean()
    return float(payoff) / contract["days"] * 365


def worker(tasks, results, fixed):
    while True:
        contract = tasks.get()
        if contract is None:
            return
        if fixed and contract["days"] == 0:
            results.put((contract["id"], 0.0))
            continue
        results.put((contract["id"], price(contract)))


def make_book(count):
    rng = np.random.default_rng(5)
    book = []
    for number in range(count):
        days = int(rng.integers(5, 700)) if number != 160 else 0
        book.append(
            {
                "id": number,
                "spot": 100.0,
                "strike": float(rng.uniform(80, 120)),
                "vol": float(rng.uniform(0.1, 0.5)),
                "days": days,
                "expiry": days / 365,
            }
        )
    return book


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    run = agent.init("price-book", project="desk", params={"paths": 60_000})
    tasks, results = mp.Queue(), mp.Queue()
    workers = [
        mp.Process(target=worker, args=(tasks, results, args.fixed), daemon=True)
        for _ in range(2)
    ]
    for process in workers:
        process.start()
    book = make_book(100_000)
    began, group, done = time.monotonic(), 4, 0
    while time.monotonic() - began < args.seconds:
        part = book[done : done + group]
        for contract in part:
            tasks.put(contract)
        prices = dict(results.get() for _ in part)
        done += len(part)
        run.log(
            {"price/mean": float(np.mean(list(prices.values()))), "contracts": done}
        )
    for _ in workers:
        tasks.put(None)
    print(f"{done / (time.monotonic() - began):.1f} contracts/s")
    run.finish()
