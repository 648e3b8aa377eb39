"""HTTP service that routes support tickets to a team, with a client that replays tickets."""

import argparse
import json
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import joblib
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

import agent

TEAMS = ["billing", "login", "shipping", "refund", "other"]
MODEL = Path("router.joblib")


def make_tickets(rng, count):
    words = np.array([f"w{i}" for i in range(30_000)])
    teams = rng.integers(0, len(TEAMS), count)
    texts = []
    for team in teams:
        common = words[(rng.pareto(0.8, 40) * 20).astype(int) % len(words)]
        own = words[team * 50 + rng.integers(0, 50, 4)]
        texts.append(" ".join([*common, *own]))
    return texts, teams


def train(rng):
    texts, teams = make_tickets(rng, 6_000)
    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2)), SGDClassifier(loss="log_loss", max_iter=8)
    )
    model.fit(texts, teams)
    joblib.dump(model, MODEL)


class Router:
    def __init__(self, run, fixed):
        self.run = run
        self.model = joblib.load(MODEL) if fixed else None

    def route(self, text):
        model = self.model
        if model is None:
            with self.run.phase("load_model"):
                model = joblib.load(MODEL)
        with self.run.phase("compute"):
            scores = model.predict_proba([text])[0]
        best = int(scores.argmax())
        return {"team": TEAMS[best], "score": float(scores[best])}


class Handler(BaseHTTPRequestHandler):
    router = None

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.router.run.phase("request"):
            answer = json.dumps(self.router.route(body["text"])).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


def replay(url, texts, until, answered):
    number = 0
    while time.monotonic() < until:
        body = json.dumps({"text": texts[number % len(texts)]}).encode()
        with urllib.request.urlopen(urllib.request.Request(url, data=body)) as response:
            json.load(response)
        answered.append(time.monotonic())
        number += 1


parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=70)
parser.add_argument("--clients", type=int, default=3)
parser.add_argument("--fixed", action="store_true")
args = parser.parse_args()

rng = np.random.default_rng(11)
run = agent.init("ticket-router", project="support", stage="serve")
train(rng)
texts, _ = make_tickets(rng, 500)
Handler.router = Router(run, args.fixed)
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()

url = f"http://127.0.0.1:{server.server_port}/route"
answered = []
began = time.monotonic()
clients = [
    threading.Thread(
        target=replay,
        args=(url, texts[i :: args.clients], began + args.seconds, answered),
    )
    for i in range(args.clients)
]
for client in clients:
    client.start()
for client in clients:
    client.join()
server.shutdown()
print(
    f"{len(answered)} requests, {len(answered) / (time.monotonic() - began):.1f} requests/s"
)
run["requests"] = len(answered)
run.finish()
