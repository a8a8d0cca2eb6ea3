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
constexpr int64_t kUnknown = -1;
// Sizes of results of more dims are not foretold. NumPy's arrays have at most 64.
constexpr int64_t kMostRank = 64;

struct Span {
  const char *begin;
  const char *end;
  bool touches(const Span &other) const { return begin < other.end && other.begin < end; }
};

bool hasType(const DlcArray &expected, const void *type, int32_t flags) {
  const NumpyArray *array = expected.object;
  return array && array->type == type && array->dtype == expected.dtype && array->rank == expected.rank &&
         (array->flags & flags) == flags;
}

bool hasSizes(const DlcArray &expected) {
  return std::equal(expected.sizes, expected.sizes + expected.rank, expected.object->sizes);
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

// Notes the size of each dim that the inputs decide; false where a size is not the model's, or one dim has two.
bool readSizes(const DlcArrayCall &prepared) {
  std::fill_n(prepared.dimSizes, prepared.dimCount, kUnknown);
  for (int64_t i = 0; i < prepared.inputCount; ++i)
    for (int64_t axis = 0; axis < prepared.arrays[i].rank; ++axis) {
      int64_t size = prepared.arrays[i].object->sizes[axis], dim = prepared.arrays[i].dims[axis];
      int64_t expected = dim < 0 ? prepared.dimSizes[~dim] : dim;
      if (dim < 0 && expected == kUnknown)
        prepared.dimSizes[~dim] = size;
      else if (size != expected)
        return false;
    }
  return true;
}

// Writes the sizes of an input's array, and the strides of rows that follow each other, to its descriptor.
void describeInput(const DlcArray &input) {
  int64_t *strides = input.descriptor + 3 + input.rank, stride = 1;
  for (int64_t axis = input.rank - 1; axis >= 0; --axis) {
    input.sizes[axis] = input.object->sizes[axis];
    strides[axis] = stride;
    stride *= input.sizes[axis];
  }
}

// Expects results of the sizes that `dimSizes` gives, of those whose dims are all known by now.
void expectResults(const DlcArrayCall &prepared) {
  int64_t sizes[kMostRank];
  for (int64_t i = 0; i < prepared.call.resultCount; ++i) {
    DlcArray &output = prepared.arrays[prepared.inputCount + i];
    if (output.rank > kMostRank)
      continue;
    std::transform(output.dims, output.dims + output.rank, sizes, [&](int64_t dim) { return dim < 0 ? prepared.dimSizes[~dim] : dim; });
    if (std::find(sizes, sizes + output.rank, kUnknown) == sizes + output.rank)
      dlc_expect_sizes(&output, sizes);
  }
}

// Describes inputs of other sizes than those of the last call; false where the model does not take them.
bool resizeInputs(const DlcArrayCall &prepared) {
  if (!readSizes(prepared))
    return false;
  std::for_each_n(prepared.arrays, prepared.inputCount, describeInput);
  expectResults(prepared);
  return true;
}

bool bindInputs(const DlcArrayCall &prepared, bool takesSizes) {
  const DlcArray *inputs = prepared.arrays, *last = inputs + prepared.inputCount;
  if (!std::all_of(inputs, last, [&](const DlcArray &input) { return hasType(input, prepared.type, kContiguous | kAligned); }))
    return false;
  if (!std::all_of(inputs, last, hasSizes) && !(takesSizes && resizeInputs(prepared)))
    return false;
  std::for_each(inputs, last, [](const DlcArray &input) {
    input.descriptor[0] = input.descriptor[1] = reinterpret_cast<int64_t>(input.object->data);
  });
  return true;
}

bool bindOutputs(const DlcArrayCall &prepared, bool areGiven) {
  for (int64_t i = 0; i < prepared.call.resultCount; ++i) {
    const DlcArray &output = prepared.arrays[prepared.inputCount + i];
    DlcMemory &memory = prepared.call.results[i];
    memory.address = nullptr;
    memory.size = 0;
    if (!output.object)
      continue;
    constexpr int32_t kFlags = kContiguous | kAligned | kWriteable;
    if (areGiven && !(hasType(output, prepared.type, kFlags) && hasSizes(output) && isApart(prepared, i)))
      return false;
    Span span = spanOf(output);
    memory.address = output.object->data;
    memory.size = static_cast<uint64_t>(span.end - span.begin);
  }
  return true;
}

// From here on an array that the next call may not need is not made before it: its memory costs more than a result that is read.
// As in `CallFrame`, which expects sizes after calls that went through Python.
constexpr int64_t kGuessedBelow = 64 * 1024;

} // namespace

DlcPlace dlc_place_of(const DlcArray *output) {
  if (!output->object || output->descriptor[0] != reinterpret_cast<int64_t>(output->object->data))
    return DLC_IN_OWN_MEMORY;
  bool isAsNoted = std::equal(output->sizes, output->sizes + output->rank, output->descriptor + 3);
  return isAsNoted ? DLC_IN_ARRAY : DLC_IN_OTHER_SIZES;
}

void dlc_expect_sizes(DlcArray *output, const int64_t *sizes) {
  if (std::equal(sizes, sizes + output->rank, output->sizes))
    return;
  std::copy(sizes, sizes + output->rank, output->sizes);
  int64_t bytes = output->itemSize;
  bool isHuge = std::any_of(sizes, sizes + output->rank, [&](int64_t size) { return __builtin_mul_overflow(bytes, size, &bytes); });
  output->newBytes = !isHuge && bytes < kGuessedBelow ? bytes : 0;
}

int32_t dlc_bind_inputs(const DlcArrayCall *prepared, int32_t takesSizes) {
  return bindInputs(*prepared, takesSizes != 0) ? DLC_DONE : DLC_UNFIT;
}

DlcOutcome dlc_call_arrays(const DlcArrayCall *prepared, int32_t areGiven) {
  if (!bindOutputs(*prepared, areGiven != 0))
    return DLC_UNFIT;
  if (dlc_call(&prepared->call))
    return DLC_RAISED;
  const DlcArray *outputs = prepared->arrays + prepared->inputCount;
  auto isDelivered = [](const DlcArray &output) { return dlc_place_of(&output) == DLC_IN_ARRAY; };
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
