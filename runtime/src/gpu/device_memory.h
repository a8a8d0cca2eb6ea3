// Inside the runtime: memory of the GPU, and of the host where the GPU copies from and to, that a model keeps from call to call.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "driver.h"

#include <mutex>
#include <unordered_map>
#include <vector>

// Memory for arrays of callers. What they give back is kept for arrays of the same size: asking the driver takes longer than many
// models, and giving back to it waits for all that the GPU does.
class ArrayMemory {
public:
  // 0 where the GPU has no memory; lastErrorRecord() says so of `what`. The model holds `held` bytes beside arrays.
  CuPointer allocate(const CudaDriver &driver, uint64_t size, uint64_t held, const char *what);
  // Gives an array back, to the driver if it `isShared`: others may not be done with it yet.
  void release(const CudaDriver &driver, CuPointer address, bool isShared);
  // Gives the driver what no array has; whether there was anything.
  bool trim(const CudaDriver &driver);

private:
  std::mutex mutex;
  std::unordered_map<CuPointer, uint64_t> sizes;
  std::unordered_multimap<uint64_t, CuPointer> spare;
};

// One arena, from which a call takes blocks and gives them back. The same requests in a call get the same addresses as in the call
// before, so that a graph that was made of one serves the next. Where it is too small it grows by a second piece, and is one again
// in the next call.
class DeviceArena {
public:
  // Where memory runs out, that of `arrays` which no array has goes back to the driver.
  explicit DeviceArena(ArrayMemory &arrays) : arrays(arrays) {}
  // An address of `size` bytes or more; 0 where the GPU has no memory, lastErrorRecord() says so of `what`.
  CuPointer allocate(const CudaDriver &driver, uint64_t size, const char *what);
  void release(CuPointer address);
  // Begins a call: all is free. Whether addresses stay what they were.
  bool reset(const CudaDriver &driver);
  void close(const CudaDriver &driver);
  uint64_t bytes() const { return total; }

private:
  struct Block {
    CuPointer address;
    uint64_t size;
  };
  bool grow(const CudaDriver &driver, uint64_t size, const char *what);
  // Whether a piece begins there.
  bool isPiece(CuPointer address) const;

  ArrayMemory &arrays;
  std::vector<Block> pieces, freeBlocks;
  std::unordered_map<CuPointer, uint64_t> taken;
  uint64_t total = 0;
};

// Pinned memory of the host, which a call takes from its begin to its end.
class StagingMemory {
public:
  // Null where the system has no memory that can be pinned; lastErrorRecord() says so.
  void *allocate(const CudaDriver &driver, uint64_t size);
  // Begins a call. Whether addresses stay what they were.
  bool reset(const CudaDriver &driver);
  void close(const CudaDriver &driver);

private:
  struct Piece {
    char *address;
    uint64_t size;
  };
  std::vector<Piece> pieces;
  uint64_t used = 0, total = 0;
};

// Memory of the GPU of `size` bytes; 0 where it has none, also without spare `arrays`. lastErrorRecord() says so of `what`; the model
// holds `held` bytes there.
CuPointer allocateOnDevice(const CudaDriver &driver, ArrayMemory &arrays, uint64_t size, uint64_t held, const char *what);
