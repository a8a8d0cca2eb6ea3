"""`dlc explain`: tables, JSON and Graphviz."""

from __future__ import annotations

import json
from pathlib import Path


def test_tables(dlc_command, network: Path) -> None:
    done = dlc_command("explain", network)
    assert (done.code, done.err) == (0, "")
    for title in ("Passes", "Edges that are not fused", "Kernels", "Transposes left", "Memory"):
        assert title in done.out
    assert "dl-fuse-kernels" in done.out
    assert "kernel_0_" in done.out
    assert "distinct kernel" in done.out


def test_json(dlc_command, network: Path, tmp_path: Path) -> None:
    done = dlc_command("explain", network, "--json")
    assert (done.code, done.err) == (0, "")
    data = json.loads(done.out)
    keys = ["passes", "convolutions", "edges", "kernels", "transposes", "memory", "schedules", "generic", "entry_calls", "notes"]
    assert list(data) == keys
    assert dlc_command("explain", network, "--json", "-o", tmp_path / "out.json").out == ""
    assert list(json.loads((tmp_path / "out.json").read_text())) == list(data)


def test_dot(dlc_command, network: Path, tmp_path: Path) -> None:
    done = dlc_command("explain", network, "--emit=dot", "-o", tmp_path / "out.dot")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "out.dot").read_text().startswith("digraph ")


def test_what_does_not_go_together(dlc_command, network: Path, tmp_path: Path) -> None:
    done = dlc_command("explain", network, "--json", "--emit=dot")
    assert done.code == 1
    assert "--json and --emit exclude each other" in done.err
    done = dlc_command("explain", network, "-o", tmp_path / "file")
    assert done.code == 1
    assert "-o goes with --json or --emit" in done.err


def test_a_model_at_another_level(dlc_command, network: Path, tmp_path: Path) -> None:
    assert dlc_command("compile", network, "--emit=linalg", "-o", tmp_path / "low.mlir").code == 0
    done = dlc_command("explain", tmp_path / "low.mlir")
    assert done.code == 1
    assert "is at level 'linalg'" in done.err
