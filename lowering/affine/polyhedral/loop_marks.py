"""What becomes of a band's loops, as a mark above it: one `LoopMark` a member, from the outside in.

isl keeps the mark's name through schedules and ASTs, so the records are printed into it: `loops:` and, between commas, a kind for
each member. `kind@name` gives the loop the attribute `dlc.name`; the name is quoted as in a URL. `!number` is the group of the
loop: loops of one group may change places (`parallel_groups.py`). `+role` says what the loop is in a nest that several threads run
(`doacross.py`). A kind that is not listed here is a plain loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

import islpy as isl

from dlc._mlir import ir

NAME = "dlc.name"
"""Attribute of a loop that schedules call it by."""

LOOP = "loop"
"""A loop whose iterations run in order."""

PARALLEL = "parallel"
"""A loop whose iterations have no order."""

LANES = "lanes"
"""The iterations become lanes of vectors, where a loop has a fixed number of them; else a parallel loop."""

UNROLL = "unroll"
"""The iterations are written out, where a loop has a fixed number of them; else a loop."""

UNORDERED = "unordered"
"""A loop whose iterations have no order, as an `affine.parallel`."""

_PREFIX = "loops"
_SCRATCH = "scratch:"


def name_of(op: ir.Operation) -> str:
    """What schedules call a loop; "" for one without a name."""
    name = op.attributes.get(NAME)
    return name.value if isinstance(name, ir.StringAttr) else ""


@dataclass(frozen=True)
class LoopMark:
    """What becomes of one loop; empty where it has no name, belongs to no group or has no role."""

    kind: str = LOOP
    name: str = ""
    group: str = ""
    role: str = ""

    def __str__(self) -> str:
        """The inverse of `parse`."""
        fields = (("@", quote(self.name, safe="")), ("!", self.group), ("+", self.role))
        return self.kind + "".join(sign + text for sign, text in fields if text)

    @staticmethod
    def parse(text: str) -> LoopMark:
        """The record that `text` is printed from."""
        rest, _, role = text.partition("+")
        rest, _, group = rest.partition("!")
        kind, _, name = rest.partition("@")
        return LoopMark(kind, unquote(name), group, role)


def mark_band(node: isl.ScheduleNode, marks: Sequence[LoopMark]) -> isl.ScheduleNode:
    """Mark `node`, a band of as many members; returns the mark's node."""
    return node.insert_mark(isl.Id(f"{_PREFIX}:{','.join(map(str, marks))}"))


def loop_marks_of(mark: str) -> tuple[LoopMark, ...]:
    """The records of a mark's name, one a member; none for a mark of somebody else."""
    head, _, texts = mark.partition(":")
    return tuple(map(LoopMark.parse, texts.split(","))) if head.startswith(_PREFIX) else ()


def kinds_of(mark: str) -> list[str]:
    """The kinds of the loops that a mark's name tells of."""
    return [loop.kind for loop in loop_marks_of(mark)]


def loop_marks_at(mark: str) -> dict[int, LoopMark]:
    """The records of a mark of `mark_depths`, each by the number of loops that the schedule has around its own."""
    marks = loop_marks_of(mark)
    return dict(enumerate(marks, int(mark.partition(":")[0].removeprefix(_PREFIX)))) if marks else {}


def mark_depths(schedule: isl.Schedule) -> isl.Schedule:
    """Tell in each band's mark how many loops there are around: isl makes no loop where there is a single value."""
    return schedule.get_root().map_descendant_bottom_up(_with_depth).get_schedule()


def _with_depth(node: isl.ScheduleNode) -> isl.ScheduleNode:
    if not is_loop_mark(node):
        return node
    texts = node.mark_get_id().get_name().partition(":")[2]
    return node.delete().insert_mark(isl.Id(f"{_PREFIX}{node.get_schedule_depth()}:{texts}"))


def is_loop_mark(node: isl.ScheduleNode) -> bool:
    """Whether `node` is the mark of a band's loops."""
    return node.get_type() == isl.schedule_node_type.mark and node.mark_get_id().get_name().startswith(_PREFIX)


def marks_above(band: isl.ScheduleNode) -> tuple[LoopMark, ...]:
    """What the mark above `band` says of its loops; plain loops where there is none."""
    above = band.parent()
    return loop_marks_of(above.mark_get_id().get_name()) if is_loop_mark(above) else (LoopMark(),) * band.band_n_member()


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
    if node.get_type() != isl.schedule_node_type.band or is_loop_mark(node.parent()):
        return node
    flags = [node.band_member_get_coincident(member) for member in range(node.band_n_member())]
    return mark_band(node, [LoopMark(PARALLEL if flag else LOOP) for flag in flags]) if any(flags) else node
