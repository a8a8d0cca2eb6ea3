// Errors that compiled models find while they run: they leave the model at once and reach its caller as a message.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "errors.h"
#include "call_scope.h"
#include "dlc_runtime.h"
#include "memory.h"
#include "thread_state.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// One place that errors leave to; places nest when compiled code calls back, and where bodies run inside of bodies.
struct ErrorFrame {
  jmp_buf place;
  ErrorFrame *outer;
  AllocationRecord allocations;
};

namespace {

thread_local ErrorRecord lastError;

void setMessage(const char *message) {
  lastError.kind = DLC_ERROR_INVALID;
  std::snprintf(lastError.message, sizeof lastError.message, "%s", message);
}

char *lastPlaceholder(char *text) {
  char *found = nullptr;
  for (char *at = std::strstr(text, "{}"); at; at = std::strstr(at + 1, "{}"))
    found = at;
  return found;
}

// Replaces the `{}` that comes last; names of nodes, which stand before it, may hold others.
void fillLast(int64_t value) {
  char *at = lastPlaceholder(lastError.message);
  if (!at)
    return;
  char tail[sizeof lastError.message];
  std::snprintf(tail, sizeof tail, "%lld%s", static_cast<long long>(value), at + 2);
  std::snprintf(at, sizeof lastError.message - static_cast<size_t>(at - lastError.message), "%s", tail);
}

void open(ErrorFrame &frame, ThreadState &state) {
  frame.outer = state.innermost;
  state.innermost = &frame;
  frame.allocations.begin(state);
}

bool close(ErrorFrame &frame, ThreadState &state, bool failed) {
  state.innermost = frame.outer;
  if (failed)
    frame.allocations.release(state);
  else
    frame.allocations.keep(state);
  return failed;
}

} // namespace

ErrorRecord &lastErrorRecord() { return lastError; }

// No C++ object with a destructor may be alive in the frames that this skips.
void leaveByError() {
  ErrorFrame *innermost = threadState.innermost;
  if (!innermost) {
    std::fprintf(stderr, "dlc: error: %s\n", lastError.message);
    std::abort();
  }
  _longjmp(innermost->place, 1);
}

void leaveCancelled() {
  std::snprintf(lastError.message, sizeof lastError.message, "the call was cancelled before %s", threadState.scope ? threadState.scope->nodes : "its end");
  lastError.kind = DLC_ERROR_CANCELLED;
  leaveByError();
}

bool errorLeaves(void (*body)(void *, int64_t, int64_t), void *context, int64_t lo, int64_t hi) {
  ThreadState &state = threadState;
  ErrorFrame frame;
  open(frame, state);
  // _setjmp does not save the signal mask, which would be a system call.
  bool failed = _setjmp(frame.place) != 0;
  if (!failed)
    body(context, lo, hi);
  return close(frame, state, failed);
}

void dlc_raise(const char *message) {
  setMessage(message);
  leaveByError();
}

void dlc_raise_dims(const char *message, int64_t left, int64_t right) {
  setMessage(message);
  fillLast(right);
  fillLast(left);
  leaveByError();
}

int32_t invoke(ThreadState &state, void (*entry)(void **), void **arguments) {
  ErrorFrame frame;
  open(frame, state);
  bool failed = _setjmp(frame.place) != 0;
  if (!failed)
    entry(arguments);
  return close(frame, state, failed);
}

int32_t dlc_invoke(void (*entry)(void **), void **arguments) { return invoke(threadState, entry, arguments); }

const char *dlc_last_error() { return lastError.message; }

void dlc_last_error_facts(int64_t *facts) {
  facts[0] = lastError.kind;
  facts[1] = lastError.bytes;
  facts[2] = lastError.used;
  facts[3] = lastError.limit;
}
