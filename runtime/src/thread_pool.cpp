// dlc_parallel_for: one pool of threads that spin for a moment, then sleep, shared by all callers.
//
// A call takes a ParallelCall, publishes its range there, works on it and waits for those that have joined. Threads join by
// compare-and-swap on its ticket. Its fields stay as they are until all who joined have left, so joining makes them
// safe to read. Callers never wait for iterations that nobody has begun: whatever the pool's threads are busy with, a
// call ends. Threads that call at the same time share the processors: only as many of the
// pool's threads help as processors are left.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "thread_pool.h"
#include "affinity.h"
#include "call_scope.h"
#include "dlc_runtime.h"
#include "errors.h"
#include "processor.h"
#include "profile.h"
#include "thread_state.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include <pthread.h>

namespace {

using Body = void (*)(void *, int64_t, int64_t);

constexpr int kMaxParts = 0xFFFF;
constexpr size_t kMostParallelCalls = 64;
// Longer than the gap between two kernels of a model, shorter than a time slice.
constexpr std::chrono::microseconds kSpinTime{100};

// The pieces in which threads take iterations are no smaller than this part of a share.
constexpr int64_t kLeastOfShare = 8;

// Threads that are in calls of models.
std::atomic<int> callers{0};

// Spins until `ready()` or until the spin time is over; whether it became ready.
template <typename Ready> bool spinUntil(Ready ready, std::chrono::microseconds limit) {
  auto end = std::chrono::steady_clock::now() + limit;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready())
        return true;
      spinHint();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

// Whether an error left the body.
bool runBody(Body body, void *context, int64_t lo, int64_t hi) {
  ThreadState &state = threadState;
  ++state.bodiesRunning;
  bool failed = errorLeaves(body, context, lo, hi);
  --state.bodiesRunning;
  return failed;
}

// [0, size), whose iterations take from `first` to `last` instructions, in a straight line; pieces take `leastWork` or more.
struct Range {
  int64_t size;
  int64_t first = 1;
  int64_t last = 1;
  int64_t leastWork = 0;

  // Where share `part` of `parts` begins, which all have the same work.
  int64_t boundary(int64_t part, int64_t parts) const {
    if (first == last)
      return size / parts * part + std::min(part, size % parts);
    if (part == 0 || part == parts)
      return part == 0 ? 0 : size;
    // Up to x of the whole the work is first * x + (last - first) * x^2 / 2, of (first + last) / 2.
    double a = static_cast<double>(first), slope = static_cast<double>(last) - a;
    double target = (a + slope / 2) * static_cast<double>(part) / static_cast<double>(parts);
    double x = (std::sqrt(a * a + 2 * slope * target) - a) / slope;
    return std::clamp<int64_t>(std::llround(x * static_cast<double>(size)), 0, size);
  }

  double work() const { return static_cast<double>(size) * (static_cast<double>(first) + static_cast<double>(last)) / 2; }

  // The least iterations of a piece of a share with `count` of them.
  int64_t leastPiece(int64_t count, int64_t parts) const {
    double pieces = work() / static_cast<double>(parts) / static_cast<double>(std::max<int64_t>(leastWork, 1));
    int64_t most = pieces < kLeastOfShare ? std::max<int64_t>(1, static_cast<int64_t>(pieces)) : kLeastOfShare;
    return std::max<int64_t>(1, count / most);
  }
};

// Iterations of one thread's share that nobody has begun: [begin, end) packed in two halves would not do for 64-bit
// ranges, so `begin` moves alone.
struct alignas(64) Share {
  std::atomic<int64_t> begin{0};
  int64_t end = 0;
  int64_t least = 1;
};

// A parallel call in progress. Threads join it through the ticket, which packs generation (32 bits), the most that may join (16)
// and those that have (16); the first has share 0, and so on. A thread works on its own share, in pieces that get smaller,
// then on what is left of the others', so that nobody waits for a thread whose processor is busy with something else.
class alignas(64) ParallelCall {
public:
  bool tryAcquire() { return !taken.load(std::memory_order_relaxed) && !taken.exchange(true); }

  // Makes room for shares; whether there was memory for them.
  bool reserve(int count) {
    if (count <= capacity)
      return true;
    auto *made = new (std::nothrow) Share[static_cast<size_t>(count)];
    if (!made)
      return false;
    shares.reset(made);
    capacity = count;
    return true;
  }

  // The caller has joined as the first of `newParts`, for which there is room.
  void publish(Body newBody, void *newContext, const Range &range, int newParts) {
    body = newBody;
    context = newContext;
    scope = threadState.scope;
    hasFailed.store(false, std::memory_order_relaxed);
    parts = newParts;
    processor = currentProcessor();
    for (int part = 0; part < parts; ++part) {
      int64_t lo = range.boundary(part, parts), hi = range.boundary(part + 1, parts);
      shares[part].begin.store(lo, std::memory_order_relaxed);
      shares[part].end = hi;
      shares[part].least = range.leastPiece(hi - lo, parts);
    }
    helping.store(0, std::memory_order_relaxed);
    uint64_t generation = (ticket.load() >> 32) + 1;
    ticket.store(generation << 32 | static_cast<uint64_t>(parts) << 16 | 1);
  }

