// Inside the runtime: the tensor maps of a model, by which TMA copies from memory of the GPU.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "driver.h"

#include <map>
#include <vector>

// Maps by what they describe: each is encoded once, and stays where it is until a call begins that finds too many.
class TensorMaps {
public:
  // The map of memory at `address` (see dlc_gpu_tensor_map); null with lastErrorRecord().
  const CuTensorMap *find(const CudaDriver &driver, CuPointer address, const int64_t *form);
  // Begins a call. Whether all maps stay where they were.
  bool reset();

private:
  std::map<std::vector<uint64_t>, CuTensorMap> maps;
};
