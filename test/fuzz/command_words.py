"""The words that command lines are made of: flags with values of their kinds, pass pipelines, files."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from pathlib import Path
from random import Random

from dlc.lowering import registry
from dlc.lowering.pipeline_elements import known_names
from dlc.tools.opt_options import flags as opt_flags
from fuzz.judging import ROOT

_TEXTS = (
    "",
    "0",
    "1",
    "-1",
    "2",
    "99999999999999999999",
    "1.5",
    "nan",
    "true",
    "false",
    "x",
    "a=b",
    "=",
    ",",
    "{}",
    "'",
    "ä",
    "%s",
    "-",
    "--",
    " ",
)
_FOLDERS = (".", "/", "/nonexistent/x", "/dev/null", "/dev/full", "out", "sub/out", "~", "a\nb")
_FILES = (
    "good.mlir",
    "affine.mlir",
    "bad.mlir",
    "empty",
    "binary",
    "good.onnx",
    "input.npy",
    "plugin.py",
    "broken.py",
    "schedule.json",
    "missing",
)
_OP_NAMES = ("builtin.module", "func.func", "any", "gpu.module", "module", "", "llvm.func")
_NOT_RUN = ("demo", "bench", "repro-check", "serve")
"""Commands that take minutes, or do not end; their wrong uses are tried."""


@functools.cache
def passes() -> list[str]:
    """All names of passes and pipelines."""
    return sorted(known_names())


@functools.cache
def pass_options() -> list[str]:
    """Names of options of dlc's own passes and some of upstream's."""
    own = {option.name for entry in registry.passes().values() for option in entry.options()}
    return sorted(own | {"tile-size", "tile-sizes", "max-iterations", "cache-size", "top-down", "region-simplify", "unroll-factor"})


def options(random: Random) -> str:
    """Options of a pass, mostly in braces."""
    parts = [
        f"{random.choice(pass_options())}{random.choice(('=', '=', '=', '', ' = '))}{value(random)}"
        for _ in range(random.choice((0, 1, 1, 2)))
    ]
    text = random.choice((" ", " ", ",")).join(parts)
    return random.choice((f"{{{text}}}", f"{{{text}}}", f"={text}", f"{{{text}", "")) if text else random.choice(("", "", "{}"))


def value(random: Random) -> str:
    """What stands behind a `=`."""
    return random.choice((random.choice(_TEXTS), str(random.randrange(-3, 70)), "4,8", "[1,2]", "{a=1}", random.choice(passes())))


def pipeline(random: Random, depth: int = 0) -> str:
    """Pass pipelines, nested up to three deep; one in five is cut or has a sign too many."""
    items = []
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        nested = depth < 3 and random.random() < 0.35
        items.append(
            f"{random.choice(_OP_NAMES[:3])}({pipeline(random, depth + 1)})"
            if nested
            else random.choice(passes()) + options(random)
        )
    text = ",".join(items)
    if depth:
        return text
    text = f"{random.choice(('builtin.module', 'builtin.module', random.choice(_OP_NAMES)))}({text})"
    return _broken(random, text) if random.random() < 0.2 else text


def _broken(random: Random, text: str) -> str:
    place = random.randrange(len(text))
    return random.choice(
        (text[:place], text[:place] + random.choice('(){},= \n\0"ä') + text[place:], text + ")", "(" * 2000, text * 3)
    )


def file(random: Random) -> str:
    """A file in the folder where a case runs; good ones most often."""
    return random.choice((*("good.mlir", "affine.mlir", "good.onnx") * 3, *_FILES, random.choice(_FOLDERS)))


def opt_command(random: Random) -> list[str]:
    """Arguments of dlc-opt."""
    words = ["dlc-opt", file(random)] if random.random() < 0.9 else ["dlc-opt"]
    for _ in range(random.choice((1, 1, 2, 3))):
        words += _opt_word(random)
    return [word.replace("\0", "") for word in words]


def _opt_word(random: Random) -> list[str]:
    choice = random.random()
    if choice < 0.35:
        return [f"--{random.choice(passes())}{options(random)}"]
    if choice < 0.6:
        return [f"--pass-pipeline={pipeline(random)}"]
    if choice < 0.9:
        name = random.choice(sorted(opt_flags()))
        text = random.choice((value(random), file(random), random.choice(("dl", "linalg", "affine", "llvm", "gpu"))))
        return random.choice(([f"--{name}={text}"], [f"--{name}"], [f"--{name}", text], [f"-{name}={text}"]))
    return [random.choice((value(random), file(random), f"--{value(random)}", "-o"))]


@functools.cache
def _commands() -> dict[str, Sequence[object]]:
    """click's parameters of each command of dlc."""
    found = {}
    for entry in sorted((ROOT / "tools" / "commands").glob("*_command.py")):
        module = importlib.import_module(f"dlc.tools.commands.{Path(entry).stem}")
        command = module.command
        found[entry.stem.removesuffix("_command").replace("_", "-")] = [
            *command.params,
            *(item for sub in getattr(command, "commands", {}).values() for item in sub.params),
        ]
    return found


def dlc_command(random: Random) -> list[str]:
    """Arguments of dlc."""
    name = random.choice([*_commands(), "run", "compile", "import", "explain", "run", "compile", value(random)])
    words = ["dlc", name]
    if name == "cache":
        words.append(random.choice(("info", "clear", value(random))))
    elif name not in _NOT_RUN:
        words.append(file(random))
    elif random.random() < 0.5:
        words += [random.choice(("missing", "bad.mlir", "empty"))]
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        words += _dlc_word(random, name)
    if name in _NOT_RUN:
        words += ["--no-such-flag"]  # ends before the work begins
    return [word.replace("\0", "") for word in words if word != "--debug"]


def _dlc_word(random: Random, name: str) -> list[str]:
    parameters = [item for item in _commands().get(name, ()) if getattr(item, "param_type_name", "") == "option"]
    if not parameters or random.random() < 0.1:
        return [random.choice((f"--{value(random)}", value(random), file(random)))]
    option = random.choice(parameters)
    flag = random.choice(option.opts)  # type: ignore[attr-defined]
    if getattr(option, "is_flag", False):
        return [flag]
    choices = getattr(option.type, "choices", ())  # type: ignore[attr-defined]
    known = [str(random.choice(choices))] * 3 if choices else [f"x={_pair(random)}"] * 2
    text = random.choice((*known, value(random), file(random)))
    if flag == "--repeat":
        text = random.choice(("0", "1", "2", "x", "-1"))
    return random.choice(([flag, text], [f"{flag}={text}"], [flag]))


def _pair(random: Random) -> str:
    return random.choice(
        ("4", "2x4", "1,2", "n", "random", "input.npy", "missing.npy", "out.npy", "0", "-1", "x", "99999999999999999999")
    )
