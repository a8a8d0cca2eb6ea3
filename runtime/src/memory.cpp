// Aligned memory for compiled models, with statistics that tests use to find leaks.
//
// Large blocks come from those that are kept when they are freed (large_blocks.h), others from the C library.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory.h"
#include "call_scope.h"
#include "dlc_runtime.h"
#include "errors.h"
#include "large_blocks.h"
#include "system_memory.h"
#include "thread_state.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

// Sits right before the bytes handed out; one that is recorded is in the list of its record.
struct BlockHeader {
  // What is freed; null for a large block.
  void *block;
  uint64_t size;
  AllocationRecord *record;
  BlockHeader *previous;
  BlockHeader *next;
  // Who gave the block; null for the process.
  const DlcAllocator *allocator;

  void *start() { return this + 1; }
  static BlockHeader *of(void *start) { return static_cast<BlockHeader *>(start) - 1; }
  void enter(AllocationRecord *owner);
  void leave();
};

namespace {

constexpr uint64_t kVectorAlignment = 64;
// Buffers whose starts differ by 64 to 256 bytes modulo 4096 make loads wait for unrelated stores: an elementwise kernel
// took 78 us at +64 bytes against 52 us on page boundaries.
constexpr uint64_t kPageAlignment = 4096;
constexpr uint64_t kPageAlignedFrom = 64 * 1024;

std::atomic<int64_t> liveBytes{0};
std::atomic<int64_t> peakBytes{0};

void recordAllocation(uint64_t size) {
  int64_t live = liveBytes.fetch_add(static_cast<int64_t>(size)) + static_cast<int64_t>(size);
  int64_t peak = peakBytes.load();
  while (live > peak && !peakBytes.compare_exchange_weak(peak, live)) {
  }
}

// Allocations until the one that fails, for tests; negative: none fails.
std::atomic<int64_t> allocationsUntilFailure{-1};

bool failsOnPurpose() {
  if (allocationsUntilFailure.load(std::memory_order_relaxed) < 0)
    return false;
  return allocationsUntilFailure.fetch_sub(1) == 0;
}

// A block with room for `size` bytes, of the large ones, the C library, or `allocator`; null when there is none.
BlockHeader *newBlock(uint64_t alignment, uint64_t size, bool isLarge, const DlcAllocator *allocator) {
  uint64_t total = size + alignment + sizeof(BlockHeader);
  void *block = nullptr, *start = nullptr;
  if (isLarge && !allocator)
    start = largeBlocks().take(alignment, size);
  else if (total >= size)
    block = allocator ? allocator->allocate(allocator->user, total) : std::malloc(total);
  if (block)
    start = reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(block) + sizeof(BlockHeader) + alignment - 1) &
                                     ~static_cast<uintptr_t>(alignment - 1));
  if (!start)
    return nullptr;
  BlockHeader *header = BlockHeader::of(start);
  header->block = block;
  header->size = size;
  header->allocator = allocator;
  return header;
}

void freeBlock(BlockHeader *header) {
  liveBytes.fetch_sub(static_cast<int64_t>(header->size));
  if (header->allocator)
    header->allocator->release(header->allocator->user, header->block);
  else if (!header->block)
    largeBlocks().give(header->start());
  else
    std::free(header->block);
}

} // namespace

void BlockHeader::enter(AllocationRecord *owner) {
  record = owner;
  if (!owner)
    return;
  previous = nullptr;
  next = owner->first;
  if (next)
    next->previous = this;
  owner->first = this;
  if (owner->scope)
    owner->scope->used.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed);
}

void BlockHeader::leave() {
  if (!record)
    return;
  (previous ? previous->next : record->first) = next;
  if (next)
    next->previous = previous;
  if (record->scope)
    record->scope->used.fetch_sub(static_cast<int64_t>(size), std::memory_order_relaxed);
}

void AllocationRecord::begin(ThreadState &state) {
  first = nullptr;
  outer = state.openRecord;
  scope = state.scope;
  state.openRecord = this;
}

void AllocationRecord::keep(ThreadState &state) {
  state.openRecord = outer;
  for (BlockHeader *header = first; header; header = header->next)
    header->record = nullptr;
}

