/* The allocator hook and the pool: figures, limit, cache, trim. */
#include "tests/test.h"

#include "core/memory.h"

static struct wick_device *cpu;
static struct wick_memory now(void) {
    struct wick_memory memory = {0};
    CHECK_OK(wick_memory_stats(cpu, &memory));
    return memory;
}

static size_t hook_held, hook_calls;

static void *hook_alloc(void *context, size_t nbytes, size_t alignment) {
    void *memory = NULL;
    CHECK(context == &hook_calls && nbytes > 0 && alignment >= 16 && (alignment & (alignment - 1)) == 0);
    hook_calls++;
    hook_held += nbytes;
    return posix_memalign(&memory, alignment, nbytes) == 0 ? memory : NULL;
}

static void hook_free(void *context, void *memory, size_t nbytes) {
    CHECK(context == &hook_calls && memory && hook_held >= nbytes);
    hook_held -= nbytes;
    free(memory);
}

static void check_hook(void) {
    struct wick_allocator hook = {&hook_calls, hook_alloc, hook_free}, half = {NULL, hook_alloc, NULL};
    CHECK_FAILS(wick_allocator_set(&half), WICK_INVALID, "allocator_set: alloc and free must both be given");
    CHECK_OK(wick_allocator_set(&hook));
    cpu = wick_device_open("cpu");
    CHECK(hook_calls > 0 && hook_held == wick_host_memory_used());
    char text[80];
    snprintf(text, sizeof text, "allocator_set: %zu bytes of the present allocator are in use", hook_held);
    CHECK_FAILS(wick_allocator_set(NULL), WICK_INVALID, text);
    struct wick_tensor *x = wick_empty(cpu, WICK_F32, WICK_SHAPE(1000));
    CHECK(hook_held >= 4000 && hook_held == wick_host_memory_used());
    wick_release(x);
    wick_device_close(cpu);
    CHECK_INT(hook_held, 0);
    CHECK_OK(wick_allocator_set(NULL));
}

static void check_pool(void) {
    enum { MIB = 1 << 20 };
    cpu = wick_device_open("cpu");
    CHECK_INT(now().used, 0);
    struct wick_tensor *x = wick_empty(cpu, WICK_U8, WICK_SHAPE(MIB));
    CHECK_INT(now().used, MIB);
    CHECK_INT(now().peak, MIB);
    wick_release(x);
    CHECK_INT(now().used, 0);
    CHECK_INT(now().peak, MIB);
    CHECK(now().cached >= MIB);
    size_t before = wick_host_memory_used();
    x = wick_empty(cpu, WICK_U8, WICK_SHAPE(MIB)); /* comes from the cache */
    CHECK_INT(now().cached, 0);
    CHECK(wick_host_memory_used() < before + 4096);
    wick_release(x);
    CHECK_OK(wick_memory_reset_peak(cpu));
    CHECK_INT(now().peak, 0);
    CHECK_OK(wick_memory_trim(cpu));
    CHECK_INT(now().cached, 0);

    size_t cache = now().cache;
    CHECK_OK(wick_memory_set_cache(cpu, 0));
    wick_release(wick_empty(cpu, WICK_U8, WICK_SHAPE(MIB)));
    CHECK_INT(now().cached, 0);
    CHECK_OK(wick_memory_set_cache(cpu, cache));

    CHECK_INT(now().limit, SIZE_MAX);
    CHECK_OK(wick_memory_set_limit(cpu, 3 * MIB));
    x = wick_empty(cpu, WICK_U8, WICK_SHAPE(2 * MIB));
    CHECK(x != NULL);
    CHECK_FAILS(wick_empty(cpu, WICK_U8, WICK_SHAPE(2 * MIB)), WICK_MEMORY,
                "out of memory: 2097152 bytes for a tensor, 2097152 are in use, the limit is 3145728");
    CHECK_INT(now().used, 2 * MIB);
    wick_release(x);
    x = wick_empty(cpu, WICK_U8, WICK_SHAPE(5 * MIB / 2)); /* the cached block makes way */
    CHECK(x != NULL);
    wick_release(x);
    CHECK_OK(wick_memory_set_limit(cpu, SIZE_MAX));
    CHECK_OK(wick_memory_trim(cpu));

    /* Blocks come back for any size around class borders, and hold what was asked for. */
    for (size_t n = 32 * 1024 - 2; n < 400 * 1024; n = n * 9 / 8 + 1)
        for (size_t d = 0; d < 3; d++) {
            struct wick_tensor *y = wick_empty(cpu, WICK_U8, WICK_SHAPE((int64_t)(n + d)));
            CHECK(y && (uintptr_t)wick_tensor_data(y) % 64 == 0);
            memset(wick_tensor_data(y), 1, n + d);
            wick_release(y);
        }
    CHECK_OK(wick_memory_trim(cpu));
    CHECK_FAILS(wick_memory_stats(cpu, NULL), WICK_INVALID, "memory_stats: memory is NULL");
    CHECK_FAILS(wick_memory_trim(NULL), WICK_INVALID, "memory_trim: device is NULL");
    wick_device_close(cpu);
    CHECK_INT(wick_host_memory_used(), 0);
}

static void check_internal(void) {
    CHECK(wick__calloc(SIZE_MAX, 2) == NULL);
    CHECK_INT(wick_error_status(), WICK_MEMORY);
    wick_error_clear();
    CHECK(wick__alloc_quiet(SIZE_MAX) == NULL);
    CHECK_INT(wick_error_status(), WICK_OK);
    void *nothing = wick__alloc(0);
    CHECK(nothing != NULL);
    wick__free(nothing, 0);
    wick__free(NULL, 100);
    char *block = wick__realloc(NULL, 0, 4);
    memcpy(block, "abc", 4);
    block = wick__realloc(block, 4, 1000);
    CHECK_TEXT(block, "abc");
    wick__free(block, 1000);
    CHECK_INT(wick_host_memory_used(), 0);
}

int main(void) {
    check_internal();
    check_hook();
    check_pool();
    return test_end();
}
