/* attention_step: each sequence in turn. */
#include "cpu/runtime/isa.h"

#include "core/error.h"
#include "step.h"

#include <string.h>

/* Keys of a sequence with the new one; 0: there is no room for that one. */
static int64_t keys_of(const struct wick__call *call, int sequence) {
    const struct wick_tensor *lengths = call->in[WICK__STEP_LENGTHS];
    int64_t room = wick__step_cache(call, sequence)->layout.shape[2];
    if (!lengths) return room;
    int32_t length = ((const int32_t *)wick__data(lengths))[sequence * lengths->layout.stride[0]];
    return length >= 0 && length < room ? length + 1 : 0;
}

/* Puts the new keys and values of a sequence at a position of its cache. */
static void put(const struct wick__call *call, int sequence, int64_t position) {
    const struct wick_tensor *kv = call->in[WICK__STEP_KV], *v = call->in[WICK__STEP_V];
    const struct wick_tensor *cache = wick__step_cache(call, sequence);
    const struct wick__layout *to = &cache->layout;
    int64_t size = (int64_t)wick__size(kv->dtype), keys = v ? kv->layout.shape[1] : to->shape[1];
    if (to->shape[3] == 0) return;
    for (int64_t head = 0; head < to->shape[1]; head++) {
        const struct wick_tensor *x = head < keys ? kv : v;
        const int64_t *stride = x->layout.stride, number = head < keys ? head : head - keys;
        const char *source = (const char *)wick__data(x) + (sequence * stride[0] + number * stride[1]) * size;
        char *target = (char *)wick__data(cache) + (head * to->stride[1] + position * to->stride[2]) * size;
        for (int64_t d = 0; d < to->shape[3]; d++)
            memcpy(target + d * to->stride[3] * size, source + d * stride[3] * size, (size_t)size);
    }
}

wick__kernel_fn WICK__ISA(wick__cpu_attention), WICK__ISA(wick__cpu_attention_step);
enum wick_status WICK__ISA(wick__cpu_attention_step)(const struct wick__call *call) {
    for (int i = 0; i < wick__step_sequences(call); i++) {
        int64_t keys = keys_of(call, i);
        if (keys > 0) put(call, i, keys - 1);
        if (wick__count(call->out[0]) == 0) continue;
        struct wick__step parts;
        struct wick__call one = wick__step_call(call, i, &parts);
        parts.k.layout.shape[2] = parts.v.layout.shape[2] = keys;
        WICK__TRY(WICK__ISA(wick__cpu_attention)(&one));
    }
    return WICK_OK;
}
