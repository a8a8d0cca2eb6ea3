// Large blocks of memory, which are kept for the next call when they are freed: memory that is new to the process costs a page
// fault every 4 KiB, 0.25 us each. Spans are split and joined, so that the blocks of different kernels use the same memory.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "large_blocks.h"
#include "system_memory.h"

#include <algorithm>
#include <utility>

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

struct Span {
  // Of the bytes behind the header.
  uint64_t size;
  // Of a free span: how many of them are in memory, as far as that is known.
  uint64_t resident;
  // In the mapping.
  Span *before;
  Span *after;
  // Among the free ones.
  Span *older;
  Span *newer;
  // The mapping, which begins before its first span where that is aligned.
  void *mapping;
  uint64_t mapped;
  bool isFree;
  // Of a free span: whether any of it may be in memory.
  bool isTouched;

  char *start();
  static Span *at(char *address, uint64_t size, void *mapping, uint64_t mapped);
  static Span *of(void *start);
  // Makes the rest beyond `first` bytes a span of its own, which is free, too.
  Span *split(uint64_t first);
  // Takes in the span after it.
  void join();
  bool isWholeMapping() const { return !before && !after; }
};

namespace {

constexpr uint64_t kPage = 4096;
// What lies before the bytes of a span: a page, so that they begin with one.
constexpr uint64_t kHeader = kPage;
static_assert(sizeof(Span) + 256 <= kHeader, "the header of the block lies behind that of the span");
// A rest that is smaller stays with the block: no request is.
constexpr uint64_t kLeastRest = 64 * 1024;
// What is free beyond this goes back to the system, however much was in use before.
constexpr uint64_t kMostKept = uint64_t{1} << 30;
// What is in use and what is free may be, together, by one part of so many more than the most that was in use: rests between blocks.
constexpr uint64_t kRests = 4;

// A mapping has room for one part of so many more than is asked for, which takes addresses alone: sizes that grow from call to call
// then find a span that holds them.
constexpr uint64_t kRoom = 4;

// From here on an allocation asks the system first what it has left, which takes 30 us: a hundredth of what its pages take.
constexpr uint64_t kAsksFrom = 64 * 1024 * 1024;
// What the system is left with.
constexpr uint64_t kReserve = 64 * 1024 * 1024;

char *roundedUp(char *address, uint64_t alignment) {
  return reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(address) + alignment - 1) & ~static_cast<uintptr_t>(alignment - 1));
}

bool isLeft(uint64_t size) {
  uint64_t available = availableMemory();
  return size <= available && available - size >= kReserve;
}

// A span of `size` bytes with a mapping of its own; null when there is none to be had.
Span *newMapping(uint64_t alignment, uint64_t size) {
  uint64_t total = kHeader + size + (alignment > kPage ? alignment : 0);
  void *mapping = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return nullptr;
  char *start = roundedUp(static_cast<char *>(mapping) + kHeader, std::max(alignment, kPage));
  return Span::at(start - kHeader, size, mapping, total);
}

// One of at least `size` bytes.
Span *newMappingWithRoom(uint64_t alignment, uint64_t size) {
  if (size >= kAsksFrom && !isLeft(size))
    return nullptr;
  uint64_t room = size / kRoom / kPage * kPage;
  Span *span = room >= kHeader + kLeastRest ? newMapping(alignment, size + room) : nullptr;
  if (!span)
    span = newMapping(alignment, size);
  if (span)
    adviseHugePages(span->start(), size);
  return span;
}

// Gives the memory of a free span back to the system, but keeps its addresses.
void discard(Span *span) {
  static const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  char *first = roundedUp(span->start(), page);
  char *end = roundedUp(span->start() + span->size - page + 1, page);
  if (end > first)
    madvise(first, static_cast<size_t>(end - first), MADV_DONTNEED);
  span->resident = 0;
  span->isTouched = false;
}

} // namespace

char *Span::start() { return reinterpret_cast<char *>(this) + kHeader; }

Span *Span::of(void *start) { return reinterpret_cast<Span *>(static_cast<char *>(start) - kHeader); }

Span *Span::at(char *address, uint64_t size, void *mapping, uint64_t mapped) {
  auto *span = reinterpret_cast<Span *>(address);
  *span = {size, 0, nullptr, nullptr, nullptr, nullptr, mapping, mapped, false, false};
  return span;
}

