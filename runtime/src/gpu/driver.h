// Inside the runtime: NVIDIA's driver, found when a model for a GPU is loaded. No header of CUDA is needed to build.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../dlc_runtime.h"

#include <cstddef>
#include <cstdint>

using CuDevice = int;
using CuPointer = uint64_t; // an address of the GPU
using CuStatus = int;       // CUresult: 0 for success
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;

// CUtensorMap.
struct alignas(64) CuTensorMap {
  uint64_t words[16];
};

// CUDA Driver API, "Data types used by CUDA driver".
constexpr CuStatus kOutOfMemory = 2;
constexpr CuStatus kNoDevice = 100;
enum CuAttribute : int {
  kClockKilohertz = 13,
  kMultiprocessors = 16,
  kMemoryClockKilohertz = 36,
  kMemoryBusBits = 37,
  kL2Bytes = 38,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76
};

// Every function that the runtime calls: its name in the library, the field below, and its arguments.
#define DLC_CUDA_FUNCTIONS(F)                                                                                                    \
  F(cuInit, init, (unsigned))                                                                                                    \
  F(cuDriverGetVersion, driverGetVersion, (int *))                                                                               \
  F(cuDeviceGetCount, deviceGetCount, (int *))                                                                                   \
  F(cuDeviceGet, deviceGet, (CuDevice *, int))                                                                                   \
  F(cuDeviceGetName, deviceGetName, (char *, int, CuDevice))                                                                     \
  F(cuDeviceGetAttribute, deviceGetAttribute, (int *, int, CuDevice))                                                            \
  F(cuDevicePrimaryCtxRetain, primaryContextRetain, (CUctx_st * *, CuDevice))                                                    \
  F(cuDevicePrimaryCtxRelease_v2, primaryContextRelease, (CuDevice))                                                             \
  F(cuCtxPushCurrent_v2, contextPush, (CUctx_st *))                                                                              \
  F(cuCtxPopCurrent_v2, contextPop, (CUctx_st * *))                                                                              \
  F(cuMemGetInfo_v2, memoryInfo, (size_t *, size_t *))                                                                           \
  F(cuModuleLoadDataEx, moduleLoad, (CUmod_st * *, const void *, unsigned, int *, void **))                                      \
  F(cuModuleUnload, moduleUnload, (CUmod_st *))                                                                                  \
  F(cuModuleGetFunction, moduleGetFunction, (CUfunc_st * *, CUmod_st *, const char *))                                           \
  F(cuFuncSetAttribute, functionSetAttribute, (CUfunc_st *, int, int))                                                           \
  F(cuLaunchKernel, launchKernel,                                                                                                \
    (CUfunc_st *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream_st *, void **, void **))        \
  F(cuMemAlloc_v2, memoryAllocate, (CuPointer *, size_t))                                                                        \
  F(cuMemFree_v2, memoryFree, (CuPointer))                                                                                       \
  F(cuMemHostAlloc, hostAllocate, (void **, size_t, unsigned))                                                                   \
  F(cuMemFreeHost, hostFree, (void *))                                                                                           \
  F(cuMemcpyHtoDAsync_v2, copyToDevice, (CuPointer, const void *, size_t, CUstream_st *))                                        \
  F(cuMemcpyDtoHAsync_v2, copyToHost, (void *, CuPointer, size_t, CUstream_st *))                                                \
  F(cuMemcpyDtoDAsync_v2, copyOnDevice, (CuPointer, CuPointer, size_t, CUstream_st *))                                           \
  F(cuStreamCreate, streamCreate, (CUstream_st * *, unsigned))                                                                   \
  F(cuStreamDestroy_v2, streamDestroy, (CUstream_st *))                                                                          \
  F(cuStreamSynchronize, streamSynchronize, (CUstream_st *))                                                                     \
  F(cuStreamBeginCapture_v2, streamBeginCapture, (CUstream_st *, int))                                                           \
  F(cuStreamEndCapture, streamEndCapture, (CUstream_st *, CUgraph_st **))                                                        \
  F(cuGraphInstantiateWithFlags, graphInstantiate, (CUgraphExec_st * *, CUgraph_st *, unsigned long long))                       \
  F(cuGraphLaunch, graphLaunch, (CUgraphExec_st *, CUstream_st *))                                                               \
  F(cuGraphExecDestroy, graphExecDestroy, (CUgraphExec_st *))                                                                    \
  F(cuGraphDestroy, graphDestroy, (CUgraph_st *))                                                                                \
  F(cuEventCreate, eventCreate, (CUevent_st * *, unsigned))                                                                      \
  F(cuEventRecord, eventRecord, (CUevent_st *, CUstream_st *))                                                                   \
  F(cuEventElapsedTime, eventElapsedTime, (float *, CUevent_st *, CUevent_st *))                                                 \
  F(cuEventDestroy_v2, eventDestroy, (CUevent_st *))                                                                             \
  F(cuGetErrorName, errorName, (CuStatus, const char **))                                                                        \
  F(cuGetErrorString, errorString, (CuStatus, const char **))

// Functions that came later (CUDA 12.0): null in a driver without them.
#define DLC_CUDA_LATER_FUNCTIONS(F)                                                                                              \
  F(cuTensorMapEncodeTiled, tensorMapEncode,                                                                                     \
    (CuTensorMap *, int, unsigned, void *, const uint64_t *, const uint64_t *, const unsigned *, const unsigned *, int, int, int, int))

// The functions of one library, which stays loaded.
struct CudaDriver {
#define DLC_CUDA_FIELD(name, field, arguments) CuStatus(*field) arguments = nullptr;
  DLC_CUDA_FUNCTIONS(DLC_CUDA_FIELD)
  DLC_CUDA_LATER_FUNCTIONS(DLC_CUDA_FIELD)
#undef DLC_CUDA_FIELD

  // Whether the driver has done what it was asked to; else lastErrorRecord() says what it was: "the GPU cannot <what>".
  bool succeeds(CuStatus status, const char *what) const;
};

// The driver of `DLC_CUDA_LIBRARY`, else of libcuda.so.1, with a device; null where there is none: lastErrorRecord() says why.
const CudaDriver *findDriver();

// Writes lastErrorRecord() in the form of printf; false.
bool failWith(DlcErrorKind kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
