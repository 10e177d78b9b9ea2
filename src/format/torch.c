/* The globals that torch.save names, and what they stand for: dicts, storages, tensors, parameters. */
#include "format/pickle.h"

#include <inttypes.h>

#define STORAGE(name, dtype, bits)                                                                                     \
    { "torch", name "Storage", WICK__STORAGE_TYPE, dtype, bits }
#define TYPE(name, dtype, bits)                                                                                        \
    { "torch", name, WICK__DTYPE, dtype, bits }

/* Every global that may be named; any other is refused. */
static const struct wick__global globals[] = {
    {"collections", "OrderedDict", WICK__ORDERED_DICT, -1, 0},
    {"torch._utils", "_rebuild_tensor_v2", WICK__REBUILD_V2, -1, 0},
    {"torch._utils", "_rebuild_tensor_v3", WICK__REBUILD_V3, -1, 0},
    {"torch._utils", "_rebuild_parameter", WICK__REBUILD_PARAMETER, -1, 0},
    {"torch", "Size", WICK__SIZE, -1, 0},
    {"torch.storage", "UntypedStorage", WICK__UNTYPED, WICK_DTYPE_u8, 8},
    STORAGE("Bool", WICK_DTYPE_bool, 8),
    STORAGE("Byte", WICK_DTYPE_u8, 8),
    STORAGE("Char", WICK_DTYPE_i8, 8),
    STORAGE("Short", WICK_DTYPE_i16, 16),
    STORAGE("Int", WICK_DTYPE_i32, 32),
    STORAGE("Long", WICK_DTYPE_i64, 64),
    STORAGE("BFloat16", WICK_DTYPE_bf16, 16),
    STORAGE("Half", WICK_DTYPE_f16, 16),
    STORAGE("Float", WICK_DTYPE_f32, 32),
    STORAGE("Double", WICK_DTYPE_f64, 64),
    STORAGE("ComplexFloat", -1, 64),
    STORAGE("ComplexDouble", -1, 128),
    TYPE("bool", WICK_DTYPE_bool, 8),
    TYPE("uint8", WICK_DTYPE_u8, 8),
    TYPE("int8", WICK_DTYPE_i8, 8),
    TYPE("uint16", WICK_DTYPE_u16, 16),
    TYPE("int16", WICK_DTYPE_i16, 16),
    TYPE("uint32", WICK_DTYPE_u32, 32),
    TYPE("int32", WICK_DTYPE_i32, 32),
    TYPE("uint64", WICK_DTYPE_u64, 64),
    TYPE("int64", WICK_DTYPE_i64, 64),
    TYPE("bfloat16", WICK_DTYPE_bf16, 16),
    TYPE("float16", WICK_DTYPE_f16, 16),
    TYPE("float32", WICK_DTYPE_f32, 32),
    TYPE("float64", WICK_DTYPE_f64, 64),
    TYPE("float8_e4m3fn", WICK_DTYPE_f8e4m3, 8),
    TYPE("float8_e5m2", WICK_DTYPE_f8e5m2, 8),
    TYPE("float8_e8m0fnu", WICK_DTYPE_f8e8m0, 8),
    TYPE("float8_e4m3fnuz", -1, 8),
    TYPE("float8_e5m2fnuz", -1, 8),
    TYPE("complex32", -1, 32),
    TYPE("complex64", -1, 64),
    TYPE("complex128", -1, 128),
};

const struct wick__global *wick__torch_global(const char *module, const char *name) {
    for (size_t i = 0; i < sizeof globals / sizeof *globals; i++)
        if (strcmp(module, globals[i].module) == 0 && strcmp(name, globals[i].name) == 0) return &globals[i];
    return NULL;
}

/* The i-th item of a tuple if there is one of this kind, otherwise NULL. */
static const struct wick__value *item(const struct wick__value *tuple, size_t i, enum wick__value_kind kind) {
    return i < tuple->list.n && tuple->list.items[i]->kind == kind ? tuple->list.items[i] : NULL;
}

/* OrderedDict() or OrderedDict([[key, value], ...]). */
static enum wick_status ordered_dict(struct wick_archive *archive, const struct wick__value *arguments,
                                     struct wick__value **result) {
    struct wick__value *dict = wick__value_new(archive, WICK__DICT);
    if (!dict) return WICK_MEMORY;
    const struct wick__value *pairs = item(arguments, 0, WICK__LIST);
    if (arguments->list.n > 1 || (arguments->list.n == 1 && !pairs))
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "data.pkl: OrderedDict is made of what is not a list");
    for (size_t i = 0; pairs && i < pairs->list.n; i++) {
        const struct wick__value *pair = pairs->list.items[i];
        if ((pair->kind != WICK__LIST && pair->kind != WICK__TUPLE) || pair->list.n != 2)
            return wick__archive_fail(archive, WICK_FORMAT, NULL,
                                      "data.pkl: OrderedDict is made of what are not pairs");
        WICK__TRY(wick__value_append(archive, dict, pair->list.items[0]));
        WICK__TRY(wick__value_append(archive, dict, pair->list.items[1]));
    }
    *result = dict;
    return WICK_OK;
}

