"""What an exception or a text on standard error says about a case: a clean error, or a finding."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

from dlc.errors import DLCError
from fuzz.cases import CLEAN, EXCEPTION, INTERNAL, MESSAGE, Verdict

ROOT = Path(__file__).resolve().parent.parent.parent
_OWN = str(Path(__file__).parent)
_VARIABLE = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|(?<![A-Za-z_])-?\d[\w.+-]*|tensor<[^>]*>|memref<[^>]*>|/[\w./-]+")
_LEAKED = re.compile(r"Traceback|\b[A-Z]\w*(?:Error|Exception)\b(?!')|object at 0x|<class '|\bstd::")
_PLUGIN = "can't load the passes: "
"""What goes on with the exception of a user's file."""
_PYTHON_LINE = re.compile(r'File "([^"]+)", line \d+,? in (\S+)')


def shape_of(message: str) -> str:
    """The first line of a message without its names, numbers and types."""
    lines = message.strip().splitlines()
    return _VARIABLE.sub("#", lines[0])[:160] if lines else ""


def frame_of(error: BaseException) -> str:
    """`file:function` of dlc's innermost frame, of the exception that began it all."""
    while error.__cause__ is not None:
        error = error.__cause__
    frames = [
        f"{Path(frame.filename).relative_to(ROOT)}:{frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(str(ROOT)) and "/.venv/" not in frame.filename and not frame.filename.startswith(_OWN)
    ]
    return frames[-1] if frames else "?"


def frame_in_dump(dump: str) -> str:
    """`file:function` of dlc's innermost frame in what faulthandler wrote."""
    for file, function in _PYTHON_LINE.findall(dump):
        if file.startswith(str(ROOT)) and "/.venv/" not in file and not file.startswith(_OWN):
            return f"{Path(file).relative_to(ROOT)}:{function}"
    return "?"


def judge(error: BaseException) -> Verdict:
    """The verdict on an exception that left dlc."""
    text = str(error)
    detail = "".join(traceback.format_exception(error))[-3000:]
    first = error
    while first.__cause__ is not None:
        first = first.__cause__
    key = f"{type(first).__name__}: {shape_of(str(first))} @ {frame_of(error)}"
    if not isinstance(error, DLCError):
        return Verdict(EXCEPTION, key, detail)
    if "internal error" in text:
        return Verdict(INTERNAL, key, detail)
    fault = fault_of(text)
    return Verdict(MESSAGE, f"{fault}: {shape_of(text)} @ {frame_of(error)}", detail) if fault else Verdict(CLEAN)


def fault_of(text: str) -> str:
    """What is wrong with the form of an error message; empty if nothing is."""
    if not text.strip():
        return "no message"
    if _LEAKED.search(_without_sources(text)) and _PLUGIN not in text:
        return "a message of Python"
    return ""


def _without_sources(text: str) -> str:
    """Lines of messages: without the input's own text, which is shown between a message and its caret."""
    lines = text.splitlines()
    shown = {index - 1 for index, line in enumerate(lines) if line.strip() == "^"}
    return "\n".join(_VARIABLE.sub("#", line) for index, line in enumerate(lines) if index not in shown)


def judge_text(status: int, text: str) -> Verdict:
    """The verdict on a command that ended with exit status `status` and `text` on standard error."""
    if "internal error" in text:
        line = next(line for line in text.splitlines() if "internal error" in line)
        return Verdict(INTERNAL, shape_of(line[line.index("internal error") :]), text[-3000:])
    if "Traceback (most recent" in text:
        return Verdict(EXCEPTION, shape_of(text.strip().splitlines()[-1]), text[-3000:])
    if status not in (0, 1):
        return Verdict(MESSAGE, f"exit status {status}: {shape_of(text)}", text[-3000:])
    if status == 1 and "error" not in text.lower():
        return Verdict(MESSAGE, f"fails without a word: {shape_of(text)}", text[-3000:])
    fault = fault_of(text) if status else ""
    return Verdict(MESSAGE, f"{fault}: {shape_of(text)}", text[-3000:]) if fault else Verdict(CLEAN)
