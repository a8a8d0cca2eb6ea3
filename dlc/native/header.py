"""The header of a model in native code: plain C, which C++ reads, too."""

from __future__ import annotations

from collections.abc import Iterator

from dlc.native.interface import CInterface, CTensor
from dlc.native.names import commented
from dlc.runtime.signature import show_type

_HEAD = """\
/* {title}. Written by dlc {version}; docs/native-code.md of dlc explains it.
 *
 * Tensors are elements in row-major order. Functions that can fail return a {name}_status; {name}_message() then says why. Threads
 * may run one context at the same time.
 */
#ifndef {upper}_H
#define {upper}_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

typedef enum {name}_status {{
  {upper}_OK = 0,
  {upper}_INVALID_ARGUMENT = 1, /* arguments that do not fit, or values that the model refuses */
  {upper}_OUT_OF_MEMORY = 2,
  {upper}_CANCELLED = 3,
  {upper}_BAD_WEIGHTS = 4,  /* the file of the weights is not there, or another one */
  {upper}_WRONG_MACHINE = 5 /* this processor cannot run the code */
}} {name}_status;

/* What {name}_init makes: all that a model knows, but its threads, which models share. */
typedef struct {name}_context {name}_context;

/* Zero everything for the defaults. */
typedef struct {name}_options {{
  int64_t threads;      /* most threads of a call; 0: the environment's DLC_NUM_THREADS, else all processors */
  int64_t memory_limit; /* bytes that a call may hold beside weights and inputs; 0: what the system has */
  /* Where memory comes from, at least as aligned as malloc's; null: malloc and free. Threads call them at the same time. */
  void *(*allocate)(void *user, size_t bytes);
  void (*release)(void *user, void *memory);
  void *user;
  const char *weights; /* {weights} */
}} {name}_options;
"""

_TAIL = """
/* `options` may be null. */
{name}_status {name}_init(const {name}_options *options, {name}_context **context);

/* Runs the model. Outputs must not share memory with each other. */
{name}_status {name}_run({name}_context *context, const {name}_inputs *inputs, {name}_outputs *outputs);

/* Ends the calls that run now, each before its next kernel, with {upper}_CANCELLED; for other threads than theirs. */
void {name}_cancel({name}_context *context);

/* No call may run, and memory of {name}_run must be released; null is allowed. */
void {name}_free({name}_context *context);

/* Message of the last error on this thread; valid until the next one. */
const char *{name}_message(void);
"""

_RELEASE = """
/* Gives memory that {name}_run made for an output back; null is allowed. */
void {name}_release(void *memory);
"""

_END = """
#ifdef __cplusplus
}
#endif

#endif
"""


_ARENA_HEAD = """\
/* {title}. Written by dlc {version}; docs/native-code.md of dlc explains it.
 *
 * Tensors are elements in row-major order. Functions that can fail return a {name}_status; {name}_message() then says why. Calls
 * are of one thread, and take no memory but the arena's.
 */
#ifndef {upper}_H
#define {upper}_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* What the arena must have, and what it must begin at a multiple of. */
#define {upper}_ARENA_BYTES {bytes}
#define {upper}_ARENA_ALIGNMENT {alignment}

typedef enum {name}_status {{
  {upper}_OK = 0,
  {upper}_INVALID_ARGUMENT = 1, /* arguments that do not fit, or values that the model refuses */
  {upper}_OUT_OF_MEMORY = 2     /* the arena is too small */
}} {name}_status;

/* What {name}_init makes; it lies in the arena. */
typedef struct {name}_context {name}_context;
"""

_ARENA_TAIL = """
/* `arena` has `bytes`, and is the model's as long as it is called. */
{name}_status {name}_init(void *arena, size_t bytes, {name}_context **context);

/* Runs the model. Outputs must not share memory with each other, nor with inputs. */
{name}_status {name}_run({name}_context *context, const {name}_inputs *inputs, {name}_outputs *outputs);

/* Message of the last error. */
const char *{name}_message(void);
"""


def arena_header_text(interface: CInterface, title: str, version: str, arena_bytes: int, alignment: int) -> str:
    """The header of a model whose calls take no memory but an arena of `arena_bytes`, which begins at a multiple of `alignment`."""
    name, upper = interface.name, interface.name.upper()
    names = {"name": name, "upper": upper, "title": commented(title), "version": version}
    head = _ARENA_HEAD.format(**names, bytes=arena_bytes, alignment=alignment)
    tensors = (*_counts(interface, upper), *_inputs(interface), *_outputs(interface))
    return "".join([head, *tensors, _ARENA_TAIL.format(**names), _END])


def header_text(interface: CInterface, title: str, version: str, weights_file: str | None) -> str:
    """The header of a model that `title` describes; `weights_file` is where its weights lie, if not in the code."""
    name, upper = interface.name, interface.name.upper()
    weights = (
        f'path of the file of the weights; null: "{weights_file}" in the current folder'
        if weights_file
        else "of no use: they are in the code"
    )
    names = {"name": name, "upper": upper, "title": commented(title), "version": version, "weights": commented(weights)}
    parts = [_HEAD.format(**names), *_counts(interface, upper), "".join(_inputs(interface)), "".join(_outputs(interface))]
    release = _RELEASE.format(**names) if interface.makes_memory else ""
    return "".join([*parts, _TAIL.format(**names), release, _END])


def _counts(interface: CInterface, upper: str) -> Iterator[str]:
    """Numbers of elements of static tensors."""
    static = [tensor for tensor in (*interface.inputs, *interface.outputs) if tensor.is_static]
    counts = {f"{upper}_{tensor.field.upper()}_ELEMENTS": tensor.elements for tensor in static}
    if counts:
        yield "\n/* How many elements tensors have. */\n"
    for name, count in counts.items():
        yield f"#define {name} {count}\n"


def _inputs(interface: CInterface) -> Iterator[str]:
    yield f"\ntypedef struct {interface.name}_inputs {{\n"
    for tensor in interface.inputs:
        donated = "; a call may write to it" if tensor.spec.donated else ""
        const = "" if tensor.spec.donated else "const "
        yield f"  {const}{tensor.c_type} *{tensor.field}; /* {_described(tensor)}{donated} */\n"
    for size, field in zip(interface.sizes, interface.size_fields, strict=True):
        yield f"  int64_t {field}; /* {commented(size)} */\n"
    if not interface.inputs:
        yield "  char unused; /* the model takes nothing */\n"
    yield f"}} {interface.name}_inputs;\n"


def _outputs(interface: CInterface) -> Iterator[str]:
    yield f"\ntypedef struct {interface.name}_outputs {{\n"
    for tensor in interface.outputs:
        yield f"  {tensor.c_type} *{tensor.field}; /* {_described(tensor)} */\n"
        if tensor.is_known:
            continue
        yield f"  int64_t {tensor.field}_room; /* elements that there is room for; without memory, the call makes it */\n"
        yield f"  int64_t {tensor.field}_sizes[{max(len(tensor.sizes), 1)}]; /* written by the call */\n"
    if not interface.outputs:
        yield "  char unused; /* the model gives nothing */\n"
    yield f"}} {interface.name}_outputs;\n"


def _described(tensor: CTensor) -> str:
    return commented(f"{tensor.spec.name}: {show_type(tensor.spec.dtype, tensor.spec.shape)}")
