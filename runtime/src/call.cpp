// One call of a compiled model as its session prepares it: the entry, its threads, and memory for its results.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc_runtime.h"
#include "thread_pool.h"

namespace {

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

void *dlc_result_memory(int64_t index, uint64_t size) {
  if (open && index < open->resultCount) {
    const DlcMemory &given = open->results[index];
    if (given.address && given.size == size)
      return given.address;
  }
  return _mlir_memref_to_llvm_alloc(size);
}
