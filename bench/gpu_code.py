"""What GPU code the networks become, without a GPU: kernels, spills, bank conflicts and uncoalesced accesses, by `dlc explain`.

python -m bench gpu_code [name-part ...] [--target gpu:sm_90] [--precision f32|tf32|bf16]

Spills and registers take NVIDIA's `ptxas` (`pip install 'dlc[ptxas]'`), which has to take all kernels. A row fails where a kernel
spills or an access of shared memory takes more than two passes; uncoalesced accesses are named below the table.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import dlc
from bench.cases import Case
from bench.models import CASES
from bench.rows import run_rows
from dlc.option_values import PRECISIONS
from dlc.targets.device_kernels import DeviceKernel, DeviceReport

HEADER = (
    "| network | kernels | on tensor cores | spill | most registers | bank conflicts, ways | uncoalesced | used of moved, least "
    "| on the host | s |\n|:---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
)
_MOST_WAYS = 2


class BadCodeError(Exception):
    """A network whose code is not as it should be."""


@dataclass(frozen=True)
class _Table:
    target: str
    precision: str | None

    def measure(self, case: Case) -> None:
        """Print the row of one network, and what is uncoalesced in it."""
        begin = time.perf_counter()
        explained = dlc.explain(case.build(), target=self.target, precision=self.precision)
        if explained.device is None:
            raise BadCodeError(f"'{self.target}' has no report on kernels")
        print(row_of(case.name, explained.device, time.perf_counter() - begin), flush=True)
        for line in uncoalesced_in(explained.device):
            print(f"  {line}", file=sys.stderr, flush=True)
        wrong = [kernel.name for kernel in explained.device.kernels if kernel.spill_bytes or kernel.bank_ways > _MOST_WAYS]
        if wrong:
            raise BadCodeError(f"spills, or bank conflicts of more than {_MOST_WAYS} ways, in {', '.join(wrong)}")

    def fail(self, case: Case, error: Exception) -> None:
        """The row of a network that has none, or a bad one."""
        print(f"| {case.name} | {type(error).__name__}: {error} |", flush=True)


def row_of(name: str, device: DeviceReport, seconds: float) -> str:
    """A row of the table."""
    kernels = device.kernels
    is_assembled = all(kernel.registers is not None for kernel in kernels)
    cells = [
        name,
        len(kernels),
        sum(bool(kernel.tensor_cores) for kernel in kernels),
        sum(bool(kernel.spill_bytes) for kernel in kernels) if is_assembled else "?",
        max((kernel.registers or 0 for kernel in kernels), default=0),
        max((kernel.bank_ways for kernel in kernels), default=0),
        sum(kernel.uncoalesced > 0 for kernel in kernels),
        f"{min((kernel.used_share for kernel in kernels), default=1.0):.0%}",
        len(device.on_host),
        f"{seconds:.0f}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def uncoalesced_in(device: DeviceReport) -> Iterator[str]:
    """A line for each kernel that moves more than twice what it asks for."""
    for kernel in device.kernels:
        if kernel.uncoalesced:
            yield _uncoalesced(kernel)


def _uncoalesced(kernel: DeviceKernel) -> str:
    accesses = f"{kernel.uncoalesced} of {kernel.accesses} accesses"
    return f"{kernel.name} of {kernel.function}: {accesses} uncoalesced, {kernel.used_share:.0%} of what is moved is used"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; status 1 where a network has no code, or code that spills or has bank conflicts."""
    parser = argparse.ArgumentParser(prog="python -m bench gpu_code", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="name-part", help="only networks whose names hold one of these")
    parser.add_argument("--target", default="gpu:sm_90", help="the GPU (default: %(default)s)")
    parser.add_argument("--precision", choices=PRECISIONS, help="what products are computed in (default: as the model says)")
    given = parser.parse_args(arguments)
    chosen = [case for case in CASES if not given.parts or any(part in case.name for part in given.parts)]
    if not chosen:
        parser.exit(2, f"{parser.prog}: error: no network's name holds {given.parts[0]!r}\n")
    table = _Table(given.target, given.precision)
    print(HEADER, flush=True)
    return run_rows(chosen, table.measure, table.fail)


if __name__ == "__main__":
    raise SystemExit(main())
