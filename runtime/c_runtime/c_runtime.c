/* The runtime of models in native code for small systems: one thread, C alone, no memory but the program's arena.
 *
 * The arena holds the context, the descriptors of a call, and a stack of blocks for what the code allocates. A block that is freed below
 * others stays until these are freed. analysis/arena_size.py computes how far the stack grows, so that no call can run out of it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlc/c_runtime.h>

#include <setjmp.h>
#include <string.h>

enum { OK = 0, INVALID_ARGUMENT = 1, OUT_OF_MEMORY = 2, MESSAGE_BYTES = 256 };

/* Before the bytes of a block; as long as the alignment, which it keeps. */
typedef struct block {
  struct block *previous;
  unsigned char *end;
  int is_free;
} block;

struct dlc_c_runtime_context {
  const dlc_native_model *model;
  int64_t *params;       /* descriptors of the parameters, one after the other */
  int64_t *words;        /* descriptors of a call: results, then inputs */
  void **pointers;       /* to the descriptors: results (one for all), inputs, parameters */
  void **table;          /* of the entry: to the pointers */
  unsigned char *blocks; /* where the stack of blocks begins */
  unsigned char *end;
  block *last;
  void *const *results;
  jmp_buf failed;
};

typedef char context_fits[sizeof(struct dlc_c_runtime_context) <= DLC_C_RUNTIME_BYTES ? 1 : -1];
typedef char block_fits[sizeof(block) <= DLC_C_RUNTIME_ALIGNMENT ? 1 : -1];

static dlc_c_runtime_context *running;
static int32_t status;
static char message[MESSAGE_BYTES];

/* What models call; MLIR's names of some are replaced when a model is written. */
void *dlc_memref_alloc(uint64_t size);
void *dlc_memref_aligned_alloc(uint64_t alignment, uint64_t size);
void dlc_memref_free(void *pointer);
void *dlc_allocate(uint64_t size, const char *what);
void *dlc_result_memory(int64_t index, uint64_t size);
void dlc_memref_copy(int64_t element, void *source, void *target);
void dlc_parallel_for(void (*body)(void *, int64_t, int64_t), void *context, int64_t n);
void dlc_parallel_for_uneven(void (*body)(void *, int64_t, int64_t), void *context, int64_t n, int64_t first, int64_t last, int64_t least);
void dlc_doacross(void (*body)(void *, int64_t, int64_t), void *context, int64_t rows);
void dlc_await_column(int64_t column);
void dlc_finish_column(int64_t column);
int dlc_num_threads(void);
void dlc_begin_kernel(const char *nodes);
void dlc_raise(const char *text) __attribute__((noreturn));
void dlc_raise_dims(const char *text, int64_t left, int64_t right) __attribute__((noreturn));

/* --- messages --- */

static size_t append(size_t at, const char *text, size_t length) {
  size_t room = MESSAGE_BYTES - 1 - at;
  length = length < room ? length : room;
  memcpy(message + at, text, length);
  message[at + length] = 0;
  return at + length;
}

static size_t append_number(size_t at, int64_t number) {
  char digits[24];
  size_t first = sizeof digits;
  uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  do
    digits[--first] = (char)('0' + rest % 10);
  while (rest /= 10);
  if (number < 0)
    digits[--first] = '-';
  return append(at, digits + first, sizeof digits - first);
}

static int32_t fail(int32_t kind, const char *model, const char *text, const char *name) {
  size_t at = append(0, "model '", 7);
  at = append(at, model, strlen(model));
  at = append(at, "': ", 3);
  at = append(at, text, strlen(text));
  append(at, name, strlen(name));
  return status = kind;
}

const char *dlc_c_runtime_message(void) { return message; }

static void leave(void) { longjmp(running->failed, 1); }

void dlc_raise(const char *text) {
  status = INVALID_ARGUMENT;
  append(0, text, strlen(text));
  leave();
  __builtin_unreachable();
}

/* The last two `{}` of the text become numbers. */
void dlc_raise_dims(const char *text, int64_t left, int64_t right) {
  size_t count = 0, at = 0;
  const char *place;
  for (place = text; (place = strstr(place, "{}")) != NULL; place += 2)
    ++count;
  while ((place = strstr(text, "{}")) != NULL) {
    at = append(at, text, (size_t)(place - text));
    at = count > 2 ? append(at, place, 2) : append_number(at, count == 2 ? left : right);
    text = place + 2;
    --count;
  }
  append(at, text, strlen(text));
  status = INVALID_ARGUMENT;
  leave();
  __builtin_unreachable();
}

/* --- memory --- */

static uint64_t rounded(uint64_t size, uint64_t alignment) { return (size + alignment - 1) / alignment * alignment; }

