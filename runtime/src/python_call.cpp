// Calls from Python: a built-in function takes the arguments, makes arrays for the results if need be, and runs the entry.
//
// The same steps in Python take 3 us; here they take 0.4. It needs the layout of CPython's object header, which dlc.runtime
// checks first, CPython's stable ABI, and two functions of NumPy's C interface. What is out of the ordinary is left to Python.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc_runtime.h"
#include "python.h"

#include <algorithm>
#include <iterator>
#include <memory>

namespace {

constexpr const char *kCallerName = "dlc.caller", *kMemoryName = "dlc.memory";
// From here on results lie in the runtime's memory: aligned to whole vectors, and from 64 KiB up kept from call to call.
constexpr int64_t kOwnMemoryFrom = 1024;

// Places in NumPy's table of functions, the same in all versions since 1.7.
constexpr int kNewFromDescr = 94, kSetBaseObject = 282;
using NewFromDescr = PyObject *(*)(const void *type, PyObject *dtype, int rank, const int64_t *sizes, const int64_t *strides,
                                   void *data, int flags, PyObject *object);
using SetBaseObject = int (*)(PyObject *array, PyObject *base);
// Contiguous in rows, aligned, writeable.
constexpr int kOrdinary = 0x501;

struct Release {
  void operator()(PyObject *object) const { Py_DecRef(object); }
};
// One reference to an object; null after an error, which Python then knows.
using Reference = std::unique_ptr<PyObject, Release>;

Reference shared(PyObject *object) {
  Py_IncRef(object);
  return Reference(object);
}

PyObject *none() { return shared(&_Py_NoneStruct).release(); }

void freeMemory(PyObject *capsule) { _mlir_memref_to_llvm_free(PyCapsule_GetPointer(capsule, kMemoryName)); }

class Numpy {
public:
  Numpy(const void *type, void *const *table)
      : type(type), create(reinterpret_cast<NewFromDescr>(table[kNewFromDescr])),
        setBase(reinterpret_cast<SetBaseObject>(table[kSetBaseObject])) {}

  // An array that owns its memory, for a result. Null where there is none: after a Python error, or where memory has run out.
  Reference newArray(const DlcArray &output) const {
    if (output.newBytes < kOwnMemoryFrom)
      return arrayAt(nullptr, 0, output);
    void *memory = dlc_try_allocate(0, static_cast<uint64_t>(output.newBytes));
    return memory ? owningArray(memory, memory, output) : nullptr;
  }

  // An array of the result's sizes that starts at `data` and owns the `memory` that it lies in. Null after a Python error; the
  // memory is freed then.
  Reference owningArray(void *memory, void *data, const DlcArray &output) const {
    Reference owner(PyCapsule_New(memory, kMemoryName, freeMemory));
    if (!owner) {
      _mlir_memref_to_llvm_free(memory);
      return nullptr;
    }
    Reference array = arrayAt(data, kOrdinary, output);
    if (!array || setBase(array.get(), owner.release()) < 0)
      return nullptr;
    return array;
  }

private:
  Reference arrayAt(void *memory, int flags, const DlcArray &output) const {
    PyObject *dtype = static_cast<PyObject *>(const_cast<void *>(output.dtype));
    Py_IncRef(dtype); // create takes a reference
    return Reference(create(type, dtype, static_cast<int>(output.rank), output.sizes, nullptr, memory, flags, nullptr));
  }

  const void *type;
  NewFromDescr create;
  SetBaseObject setBase;
};

// The arrays that are noted in a call's record, inputs before results, with a reference to each of them.
class Arrays {
public:
  explicit Arrays(DlcArrayCall &call) : call(call) {}
  Arrays(const Arrays &) = delete;
  ~Arrays() {
    for (int64_t i = 0; i < held; ++i)
      if (call.arrays[i].object)
        Py_DecRef(objectOf(call.arrays[i]));
  }

  // Notes the next arrays: by position, in one list or tuple, or in one dict by `names`; false for any others.
  bool read(PyObject *const *given, int64_t count, PyObject *names) {
    int64_t expected = PyTuple_Size(names);
    PyObject *only = count == 1 ? given[0] : nullptr;
    if (only && only->type == &PyDict_Type)
      return PyDict_Size(only) == expected &&
             holdAll(expected, [&](int64_t i) { return PyDict_GetItem(only, PyTuple_GetItem(names, i)); });
    if (only && only->type == &PyList_Type)
      return PyList_Size(only) == expected && holdAll(expected, [&](int64_t i) { return PyList_GetItem(only, i); });
    if (only && only->type == &PyTuple_Type)
      return PyTuple_Size(only) == expected && holdAll(expected, [&](int64_t i) { return PyTuple_GetItem(only, i); });
    return count == expected && holdAll(expected, [&](int64_t i) { return given[i]; });
  }

