// Calls of a compiled model as its session prepares them: the entry, its threads, and memory for its results.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc_runtime.h"
#include "thread_pool.h"

#include <algorithm>
#include <mutex>
#include <string>

namespace {

// Calls that threads share, and the message of the first that failed.
struct Batch {
  const DlcCall *const *calls;
  int64_t count;
  int32_t *failed;
  std::mutex mutex;
  int64_t first;
  std::string message;
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
      batch.message = dlc_last_error();
    }
  }
}

// For dlc_invoke: makes a message this thread's last one.
void raiseMessage(void **message) { dlc_raise(static_cast<const char *>(*message)); }

// The call that this thread is in, for dlc_result_memory.
thread_local const DlcCall *open = nullptr;

} // namespace

int32_t dlc_call(const DlcCall *call) {
  const DlcCall *outer = open;
  int threads = dlc_set_num_threads(static_cast<int>(call->threads));
  open = call;
  enterCall();
  int32_t failed = dlc_invoke(call->entry, call->arguments);
  leaveCall();
  open = outer;
  dlc_set_num_threads(threads);
  return failed;
}

int64_t dlc_call_many(const DlcCall *const *calls, int64_t count, int64_t threads, int32_t *failed) {
  Batch batch{calls, count, failed, {}, count, {}};
  int before = dlc_set_num_threads(static_cast<int>(threads));
  if (count < dlc_num_threads())
    runBatch(&batch, 0, count);
  else
    dlc_parallel_for(runBatch, &batch, count);
  dlc_set_num_threads(before);
  if (batch.first < count) {
    void *message = batch.message.data();
    dlc_invoke(raiseMessage, &message);
  }
  return count - std::count(failed, failed + count, 0);
}

void *dlc_result_memory(int64_t index, uint64_t size) {
  if (open && index < open->resultCount) {
    const DlcMemory &given = open->results[index];
    if (given.address && given.size == size)
      return given.address;
  }
  return _mlir_memref_to_llvm_alloc(size);
}
