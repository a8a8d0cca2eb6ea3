"""The cache on disk keeps what it is given, and whatever happens to its files, never gives anything else."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from dlc.targets.disk_cache import CacheWarning, DiskCache, default_cache


def key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def content(text: str, size: int = 1000) -> bytes:
    return (text.encode() * size)[:size]


def files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def test_entries_are_found_by_their_key(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "new" / "folder", 1 << 20)
    assert cache.get(key("a")) is None
    cache.put(key("a"), b"")
    cache.put(key("b"), content("b"))
    assert (cache.get(key("a")), cache.get(key("b"))) == (b"", content("b"))
    assert cache.info().entries == 2
    cache.put(key("b"), content("c"))
    assert DiskCache(tmp_path / "new" / "folder", 1 << 20).get(key("b")) == content("c")
    assert cache.clear() == 2
    assert cache.get(key("b")) is None
    assert not files(tmp_path)


@pytest.mark.parametrize("position", [0, 10, 45, 79, 80, 81, 500, 1079])
def test_damaged_entries_are_dropped(tmp_path: Path, position: int) -> None:
    cache = DiskCache(tmp_path, 1 << 20)
    for damage in ("flip", "truncate"):
        cache.put(key("a"), content("a"))
        (file,) = files(tmp_path)
        data = bytearray(file.read_bytes())
        assert len(data) == 1080
        if damage == "flip":
            data[position] ^= 0x10
        file.write_bytes(data if damage == "flip" else data[:position])
        assert cache.get(key("a")) is None
        assert not files(tmp_path)
    cache.put(key("a"), content("a"))
    files(tmp_path)[0].write_bytes(files(tmp_path)[0].read_bytes() + b"x")
    assert cache.get(key("a")) is None


def test_an_entry_under_a_wrong_name_is_not_taken(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, 1 << 20)
    cache.put(key("a"), content("a"))
    (file,) = files(tmp_path)
    wrong = tmp_path / key("b")[:2] / key("b")[2:]
    wrong.parent.mkdir(exist_ok=True)
    file.rename(wrong)
    assert cache.get(key("b")) is None


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    limit = 100_000
    cache = DiskCache(tmp_path, limit)
    for number in range(90):
        cache.put(key(str(number)), content("x"))
        os.utime(tmp_path / key(str(number))[:2] / key(str(number))[2:], (number, number))
    assert cache.get(key("0")) is not None  # used just now
    for number in range(90, 130):
        cache.put(key(str(number)), content("x"))
    assert DiskCache(tmp_path, limit).info().size <= limit * 1.1
    assert cache.get(key("0")) is not None
    assert cache.get(key("1")) is None
    assert cache.get(key("129")) is not None
    cache.put(key("huge"), bytes(limit + 1))
    assert cache.get(key("huge")) is None


def test_temporary_files_of_killed_writers_go(tmp_path: Path) -> None:
    old, young = tmp_path / "tmp-1-a", tmp_path / "tmp-2-b"
    for file in (old, young):
        file.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    DiskCache(tmp_path, 1 << 20).put(key("a"), b"a")
    assert not old.exists()
    assert young.exists()


def test_a_folder_that_cannot_be_written_is_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = DiskCache(tmp_path / "file" / "folder", 1 << 20)
    with pytest.warns(CacheWarning, match="set DLC_CACHE_DIR to another folder") as seen:
        cache.put(key("a"), b"a")
        cache.put(key("b"), b"b")
    assert len(seen) == 1
    assert cache.get(key("a")) is None
    assert cache.info().entries == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_cache_is_read(tmp_path: Path) -> None:
    DiskCache(tmp_path, 1 << 20).put(key("a"), b"a")
    for folder in (*tmp_path.glob("*"), tmp_path):
        folder.chmod(0o500)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert DiskCache(tmp_path, 1 << 20).get(key("a")) == b"a"
    with pytest.warns(CacheWarning):
        DiskCache(tmp_path, 1 << 20).put(key("b"), b"b")
    tmp_path.chmod(0o700)


def test_the_environment_names_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("DLC_CACHE_SIZE", "1.5M")
    assert default_cache() == DiskCache(tmp_path, 3 << 19)
    monkeypatch.setenv("DLC_CACHE_SIZE", "0")
    assert default_cache() is None
    monkeypatch.setenv("DLC_CACHE_SIZE", "much")
    with pytest.warns(CacheWarning, match="'much', which is no size; using 2G"):
        assert default_cache() == DiskCache(tmp_path, 2 << 30)
    monkeypatch.delenv("DLC_CACHE_SIZE")
    monkeypatch.setenv("DLC_CACHE_DIR", "")
    assert default_cache() is None
    monkeypatch.delenv("DLC_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache() == DiskCache(tmp_path / "dlc", 2 << 30)


WRITER = """
import hashlib, sys
from pathlib import Path
from dlc.targets.disk_cache import DiskCache
folder, seed, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
cache = DiskCache(folder, 400_000)
print("ready", flush=True)
for number in range(rounds):
    name = str((number * 7 + seed) % 100)
    key = hashlib.sha256(name.encode()).hexdigest()
    wanted = (name.encode() * 10_000)[:10_000]
    found = cache.get(key)
    assert found in (None, wanted), "a wrong entry"
    cache.put(key, wanted)
"""


def writer(folder: Path, seed: int, rounds: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-W", "error", "-c", WRITER, str(folder), str(seed), str(rounds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def test_50_processes_write_at_once(tmp_path: Path) -> None:
    writers = [writer(tmp_path, seed, 40) for seed in range(50)]
    assert [process.wait() for process in writers] == [0] * 50
    for process in writers:
        process.stdout.close()
    cache = DiskCache(tmp_path, 400_000)
    for number in range(100):
        assert cache.get(key(str(number))) in (None, content(str(number), 10_000))
    cache.put(key("last"), b"")
    assert cache.info().size <= 400_000
    assert not list(tmp_path.glob("tmp-*"))


def test_writers_are_killed_at_any_moment(tmp_path: Path) -> None:
    for seed in range(8):
        process = writer(tmp_path, seed, 1_000_000)
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.003 * seed)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    cache = DiskCache(tmp_path, 400_000)
    found = [cache.get(key(str(number))) for number in range(100)]
    assert any(found)
    assert all(entry in (None, content(str(number), 10_000)) for number, entry in enumerate(found))
    assert not any(cache.get(key(str(number))) is None for number, entry in enumerate(found) if entry is not None)
