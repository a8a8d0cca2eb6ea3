// dlc_parallel_for: one pool of threads that spin for a moment, then sleep, shared by all callers.
//
// A call takes a slot, publishes its parts there as a ticket, works on parts itself and waits for the rest. Threads claim
// parts by compare-and-swap on the ticket. A slot's fields stay as they are until all its claimed parts have ended, so a
// successful claim makes them safe to read. Callers never wait for a part that nobody has begun: whatever the
// pool's threads are busy with, a call ends. Threads that call at the same time share the processors: only as many of the
// pool's threads help as processors are left.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "thread_pool.h"
#include "dlc_runtime.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <pthread.h>

namespace {

using Body = void (*)(void *, int64_t, int64_t);

constexpr int kMaxParts = 0xFFFF;
constexpr size_t kSlots = 64;
// Longer than the gap between two kernels of a model, shorter than a time slice.
constexpr std::chrono::microseconds kSpinTime{100};

// More than zero while this thread runs a body: calls from there run inline.
thread_local int bodiesRunning = 0;
thread_local int threadSetting = 0;
// Calls of models that this thread is in, and the number of threads that are in some.
thread_local int callDepth = 0;
std::atomic<int> callers{0};

int hardwareThreads() {
  static const int count = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return count;
}

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Spins until `ready()` or until the spin time is over; whether it became ready.
template <typename Ready> bool spinUntil(Ready ready, std::chrono::microseconds limit) {
  auto end = std::chrono::steady_clock::now() + limit;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready())
        return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

void runBody(Body body, void *context, int64_t lo, int64_t hi) {
  ++bodiesRunning;
  body(context, lo, hi);
  --bodiesRunning;
}

// One call in progress. The ticket packs generation (32 bits), parts (16) and the next part to claim (16).
class alignas(64) Slot {
public:
  bool tryAcquire() { return !taken.load(std::memory_order_relaxed) && !taken.exchange(true); }

  // Part 0 is the caller's own.
  void publish(Body newBody, void *newContext, int64_t newSize, int newParts) {
    body = newBody;
    context = newContext;
    size = newSize;
    pending.store(newParts);
    uint64_t generation = (ticket.load() >> 32) + 1;
    ticket.store(generation << 32 | static_cast<uint64_t>(newParts) << 16 | 1);
  }

  void release() { taken.store(false); }

  // Claims the next part: its number, or -1 if none is left.
  int claim() {
    uint64_t seen = ticket.load();
    while (true) {
      int next = static_cast<int>(seen & 0xFFFF);
      if (next >= static_cast<int>(seen >> 16 & 0xFFFF))
        return -1;
      if (ticket.compare_exchange_weak(seen, seen + 1))
        return next;
    }
  }

  // Runs a claimed part; whether it was the last of all to end.
  bool runPart(int part) {
    int64_t parts = static_cast<int64_t>(ticket.load() >> 16 & 0xFFFF);
    int64_t share = size / parts;
    int64_t extra = size % parts;
    int64_t lo = share * part + std::min<int64_t>(part, extra);
    runBody(body, context, lo, lo + share + (part < extra ? 1 : 0));
    return pending.fetch_sub(1) == 1;
  }

  bool ended() const { return pending.load() == 0; }

private:
  std::atomic<bool> taken{false};
  std::atomic<uint64_t> ticket{0};
  std::atomic<int> pending{0};
  Body body = nullptr;
  void *context = nullptr;
  int64_t size = 0;
};

// How many threads of the pool may help: one caller gets what it asks for.
int usableHelpers() {
  int calling = callers.load(std::memory_order_relaxed);
  return calling > 1 ? std::max(0, hardwareThreads() - calling) : kMaxParts;
}

class Pool {
public:
  void parallelFor(Body body, void *context, int64_t n, int parts) {
    Slot *slot = usableHelpers() > 0 ? acquireSlot() : nullptr;
    if (!slot)
      return runBody(body, context, 0, n);
    growFor(parts - 1);
    slot->publish(body, context, n, parts);
    announce();
    for (int part = 0; part >= 0; part = slot->claim())
      runAndReport(*slot, part);
    waitFor(*slot);
    demand.fetch_sub(parts - 1);
    slot->release();
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
  Slot *acquireSlot() {
    for (size_t i = 0; i < kSlots; ++i) {
      if (!slots[i].tryAcquire())
        continue;
      size_t known = slotsUsed.load();
      while (known <= i && !slotsUsed.compare_exchange_weak(known, i + 1)) {
      }
      return &slots[i];
    }
    return nullptr;
  }

  // Adds threads until all calls in progress can have `helpers` each, within what the machine has.
  void growFor(int helpers) {
    int wanted = demand.fetch_add(helpers) + helpers;
    int target = std::min(wanted, std::max(hardwareThreads() - 1, helpers));
    if (workerCount.load() >= target)
      return;
    std::lock_guard<std::mutex> lock(mutex);
    try {
      while (!stopping.load() && static_cast<int>(workers.size()) < target)
        workers.emplace_back([this, index = static_cast<int>(workers.size())] { work(index); });
    } catch (const std::system_error &) {
      // The limit of threads is reached: the call goes on with those there are.
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

  void runAndReport(Slot &slot, int part) {
    if (!slot.runPart(part) || waiters.load() == 0)
      return;
    { std::lock_guard<std::mutex> lock(mutex); }
    done.notify_all();
  }

  bool runAnyPart() {
    size_t used = slotsUsed.load();
    for (size_t i = 0; i < used; ++i) {
      int part = slots[i].claim();
      if (part < 0)
        continue;
      runAndReport(slots[i], part);
      return true;
    }
    return false;
  }

  // Spinning helps only while every thread has a processor of its own.
  std::chrono::microseconds spinTime() const {
    int running = workerCount.load() + std::max(1, callers.load());
    return running <= hardwareThreads() ? kSpinTime : std::chrono::microseconds{0};
  }

  void waitFor(Slot &slot) {
    if (spinUntil([&] { return slot.ended(); }, spinTime()))
      return;
    std::unique_lock<std::mutex> lock(mutex);
    waiters.fetch_add(1);
    done.wait(lock, [&] { return slot.ended(); });
    waiters.fetch_sub(1);
  }

  void work(int index) {
    while (!stopping.load()) {
      uint32_t seen = epoch.load();
      if (index < usableHelpers() && runAnyPart())
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

  std::array<Slot, kSlots> slots;
  std::atomic<size_t> slotsUsed{0};
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
  callers.store(callDepth > 0 ? 1 : 0);
}

struct Lifetime {
  Lifetime() { pthread_atfork(nullptr, nullptr, renewPoolInChild); }
  ~Lifetime() { pool.load()->shutdown(); }
} lifetime;

} // namespace

void dlc_parallel_for(Body body, void *context, int64_t n) {
  if (n <= 0)
    return;
  int64_t parts = std::min<int64_t>({n, dlc_num_threads(), kMaxParts});
  if (parts == 1 || bodiesRunning > 0)
    return runBody(body, context, 0, n);
  enterCall();
  pool.load()->parallelFor(body, context, n, static_cast<int>(parts));
  leaveCall();
}

void enterCall() {
  if (callDepth++ == 0)
    callers.fetch_add(1);
}

void leaveCall() {
  if (--callDepth == 0)
    callers.fetch_sub(1);
}

int dlc_set_num_threads(int count) {
  int before = threadSetting;
  threadSetting = std::max(count, 0);
  return before;
}

int dlc_num_threads() { return threadSetting > 0 ? threadSetting : hardwareThreads(); }
