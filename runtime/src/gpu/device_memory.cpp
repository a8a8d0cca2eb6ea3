// The arena of a model on the GPU, and its pinned memory.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device_memory.h"
#include "../errors.h"

#include <algorithm>

namespace {

// What the driver aligns its own memory to; copies and vector loads ask for no more.
constexpr uint64_t kAlignment = 256;
// The least that is asked of the driver at once.
constexpr uint64_t kLeastPiece = 2 << 20;
constexpr uint64_t kMostBytes = uint64_t(1) << 62;
// CU_MEMHOSTALLOC_PORTABLE: for all contexts.
constexpr unsigned kPortable = 1;

uint64_t roundUp(uint64_t size) { return (std::max<uint64_t>(size, 1) + kAlignment - 1) / kAlignment * kAlignment; }

} // namespace

CuPointer ArrayMemory::allocate(const CudaDriver &driver, uint64_t bytes, uint64_t held, const char *what) {
  uint64_t size = roundUp(std::min(bytes, kMostBytes));
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = spare.find(size);
    if (found != spare.end()) {
      CuPointer address = found->second;
      spare.erase(found);
      return address;
    }
  }
  CuPointer address = allocateOnDevice(driver, *this, size, held, what);
  std::lock_guard<std::mutex> lock(mutex);
  if (address)
    sizes[address] = size;
  return address;
}

void ArrayMemory::release(const CudaDriver &driver, CuPointer address, bool isShared) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!isShared) {
    spare.emplace(sizes[address], address);
    return;
  }
  sizes.erase(address);
  driver.memoryFree(address);
}

bool ArrayMemory::trim(const CudaDriver &driver) {
  std::lock_guard<std::mutex> lock(mutex);
  bool had = !spare.empty();
  for (const auto &[size, address] : spare) {
    sizes.erase(address);
    driver.memoryFree(address);
  }
  spare.clear();
  return had;
}

CuPointer allocateOnDevice(const CudaDriver &driver, ArrayMemory &arrays, uint64_t size, uint64_t held, const char *what) {
  CuPointer address = 0;
  CuStatus status = driver.memoryAllocate(&address, roundUp(size));
  if (status == kOutOfMemory && arrays.trim(driver))
    status = driver.memoryAllocate(&address, roundUp(size));
  if (status == 0)
    return address;
  if (status != kOutOfMemory)
    return driver.succeeds(status, "allocate memory");
  size_t free = 0, all = 0;
  driver.memoryInfo(&free, &all);
  failWith(DLC_ERROR_OUT_OF_MEMORY, "%s: %llu bytes, of which the GPU has %llu of %llu free; the model holds %llu there", what,
           static_cast<unsigned long long>(size), static_cast<unsigned long long>(free), static_cast<unsigned long long>(all),
           static_cast<unsigned long long>(held));
  lastErrorRecord().bytes = static_cast<int64_t>(size);
  lastErrorRecord().used = static_cast<int64_t>(held);
  return 0;
}

bool DeviceArena::grow(const CudaDriver &driver, uint64_t size, const char *what) {
  uint64_t piece = std::max(size, kLeastPiece);
  CuPointer address = allocateOnDevice(driver, arrays, piece, total, what);
  if (address == 0)
    return false;
  pieces.push_back({address, piece});
  freeBlocks.push_back({address, piece});
  total += piece;
  return true;
}

CuPointer DeviceArena::allocate(const CudaDriver &driver, uint64_t bytes, const char *what) {
  if (bytes > kMostBytes) {
    failWith(DLC_ERROR_OUT_OF_MEMORY, "%s: its bytes are more than 64 bits can count", what);
    return 0;
  }
  uint64_t size = roundUp(bytes);
  auto fits = [size](const Block &block) { return block.size >= size; };
  auto found = std::find_if(freeBlocks.begin(), freeBlocks.end(), fits);
  if (found == freeBlocks.end()) {
    if (!grow(driver, size, what))
      return 0;
    found = freeBlocks.end() - 1;
  }
  CuPointer address = found->address;
  found->address += size;
  found->size -= size;
  if (found->size == 0)
    freeBlocks.erase(found);
  taken[address] = size;
  return address;
}

bool DeviceArena::isPiece(CuPointer address) const {
  return std::any_of(pieces.begin(), pieces.end(), [address](const Block &piece) { return piece.address == address; });
}

// Blocks of two pieces stay apart, also where the pieces are neighbours: the driver refuses copies that cross from one to the other.
void DeviceArena::release(CuPointer address) {
  auto found = taken.find(address);
  if (found == taken.end())
    return;
  Block block{address, found->second};
  taken.erase(found);
  for (auto other = freeBlocks.begin(); other != freeBlocks.end();) {
    bool isBefore = other->address + other->size == block.address && !isPiece(block.address);
    bool isAfter = block.address + block.size == other->address && !isPiece(other->address);
    if (!isBefore && !isAfter) {
      ++other;
      continue;
    }
    block = {std::min(block.address, other->address), block.size + other->size};
    other = freeBlocks.erase(other);
  }
  freeBlocks.insert(freeBlocks.begin(), block);
}

bool DeviceArena::reset(const CudaDriver &driver) {
  bool stays = pieces.size() <= 1;
  uint64_t needed = total;
  if (!stays) {
    close(driver);
    if (CuPointer address = allocateOnDevice(driver, arrays, needed, 0, "the arena")) {
      total = needed;
      pieces.push_back({address, total});
    } // else pieces are taken again as the call asks for them
  }
  taken.clear();
  freeBlocks.clear();
  for (const Block &piece : pieces)
    freeBlocks.push_back(piece);
  return stays;
}

void DeviceArena::close(const CudaDriver &driver) {
  for (const Block &piece : pieces)
    driver.memoryFree(piece.address);
  pieces.clear();
  freeBlocks.clear();
  taken.clear();
  total = 0;
}

void *StagingMemory::allocate(const CudaDriver &driver, uint64_t bytes) {
  uint64_t size = roundUp(bytes);
  if (pieces.empty() || used + size > pieces.back().size) {
    void *address = nullptr;
    uint64_t piece = std::max(size, kLeastPiece);
    CuStatus status = driver.hostAllocate(&address, piece, kPortable);
    if (status == kOutOfMemory) {
      failWith(DLC_ERROR_OUT_OF_MEMORY, "pinned memory for copies: %llu bytes, which the system does not have",
               static_cast<unsigned long long>(piece));
      lastErrorRecord().bytes = static_cast<int64_t>(piece);
      return nullptr;
    }
    if (!driver.succeeds(status, "pin memory of the host"))
      return nullptr;
    pieces.push_back({static_cast<char *>(address), piece});
    total += piece;
    used = 0;
  }
  void *address = pieces.back().address + used;
  used += size;
  return address;
}

bool StagingMemory::reset(const CudaDriver &driver) {
  bool stays = pieces.size() <= 1;
  uint64_t needed = total;
  if (!stays)
    close(driver);
  used = 0;
  if (!stays && allocate(driver, needed))
    used = 0;
  return stays;
}

void StagingMemory::close(const CudaDriver &driver) {
  for (const Piece &piece : pieces)
    driver.hostFree(piece.address);
  pieces.clear();
  used = total = 0;
}
