from __future__ import annotations

import ast
import json

from web.snippets import (
    agent_file,
    capture,
    environment,
    first_run,
    start_elsewhere,
)


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


def test_a_projects_name_cannot_end_the_line():
    tree = ast.parse(first_run('x")\nimport os #'))

    assert [node.name for node in ast.walk(tree) if isinstance(node, ast.alias)] == [
        "agent"
    ]


def test_what_captures_the_source_is_for_the_project_at_hand():
    text = capture("http://host", 'vi"sion')

    strings = [
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant)
    ]
    assert 'vi"sion' in strings
    assert "http://host" in text


def test_a_shell_elsewhere_is_given_the_address_and_the_token():
    install = "pip install http://host/sdk/seamark-1.tar.gz"

    assert start_elsewhere(install, "http://host", "smk_1").splitlines() == [
        install,
        "export SEAMARK_URL=http://host",
        "export SEAMARK_TOKEN=smk_1",
    ]
    assert "SEAMARK_TOKEN=smk_…" in start_elsewhere(install, "http://host", "")
