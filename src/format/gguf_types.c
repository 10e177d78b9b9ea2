/* GGUF's types of tensors, and the dtypes they are. */
#include "format/gguf.h"

static const struct wick__gguf_type types[] = {
    {0, "F32", WICK_DTYPE_f32},        {1, "F16", WICK_DTYPE_f16},          {2, "Q4_0", WICK_DTYPE_q4_0},
    {3, "Q4_1", WICK_DTYPE_q4_1},      {6, "Q5_0", WICK_DTYPE_q5_0},        {7, "Q5_1", WICK_DTYPE_q5_1},
    {8, "Q8_0", WICK_DTYPE_q8_0},      {9, "Q8_1", WICK_DTYPE_q8_1},        {10, "Q2_K", WICK_DTYPE_q2_k},
    {11, "Q3_K", WICK_DTYPE_q3_k},     {12, "Q4_K", WICK_DTYPE_q4_k},       {13, "Q5_K", WICK_DTYPE_q5_k},
    {14, "Q6_K", WICK_DTYPE_q6_k},     {15, "Q8_K", WICK_DTYPE_q8_k},       {16, "IQ2_XXS", WICK_DTYPE_iq2_xxs},
    {17, "IQ2_XS", WICK_DTYPE_iq2_xs}, {18, "IQ3_XXS", WICK_DTYPE_iq3_xxs}, {19, "IQ1_S", WICK_DTYPE_iq1_s},
    {20, "IQ4_NL", WICK_DTYPE_iq4_nl}, {21, "IQ3_S", WICK_DTYPE_iq3_s},     {22, "IQ2_S", WICK_DTYPE_iq2_s},
    {23, "IQ4_XS", WICK_DTYPE_iq4_xs}, {24, "I8", WICK_DTYPE_i8},           {25, "I16", WICK_DTYPE_i16},
    {26, "I32", WICK_DTYPE_i32},       {27, "I64", WICK_DTYPE_i64},         {28, "F64", WICK_DTYPE_f64},
    {29, "IQ1_M", WICK_DTYPE_iq1_m},   {30, "BF16", WICK_DTYPE_bf16},       {34, "TQ1_0", WICK_DTYPE_tq1_0},
    {35, "TQ2_0", WICK_DTYPE_tq2_0},   {39, "MXFP4", WICK_DTYPE_mxfp4},     {40, "NVFP4", WICK_DTYPE_nvfp4},
    {41, "Q1_0", WICK_DTYPE_q1_0},     {42, "Q2_0", WICK_DTYPE_q2_0},
};
enum { TYPES = sizeof types / sizeof *types };

const struct wick__gguf_type *wick__gguf_type(uint64_t number) {
    for (int i = 0; i < TYPES; i++)
        if (types[i].number == number) return &types[i];
    return NULL;
}

const struct wick__gguf_type *wick__gguf_type_of(enum wick_dtype dtype) {
    for (int i = 0; i < TYPES; i++)
        if (types[i].dtype == dtype) return &types[i];
    return NULL;
}
