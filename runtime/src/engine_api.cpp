// The C interface of engines but for calls: loading and questions.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc_runtime.h"
#include "engine.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace {

// The caller's options; what an older program does not know of is zero.
dlc_options readOptions(const dlc_options *given) {
  dlc_options options{};
  if (!given)
    return options;
  if (given->size < sizeof given->size || given->size > sizeof options)
    throw EngineError(DLC_INVALID_ARGUMENT, "options of an engine: size must be sizeof(dlc_options), and no later version's");
  std::memcpy(&options, given, given->size);
  return options;
}

const dlc_tensor_type *typeAt(const std::deque<TensorType> &types, int64_t index) {
  return index < 0 || static_cast<size_t>(index) >= types.size() ? nullptr : &types[static_cast<size_t>(index)].type;
}

} // namespace

int32_t dlc_runtime_version() { return DLC_RUNTIME_MAJOR * 1000000 + DLC_RUNTIME_MINOR * 1000 + DLC_RUNTIME_PATCH; }

int32_t dlc_runtime_abi() { return kRuntimeAbi; }

dlc_status dlc_engine_load(const char *path, const dlc_options *options, dlc_engine **engine) {
  *engine = nullptr;
  if (!path)
    return noteError(DLC_INVALID_ARGUMENT, "the path of an engine is null");
  return guarded([&] { *engine = std::make_unique<dlc_engine>(std::string(path), readOptions(options)).release(); });
}

dlc_status dlc_engine_load_memory(const void *bytes, size_t size, const dlc_options *options, dlc_engine **engine) {
  *engine = nullptr;
  return guarded([&] { *engine = std::make_unique<dlc_engine>(bytes, size, readOptions(options)).release(); });
}

void dlc_engine_free(dlc_engine *engine) {
  if (engine)
    engine->awaitCalls();
  delete engine;
}

int64_t dlc_engine_input_count(const dlc_engine *engine) { return static_cast<int64_t>(engine->inputs.size()); }

int64_t dlc_engine_output_count(const dlc_engine *engine) { return static_cast<int64_t>(engine->outputs.size()); }

const dlc_tensor_type *dlc_engine_input(const dlc_engine *engine, int64_t index) { return typeAt(engine->inputs, index); }

const dlc_tensor_type *dlc_engine_output(const dlc_engine *engine, int64_t index) { return typeAt(engine->outputs, index); }

const char *dlc_engine_manifest(const dlc_engine *engine, size_t *size) {
  *size = engine->manifest.text.size();
  return engine->manifest.text.data();
}

const char *dlc_engine_target(const dlc_engine *engine) { return engine->variant().target.c_str(); }

dlc_status dlc_engine_verify(dlc_engine *engine) {
  return guarded([&] { engine->verify(); });
}

void dlc_engine_cancel(dlc_engine *engine) { dlc_cancel(&engine->cancellations); }

int64_t dlc_engine_kernel_count(const dlc_engine *engine) { return static_cast<int64_t>(engine->variant().kernels.size()); }

const char *dlc_engine_kernel(const dlc_engine *engine, int64_t row) {
  bool isThere = row >= 1 && row <= dlc_engine_kernel_count(engine);
  return isThere ? engine->variant().kernels[static_cast<size_t>(row) - 1].c_str() : nullptr;
}

int64_t dlc_engine_variant(const dlc_engine *engine) { return static_cast<int64_t>(engine->choice.variant); }

DlcGpu *dlc_engine_gpu(dlc_engine *engine) {
  DlcGpu *opened = nullptr;
  guarded([&] { opened = engine->openGpu(); });
  return opened;
}

void *dlc_engine_entry(const dlc_engine *engine) { return engine->code.begin() + engine->variant().entry; }

const void *dlc_engine_param(const dlc_engine *engine, int64_t index) {
  bool isThere = index >= 0 && static_cast<size_t>(index) < engine->params.size();
  return isThere ? reinterpret_cast<const void *>(engine->params[static_cast<size_t>(index)].descriptor[0]) : nullptr;
}

const void *dlc_engine_bytes(const dlc_engine *engine, uint64_t *size) {
  *size = engine->bytes.size;
  return engine->bytes.begin;
}

const void *dlc_engine_weights(const dlc_engine *engine) { return engine->weights; }
