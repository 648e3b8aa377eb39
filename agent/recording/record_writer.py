"""Queues the values of series that are not numbers: texts, histograms, media."""

from __future__ import annotations

from typing import TypeGuard

from seamark.errors import AgentError, UnsupportedValue, shown
from seamark.queue.buffer import Buffer
from seamark.recording.duck_types import is_picture, is_plotly_figure
from seamark.recording.file_contents import Content, Job, Place, to_content
from seamark.recording.file_jobs import FileJobs
from seamark.recording.media.images import picture_of_mask
from seamark.recording.media.media import Image, Media, media_of
from seamark.recording.path_types import Kind, Kinds
from seamark.recording.records import FILE, IMAGE, RECORDED, Recorded, Records
from seamark.user_warnings import Notices

# Values of series other than numbers.
_NO_NUMBERS = (*RECORDED, Media)
MAX_MEDIA = 100  # of one call
_MASK = b'{"is_mask":true}'


class RecordWriter:
    """Creates records and passes them to the buffer or the copy thread."""

    def __init__(
        self,
        buffer: Buffer,
        kinds: Kinds,
        jobs: FileJobs,
        notices: Notices,
        *,
        first_step: float = 0.0,
    ) -> None:
        self._buffer = buffer
        self._kinds = kinds
        self._jobs = jobs
        self._notices = notices
        self._records = Records(notices, first_step=first_step)
        self.next_step_of = self._records.next_step_of

    def append(self, path: str, value: object, step: float | None, moment: int) -> bool:
        """Log a non-numeric value; return False if the value is not one.

        If it raises AgentError, nothing was logged.
        """
        if not is_record(value):
            return False
        if isinstance(value, Media):
            self._append_media(path, [value], step, moment)
        else:
            self._kinds.claim(path, _kind_of(value))
            self._buffer.put_record(self._records.made(path, value, step, moment))
        return True

    def append_media(
        self,
        path: str,
        value: object,
        step: float | None,
        moment: int,
        captions: object = None,
    ) -> bool:
        """Log a picture of another library, or a list of media; return False for others.

        Called after the value proved not to be a number: the check runs its code.
        """
        media = _media_of(value)
        if not media:
            return False
        if captions is not None:
            _set_captions(media, captions)
        if len(media) > MAX_MEDIA:
            self._notices.warn(
                f"many media {shown(path)}",
                f"{shown(path)} got {len(media):,} media in one call; only the first"
                f" {MAX_MEDIA} of a step are stored",
            )
        self._append_media(path, media[:MAX_MEDIA], step, moment)
        return True

    def _append_media(
        self, path: str, media: list[Media], step: float | None, moment: int
    ) -> None:
        kind = IMAGE if all(isinstance(each, Image) for each in media) else FILE
        contents: list[tuple[Content, bytes]] = []
        try:
            for each in media:
                contents += _contents(path, each, kind)
            self._kinds.claim(path, Kind.IMAGE if kind == IMAGE else Kind.MEDIA)
        except AgentError:
            for content, _ in contents:
                content.close()
            raise
        used = self._records.used_step(path, step)
        for content, details in contents:
            place = Place(kind, used, moment, details)
            self._jobs.put(Job(path, content, place=place))


def is_record(value: object) -> TypeGuard[Recorded | Media]:
    """Return whether a value belongs to a series of records, not of numbers."""
    try:
        return isinstance(value, _NO_NUMBERS)
    except Exception:  # noqa: BLE001 - a proxy object runs its own code
        return False


def _contents(path: str, medium: Media, kind: str) -> list[tuple[Content, bytes]]:
    """Return the content of a medium and its details; a mask is a separate content."""
    name = path.rpartition("/")[2]
    details = medium.encoded_details()
    found: list[tuple[Content, bytes]] = []
    mask = medium.mask if isinstance(medium, Image) else None
    if mask is not None:
        encoder = picture_of_mask(mask)
        content = Content(
            f"{name}.png",
            "image/png",
            encoder.encode,
            buffered_bytes=encoder.buffered_bytes,
        )
        found.append((content, _MASK))
    content = to_content(medium, fallback=name, name=None, media_type=None)
    media_type = content.media_type
    if kind == IMAGE and media_type and not media_type.startswith("image/"):
        content.close()
        raise UnsupportedValue(medium, "is not an image; upload it")
    # The mask follows its picture.
    return [(content, details), *found]


def _set_captions(media: list[Media], captions: object) -> None:
    """Give each medium its caption; raise UnsupportedValue if they differ in number."""
    listed = [captions] if isinstance(captions, str) else captions
    if not isinstance(listed, (list, tuple)) or len(listed) != len(media):
        raise UnsupportedValue(captions, f"is not a list of {len(media)} captions")
    for each, caption in zip(media, listed, strict=True):
        each.caption = caption


def _media_of(value: object) -> list[Media]:
    try:
        return media_of(value, _is_picture)
    except Exception:  # noqa: BLE001 - foreign code
        return []


def _is_picture(value: object) -> bool:
    # The page draws Plotly figures; they are files.
    return is_picture(value) and not is_plotly_figure(value)


def _kind_of(value: Recorded) -> Kind:
    return Kind.TEXT if isinstance(value, str) else Kind.HISTOGRAM
