// Finds the functions of NVIDIA's driver, and puts what it says into words.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.h"
#include "../errors.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>

namespace {

constexpr const char *kLibrary = "libcuda.so.1";
constexpr const char *kEnvironment = "DLC_CUDA_LIBRARY";
// CUDA Driver API: errors from here on leave a context that takes no more work (illegal address, assertion, launch failure, ...).
constexpr CuStatus kFirstSticky = 700, kLastSticky = 719;

// Loads the functions of `library`; the first that is missing is a driver that is too old.
bool loadFunctions(void *library, CudaDriver &driver) {
#define DLC_CUDA_LOAD(name, field, arguments)                                                                                    \
  driver.field = reinterpret_cast<CuStatus(*) arguments>(dlsym(library, #name));                                                 \
  if (!driver.field)                                                                                                             \
    return failWith(DLC_ERROR_WRONG_MACHINE, "the driver of the GPU is too old: it has no %s, which came with CUDA 11.4; update it", #name);
  DLC_CUDA_FUNCTIONS(DLC_CUDA_LOAD)
#undef DLC_CUDA_LOAD
#define DLC_CUDA_FIND(name, field, arguments) driver.field = reinterpret_cast<CuStatus(*) arguments>(dlsym(library, #name));
  DLC_CUDA_LATER_FUNCTIONS(DLC_CUDA_FIND)
#undef DLC_CUDA_FIND
  return true;
}

bool hasDevice(const CudaDriver &driver) {
  int count = 0;
  CuStatus status = driver.init(0);
  if (status == kNoDevice)
    return failWith(DLC_ERROR_WRONG_MACHINE, "the driver finds no GPU on this machine");
  if (!driver.succeeds(status, "be used"))
    return false;
  if (!driver.succeeds(driver.deviceGetCount(&count), "be counted"))
    return false;
  return count > 0 || failWith(DLC_ERROR_WRONG_MACHINE, "the driver finds no GPU on this machine");
}

// The drivers that were found, by file: one for all that this process does, another for tests.
std::mutex driversMutex;
std::map<std::string, CudaDriver> &drivers() {
  static auto *found = new std::map<std::string, CudaDriver>;
  return *found;
}

} // namespace

bool failWith(DlcErrorKind kind, const char *format, ...) {
  ErrorRecord &error = lastErrorRecord();
  error.kind = kind;
  error.bytes = error.used = error.limit = 0;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(error.message, sizeof error.message, format, arguments);
  va_end(arguments);
  return false;
}

bool CudaDriver::succeeds(CuStatus status, const char *what) const {
  if (status == 0)
    return true;
  const char *name = nullptr, *text = nullptr;
  errorName(status, &name);
  errorString(status, &text);
  const char *lost = status >= kFirstSticky && status <= kLastSticky ? "; it takes no more work of this process: start a new one" : "";
  return failWith(DLC_ERROR_WRONG_MACHINE, "the GPU cannot %s: %s (%s)%s", what, text ? text : "error", name ? name : "unknown", lost);
}

const CudaDriver *findDriver() {
  const char *named = std::getenv(kEnvironment);
  const char *file = named && *named ? named : kLibrary;
  std::lock_guard<std::mutex> lock(driversMutex);
  auto known = drivers().find(file);
  if (known != drivers().end())
    return hasDevice(known->second) ? &known->second : nullptr;
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    failWith(DLC_ERROR_WRONG_MACHINE, "there is no driver of NVIDIA's: %s cannot be loaded", file);
    return nullptr;
  }
  CudaDriver driver;
  if (!loadFunctions(library, driver) || !hasDevice(driver)) {
    dlclose(library);
    return nullptr;
  }
  return &drivers().emplace(file, driver).first->second;
}
