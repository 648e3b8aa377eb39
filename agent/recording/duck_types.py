"""Tells what objects of frameworks are, by what they can do and never by their type (pure).

So no framework is imported. Code of the objects runs here, and may raise whatever it
likes.
"""

from __future__ import annotations

from typing import Any


# Any, here and below: foreign types are known only at run time.
def can(value: object, *names: str) -> bool:
    """Whether a value has all of these methods."""
    return all(callable(getattr(value, name, None)) for name in names)


def is_plotly_figure(value: object) -> bool:
    """Whether it is a figure that says itself as JSON."""
    return can(value, "to_plotly_json", "to_json")


def is_figure(value: object) -> bool:
    """Whether it is what Matplotlib draws on."""
    return can(value, "savefig")


def is_part_of_figure(value: Any) -> bool:
    """Whether it is a part of one, such as its axes."""
    return can(value, "get_figure") and can(value.get_figure(), "savefig")


def is_image(value: object) -> bool:
    """Whether it is an image of PIL."""
    return can(value, "save", "tobytes", "convert")


def is_table(value: object) -> bool:
    """Whether it is a data frame, or a column of one."""
    return can(value, "to_csv") or can(value, "write_csv")


def csv_of(table: Any) -> str:
    """Return what a data frame says as CSV, of pandas or of Polars."""
    found: str = table.to_csv() if can(table, "to_csv") else table.write_csv()
    return found


def is_picture(value: object) -> bool:
    """Whether it can only be meant to be looked at."""
    return not isinstance(value, type) and (
        is_plotly_figure(value)
        or is_figure(value)
        or is_part_of_figure(value)
        or is_image(value)
    )


def is_file(value: object) -> bool:
    """Whether it can only be stored as a file: its text would say nothing of it."""
    return is_picture(value) or (not isinstance(value, type) and is_table(value))


def is_array(value: object) -> bool:
    """Whether it is an array or a tensor; spaces and layers have a shape, too."""
    return (
        hasattr(value, "shape")
        and (can(value, "__array__") or can(value, "__dlpack__"))
        and not isinstance(value, type)
    )


def is_time(value: object) -> bool:
    """Whether it is a moment or a duration of NumPy's, or an array of them.

    The one question here that never raises: it is asked of whatever is logged.
    """
    try:
        return getattr(getattr(value, "dtype", None), "kind", "") in ("M", "m")
    except Exception:  # noqa: BLE001 - foreign code
        return False


def size_of(array: Any) -> int:
    """Return how many elements an array has."""
    size = 1
    for length in array.shape:
        size *= int(length)
    return size


def list_of(array: Any) -> object:
    """Return the list, perhaps of lists, that an array holds; a number of one without axes."""
    if is_time(array):
        # As integers they would have lost their unit.
        array = array.astype(str)
    if not can(array, "tolist") and can(array, "numpy"):
        array = array.numpy()
    found: object = array.tolist()
    return found
