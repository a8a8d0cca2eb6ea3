"""What a schedule tree's marks say of loops is read as it was written."""

from __future__ import annotations

import pytest

from dlc.lowering.affine.polyhedral.loop_marks import LANES, LOOP, PARALLEL, LoopMark

MARKS = [LoopMark(), LoopMark(LANES, "i"), LoopMark(PARALLEL, "a,b@c!d+e:f", "3"), LoopMark(LOOP, group="0", role="rows")]


@pytest.mark.parametrize("mark", MARKS, ids=str)
def test_the_text_of_a_mark_says_all_of_it(mark: LoopMark) -> None:
    assert LoopMark.parse(str(mark)) == mark
    assert "," not in str(mark)
