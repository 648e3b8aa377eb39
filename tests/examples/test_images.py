import numpy as np
import pytest
from images import (
    INPUT_PIXELS,
    DecodedImages,
    PhotographImages,
    write_decoded,
    write_photographs,
)


@pytest.fixture
def folder(tmp_path):
    photographs = write_photographs(tmp_path)
    for _ in range(12):
        next(photographs)
    return tmp_path


def test_photographs_are_jpeg_files_in_two_splits(folder):
    train = sorted((folder / "train").iterdir())
    test = sorted((folder / "test").iterdir())

    assert len(train) == 9
    assert len(test) == 3
    assert train[0].read_bytes()[:3] == b"\xff\xd8\xff"


def test_decoded_ahead_or_not_the_images_are_the_same(folder):
    list(write_decoded(folder / "train"))

    decoded, photographs = (
        DecodedImages(folder / "train"),
        PhotographImages(folder / "train"),
    )

    assert (decoded.labels == photographs.labels).all()
    assert decoded.read(4).shape == (INPUT_PIXELS, INPUT_PIXELS)
    assert (decoded.read(4) == photographs.read(4)).all()
    assert np.ptp(decoded.read(4)) > 100


def test_says_what_to_run_when_the_images_are_missing(tmp_path):
    with pytest.raises(SystemExit, match=r"preprocess\.py"):
        PhotographImages(tmp_path)
