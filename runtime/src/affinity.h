// Inside the runtime: which processors there are, and on which of them the pool's threads run.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// How many threads a call uses by default: DLC_NUM_THREADS, else as many as there are processors that this process may use.
int defaultThreads();

// How many processors this process may use.
int usableProcessors();

// The processor that this thread runs on; -1 where the system does not tell.
int currentProcessor();

// Where a thread of the pool is bound. Each call is for the thread that makes it.
class Placement {
public:
  explicit Placement(int index) : index(index) {}
  // Follows what dlc_set_thread_affinity has said last. Without that, leaves the processor that the caller of a job runs on:
  // a busy system otherwise leaves both on one for many milliseconds.
  void update(int processorOfCaller);

private:
  int index;
  int seen = 0;
};
