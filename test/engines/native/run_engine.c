/* Runs an engine on files of bytes: run_engine ENGINE ROWS INPUT OUTPUT. Checks what the interface promises on the way.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlc/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                                                         \
  do {                                                                                                                           \
    if (!(condition)) {                                                                                                          \
      fprintf(stderr, "line %d: %s fails; the last error is: %s\n", __LINE__, #condition, dlc_last_error());                      \
      exit(1);                                                                                                                   \
    }                                                                                                                            \
  } while (0)

static void *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  CHECK(file);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  void *bytes = aligned_alloc(64, (*size + 63) / 64 * 64);
  CHECK(bytes && fread(bytes, 1, *size, file) == *size);
  fclose(file);
  return bytes;
}

static volatile int ended = -1;

static void note_end(void *context, dlc_status status, const char *message) {
  CHECK(context == (void *)&ended && (status == DLC_OK) == (message == NULL));
  ended = status;
}

static void check_signature(dlc_engine *engine) {
  CHECK(dlc_engine_input_count(engine) == 1 && dlc_engine_output_count(engine) == 1);
  const dlc_tensor_type *type = dlc_engine_input(engine, 0);
  CHECK(strcmp(type->name, "x") == 0 && strcmp(type->element, "f32") == 0 && type->element_bytes == 4 && type->rank == 2);
  CHECK(type->sizes[0] == DLC_DYNAMIC && type->sizes[1] == 12 && type->names[0] && !type->names[1] && !type->donated);
  CHECK(!dlc_engine_input(engine, 1) && !dlc_engine_input(engine, -1) && dlc_engine_output(engine, 0)->sizes[1] == 5);
  size_t size;
  CHECK(dlc_engine_manifest(engine, &size)[0] == '{' && size > 100 && strcmp(dlc_engine_target(engine), "cpu") == 0);
  CHECK(dlc_engine_kernel_count(engine) == 0 && !dlc_engine_kernel(engine, 1));
}

static void check_refusals(dlc_engine *engine, dlc_tensor input) {
  dlc_tensor output = {0};
  CHECK(dlc_engine_run(engine, &input, 0, &output, 1) == DLC_INVALID_ARGUMENT && strstr(dlc_last_error(), "takes 1 inputs"));
  dlc_tensor wrong = input;
  wrong.sizes[1] = 11;
  CHECK(dlc_engine_run(engine, &wrong, 1, &output, 1) == DLC_INVALID_ARGUMENT && strstr(dlc_last_error(), "dim 1 is 11 instead of 12"));
  wrong = input;
  wrong.bytes -= 4;
  CHECK(dlc_engine_run(engine, &wrong, 1, &output, 1) == DLC_INVALID_ARGUMENT && strstr(dlc_last_error(), "its shape needs"));
  wrong = input;
  wrong.rank = 1;
  CHECK(dlc_engine_run(engine, &wrong, 1, &output, 1) == DLC_INVALID_ARGUMENT && strstr(dlc_last_error(), "rank 1 instead of 2"));
  wrong.rank = DLC_SIGNATURE_SHAPE;
  CHECK(dlc_engine_run(engine, &wrong, 1, &output, 1) == DLC_INVALID_ARGUMENT && strstr(dlc_last_error(), "the call must give one"));
  char small[8];
  dlc_tensor few = {small, sizeof small, 0, {0}};
  CHECK(dlc_engine_run(engine, &input, 1, &few, 1) == DLC_INVALID_ARGUMENT && strstr(dlc_last_error(), "there is room for 8"));
  CHECK(few.data == small && few.bytes == sizeof small && !output.data);
}

int main(int count, char **arguments) {
  CHECK(count == 5);
  dlc_engine *engine, *copy;
  CHECK(dlc_runtime_version() / 1000000 == DLC_RUNTIME_MAJOR);
  CHECK(dlc_engine_load("/nowhere.dlce", NULL, &engine) == DLC_BAD_ENGINE && !engine && strstr(dlc_last_error(), "/nowhere.dlce"));
  dlc_options options = {sizeof options, 2, 0, NULL, 1};
  CHECK(dlc_engine_load(arguments[1], &options, &engine) == DLC_OK);
  check_signature(engine);

  size_t bytes, engine_bytes;
  dlc_tensor input = {read_file(arguments[3], &bytes), 0, 2, {atoi(arguments[2]), 12}};
  input.bytes = bytes;
  check_refusals(engine, input);
  dlc_tensor first = {0};
  CHECK(dlc_engine_run(engine, &input, 1, &first, 1) == DLC_OK);
  CHECK(first.rank == 2 && first.sizes[0] == input.sizes[0] && first.sizes[1] == 5 && first.bytes == 20 * (uint64_t)input.sizes[0]);

  /* In the caller's memory, larger than needed; and from an engine in memory, whose output is written over its input. */
  void *room = calloc(1, first.bytes + 64);
  dlc_tensor second = {room, first.bytes + 64, 0, {0}};
  CHECK(dlc_engine_run(engine, &input, 1, &second, 1) == DLC_OK);
  CHECK(second.data == room && second.bytes == first.bytes && memcmp(first.data, room, first.bytes) == 0);
  void *memory = read_file(arguments[1], &engine_bytes);
  CHECK(dlc_engine_load_memory(memory, engine_bytes, NULL, &copy) == DLC_OK);
  void *both = malloc(input.bytes);
  memcpy(both, input.data, input.bytes);
  dlc_tensor over = {both, input.bytes, 2, {input.sizes[0], 12}}, result = {both, input.bytes, 0, {0}};
  CHECK(dlc_engine_run(copy, &over, 1, &result, 1) == DLC_OK && memcmp(first.data, both, first.bytes) == 0);
  dlc_engine_free(copy);

  dlc_tensor third = {0};
  CHECK(dlc_engine_run_async(engine, &input, 1, &third, 1, note_end, (void *)&ended) == DLC_OK);
  while (ended < 0)
    usleep(100);
  CHECK(ended == DLC_OK && memcmp(first.data, third.data, first.bytes) == 0);
  dlc_engine_cancel(engine);

  FILE *file = fopen(arguments[4], "wb");
  CHECK(file && fwrite(first.data, 1, first.bytes, file) == first.bytes && fclose(file) == 0);
  dlc_tensor_free(&first);
  dlc_tensor_free(&third);
  dlc_engine_free(engine);
  dlc_engine_free(NULL);
  free(room);
  free(both);
  free(memory);
  free(input.data);
  return 0;
}
