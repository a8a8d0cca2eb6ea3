// Models in native code: what the C code that is generated for a model calls. Nothing here throws, and all memory is the caller's
// allocator's where there is one.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc/native_model.h"
#include "call_scope.h"
#include "dlc/runtime.h"
#include "dlc_runtime.h"
#include "errors.h"
#include "native_weights.h"
#include "processor_features.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

struct dlc_native_context {
  const dlc_native_model *model = nullptr;
  DlcAllocator allocator;
  bool hasAllocator = false;
  int64_t threads = 0;
  int64_t limit = 0;
  std::atomic<int64_t> cancellations{0};
  MappedWeights weights;
  // Descriptors of the parameters, one after the other, and pointers to them.
  int64_t *descriptors = nullptr;
  int64_t **pointers = nullptr;
};

namespace {

// Words of a call that fit on the stack.
constexpr size_t kWordsOnStack = 1024;

size_t wordsOf(const dlc_native_tensor &tensor) { return 3 + 2 * static_cast<size_t>(tensor.rank); }

size_t wordsOf(const dlc_native_tensor *tensors, int32_t count) {
  size_t words = 0;
  for (int32_t i = 0; i < count; ++i)
    words += wordsOf(tensors[i]);
  return words;
}

// Writes a row-major descriptor of `memory` and returns what follows it.
int64_t *describe(int64_t *words, const void *memory, const int64_t *sizes, int32_t rank) {
  words[0] = words[1] = reinterpret_cast<int64_t>(memory);
  words[2] = 0;
  int64_t stride = 1;
  for (int32_t dim = rank; dim-- > 0;) {
    words[3 + dim] = sizes[dim];
    words[3 + rank + dim] = stride;
    stride *= sizes[dim];
  }
  return words + 3 + 2 * rank;
}

// Bytes of a tensor of these sizes; false where 63 bits cannot count them.
bool countBytes(const int64_t *sizes, int32_t rank, int64_t elementBytes, int64_t &bytes) {
  bytes = elementBytes;
  bool isEmpty = std::find(sizes, sizes + rank, 0) != sizes + rank;
  for (int32_t dim = 0; dim < rank && !isEmpty; ++dim)
    if (__builtin_mul_overflow(bytes, sizes[dim], &bytes))
      return false;
  bytes = isEmpty ? 0 : bytes;
  return true;
}

bool overlap(const void *left, int64_t leftBytes, const void *right, int64_t rightBytes) {
  auto first = reinterpret_cast<uintptr_t>(left), second = reinterpret_cast<uintptr_t>(right);
  return leftBytes > 0 && rightBytes > 0 && first < second + static_cast<uint64_t>(rightBytes) && second < first + static_cast<uint64_t>(leftBytes);
}

int32_t checkProcessor(const dlc_native_model &model) {
  if (kArchitecture != model.architecture)
    return fail(DLC_WRONG_MACHINE, "model '%s' is code of %s, and this processor is of %s", model.name, model.architecture, kArchitecture.data());
  for (int32_t i = 0; i < model.feature_count; ++i)
    if (presenceOf(model.features[i]) != Presence::present)
      return fail(DLC_WRONG_MACHINE, "model '%s' was compiled for %s and needs %s, which this processor lacks; compile it with a --target for it",
                  model.name, model.target, model.features[i]);
  return DLC_OK;
}

int32_t checkOptions(const dlc_native_model &model, const dlc_native_options &options) {
  if (model.abi != DLC_NATIVE_ABI)
    return fail(DLC_INVALID_ARGUMENT, "model '%s' was generated for version %d of the runtime's interface, and this is %d; link the runtime of its dlc",
                model.name, model.abi, DLC_NATIVE_ABI);
  if (options.threads < 0 || options.threads > INT32_MAX || options.memory_limit < 0)
    return fail(DLC_INVALID_ARGUMENT, "options of model '%s': threads (31 bits) and memory_limit are 0 or more", model.name);
  if (!options.allocate != !options.release)
    return fail(DLC_INVALID_ARGUMENT, "options of model '%s': allocate and release come together", model.name);
  return DLC_OK;
}

void *allocate(const DlcAllocator *allocator, size_t bytes) { return allocator ? allocator->allocate(allocator->user, bytes) : std::malloc(bytes); }

void release(const DlcAllocator *allocator, void *memory) {
  if (allocator && memory)
    allocator->release(allocator->user, memory);
  else if (!allocator)
    std::free(memory);
}

void describeParams(dlc_native_context &context) {
  const dlc_native_model &model = *context.model;
  int64_t *words = context.descriptors;
  for (int32_t i = 0; i < model.param_count; ++i) {
    context.pointers[i] = words;
    const dlc_native_tensor &param = model.params[i];
    words = describe(words, context.weights.begin + model.places[i], param.sizes, param.rank);
  }
}

// One call: its descriptors, the table of the entry, and where results go. Its memory is `words`.
class NativeCall {
public:
  NativeCall(dlc_native_context &called, const void *const *given, const int64_t *callSizes, dlc_native_result *wanted)
      : context(called), model(*called.model), inputs(given), sizes(callSizes), results(wanted) {}