void *dlc_memref_aligned_alloc(uint64_t alignment, uint64_t size) {
  unsigned char *top = running->last ? running->last->end : running->blocks;
  uint64_t step = alignment > DLC_C_RUNTIME_ALIGNMENT ? alignment : DLC_C_RUNTIME_ALIGNMENT;
  uint64_t skipped = rounded((uintptr_t)top + DLC_C_RUNTIME_ALIGNMENT, step) - (uintptr_t)top;
  uint64_t room = (uint64_t)(running->end - top);
  if (skipped > room || rounded(size ? size : 1, DLC_C_RUNTIME_ALIGNMENT) > room - skipped || size > room) {
    fail(OUT_OF_MEMORY, running->model->name, "the arena is too small for what the code allocates", "");
    leave();
  }
  block *made = (block *)(void *)(top + skipped - DLC_C_RUNTIME_ALIGNMENT);
  made->previous = running->last;
  made->end = top + skipped + rounded(size ? size : 1, DLC_C_RUNTIME_ALIGNMENT);
  made->is_free = 0;
  running->last = made;
  return top + skipped;
}

void *dlc_memref_alloc(uint64_t size) { return dlc_memref_aligned_alloc(DLC_C_RUNTIME_ALIGNMENT, size); }

void *dlc_allocate(uint64_t size, const char *what) {
  (void)what;
  return dlc_memref_alloc(size);
}

void dlc_memref_free(void *pointer) {
  if (!pointer)
    return;
  ((block *)(void *)((unsigned char *)pointer - DLC_C_RUNTIME_ALIGNMENT))->is_free = 1;
  while (running->last && running->last->is_free)
    running->last = running->last->previous;
}

/* Results have the sizes of the model, which are those of their memory. */
void *dlc_result_memory(int64_t index, uint64_t size) {
  (void)size;
  return running->results[index];
}

/* Descriptors are {allocated, aligned, offset, sizes[rank], strides[rank]}. */
static void copy_dims(int64_t dims, const int64_t *sizes, const int64_t *from, const int64_t *to, const char *source, char *target, size_t element) {
  if (dims == 0 || (dims == 1 && from[0] == 1 && to[0] == 1)) {
    memcpy(target, source, element * (dims ? (size_t)sizes[0] : 1));
    return;
  }
  for (int64_t i = 0; i < sizes[0]; ++i)
    copy_dims(dims - 1, sizes + 1, from + 1, to + 1, source + i * from[0] * (int64_t)element, target + i * to[0] * (int64_t)element, element);
}

typedef struct memref {
  int64_t rank;
  int64_t *words;
} memref;

void dlc_memref_copy(int64_t element, void *source, void *target) {
  const memref *from = source, *to = target;
  int64_t rank = from->rank;
  const char *start = (const char *)(intptr_t)from->words[1] + from->words[2] * element;
  char *end = (char *)(intptr_t)to->words[1] + to->words[2] * element;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (from->words[3 + dim] == 0)
      return;
  copy_dims(rank, from->words + 3, from->words + 3 + rank, to->words + 3 + rank, start, end, (size_t)element);
}

/* --- loops: one thread runs all of it --- */

void dlc_parallel_for(void (*body)(void *, int64_t, int64_t), void *context, int64_t n) {
  if (n > 0)
    body(context, 0, n);
}

void dlc_parallel_for_uneven(void (*body)(void *, int64_t, int64_t), void *context, int64_t n, int64_t first, int64_t last, int64_t least) {
  (void)first, (void)last, (void)least;
  dlc_parallel_for(body, context, n);
}

void dlc_doacross(void (*body)(void *, int64_t, int64_t), void *context, int64_t rows) { dlc_parallel_for(body, context, rows); }
void dlc_await_column(int64_t column) { (void)column; }
void dlc_finish_column(int64_t column) { (void)column; }
int dlc_num_threads(void) { return 1; }
void dlc_begin_kernel(const char *nodes) { (void)nodes; }

/* --- calls --- */

static int64_t *describe(int64_t *words, const dlc_native_tensor *tensor, const void *memory) {
  int64_t stride = 1;
  words[0] = words[1] = (int64_t)(intptr_t)memory;
  words[2] = 0;
  for (int32_t dim = tensor->rank; dim-- > 0;) {
    words[3 + dim] = tensor->sizes[dim];
    words[3 + tensor->rank + dim] = stride;
    stride *= tensor->sizes[dim];
  }
  return words + 3 + 2 * tensor->rank;
}

static size_t bytes_of(const dlc_native_tensor *tensor) {
  size_t bytes = (size_t)tensor->element_bytes;
  for (int32_t dim = 0; dim < tensor->rank; ++dim)
    bytes *= (size_t)tensor->sizes[dim];
  return bytes;
}

static size_t words_of(const dlc_native_tensor *tensors, int32_t count) {
  size_t words = 0;
  for (int32_t i = 0; i < count; ++i)
    words += 3 + 2 * (size_t)tensors[i].rank;
  return words;
}

static int overlap(const void *left, size_t left_bytes, const void *right, size_t right_bytes) {
  uintptr_t first = (uintptr_t)left, second = (uintptr_t)right;
  return left_bytes && right_bytes && first < second + right_bytes && second < first + left_bytes;
}