void AllocationRecord::release(ThreadState &state) {
  state.openRecord = outer;
  while (BlockHeader *header = first) {
    header->leave();
    freeBlock(header);
  }
}

namespace {

bool exceedsLimit(const CallScope *scope, uint64_t size) {
  if (!scope || scope->limit == 0)
    return false;
  return scope->used.load(std::memory_order_relaxed) + static_cast<__int128>(size) > scope->limit;
}

// Writes the error of an allocation of `size` more bytes for `what`.
void describeFailure(const CallScope *scope, uint64_t size, const char *what) {
  ErrorRecord &error = lastErrorRecord();
  error.kind = DLC_ERROR_OUT_OF_MEMORY;
  error.bytes = static_cast<int64_t>(std::min<uint64_t>(size, INT64_MAX));
  error.used = scope ? scope->used.load(std::memory_order_relaxed) : 0;
  error.limit = exceedsLimit(scope, size) ? scope->limit : 0;
  if (size > static_cast<uint64_t>(INT64_MAX))
    std::snprintf(error.message, sizeof error.message, "%s: its bytes are more than 64 bits can count", what);
  else if (error.limit)
    std::snprintf(error.message, sizeof error.message, "%s: %llu bytes, and the call holds %lld of the %lld that it may", what,
                  static_cast<unsigned long long>(size), static_cast<long long>(error.used), static_cast<long long>(error.limit));
  else
    std::snprintf(error.message, sizeof error.message, "%s: %llu bytes, which the system does not have; the call holds %lld", what,
                  static_cast<unsigned long long>(size), static_cast<long long>(error.used));
}

// Null when there is no memory, or the call may have no more.
void *tryAllocate(uint64_t alignment, uint64_t size) {
  bool isLarge = size >= kPageAlignedFrom;
  // A block that fills a huge page begins with one: fewer steps find its addresses.
  alignment = std::max(alignment, size >= kHugePage ? kHugePage : isLarge ? kPageAlignment : kVectorAlignment);
  const ThreadState &state = threadState;
  if (exceedsLimit(state.scope, size) || failsOnPurpose())
    return nullptr;
  const DlcAllocator *allocator = state.scope ? state.scope->allocator : nullptr;
  BlockHeader *header = newBlock(alignment, size, isLarge, allocator);
  if (!header)
    return nullptr;
  header->enter(state.openRecord);
  recordAllocation(size);
  return header->start();
}

void *allocateOrLeave(uint64_t alignment, uint64_t size, const char *what) {
  void *memory = tryAllocate(alignment, size);
  if (memory)
    return memory;
  describeFailure(threadState.scope, size, what);
  leaveByError();
}

} // namespace

void *allocateFor(uint64_t size, const char *what) { return allocateOrLeave(kVectorAlignment, size, what); }

bool fitsLimit(const CallScope &scope, uint64_t results) {
  bool fits = !exceedsLimit(&scope, results);
  if (!fits)
    describeFailure(&scope, results, "results");
  return fits;
}

void *_mlir_memref_to_llvm_aligned_alloc(uint64_t alignment, uint64_t size) {
  return allocateOrLeave(alignment, size, threadState.scope ? threadState.scope->nodes : "the model");
}

void *_mlir_memref_to_llvm_alloc(uint64_t size) { return _mlir_memref_to_llvm_aligned_alloc(kVectorAlignment, size); }

void *dlc_allocate(uint64_t size, const char *what) { return allocateFor(size, what); }

void *dlc_try_allocate(uint64_t alignment, uint64_t size) { return tryAllocate(alignment, size); }

void _mlir_memref_to_llvm_free(void *pointer) {
  if (!pointer)
    return;
  BlockHeader *header = BlockHeader::of(pointer);
  header->leave();
  freeBlock(header);
}

int64_t dlc_fail_allocation(int64_t count) { return allocationsUntilFailure.exchange(count); }

int64_t dlc_memory_live() { return liveBytes.load(); }

int64_t dlc_memory_peak() { return peakBytes.load(); }

void dlc_memory_reset_peak() { peakBytes.store(liveBytes.load()); }

int64_t dlc_memory_idle() { return largeBlocks().idle(); }

void dlc_memory_trim() { largeBlocks().trim(); }
