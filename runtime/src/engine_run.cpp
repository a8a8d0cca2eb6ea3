// Calls of engines from C: tensors are checked, described to the entry, and results handed over.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc_runtime.h"
#include "engine.h"
#include "errors.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <system_error>
#include <thread>

namespace {

[[noreturn]] void refuse(const std::string &reason) { throw EngineError(DLC_INVALID_ARGUMENT, reason); }

uint64_t elementsOf(const int64_t *sizes, size_t rank) {
  uint64_t count = 1;
  for (size_t i = 0; i < rank; ++i)
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(sizes[i]), &count))
      refuse("a tensor has more elements than 64 bits can count");
  return count;
}

bool overlap(const void *left, uint64_t leftBytes, const void *right, uint64_t rightBytes) {
  auto first = reinterpret_cast<uintptr_t>(left), second = reinterpret_cast<uintptr_t>(right);
  return leftBytes && rightBytes && first < second + rightBytes && second < first + leftBytes;
}

// The words that an entry reads: descriptors, pointers to them, and the table of addresses of these.
class PreparedCall {
public:
  PreparedCall(dlc_engine &called, const dlc_tensor *given, dlc_tensor *results)
      : engine(called), inputs(given), outputs(results), resultMemory(called.outputs.size()) {
    for (size_t i = 0; i < engine.inputs.size(); ++i)
      describeInput(engine.inputs[i], inputs[i]);
    for (size_t i = 0; i < engine.outputs.size(); ++i)
      planOutput(i);
    makeTable();
  }

  void run() {
    DlcCall call{reinterpret_cast<void (*)(void **)>(dlc_engine_entry(&engine)),
                 table.data(),
                 engine.threads,
                 resultMemory.data(),
                 static_cast<int64_t>(resultMemory.size()),
                 engine.limit,
                 &engine.cancellations};
    if (dlc_call(&call)) {
      const ErrorRecord &error = lastErrorRecord();
      throw CallFailed{static_cast<dlc_status>(error.kind)};
    }
    deliver();
  }

  // The error is the thread's last one already.
  struct CallFailed {
    dlc_status status;
  };

private:
  const int64_t *sizesOf(const TensorType &type, const dlc_tensor &tensor) {
    const std::string subject = "input '" + type.entry.name + "'";
    if (tensor.rank != DLC_SIGNATURE_SHAPE && tensor.rank != type.type.rank)
      refuse(subject + " has rank " + std::to_string(tensor.rank) + " instead of " + std::to_string(type.type.rank));
    const int64_t *sizes = tensor.rank == DLC_SIGNATURE_SHAPE ? type.type.sizes : tensor.sizes;
    for (size_t dim = 0; dim < type.entry.sizes.size(); ++dim) {
      int64_t expected = type.entry.sizes[dim];
      if (sizes[dim] < 0)
        refuse(subject + ": dim " + std::to_string(dim) + " has no size; the call must give one");
      if (expected != DLC_DYNAMIC && sizes[dim] != expected)
        refuse(subject + ": dim " + std::to_string(dim) + " is " + std::to_string(sizes[dim]) + " instead of " + std::to_string(expected));
      checkSymbol(type, dim, sizes[dim]);
    }
    return sizes;
  }

  void checkSymbol(const TensorType &type, size_t dim, int64_t size) {
    const std::string &name = type.entry.names[dim];
    if (name.empty())
      return;
    int64_t known = symbols.emplace(name, size).first->second;
    if (known != size)
      refuse("input '" + type.entry.name + "': dim '" + name + "' is " + std::to_string(size) + " here but " + std::to_string(known) +
             " in another input");
  }

