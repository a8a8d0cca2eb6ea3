// Copies between strided memrefs: dims that are contiguous in both become one memcpy.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc_runtime.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

// One loop of the copy; strides are in bytes.
struct Dim {
  int64_t size;
  int64_t sourceStride;
  int64_t targetStride;
};

// MLIR's descriptor {allocated, aligned, offset, sizes[rank], strides[rank]} of 64-bit fields, read in place.
class Descriptor {
public:
  Descriptor(const UnrankedMemRef &memref, int64_t elementSize)
      : fields(static_cast<int64_t *>(memref.descriptor)), rank(memref.rank), elementSize(elementSize) {
    static_assert(sizeof(void *) == sizeof(int64_t), "memref descriptors have 64-bit fields");
  }
  char *start() const { return reinterpret_cast<char *>(fields[1]) + fields[2] * elementSize; }
  int64_t size(int64_t dim) const { return fields[3 + dim]; }
  int64_t stride(int64_t dim) const { return fields[3 + rank + dim] * elementSize; }

private:
  const int64_t *fields;
  int64_t rank;
  int64_t elementSize;
};

// The loops of the copy, outermost first: unit dims dropped, large target strides outside, neighbours merged where
// both sides allow it.
std::vector<Dim> collapsedDims(const Descriptor &source, const Descriptor &target, int64_t rank) {
  std::vector<Dim> dims;
  for (int64_t i = 0; i < rank; ++i)
    if (source.size(i) != 1)
      dims.push_back({source.size(i), source.stride(i), target.stride(i)});
  std::stable_sort(dims.begin(), dims.end(), [](const Dim &a, const Dim &b) {
    return std::llabs(a.targetStride) > std::llabs(b.targetStride);
  });
  std::vector<Dim> merged;
  for (const Dim &inner : dims) {
    bool fits = !merged.empty() && merged.back().sourceStride == inner.sourceStride * inner.size &&
                merged.back().targetStride == inner.targetStride * inner.size;
    if (fits)
      merged.back() = {merged.back().size * inner.size, inner.sourceStride, inner.targetStride};
    else
      merged.push_back(inner);
  }
  return merged;
}

template <int64_t size> void copyElements(const Dim &dim, const char *source, char *target) {
  for (int64_t i = 0; i < dim.size; ++i)
    std::memcpy(target + i * dim.targetStride, source + i * dim.sourceStride, size);
}

void copyInnermost(const Dim &dim, const char *source, char *target, int64_t elementSize) {
  if (dim.sourceStride == elementSize && dim.targetStride == elementSize) {
    std::memcpy(target, source, static_cast<size_t>(dim.size * elementSize));
    return;
  }
  switch (elementSize) {
  case 1:
    return copyElements<1>(dim, source, target);
  case 2:
    return copyElements<2>(dim, source, target);
  case 4:
    return copyElements<4>(dim, source, target);
  case 8:
    return copyElements<8>(dim, source, target);
  }
  for (int64_t i = 0; i < dim.size; ++i)
    std::memcpy(target + i * dim.targetStride, source + i * dim.sourceStride, static_cast<size_t>(elementSize));
}

void copyDims(const Dim *dim, const Dim *last, const char *source, char *target, int64_t elementSize) {
  if (dim == last)
    return copyInnermost(*dim, source, target, elementSize);
  for (int64_t i = 0; i < dim->size; ++i)
    copyDims(dim + 1, last, source + i * dim->sourceStride, target + i * dim->targetStride, elementSize);
}

} // namespace

void memrefCopy(int64_t elementSize, UnrankedMemRef *source, UnrankedMemRef *target) {
  Descriptor from(*source, elementSize);
  Descriptor to(*target, elementSize);
  for (int64_t i = 0; i < source->rank; ++i)
    if (from.size(i) == 0)
      return;
  std::vector<Dim> dims = collapsedDims(from, to, source->rank);
  if (dims.empty())
    dims.push_back({1, elementSize, elementSize});
  copyDims(dims.data(), &dims.back(), from.start(), to.start(), elementSize);
}
