// Hands the steps of a call to a stream: one by one, or as a graph.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch_queue.h"
#include "../profile.h"

#include <algorithm>
#include <cstring>

namespace {

// Sequences of steps that are kept: of several sizes of a model, or parts of one that the host stands between.
constexpr size_t kMostGraphs = 16;
// CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: what other threads do with the driver meanwhile is not our concern.
constexpr int kThreadLocal = 1;
// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, to be set above what a block may have without asking.
constexpr int kMostSharedAttribute = 8;
constexpr uint64_t kFreeSharedBytes = 48 * 1024;
constexpr int64_t kBegin = -1;

template <typename T> bool equal(const std::vector<T> &one, const std::vector<T> &other) {
  return one.size() == other.size() && (one.empty() || std::memcmp(one.data(), other.data(), one.size() * sizeof(T)) == 0);
}

} // namespace

void LaunchQueue::addLaunch(GpuStep step, const uint64_t *arguments, uint64_t count) {
  step.firstWord = words.size();
  step.wordCount = count;
  words.insert(words.end(), arguments, arguments + count);
  steps.push_back(step);
}

LaunchQueue::Graph *LaunchQueue::find() {
  auto isSame = [this](const Graph &graph) { return equal(graph.steps, steps) && equal(graph.words, words); };
  auto found = std::find_if(graphs.begin(), graphs.end(), isSame);
  return found == graphs.end() ? nullptr : &*found;
}

LaunchQueue::Graph &LaunchQueue::remember(const CudaDriver &driver) {
  if (graphs.size() == kMostGraphs) {
    auto isOlder = [](const Graph &one, const Graph &other) { return one.lastUse < other.lastUse; };
    auto oldest = std::min_element(graphs.begin(), graphs.end(), isOlder);
    if (oldest->executable)
      driver.graphExecDestroy(oldest->executable);
    graphs.erase(oldest);
  }
  graphs.push_back({steps, words, nullptr, 0});
  return graphs.back();
}

bool LaunchQueue::flush(const CudaDriver &driver, CUstream_st *stream) {
  if (steps.empty())
    return true;
  bool isProfiled = std::any_of(steps.begin(), steps.end(), [](const GpuStep &step) { return step.kind == GpuStep::Charge; });
  bool done = true;
  if (isProfiled || steps.size() == 1) {
    done = (!isProfiled || mark(driver, stream, kBegin)) && runAll(driver, stream);
  } else {
    Graph *known = find();
    Graph &graph = known ? *known : remember(driver);
    graph.lastUse = ++uses;
    if (!known)
      done = runAll(driver, stream);
    else
      done = (graph.executable || makeGraph(driver, stream, graph)) &&
             driver.succeeds(driver.graphLaunch(graph.executable, stream), "launch the model");
  }
  clear();
  return done;
}

bool LaunchQueue::makeGraph(const CudaDriver &driver, CUstream_st *stream, Graph &graph) {
  if (!driver.succeeds(driver.streamBeginCapture(stream, kThreadLocal), "record the model"))
    return false;
  bool ran = runAll(driver, stream);
  CUgraph_st *recorded = nullptr;
  CuStatus ended = driver.streamEndCapture(stream, &recorded); // also where a step has failed: the stream is usable then
  if (!ran || !driver.succeeds(ended, "record the model"))
    return false;
  bool made = driver.succeeds(driver.graphInstantiate(&graph.executable, recorded, 0), "prepare the model's launch");
  driver.graphDestroy(recorded);
  return made;
}

bool LaunchQueue::runAll(const CudaDriver &driver, CUstream_st *stream) {
  return std::all_of(steps.begin(), steps.end(), [&](const GpuStep &step) { return run(driver, stream, step); });
}

bool LaunchQueue::run(const CudaDriver &driver, CUstream_st *stream, const GpuStep &step) {
  switch (step.kind) {
  case GpuStep::Upload:
    return driver.succeeds(driver.copyToDevice(step.target, reinterpret_cast<void *>(step.source), step.bytes, stream), "take data");
  case GpuStep::Download:
    return driver.succeeds(driver.copyToHost(reinterpret_cast<void *>(step.target), step.source, step.bytes, stream), "give data");
  case GpuStep::Copy:
    return driver.succeeds(driver.copyOnDevice(step.target, step.source, step.bytes, stream), "copy data");
  case GpuStep::Charge:
    return mark(driver, stream, step.row);
  }
  pointers.clear();
  for (uint64_t i = 0; i < step.wordCount; ++i) {
    uint64_t &word = words[step.firstWord + i];
    bool isMap = i < 64 && step.tensorMaps >> i & 1;
    pointers.push_back(isMap ? reinterpret_cast<void *>(word) : &word);
  }
  int shared = static_cast<int>(step.sharedBytes);
  if (step.sharedBytes > kFreeSharedBytes &&
      !driver.succeeds(driver.functionSetAttribute(step.kernel, kMostSharedAttribute, shared), "give a block its shared memory"))
    return false;
  auto size = [&step](int at) { return static_cast<unsigned>(step.sizes[at]); };
  return driver.succeeds(driver.launchKernel(step.kernel, size(0), size(1), size(2), size(3), size(4), size(5), static_cast<unsigned>(shared),
                                             stream, pointers.data(), nullptr),
                         "launch a kernel");
}

bool LaunchQueue::mark(const CudaDriver &driver, CUstream_st *stream, int64_t row) {
  if (marks.size() == events.size()) {
    CUevent_st *event = nullptr;
    if (!driver.succeeds(driver.eventCreate(&event, 0), "take the time"))
      return false;
    events.push_back(event);
  }
  marks.push_back({events[marks.size()], row});
  return driver.succeeds(driver.eventRecord(marks.back().event, stream), "take the time");
}

bool LaunchQueue::collectCharges(const CudaDriver &driver) {
  bool done = true;
  for (size_t i = 1; done && i < marks.size(); ++i) {
    float milliseconds = 0;
    if (marks[i].row == kBegin)
      continue;
    done = driver.succeeds(driver.eventElapsedTime(&milliseconds, marks[i - 1].event, marks[i].event), "take the time");
    addToProfile(marks[i].row, static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6));
  }
  marks.clear();
  return done;
}

void LaunchQueue::clear() {
  steps.clear();
  words.clear();
}

void LaunchQueue::drop() {
  clear();
  marks.clear();
}

void LaunchQueue::forgetGraphs(const CudaDriver &driver) {
  for (const Graph &graph : graphs)
    if (graph.executable)
      driver.graphExecDestroy(graph.executable);
  graphs.clear();
}

void LaunchQueue::close(const CudaDriver &driver) {
  forgetGraphs(driver);
  for (CUevent_st *event : events)
    driver.eventDestroy(event);
  events.clear();
  marks.clear();
}
