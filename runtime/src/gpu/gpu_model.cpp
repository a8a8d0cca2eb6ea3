// Models on the GPU: loading and closing them, and their weights.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpu_model.h"
#include "../errors.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>

namespace {

constexpr size_t kLogBytes = 4096;
// CU_JIT_ERROR_LOG_BUFFER and its size: what the driver's compiler says of PTX that it refuses.
constexpr int kErrorLog = 5, kErrorLogBytes = 6;
// CU_STREAM_NON_BLOCKING: it does not wait for the default stream of others.
constexpr unsigned kNonBlocking = 1;

// Lets calls of the driver on this thread mean the context while it lives.
class Current {
public:
  Current(const CudaDriver &driver, CUctx_st *context) : driver(driver) { isSet = driver.succeeds(driver.contextPush(context), "be used"); }
  ~Current() {
    CUctx_st *popped = nullptr;
    if (isSet)
      driver.contextPop(&popped);
  }
  Current(const Current &) = delete;
  bool isSet;

private:
  const CudaDriver &driver;
};

// What the driver says of code that is none for it, while other code may be: CUDA_ERROR_INVALID_IMAGE, NO_BINARY_FOR_GPU, INVALID_PTX,
// JIT_COMPILER_NOT_FOUND, UNSUPPORTED_PTX_VERSION, JIT_COMPILATION_DISABLED and INVALID_SOURCE.
constexpr CuStatus kRefusals[] = {200, 209, 218, 221, 222, 223, 300};

bool loadModule(const CudaDriver &driver, const void *image, CUmod_st **module, bool &isRefused) {
  char log[kLogBytes] = "";
  int options[] = {kErrorLog, kErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(kLogBytes)};
  CuStatus status = driver.moduleLoad(module, image, 2, options, values);
  if (driver.succeeds(status, "load the code"))
    return true;
  isRefused = std::find(std::begin(kRefusals), std::end(kRefusals), status) != std::end(kRefusals);
  std::replace(log, log + kLogBytes, '\n', ' ');
  size_t used = std::strlen(lastErrorRecord().message);
  if (log[0])
    std::snprintf(lastErrorRecord().message + used, sizeof lastErrorRecord().message - used, "; its compiler says: %s", log);
  return false;
}

} // namespace

bool DlcGpu::open(const void *image, bool &isRefused) {
  driver = findDriver();
  if (!driver || !driver->succeeds(driver->deviceGet(&device, 0), "be opened"))
    return false;
  if (!driver->succeeds(driver->primaryContextRetain(&context, device), "be opened"))
    return false;
  Current current(*driver, context);
  return current.isSet && loadModule(*driver, image, &module, isRefused) &&
         driver->succeeds(driver->streamCreate(&stream, kNonBlocking), "make a stream");
}

void DlcGpu::close() {
  if (!context)
    return;
  {
    Current current(*driver, context);
    if (stream)
      driver->streamSynchronize(stream);
    queue.close(*driver);
    arena.close(*driver);
    arrays.trim(*driver);
    staging.close(*driver);
    for (const auto &weight : weights)
      driver->memoryFree(weight.second.address);
    weights.clear();
    if (stream)
      driver->streamDestroy(stream);
    if (module)
      driver->moduleUnload(module);
  }
  driver->primaryContextRelease(device);
  context = nullptr;
}

bool DlcGpu::bind(const void *host, uint64_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(calls);
  auto known = weights.find(host);
  int64_t users = known == weights.end() ? 0 : known->second.users;
  if (users && known->second.bytes >= bytes) {
    ++known->second.users;
    return true;
  }
  Current current(*driver, context);
  CuPointer address = current.isSet ? allocateOnDevice(*driver, arrays, bytes, weightBytes + arena.bytes(), "weights") : 0;
  if (address == 0)
    return false;
  bool copied = bytes == 0 || driver->succeeds(driver->copyToDevice(address, host, bytes, stream), "take weights");
  if (!copied || !synchronize()) {
    driver->memoryFree(address);
    return false;
  }
  if (users) { // a part of it
    queue.forgetGraphs(*driver);
    driver->memoryFree(known->second.address);
    weightBytes -= known->second.bytes;
  }
  weights[host] = {address, bytes, users + 1};
  weightBytes += bytes;
  return true;
}

