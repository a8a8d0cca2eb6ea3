// Many callers of the runtime at once: the pool, nested calls, errors, batches of calls, memory, and affinity that changes.
// Ends with status 0 when all results are right; a sanitizer or valgrind watches.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc_runtime.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
#if defined(__linux__)
#include <sched.h>
#endif

namespace {

constexpr int kCallers = 4;
constexpr int64_t kSize = 100;

void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::_Exit(1);
}

struct Job {
  std::vector<int64_t> counts;
  std::vector<int64_t> nested;
};

void innerBody(void *context, int64_t lo, int64_t hi) {
  auto *total = static_cast<int64_t *>(context);
  for (int64_t i = lo; i < hi; ++i)
    *total += i;
}

void outerBody(void *context, int64_t lo, int64_t hi) {
  auto *job = static_cast<Job *>(context);
  for (int64_t i = lo; i < hi; ++i) {
    ++job->counts[static_cast<size_t>(i)];
    dlc_parallel_for(innerBody, &job->nested[static_cast<size_t>(i)], 4);
  }
}

// Ranges whose work grows, shrinks, or is too little to share.
void uneven(Job &job) {
  constexpr std::array<std::array<int64_t, 2>, 4> kWeights{{{1, 1000}, {1000, 1}, {7, 7}, {1, 1LL << 40}}};
  for (auto [first, last] : kWeights)
    for (int64_t least : {0, 1 << 30})
      dlc_parallel_for_uneven(outerBody, &job, kSize, first, last, least);
}

// An entry of a model: arguments are a Job and a number; takes memory for its result, and raises an error for odd numbers.
void entry(void **arguments) {
  auto *job = static_cast<Job *>(arguments[0]);
  auto number = *static_cast<int64_t *>(arguments[1]);
  auto *result = static_cast<int64_t *>(dlc_result_memory(0, sizeof(int64_t)));
  void *scratch = _mlir_memref_to_llvm_alloc(100000);
  dlc_parallel_for(outerBody, job, kSize);
  *result = number;
  if (number % 2)
    dlc_raise_dims("sizes {} and {} do not fit", number, 2);
  _mlir_memref_to_llvm_free(scratch);
}

void callMany(int rounds, int caller) {
  Job job{std::vector<int64_t>(kSize), std::vector<int64_t>(kSize)};
  for (int64_t round = 0; round < rounds; ++round) {
    int64_t result = -1, number = round;
    void *arguments[] = {&job, &number};
    DlcMemory memory{&result, sizeof(result), "result"};
    DlcCall call{entry, arguments, (caller + round) % 4 + 1, &memory, 1, 0, nullptr};
    int32_t failed = dlc_call(&call);
    require(failed == round % 2, "an odd number is an error");
    require(result == round, "results lie in the caller's memory");
  }
  for (int64_t i = 0; i < kSize; ++i) {
    require(job.counts[static_cast<size_t>(i)] == rounds, "each iteration runs once");
    require(job.nested[static_cast<size_t>(i)] == rounds * 6, "nested iterations run once");
  }
}

// Several calls at once, on 1 to 4 threads.
void callBatches(int rounds, int caller) {
  constexpr size_t kCalls = 5;
  std::vector<Job> jobs(kCalls, Job{std::vector<int64_t>(kSize), std::vector<int64_t>(kSize)});
  for (int64_t round = 0; round < rounds; ++round) {
    std::vector<int64_t> results(kCalls), numbers(kCalls);
    std::vector<std::array<void *, 2>> arguments(kCalls);
    std::vector<DlcMemory> memory(kCalls);
    std::vector<DlcCall> calls(kCalls);
    std::vector<const DlcCall *> batch;
    std::vector<int32_t> failed(kCalls);
    for (size_t i = 0; i < kCalls; ++i) {
      numbers[i] = round + static_cast<int64_t>(i);
      arguments[i] = {&jobs[i], &numbers[i]};
      memory[i] = {&results[i], sizeof(int64_t), "result"};
      calls[i] = {entry, arguments[i].data(), 2, &memory[i], 1, 0, nullptr};
      batch.push_back(&calls[i]);
    }
    int64_t errors = dlc_call_many(batch.data(), kCalls, (caller + round) % 4 + 1, failed.data());
    require(errors == (round % 2 ? 3 : 2), "each odd number is an error");
    std::string first = "sizes " + std::to_string(round % 2 ? round : round + 1) + " and 2 do not fit";
    require(first == dlc_last_error(), "the message is that of the first");
    require(results == numbers, "each call has its own result");
  }
  for (const Job &job : jobs)
    for (int64_t count : job.counts)
      require(count == rounds, "each iteration of each call runs once");
}

// Bodies that fail, on whichever thread they run, with memory that they have not freed.
void failingBody(void *context, int64_t lo, int64_t hi) {
  static_cast<std::atomic<int64_t> *>(context)->fetch_add(hi - lo);
  void *scratch = _mlir_memref_to_llvm_alloc(1000);
  if (hi > kSize / 2)
    dlc_raise_dims("{} to {}", lo, hi);
  _mlir_memref_to_llvm_free(scratch);
}

void nestedFailingBody(void *context, int64_t, int64_t) { dlc_parallel_for(failingBody, context, kSize); }

void failingEntry(void **arguments) {
  auto body = *static_cast<int64_t *>(arguments[1]) % 2 ? nestedFailingBody : failingBody;
  if (*static_cast<int64_t *>(arguments[1]) % 3 == 0)
    dlc_doacross(body, arguments[0], kSize);
  else
    dlc_parallel_for(body, arguments[0], kSize);
}

void failInBodies(int rounds, int caller) {
  for (int64_t round = 0; round < rounds; ++round) {
    std::atomic<int64_t> reached{0};
    int64_t number = round;
    void *arguments[] = {&reached, &number};
    DlcCall call{failingEntry, arguments, (caller + round) % 4 + 1, nullptr, 0, 0, nullptr};
    require(dlc_call(&call) == 1, "an error of a body is one of the call");
    require(std::strstr(dlc_last_error(), " to "), "its message arrives");
  }
}

// What the pool's threads are bound to: the first processor that this process may use, none, the first two, a range of one, what the
// pool chooses.
std::array<std::string, 5> affinities() {
  std::vector<int> usable;
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(static_cast<size_t>(processor), &set))
      usable.push_back(processor);
#endif
  if (usable.empty())
    usable.push_back(0);
  std::string first = std::to_string(usable.front()), last = std::to_string(usable[usable.size() > 1 ? 1 : 0]);
  return {first, "none", first + "," + last, first + "-" + first, "auto"};
}

} // namespace

int main(int argc, char **argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller)
    callers.emplace_back(caller % 2 ? callMany : callBatches, rounds, caller);
  callers.emplace_back(failInBodies, rounds, 1);
  callers.emplace_back(failInBodies, rounds, 2);
  for (const std::string &text : affinities()) {
    require(dlc_set_thread_affinity(text.c_str()) == 0, "an affinity is known");
    std::this_thread::yield();
  }
  require(dlc_set_thread_affinity("0,x") == 1, "a wrong affinity is refused");
  for (std::thread &caller : callers)
    caller.join();
  callMany(rounds, 0);
  Job job{std::vector<int64_t>(kSize), std::vector<int64_t>(kSize)};
  for (int threads = 1; threads < 6; ++threads) {
    dlc_set_num_threads(threads);
    uneven(job);
  }
  for (int64_t count : job.counts)
    require(count == 40, "each iteration of an uneven range runs once");
  require(dlc_memory_live() == 0, "nothing is left");
  return 0;
}
