// Aligned memory for compiled models, with statistics that tests use to find leaks.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc_runtime.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr uint64_t kVectorAlignment = 64;
// Buffers whose starts differ by 64 to 256 bytes modulo 4096 make loads wait for unrelated stores: an elementwise kernel
// took 78 us at +64 bytes against 52 us on page boundaries.
constexpr uint64_t kPageAlignment = 4096;
constexpr uint64_t kPageAlignedFrom = 64 * 1024;

// Sits right before the bytes handed out.
struct Header {
  void *block;
  uint64_t size;
};

std::atomic<int64_t> liveBytes{0};
std::atomic<int64_t> peakBytes{0};

void recordAllocation(uint64_t size) {
  int64_t live = liveBytes.fetch_add(static_cast<int64_t>(size)) + static_cast<int64_t>(size);
  int64_t peak = peakBytes.load();
  while (live > peak && !peakBytes.compare_exchange_weak(peak, live)) {
  }
}

[[noreturn]] void failAllocation(uint64_t size) {
  std::fprintf(stderr, "dlc: error: out of memory: cannot allocate %llu bytes\n", static_cast<unsigned long long>(size));
  std::abort();
}

} // namespace

void *_mlir_memref_to_llvm_aligned_alloc(uint64_t alignment, uint64_t size) {
  alignment = std::max(alignment, size >= kPageAlignedFrom ? kPageAlignment : kVectorAlignment);
  uint64_t total = size + alignment + sizeof(Header);
  void *block = total < size ? nullptr : std::malloc(total);
  if (!block)
    failAllocation(size);
  uintptr_t first = reinterpret_cast<uintptr_t>(block) + sizeof(Header);
  uintptr_t start = (first + alignment - 1) & ~static_cast<uintptr_t>(alignment - 1);
  reinterpret_cast<Header *>(start)[-1] = Header{block, size};
  recordAllocation(size);
  return reinterpret_cast<void *>(start);
}

void *_mlir_memref_to_llvm_alloc(uint64_t size) { return _mlir_memref_to_llvm_aligned_alloc(kVectorAlignment, size); }

void _mlir_memref_to_llvm_free(void *pointer) {
  if (!pointer)
    return;
  Header header = static_cast<Header *>(pointer)[-1];
  liveBytes.fetch_sub(static_cast<int64_t>(header.size));
  std::free(header.block);
}

int64_t dlc_memory_live() { return liveBytes.load(); }

int64_t dlc_memory_peak() { return peakBytes.load(); }

void dlc_memory_reset_peak() { peakBytes.store(liveBytes.load()); }
