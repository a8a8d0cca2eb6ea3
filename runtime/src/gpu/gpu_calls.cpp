// What compiled code calls for models on the GPU. Steps are collected; the GPU begins when the host needs a result of it.
//
// Errors leave by longjmp: no object with a destructor may be alive in these functions when they do.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../errors.h"
#include "../profile.h"
#include "../thread_state.h"
#include "gpu_model.h"

#include <algorithm>
#include <cstring>

namespace {

// What loads of kernels may take for granted of the memory of arguments, in bytes: vectors of 16 bytes.
constexpr CuPointer kArgumentAlignment = 16;

DlcGpu &current() {
  DlcGpu *gpu = threadState.gpu;
  if (gpu)
    return *gpu;
  failWith(DLC_ERROR_WRONG_MACHINE, "code for a GPU runs outside of a call; call its entry");
  leaveByError();
}

void require(bool done) {
  if (!done)
    leaveByError();
}

GpuStep stepOf(GpuStep::Kind kind) {
  GpuStep step;
  std::memset(&step, 0, sizeof step);
  step.kind = kind;
  return step;
}

GpuStep copyOf(GpuStep::Kind kind, uint64_t target, uint64_t source, uint64_t bytes) {
  GpuStep step = stepOf(kind);
  step.target = target;
  step.source = source;
  step.bytes = bytes;
  return step;
}

uint64_t wordOf(const void *address) { return reinterpret_cast<uint64_t>(address); }

CuPointer take(DlcGpu &gpu, uint64_t bytes, const char *what) {
  CuPointer address = gpu.arena.allocate(*gpu.driver, bytes, what);
  require(address != 0);
  return address;
}

void *stage(DlcGpu &gpu, uint64_t bytes) {
  void *address = gpu.staging.allocate(*gpu.driver, bytes);
  require(address != nullptr);
  return address;
}

// Copies to the GPU. The host's memory may change afterwards.
void upload(DlcGpu &gpu, CuPointer target, const void *source, uint64_t bytes) {
  if (bytes == 0)
    return;
  void *staged = stage(gpu, bytes);
  std::memcpy(staged, source, bytes);
  gpu.queue.add(copyOf(GpuStep::Upload, target, wordOf(staged), bytes));
}

// Lets the GPU do all that it was asked for, and waits.
void await(DlcGpu &gpu) {
  int64_t since = profiledTime();
  require(gpu.queue.flush(*gpu.driver, gpu.stream) && gpu.synchronize() && gpu.queue.collectCharges(*gpu.driver));
  chargeThreads(since, true);
}

bool isInput(CuPointer address) {
  const auto &inputs = gpuPlacement().inputs;
  return std::find(inputs.begin(), inputs.end(), address) != inputs.end();
}

CuPointer placeOf(int64_t result) {
  const auto &places = gpuPlacement().results;
  return result < static_cast<int64_t>(places.size()) ? places[static_cast<size_t>(result)] : 0;
}

// Memory for a result of the caller's choice, which is computed there or copied there; 0 for one that the host gets.
CuPointer placeFor(DlcGpu &gpu, int64_t result, uint64_t bytes) {
  CuPointer place = placeOf(result);
  if (place != kTakePlace)
    return place;
  CuPointer taken = gpu.arrays.allocate(*gpu.driver, bytes, gpu.weightBytes + gpu.arena.bytes(), "a result");
  require(taken != 0);
  gpuPlacement().taken.push_back(taken);
  return gpuPlacement().results[static_cast<size_t>(result)] = taken;
}

// Gives memory back that the last call took for results, and that nobody has asked for.
void giveBackTaken(DlcGpu &gpu) {
  for (CuPointer address : gpuPlacement().taken)
    gpu.arrays.release(*gpu.driver, address, false);
  gpuPlacement().taken.clear();
}

void leave(DlcGpu &gpu) {
  CUctx_st *popped = nullptr;
  gpu.driver->contextPop(&popped);
  gpuPlacement().inputs.clear();
  gpuPlacement().results.clear();
  threadState.gpu = nullptr;
  gpu.calls.unlock();
}

// Ends a call of this thread that an error has left.
void abandonGpuCall(DlcGpu &gpu) {
  ErrorRecord error = lastErrorRecord();
  gpu.queue.drop();
  gpu.driver->streamSynchronize(gpu.stream); // what has begun may use memory that the next call gets
  giveBackTaken(gpu);
  leave(gpu);
  lastErrorRecord() = error;
}

} // namespace

void dlc_gpu_begin(DlcGpu *gpu) {
  gpu->calls.lock();
  if (!gpu->driver->succeeds(gpu->driver->contextPush(gpu->context), "be used")) {
    gpu->calls.unlock();
    leaveByError();
  }
  threadState.gpu = gpu;
  threadState.abandonGpu = abandonGpuCall;
  gpu->deliveries.clear();
  gpuPlacement().delivered.assign(gpuPlacement().results.size(), 0);
  bool arenaStays = gpu->arena.reset(*gpu->driver), stagingStays = gpu->staging.reset(*gpu->driver);
  if (bool mapsStay = gpu->tensorMaps.reset(); !arenaStays || !stagingStays || !mapsStay)
    gpu->queue.forgetGraphs(*gpu->driver);
}

