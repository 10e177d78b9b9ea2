/* Compares a list of src/rocm/ or src/cuda/ with the vendor's headers, which are included before this: that each type
 * is as large as ours and an integer or a pointer as ours is, that each constant has our value, and that each function
 * that the header declares has our prototype. Compiling is the test.
 * The lists end by undefining these macros, so this is included before each of them. */
#define WICK__TYPE(name, type)                                                                                         \
    _Static_assert(sizeof(name) == sizeof(type) && _Alignof(name) == _Alignof(type), #name ": size");                  \
    _Static_assert(__builtin_classify_type((name)0) == __builtin_classify_type((type)0), #name ": integer or "         \
                                                                                               "pointer");
#define WICK__CONSTANT(name, value) _Static_assert((name) == (value), #name);
#define WICK__FN(need, result, name, parameters)                                                                       \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), result parameters), #name);
