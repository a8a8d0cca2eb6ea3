"""Relocatable ELF objects as plain records: the sections that are loaded, symbols and relocations."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dlc.errors import TargetError

_ALLOCATED, _WRITABLE, _EXECUTABLE, _THREAD_LOCAL = 0x2, 0x1, 0x4, 0x400
_UNDEFINED, _ABSOLUTE, _COMMON = "SHN_UNDEF", "SHN_ABS", "SHN_COMMON"
_UNWIND = (".eh_frame", ".note")
"""Sections that nobody reads: errors leave compiled code by longjmp."""

Place = tuple[int, int]
"""A section of an object by its number, and an offset in it."""


@dataclass(frozen=True)
class Section:
    """A section that is loaded. `access` is `text`, `rodata`, `relro` (written while loading only), `data` or `zero`."""

    name: str
    access: str
    alignment: int
    size: int
    content: bytes


@dataclass(frozen=True)
class Relocation:
    """`kind` is the number of the ELF relocation at `offset` of the section `section`; `symbol` is a number of the object's."""

    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


@dataclass(frozen=True)
class Symbol:
    """Where a symbol is defined in its object; None for one of another object. Only global ones are known to others."""

    name: str
    place: Place | None
    is_global: bool
    is_weak: bool


@dataclass(frozen=True)
class ElfObject:
    """One object; `machine` as ELF names it (`EM_X86_64`); sections and symbols by number."""

    machine: str
    sections: Mapping[int, Section]
    symbols: Mapping[int, Symbol]
    relocations: tuple[Relocation, ...]


def read_object(content: bytes) -> ElfObject:
    """Read an object. `TargetError` for what is none, and for one with what no image has (thread-local variables)."""
    from elftools.elf.elffile import ELFFile  # a reader of ELF in Python; loaded when an engine is made only

    file = ELFFile(io.BytesIO(content))
    if file["e_type"] != "ET_REL":
        raise TargetError(f"engines hold code of relocatable objects, not of {file['e_type']}")
    sections = {number: _section(found) for number, found in enumerate(file.iter_sections()) if _is_loaded(found)}
    table: Any = file.get_section_by_name(".symtab")
    symbols = {number: _symbol(found) for number, found in enumerate(table.iter_symbols())} if table else {}
    return ElfObject(str(file["e_machine"]), sections, symbols, tuple(_relocations(file, sections)))


def _is_loaded(section: Any) -> bool:
    is_allocated = bool(section["sh_flags"] & _ALLOCATED)
    return is_allocated and section["sh_size"] > 0 and not section.name.startswith(_UNWIND)


def _section(section: Any) -> Section:
    name, flags = section.name, section["sh_flags"]
    if flags & _THREAD_LOCAL:
        raise TargetError(f"the code has thread-local variables (section {name}), which engines do not hold")
    is_zero = section["sh_type"] == "SHT_NOBITS"
    content = b"" if is_zero else section.data()
    alignment, size = max(section["sh_addralign"], 1), section["sh_size"]
    return Section(name, _access(name, flags, is_zero), alignment, size, content)


def _access(name: str, flags: int, is_zero: bool) -> str:
    if flags & _EXECUTABLE:
        return "text"
    if not flags & _WRITABLE:
        return "rodata"
    if is_zero:
        return "zero"
    return "relro" if ".rel.ro" in name else "data"


def _symbol(symbol: Any) -> Symbol:
    index, info = symbol["st_shndx"], symbol["st_info"]
    if index in (_ABSOLUTE, _COMMON) and info["type"] != "STT_FILE":
        raise TargetError(f"symbol '{symbol.name}' is {index}, which engines do not hold")
    place = (index, symbol["st_value"]) if isinstance(index, int) else None
    return Symbol(symbol.name, place, info["bind"] != "STB_LOCAL", info["bind"] == "STB_WEAK")


def _relocations(file: Any, sections: Mapping[int, Section]) -> Iterator[Relocation]:
    for table in file.iter_sections("SHT_RELA"):
        target = table["sh_info"]
        if target not in sections:
            continue
        for entry in table.iter_relocations():
            yield Relocation(target, entry["r_offset"], entry["r_info_type"], entry["r_info_sym"], entry["r_addend"])
