import argparse
import time

import torch
import torch.nn.functional as F
from torch import nn

import agent

CLASSES = 21


def double(inside, outside):
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, padding=1, bias=False),
        nn.BatchNorm2d(outside),
        nn.ReLU(inplace=True),
        nn.Conv2d(outside, outside, 3, padding=1, bias=False),
        nn.BatchNorm2d(outside),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, base=32):
        super().__init__()
        sizes = [base, 2 * base, 4 * base, 8 * base]
        self.down = nn.ModuleList(
            double(i, o) for i, o in zip([3, *sizes], sizes, strict=False)
        )
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(i, o, 2, stride=2)
            for i, o in zip(sizes[:0:-1], sizes[-2::-1], strict=True)
        )
        self.merge = nn.ModuleList(double(2 * o, o) for o in sizes[-2::-1])
        self.head = nn.Conv2d(base, CLASSES, 1)

    def forward(self, x):
        kept = []
        for n, block in enumerate(self.down):
            x = block(x if n == 0 else F.max_pool2d(x, 2))
            kept.append(x)
        for up, merge, skip in zip(self.up, self.merge, kept[-2::-1], strict=True):
            x = merge(torch.cat([up(x), skip], 1))
        return self.head(x)


class Trainer:
    def __init__(self, args):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        size = 32 if args.tiny else 512
        count = 32 if args.tiny else 1600
        self.batch = 4 if args.tiny else 16
        palette = torch.randint(
            0, 200, (CLASSES, 3), dtype=torch.uint8, device=self.device
        )
        tiles = torch.randint(
            0, CLASSES, (count, size // 16, size // 16), device=self.device
        )
        self.masks = tiles.byte().repeat_interleave(16, 1).repeat_interleave(16, 2)
        self.images = torch.randint(
            0, 56, (count, 3, size, size), dtype=torch.uint8, device=self.device
        )
        for image, mask in zip(self.images, self.masks, strict=True):
            image += palette[mask.long()].permute(2, 0, 1)
        self.held_out = count * 2 // 5
        self.model = UNet().to(self.device, memory_format=torch.channels_last)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.results = []

    def predict(self, chosen):
        x = self.images[chosen].to(memory_format=torch.channels_last).float() / 255
        with torch.autocast(self.device, dtype=torch.bfloat16):
            return self.model(x)

    def train_step(self):
        chosen = torch.randint(
            self.held_out, len(self.images), (self.batch,), device=self.device
        )
        loss = F.cross_entropy(self.predict(chosen).float(), self.masks[chosen].long())
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    @torch.no_grad()
    def evaluate(self, step):
        self.model.eval()
        scores, targets, right = [], [], 0
        for first in range(0, self.held_out, self.batch):
            chosen = torch.arange(
                first, min(first + self.batch, self.held_out), device=self.device
            )
            score = self.predict(chosen).float().softmax(1)
            right += (score.argmax(1) == self.masks[chosen]).float().mean() * len(
                chosen
            )
            scores.append(score)
            targets.append(self.masks[chosen])
        self.results.append({"step": step, "scores": scores, "targets": targets})
        self.model.train()
        return float(right) / self.held_out


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=22)
    parser.add_argument("--eval-every", type=float, default=1.2, help="seconds")
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    trainer = Trainer(args)

    run = agent.init("streets", project="segmentation")
    start = last = time.monotonic()
    step = 0
    while time.monotonic() - start < args.seconds:
        loss = trainer.train_step()
        step += 1
        if step % 10 == 0:
            run["train/loss"].append(loss.item(), step=step)
        if time.monotonic() - last > args.eval_every:
            run["val/accuracy"].append(trainer.evaluate(step), step=step)
            last = time.monotonic()
    curves = []
    for result in trainer.results:
        for score, target in zip(result["scores"], result["targets"], strict=True):
            certain = score.amax(1)
            curves.append(torch.histc(certain[score.argmax(1) == target], 50, 0, 1))
    run["val/pixels"] = torch.stack(curves).sum().item()
    run.finish()
