from __future__ import annotations

import ast
import json

from web.snippets import agent_file, environment, first_run


def test_the_first_run_is_python_for_the_project_at_hand():
    tree = ast.parse(first_run("vision"))

    strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert "vision" in strings


def test_the_settings_are_those_the_agent_reads():
    assert environment("http://host", "smk_1") == (
        "export SEAMARK_URL=http://host\nexport SEAMARK_TOKEN=smk_1"
    )
    assert json.loads(agent_file("http://host", "smk_1")) == {
        "url": "http://host",
        "token": "smk_1",
    }
