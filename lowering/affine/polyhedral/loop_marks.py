"""What becomes of a band's loops, as a mark above it: one word a member, from the outside in.

A word is a kind, or `kind@name` where the loop gets the attribute `dlc.name`, its name quoted as in a URL; a kind that is not
listed here is a plain loop. `!number` after a word says to which loops that may change places this one belongs, see
`apart_loops.py`; `+role` at its end what the loop is in a nest that several threads run, see `doacross.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, unquote

import islpy as isl

NAME = "dlc.name"
"""Attribute of a loop that schedules call it by."""

LOOP = "loop"
"""A loop whose iterations run in order."""

PARALLEL = "parallel"
"""A loop whose iterations have no order."""

LANES = "lanes"
"""The iterations become lanes of vectors, where a loop has a fixed number of them; else a parallel loop."""

COPIES = "copies"
"""The iterations are written out, where a loop has a fixed number of them; else a loop."""

UNORDERED = "unordered"
"""A loop whose iterations have no order, as an `affine.parallel`."""

_PREFIX = "loops"
_SCRATCH = "scratch:"


def mark_band(node: isl.ScheduleNode, words: Sequence[str]) -> isl.ScheduleNode:
    """Mark `node`, a band of as many members; returns the mark's node."""
    return node.insert_mark(isl.Id(f"{_PREFIX}:{','.join(words)}"))


def words_of(mark: str) -> tuple[str, ...]:
    """The words of a mark's name; none for a mark of somebody else."""
    head, _, words = mark.partition(":")
    return tuple(words.split(",")) if head.startswith(_PREFIX) else ()


def words_at(mark: str) -> dict[int, str]:
    """The words of a mark of `mark_depths`, each by the number of loops that the schedule has around the word's own."""
    words = words_of(mark)
    return dict(enumerate(words, int(mark.partition(":")[0].removeprefix(_PREFIX)))) if words else {}


def mark_depths(schedule: isl.Schedule) -> isl.Schedule:
    """Tell in each mark of words how many loops there are around: isl makes no loop where there is a single value."""
    return schedule.get_root().map_descendant_bottom_up(_with_depth).get_schedule()


def _with_depth(node: isl.ScheduleNode) -> isl.ScheduleNode:
    if not is_word_mark(node):
        return node
    words = node.mark_get_id().get_name().partition(":")[2]
    return node.delete().insert_mark(isl.Id(f"{_PREFIX}{node.get_schedule_depth()}:{words}"))


def word_of(kind: str, name: str) -> str:
    """The word for a loop of that kind and name, "" for none."""
    return f"{kind}@{quote(name, safe='')}" if name else kind


def parts_of(word: str) -> tuple[str, str]:
    """Kind and name ("" for none) of a word."""
    kind, _, name = word.partition("+")[0].partition("!")[0].partition("@")
    return kind, unquote(name)


def in_group(word: str, group: str) -> str:
    """The word of a loop that belongs to the loops with the number `group`."""
    return f"{word.partition('!')[0]}!{group}"


def group_of(word: str) -> str:
    """The number of the loops that a word's loop belongs to, "" for none."""
    return word.partition("+")[0].partition("!")[2]


def with_role(word: str, role: str) -> str:
    """The word of a loop that has the `role` in its nest."""
    return f"{word.partition('+')[0]}+{role}"


def role_of(word: str) -> str:
    """The role of a word's loop in its nest, "" for none."""
    return word.partition("+")[2]


def is_word_mark(node: isl.ScheduleNode) -> bool:
    """Whether `node` is a mark of a band's words."""
    return node.get_type() == isl.schedule_node_type.mark and bool(words_of(node.mark_get_id().get_name()))


def mark_scratch(node: isl.ScheduleNode, buffer: str) -> isl.ScheduleNode:
    """Say that the memory of `buffer` exists while what is below `node` runs; returns the mark's node."""
    return node.insert_mark(isl.Id(_SCRATCH + buffer))


def scratch_of(mark: str) -> str:
    """The buffer that a mark's name tells of; "" for another mark."""
    return mark.removeprefix(_SCRATCH) if mark.startswith(_SCRATCH) else ""


def mark_parallel_bands(schedule: isl.Schedule) -> isl.Schedule:
    """Mark every band that has no mark: coincident members are parallel loops."""
    return schedule.get_root().map_descendant_bottom_up(_mark_if_plain).get_schedule()


def _mark_if_plain(node: isl.ScheduleNode) -> isl.ScheduleNode:
    if node.get_type() != isl.schedule_node_type.band or is_word_mark(node.parent()):
        return node
    flags = [node.band_member_get_coincident(member) for member in range(node.band_n_member())]
    return mark_band(node, [PARALLEL if flag else LOOP for flag in flags]) if any(flags) else node
