"""The table of mlir-opt's flags says of each what dlc-opt does with it."""

from __future__ import annotations

import pytest

from dlc.tools.mlir_opt_flags import MLIR_OPT_FLAGS
from dlc.tools.opt_options import flags

_ALIASES = {"o": "output"}


@pytest.mark.parametrize("name", MLIR_OPT_FLAGS)
def test_table_agrees_with_the_parser(name: str) -> None:
    assert (_ALIASES.get(name, name) in flags()) == (MLIR_OPT_FLAGS[name] == "")


def test_reasons_name_a_way_out_on_one_line() -> None:
    reasons = [reason for reason in MLIR_OPT_FLAGS.values() if reason]
    assert all("\n" not in reason and len(reason) > 20 for reason in reasons)
