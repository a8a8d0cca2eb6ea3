// Calls from Python: a built-in function takes the arguments, makes arrays for the results if need be, and runs the entry.
//
// The same steps in Python take 3 us; here they take 0.4. It needs the layout of CPython's object header, which dlc.runtime
// checks first, CPython's stable ABI, and two functions of NumPy's C interface. What is out of the ordinary is left to Python.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlc_runtime.h"
#include "python.h"

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
    if (!memory)
      return nullptr;
    Reference owner(PyCapsule_New(memory, kMemoryName, freeMemory));
    if (!owner) {
      _mlir_memref_to_llvm_free(memory);
      return nullptr;
    }
    Reference array = arrayAt(memory, kOrdinary, output);
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
        Py_DecRef(const_cast<PyObject *>(reinterpret_cast<const PyObject *>(call.arrays[i].object)));
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

  // The noted results in a new list; null after a Python error.
  Reference results() const {
    Reference list(PyList_New(call.call.resultCount));
    for (int64_t i = 0; list && i < call.call.resultCount; ++i) {
      const void *object = call.arrays[call.inputCount + i].object;
      auto *result = static_cast<PyObject *>(const_cast<void *>(object ? object : &_Py_NoneStruct));
      PyList_SetItem(list.get(), i, shared(result).release());
    }
    return list;
  }

private:
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

int32_t runUnlocked(const DlcArrayCall &call, bool isForeign) {
  void *thread = PyEval_SaveThread();
  int32_t outcome = dlc_call_arrays(&call, isForeign);
  PyEval_RestoreThread(thread);
  return outcome;
}

// What the functions of one `dlc_new_callers` share.
class Caller {
public:
  Caller(PyObject *idle, PyObject *inputs, PyObject *outputs, Numpy numpy)
      : idle(shared(idle)), inputs(shared(inputs)), outputs(shared(outputs)), numpy(numpy) {}

  PyObject *call(PyObject *const *given, int64_t count) const {
    return onRecord([&](Arrays &arrays) { return arrays.read(given, count, inputs.get()) ? arrays.makeResults(numpy) : false; }, false);
  }

  PyObject *run(PyObject *const *given, int64_t count) const {
    auto read = [&](Arrays &arrays) { return arrays.read(given, 1, inputs.get()) && arrays.read(given + 1, 1, outputs.get()); };
    return count == 2 ? onRecord(read, true) : none();
  }

private:
  // Takes a record, which goes back unless its results are still to be read, and runs it after `note` has noted arrays in it.
  template <typename Note> PyObject *onRecord(Note note, bool isForeign) const {
    int64_t last = PyList_Size(idle.get()) - 1;
    if (last < 0)
      return none();
    Reference address = shared(PyList_GetItem(idle.get(), last));
    PyList_SetSlice(idle.get(), last, last + 1, nullptr);
    auto &record = *static_cast<DlcArrayCall *>(PyLong_AsVoidPtr(address.get()));
    Arrays arrays(record);
    int32_t outcome = note(arrays) ? runUnlocked(record, isForeign) : DLC_UNFIT;
    if (outcome == DLC_UNFIT) {
      PyList_Append(idle.get(), address.get());
      return PyErr_Occurred() ? nullptr : none();
    }
    Reference results = arrays.results();
    if (outcome == DLC_DONE) {
      PyList_Append(idle.get(), address.get());
      return results.release();
    }
    Reference number(PyLong_FromLong(outcome));
    return number && results ? PyTuple_Pack(3, number.get(), address.get(), results.get()) : nullptr;
  }

  Reference idle;
  Reference inputs;
  Reference outputs;
  Numpy numpy;
};

const Caller &callerOf(PyObject *capsule) { return *static_cast<const Caller *>(PyCapsule_GetPointer(capsule, kCallerName)); }

PyObject *callCaller(PyObject *self, PyObject *const *given, int64_t count) { return callerOf(self).call(given, count); }

PyObject *runCaller(PyObject *self, PyObject *const *given, int64_t count) { return callerOf(self).run(given, count); }

void deleteCaller(PyObject *capsule) { delete &callerOf(capsule); }

PyMethodDef callDefinition = {"call", callCaller, kFastCall, nullptr}, runDefinition = {"run", runCaller, kFastCall, nullptr};

} // namespace

int32_t dlc_has_python() { return Py_DecRef && PyCFunction_NewEx && PyCapsule_New && PyEval_SaveThread; }

PyObject *dlc_new_callers(PyObject *idle, PyObject *inputs, PyObject *outputs, const void *arrayType, void *const *numpyTable) {
  auto caller = std::make_unique<Caller>(idle, inputs, outputs, Numpy(arrayType, numpyTable));
  Reference capsule(PyCapsule_New(caller.get(), kCallerName, deleteCaller));
  if (!capsule)
    return nullptr;
  caller.release(); // it is the capsule's now
  Reference call(PyCFunction_NewEx(&callDefinition, capsule.get(), nullptr));
  Reference run(PyCFunction_NewEx(&runDefinition, capsule.get(), nullptr));
  return call && run ? PyTuple_Pack(2, call.get(), run.get()) : nullptr;
}

PyObject *dlc_new_array(const DlcArray *array, const void *arrayType, void *const *numpyTable) {
  return Numpy(arrayType, numpyTable).newArray(*array).release();
}
