"""The tables of outcomes: how many tests of each group passed, and why the others did not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.conformance.outcomes import STATUSES, Outcome
from bench.conformance.suite import KINDS

_MOST_CAUSES = 60
_MOST_NAMES = 3

Results = Mapping[str, Sequence[Outcome]]
"""Outcomes by engine."""


def tables(results: Results) -> str:
    """Both tables in Markdown: counts by engine and group, then dlc's causes."""
    return "\n".join([*_counts(results), "", *_causes(results["dlc"])])


def write_json(file: Path, results: Results) -> None:
    """Every outcome of every engine."""
    record = {engine: [asdict(outcome) for outcome in outcomes] for engine, outcomes in results.items()}
    file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def passed_names(outcomes: Sequence[Outcome]) -> list[str]:
    """Names of the tests that passed, sorted."""
    return sorted(outcome.name for outcome in outcomes if outcome.status == "passed")


def _counts(results: Results) -> list[str]:
    lines = [f"| engine | group | tests | {' | '.join(STATUSES)} |", "|---" * (3 + len(STATUSES)) + "|"]
    for engine, outcomes in results.items():
        kinds = [kind for kind in KINDS if any(outcome.kind == kind for outcome in outcomes)]
        groups = {kind: [outcome for outcome in outcomes if outcome.kind == kind] for kind in kinds}
        if len(groups) > 1:
            groups["all"] = list(outcomes)
        lines += [_count_row(engine, kind, group) for kind, group in groups.items()]
    return lines


def _count_row(engine: str, kind: str, outcomes: Sequence[Outcome]) -> str:
    found = Counter(outcome.status for outcome in outcomes)
    return f"| {engine} | {kind} | {len(outcomes)} | {' | '.join(str(found[status]) for status in STATUSES)} |"


def _causes(outcomes: Sequence[Outcome]) -> list[str]:
    names: dict[tuple[str, str], list[str]] = {}
    for outcome in outcomes:
        if outcome.status not in ("passed", "absent"):
            names.setdefault((outcome.status, outcome.cause), []).append(outcome.name)
    order = sorted(names, key=lambda key: (STATUSES.index(key[0]) if key[0] != "refused" else 99, -len(names[key]), key))
    lines = ["| what | tests | cause | such as |", "|---|---|---|---|"]
    for status, cause in order[:_MOST_CAUSES]:
        found = names[status, cause]
        lines.append(f"| {status} | {len(found)} | {cause} | {', '.join(found[:_MOST_NAMES])} |")
    left = sum(len(names[key]) for key in order[_MOST_CAUSES:])
    return [*lines, *([f"| | {left} | {len(order) - _MOST_CAUSES} more causes | |"] if left else [])]