  static size_t wordsFor(const dlc_native_model &model) {
    auto inputs = static_cast<size_t>(model.input_count), outputs = static_cast<size_t>(model.output_count);
    size_t records = wordsOf(model.inputs, model.input_count) + wordsOf(model.outputs, model.output_count);
    size_t table = 2 * (inputs + 1) + static_cast<size_t>(model.param_count);
    return records + table + (inputs + outputs) + outputs * sizeof(DlcMemory) / sizeof(int64_t);
  }

  int32_t prepare(int64_t *words) {
    inputBytes = words;
    roomOf = inputBytes + model.input_count;
    memory = reinterpret_cast<DlcMemory *>(roomOf + model.output_count);
    words = reinterpret_cast<int64_t *>(memory + model.output_count);
    if (int32_t status = checkSizes())
      return status;
    pointers = reinterpret_cast<void **>(words);
    table = pointers + model.input_count + 1;
    words = reinterpret_cast<int64_t *>(table + model.input_count + 1 + model.param_count);
    int32_t entries = 0;
    if (model.output_count)
      add(entries, words);
    record = words;
    words += wordsOf(model.outputs, model.output_count);
    for (int32_t i = 0; i < model.input_count; ++i) {
      add(entries, words);
      if (int32_t status = describeInput(i, words))
        return status;
    }
    for (int32_t i = 0; i < model.param_count; ++i)
      table[entries + i] = &context.pointers[i];
    return planOutputs();
  }

  int32_t run() {
    DlcCall call{model.entry, table, context.threads, memory, model.output_count, context.limit, &context.cancellations};
    if (callWith(call, context.hasAllocator ? &context.allocator : nullptr))
      return lastErrorRecord().kind;
    return deliver();
  }

private:
  void add(int32_t &entries, int64_t *words) {
    pointers[entries] = words;
    table[entries] = &pointers[entries];
    ++entries;
  }

  int32_t checkSizes() {
    for (int32_t i = 0; i < model.size_count; ++i)
      if (sizes[i] < 0)
        return fail(DLC_INVALID_ARGUMENT, "model '%s': size '%s' is %" PRId64 "; give 0 or more", model.name, model.size_names[i], sizes[i]);
    return DLC_OK;
  }

  // Writes the sizes of this call; whether all are known before it.
  bool sizesOf(const dlc_native_tensor &tensor, int64_t *found) const {
    bool isKnown = true;
    for (int32_t dim = 0; dim < tensor.rank; ++dim) {
      int64_t size = tensor.sizes[dim];
      isKnown = isKnown && size != DLC_NATIVE_UNKNOWN;
      found[dim] = size >= 0 || size == DLC_NATIVE_UNKNOWN ? size : sizes[-1 - size];
    }
    return isKnown;
  }

  int32_t checkMemory(const char *kind, const dlc_native_tensor &tensor, const void *data, int64_t bytes) const {
    if (bytes > 0 && !data)
      return fail(DLC_INVALID_ARGUMENT, "model '%s': %s '%s' is null", model.name, kind, tensor.name);
    if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(tensor.element_bytes))
      return fail(DLC_INVALID_ARGUMENT, "model '%s': the memory of %s '%s' is not aligned to its elements", model.name, kind, tensor.name);
    return DLC_OK;
  }

