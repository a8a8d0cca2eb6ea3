// Aligned memory for compiled models, with statistics that tests use to find leaks.
//
// Large blocks that are freed are kept for the next call: memory that is new to the process costs a page fault every 4 KiB,
// 0.25 us each. What is kept and what is in use never exceed, together, the most that was in use at once.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory.h"
#include "dlc_runtime.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include <pthread.h>

// Sits right before the bytes handed out; one that is recorded is in the list of its record.
struct BlockHeader {
  void *block;
  uint64_t size;
  // Bytes from the start on that the block really has; 0 for one that is not kept when freed.
  uint64_t capacity;
  AllocationRecord *record;
  BlockHeader *previous;
  BlockHeader *next;

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

std::atomic<int64_t> liveBytes{0};
std::atomic<int64_t> peakBytes{0};
thread_local AllocationRecord *openRecord = nullptr;

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

// A block from the system with room for `capacity` bytes; null when there is none.
BlockHeader *newBlock(uint64_t alignment, uint64_t capacity) {
  uint64_t total = capacity + alignment + sizeof(BlockHeader);
  void *block = total < capacity ? nullptr : std::malloc(total);
  if (!block)
    return nullptr;
  uintptr_t first = reinterpret_cast<uintptr_t>(block) + sizeof(BlockHeader);
  uintptr_t start = (first + alignment - 1) & ~static_cast<uintptr_t>(alignment - 1);
  BlockHeader *header = BlockHeader::of(reinterpret_cast<void *>(start));
  header->block = block;
  return header;
}

// The large blocks of the process: those in use are counted, those freed are kept for a while.
class LargeBlocks {
public:
  BlockHeader *take(uint64_t alignment, uint64_t size) {
    std::vector<void *> leaving;
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (BlockHeader *found = takeKept(alignment, size))
        return found;
      used += size;
      mostUsed = std::max(mostUsed, used);
      shrinkTo(mostUsed - used, leaving);
    }
    freeAll(leaving);
    BlockHeader *header = newBlock(alignment, size);
    if (!header)
      failAllocation(size);
    header->capacity = size;
    return header;
  }

  void give(BlockHeader *header) {
    std::vector<void *> leaving;
    {
      std::lock_guard<std::mutex> lock(mutex);
      used -= header->capacity;
      kept.push_back(header);
      keptBytes += header->capacity;
      shrinkTo(std::min(mostUsed - used, kMostKept), leaving);
    }
    freeAll(leaving);
  }

  void trim() {
    std::vector<void *> leaving;
    {
      std::lock_guard<std::mutex> lock(mutex);
      mostUsed = used;
      shrinkTo(0, leaving);
    }
    freeAll(leaving);
  }

  int64_t idle() {
    std::lock_guard<std::mutex> lock(mutex);
    return static_cast<int64_t>(keptBytes);
  }

  void lock() { mutex.lock(); }
  void unlock() { mutex.unlock(); }

private:
  // The smallest kept block that fits, the one freed last among equals: it is the likeliest to be in a processor's cache.
  BlockHeader *takeKept(uint64_t alignment, uint64_t size) {
    size_t best = kept.size();
    for (size_t i = kept.size(); i-- > 0;) {
      uint64_t capacity = kept[i]->capacity;
      bool fits = capacity >= size && capacity - size <= capacity / kWorstFit;
      if (!fits || reinterpret_cast<uintptr_t>(kept[i]->start()) % alignment != 0)
        continue;
      if (best == kept.size() || capacity < kept[best]->capacity)
        best = i;
    }
    if (best == kept.size())
      return nullptr;
    BlockHeader *found = kept[best];
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(best));
    keptBytes -= found->capacity;
    used += found->capacity;
    mostUsed = std::max(mostUsed, used);
    return found;
  }

  // Drops the blocks that were freed first until at most `bytes` are kept.
  void shrinkTo(uint64_t bytes, std::vector<void *> &leaving) {
    size_t count = 0;
    for (; count < kept.size() && keptBytes > bytes; ++count) {
      keptBytes -= kept[count]->capacity;
      leaving.push_back(kept[count]->block);
    }
    kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count));
  }

  static void freeAll(const std::vector<void *> &blocks) {
    for (void *block : blocks)
      std::free(block);
  }

  std::mutex mutex;
  std::vector<BlockHeader *> kept;
  uint64_t keptBytes = 0;
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
  if (header->capacity)
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
}

void BlockHeader::leave() {
  if (!record)
    return;
  (previous ? previous->next : record->first) = next;
  if (next)
    next->previous = previous;
}

void AllocationRecord::begin() {
  first = nullptr;
  outer = openRecord;
  openRecord = this;
}

void AllocationRecord::close() { openRecord = outer; }

void AllocationRecord::keep() {
  close();
  for (BlockHeader *header = first; header; header = header->next)
    header->record = nullptr;
}

void AllocationRecord::release() {
  close();
  while (BlockHeader *header = first) {
    first = header->next;
    freeBlock(header);
  }
}

void *_mlir_memref_to_llvm_aligned_alloc(uint64_t alignment, uint64_t size) {
  bool isLarge = size >= kPageAlignedFrom;
  alignment = std::max(alignment, isLarge ? kPageAlignment : kVectorAlignment);
  BlockHeader *header = isLarge ? largeBlocks().take(alignment, size) : newBlock(alignment, size);
  if (!header)
    failAllocation(size);
  if (!isLarge)
    header->capacity = 0;
  header->size = size;
  header->enter(openRecord);
  recordAllocation(size);
  return header->start();
}

void *_mlir_memref_to_llvm_alloc(uint64_t size) { return _mlir_memref_to_llvm_aligned_alloc(kVectorAlignment, size); }

void _mlir_memref_to_llvm_free(void *pointer) {
  if (!pointer)
    return;
  BlockHeader *header = BlockHeader::of(pointer);
  header->leave();
  freeBlock(header);
}

int64_t dlc_memory_live() { return liveBytes.load(); }

int64_t dlc_memory_peak() { return peakBytes.load(); }

void dlc_memory_reset_peak() { peakBytes.store(liveBytes.load()); }

int64_t dlc_memory_idle() { return largeBlocks().idle(); }

void dlc_memory_trim() { largeBlocks().trim(); }
