"""How ops that touch memory look in the graph of values: loads and stores of lanes, copies, and ops that may do anything."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, is_memref, root_of
from dlc.lowering.affine.equivalence.value_graph import INDEX, UNDEFINED, MemoryObject, ValueOperand
from dlc.lowering.affine.equivalence.value_reader import Reader, ReadPosition
from dlc.lowering.affine.ir.accesses import access_of
from dlc.lowering.affine.polyhedral.model import ExtractionError


def read_memory_op(reader: Reader, op: ir.Operation, frame: ReadPosition) -> None:
    """A load or store, of one element or of a vector of them."""
    access = access_of(op)
    shape = list(ir.VectorType(access.kind).shape) if isinstance(access.kind, ir.VectorType) else []
    subscripts = reader.texts.map(access.map, access.indices, frame.loops, op)
    subscripts, inside = _with_lanes(reader, op, frame, subscripts, shape)
    inside += _transfer_mask(reader, op, frame)
    if access.writes:
        _store(reader, op, frame, access.memref, subscripts, inside, op.operands[0])
        return
    padding = op.operands[1 + ir.MemRefType(access.memref.type).rank] if inside else None
    _load(reader, op, frame, access.memref, subscripts, inside, padding, shape, spread=False)


def read_masked_op(reader: Reader, op: ir.Operation, frame: ReadPosition) -> None:
    """`vector.maskedload` and `vector.maskedstore`: lanes along the last axis, those alone whose mask is set."""
    memref = op.operands[0]
    rank = ir.MemRefType(memref.type).rank
    places = [reader.texts.value(value, frame.loops, op) for value in list(op.operands)[1 : 1 + rank]]
    places[-1] = f"({places[-1]} + l0)"
    mask, value = op.operands[1 + rank], op.operands[2 + rank]
    inside = mask_conditions(reader, mask, ["l0"], frame, op)
    if op.name == "vector.maskedstore":
        _store(reader, op, frame, memref, places, inside, value)
    else:
        _load(reader, op, frame, memref, places, inside, value, list(value.type.shape), spread=True)


def _store(
    reader: Reader, op: ir.Operation, frame: ReadPosition, memref: ir.Value, place: list[str], inside: list[str], value: ir.Value
) -> None:
    _refuse_vectors(op, memref)
    shape = list(value.type.shape) if isinstance(value.type, ir.VectorType) else []
    memory, place = reader.object_of(memref, place, frame, op)
    node = reader.node(op, "stores", frame, shape, [f"({one})" for one in inside])
    reader.touch(node, memory, place, frame, writes=True)
    node.operands.append(reader.use(node, value, frame, node.dims[len(frame.loops) :]))


def _load(
    reader: Reader,
    op: ir.Operation,
    frame: ReadPosition,
    memref: ir.Value,
    place: list[str],
    inside: list[str],
    other: ir.Value | None,
    shape: list[int],
    *,
    spread: bool,
) -> None:
    """A load of the elements where `inside` holds; elsewhere it gives `other`, a scalar, or a vector where it is `spread`."""
    _refuse_vectors(op, memref)
    memory, place = reader.object_of(memref, place, frame, op)
    node = reader.node(op, "result 0", frame, shape)
    reader.touch(node, memory, place, frame, writes=False, where=[f"({one})" for one in inside])
    if inside and other is not None:
        lanes = node.dims[len(frame.loops) :] if spread else ()
        node.operands.append(reader.use(node, other, frame, lanes, [f"not ({' and '.join(f'({one})' for one in inside)})"]))
    reader.values[op.results[0]] = node


def _refuse_vectors(op: ir.Operation, memref: ir.Value) -> None:
    if isinstance(ir.MemRefType(memref.type).element_type, ir.VectorType):
        raise ExtractionError(op, "it touches a memref of vectors", "make the memref one of scalars")


def _transfer_mask(reader: Reader, op: ir.Operation, frame: ReadPosition) -> list[str]:
    """The lanes that the mask of a transfer leaves, as conditions."""
    if not op.name.startswith("vector.transfer") or not list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[-1]:
        return []
    results = op.attributes["permutation_map"].value.results
    lanes = [f"l{lane}" for _, lane in sorted((_position(result), lane) for lane, result in enumerate(results))]
    if any(_position(result) is None for result in results):
        raise ExtractionError(op, "it has a mask and lanes of one element", "take the mask or the broadcast away")
    return mask_conditions(reader, op.operands[len(op.operands) - 1], lanes, frame, op)


def mask_conditions(reader: Reader, mask: ir.Value, lanes: Sequence[str], frame: ReadPosition, user: ir.Operation) -> list[str]:
    """The lanes that `mask` sets, as conditions. Raises ExtractionError for masks that are not made of bounds."""
    op = defining_op(mask)
    name = op.name if op is not None else ""
    if op is not None and name == "vector.create_mask":
        sizes = [reader.texts.value(size, frame.loops, user) for size in op.operands]
        return [f"{lane} < {size}" for lane, size in zip(lanes, sizes, strict=True)]
    if op is not None and name == "vector.constant_mask":
        sizes = [str(size) for size in ir.DenseI64ArrayAttr(op.attributes["mask_dim_sizes"])]
        return [f"{lane} < {size}" for lane, size in zip(lanes, sizes, strict=True)]
    if op is not None and name == "arith.constant" and op.attributes["value"].is_splat:
        return ["1 = 1" if ir.BoolAttr(op.attributes["value"].get_splat_value()).value else "1 = 0"]
    if op is not None and name == "arith.constant" and len(lanes) == 1:
        bits = [bool(bit) for bit in ir.DenseIntElementsAttr(op.attributes["value"])]
        return [f"({' or '.join(f'{lanes[0]} = {lane}' for lane, bit in enumerate(bits) if bit)})"]
    if op is not None and name in ("arith.andi", "arith.ori", "arith.xori"):
        parts = [" and ".join(mask_conditions(reader, operand, lanes, frame, user)) for operand in op.operands]
        if name == "arith.xori":
            return [f"(({parts[0]}) and not ({parts[1]})) or (not ({parts[0]}) and ({parts[1]}))"]
        return [f"({parts[0]}) {'and' if name == 'arith.andi' else 'or'} ({parts[1]})"]
    raise ExtractionError(user, "its mask is computed lane by lane", "use vector.create_mask, or loop bounds")


def is_mask(op: ir.Operation) -> bool:
    """Whether `op` combines masks that are made of bounds: it is spelled out where it is used."""
    made = ("vector.create_mask", "vector.constant_mask")
    if op.name in made:
        return True
    if op.name not in ("arith.andi", "arith.ori", "arith.xori") or not isinstance(op.results[0].type, ir.VectorType):
        return False
    makers = [defining_op(operand) for operand in op.operands]
    return all(maker is not None and (maker.name == "arith.constant" or is_mask(maker)) for maker in makers)


def _with_lanes(
    reader: Reader, op: ir.Operation, frame: ReadPosition, subscripts: list[str], shape: Sequence[int]
) -> tuple[list[str], list[str]]:
    """The subscripts of lane `l0, l1, ...` of a vector, and the conditions under which it is inside of the memref."""
    if not shape:
        return subscripts, []
    rank = len(subscripts)
    if not op.name.startswith("vector.transfer"):
        axes: list[int | None] = list(range(rank - len(shape), rank))
        clipped = [False] * len(shape)
    else:
        if list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[-1]:
            raise ExtractionError(
                op, "its mask decides which elements it touches", "use loop bounds or affine.if instead of the mask"
            )
        axes = [_position(result) for result in op.attributes["permutation_map"].value.results]
        clipped = [not ir.BoolAttr(flag).value for flag in ir.ArrayAttr(op.attributes["in_bounds"])]
    found, inside = list(subscripts), []
    for lane, axis in enumerate(axes):
        if axis is None:
            continue
        found[axis] = f"({found[axis]} + l{lane})"
        if clipped[lane]:
            size = reader.size_of(access_of(op).memref, axis, frame.loops)
            inside.append(f"0 <= {found[axis]} < {size}")
    return found, inside


def _position(result: ir.AffineExpr) -> int | None:
    """The axis that a lane of a transfer runs along; None where all lanes have one element."""
    expression = result.maybe_downcast()
    return int(expression.position) if isinstance(expression, ir.AffineDimExpr) else None


def read_copy(reader: Reader, op: ir.Operation, frame: ReadPosition) -> None:
    """`memref.copy`: a load and a store of every element."""
    source, target = op.operands
    kind = ir.MemRefType(source.type)
    names = [f"l{axis}" for axis in range(kind.rank)]
    sizes = [reader.size_of(source, axis, frame.loops) for axis in range(kind.rank)]
    load = reader.node(op, "loads", frame, sizes)
    memory, place = reader.object_of(source, names, frame, op)
    reader.touch(load, memory, place, frame.branch(0, ()), writes=False)
    store = reader.node(op, "stores", frame, sizes)
    memory, place = reader.object_of(target, names, frame, op)
    reader.touch(store, memory, place, frame.branch(1, ()), writes=True)
    store.operands.append(ValueOperand((reader.graph.map(store, load.name, store.dims),)))


def read_dealloc(reader: Reader, op: ir.Operation, frame: ReadPosition) -> None:
    """`memref.dealloc`: every element is as if nobody had written it."""
    memory = reader.object_at(root_of(op.operands[0]), op)
    node = reader.node(op, "frees", frame, memory.sizes)
    reader.touch(node, memory, node.dims[len(frame.loops) :], frame, writes=True)
    node.operands.append(ValueOperand((reader.graph.map(node, UNDEFINED, []),)))


def read_opaque_op(reader: Reader, op: ir.Operation, frame: ReadPosition) -> None:
    """An op that may read and write what it is given, all that others can see, and the world outside of memory.

    It becomes several nodes. One stands for its run; the operands are its scalars and all elements that it may read. One for each
    array that it may write stands for the array's elements, each a function of the run and of its place.
    """
    touched = _touched(reader, op)
    run = reader.node(op, "runs", frame)
    run.signature = _signature(op)
    names = [loop.name for loop in frame.loops]
    run.operands += [reader.use(run, value, frame) for value in op.operands if not is_memref(value)]
    for memory_key, memory in touched:
        load = reader.node(op, f"reads {memory_key}", frame.branch(0, ()), memory.sizes)
        reader.touch(load, memory, load.dims[len(names) :], frame.branch(0, ()), writes=False)
        run.operands.append(ValueOperand((reader.graph.spread(run, load),), joined=len(memory.sizes)))
    for memory_key, memory in touched:
        after = reader.node(op, f"writes {memory_key}", frame.branch(1, ()), memory.sizes)
        after.signature = f"{run.signature} writes {memory_key}"
        place = after.dims[len(names) :]
        after.operands.append(ValueOperand((reader.graph.map(after, run.name, names),)))
        after.operands += [ValueOperand((reader.graph.map(after, INDEX, [name]),)) for name in place]
        reader.touch(after, memory, place, frame.branch(1, ()), writes=True)
    for number, result in enumerate(op.results):
        if is_memref(result) or isinstance(result.type, ir.VectorType):
            raise ExtractionError(op, f"it gives back a value of type {result.type}", "inline or outline what is around it")
        node = reader.node(op, f"result {number}", frame)
        node.signature = f"{run.signature} result {number}"
        node.operands.append(ValueOperand((reader.graph.map(node, run.name, names),)))
        reader.values[result] = node


def _touched(reader: Reader, op: ir.Operation) -> list[tuple[str, MemoryObject]]:
    """What an opaque op may read and write, by a key that is equal in both functions."""
    found: dict[MemoryObject, str] = {memory: memory.key for memory in reader.public_objects()}
    for position, value in enumerate(op.operands):
        if not is_memref(value):
            continue
        root = value
        while (view := defining_op(root)) is not None and view.name == "memref.cast":
            root = view.operands[0]
        if (
            view is not None
            and view.name.startswith("memref.")
            and view.name not in ("memref.alloc", "memref.alloca", "memref.get_global")
        ):
            raise ExtractionError(op, f"it is given a view of a memref, by '{view.name}'", "give it the memref itself")
        found.setdefault(reader.object_at(root, op), f"operand {position}")
    return [(memory_key, memory) for memory, memory_key in found.items()]


def _signature(op: ir.Operation) -> str:
    attributes = ", ".join(sorted(f"{name} = {op.attributes[name]}" for name in op.attributes))
    roots = [str(value.type) for value in op.operands]
    return f"{op.name}{{{attributes}}} ({', '.join(roots)})"
