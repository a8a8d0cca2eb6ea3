// Inside the runtime: memory of the GPU, and of the host where the GPU copies from and to, that a model keeps from call to call.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "driver.h"

#include <unordered_map>
#include <vector>

// One arena, from which a call takes blocks and gives them back. The same requests in a call get the same addresses as in the call
// before, so that a graph that was made of one serves the next. Where it is too small it grows by a second piece, and is one again
// in the next call.
class DeviceArena {
public:
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

// Memory of the GPU of `size` bytes; 0 where it has none, lastErrorRecord() says so of `what`; it holds `held` bytes of this model.
CuPointer allocateOnDevice(const CudaDriver &driver, uint64_t size, uint64_t held, const char *what);
