/* Calls of a model whose result is as long as data say: without memory, with room for it, and with too little. */
#include "places.h"

#include <inttypes.h>
#include <stdio.h>

static void show(places_status status, const places_outputs *outputs) {
  if (status)
    printf("%d %s\n", (int)status, places_message());
  else
    printf("%" PRId64 " x %" PRId64 ": %" PRId64 " at the end\n", outputs->y_sizes[0], outputs->y_sizes[1], outputs->y[5]);
}

int main(void) {
  const float x[8] = {0, 1, 0, 2, 0, 0, 3, 0};
  int64_t room[6] = {0};
  places_context *context = NULL;
  if (places_init(NULL, &context))
    return 1;
  places_inputs inputs = {x, 2};
  places_outputs none = {0}, enough = {room, 6, {0}}, few = {room, 5, {0}};
  show(places_run(context, &inputs, &none), &none);
  places_release(none.y);
  show(places_run(context, &inputs, &enough), &enough);
  show(places_run(context, &inputs, &few), &few);
  places_free(context);
  return 0;
}
