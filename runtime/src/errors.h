// Inside the runtime: errors that leave a call, and places that they leave to.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dlc_runtime.h"

#include <cstdint>

struct ThreadState;

// The last error of a thread. It has a fixed size: to tell that memory has run out must need none.
struct ErrorRecord {
  DlcErrorKind kind = DLC_ERROR_INVALID;
  // Of an allocation that failed: its bytes, those that the call held, and the limit of the call (0: none).
  int64_t bytes = 0;
  int64_t used = 0;
  int64_t limit = 0;
  char message[2048] = "";
};

ErrorRecord &lastErrorRecord();

// Ends the innermost dlc_invoke or guarded body of this thread with lastErrorRecord().
[[noreturn]] void leaveByError();

// Writes an error of a call that was cancelled, and leaves.
[[noreturn]] void leaveCancelled();

// dlc_invoke on the thread of this state.
int32_t invoke(ThreadState &state, void (*entry)(void **), void **arguments);

// Runs body(context, lo, hi); whether an error left it, which lastErrorRecord() then holds. What this thread has allocated in it
// by then is freed.
bool errorLeaves(void (*body)(void *, int64_t, int64_t), void *context, int64_t lo, int64_t hi);