/* Pointers of the table do not change: descriptors stay where they are. */
static void fill_table(dlc_c_runtime_context *context) {
  const dlc_native_model *model = context->model;
  int64_t *words = context->words;
  int32_t count = 0;
  if (model->output_count)
    context->pointers[count++] = words;
  words += words_of(model->outputs, model->output_count);
  for (int32_t i = 0; i < model->input_count; ++i) {
    context->pointers[count++] = words;
    words += 3 + 2 * model->inputs[i].rank;
  }
  words = context->params;
  for (int32_t i = 0; i < model->param_count; ++i) {
    context->pointers[count++] = words;
    words = describe(words, &model->params[i], (const unsigned char *)model->weights.memory + model->places[i]);
  }
  for (int32_t i = 0; i < count; ++i)
    context->table[i] = &context->pointers[i];
}

int32_t dlc_c_runtime_init(const dlc_native_model *model, void *arena, size_t bytes, size_t needed, dlc_c_runtime_context **made) {
  *made = NULL;
  if (model->abi != DLC_NATIVE_ABI)
    return fail(INVALID_ARGUMENT, model->name, "it was generated for another version of the runtime", "");
  if (!arena || (uintptr_t)arena % DLC_C_RUNTIME_ALIGNMENT)
    return fail(INVALID_ARGUMENT, model->name, "the arena is null, or does not begin at a multiple of 64 bytes", "");
  if (bytes < needed)
    return fail(OUT_OF_MEMORY, model->name, "the arena has fewer bytes than the header asks for", "");
  dlc_c_runtime_context *context = arena;
  size_t entries = 1 + (size_t)model->input_count + (size_t)model->param_count;
  size_t call = words_of(model->outputs, model->output_count) + words_of(model->inputs, model->input_count);
  unsigned char *place = (unsigned char *)arena + DLC_C_RUNTIME_BYTES;
  context->model = model;
  context->words = (int64_t *)(void *)place;
  context->params = context->words + call;
  context->pointers = (void **)(context->params + words_of(model->params, model->param_count));
  context->table = context->pointers + entries;
  size_t used = (size_t)((unsigned char *)(context->table + entries) - (unsigned char *)arena);
  context->blocks = (unsigned char *)arena + rounded(used, DLC_C_RUNTIME_ALIGNMENT);
  context->end = (unsigned char *)arena + bytes;
  fill_table(context);
  *made = context;
  return OK;
}

static int32_t check_memory(const dlc_native_model *model, const dlc_native_tensor *tensor, const void *memory) {
  if (!memory && bytes_of(tensor))
    return fail(INVALID_ARGUMENT, model->name, "null was given for ", tensor->name);
  if ((uintptr_t)memory % (uintptr_t)tensor->element_bytes)
    return fail(INVALID_ARGUMENT, model->name, "memory is not aligned to its elements, of ", tensor->name);
  return OK;
}

static int32_t check_result(const dlc_native_model *model, int32_t index, const void *const *inputs, void *const *results) {
  const dlc_native_tensor *tensor = &model->outputs[index];
  if (check_memory(model, tensor, results[index]))
    return status;
  for (int32_t i = 0; i < model->input_count; ++i)
    if (overlap(results[index], bytes_of(tensor), inputs[i], bytes_of(&model->inputs[i])))
      return fail(INVALID_ARGUMENT, model->name, "memory of an input was given for ", tensor->name);
  for (int32_t i = 0; i < index; ++i)
    if (overlap(results[index], bytes_of(tensor), results[i], bytes_of(&model->outputs[i])))
      return fail(INVALID_ARGUMENT, model->name, "memory of another output was given for ", tensor->name);
  return OK;
}

/* Brings results that the code left elsewhere (an input, a weight, another result) to their places. */
static void deliver(const dlc_c_runtime_context *context) {
  const dlc_native_model *model = context->model;
  const int64_t *words = context->words;
  for (int32_t i = 0; i < model->output_count; ++i) {
    const dlc_native_tensor *tensor = &model->outputs[i];
    const unsigned char *source = (const unsigned char *)(intptr_t)words[1] + words[2] * tensor->element_bytes;
    if (source != context->results[i])
      memcpy(context->results[i], source, bytes_of(tensor));
    words += 3 + 2 * tensor->rank;
  }
}

int32_t dlc_c_runtime_run(dlc_c_runtime_context *context, const void *const *inputs, void *const *results) {
  const dlc_native_model *model = context->model;
  int64_t *words = context->words + words_of(model->outputs, model->output_count);
  for (int32_t i = 0; i < model->input_count; ++i) {
    if (check_memory(model, &model->inputs[i], inputs[i]))
      return status;
    words = describe(words, &model->inputs[i], inputs[i]);
  }
  for (int32_t i = 0; i < model->output_count; ++i)
    if (check_result(model, i, inputs, results))
      return status;
  status = OK;
  running = context;
  context->last = NULL;
  context->results = results;
  if (setjmp(context->failed) == 0) {
    model->entry(context->table);
    deliver(context);
  }
  running = NULL;
  return status;
}
