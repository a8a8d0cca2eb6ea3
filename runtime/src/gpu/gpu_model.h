// Inside the runtime: a model's code on the GPU, its weights there, and what a call of it needs.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "device_memory.h"
#include "launch_queue.h"
#include "tensor_maps.h"

#include <mutex>
#include <unordered_map>
#include <vector>

// A model for the first GPU. Calls of several threads run one after the other, on one stream.
struct DlcGpu {
  const CudaDriver *driver = nullptr;
  CuDevice device = 0;
  CUctx_st *context = nullptr;
  CUmod_st *module = nullptr;
  CUstream_st *stream = nullptr;
  std::recursive_mutex calls; // handlers of signals may run in a call, and end sessions of the model

  // The rest belongs to the call that holds `calls`.
  std::unordered_map<const char *, CUfunc_st *> kernels; // by the address of the name in compiled code
  ArrayMemory arrays; // has a lock of its own
  DeviceArena arena{arrays};
  StagingMemory staging;
  LaunchQueue queue;
  TensorMaps tensorMaps;
  struct Delivery {
    void *target; // the host's
    const void *source;
    uint64_t bytes;
  };
  std::vector<Delivery> deliveries; // from pinned memory, once the GPU is done

  // Arrays of the host that are on the GPU for good.
  struct Weight {
    CuPointer address;
    uint64_t bytes;
    int64_t users;
  };
  std::unordered_map<const void *, Weight> weights;
  uint64_t weightBytes = 0;

  // Loads code; false with lastErrorRecord(). `isRefused` is set where the driver takes no code of this form.
  bool open(const void *image, bool &isRefused);
  void close();
  bool bind(const void *host, uint64_t bytes);
  void unbind(const void *host);
  CUfunc_st *kernel(const char *name);
  // Waits for all that was asked of the GPU.
  bool synchronize();
};

// As dlc_gpu_open, and sets `isRefused` where the driver takes no code of this form, while it may take another.
DlcGpu *openModel(const void *image, bool &isRefused);

// Where arrays of the next call of this thread lie, if not with the host: inputs on the GPU, and memory there for results (0: none,
// kTakePlace: the call takes it).
struct GpuPlacement {
  std::vector<CuPointer> inputs, results;
  bool inPlace = false;
  // Of the last call: where each result lies, 0 for one that the host got; and memory that it took, until somebody asks for that.
  std::vector<CuPointer> delivered, taken;
};
constexpr CuPointer kTakePlace = 1;
GpuPlacement &gpuPlacement();
