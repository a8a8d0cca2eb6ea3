// Aligned memory for compiled models, with statistics that tests use to find leaks.
//
// Large blocks that are freed are kept for the next call: memory that is new to the process costs a page fault every 4 KiB,
// 0.25 us each. What is kept and what is in use never exceed, together, the most that was in use at once.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory.h"
#include "call_scope.h"
#include "dlc_runtime.h"
#include "errors.h"
#include "system_memory.h"
#include "thread_state.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include <pthread.h>

// Sits right before the bytes handed out; one that is recorded is in the list of its record, one that is kept in that of the kept.
struct BlockHeader {
  void *block;
  uint64_t size;
  // Bytes from the start on that the block really has; 0 for one that is not kept when freed.
  uint64_t capacity;
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
// A kept block serves requests down to this part of its capacity.
constexpr uint64_t kWorstFit = 4;
// What is kept beyond this goes back to the system, oldest first, however much was in use before.
constexpr uint64_t kMostKept = uint64_t{1} << 30;

// From here on an allocation asks the system first what it has left, which takes 30 us: a hundredth of what its pages take.
constexpr uint64_t kAsksFrom = 64 * 1024 * 1024;
// What the system is left with.
constexpr uint64_t kReserve = 64 * 1024 * 1024;

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

// A block from the system, or from `allocator`, with room for `capacity` bytes; null when there is none.
BlockHeader *newBlock(uint64_t alignment, uint64_t capacity, const DlcAllocator *allocator = nullptr) {
  uint64_t total = capacity + alignment + sizeof(BlockHeader);
  void *block = nullptr;
  if (total >= capacity)
    block = allocator ? allocator->allocate(allocator->user, total) : std::malloc(total);
  if (!block)
    return nullptr;
  uintptr_t first = reinterpret_cast<uintptr_t>(block) + sizeof(BlockHeader);
  uintptr_t start = (first + alignment - 1) & ~static_cast<uintptr_t>(alignment - 1);
  BlockHeader *header = BlockHeader::of(reinterpret_cast<void *>(start));
  header->block = block;
  header->allocator = allocator;
  return header;
}

// Blocks in the order in which they were freed, by the links of their headers: to keep a block takes no memory.
class KeptBlocks {
public:
  BlockHeader *last() const { return newest; }

  void add(BlockHeader *header) {
    header->previous = newest;
    header->next = nullptr;
    (newest ? newest->next : oldest) = header;
    newest = header;
    bytes += header->capacity;
  }

  void remove(BlockHeader *header) {
    (header->previous ? header->previous->next : oldest) = header->next;
    (header->next ? header->next->previous : newest) = header->previous;
    bytes -= header->capacity;
  }

  // Takes out the blocks that were freed first until at most `most` bytes are left: a chain by `next`.
  BlockHeader *removeDownTo(uint64_t most) {
    BlockHeader *chain = nullptr;
    while (oldest && bytes > most) {
      BlockHeader *leaving = oldest;
      remove(leaving);
      leaving->next = chain;
      chain = leaving;
    }
    return chain;
  }

  uint64_t bytes = 0;

private:
  BlockHeader *oldest = nullptr;
  BlockHeader *newest = nullptr;
};

void freeChain(BlockHeader *header) {
  while (header) {
    BlockHeader *next = header->next;
    std::free(header->block);
    header = next;
  }
}

// The large blocks of the process: those in use are counted, those freed are kept for a while.
class LargeBlocks {
public:
  // Null when there is no memory left.
  BlockHeader *take(uint64_t alignment, uint64_t size) {
    BlockHeader *leaving = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (BlockHeader *found = takeKept(alignment, size))
        return found;
      leaving = kept.removeDownTo(mostUsed > used + size ? mostUsed - used - size : 0);
    }
    freeChain(leaving);
    BlockHeader *header = newLargeBlock(alignment, size);
    if (!header)
      return nullptr;
    adviseHugePages(header->start(), size);
    header->capacity = size;
    std::lock_guard<std::mutex> lock(mutex);
    used += size;
    mostUsed = std::max(mostUsed, used);
    return header;
  }

  void give(BlockHeader *header) {
    BlockHeader *leaving = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex);
      used -= header->capacity;
      kept.add(header);
      leaving = kept.removeDownTo(std::min(mostUsed - used, kMostKept));
    }
    freeChain(leaving);
  }

  void trim() {
    BlockHeader *leaving = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex);
      mostUsed = used;
      leaving = kept.removeDownTo(0);
    }
    freeChain(leaving);
  }

  int64_t idle() {
    std::lock_guard<std::mutex> lock(mutex);
    return static_cast<int64_t>(kept.bytes);
  }

  void lock() { mutex.lock(); }
  void unlock() { mutex.unlock(); }

private:
  // A block from the system, which gets those back that are kept before there is none.
  BlockHeader *newLargeBlock(uint64_t alignment, uint64_t size) {
    if (BlockHeader *header = newBlockIfLeft(alignment, size))
      return header;
    trim();
    return newBlockIfLeft(alignment, size);
  }

  static BlockHeader *newBlockIfLeft(uint64_t alignment, uint64_t size) {
    if (size >= kAsksFrom && !isLeft(size))
      return nullptr;
    return newBlock(alignment, size);
  }

  static bool isLeft(uint64_t size) {
    uint64_t available = availableMemory();
    return size <= available && available - size >= kReserve;
  }

  // The smallest kept block that fits, the one freed last among equals: it is the likeliest to be in a processor's cache.
  BlockHeader *takeKept(uint64_t alignment, uint64_t size) {
    BlockHeader *best = nullptr;
    for (BlockHeader *header = kept.last(); header; header = header->previous) {
      uint64_t capacity = header->capacity;
      bool fits = capacity >= size && capacity - size <= capacity / kWorstFit;
      if (!fits || reinterpret_cast<uintptr_t>(header->start()) % alignment != 0)
        continue;
      if (!best || capacity < best->capacity)
        best = header;
    }
    if (!best)
      return nullptr;
    kept.remove(best);
    used += best->capacity;
    mostUsed = std::max(mostUsed, used);
    return best;
  }

  std::mutex mutex;
  KeptBlocks kept;
  uint64_t used = 0;
  uint64_t mostUsed = 0;
};

// Never destroyed: arrays that outlive the library's destructors still give their memory back.
LargeBlocks &largeBlocks() {
  static LargeBlocks *blocks = [] {
    auto *made = new LargeBlocks;
    // A fork while another thread holds the lock would leave it locked in the child.
    pthread_atfork([] { largeBlocks().lock(); }, [] { largeBlocks().unlock(); }, [] { largeBlocks().unlock(); });
    return made;
  }();
  return *blocks;
}

void freeBlock(BlockHeader *header) {
  liveBytes.fetch_sub(static_cast<int64_t>(header->size));
  if (header->allocator)
    header->allocator->release(header->allocator->user, header->block);
  else if (header->capacity)
    largeBlocks().give(header);
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
  bool isKept = isLarge && !allocator;
  BlockHeader *header = isKept ? largeBlocks().take(alignment, size) : newBlock(alignment, size, allocator);
  if (!header)
    return nullptr;
  if (!isKept)
    header->capacity = 0;
  header->size = size;
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
