"""dlc-opt: reads MLIR, runs passes on it, prints it; the flags are those of mlir-opt."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run dlc-opt with these arguments (the process's own by default); returns the exit status."""
    from dlc.tools.opt_driver import run_command_line

    return run_command_line(sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    sys.exit(main())