  int32_t describeInput(int32_t index, int64_t *&words) {
    const dlc_native_tensor &tensor = model.inputs[index];
    int64_t *found = words + 3;
    sizesOf(tensor, found);
    if (!countBytes(found, tensor.rank, tensor.element_bytes, inputBytes[index]))
      return fail(DLC_INVALID_ARGUMENT, "model '%s': input '%s' has more bytes than 63 bits can count", model.name, tensor.name);
    if (int32_t status = checkMemory("input", tensor, inputs[index], inputBytes[index]))
      return status;
    words = describe(words, inputs[index], found, tensor.rank);
    return DLC_OK;
  }

  // Lets a result be computed in the caller's memory where nothing stands against it.
  int32_t planOutputs() {
    int64_t *words = record;
    for (int32_t i = 0; i < model.output_count; ++i) {
      if (int32_t status = planOutput(i, words))
        return status;
      words += wordsOf(model.outputs[i]);
    }
    return DLC_OK;
  }

  int32_t planOutput(int32_t index, int64_t *words) {
    const dlc_native_tensor &tensor = model.outputs[index];
    dlc_native_result &result = results[index];
    int64_t expected = 0;
    bool isKnown = sizesOf(tensor, words + 3);
    if (isKnown && !countBytes(words + 3, tensor.rank, tensor.element_bytes, expected))
      return fail(DLC_INVALID_ARGUMENT, "model '%s': output '%s' has more bytes than 63 bits can count", model.name, tensor.name);
    roomOf[index] = result.room >= 0 ? result.room : expected;
    memory[index] = {nullptr, 0, tensor.name};
    if (!result.data && result.is_made)
      return DLC_OK;
    if (int32_t status = checkMemory("output", tensor, result.data, isKnown ? expected : 1))
      return status;
    for (int32_t other = 0; other < index; ++other)
      if (overlap(result.data, roomOf[index], results[other].data, roomOf[other]))
        return fail(DLC_INVALID_ARGUMENT, "model '%s': output '%s' shares memory with '%s'", model.name, tensor.name, model.outputs[other].name);
    if (isFree(index) && (!isKnown || expected <= roomOf[index]))
      memory[index] = {result.data, static_cast<uint64_t>(isKnown ? expected : roomOf[index]), tensor.name};
    return DLC_OK;
  }

  bool isFree(int32_t index) const {
    for (int32_t i = 0; i < model.input_count; ++i)
      if (overlap(results[index].data, roomOf[index], inputs[i], inputBytes[i]))
        return false;
    return true;
  }

  // All results are brought to their places or freed; the first fault counts.
  int32_t deliver() {
    int32_t status = DLC_OK;
    int64_t *words = record;
    for (int32_t i = 0; i < model.output_count; ++i) {
      deliverOne(i, words, status);
      words += wordsOf(model.outputs[i]);
    }
    for (int32_t i = 0; i < model.output_count && status; ++i)
      if (results[i].is_made == kMade) {
        _mlir_memref_to_llvm_free(results[i].data);
        results[i].data = nullptr;
      }
    return status;
  }

  void deliverOne(int32_t index, const int64_t *words, int32_t &status) {
    const dlc_native_tensor &tensor = model.outputs[index];
    dlc_native_result &result = results[index];
    auto *allocated = reinterpret_cast<uint8_t *>(words[0]);
    const uint8_t *source = reinterpret_cast<uint8_t *>(words[1]) + words[2] * tensor.element_bytes;
    int64_t bytes = 0;
    countBytes(words + 3, tensor.rank, tensor.element_bytes, bytes);
    if (result.sizes)
      std::copy(words + 3, words + 3 + tensor.rank, result.sizes);
    if (memory[index].address && allocated == memory[index].address)
      return;
    bool isOwned = std::none_of(inputs, inputs + model.input_count, [&](const void *input) { return input == allocated; });
    if (!result.data && result.is_made && isOwned && source == allocated) {
      result.data = allocated;
      result.is_made = kMade;
      return;
    }
    if (!result.data && result.is_made)
      status = status ? status : copyToNew(result, source, bytes, tensor);
    else if (bytes > roomOf[index])
      status = status ? status
                      : fail(DLC_INVALID_ARGUMENT, "model '%s': output '%s' takes %" PRId64 " bytes, and there is room for %" PRId64, model.name,
                             tensor.name, bytes, roomOf[index]);
    else if (bytes > 0)
      std::memmove(result.data, source, static_cast<size_t>(bytes));
    if (isOwned)
      _mlir_memref_to_llvm_free(allocated);
  }

