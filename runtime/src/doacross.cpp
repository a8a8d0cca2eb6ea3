// dlc_doacross: rows of a loop nest on several threads, each behind the row before it, column by column.
//
// Threads take rows in order. A row tells how far it is by the number of the last column that it has finished; the row behind
// waits for that. The row in front waits for nobody, so rows always go on, however few threads join.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc_runtime.h"
#include "errors.h"
#include "processor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

namespace {

using Body = void (*)(void *, int64_t, int64_t);

constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
// Looks before a waiting thread offers its processor to others: some 20 us.
constexpr int kLooks = 1000;

struct alignas(64) Progress {
  std::atomic<int64_t> column{kNone};
};

// The row that a thread is in; outside of rows, and with one thread, nobody waits.
struct Row {
  Progress *own = nullptr;
  Progress *before = nullptr;
  // As far as the row before is known to be.
  int64_t seen = kAll;
};

thread_local Row row;

void await(int64_t column) {
  for (int looks = 0; row.seen < column; ++looks) {
    row.seen = row.before->column.load(std::memory_order_acquire);
    if (row.seen >= column)
      return;
    if (looks < kLooks)
      spinHint();
    else
      std::this_thread::yield();
  }
}

class Nest {
public:
  Nest(Body body, void *context, int64_t rows, int64_t threads)
      : body(body), context(context), rows(rows), size(threads + 2), progress(new (std::nothrow) Progress[static_cast<size_t>(size)]) {}

  // Whether there was memory for it.
  bool isReady() const { return progress != nullptr; }

  // Whether an error left a row, which lastErrorRecord() then holds; after all rows have ended.
  bool failed() const {
    if (hasFailed.load())
      lastErrorRecord() = error;
    return hasFailed.load();
  }

  // Takes rows until there are none.
  void work() {
    Row outer = row;
    for (int64_t at = next.fetch_add(1); at < rows; at = next.fetch_add(1))
      run(at);
    row = outer;
  }

private:
  // At most as many rows as threads are under way, all behind each other: their places in `progress` are free again by then.
  Progress &place(int64_t at) { return progress[static_cast<size_t>(at % size)]; }

  void run(int64_t at) {
    row = at > 0 ? Row{&place(at), &place(at - 1), kNone} : Row{&place(0), nullptr, kAll};
    // After an error the rows that follow only tell those behind them to go on.
    if (!hasFailed.load(std::memory_order_relaxed) && errorLeaves(body, context, at, at + 1))
      keepError();
    // The rows before may have columns that this one has not, and a later one has.
    await(kAll);
    if (at > 0)
      place(at - 1).column.store(kNone, std::memory_order_relaxed);
    drainStores();
    row.own->column.store(kAll, std::memory_order_release);
  }

  void keepError() {
    std::lock_guard<std::mutex> lock(errorMutex);
    if (!hasFailed.load())
      error = lastErrorRecord();
    hasFailed.store(true);
  }

  Body body;
  void *context;
  int64_t rows;
  int64_t size;
  std::unique_ptr<Progress[]> progress;
  std::atomic<int64_t> next{0};
  std::atomic<bool> hasFailed{false};
  std::mutex errorMutex;
  ErrorRecord error;
};

void work(void *nest, int64_t, int64_t) { static_cast<Nest *>(nest)->work(); }

} // namespace

// Whether an error left a row.
static bool runRows(Body body, void *context, int64_t rows, int64_t threads) {
  if (threads > 1) {
    Nest nest(body, context, rows, threads);
    if (nest.isReady()) {
      dlc_parallel_for(work, &nest, threads);
      return nest.failed();
    }
  }
  Row outer = row;
  row = Row{};
  bool failed = errorLeaves(body, context, 0, rows);
  row = outer;
  return failed;
}

void dlc_doacross(Body body, void *context, int64_t rows) {
  if (rows > 0 && runRows(body, context, rows, std::min<int64_t>(rows, dlc_num_threads())))
    leaveByError();
}

void dlc_await_column(int64_t column) {
  if (row.seen < column)
    await(column);
}

void dlc_finish_column(int64_t column) {
  if (!row.own)
    return;
  drainStores();
  row.own->column.store(column, std::memory_order_release);
}
