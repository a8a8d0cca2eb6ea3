// Where the time of calls goes: nanoseconds by row, for code that was compiled to tell. Each thread has its own rows.
//
// Time is read from the time stamp counter where that runs at one rate in all states of the processor: 17 ns a charge instead of
// 30 ns with the system's clock.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile.h"
#include "dlc_runtime.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace {

using Clock = int64_t (*)();

constexpr std::chrono::milliseconds kCalibration{2};
constexpr int64_t kLeastRows = 256;

int64_t systemTicks() {
  auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

#if defined(__x86_64__)
int64_t counterTicks() { return static_cast<int64_t>(__rdtsc()); }

bool hasSteadyCounter() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}

// Nanoseconds of a tick: what the system's clock says while the counter runs.
double counterPeriod() {
  int64_t time = systemTicks(), ticks = counterTicks(), end = time;
  while (end - time < std::chrono::nanoseconds(kCalibration).count())
    end = systemTicks();
  return static_cast<double>(end - time) / static_cast<double>(counterTicks() - ticks);
}
#endif

// A clock, and nanoseconds of its tick.
struct Timer {
  Clock read = systemTicks;
  double period = 1.0;

  static Timer best() {
    Timer timer;
#if defined(__x86_64__)
    if (hasSteadyCounter()) {
      timer.read = counterTicks;
      timer.period = counterPeriod();
    }
#endif
    return timer;
  }
};

Timer &timer() {
  static Timer chosen = Timer::best();
  return chosen;
}

int64_t firstTicks();

// What a charge reads time with. The first reading chooses it.
std::atomic<Clock> clockInUse{firstTicks};

int64_t readTicks() { return clockInUse.load(std::memory_order_relaxed)(); }

int64_t firstTicks() {
  clockInUse = timer().read;
  return readTicks();
}

struct Row {
  int64_t calls;
  int64_t ticks;
};

// Plain data, so that a charge reaches it without asking whether it was constructed.
struct Profile {
  Row *rows;
  int64_t capacity;
  int64_t count;
  int64_t last;
  // Of threads: what is not yet taken off the row that is charged next, and what was.
  int64_t apart;
  Row threads;
};

thread_local Profile profile{};

// Frees the rows when the thread ends.
struct Owner {
  bool used = false;
  ~Owner() {
    if (used)
      std::free(profile.rows);
  }
};
thread_local Owner owner;

// Makes `row` one of the rows. Memory is taken for many: a call that is timed should not take any.
__attribute__((noinline, cold)) void grow(Profile &mine, int64_t row) {
  if (row >= mine.capacity) {
    int64_t capacity = std::max<int64_t>(2 * row, kLeastRows);
    auto *rows = static_cast<Row *>(std::realloc(mine.rows, static_cast<size_t>(capacity) * sizeof(Row)));
    if (!rows)
      std::abort();
    mine.rows = rows;
    mine.capacity = capacity;
    owner.used = true;
  }
  std::fill(mine.rows + mine.count, mine.rows + row + 1, Row{0, 0});
  mine.count = row + 1;
}

int64_t nanoseconds(int64_t ticks) { return static_cast<int64_t>(static_cast<double>(ticks) * timer().period + 0.5); }

} // namespace

void dlc_profile_start() {
  Profile &mine = profile;
  mine.apart = 0;
  mine.last = readTicks();
}

void dlc_profile_charge(int64_t row) {
  int64_t time = readTicks();
  Profile &mine = profile;
  if (row < 0)
    return;
  if (row >= mine.count)
    grow(mine, row);
  mine.rows[row].calls += 1;
  mine.rows[row].ticks += time - mine.last - mine.apart;
  mine.threads.ticks += mine.apart;
  mine.apart = 0;
  mine.last = time;
}

int64_t profiledTime() { return profile.count ? readTicks() : 0; }

void chargeThreads(int64_t since, bool ends) {
  Profile &mine = profile;
  if (!mine.count)
    return;
  mine.apart += readTicks() - since;
  mine.threads.calls += ends;
}

void addToProfile(int64_t row, int64_t spent) {
  if (row >= 0 && row < profile.count)
    profile.rows[row].ticks += static_cast<int64_t>(static_cast<double>(spent) / timer().period);
}

void dlc_profile_reset() {
  Profile &mine = profile;
  mine = Profile{mine.rows, mine.capacity, 0, 0, 0, {0, 0}};
}

int64_t dlc_profile_rows(int64_t *calls, int64_t *spent, int64_t capacity) {
  const Profile &mine = profile;
  for (int64_t i = 0; i < std::min(mine.count, capacity); ++i) {
    calls[i] = mine.rows[i].calls;
    spent[i] = nanoseconds(mine.rows[i].ticks);
  }
  return mine.count;
}

int64_t dlc_profile_threads(int64_t *calls) {
  *calls = profile.threads.calls;
  return nanoseconds(profile.threads.ticks);
}

double dlc_profile_cost(int64_t pairs) {
  Profile kept = profile;
  profile = Profile{};
  void (*volatile charge)(int64_t) = dlc_profile_charge; // as compiled code calls it: through a pointer
  charge(1);
  int64_t begin = readTicks();
  for (int64_t i = 0; i < pairs; ++i) {
    charge(0);
    charge(1);
  }
  int64_t ticks = readTicks() - begin;
  std::free(profile.rows);
  profile = kept;
  return static_cast<double>(ticks) * timer().period / static_cast<double>(2 * std::max<int64_t>(pairs, 1));
}

void dlc_profile_use_clock(int64_t (*clock)()) {
  timer() = clock ? Timer{clock, 1.0} : Timer::best();
  clockInUse = timer().read;
}
