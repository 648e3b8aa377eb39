"""Learn from a stream of texts with scikit-learn, chunk by chunk."""

import argparse
import random
import time

from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

import agent

parser = argparse.ArgumentParser()
parser.add_argument("--chunk", type=int, default=200, help="texts")
parser.add_argument("--words", type=int, default=60)
parser.add_argument("--holdout", type=int, default=300)
parser.add_argument("--test-every", type=int, default=40, help="chunks")
parser.add_argument("--timed", action="store_true")
parser.add_argument("--clean", type=int, default=0, help="passes of regular cleaning")
parser.add_argument("--seconds", type=float, default=20)
args = parser.parse_args()
random.seed(9)
VOCABULARY = [hex(number)[2:] for number in range(30_000)]


def texts(count):
    made = []
    for _ in range(count):
        label = random.randrange(2)
        words = random.choices(VOCABULARY[label * 2000 :], k=args.words)
        made.append((" ".join(words), label))
    return made


def clean(text):
    for _ in range(args.clean):
        text = " ".join(w.strip().lower().replace("0", "o") for w in text.split())
    return text


vectorize = HashingVectorizer(n_features=2**15).transform
model = SGDClassifier(loss="log_loss")
run = agent.init("stream", project="spam")
run["params"] = vars(args)
arrived = texts(4000)
held_x, held_y = zip(*texts(args.holdout), strict=True)


def chunks():
    end = time.time() + args.seconds
    while time.time() < end:
        yield [(clean(text), y) for text, y in random.sample(arrived, args.chunk)]


def test():
    run["accuracy"].append(model.score(vectorize(held_x), held_y))


for number, chunk in enumerate(run.loader(chunks()) if args.timed else chunks()):
    x, y = zip(*chunk, strict=True)
    model.partial_fit(vectorize(x), y, classes=[0, 1])
    if number % 10 == 0:
        run["train/accuracy"].append(model.score(vectorize(x), y))
    if args.test_every and number % args.test_every == args.test_every - 1:
        if args.timed:
            with run.phase("validate"):
                test()
        else:
            test()
run.finish()
