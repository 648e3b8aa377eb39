import zstandard

from benchmarks.load.bodies import Bodies, Body, bytes_a_step
from benchmarks.load.pacing import Cut
from tracker.ingest.batch import read_batch
from tracker.ingest.messages import AddPoints


def unpacked(body: Body) -> bytes:
    return zstandard.ZstdDecompressor().decompress(body.data)


def test_batches_follow_each_other_as_the_tracker_reads_them():
    bodies = Bodies(Cut(steps_in_batch=5, steps_in_frame=2), metrics=3)

    opening = read_batch(unpacked(bodies.first("a run")))
    batches = [read_batch(unpacked(bodies[place])) for place in range(3)]

    assert opening.opening is not None
    assert opening.opening.run == "a run"
    assert [(batch.first, batch.last) for batch in batches] == [(2, 2), (3, 5), (6, 8)]
    assert not any(batch.refusals for batch in batches)


def test_a_body_says_how_many_points_it_holds():
    bodies = Bodies(Cut(steps_in_batch=5, steps_in_frame=2), metrics=3)
    batch = read_batch(unpacked(bodies[1]))

    contents = [message.content for message in batch.messages]
    values = [len(c.values) // 8 for c in contents if isinstance(c, AddPoints)]

    assert bodies[1].points == sum(values) == 15
    assert bodies[0].points == 6


def test_all_clients_share_the_bodies():
    bodies = Bodies(Cut(steps_in_batch=5, steps_in_frame=2), metrics=3)

    assert bodies[2] is bodies[2]


def test_steps_in_one_frame_take_less_room_each():
    assert bytes_a_step(20, 1) > bytes_a_step(20, 10) > 20 * 8
