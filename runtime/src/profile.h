// What the pool of threads tells the profile of the thread that calls it.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

// The time in ticks, 0 for a thread without a profile.
int64_t profiledTime();

// Takes what has passed since `since` (a profiledTime()) off the row that is charged next: it goes to the threads. `ends` counts one.
void chargeThreads(int64_t since, bool ends);

// Adds to a row of this thread, which has been charged, what something else than this thread took.
void addToProfile(int64_t row, int64_t nanoseconds);