  // Joins: the number of the share, or -1 if nobody more may.
  int join() {
    uint64_t seen = ticket.load();
    while (true) {
      int next = static_cast<int>(seen & 0xFFFF);
      if (next >= static_cast<int>(seen >> 16 & 0xFFFF))
        return -1;
      if (ticket.compare_exchange_weak(seen, seen + 1))
        return next;
    }
  }

  // Runs what nobody has begun, the share `first` before the others; nothing more once an error has left a body.
  void work(int first) {
    ThreadState &state = threadState;
    CallScope *outer = state.scope;
    state.scope = scope;
    for (int i = 0; i < parts; ++i) {
      Share &share = shares[(first + i) % parts];
      int64_t lo = 0, hi = 0;
      while (take(share, lo, hi)) {
        if (!hasFailed.load(std::memory_order_relaxed) && runBody(body, context, lo, hi))
          keepError();
      }
    }
    state.scope = outer;
  }

  // The error that left a body; null for none. For the caller, after all who joined have left.
  const ErrorRecord *failure() const { return hasFailed.load() ? &error : nullptr; }

  // A helper ends its work; whether it is the last that the caller waits for, or may be.
  bool leave() { return helping.fetch_add(1) + 1 == joined() - 1; }

  // Nobody joins any more; the caller's share of the work is done.
  void close() {
    uint64_t seen = ticket.load();
    while (!ticket.compare_exchange_weak(seen, (seen & ~uint64_t{0xFFFF0000}) | (seen & 0xFFFF) << 16)) {
    }
  }

  // Whether all who joined have left; after `close`.
  bool ended() const { return helping.load() == joined() - 1; }

  void release() { taken.store(false); }

  // Where the caller runs; for those who have joined.
  int processorOfCaller() const { return processor; }

private:
  // The first error counts.
  void keepError() {
    std::lock_guard<std::mutex> lock(errorMutex);
    if (!hasFailed.load())
      error = lastErrorRecord();
    hasFailed.store(true);
  }

  int joined() const { return static_cast<int>(ticket.load() & 0xFFFF); }

  static bool take(Share &share, int64_t &lo, int64_t &hi) {
    lo = share.begin.load(std::memory_order_relaxed);
    do {
      int64_t left = share.end - lo;
      if (left <= 0)
        return false;
      hi = lo + std::min(left, std::max(share.least, left / 2));
    } while (!share.begin.compare_exchange_weak(lo, hi));
    return true;
  }

  std::atomic<bool> taken{false};
  std::atomic<uint64_t> ticket{0};
  // Helpers that have left.
  std::atomic<int> helping{0};
  Body body = nullptr;
  void *context = nullptr;
  CallScope *scope = nullptr;
  std::atomic<bool> hasFailed{false};
  std::mutex errorMutex;
  ErrorRecord error;
  int parts = 0;
  int processor = -1;
  int capacity = 0;
  std::unique_ptr<Share[]> shares;
};

// How many threads of the pool may help: one caller gets what it asks for.
int usableHelpers() {
  int calling = callers.load(std::memory_order_relaxed);
  return calling > 1 ? std::max(0, usableProcessors() - calling) : kMaxParts;
}

class Pool {
public:
  // Whether an error left a body, which lastErrorRecord() then holds.
  bool parallelFor(Body body, void *context, const Range &range, int parts) {
    ParallelCall *call = usableHelpers() > 0 ? acquireCall() : nullptr;
    if (call && !call->reserve(parts)) {
      call->release();
      call = nullptr;
    }
    if (!call)
      return runBody(body, context, 0, range.size);
    int64_t begin = profiledTime();
    growFor(parts - 1);
    call->publish(body, context, range, parts);
    announce();
    chargeThreads(begin, false);
    call->work(0);
    begin = profiledTime();
    call->close();
    waitFor(*call);
    demand.fetch_sub(parts - 1);
    const ErrorRecord *failure = call->failure();
    if (failure)
      lastErrorRecord() = *failure;
    call->release();
    chargeThreads(begin, true);
    return failure != nullptr;
  }

  // Ends the threads; later calls run on their callers alone.
  void shutdown() {
    std::vector<std::thread> leaving;
    {
      std::lock_guard<std::mutex> lock(mutex);
      stopping.store(true);
      leaving.swap(workers);
    }
    wake.notify_all();
    for (std::thread &worker : leaving)
      worker.join();
  }

private:
  ParallelCall *acquireCall() {
    for (size_t i = 0; i < kMostParallelCalls; ++i) {
      if (!calls[i].tryAcquire())
        continue;
      size_t known = callsUsed.load();
      while (known <= i && !callsUsed.compare_exchange_weak(known, i + 1)) {
      }
      return &calls[i];
    }
    return nullptr;
  }