Span *Span::split(uint64_t first) {
  Span *rest = at(start() + first, size - first - kHeader, mapping, mapped);
  rest->isFree = true;
  rest->isTouched = isTouched;
  // As if what is in memory came first, as it does in a new mapping.
  rest->resident = resident > first + kHeader ? std::min(resident - first - kHeader, rest->size) : 0;
  rest->before = this;
  rest->after = after;
  if (after)
    after->before = rest;
  after = rest;
  size = first;
  return rest;
}

void Span::join() {
  Span *absorbed = after;
  size += kHeader + absorbed->size;
  resident += kHeader + absorbed->resident;
  isTouched = true;
  after = absorbed->after;
  if (after)
    after->before = this;
}

void FreeSpans::add(Span *span) {
  span->isFree = true;
  span->older = newest;
  span->newer = nullptr;
  (newest ? newest->newer : oldest) = span;
  newest = span;
  resident += span->resident;
}

void FreeSpans::remove(Span *span) {
  (span->older ? span->older->newer : oldest) = span->newer;
  (span->newer ? span->newer->older : newest) = span->older;
  resident -= span->resident;
  span->isFree = false;
}

void *LargeBlocks::take(uint64_t alignment, uint64_t size) {
  if (size > UINT64_MAX / 2)
    return nullptr;
  size = (size + kPage - 1) / kPage * kPage;
  std::lock_guard<std::mutex> guard(mutex);
  Span *span = bestFit(alignment, size);
  if (span)
    free.remove(span);
  else
    span = newSpan(alignment, size);
  if (!span)
    return nullptr;
  use(span, size);
  return span->start();
}

void LargeBlocks::give(void *start) {
  std::lock_guard<std::mutex> guard(mutex);
  Span *span = Span::of(start);
  used -= span->size;
  span->resident = span->size;
  span->isTouched = true;
  if (span->after && span->after->isFree) {
    free.remove(span->after);
    span->join();
  }
  if (span->before && span->before->isFree) {
    span = span->before;
    free.remove(span);
    span->join();
  }
  free.add(span);
  keepAtMost(std::min(mostHeld() - used, kMostKept));
}

uint64_t LargeBlocks::mostHeld() const { return mostUsed + mostUsed / kRests; }

void LargeBlocks::trim() {
  std::lock_guard<std::mutex> guard(mutex);
  mostUsed = used;
  keepAtMost(0);
}

int64_t LargeBlocks::idle() {
  std::lock_guard<std::mutex> guard(mutex);
  return static_cast<int64_t>(free.resident);
}

// The smallest of those that are in memory for the most part, else of all; the one freed last among equals, which is the likeliest to
// be in a processor's cache.
Span *LargeBlocks::bestFit(uint64_t alignment, uint64_t size) const {
  Span *best = nullptr;
  auto rank = [size](const Span *span) { return std::make_pair(span->resident < size - size / kRoom, span->size); };
  for (Span *span = free.newest; span; span = span->older) {
    bool fits = span->size >= size && reinterpret_cast<uintptr_t>(span->start()) % alignment == 0;
    if (fits && (!best || rank(span) < rank(best)))
      best = span;
  }
  return best;
}

// A span of new memory, in place of the free one that would be too much with it. Where the system has none, it gets back what is
// free first.
Span *LargeBlocks::newSpan(uint64_t alignment, uint64_t size) {
  uint64_t most = std::max(mostHeld(), used + size);
  keepAtMost(most - used - size);
  if (Span *span = newMappingWithRoom(alignment, size))
    return span;
  mostUsed = used;
  keepAtMost(0);
  return newMappingWithRoom(alignment, size);
}

// Marks the first `size` bytes of a span as in use; a rest that can serve another request stays free.
void LargeBlocks::use(Span *span, uint64_t size) {
  if (span->size - size >= kHeader + kLeastRest)
    free.add(span->split(size));
  used += span->size;
  mostUsed = std::max(mostUsed, used);
  keepAtMost(mostHeld() - used);
}

// Gives free memory back, first freed first, until at most `most` bytes of it are left.
void LargeBlocks::keepAtMost(uint64_t most) {
  for (Span *span = free.oldest; span && free.resident > most;) {
    Span *newer = span->newer;
    if (span->isWholeMapping()) {
      free.remove(span);
      munmap(span->mapping, span->mapped);
    } else if (span->isTouched) {
      free.resident -= span->resident;
      discard(span);
    }
    span = newer;
  }
}

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
