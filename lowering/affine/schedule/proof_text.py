"""What a schedule does to loops, for people: the loops before, the dependences, the loops after, the verdict."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

import islpy as isl

from dlc.lowering.affine.dependences.dependences import Dependence
from dlc.lowering.affine.dependences.report import report, text_of
from dlc.lowering.affine.loop_generation.generate import generate
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.polyhedral.schedule_tree import original_schedule


def proof_text(name: str, scop: Scop, dependences: Sequence[Dependence], schedule: isl.Schedule, notes: Sequence[str] = ()) -> str:
    """The proof that `schedule`, which has been checked, keeps `dependences`; loops are shown in the notation of C.

    `S1(i, k, j)` runs statement S1 for these values of the text's loops, from the outside in. `notes` say what was chosen.
    """
    kinds = {kind: sum(one.kind == kind for one in dependences) for kind in ("flow", "anti", "output")}
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count) or "none"
    return "\n".join(
        [
            f"function @{name}",
            "  before",
            _code(scop, original_schedule(scop)),
            text_of(report(scop)),
            "  after",
            _code(scop, schedule),
            *(f"  blocks for caches: {note}" for note in notes),
            f"  proof: the sink of each dependence ({counts}) runs after its source in the new order, and no parallel loop, lane",
            "  or copy separates the two. --affine-check-legality certifies the code itself.",
            "",
        ]
    )


def _code(scop: Scop, schedule: isl.Schedule) -> str:
    """The loops that isl makes of `schedule`, marks as comments."""
    text = re.sub(r"// loops\d*:", "// ", generate(scop, schedule).to_C_str()).replace("int ", "")
    return textwrap.indent(text.rstrip(), "    ")
