"""Recognizes objects of frameworks by their methods, not by their type (pure).

No framework is imported. Code of the objects runs here and may raise anything.
"""

from __future__ import annotations

from typing import Any


# Any, here and below: foreign types are known only at run time.
def can(value: object, *names: str) -> bool:
    """Return whether a value has all of these methods."""
    return all(callable(getattr(value, name, None)) for name in names)


def is_plotly_figure(value: object) -> bool:
    """Return whether it is a figure that serializes to Plotly JSON."""
    return can(value, "to_plotly_json", "to_json")


def is_figure(value: object) -> bool:
    """Return whether it is a Matplotlib figure."""
    return can(value, "savefig")


def is_part_of_figure(value: Any) -> bool:
    """Return whether it is a part of a Matplotlib figure, such as its axes."""
    return can(value, "get_figure") and can(value.get_figure(), "savefig")


def is_image(value: object) -> bool:
    """Return whether it is a PIL image."""
    return can(value, "save", "tobytes", "convert")


def is_table(value: object) -> bool:
    """Return whether it is a data frame, or a column of one."""
    return can(value, "to_csv") or can(value, "write_csv")


def csv_of(table: Any) -> str:
    """Return a pandas or Polars data frame as CSV."""
    found: str = table.to_csv() if can(table, "to_csv") else table.write_csv()
    return found


def is_picture(value: object) -> bool:
    """Return whether it is a figure or an image."""
    return not isinstance(value, type) and (
        is_plotly_figure(value)
        or is_figure(value)
        or is_part_of_figure(value)
        or is_image(value)
    )


def is_file(value: object) -> bool:
    """Return whether it can only be stored as a file, because its text is meaningless."""
    return is_picture(value) or (not isinstance(value, type) and is_table(value))


def is_array(value: object) -> bool:
    """Return whether it is an array or a tensor; spaces and layers have a shape too."""
    return (
        hasattr(value, "shape")
        and (can(value, "__array__") or can(value, "__dlpack__"))
        and not isinstance(value, type)
    )


def is_time(value: object) -> bool:
    """Return whether it is a NumPy datetime or duration, or an array of them.

    The only function here that never raises: it is called for every logged value.
    """
    try:
        return getattr(getattr(value, "dtype", None), "kind", "") in ("M", "m")
    except Exception:  # noqa: BLE001 - foreign code
        return False


def size_of(array: Any) -> int:
    """Return the number of elements of an array."""
    size = 1
    for length in array.shape:
        size *= int(length)
    return size


def list_of(array: Any) -> object:
    """Return an array as nested lists, or as a number if it has no axes."""
    if is_time(array):
        # Converted to integers they would lose their unit.
        array = array.astype(str)
    if not can(array, "tolist") and can(array, "numpy"):
        array = array.numpy()
    found: object = array.tolist()
    return found
