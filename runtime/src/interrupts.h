// Inside the runtime: signals that Python has received while a call runs.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "call_scope.h"

// Whether a handler of Python's that a signal asked for wants the call of `scope` to end by an exception (Ctrl-C does). It is looked
// at ten times a second, on Python's main thread; the exception is raised there once the call is left.
bool isInterrupted(CallScope &scope);
