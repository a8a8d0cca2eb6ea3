"""Objects to one position-independent image, which a loader maps and completes without a linker.

The image is text, read-only data, data that is written while loading only (a table of addresses comes first: what ELF calls the
GOT), and variables. Every reference within is relative, so that the loader adds the address of the image to few words, and
writes the addresses of the imported functions to others.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from dlc.errors import TargetError
from dlc.targets.cpu.elf_objects import ElfObject, Place, Relocation, Symbol, read_object
from dlc.targets.engine_code import CodeImage

PAGE = 4096
_WORD = 8
_ORDER = ("text", "rodata", "relro", "data", "zero")
_GOT_SYMBOL = "_GLOBAL_OFFSET_TABLE_"
_STUB = b"\xff\x25"
"""`jmp *rel32(%rip)`: how text that calls by a relative address reaches a function that is imported."""
_STUB_BYTES = 8

# Relocations of the x86-64 psABI.
_ABSOLUTE, _PC32, _PLT32, _GOTPCREL, _PC64, _GOTOFF64, _GOTPC32, _GOT64, _GOTPC64, _GOTPCRELX, _REX_GOTPCRELX = (
    1, 2, 4, 9, 24, 25, 26, 27, 29, 41, 42,
)  # fmt: skip
_BY_TABLE = frozenset({_GOTPCREL, _GOT64, _GOTPCRELX, _REX_GOTPCRELX})
_NARROW = frozenset({_PC32, _PLT32, _GOTPCREL, _GOTPC32, _GOTPCRELX, _REX_GOTPCRELX})


def link_image(objects: Sequence[bytes], entries: Sequence[str], is_provided: Callable[[str], bool]) -> CodeImage:
    """Link `objects`. What they do not define must be functions that the runtime provides; `TargetError` names one that is not."""
    return _Linker([read_object(content) for content in objects], is_provided).link(entries)


@dataclass
class _Layout:
    """Where sections lie: offsets of segments and, by object and number, of sections in the image."""

    starts: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    places: dict[Place, int] = field(default_factory=dict)


class _Linker:
    def __init__(self, objects: Sequence[ElfObject], is_provided: Callable[[str], bool]) -> None:
        self._objects, self._is_provided = objects, is_provided
        self._defined = _defined(objects)
        self._slots: dict[tuple[int, int] | str, int] = {}
        """Words of the table of addresses: numbers by name of a global symbol, or by object and number of a local one."""
        self._stubs: dict[str, int] = {}
        """Numbers of the jumps to imported functions."""
        self._layout = _Layout()
        self._relative: dict[int, int] = {}
        self._imports: dict[str, list[int]] = {}

    def link(self, entries: Sequence[str]) -> CodeImage:
        for number, symbol, relocation in self._each_relocation():
            self._note(number, symbol, relocation)
        self._place()
        sizes = self._layout.sizes
        memory = bytearray(sum(sizes[segment] for segment in _ORDER[:-1]))
        for (number, index), offset in self._layout.places.items():
            content = self._objects[number].sections[index].content
            memory[offset : offset + len(content)] = content
        self._write_stubs(memory)
        self._fill_table()
        for number, symbol, relocation in self._each_relocation():
            self._apply(memory, number, symbol, relocation)
        missing = [name for name in entries if name not in self._defined]
        if missing:
            raise TargetError(f"the compiled code has no function {', '.join(missing)}")
        imports = {name: tuple(sorted(offsets)) for name, offsets in sorted(self._imports.items())}
        found = {name: self._address(*self._defined[name]) for name in entries}
        loaded = {segment: sizes[segment] for segment in _ORDER[:-1]}
        return CodeImage(bytes(memory), loaded, sizes["zero"], tuple(sorted(self._relative.items())), imports, found)

    def _each_relocation(self) -> Iterator[tuple[int, Symbol, Relocation]]:
        for number, found in enumerate(self._objects):
            for relocation in found.relocations:
                yield number, found.symbols[relocation.symbol], relocation

    def _note(self, number: int, symbol: Symbol, relocation: Relocation) -> None:
        """Give a symbol its word in the table of addresses, and an imported one its jump, where the relocation asks for it."""
        if symbol.name == _GOT_SYMBOL:
            return
        is_imported = self._target(number, symbol) is None
        if is_imported and not self._is_provided(symbol.name):
            raise TargetError(f"the code calls '{symbol.name}', which the runtime library does not provide to engines")
        if relocation.kind in _BY_TABLE or is_imported:
            self._slots.setdefault(self._slot_key(number, relocation, symbol), len(self._slots))
        if is_imported and relocation.kind in (_PC32, _PLT32, _PC64):
            self._stubs.setdefault(symbol.name, len(self._stubs))

    def _slot_key(self, number: int, relocation: Relocation, symbol: Symbol) -> tuple[int, int] | str:
        return symbol.name if symbol.is_global else (number, relocation.symbol)

    def _target(self, number: int, symbol: Symbol) -> tuple[int, Place] | None:
        """The object and place that a symbol of object `number` stands for; None for an imported one."""
        if symbol.place is not None and not symbol.is_global:
            return number, symbol.place
        return self._defined.get(symbol.name)

    def _place(self) -> None:
        offset = 0
        for segment in _ORDER:
            self._layout.starts[segment] = offset
            if segment == "text":
                offset += _STUB_BYTES * len(self._stubs)
            if segment == "relro":
                offset += _WORD * len(self._slots)
            for number, found in enumerate(self._objects):
                for index, section in found.sections.items():
                    if section.access == segment:
                        offset = -(-offset // section.alignment) * section.alignment
                        self._layout.places[number, index] = offset
                        offset += section.size
            offset = -(-offset // PAGE) * PAGE
            self._layout.sizes[segment] = offset - self._layout.starts[segment]

    def _address(self, number: int, place: Place) -> int:
        section, offset = place
        if (number, section) not in self._layout.places:
            raise TargetError("the code refers to a section that is not loaded")
        return self._layout.places[number, section] + offset

    @property
    def _table(self) -> int:
        return self._layout.starts["relro"]

    def _write_stubs(self, memory: bytearray) -> None:
        for name, number in self._stubs.items():
            at = self._layout.starts["text"] + _STUB_BYTES * number
            slot = self._table + _WORD * self._slots[name]
            memory[at : at + 6] = _STUB + struct.pack("<i", slot - (at + 6))

    def _fill_table(self) -> None:
        for key, number in self._slots.items():
            at = self._table + _WORD * number
            if isinstance(key, tuple):
                symbol = self._objects[key[0]].symbols[key[1]]
                assert symbol.place is not None
                self._relative[at] = self._address(key[0], symbol.place)
            elif key in self._defined:
                self._relative[at] = self._address(*self._defined[key])
            else:
                self._imports.setdefault(key, []).append(at)

    def _apply(self, memory: bytearray, number: int, symbol: Symbol, relocation: Relocation) -> None:
        at = self._address(number, (relocation.section, relocation.offset))
        if relocation.kind == _ABSOLUTE:
            self._apply_absolute(at, number, symbol, relocation)
            return
        value = self._value(at, number, symbol, relocation)
        try:
            packed = struct.pack("<i" if relocation.kind in _NARROW else "<q", value)
        except struct.error:
            raise TargetError(f"the code is too large: '{symbol.name}' is {value} bytes away from where it is used") from None
        memory[at : at + len(packed)] = packed

    def _apply_absolute(self, at: int, number: int, symbol: Symbol, relocation: Relocation) -> None:
        """An address in data: the loader writes it."""
        segment = next(each for each in reversed(_ORDER) if self._layout.starts[each] <= at)
        if segment not in ("relro", "data") or at % _WORD:
            raise TargetError(f"the code has an address of '{symbol.name}' in {segment}, which is never written")
        target = self._target(number, symbol)
        if target is not None:
            self._relative[at] = self._address(*target) + relocation.addend
        elif relocation.addend == 0:
            self._imports.setdefault(symbol.name, []).append(at)
        else:
            raise TargetError(f"the code refers to what follows the imported function '{symbol.name}'")

    def _value(self, at: int, number: int, symbol: Symbol, relocation: Relocation) -> int:
        """What the relocation writes at `at` of the image: S, G, P and A are those of the psABI."""
        kind, addend = relocation.kind, relocation.addend
        if kind in (_GOTPC32, _GOTPC64):
            return self._table + addend - at
        if kind in _BY_TABLE:
            slot = _WORD * self._slots[self._slot_key(number, relocation, symbol)]
            return slot + addend if kind == _GOT64 else self._table + slot + addend - at
        address = self._callable(number, symbol)
        if kind in (_PC32, _PLT32, _PC64):
            return address + addend - at
        if kind == _GOTOFF64:
            return address + addend - self._table
        raise TargetError(f"the code has a relocation of kind {kind} of '{symbol.name}', which engines do not know")

    def _callable(self, number: int, symbol: Symbol) -> int:
        """The address of a symbol, or of the jump to an imported one."""
        target = self._target(number, symbol)
        if target is not None:
            return self._address(*target)
        if symbol.name not in self._stubs:
            raise TargetError(f"the code takes the address of '{symbol.name}' in a way that engines do not know")
        return self._layout.starts["text"] + _STUB_BYTES * self._stubs[symbol.name]


def _defined(objects: Sequence[ElfObject]) -> dict[str, tuple[int, Place]]:
    """The object and place of each global symbol; `TargetError` where two objects define one."""
    found: dict[str, tuple[int, Place]] = {}
    weak: dict[str, tuple[int, Place]] = {}
    for number, each in enumerate(objects):
        for symbol in each.symbols.values():
            if not symbol.is_global or symbol.place is None:
                continue
            if symbol.name in found and not symbol.is_weak:
                raise TargetError(f"two objects define '{symbol.name}'")
            (weak if symbol.is_weak else found).setdefault(symbol.name, (number, symbol.place))
    return {**weak, **found}
