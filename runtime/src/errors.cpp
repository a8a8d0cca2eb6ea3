// Errors that compiled models find while they run: they leave the model at once and reach its caller as a message.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc_runtime.h"
#include "memory.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

// One call of dlc_invoke; calls nest when compiled code calls back.
struct Frame {
  jmp_buf place;
  Frame *outer;
  AllocationRecord allocations;
};

thread_local Frame *innermost = nullptr;
thread_local std::string lastError;

// Replaces the `{}` that comes last; names of nodes, which stand before it, may hold others.
void fillLast(std::string &message, int64_t value) {
  size_t at = message.rfind("{}");
  if (at != std::string::npos)
    message.replace(at, 2, std::to_string(value));
}

// Leaves the innermost dlc_invoke. No C++ object with a destructor may be alive in the frames that this skips.
[[noreturn]] void leave() {
  if (!innermost) {
    std::fprintf(stderr, "dlc: error: %s\n", lastError.c_str());
    std::abort();
  }
  _longjmp(innermost->place, 1);
}

} // namespace

void dlc_raise(const char *message) {
  lastError = message;
  leave();
}

void dlc_raise_dims(const char *message, int64_t left, int64_t right) {
  lastError = message;
  fillLast(lastError, right);
  fillLast(lastError, left);
  leave();
}

int32_t dlc_invoke(void (*entry)(void **), void **arguments) {
  Frame frame;
  frame.outer = innermost;
  innermost = &frame;
  frame.allocations.begin();
  // _setjmp does not save the signal mask, which would be a system call.
  int32_t failed = _setjmp(frame.place);
  if (!failed)
    entry(arguments);
  innermost = frame.outer;
  if (failed)
    frame.allocations.release();
  else
    frame.allocations.keep();
  return failed;
}

const char *dlc_last_error() { return lastError.c_str(); }
