// Calls that take NumPy arrays as they are: one native call checks them, points the descriptors at them and runs the entry.
//
// A check in Python costs 0.1 to 0.3 us each, and a call of a small model has a dozen. NumPy's C interface fixes the struct
// below; dlc.runtime compares it with what NumPy says of an array before it uses it. What is out of the ordinary is left to
// Python, which knows the messages. Nothing here touches a reference count, so no lock of the interpreter is needed.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc_runtime.h"

#include <algorithm>

// PyArrayObject after CPython's object header; both with 8-byte pointers.
struct NumpyArray {
  int64_t references;
  const void *type;
  char *data;
  int32_t rank;
  const int64_t *sizes;
  const int64_t *strides;
  const void *base;
  const void *dtype;
  int32_t flags;
};

namespace {

constexpr int32_t kContiguous = 0x1, kAligned = 0x100, kWriteable = 0x400;

struct Span {
  const char *begin;
  const char *end;
  bool touches(const Span &other) const { return begin < other.end && other.begin < end; }
};

bool fits(const DlcArray &expected, const void *type, int32_t flags) {
  const NumpyArray *array = expected.object;
  return array && array->type == type && array->dtype == expected.dtype && array->rank == expected.rank &&
         (array->flags & flags) == flags && std::equal(array->sizes, array->sizes + array->rank, expected.sizes);
}

Span spanOf(const DlcArray &array) {
  int64_t bytes = array.itemSize;
  for (int64_t axis = 0; axis < array.rank; ++axis)
    bytes *= array.sizes[axis];
  return {array.object->data, array.object->data + bytes};
}

bool touchesWeights(const DlcArrayCall &prepared, const Span &span) {
  const Span *weights = reinterpret_cast<const Span *>(prepared.weights), *last = weights + prepared.weightCount;
  const Span *found = std::upper_bound(weights, last, span.begin, [](const char *at, const Span &one) { return at < one.end; });
  return found != last && found->touches(span);
}

// Whether result `index` may be computed in the caller's array: apart from inputs, the other results and weights.
bool isApart(const DlcArrayCall &prepared, int64_t index) {
  const DlcArray *outputs = prepared.arrays + prepared.inputCount;
  Span span = spanOf(outputs[index]);
  for (const DlcArray *other = prepared.arrays; other != outputs + index; ++other)
    if (other->object && spanOf(*other).touches(span))
      return false;
  return !touchesWeights(prepared, span);
}

bool bindInputs(const DlcArrayCall &prepared) {
  for (int64_t i = 0; i < prepared.inputCount; ++i)
    if (!fits(prepared.arrays[i], prepared.type, kContiguous | kAligned))
      return false;
  for (int64_t i = 0; i < prepared.inputCount; ++i) {
    int64_t *descriptor = prepared.arrays[i].descriptor;
    descriptor[0] = descriptor[1] = reinterpret_cast<int64_t>(prepared.arrays[i].object->data);
  }
  return true;
}

bool bindOutputs(const DlcArrayCall &prepared, bool isForeign) {
  for (int64_t i = 0; i < prepared.call.resultCount; ++i) {
    const DlcArray &output = prepared.arrays[prepared.inputCount + i];
    DlcMemory &memory = prepared.call.results[i];
    memory.address = nullptr;
    memory.size = 0;
    if (!output.object)
      continue;
    if (isForeign && !(fits(output, prepared.type, kContiguous | kAligned | kWriteable) && isApart(prepared, i)))
      return false;
    Span span = spanOf(output);
    memory.address = output.object->data;
    memory.size = static_cast<uint64_t>(span.end - span.begin);
  }
  return true;
}

// Whether a result lies in the array that was given for it, and has its shape.
bool isDelivered(const DlcArray &output) {
  return output.object && output.descriptor[0] == reinterpret_cast<int64_t>(output.object->data) &&
         std::equal(output.sizes, output.sizes + output.rank, output.descriptor + 3);
}

} // namespace

int32_t dlc_bind_arrays(const DlcArrayCall *prepared, int32_t isForeign) {
  return bindInputs(*prepared) && bindOutputs(*prepared, isForeign != 0) ? DLC_DONE : DLC_UNFIT;
}

int32_t dlc_call_arrays(const DlcArrayCall *prepared, int32_t isForeign) {
  if (dlc_bind_arrays(prepared, isForeign))
    return DLC_UNFIT;
  if (dlc_call(&prepared->call))
    return DLC_RAISED;
  const DlcArray *outputs = prepared->arrays + prepared->inputCount;
  return std::all_of(outputs, outputs + prepared->call.resultCount, isDelivered) ? DLC_DONE : DLC_ELSEWHERE;
}

void dlc_read_array(const NumpyArray *array, int64_t *words) {
  words[0] = reinterpret_cast<int64_t>(array->type);
  words[1] = reinterpret_cast<int64_t>(array->data);
  words[2] = reinterpret_cast<int64_t>(array->dtype);
  words[3] = array->flags & (kContiguous | kAligned | kWriteable);
  words[4] = array->rank;
  std::copy(array->sizes, array->sizes + array->rank, words + 5);
}
