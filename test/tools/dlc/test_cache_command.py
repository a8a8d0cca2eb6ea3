"""`dlc cache`: what the cache holds, and emptying it."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_info_and_clear(dlc_command, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_CACHE_DIR", str(tmp_path / "cache"))
    assert "entries: 0, 0.0 MB of at most 2147 MB" in dlc_command("cache", "info").out
    assert dlc_command("run", network).code == 0
    done = dlc_command("cache", "info")
    assert (done.code, done.err) == (0, "")
    assert f"folder: {tmp_path / 'cache'}\n" in done.out
    count = int(done.out.split("entries: ")[1].split(",")[0])
    assert count >= 1  # kernels that this process has compiled before are not written again
    assert dlc_command("cache", "clear").out == f"removed {count} {'entry' if count == 1 else 'entries'}\n"
    assert "entries: 0," in dlc_command("cache", "info").out


def test_without_a_cache(dlc_command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_CACHE_DIR", "")
    for name in ("info", "clear"):
        done = dlc_command("cache", name)
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith("there is no cache: DLC_CACHE_DIR is empty")
