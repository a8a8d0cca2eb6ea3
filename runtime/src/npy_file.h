// Inside the runtime: arrays in files of NumPy's format .npy, versions 1 to 3.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dlc/native_model.h"

#include <cstdint>
#include <string>
#include <vector>

// An array that was read. `fault` is why it could not be, empty if it was.
struct NpyArray {
  std::string fault;
  std::vector<int64_t> sizes;
  // The elements, row-major, from an address on that any type is aligned at.
  std::vector<uint64_t> memory;
};

// Reads an array for a tensor: its type and rank must be the tensor's.
NpyArray readNpy(const std::string &path, const dlc_native_tensor &tensor);

// Writes one; why it could not be written, or nothing.
std::string writeNpy(const std::string &path, const dlc_native_tensor &tensor, const int64_t *sizes, const void *data, uint64_t bytes);
