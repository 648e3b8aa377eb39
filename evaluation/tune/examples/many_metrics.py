"""Simulate a queue, and log 150 counters in each step."""

import time

import agent

run = agent.init("counters", project="examples", stage="train")
counters = [0] * 150


def numbers():
    began, number = time.time(), 0
    while time.time() < began + 62:
        number += 1
        yield number


for number in run.loader(numbers()):
    for place in range(len(counters)):
        counters[place] += number % (place + 2) == 0
        run[f"counters/{place}"].append(counters[place])
    time.sleep(0.01)
run.finish()
