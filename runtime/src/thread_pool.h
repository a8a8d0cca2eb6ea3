// Inside the runtime: the pool knows how many threads are in calls of models, to give them no more helpers than processors.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

struct ThreadState;

// Around each call of a model; calls nest on a thread.
void enterCall(ThreadState &state);
void leaveCall(ThreadState &state);
