"""The libraries of the extras `serve` and `test`, without which the other files of the folder are not collected."""

from __future__ import annotations

import pytest

from dlc.tools.commands.serve_command import command


def test_the_libraries_are_here(missing: list[str]) -> None:
    if missing:
        pytest.skip(f"serving is not tested without {', '.join(missing)}; install dlc[test]")
    assert command.name == "serve"
