"""Clean crawled pages and remove near duplicates (MinHash), before training."""

import argparse
import html
import json
import random
import re
import time
import zlib
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import agent

TAGS = re.compile(r"<[^>]+>")
SPLIT = re.compile(r"\W+")
MASKS = [random.Random(i).getrandbits(32) for i in range(24)]


def crawl(folder, files=40, pages=60):
    rng = random.Random(12)
    words = [
        "".join(rng.choices("abcdefghiklmnoprstuvw", k=rng.randint(2, 9)))
        for _ in range(5000)
    ]
    Path(folder).mkdir(exist_ok=True)
    for number in range(files):
        with open(f"{folder}/{number:03d}.jsonl", "w") as out:
            for page in range(pages):
                text = " ".join(
                    f"<p>{rng.choice(words)}&nbsp;{rng.choice(words)}</p>"
                    for _ in range(80)
                )
                out.write(
                    json.dumps(
                        {"url": f"http://example.org/{number}/{page}", "html": text}
                    )
                    + "\n"
                )


def signature(words):
    shingles = {
        zlib.crc32(" ".join(words[i : i + 3]).encode()) for i in range(len(words) - 2)
    }
    return tuple(min(s ^ mask for s in shingles) for mask in MASKS)


def clean(path):
    results = []
    with open(path) as lines:
        for line in lines:
            page = json.loads(line)
            text = html.unescape(TAGS.sub(" ", page["html"])).lower()
            words = [word for word in SPLIT.split(text) if len(word) > 1]
            results.append((page["url"], signature(words), len(words)))
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()

    crawl("crawl")
    run = agent.init("dedup", project="corpus", stage="preprocess")
    run["params/workers"] = args.workers
    pool = ProcessPoolExecutor if args.fixed else ThreadPoolExecutor
    paths = sorted(Path("crawl").glob("*.jsonl"))
    start = time.monotonic()
    seen, done, words, passes = set(), 0, 0, 0
    with pool(args.workers) as executor:
        while time.monotonic() - start < args.seconds:
            for results in executor.map(clean, paths):
                for _, key, count in results:
                    seen.add(key[:4])
                    words += count
                done += 1
                run.log(
                    {
                        "dedup/files": done,
                        "dedup/unique": len(seen),
                        "dedup/words": words,
                    }
                )
                if time.monotonic() - start > args.seconds:
                    executor.shutdown(cancel_futures=True)
                    break
            passes += 1
    print(f"{done / (time.monotonic() - start):.2f} files/s")
    run.finish()


if __name__ == "__main__":
    main()