/* _rebuild_tensor_v2(storage, offset, shape, stride, requires_grad, hooks, [metadata]);
 * _rebuild_tensor_v3(storage, offset, shape, stride, requires_grad, hooks, dtype, [metadata]). */
static enum wick_status rebuild_tensor(struct wick_archive *archive, const struct wick__global *global,
                                       const struct wick__value *arguments, struct wick__value **result) {
    bool third = global->what == WICK__REBUILD_V3;
    const struct wick__value *storage = item(arguments, 0, WICK__STORAGE), *offset = item(arguments, 1, WICK__INT);
    const struct wick__value *shape = item(arguments, 2, WICK__TUPLE), *stride = item(arguments, 3, WICK__TUPLE);
    const struct wick__value *type = third ? item(arguments, 6, WICK__GLOBAL) : NULL;
    size_t least = third ? 7 : 6;
    if (arguments->list.n < least || arguments->list.n > least + 1 || !storage || !offset || !shape || !stride ||
        shape->list.n != stride->list.n || (third && (!type || type->global->what != WICK__DTYPE)) ||
        (!third && storage->storage->type->what == WICK__UNTYPED))
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "data.pkl: %s does not get the arguments it takes",
                                  global->name);
    for (size_t i = 0; i < shape->list.n; i++)
        if (!item(shape, i, WICK__INT) || !item(stride, i, WICK__INT))
            return wick__archive_fail(archive, WICK_FORMAT, NULL, "data.pkl: a shape or stride is not of integers");
    struct wick__tensor_value *tensor = wick__arena_alloc(&archive->arena, sizeof *tensor);
    *result = wick__value_new(archive, WICK__TENSOR);
    if (!tensor || !*result) return WICK_MEMORY;
    *tensor = (struct wick__tensor_value){storage->storage, type ? type->global : storage->storage->type,
                                          offset->integer, shape, stride};
    (*result)->tensor = tensor;
    return WICK_OK;
}

enum wick_status wick__torch_call(struct wick_archive *archive, const struct wick__global *global,
                                  const struct wick__value *arguments, struct wick__value **result) {
    switch (global->what) {
    case WICK__ORDERED_DICT: return ordered_dict(archive, arguments, result);
    case WICK__REBUILD_V2:
    case WICK__REBUILD_V3: return rebuild_tensor(archive, global, arguments, result);
    case WICK__REBUILD_PARAMETER: /* (tensor, requires_grad, hooks) */
        if (!item(arguments, 0, WICK__TENSOR)) break;
        *result = arguments->list.items[0];
        return WICK_OK;
    case WICK__SIZE: /* (sizes) */
        if (!item(arguments, 0, WICK__TUPLE) && !item(arguments, 0, WICK__LIST)) break;
        *result = arguments->list.items[0];
        return WICK_OK;
    default: break;
    }
    return wick__archive_fail(archive, WICK_FORMAT, NULL, "data.pkl: %s.%s does not get the arguments it takes",
                              global->module, global->name);
}

/* ("storage", type, key, location, number of elements); what comes after is for views, of before PyTorch 1.6. */
enum wick_status wick__torch_storage(struct wick_archive *archive, const struct wick__value *id,
                                     struct wick__value **result) {
    static const struct wick__value nothing = {.kind = WICK__TUPLE};
    const struct wick__value *tuple = id->kind == WICK__TUPLE ? id : &nothing;
    const struct wick__value *tag = item(tuple, 0, WICK__TEXT), *type = item(tuple, 1, WICK__GLOBAL);
    const struct wick__value *key = item(tuple, 2, WICK__TEXT), *numel = item(tuple, 4, WICK__INT);
    if (tuple->list.n != 5 || !tag || strcmp(tag->text.bytes, "storage") != 0 || !type || !key || !numel ||
        (type->global->what != WICK__STORAGE_TYPE && type->global->what != WICK__UNTYPED))
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "data.pkl: a persistent id names no storage");
    if (strlen(key->text.bytes) != key->text.n)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "data.pkl: the name of a storage holds a zero byte");
    if (numel->integer < 0)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "data.pkl: a storage has %" PRId64 " elements",
                                  numel->integer);
    struct wick__storage_value *storage = wick__arena_alloc(&archive->arena, sizeof *storage);
    *result = wick__value_new(archive, WICK__STORAGE);
    if (!storage || !*result) return WICK_MEMORY;
    *storage = (struct wick__storage_value){type->global, key->text.bytes, numel->integer};
    (*result)->storage = storage;
    return WICK_OK;
}