  void describeInput(const TensorType &type, const dlc_tensor &tensor) {
    const int64_t *sizes = sizesOf(type, tensor);
    size_t rank = type.entry.sizes.size();
    uint64_t bytes = elementsOf(sizes, rank);
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(type.entry.elementBytes), &bytes) || bytes != tensor.bytes)
      refuse("input '" + type.entry.name + "' has " + std::to_string(tensor.bytes) + " bytes, and its shape needs " + std::to_string(bytes));
    if (bytes && (!tensor.data || reinterpret_cast<uintptr_t>(tensor.data) % static_cast<uint64_t>(type.entry.elementBytes)))
      refuse("input '" + type.entry.name + "' has no memory that is aligned to its elements");
    int64_t address = reinterpret_cast<int64_t>(tensor.data);
    std::vector<int64_t> words = {address, address, 0};
    words.insert(words.end(), sizes, sizes + rank);
    words.resize(3 + 2 * rank, 1);
    for (size_t dim = rank; dim-- > 1;)
      words[3 + rank + dim - 1] = words[3 + rank + dim] * sizes[dim];
    inputRecords.push_back(std::move(words));
  }

  // Lets a result be computed in the caller's memory where nothing stands against it.
  void planOutput(size_t index) {
    const TensorType &type = engine.outputs[index];
    const dlc_tensor &tensor = outputs[index];
    places.push_back(resultRecord.size());
    resultRecord.resize(resultRecord.size() + 3 + 2 * type.entry.sizes.size());
    resultMemory[index] = {nullptr, 0, type.label.c_str()};
    if (!tensor.data)
      return;
    for (size_t other = 0; other < index; ++other)
      if (outputs[other].data && overlap(tensor.data, tensor.bytes, outputs[other].data, outputs[other].bytes))
        refuse("output '" + type.entry.name + "' shares memory with another one");
    bool isStatic = std::find(type.entry.sizes.begin(), type.entry.sizes.end(), DLC_DYNAMIC) == type.entry.sizes.end();
    uint64_t bytes = isStatic ? elementsOf(type.type.sizes, type.entry.sizes.size()) * static_cast<uint64_t>(type.entry.elementBytes) : tensor.bytes;
    bool isFree = std::none_of(inputs, inputs + engine.inputs.size(), [&](const dlc_tensor &input) {
      return overlap(tensor.data, tensor.bytes, input.data, input.bytes);
    });
    bool isAligned = reinterpret_cast<uintptr_t>(tensor.data) % static_cast<uint64_t>(type.entry.elementBytes) == 0;
    if (isFree && isAligned && bytes <= tensor.bytes)
      resultMemory[index] = {tensor.data, bytes, type.label.c_str()};
  }

  void makeTable() {
    if (!resultRecord.empty())
      pointers.push_back(resultRecord.data());
    for (std::vector<int64_t> &record : inputRecords)
      pointers.push_back(record.data());
    for (void *&pointer : pointers)
      table.push_back(&pointer);
    for (ParamRecord &param : engine.params)
      table.push_back(&param.pointer);
  }

  void deliver() {
    std::vector<dlc_tensor> made(outputs, outputs + engine.outputs.size());
    std::string fault;
    for (size_t i = 0; i < made.size(); ++i)
      if (std::string reason = deliverOne(i, made[i]); fault.empty())
        fault = reason;
    if (fault.empty()) {
      std::copy(made.begin(), made.end(), outputs);
      return;
    }
    for (size_t i = 0; i < made.size(); ++i)
      if (made[i].data != outputs[i].data)
        _mlir_memref_to_llvm_free(made[i].data);
    throw EngineError(isOutOfMemory ? DLC_OUT_OF_MEMORY : DLC_INVALID_ARGUMENT, fault);
  }

  bool liesInInput(int64_t address) const {
    return std::any_of(inputs, inputs + engine.inputs.size(),
                       [&](const dlc_tensor &input) { return reinterpret_cast<int64_t>(input.data) == address; });
  }

  // Brings a result to where the caller wants it; why that cannot be, or nothing.
  std::string deliverOne(size_t index, dlc_tensor &tensor) {
    const TensorEntry &entry = engine.outputs[index].entry;
    const int64_t *words = resultRecord.data() + places[index];
    size_t rank = entry.sizes.size();
    uint64_t bytes = elementsOf(words + 3, rank) * static_cast<uint64_t>(entry.elementBytes);
    auto *allocated = reinterpret_cast<uint8_t *>(words[0]);
    auto *source = reinterpret_cast<uint8_t *>(words[1]) + words[2] * entry.elementBytes;
    bool isGiven = resultMemory[index].address && allocated == resultMemory[index].address;
    bool isOwned = !isGiven && !liesInInput(words[0]);
    uint64_t room = tensor.bytes;
    tensor.rank = static_cast<int64_t>(rank);
    std::copy(words + 3, words + 3 + rank, tensor.sizes);
    tensor.bytes = bytes;
    if (isGiven)
      return "";
    if (tensor.data && bytes <= room)
      std::memmove(tensor.data, source, bytes);
    std::string fault;
    if (tensor.data && bytes > room)
      fault = "output '" + entry.name + "' takes " + std::to_string(bytes) + " bytes, and there is room for " + std::to_string(room);
    else if (!tensor.data)
      fault = handOver(tensor, allocated, source, isOwned);
    if (isOwned && tensor.data != allocated)
      _mlir_memref_to_llvm_free(allocated);
    return fault;
  }

  // Gives the caller the memory of a result, or a copy where it is an input's.
  std::string handOver(dlc_tensor &tensor, uint8_t *allocated, const uint8_t *source, bool isOwned) {
    tensor.data = isOwned ? allocated : dlc_try_allocate(0, tensor.bytes);
    if (!tensor.data) {
      isOutOfMemory = true;
      return "out of memory: a result of " + std::to_string(tensor.bytes) + " bytes";
    }
    if (tensor.data != source)
      std::memmove(tensor.data, source, tensor.bytes);
    return "";
  }

  dlc_engine &engine;
  const dlc_tensor *inputs;
  dlc_tensor *outputs;
  std::map<std::string, int64_t> symbols;
  std::vector<std::vector<int64_t>> inputRecords;
  std::vector<int64_t> resultRecord;
  std::vector<size_t> places;
  std::vector<DlcMemory> resultMemory;
  std::vector<void *> pointers;
  std::vector<void *> table;
  bool isOutOfMemory = false;
};

