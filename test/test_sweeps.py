"""Which cases of a sweep `make check` runs."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from sweeps import ALL, examples, mark_sweeps


@dataclass
class Item:
    """A test as pytest collects it."""

    nodeid: str
    every: int = 0
    added: list[str] = field(default_factory=list)

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return pytest.mark.sweep(every=self.every).mark if self.every and name == "sweep" else None

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.added.append(mark.name)


def test_each_third_case_of_a_function_is_not_slow() -> None:
    items = [Item(f"test_a.py::test_{name}[{number}]", every=3) for number in range(5) for name in ("one", "two")]
    mark_sweeps(items)  # type: ignore[arg-type]
    quick = [item.nodeid for item in items if not item.added]
    assert quick == [f"test_a.py::test_{name}[{number}]" for number in (0, 3) for name in ("one", "two")]
    assert all(item.added in ([], ["slow"]) for item in items)


def test_what_is_no_sweep_stays() -> None:
    items = [Item(f"test_a.py::test_one[{number}]") for number in range(5)]
    mark_sweeps(items)  # type: ignore[arg-type]
    assert not any(item.added for item in items)


def test_check_all_tries_all_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ALL, raising=False)
    assert [examples(count) for count in (40, 12, 6, 2)] == [13, 4, 3, 2]
    monkeypatch.setenv(ALL, "1")
    assert examples(40) == 40