  // Adds threads until all calls in progress can have `helpers` each, within what the machine has.
  void growFor(int helpers) {
    int wanted = demand.fetch_add(helpers) + helpers;
    int target = std::min(wanted, std::max(usableProcessors() - 1, helpers));
    if (workerCount.load() >= target)
      return;
    std::lock_guard<std::mutex> lock(mutex);
    try {
      while (!stopping.load() && static_cast<int>(workers.size()) < target)
        workers.emplace_back([this, index = static_cast<int>(workers.size())] { work(index); });
    } catch (const std::exception &) {
      // The limit of threads or of memory is reached: the call goes on with those there are.
    }
    workerCount.store(static_cast<int>(workers.size()));
  }

  void announce() {
    epoch.fetch_add(1);
    if (sleepers.load() == 0)
      return;
    { std::lock_guard<std::mutex> lock(mutex); }
    wake.notify_all();
  }

  // Helps a call that wants helpers; whether there was one.
  bool help(Placement &placement) {
    size_t used = callsUsed.load();
    for (size_t i = 0; i < used; ++i) {
      int share = calls[i].join();
      if (share < 0)
        continue;
      placement.update(calls[i].processorOfCaller());
      calls[i].work(share);
      if (calls[i].leave() && waiters.load() > 0) {
        { std::lock_guard<std::mutex> lock(mutex); }
        done.notify_all();
      }
      return true;
    }
    return false;
  }

  // Spinning helps only while every thread has a processor of its own.
  std::chrono::microseconds spinTime() const {
    int running = workerCount.load() + std::max(1, callers.load());
    return running <= usableProcessors() ? kSpinTime : std::chrono::microseconds{0};
  }

  void waitFor(ParallelCall &call) {
    if (spinUntil([&] { return call.ended(); }, spinTime()))
      return;
    std::unique_lock<std::mutex> lock(mutex);
    waiters.fetch_add(1);
    done.wait(lock, [&] { return call.ended(); });
    waiters.fetch_sub(1);
  }

  void work(int index) {
    Placement placement(index);
    while (!stopping.load()) {
      uint32_t seen = epoch.load();
      if (index < usableHelpers() && help(placement))
        continue;
      auto called = [&] { return epoch.load() != seen || stopping.load(); };
      if (spinUntil(called, spinTime()))
        continue;
      std::unique_lock<std::mutex> lock(mutex);
      sleepers.fetch_add(1);
      wake.wait(lock, called);
      sleepers.fetch_sub(1);
    }
  }

  std::array<ParallelCall, kMostParallelCalls> calls;
  std::atomic<size_t> callsUsed{0};
  alignas(64) std::atomic<uint32_t> epoch{0};
  std::atomic<int> sleepers{0};
  std::atomic<int> waiters{0};
  std::atomic<int> demand{0};
  std::atomic<int> workerCount{0};
  std::atomic<bool> stopping{false};
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
  std::vector<std::thread> workers;
};

// Never deleted: threads that outlive the library's destructors still find it.
std::atomic<Pool *> pool{new Pool};

// A child process has none of its parent's threads and maybe a locked mutex: it starts anew.
void renewPoolInChild() {
  pool.store(new Pool);
  callers.store(threadState.callDepth > 0 ? 1 : 0);
}

struct Lifetime {
  Lifetime() { pthread_atfork(nullptr, nullptr, renewPoolInChild); }
  ~Lifetime() { pool.load()->shutdown(); }
} lifetime;

} // namespace

static void runAlone(Body body, void *context, int64_t size) {
  if (runBody(body, context, 0, size))
    leaveByError();
}

static void parallelFor(Body body, void *context, const Range &range) {
  ThreadState &state = threadState;
  int64_t parts = std::min<int64_t>({range.size, dlc_num_threads(), kMaxParts});
  if (parts == 1 || state.bodiesRunning > 0)
    return runAlone(body, context, range.size);
  enterCall(state);
  bool failed = pool.load()->parallelFor(body, context, range, static_cast<int>(parts));
  leaveCall(state);
  if (failed)
    leaveByError();
}

void dlc_parallel_for(Body body, void *context, int64_t n) {
  if (n > 0)
    parallelFor(body, context, Range{n});
}

void dlc_parallel_for_uneven(Body body, void *context, int64_t n, int64_t first, int64_t last, int64_t least) {
  if (n <= 0)
    return;
  Range range{n, first, last, least};
  if (range.work() < static_cast<double>(least))
    return runAlone(body, context, n);
  parallelFor(body, context, range);
}

// A call inside a body is part of that body's call, whichever thread runs it.
void enterCall(ThreadState &state) {
  if (state.callDepth++ == 0 && state.bodiesRunning == 0)
    callers.fetch_add(1);
}

void leaveCall(ThreadState &state) {
  if (--state.callDepth == 0 && state.bodiesRunning == 0)
    callers.fetch_sub(1);
}

int dlc_set_num_threads(int count) {
  ThreadState &state = threadState;
  int before = state.threadSetting;
  state.threadSetting = std::max(count, 0);
  return before;
}

int dlc_num_threads() {
  int setting = threadState.threadSetting;
  return setting > 0 ? setting : defaultThreads();
}
