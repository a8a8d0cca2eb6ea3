"""Numbers that decide something are fields of the policy: other modules of `lowering/` state few, and none twice."""

from __future__ import annotations

from collections import Counter

import pytest

from bench.fit.inventory import ROOT, module_numbers, numbers_of
from dlc.errors import InvalidInputError
from dlc.lowering.policy import Policy, policy, read_policy, using
from dlc.lowering.policy.record import settings

MOST = 60
"""Numbers of modules outside the policy and the coefficients of functions."""


def test_modules_state_few_numbers() -> None:
    found = [str(number) for number in module_numbers() if number.kind != "math"]
    assert len(found) <= MOST, "make it a field of lowering/policy, or ask the machine:\n" + "\n".join(found)


def test_no_number_is_stated_twice() -> None:
    counts = Counter((number.name.strip("_"), number.value) for number in module_numbers() if number.kind != "math")
    assert [name for name, count in counts.items() if count > 1] == []


def test_no_meaning_is_stated_twice() -> None:
    counts = Counter((entry.unit, entry.help) for entry in settings().values())
    assert [meaning for meaning, count in counts.items() if count > 1] == []


def test_every_field_is_read() -> None:
    texts = "".join(file.read_text(encoding="utf-8") for file in ROOT.rglob("*.py") if file.parent.name != "policy")
    assert [name for name in settings() if f".{name}" not in texts] == []


@pytest.mark.parametrize(
    "text, count", [("A = 1", 1), ("A, B = 1, 2", 2), ("A = {'x': 1}", 1), ("A = {1: 'x'}", 0), ("A = f(1)", 0)]
)
def test_what_counts(text: str, count: int) -> None:
    assert len(list(numbers_of(text))) == count


def test_a_policy_is_in_use_inside_alone() -> None:
    before = policy().tiles.most_vectors
    with using(policy().override(most_vectors=2)):
        assert policy().tiles.most_vectors == 2
        assert policy().changes() == {"most_vectors": 2}
    assert policy().tiles.most_vectors == before
    assert Policy().text() == ""


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("none", 1, "no field 'none'"),
        ("most_vectors", 1000, "a number from"),
        ("most_vectors", 2.5, "a whole number"),
        ("tile_copies", 3, "a list"),
    ],
)
def test_wrong_values_are_refused(name: str, value: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Policy().override(**{name: value})


def test_a_file_holds_changes(tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "policy.json"
    file.write_text('{"most_vectors": 3, "tile_copies": [1, 2]}')
    assert read_policy(file).changes() == {"most_vectors": 3, "tile_copies": (1, 2)}
    file.write_text("[1]")
    with pytest.raises(InvalidInputError, match="no object"):
        read_policy(file)
