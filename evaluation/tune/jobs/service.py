"""An HTTP service that scores texts, with a few clients that ask it."""

import argparse
import json
import pickle
import random
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--clients", type=int, default=2)
parser.add_argument("--pause", type=float, default=0.05, help="of a client, seconds")
parser.add_argument("--model-mb", type=int, default=24)
parser.add_argument("--reload", action="store_true", help="the model in each request")
parser.add_argument("--lazy", action="store_true", help="load in the first request")
parser.add_argument("--lock", action="store_true", help="one request at a time")
parser.add_argument("--work", type=int, default=3, help="products for each request")
parser.add_argument("--phases", action="store_true")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()

side = int((args.model_mb * 131_072) ** 0.5)
with open("model.pkl", "wb") as file:
    pickle.dump(np.random.default_rng(0).normal(size=(side, side)), file)
run = agent.init("texts", project="scores", stage="serve")
run["params"] = vars(args)
lock = threading.Lock()


def load():
    with run.phase("load_model"), open("model.pkl", "rb") as file:
        model = pickle.load(file)
        if args.lazy:
            for _ in range(40):  # compile and warm up
                np.linalg.svd(model[:200, :200])
        return model


def score(model, seed):
    vector = np.random.default_rng(seed).normal(size=side)
    for _ in range(args.work):
        vector = np.tanh(model @ vector)
    return float(vector.sum())


def answer(seed):
    global loaded
    if args.reload:
        return score(load(), seed)
    if loaded is None:
        loaded = load()
    if args.phases:
        with run.phase("compute"):
            return score(loaded, seed)
    return score(loaded, seed)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        began = time.time()
        with run.phase("request"):
            if args.lock:
                with lock:
                    result = answer(int(self.path.rpartition("/")[2]))
            else:
                result = answer(int(self.path.rpartition("/")[2]))
        run["request/seconds"].append(time.time() - began)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(result).encode())

    def log_message(self, *_):
        pass


def client():
    while time.time() < until:
        address = f"http://127.0.0.1:{server.server_port}/{random.randrange(10**6)}"
        with urllib.request.urlopen(address) as response:
            response.read()
        time.sleep(random.expovariate(1 / args.pause) if args.pause else 0)


loaded = None if args.lazy or args.reload else load()
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
until = time.time() + args.seconds
clients = [threading.Thread(target=client) for _ in range(args.clients)]
for each in clients:
    each.start()
for each in clients:
    each.join()
server.shutdown()
run.finish()
