// Encodes tensor maps by the driver.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tensor_maps.h"

#include <algorithm>

namespace {

// Maps that are kept: a model has two for each product, and callers that give other memory each time have as many each time.
constexpr size_t kMostMaps = 1024;
constexpr uint64_t kMostDims = 5;
// Numbers of `form` before its sizes.
enum Form : size_t { kElement, kSwizzle, kRank, kSizes };

bool encode(const CudaDriver &driver, CuPointer address, const int64_t *form, CuTensorMap *map) {
  if (!driver.tensorMapEncode)
    return failWith(DLC_ERROR_WRONG_MACHINE,
                    "the driver of the GPU is too old: it has no cuTensorMapEncodeTiled, which came with CUDA 12.0; update it");
  const auto rank = static_cast<size_t>(form[kRank]);
  const int64_t *strides = form + kSizes + rank, *sides = strides + rank - 1;
  uint64_t sizes[kMostDims], bytes[kMostDims];
  unsigned box[kMostDims], steps[kMostDims];
  for (size_t i = 0; i < rank; ++i) {
    sizes[i] = static_cast<uint64_t>(form[kSizes + i]);
    box[i] = static_cast<unsigned>(sides[i]);
    steps[i] = 1;
    if (i + 1 < rank)
      bytes[i] = static_cast<uint64_t>(strides[i]);
  }
  // Neither interleaved nor promoted in the L2 cache, and zeros for what lies outside.
  CuStatus status = driver.tensorMapEncode(map, static_cast<int>(form[kElement]), static_cast<unsigned>(rank), reinterpret_cast<void *>(address),
                                           sizes, bytes, box, steps, 0, static_cast<int>(form[kSwizzle]), 0, 0);
  return driver.succeeds(status, "describe an array");
}

} // namespace

const CuTensorMap *TensorMaps::find(const CudaDriver &driver, CuPointer address, const int64_t *form) {
  const auto rank = static_cast<size_t>(form[kRank]);
  std::vector<uint64_t> key(form, form + kSizes + 3 * rank - 1);
  key.push_back(address);
  auto known = maps.find(key);
  if (known != maps.end())
    return &known->second;
  CuTensorMap made;
  return encode(driver, address, form, &made) ? &maps.emplace(std::move(key), made).first->second : nullptr;
}

bool TensorMaps::reset() {
  if (maps.size() <= kMostMaps)
    return true;
  maps.clear();
  return false;
}
