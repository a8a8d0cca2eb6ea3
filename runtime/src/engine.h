// Inside the runtime: an engine that is loaded.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "code_image.h"
#include "dlc_runtime.h"
#include "engine_choice.h"
#include "engine_manifest.h"
#include "mapped_file.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

// A tensor of the signature as C programs see it, and what its pointers point at.
struct TensorType {
  explicit TensorType(const TensorEntry &entry);

  const TensorEntry &entry;
  std::vector<const char *> names;
  std::string label;
  dlc_tensor_type type;
};

// A memref descriptor of a parameter, and a pointer to it: the tables of entries hold addresses of such.
struct ParamRecord {
  std::vector<int64_t> descriptor;
  int64_t *pointer = nullptr;
};

struct dlc_engine {
  dlc_engine(const std::string &path, const dlc_options &options);
  dlc_engine(const void *memory, size_t size, const dlc_options &options);

  const VariantEntry &variant() const { return manifest.variants[choice.variant]; }
  // Of a variant for a GPU: its kernels in the form that this one runs.
  const KernelsEntry &kernels() const { return variant().kernelForms[choice.kernels]; }
  // EngineError where the weights are damaged.
  void verify();
  // The model on the GPU, whose driver gets the kernels at the first call of this; null for code of processors alone.
  DlcGpu *openGpu();
  // Lets the weights be on the GPU, for calls from C.
  void bindWeights();

  // `name` is for messages.
  std::string name;
  MappedFile file;
  MappedFile weightsFile;
  EngineBytes bytes;
  EngineManifest manifest;
  VariantChoice choice;
  Pages code;
  const uint8_t *weights = nullptr;
  std::deque<TensorType> inputs;
  std::deque<TensorType> outputs;
  std::vector<ParamRecord> params;
  int64_t threads = 0;
  int64_t limit = 0;
  std::atomic<int64_t> cancellations{0};

  // Counts calls, so that the engine outlives them.
  void enter();
  void leave();
  void awaitCalls();

private:
  void load(const dlc_options &options);
  void openWeights(const dlc_options &options);
  void describe();
  // Gives the driver the kernels in the chosen form. False where it refuses that and there is another; `refusals` tells why, and of
  // earlier forms, too. EngineError where there is none, or something else is wrong.
  bool openKernels(std::string &refusals);

  std::mutex mutex;
  std::condition_variable isIdle;
  int64_t running = 0;
  std::mutex verifying;
  std::atomic<bool> isVerified{false};

  struct CloseGpu {
    void operator()(DlcGpu *opened) const { dlc_gpu_close(opened); }
  };
  std::mutex opening;
  std::unique_ptr<DlcGpu, CloseGpu> gpu;
  bool isBound = false;
};

// The error `status` with `message` as the last one of this thread.
dlc_status noteError(dlc_status status, const std::string &message);

// Runs `body`, which may throw; its error becomes the last one of this thread, and its status the result.
template <typename Body> dlc_status guarded(Body body) {
  try {
    body();
    return DLC_OK;
  } catch (const EngineError &error) {
    return noteError(error.status, error.message);
  } catch (const std::bad_alloc &) {
    return noteError(DLC_OUT_OF_MEMORY, "out of memory");
  }
}
