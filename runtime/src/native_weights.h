// Inside the runtime: weights of models in native code.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dlc/native_model.h"

#include <cstddef>
#include <cstdint>

// Weights in the code, or mapped from their file, which are given back with the object.
struct MappedWeights {
  MappedWeights() = default;
  MappedWeights(const MappedWeights &) = delete;
  MappedWeights &operator=(const MappedWeights &) = delete;
  ~MappedWeights();

  // A dlc_status. `path` may be null: the name that the file was written with.
  int32_t open(const dlc_native_model &model, const char *path);

  const uint8_t *begin = nullptr;

private:
  void *pages = nullptr;
  size_t mapped = 0;
};

// Writes the message of an error of this thread and returns its status.
__attribute__((format(printf, 2, 3))) int32_t fail(int32_t status, const char *format, ...);