void DlcGpu::unbind(const void *host) {
  std::lock_guard<std::recursive_mutex> lock(calls);
  auto known = weights.find(host);
  if (known == weights.end() || --known->second.users > 0)
    return;
  Current current(*driver, context);
  queue.forgetGraphs(*driver); // they may read there
  driver->memoryFree(known->second.address);
  weightBytes -= known->second.bytes;
  weights.erase(known);
}

CUfunc_st *DlcGpu::kernel(const char *name) {
  auto known = kernels.find(name);
  if (known != kernels.end())
    return known->second;
  CUfunc_st *found = nullptr;
  if (!driver->succeeds(driver->moduleGetFunction(&found, module, name), "find a kernel of the model"))
    return nullptr;
  kernels[name] = found;
  return found;
}

bool DlcGpu::synchronize() { return driver->succeeds(driver->streamSynchronize(stream), "finish the model"); }

GpuPlacement &gpuPlacement() {
  static thread_local GpuPlacement placement;
  return placement;
}

DlcGpu *dlc_gpu_open(const void *image) {
  bool isRefused = false;
  return openModel(image, isRefused);
}

DlcGpu *openModel(const void *image, bool &isRefused) {
  auto gpu = std::make_unique<DlcGpu>();
  if (gpu->open(image, isRefused))
    return gpu.release();
  ErrorRecord error = lastErrorRecord(); // closing may fail, too
  gpu->close();
  lastErrorRecord() = error;
  return nullptr;
}

void dlc_gpu_close(DlcGpu *gpu) {
  gpu->close();
  delete gpu;
}

uint64_t dlc_gpu_stream(const DlcGpu *gpu) { return reinterpret_cast<uint64_t>(gpu->stream); }

int32_t dlc_gpu_bind(DlcGpu *gpu, const void *host, uint64_t bytes) { return !gpu->bind(host, bytes); }

void dlc_gpu_unbind(DlcGpu *gpu, const void *host) { gpu->unbind(host); }

void dlc_gpu_place(const uint64_t *inputs, int64_t inputCount, const uint64_t *results, int64_t resultCount, int32_t inPlace) {
  gpuPlacement().inputs.assign(inputs, inputs + inputCount);
  gpuPlacement().results.assign(results, results + resultCount);
  gpuPlacement().inPlace = inPlace;
}

void dlc_gpu_delivered(uint64_t *places, int64_t count) {
  auto &delivered = gpuPlacement().delivered;
  delivered.resize(static_cast<size_t>(count));
  std::copy(delivered.begin(), delivered.end(), places);
  gpuPlacement().taken.clear();
}

uint64_t dlc_gpu_allocate(DlcGpu *gpu, uint64_t bytes, const char *what) {
  Current current(*gpu->driver, gpu->context);
  return current.isSet ? gpu->arrays.allocate(*gpu->driver, bytes, gpu->weightBytes, what) : 0;
}

void dlc_gpu_free(DlcGpu *gpu, uint64_t address, int32_t isShared) {
  Current current(*gpu->driver, gpu->context);
  gpu->arrays.release(*gpu->driver, address, isShared);
}

int32_t dlc_gpu_read(DlcGpu *gpu, void *target, uint64_t source, uint64_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(gpu->calls);
  Current current(*gpu->driver, gpu->context);
  bool done = current.isSet && gpu->driver->succeeds(gpu->driver->copyToHost(target, source, bytes, gpu->stream), "give data");
  return !(done && gpu->synchronize());
}

int32_t dlc_gpu_write(DlcGpu *gpu, uint64_t target, const void *source, uint64_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(gpu->calls);
  Current current(*gpu->driver, gpu->context);
  bool done = current.isSet && gpu->driver->succeeds(gpu->driver->copyToDevice(target, source, bytes, gpu->stream), "take data");
  return !(done && gpu->synchronize());
}

int32_t dlc_gpu_facts(int64_t *facts, char *name, int64_t size) {
  const CudaDriver *driver = findDriver();
  CuDevice device = 0;
  if (!driver || !driver->succeeds(driver->deviceGet(&device, 0), "be opened"))
    return 1;
  int version = 0;
  name[0] = 0;
  driver->deviceGetName(name, static_cast<int>(size), device);
  driver->driverGetVersion(&version);
  facts[0] = version;
  const int asked[] = {kCapabilityMajor, kCapabilityMinor, kMultiprocessors, kClockKilohertz, kMemoryClockKilohertz, kMemoryBusBits, kL2Bytes};
  int64_t *next = facts + 1;
  for (int attribute : asked) {
    int value = 0;
    driver->deviceGetAttribute(&value, attribute, device);
    *next++ = value;
  }
  return 0;
}
