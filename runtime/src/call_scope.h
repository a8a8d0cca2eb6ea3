// Inside the runtime: what one call of a model may allocate, and whether somebody wants it to end.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

struct DlcCall;

// Where a call takes its memory from, if not from the process: functions that threads may call at the same time.
struct DlcAllocator {
  void *(*allocate)(void *user, size_t bytes) = nullptr;
  void (*release)(void *user, void *memory) = nullptr;
  void *user = nullptr;
};

// Shared by the threads that work for a call.
struct CallScope {
  // Bytes that the call may hold at once; 0 for no bound.
  int64_t limit = 0;
  // Null for the process's memory. It must live as long as the blocks that it gave.
  const DlcAllocator *allocator = nullptr;
  // Counts the cancellations of the model; null where it has none.
  const std::atomic<int64_t> *cancellations = nullptr;
  // The count when the call began.
  int64_t cancellationsBefore = 0;
  std::atomic<int64_t> used{0};
  // What the entry computes now, for messages.
  const char *nodes = "the model";
  // Kernels begun so far, and when signals are looked at next, in nanoseconds (0: not yet known).
  uint32_t kernelsBegun = 0;
  int64_t nextLook = 0;

  bool isCancelled() const { return cancellations && cancellations->load(std::memory_order_relaxed) != cancellationsBefore; }
};

// dlc_call with memory of `allocator`; null for the process's.
int32_t callWith(const DlcCall &call, const DlcAllocator *allocator);