void dlc_gpu_finish() {
  DlcGpu &gpu = current();
  await(gpu);
  for (const DlcGpu::Delivery &each : gpu.deliveries)
    std::memcpy(each.target, each.source, each.bytes);
  leave(gpu);
}

void *dlc_gpu_take(uint64_t bytes) { return reinterpret_cast<void *>(take(current(), bytes, "a buffer of the model")); }

void *dlc_gpu_take_result(int64_t result, uint64_t bytes) {
  bool isTaken = placeOf(result) == kTakePlace;
  CuPointer place = isTaken || gpuPlacement().inPlace ? placeFor(current(), result, bytes) : 0;
  return place && place % kArgumentAlignment == 0 ? reinterpret_cast<void *>(place) : dlc_gpu_take(bytes);
}

void dlc_gpu_release(void *address) { current().arena.release(wordOf(address)); }

void *dlc_gpu_device_of(void *host, uint64_t bytes) {
  DlcGpu &gpu = current();
  auto weight = gpu.weights.find(host);
  if (weight != gpu.weights.end())
    return reinterpret_cast<void *>(weight->second.address);
  CuPointer address = wordOf(host);
  bool isThere = isInput(address);
  if (isThere && address % kArgumentAlignment == 0)
    return host;
  CuPointer copy = take(gpu, bytes, "an input");
  if (isThere)
    gpu.queue.add(copyOf(GpuStep::Copy, copy, address, bytes));
  else
    upload(gpu, copy, host, bytes);
  return reinterpret_cast<void *>(copy);
}

void *dlc_gpu_host_of(void *address, uint64_t bytes) {
  DlcGpu &gpu = current();
  if (!isInput(wordOf(address)) || bytes == 0)
    return address;
  void *staged = stage(gpu, bytes);
  gpu.queue.add(copyOf(GpuStep::Download, wordOf(staged), wordOf(address), bytes));
  await(gpu);
  return staged;
}

void dlc_gpu_upload(void *target, const void *source, uint64_t bytes) { upload(current(), wordOf(target), source, bytes); }

void dlc_gpu_download(void *target, const void *source, uint64_t bytes) {
  DlcGpu &gpu = current();
  if (bytes == 0)
    return;
  void *staged = stage(gpu, bytes);
  gpu.queue.add(copyOf(GpuStep::Download, wordOf(staged), wordOf(source), bytes));
  await(gpu);
  std::memcpy(target, staged, bytes);
}

void dlc_gpu_copy(void *target, const void *source, uint64_t bytes) {
  if (bytes)
    current().queue.add(copyOf(GpuStep::Copy, wordOf(target), wordOf(source), bytes));
}

void dlc_gpu_deliver(int64_t result, void *host, const void *source, uint64_t bytes) {
  DlcGpu &gpu = current();
  if (CuPointer place = placeFor(gpu, result, bytes)) {
    gpuPlacement().delivered[static_cast<size_t>(result)] = place;
    if (place != wordOf(source) && bytes)
      gpu.queue.add(copyOf(GpuStep::Copy, place, wordOf(source), bytes));
    return;
  }
  if (bytes == 0)
    return;
  void *staged = stage(gpu, bytes);
  gpu.queue.add(copyOf(GpuStep::Download, wordOf(staged), wordOf(source), bytes));
  gpu.deliveries.push_back({host, staged, bytes});
}

const void *dlc_gpu_tensor_map(const void *address, const int64_t *form) {
  DlcGpu &gpu = current();
  const CuTensorMap *map = gpu.tensorMaps.find(*gpu.driver, wordOf(address), form);
  require(map != nullptr);
  return map;
}

void dlc_gpu_launch(const char *kernel, const int64_t *sizes, int64_t sharedBytes, const uint64_t *arguments, int64_t count,
                    uint64_t tensorMaps) {
  DlcGpu &gpu = current();
  GpuStep step = stepOf(GpuStep::Launch);
  step.kernel = gpu.kernel(kernel);
  require(step.kernel != nullptr);
  for (int i = 0; i < 6; ++i) {
    if (sizes[i] <= 0)
      return; // no iterations
    step.sizes[i] = static_cast<uint64_t>(sizes[i]);
  }
  step.sharedBytes = static_cast<uint64_t>(sharedBytes);
  step.tensorMaps = tensorMaps;
  gpu.queue.addLaunch(step, arguments, static_cast<uint64_t>(count));
}

void dlc_gpu_charge(int64_t row) {
  GpuStep step = stepOf(GpuStep::Charge);
  step.row = row;
  current().queue.add(step);
}
