import numpy as np
import pytest
from images import INPUT_PIXELS
from loader import Loader


class GreyImages:
    """One image per gray level, labeled with its level."""

    labels = np.arange(40)

    def __len__(self):
        return 40

    def read(self, index):
        return np.full((INPUT_PIXELS, INPUT_PIXELS), index, np.uint8)


def epoch(workers):
    loader = Loader(GreyImages(), batch_size=8, num_workers=workers, seed=3)
    batches = list(loader)
    loader.close()
    return batches


def test_every_image_comes_once():
    labels = np.concatenate([labels for _pixels, labels in epoch(workers=0)])

    assert sorted(labels) == list(range(40))


@pytest.mark.processes
def test_loader_workers_make_the_same_batches_as_the_training_process():
    for (pixels, labels), (expected_pixels, expected_labels) in zip(
        epoch(workers=2), epoch(workers=0), strict=True
    ):
        assert (pixels == expected_pixels).all()
        assert (labels == expected_labels).all()
