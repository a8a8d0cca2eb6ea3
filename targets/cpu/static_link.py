"""Objects to one position-independent image, which a loader maps and completes without a linker.

The image is text, read-only data, data that is written while loading only (a table of addresses comes first: what ELF calls the
GOT), and variables. Every reference within is relative, so that the loader adds the address of the image to few words, and
writes the addresses of the imported functions to others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from dlc.errors import TargetError
from dlc.targets.cpu.elf_objects import ElfObject, Place, Relocation, Symbol, read_object
from dlc.targets.cpu.relocations import Relocations
from dlc.targets.cpu.relocations_aarch64 import AARCH64
from dlc.targets.cpu.relocations_x86_64 import X86_64
from dlc.targets.engine_code import CodeImage

_WORD = 8
_ORDER = ("text", "rodata", "relro", "data", "zero")
_GOT_SYMBOL = "_GLOBAL_OFFSET_TABLE_"
_ARCHITECTURES = {"EM_X86_64": X86_64, "EM_AARCH64": AARCH64}


def link_image(objects: Sequence[bytes], entries: Sequence[str], is_provided: Callable[[str], bool]) -> CodeImage:
    """Link `objects`. What they do not define must be functions that the runtime provides; `TargetError` names one that is not."""
    read = [read_object(content) for content in objects]
    return _Linker(read, _architecture_of(read), is_provided).link(entries)


def _architecture_of(objects: Sequence[ElfObject]) -> Relocations:
    machines = sorted({each.machine for each in objects})
    if len(machines) != 1 or machines[0] not in _ARCHITECTURES:
        raise TargetError(f"engines hold code of x86-64 or AArch64, not of {', '.join(machines)}; emit obj for other machines")
    return _ARCHITECTURES[machines[0]]


@dataclass
class _Layout:
    """Where sections lie: offsets of segments and, by object and number, of sections in the image."""

    starts: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    places: dict[Place, int] = field(default_factory=dict)


class _Linker:
    def __init__(self, objects: Sequence[ElfObject], kinds: Relocations, is_provided: Callable[[str], bool]) -> None:
        self._objects, self._kinds, self._is_provided = objects, kinds, is_provided
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
        if relocation.kind in self._kinds.by_table or is_imported:
            self._slots.setdefault(self._slot_key(number, relocation, symbol), len(self._slots))
        if is_imported and relocation.kind in self._kinds.calls:
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
                offset += self._kinds.stub_bytes * len(self._stubs)
            if segment == "relro":
                offset += _WORD * len(self._slots)
            for number, found in enumerate(self._objects):
                for index, section in found.sections.items():
                    if section.access == segment:
                        offset = -(-offset // section.alignment) * section.alignment
                        self._layout.places[number, index] = offset
                        offset += section.size
            offset = -(-offset // self._kinds.page) * self._kinds.page
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
            at = self._layout.starts["text"] + self._kinds.stub_bytes * number
            slot = self._table + _WORD * self._slots[name]
            code = self._kinds.stub(at, slot)
            memory[at : at + len(code)] = code

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
        if relocation.kind == self._kinds.absolute:
            self._apply_absolute(at, number, symbol, relocation)
            return
        patch = self._kinds.patches.get(relocation.kind)
        if patch is None:
            raise TargetError(f"the code has a relocation of kind {relocation.kind} of '{symbol.name}', which engines do not know")
        target = self._referred(number, symbol, relocation) + relocation.addend
        try:
            patch(memory, at, target, self._table)
        except OverflowError:
            raise TargetError(f"the code is too large: '{symbol.name}' is {target - at} bytes away from where it is used") from None

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

    def _referred(self, number: int, symbol: Symbol, relocation: Relocation) -> int:
        """What the relocation refers to: the table of addresses, a word of it, or a symbol."""
        if relocation.kind in self._kinds.to_table:
            return self._table
        if relocation.kind in self._kinds.by_table:
            return self._table + _WORD * self._slots[self._slot_key(number, relocation, symbol)]
        return self._callable(number, symbol)

    def _callable(self, number: int, symbol: Symbol) -> int:
        """The address of a symbol, or of the jump to an imported one."""
        target = self._target(number, symbol)
        if target is not None:
            return self._address(*target)
        if symbol.name not in self._stubs:
            raise TargetError(f"the code takes the address of '{symbol.name}' in a way that engines do not know")
        return self._layout.starts["text"] + self._kinds.stub_bytes * self._stubs[symbol.name]


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
