// Where the time of calls goes: nanoseconds by row, for code that was compiled to tell. Each thread has its own rows.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc_runtime.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace {

struct Row {
  int64_t calls = 0;
  int64_t nanoseconds = 0;
};

thread_local std::vector<Row> rows;
thread_local int64_t last = 0;

int64_t now() {
  auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

} // namespace

void dlc_profile_start() { last = now(); }

void dlc_profile_charge(int64_t row) {
  int64_t time = now();
  if (row < 0)
    return;
  if (static_cast<size_t>(row) >= rows.size())
    rows.resize(static_cast<size_t>(row) + 1);
  rows[static_cast<size_t>(row)].calls += 1;
  rows[static_cast<size_t>(row)].nanoseconds += time - last;
  last = time;
}

void dlc_profile_reset() { rows.clear(); }

int64_t dlc_profile_rows(int64_t *calls, int64_t *nanoseconds, int64_t capacity) {
  int64_t count = static_cast<int64_t>(rows.size());
  for (int64_t i = 0; i < std::min(count, capacity); ++i) {
    calls[i] = rows[static_cast<size_t>(i)].calls;
    nanoseconds[i] = rows[static_cast<size_t>(i)].nanoseconds;
  }
  return count;
}
