// Processors and the pool's threads on them. Where a system has no affinity, threads run where it puts them.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "affinity.h"
#include "dlc_runtime.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace {

enum class Mode { apart, free, bound };

// What dlc_set_thread_affinity says; `version` changes with it.
std::mutex mutex;
std::vector<int> processors;
std::atomic<Mode> mode{Mode::apart};
std::atomic<int> version{0};

constexpr int kMostProcessors = 1024;

// Reads `0,2-5` into `found`; whether it is that.
bool parseList(const char *text, std::vector<int> &found) {
  while (true) {
    char *end = nullptr;
    if (*text < '0' || *text > '9')
      return false;
    long first = std::strtol(text, &end, 10), last = first;
    if (*end == '-') {
      if (end[1] < '0' || end[1] > '9')
        return false;
      last = std::strtol(end + 1, &end, 10);
    }
    if (first > last || last >= kMostProcessors)
      return false;
    for (long processor = first; processor <= last; ++processor)
      found.push_back(static_cast<int>(processor));
    if (!*end)
      return true;
    if (*end != ',')
      return false;
    text = end + 1;
  }
}

// Whether this process may use all of these processors; yes where the system does not tell.
bool areUsable(const std::vector<int> &found) {
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return true;
  return std::all_of(found.begin(), found.end(), [&](int processor) { return CPU_ISSET(static_cast<size_t>(processor), &set); });
#else
  return true;
#endif
}

bool setAffinity(const std::string &text) {
  std::vector<int> found;
  if (text != "auto" && text != "none" && (!parseList(text.c_str(), found) || !areUsable(found)))
    return false;
  std::lock_guard<std::mutex> lock(mutex);
  processors.swap(found);
  mode.store(text == "auto" ? Mode::apart : text == "none" ? Mode::free : Mode::bound);
  version.fetch_add(1);
  return true;
}

int fromEnvironment(const char *name) {
  const char *text = std::getenv(name);
  return text ? std::atoi(text) : 0;
}

struct Environment {
  Environment() {
    if (const char *text = std::getenv("DLC_THREAD_AFFINITY"))
      setAffinity(text);
  }
} environment;

#if defined(__linux__)
// What this process could use when the library was loaded; before anything of it was bound.
struct Allowed {
  cpu_set_t set;
  int count = 0;
  Allowed() {
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
      count = CPU_COUNT(&set);
  }
} allowed;
#endif

} // namespace

int usableProcessors() {
#if defined(__linux__)
  if (allowed.count > 0)
    return allowed.count;
#endif
  static const int count = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return count;
}

int defaultThreads() {
  static const int told = fromEnvironment("DLC_NUM_THREADS");
  return told > 0 ? told : usableProcessors();
}

int32_t dlc_set_thread_affinity(const char *text) { return setAffinity(text) ? 0 : 1; }

#if defined(__linux__)

int currentProcessor() { return sched_getcpu(); }

void Placement::update(int processorOfCaller) {
  Mode now = mode.load(std::memory_order_relaxed);
  int latest = version.load();
  bool meets = now == Mode::apart && allowed.count > 1 && sched_getcpu() == processorOfCaller;
  if (latest == seen && !meets)
    return;
  seen = latest;
  cpu_set_t set = allowed.set;
  if (meets)
    CPU_CLR(static_cast<size_t>(processorOfCaller), &set);
  if (now == Mode::bound) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!processors.empty()) {
      CPU_ZERO(&set);
      CPU_SET(static_cast<size_t>(processors[static_cast<size_t>(index) % processors.size()]), &set);
    }
  }
  sched_setaffinity(0, sizeof(set), &set); // one that is not there leaves the thread where it was
}

#else

int currentProcessor() { return -1; }

void Placement::update(int) {}

#endif