  // Notes new arrays for the results, none where its record wants none; false after a Python error, or without memory.
  bool makeResults(const Numpy &numpy) {
    return holdAll(call.call.resultCount, [&](int64_t) {
      const DlcArray &output = call.arrays[held];
      made = output.newBytes ? numpy.newArray(output) : shared(&_Py_NoneStruct);
      return made.get();
    });
  }

  // Whether all results lie in the arrays that were noted for them, or in memory of their own; where the caller gave an array
  // (`areGiven`), the result must lie in it.
  bool areReadable(bool areGiven) const {
    return std::all_of(outputs(), outputs() + call.call.resultCount, [&](const DlcArray &output) {
      DlcPlace place = dlc_place_of(&output);
      return place == DLC_IN_ARRAY || (place == DLC_IN_OWN_MEMORY && !(areGiven && output.object));
    });
  }

  // Notes an array that owns its memory for each result that lies in its own; false after a Python error.
  bool readResults(const Numpy &numpy) {
    bool isRead = true;
    for (int64_t i = 0; i < call.call.resultCount; ++i) {
      DlcArray &output = outputs()[i];
      if (dlc_place_of(&output) == DLC_IN_OWN_MEMORY)
        isRead = readResult(output, numpy, isRead);
    }
    return isRead;
  }

  // The noted results in a new list; null after a Python error.
  Reference results() const {
    Reference list(PyList_New(call.call.resultCount));
    for (int64_t i = 0; list && i < call.call.resultCount; ++i) {
      PyObject *result = outputs()[i].object ? objectOf(outputs()[i]) : &_Py_NoneStruct;
      PyList_SetItem(list.get(), i, shared(result).release());
    }
    return list;
  }

private:
  // Notes the array of one result, or frees its memory after an error.
  static bool readResult(DlcArray &output, const Numpy &numpy, bool isWanted) {
    if (output.object) {
      Py_DecRef(objectOf(output));
      output.object = nullptr;
      output.newBytes = 0; // made in vain; for other sizes there is one again
    }
    auto *memory = reinterpret_cast<char *>(output.descriptor[0]);
    if (!isWanted) {
      _mlir_memref_to_llvm_free(memory);
      return false;
    }
    dlc_expect_sizes(&output, output.descriptor + 3);
    auto *data = reinterpret_cast<char *>(output.descriptor[1]) + output.descriptor[2] * output.itemSize;
    output.object = reinterpret_cast<const NumpyArray *>(numpy.owningArray(memory, data, output).release());
    return output.object != nullptr;
  }

  static PyObject *objectOf(const DlcArray &array) {
    return const_cast<PyObject *>(reinterpret_cast<const PyObject *>(array.object));
  }

  DlcArray *outputs() const { return call.arrays + call.inputCount; }

  // None stands for no array.
  template <typename Get> bool holdAll(int64_t count, Get get) {
    for (int64_t i = 0; i < count; ++i, ++held) {
      PyObject *array = get(i);
      if (!array)
        return false;
      call.arrays[held].object = array == &_Py_NoneStruct ? nullptr : reinterpret_cast<const NumpyArray *>(array);
      if (call.arrays[held].object)
        Py_IncRef(array);
    }
    return true;
  }

  DlcArrayCall &call;
  int64_t held = 0;
  Reference made;
};

DlcOutcome runUnlocked(const DlcArrayCall &call, bool areGiven) {
  void *thread = PyEval_SaveThread();
  DlcOutcome outcome = dlc_call_arrays(&call, areGiven);
  PyEval_RestoreThread(thread);
  return outcome;
}

// What the functions of one `dlc_new_callers` share.
class Caller {
public:
  Caller(PyObject *idle, PyObject *inputs, PyObject *outputs, Numpy numpy)
      : idle(shared(idle)), inputs(shared(inputs)), outputs(shared(outputs)), numpy(numpy) {}

