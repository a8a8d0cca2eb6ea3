"""Names of C for models, tensors and sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dlc.errors import InvalidInputError

_KEYWORDS = frozenset({
    "alignas", "alignof", "and", "and_eq", "asm", "atomic", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "class", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "co_await",
    "co_return", "co_yield", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit",
    "export", "extern", "false", "final", "float", "for", "friend", "goto", "if", "import", "inline", "int", "long", "main",
    "module", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "override",
    "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict", "return", "short", "signed",
    "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true",
    "try", "typedef", "typeid", "typename", "typeof", "union", "unix", "linux", "unsigned", "using", "virtual", "void",
    "volatile", "wchar_t", "while", "xor", "xor_eq",
})  # fmt: skip
"""What C or C++ keeps for itself."""
_RUNTIME = "dlc"
_MOST = 64


def model_name(text: str) -> str:
    """What C names of a model called `text` begin with: other letters than those of C are underscores.

    `InvalidInputError` where no C name can begin so.
    """
    name = _with_letters_of_c(text)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in _KEYWORDS or len(name) > _MOST:
        raise InvalidInputError(f"names in C cannot begin with '{name}', of model '{text}'; give another with --name")
    if name == _RUNTIME or name.startswith(f"{_RUNTIME}_"):
        raise InvalidInputError(
            f"names in C that begin with '{_RUNTIME}' are the runtime's, and the model is '{text}'; give another with --name"
        )
    return name


def field_names(texts: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """A field of a C structure for each of `texts`, none of them twice or among `taken`."""
    known, found = set(taken), []
    for text in texts:
        stem = _with_letters_of_c(text) or "unnamed"
        stem = f"_{stem}" if stem[0].isdigit() else stem
        stem = f"{stem}_" if stem in _KEYWORDS else stem
        name, number = stem, 2
        while name in known:
            name, number = f"{stem}_{number}", number + 1
        known.add(name)
        found.append(name)
    return found


def quoted(text: str) -> str:
    """`text` as a string of C."""
    escaped = "".join(chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in text.encode())
    return f'"{escaped}"'


def commented(text: str) -> str:
    """`text` for the inside of a comment, on one line."""
    return " ".join(text.split()).replace("*/", "* /").replace("/*", "/ *")


def _with_letters_of_c(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", text)
