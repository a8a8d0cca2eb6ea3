// Inside the runtime: what a call asks of the GPU, in order, until the host needs something back.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "driver.h"

#include <vector>

// One thing that the GPU does. Fields that a kind has no use of are 0, so that equal steps have equal bytes.
struct GpuStep {
  enum Kind : uint64_t { Launch, Upload, Download, Copy, Charge };
  uint64_t kind;
  // Of a launch: the kernel, grid and block, shared memory, and where its arguments are among the words of the queue.
  CUfunc_st *kernel;
  uint64_t sizes[6];
  uint64_t sharedBytes;
  uint64_t firstWord, wordCount;
  // By bits: which of these are addresses of tensor maps, which go to the kernel by value.
  uint64_t tensorMaps;
  // Of copies.
  uint64_t target, source, bytes;
  // Of a charge: the row of the profile.
  int64_t row;
};

// Steps are collected, and handed to the stream together. Those that come a second time become a CUDA graph, which takes one launch
// from then on; they are found again by comparing them, arguments included.
class LaunchQueue {
public:
  void add(const GpuStep &step) { steps.push_back(step); }
  // Adds a launch, whose arguments are `count` words.
  void addLaunch(GpuStep step, const uint64_t *arguments, uint64_t count);
  // Lets the GPU begin all steps; false with lastErrorRecord().
  bool flush(const CudaDriver &driver, CUstream_st *stream);
  // After the stream was awaited: adds what charged steps took to the profile of this thread.
  bool collectCharges(const CudaDriver &driver);
  // Forgets steps that are not to be done, and charges of those that were.
  void drop();
  // Forgets all graphs: addresses in them are no longer valid.
  void forgetGraphs(const CudaDriver &driver);
  void close(const CudaDriver &driver);

private:
  struct Graph {
    std::vector<GpuStep> steps;
    std::vector<uint64_t> words;
    CUgraphExec_st *executable; // null for steps that came once
    uint64_t lastUse;
  };
  struct Mark {
    CUevent_st *event;
    int64_t row;
  };
  void clear();
  Graph *find();
  Graph &remember(const CudaDriver &driver);
  bool runAll(const CudaDriver &driver, CUstream_st *stream);
  bool run(const CudaDriver &driver, CUstream_st *stream, const GpuStep &step);
  bool mark(const CudaDriver &driver, CUstream_st *stream, int64_t row);
  bool makeGraph(const CudaDriver &driver, CUstream_st *stream, Graph &graph);

  std::vector<GpuStep> steps;
  std::vector<uint64_t> words;
  std::vector<void *> pointers; // to the arguments of one launch
  std::vector<Graph> graphs;
  std::vector<Mark> marks;
  std::vector<CUevent_st *> events; // those of `marks` first
  uint64_t uses = 0;
};