  int32_t copyToNew(dlc_native_result &result, const uint8_t *source, int64_t bytes, const dlc_native_tensor &tensor) const {
    result.data = dlc_try_allocate(0, static_cast<uint64_t>(bytes));
    if (!result.data)
      return fail(DLC_OUT_OF_MEMORY, "model '%s': no memory for output '%s', %" PRId64 " bytes", model.name, tensor.name, bytes);
    result.is_made = kMade;
    std::memcpy(result.data, source, static_cast<size_t>(bytes));
    return DLC_OK;
  }

  // `is_made` of a result that has got its memory.
  static constexpr int32_t kMade = 2;

  dlc_native_context &context;
  const dlc_native_model &model;
  const void *const *inputs;
  const int64_t *sizes;
  dlc_native_result *results;
  int64_t *inputBytes = nullptr;
  int64_t *roomOf = nullptr;
  DlcMemory *memory = nullptr;
  int64_t *record = nullptr;
  void **pointers = nullptr;
  void **table = nullptr;
};

} // namespace

int32_t fail(int32_t status, const char *format, ...) {
  ErrorRecord &error = lastErrorRecord();
  error.kind = static_cast<DlcErrorKind>(status);
  error.bytes = error.used = error.limit = 0;
  va_list values;
  va_start(values, format);
  std::vsnprintf(error.message, sizeof error.message, format, values);
  va_end(values);
  return status;
}

int32_t dlc_native_init(const dlc_native_model *model, const dlc_native_options *options, dlc_native_context **made) {
  *made = nullptr;
  const dlc_native_options given = options ? *options : dlc_native_options{};
  if (int32_t status = checkOptions(*model, given))
    return status;
  if (int32_t status = checkProcessor(*model))
    return status;
  const DlcAllocator own{given.allocate, given.release, given.user};
  const DlcAllocator *allocator = given.allocate ? &own : nullptr;
  size_t words = wordsOf(model->params, model->param_count), pointers = static_cast<size_t>(model->param_count);
  void *memory = allocate(allocator, sizeof(dlc_native_context) + 8 * (words + pointers));
  if (!memory)
    return fail(DLC_OUT_OF_MEMORY, "model '%s': no memory for its context", model->name);
  auto *context = new (memory) dlc_native_context;
  context->model = model;
  context->allocator = own;
  context->hasAllocator = allocator != nullptr;
  context->threads = given.threads;
  context->limit = given.memory_limit;
  context->pointers = reinterpret_cast<int64_t **>(context + 1);
  context->descriptors = reinterpret_cast<int64_t *>(context->pointers + pointers);
  if (int32_t status = context->weights.open(*model, given.weights)) {
    release(allocator, memory);
    return status;
  }
  describeParams(*context);
  *made = context;
  return DLC_OK;
}

int32_t dlc_native_run(dlc_native_context *context, const void *const *inputs, const int64_t *sizes, dlc_native_result *results) {
  int64_t onStack[kWordsOnStack];
  const DlcAllocator *allocator = context->hasAllocator ? &context->allocator : nullptr;
  size_t words = NativeCall::wordsFor(*context->model);
  bool fits = words <= kWordsOnStack;
  auto *memory = fits ? onStack : static_cast<int64_t *>(allocate(allocator, words * sizeof(int64_t)));
  if (!memory)
    return fail(DLC_OUT_OF_MEMORY, "model '%s': no memory for a call", context->model->name);
  NativeCall call(*context, inputs, sizes, results);
  int32_t status = call.prepare(memory);
  status = status ? status : call.run();
  if (!fits)
    release(allocator, memory);
  return status;
}

void dlc_native_cancel(dlc_native_context *context) { dlc_cancel(&context->cancellations); }

void dlc_native_release(void *memory) { _mlir_memref_to_llvm_free(memory); }

void dlc_native_free(dlc_native_context *context) {
  if (!context)
    return;
  const DlcAllocator own = context->allocator;
  bool hasAllocator = context->hasAllocator;
  context->~dlc_native_context();
  release(hasAllocator ? &own : nullptr, context);
}
