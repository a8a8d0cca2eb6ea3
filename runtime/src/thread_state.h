// Inside the runtime: all that it knows of a thread, in one place, since finding a variable of a thread takes a call.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

class AllocationRecord;
struct CallScope;
struct DlcCall;
struct DlcGpu;
struct ErrorFrame;

struct ThreadState {
  // The call that this thread works for; null outside of calls.
  CallScope *scope;
  // The call that this thread has begun, for dlc_result_memory.
  const DlcCall *call;
  // Where errors leave to.
  ErrorFrame *innermost;
  // Who owns what is allocated.
  AllocationRecord *openRecord;
  // More than zero while this thread runs a body: calls from there run inline.
  int bodiesRunning;
  // What dlc_set_num_threads was told; 0 for the default.
  int threadSetting;
  // Calls of models that this thread is in.
  int callDepth;
  // The model on a GPU that this thread is in a call of.
  DlcGpu *gpu;
  // Ends that call where an error has left it; set with `gpu`, since programs without models on GPUs do without its code.
  void (*abandonGpu)(DlcGpu &);
};

// Not thread_local: what other files declare so is looked up through a function that asks whether it is initialised.
extern __thread ThreadState threadState;
