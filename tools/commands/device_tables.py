"""Tables of `dlc explain` on the kernels of a GPU: the roofline of each, and what its code asks of memory and multiprocessors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Column, Table

from dlc.explanation import KernelReport
from dlc.targets.device_kernels import DeviceKernel, DeviceReport

_SHORT_SUM = 1e-6
"""Seconds: what takes less is bounded by launches."""


def device_tables(kernels: Sequence[KernelReport], device: DeviceReport) -> Iterator[Table]:
    """The roofline of each kernel of the model, then the kernels of the device, then what stays on the host."""
    yield _roofline(kernels, device)
    yield _kernels(device)
    if device.on_host:
        table = Table("function", "reason", title="On the host, not on the GPU", title_justify="left")
        for name, reason in device.on_host.items():
            table.add_row(name, reason)
        yield table


def device_summary(device: DeviceReport) -> str:
    """One sentence on all kernels."""
    spilling = sum(bool(kernel.spill_bytes) for kernel in device.kernels)
    uncoalesced = sum(kernel.uncoalesced > 0 for kernel in device.kernels)
    conflicts = sum(kernel.bank_ways > 2 for kernel in device.kernels)
    spills = f"{spilling} spill, " if any(kernel.registers for kernel in device.kernels) else ""
    host = f"; {len(device.on_host)} functions stay on the host" if device.on_host else ""
    multiplying = sum(bool(kernel.tensor_cores) for kernel in device.kernels)
    tensor = f"{multiplying} on tensor cores, " if multiplying else ""
    return (
        f"{len(device.kernels)} kernels for {device.device}: {tensor}{spills}{uncoalesced} have uncoalesced accesses, "
        f"{conflicts} bank conflicts above 2-way{host}"
    )


def _numeric(*names: str) -> list[Column]:
    return [Column(name, justify="right") for name in names]


def _roofline(kernels: Sequence[KernelReport], device: DeviceReport) -> Table:
    title = f"Roofline (f32 without tensor cores: {device.ridge:.1f} FLOP a byte is where arithmetic begins to bound)"
    columns = _numeric("calls", "MFLOP", "MB", "FLOP/byte", "least us")
    table = Table("kernel", *columns, "bound", title=title, title_justify="left")
    for kernel in kernels:
        intensity = kernel.flops / max(1, kernel.bytes)
        least = device.seconds(kernel.flops, kernel.bytes)
        bound = "launch" if least < _SHORT_SUM else "arithmetic" if intensity > device.ridge else "memory"
        figures = (
            str(kernel.calls),
            f"{kernel.flops / 1e6:.3f}",
            f"{kernel.bytes / 1e6:.3f}",
            f"{intensity:.2f}",
            f"{least * 1e6:.1f}",
        )
        table.add_row(kernel.name, *figures, bound)
    return table


def _kernels(device: DeviceReport) -> Table:
    columns = _numeric("registers", "spilled", "shared", "occupancy")
    columns += _numeric("accesses", "uncoalesced", "by data", "used", "bank ways")
    title = f"Kernels of the GPU ({device.device})"
    has_tensor_cores = any(kernel.tensor_cores for kernel in device.kernels)
    first: list[Column | str] = [Column("kernel", overflow="fold"), "grid", "block", *["tensor cores"] * has_tensor_cores]
    table = Table(*first, *columns, title=title, title_justify="left")
    for kernel in device.kernels:
        shapes = _shape(kernel.grid), _shape(kernel.block), *([kernel.tensor_cores] if has_tensor_cores else [])
        table.add_row(kernel.name, *shapes, *_usage(kernel), *_accesses(kernel))
    return table


def _shape(sizes: tuple[int, ...]) -> str:
    return "x".join(str(size) if size else "?" for size in sizes)


def _usage(kernel: DeviceKernel) -> Iterator[str]:
    for number in (kernel.registers, kernel.spill_bytes, kernel.shared_bytes):
        yield "" if number is None else str(number)
    yield "" if kernel.occupancy is None else f"{kernel.occupancy:.0%} ({kernel.limit})"


def _accesses(kernel: DeviceKernel) -> tuple[str, ...]:
    ways = str(kernel.bank_ways) if kernel.bank_ways else ""
    return str(kernel.accesses), str(kernel.uncoalesced), str(kernel.gathers), f"{kernel.used_share:.0%}", ways
