// Calls of a compiled model as its session prepares them: the entry, its threads, and memory for its results.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "call_scope.h"
#include "dlc_runtime.h"
#include "errors.h"
#include "interrupts.h"
#include "memory.h"
#include "thread_pool.h"
#include "thread_state.h"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace {

// Calls that threads share, and the error of the first that failed.
struct Batch {
  const DlcCall *const *calls;
  int64_t count;
  int32_t *failed;
  std::mutex mutex;
  int64_t first;
  ErrorRecord error;
};

void runBatch(void *context, int64_t lo, int64_t hi) {
  Batch &batch = *static_cast<Batch *>(context);
  for (int64_t i = lo; i < hi; ++i) {
    batch.failed[i] = dlc_call(batch.calls[i]);
    if (!batch.failed[i])
      continue;
    std::lock_guard<std::mutex> lock(batch.mutex);
    if (i < batch.first) {
      batch.first = i;
      batch.error = lastErrorRecord();
    }
  }
}

// Cancellations in this process so far: while there are none, a look at one number tells that no call was cancelled.
std::atomic<int64_t> cancellations{0};

// The bytes of the memory that was given for results, which count for the limit.
uint64_t givenBytes(const DlcCall &call) {
  uint64_t bytes = 0;
  for (int64_t i = 0; i < call.resultCount; ++i)
    bytes += call.results[i].size;
  return bytes;
}

bool mayBegin(const DlcCall &call, CallScope &scope) {
  if (call.limit == 0)
    return true;
  uint64_t given = givenBytes(call);
  bool fits = fitsLimit(scope, given);
  scope.used.store(static_cast<int64_t>(given), std::memory_order_relaxed);
  return fits;
}

} // namespace

__thread ThreadState threadState;

int32_t callWith(const DlcCall &call, const DlcAllocator *allocator) {
  ThreadState &state = threadState;
  const DlcCall *outer = state.call;
  CallScope *outerScope = state.scope;
  int outerThreads = state.threadSetting;
  CallScope scope;
  scope.limit = call.limit;
  scope.allocator = allocator;
  scope.cancellations = call.cancellations;
  if (scope.cancellations)
    scope.cancellationsBefore = scope.cancellations->load(std::memory_order_relaxed);
  state.threadSetting = std::max(static_cast<int>(call.threads), 0);
  state.call = &call;
  state.scope = &scope;
  enterCall(state);
  int32_t failed = mayBegin(call, scope) ? invoke(state, call.entry, call.arguments) : 1;
  if (failed && state.gpu)
    state.abandonGpu(*state.gpu);
  leaveCall(state);
  state.scope = outerScope;
  state.call = outer;
  state.threadSetting = outerThreads;
  return failed;
}

int32_t dlc_call(const DlcCall *call) { return callWith(*call, nullptr); }

void dlc_cancel(std::atomic<int64_t> *model) {
  model->fetch_add(1);
  cancellations.fetch_add(1);
}

void dlc_begin_kernel(const char *nodes) {
  CallScope *scope = threadState.scope;
  if (!scope)
    return;
  scope->nodes = nodes;
  if (__builtin_expect(cancellations.load(std::memory_order_relaxed) != 0, 0) && scope->isCancelled())
    leaveCancelled();
  if (__builtin_expect(isInterrupted(*scope), 0))
    leaveCancelled();
}

int64_t dlc_call_many(const DlcCall *const *calls, int64_t count, int64_t threads, int32_t *failed) {
  Batch batch{calls, count, failed, {}, count, {}};
  int before = dlc_set_num_threads(static_cast<int>(threads));
  if (count < dlc_num_threads())
    runBatch(&batch, 0, count);
  else
    dlc_parallel_for(runBatch, &batch, count);
  dlc_set_num_threads(before);
  if (batch.first < count)
    lastErrorRecord() = batch.error;
  return count - std::count(failed, failed + count, 0);
}

void *dlc_result_memory(int64_t index, uint64_t size) {
  const DlcCall *call = threadState.call;
  if (!call || index >= call->resultCount)
    return allocateFor(size, "a result");
  const DlcMemory &given = call->results[index];
  return given.address && given.size == size ? given.address : allocateFor(size, given.name);
}
