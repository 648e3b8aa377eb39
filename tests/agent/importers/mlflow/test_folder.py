from __future__ import annotations

import pytest
import yaml

from seamark.importers.mlflow.folder import read_flat_yaml


@pytest.mark.parametrize(
    "name",
    [
        "baseline",
        "it's: a # test",
        'quoted "twice"',
        "ünïcode 🚀",
        "a long name " * 20,
        "tab\tand\nlines",
        "'",
        "1234",
        "null",
        "yes",
    ],
)
@pytest.mark.parametrize("is_ascii", [True, False])
def test_names_are_read_as_pyyaml_writes_them(name, is_ascii):
    meta = {"end_time": None, "run_name": name, "status": 3, "tags": []}
    text = yaml.safe_dump(meta, allow_unicode=not is_ascii, default_flow_style=False)

    found = read_flat_yaml(text)

    assert found["run_name"] == name
    assert (found["end_time"], found["status"]) == ("", "3")