void checkCounts(const dlc_engine &engine, int64_t inputs, int64_t outputs) {
  int64_t takes = dlc_engine_input_count(&engine), gives = dlc_engine_output_count(&engine);
  if (inputs != takes || outputs != gives)
    refuse("the engine takes " + std::to_string(takes) + " inputs and gives " + std::to_string(gives) + " outputs, not " +
           std::to_string(inputs) + " and " + std::to_string(outputs));
}

dlc_status runOnce(dlc_engine &engine, const dlc_tensor *inputs, int64_t inputCount, dlc_tensor *outputs, int64_t outputCount) {
  dlc_status failed = DLC_OK;
  dlc_status status = guarded([&] {
    checkCounts(engine, inputCount, outputCount);
    engine.verify();
    engine.bindWeights();
    PreparedCall call(engine, inputs, outputs);
    try {
      call.run();
    } catch (const PreparedCall::CallFailed &error) {
      failed = error.status;
    }
  });
  return status == DLC_OK ? failed : status;
}

} // namespace

dlc_status dlc_engine_run(dlc_engine *engine, const dlc_tensor *inputs, int64_t inputCount, dlc_tensor *outputs, int64_t outputCount) {
  engine->enter();
  dlc_status status = runOnce(*engine, inputs, inputCount, outputs, outputCount);
  engine->leave();
  return status;
}

dlc_status dlc_engine_run_async(dlc_engine *engine, const dlc_tensor *inputs, int64_t inputCount, dlc_tensor *outputs, int64_t outputCount,
                                dlc_callback callback, void *context) {
  dlc_status status = guarded([&] { checkCounts(*engine, inputCount, outputCount); });
  if (status != DLC_OK)
    return status;
  engine->enter();
  auto body = [=] {
    dlc_status ended = runOnce(*engine, inputs, inputCount, outputs, outputCount);
    engine->leave();
    callback(context, ended, ended == DLC_OK ? nullptr : dlc_last_error());
  };
  try {
    std::thread(body).detach();
  } catch (const std::system_error &error) {
    engine->leave();
    return noteError(DLC_OUT_OF_MEMORY, std::string("a thread cannot be started: ") + error.what());
  }
  return DLC_OK;
}

void dlc_tensor_free(dlc_tensor *tensor) {
  _mlir_memref_to_llvm_free(tensor->data);
  tensor->data = nullptr;
  tensor->bytes = 0;
}
