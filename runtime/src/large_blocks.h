// Inside the runtime: large blocks of memory, which are kept when they are freed.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <mutex>

// A stretch of a mapping: a header, right before the bytes that it is for, and these bytes.
struct Span;

// The free spans, in the order in which they became free, by links in their headers: to keep one takes no memory.
class FreeSpans {
public:
  Span *oldest = nullptr;
  Span *newest = nullptr;
  // The bytes of all that are in memory.
  uint64_t resident = 0;

  void add(Span *span);
  void remove(Span *span);
};

// The large blocks of the process, by best fit: a request takes the beginning of the smallest free span that holds it, and spans
// side by side in a mapping become one when both are free. What is free and in memory never exceeds, with what is in use, the most
// that was in use at once by more than a quarter: beyond that the spans that were freed first go back to the system.
class LargeBlocks {
public:
  // The start of a block, a multiple of `alignment`, which is a power of two, and of a page; null when there is no memory left.
  void *take(uint64_t alignment, uint64_t size);
  // Frees the block that starts there.
  void give(void *start);
  // Gives back all that is free.
  void trim();
  // Bytes that are free and in memory.
  int64_t idle();

  void lock() { mutex.lock(); }
  void unlock() { mutex.unlock(); }

private:
  Span *bestFit(uint64_t alignment, uint64_t size) const;
  Span *newSpan(uint64_t alignment, uint64_t size);
  void use(Span *span, uint64_t size);
  uint64_t mostHeld() const;
  void keepAtMost(uint64_t most);

  std::mutex mutex;
  FreeSpans free;
  uint64_t used = 0;
  uint64_t mostUsed = 0;
};

LargeBlocks &largeBlocks();