  // `takesSizes` is as for dlc_bind_inputs.
  PyObject *call(PyObject *const *given, int64_t count, bool takesSizes) const {
    return onRecord(false, [&](DlcArrayCall &record, Arrays &arrays) {
      if (!arrays.read(given, count, inputs.get()) || dlc_bind_inputs(&record, takesSizes) || !arrays.makeResults(numpy))
        return DLC_UNFIT;
      return runUnlocked(record, false);
    });
  }

  PyObject *run(PyObject *const *given, int64_t count, bool takesSizes) const {
    if (count != 2)
      return none();
    return onRecord(true, [&](DlcArrayCall &record, Arrays &arrays) {
      if (!arrays.read(given, 1, inputs.get()) || !arrays.read(given + 1, 1, outputs.get()) || dlc_bind_inputs(&record, takesSizes))
        return DLC_UNFIT;
      return runUnlocked(record, true);
    });
  }

private:
  // Takes a record, which goes back unless its results are still to be read, and has `run` note arrays in it and run it. Those for
  // results are the caller's (`areGiven`), or new ones.
  template <typename Run> PyObject *onRecord(bool areGiven, Run run) const {
    int64_t last = PyList_Size(idle.get()) - 1;
    if (last < 0)
      return none();
    Reference address = shared(PyList_GetItem(idle.get(), last));
    PyList_SetSlice(idle.get(), last, last + 1, nullptr);
    auto &record = *static_cast<DlcArrayCall *>(PyLong_AsVoidPtr(address.get()));
    Arrays arrays(record);
    DlcOutcome outcome = run(record, arrays);
    bool isRead = outcome == DLC_ELSEWHERE && arrays.areReadable(areGiven);
    bool isDone = outcome == DLC_DONE || (isRead && arrays.readResults(numpy));
    if (isDone || isRead || outcome == DLC_UNFIT)
      PyList_Append(idle.get(), address.get());
    if (PyErr_Occurred())
      return nullptr;
    if (outcome == DLC_UNFIT)
      return none();
    Reference results = arrays.results();
    if (isDone)
      return results.release();
    Reference number(PyLong_FromLong(outcome));
    return number && results ? PyTuple_Pack(3, number.get(), address.get(), results.get()) : nullptr;
  }

  Reference idle;
  Reference inputs;
  Reference outputs;
  Numpy numpy;
};

const Caller &callerOf(PyObject *capsule) { return *static_cast<const Caller *>(PyCapsule_GetPointer(capsule, kCallerName)); }

template <bool takesSizes> PyObject *callCaller(PyObject *self, PyObject *const *given, int64_t count) {
  return callerOf(self).call(given, count, takesSizes);
}

template <bool takesSizes> PyObject *runCaller(PyObject *self, PyObject *const *given, int64_t count) {
  return callerOf(self).run(given, count, takesSizes);
}

void deleteCaller(PyObject *capsule) { delete &callerOf(capsule); }

PyMethodDef definitions[] = {{"call", callCaller<true>, kFastCall, nullptr},
                             {"run", runCaller<true>, kFastCall, nullptr},
                             {"call_again", callCaller<false>, kFastCall, nullptr},
                             {"run_again", runCaller<false>, kFastCall, nullptr}};

} // namespace

int32_t dlc_has_python() { return Py_DecRef && PyCFunction_NewEx && PyCapsule_New && PyEval_SaveThread; }

PyObject *dlc_new_callers(PyObject *idle, PyObject *inputs, PyObject *outputs, const void *arrayType, void *const *numpyTable) {
  auto caller = std::make_unique<Caller>(idle, inputs, outputs, Numpy(arrayType, numpyTable));
  Reference capsule(PyCapsule_New(caller.get(), kCallerName, deleteCaller));
  if (!capsule)
    return nullptr;
  caller.release(); // it is the capsule's now
  Reference functions[std::size(definitions)];
  std::transform(std::begin(definitions), std::end(definitions), functions,
                 [&](PyMethodDef &each) { return Reference(PyCFunction_NewEx(&each, capsule.get(), nullptr)); });
  if (!std::all_of(std::begin(functions), std::end(functions), [](const Reference &each) { return each != nullptr; }))
    return nullptr;
  return PyTuple_Pack(4, functions[0].get(), functions[1].get(), functions[2].get(), functions[3].get());
}

PyObject *dlc_new_array(const DlcArray *array, const void *arrayType, void *const *numpyTable) {
  return Numpy(arrayType, numpyTable).newArray(*array).release();
}
