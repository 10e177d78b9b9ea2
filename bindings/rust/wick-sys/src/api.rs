// Made by bindings/rust/generate from the list of the API. Change the headers or the generator instead.

/// A number out of status.h.
pub type wick_status = c_uint;
pub const WICK_OK: wick_status = 0;
pub const WICK_INVALID: wick_status = 1;
pub const WICK_SHAPE: wick_status = 2;
pub const WICK_DTYPE: wick_status = 3;
pub const WICK_DEVICE: wick_status = 4;
pub const WICK_CLOSED: wick_status = 5;
pub const WICK_UNSUPPORTED: wick_status = 6;
pub const WICK_RANGE: wick_status = 7;
pub const WICK_OVERFLOW: wick_status = 8;
pub const WICK_MEMORY: wick_status = 9;
pub const WICK_IO: wick_status = 10;
pub const WICK_FORMAT: wick_status = 11;
pub const WICK_DIVIDE: wick_status = 12;
pub const WICK_INTERNAL: wick_status = 13;

/// A number out of status.h.
pub type wick_log_level = c_uint;
pub const WICK_LOG_ERROR: wick_log_level = 0;
pub const WICK_LOG_WARNING: wick_log_level = 1;
pub const WICK_LOG_INFO: wick_log_level = 2;
pub const WICK_LOG_DEBUG: wick_log_level = 3;

/// A number out of dtype.h.
pub type wick_dtype = c_uint;
pub const WICK_DTYPE_u8: wick_dtype = 0;
pub const WICK_DTYPE_u32: wick_dtype = 1;
pub const WICK_DTYPE_i16: wick_dtype = 2;
pub const WICK_DTYPE_i32: wick_dtype = 3;
pub const WICK_DTYPE_i64: wick_dtype = 4;
pub const WICK_DTYPE_bf16: wick_dtype = 5;
pub const WICK_DTYPE_f16: wick_dtype = 6;
pub const WICK_DTYPE_f32: wick_dtype = 7;
pub const WICK_DTYPE_f64: wick_dtype = 8;
pub const WICK_DTYPE_f8e4m3: wick_dtype = 9;
pub const WICK_DTYPE_i8: wick_dtype = 10;
pub const WICK_DTYPE_u16: wick_dtype = 11;
pub const WICK_DTYPE_u64: wick_dtype = 12;
pub const WICK_DTYPE_bool: wick_dtype = 13;
pub const WICK_DTYPE_f8e5m2: wick_dtype = 14;
pub const WICK_DTYPE_f8e8m0: wick_dtype = 15;
pub const WICK_DTYPE_f6e2m3: wick_dtype = 16;
pub const WICK_DTYPE_f6e3m2: wick_dtype = 17;
pub const WICK_DTYPE_f4: wick_dtype = 18;
pub const WICK_DTYPE_q4_0: wick_dtype = 19;
pub const WICK_DTYPE_q4_1: wick_dtype = 20;
pub const WICK_DTYPE_q5_0: wick_dtype = 21;
pub const WICK_DTYPE_q5_1: wick_dtype = 22;
pub const WICK_DTYPE_q8_0: wick_dtype = 23;
pub const WICK_DTYPE_q8_1: wick_dtype = 24;
pub const WICK_DTYPE_q2_k: wick_dtype = 25;
pub const WICK_DTYPE_q3_k: wick_dtype = 26;
pub const WICK_DTYPE_q4_k: wick_dtype = 27;
pub const WICK_DTYPE_q5_k: wick_dtype = 28;
pub const WICK_DTYPE_q6_k: wick_dtype = 29;
pub const WICK_DTYPE_q8_k: wick_dtype = 30;
pub const WICK_DTYPE_iq2_xxs: wick_dtype = 31;
pub const WICK_DTYPE_iq2_xs: wick_dtype = 32;
pub const WICK_DTYPE_iq3_xxs: wick_dtype = 33;
pub const WICK_DTYPE_iq1_s: wick_dtype = 34;
pub const WICK_DTYPE_iq4_nl: wick_dtype = 35;
pub const WICK_DTYPE_iq3_s: wick_dtype = 36;
pub const WICK_DTYPE_iq2_s: wick_dtype = 37;
pub const WICK_DTYPE_iq4_xs: wick_dtype = 38;
pub const WICK_DTYPE_iq1_m: wick_dtype = 39;
pub const WICK_DTYPE_tq1_0: wick_dtype = 40;
pub const WICK_DTYPE_tq2_0: wick_dtype = 41;
pub const WICK_DTYPE_mxfp4: wick_dtype = 42;
pub const WICK_DTYPE_nvfp4: wick_dtype = 43;
pub const WICK_DTYPE_q1_0: wick_dtype = 44;
pub const WICK_DTYPE_q2_0: wick_dtype = 45;

/// A number out of dtype.h.
pub type wick_dtype_kind = c_uint;
pub const WICK_DTYPE_KIND_UNSIGNED: wick_dtype_kind = 0;
pub const WICK_DTYPE_KIND_SIGNED: wick_dtype_kind = 1;
pub const WICK_DTYPE_KIND_FLOAT: wick_dtype_kind = 2;
pub const WICK_DTYPE_KIND_BOOL: wick_dtype_kind = 3;
pub const WICK_DTYPE_KIND_QUANTISED: wick_dtype_kind = 4;
pub const WICK_DTYPE_KIND_NONE: wick_dtype_kind = 5;

/// Whose matrix products a GPU uses. The default is WICK_BLAS from the environment, "auto", "own" or "vendor",
/// or else auto.
pub type wick_blas = c_uint;
pub const WICK_BLAS_AUTO: wick_blas = 0;
pub const WICK_BLAS_OWN: wick_blas = 1;
pub const WICK_BLAS_VENDOR: wick_blas = 2;

/// Whose convolutions, attention and, in inference, recurrent layers a GPU uses, and on AMD's whose gradients
/// of these, softmax, batch norm, local response norm and pooling. The default is WICK_DNN from the
/// environment, "auto", "own" or "vendor", or else auto. Libraries are used only for what passed its check.
/// Their kernels add up in another order than ours, and in the same order each time.
pub type wick_dnn = c_uint;
pub const WICK_DNN_AUTO: wick_dnn = 0;
pub const WICK_DNN_OWN: wick_dnn = 1;
pub const WICK_DNN_VENDOR: wick_dnn = 2;

/// What Wick knows about the vendor's products of one dtype.
pub type wick_blas_verdict = c_uint;
pub const WICK_BLAS_UNCHECKED: wick_blas_verdict = 0;
pub const WICK_BLAS_GOOD: wick_blas_verdict = 1;
pub const WICK_BLAS_ABSENT: wick_blas_verdict = 2;
pub const WICK_BLAS_WRONG: wick_blas_verdict = 3;
pub const WICK_BLAS_FLUSHES: wick_blas_verdict = 4;

/// Whether a GPU measures which route is the fastest for a call. If so, the first product or convolution of a
/// shape is run some dozens of times, by each route that takes it and has passed its check, by the algorithms
/// that its library proposes, and by Wick's own kernels. The fastest is kept in the folder of compiled kernels,
/// for this card, driver, libraries and Wick's kernels, and taken from there by later processes, whatever they
/// are set to, where WICK_BLAS_AUTO and WICK_DNN_AUTO choose. Results are as exact by any route, but their last
/// bits may differ between routes. Nothing is measured while a graph is recorded. The default is WICK_TUNE from
/// the environment, "off", "new" or "all", or else off.
pub type wick_tune = c_uint;
pub const WICK_TUNE_OFF: wick_tune = 0;
pub const WICK_TUNE_NEW: wick_tune = 1;
pub const WICK_TUNE_ALL: wick_tune = 2;

/// A number out of kernels.h.
pub type wick_route = c_uint;
pub const WICK_ROUTE_NONE: wick_route = 0;
pub const WICK_ROUTE_PACK: wick_route = 1;
pub const WICK_ROUTE_CACHE: wick_route = 2;
pub const WICK_ROUTE_COMPILE: wick_route = 3;
pub const WICK_ROUTE_BUILT_IN: wick_route = 4;

/// Numbers never change: a new op gets the next one.
pub type wick_op = c_uint;
pub const WICK_OP_contiguous: wick_op = 0;
pub const WICK_OP_reshape: wick_op = 1;
pub const WICK_OP_squeeze: wick_op = 2;
pub const WICK_OP_unsqueeze: wick_op = 3;
pub const WICK_OP_flatten: wick_op = 4;
pub const WICK_OP_transpose: wick_op = 5;
pub const WICK_OP_permute: wick_op = 6;
pub const WICK_OP_narrow: wick_op = 7;
pub const WICK_OP_select: wick_op = 8;
pub const WICK_OP_slice: wick_op = 9;
pub const WICK_OP_broadcast_to: wick_op = 10;
pub const WICK_OP_expand: wick_op = 11;
pub const WICK_OP_chunk: wick_op = 12;
pub const WICK_OP_split: wick_op = 13;
pub const WICK_OP_unfold: wick_op = 14;
pub const WICK_OP_diagonal: wick_op = 15;
pub const WICK_OP_cat: wick_op = 16;
pub const WICK_OP_stack: wick_op = 17;
pub const WICK_OP_slice_set_inplace: wick_op = 18;
pub const WICK_OP_slice_scatter: wick_op = 19;
pub const WICK_OP_flip: wick_op = 20;
pub const WICK_OP_roll: wick_op = 21;
pub const WICK_OP_repeat: wick_op = 22;
pub const WICK_OP_tril: wick_op = 23;
pub const WICK_OP_triu: wick_op = 24;
pub const WICK_OP_eye: wick_op = 25;
pub const WICK_OP_meshgrid: wick_op = 26;
pub const WICK_OP_as_strided: wick_op = 180;
pub const WICK_OP_exp: wick_op = 27;
pub const WICK_OP_exp2: wick_op = 28;
pub const WICK_OP_expm1: wick_op = 29;
pub const WICK_OP_log: wick_op = 30;
pub const WICK_OP_log2: wick_op = 31;
pub const WICK_OP_log10: wick_op = 32;
pub const WICK_OP_log1p: wick_op = 33;
pub const WICK_OP_sin: wick_op = 34;
pub const WICK_OP_cos: wick_op = 35;
pub const WICK_OP_tan: wick_op = 36;
pub const WICK_OP_tanh: wick_op = 37;
pub const WICK_OP_erf: wick_op = 38;
pub const WICK_OP_asin: wick_op = 255;
pub const WICK_OP_acos: wick_op = 256;
pub const WICK_OP_atan: wick_op = 257;
pub const WICK_OP_sinh: wick_op = 258;
pub const WICK_OP_cosh: wick_op = 259;
pub const WICK_OP_asinh: wick_op = 260;
pub const WICK_OP_acosh: wick_op = 261;
pub const WICK_OP_atanh: wick_op = 262;
pub const WICK_OP_erfc: wick_op = 263;
pub const WICK_OP_erfinv: wick_op = 264;
pub const WICK_OP_lgamma: wick_op = 265;
pub const WICK_OP_sqrt: wick_op = 39;
pub const WICK_OP_rsqrt: wick_op = 40;
pub const WICK_OP_recip: wick_op = 41;
pub const WICK_OP_abs: wick_op = 42;
pub const WICK_OP_neg: wick_op = 43;
pub const WICK_OP_sqr: wick_op = 44;
pub const WICK_OP_sign: wick_op = 45;
pub const WICK_OP_floor: wick_op = 46;
pub const WICK_OP_ceil: wick_op = 47;
pub const WICK_OP_round: wick_op = 48;
pub const WICK_OP_round_ties_away: wick_op = 187;
pub const WICK_OP_trunc: wick_op = 49;
pub const WICK_OP_relu: wick_op = 50;
pub const WICK_OP_relu2: wick_op = 51;
pub const WICK_OP_relu6: wick_op = 52;
pub const WICK_OP_gelu: wick_op = 53;
pub const WICK_OP_gelu_tanh: wick_op = 54;
pub const WICK_OP_sigmoid: wick_op = 55;
pub const WICK_OP_silu: wick_op = 56;
pub const WICK_OP_softplus: wick_op = 57;
pub const WICK_OP_mish: wick_op = 58;
pub const WICK_OP_hard_sigmoid: wick_op = 59;
pub const WICK_OP_hard_swish: wick_op = 60;
pub const WICK_OP_selu: wick_op = 61;
pub const WICK_OP_softsign: wick_op = 194;
pub const WICK_OP_tanhshrink: wick_op = 195;
pub const WICK_OP_log_sigmoid: wick_op = 196;
pub const WICK_OP_bitwise_not: wick_op = 62;
pub const WICK_OP_logical_not: wick_op = 63;
pub const WICK_OP_isnan: wick_op = 64;
pub const WICK_OP_isinf: wick_op = 65;
pub const WICK_OP_isfinite: wick_op = 66;
pub const WICK_OP_affine: wick_op = 67;
pub const WICK_OP_add_scalar: wick_op = 68;
pub const WICK_OP_sub_scalar: wick_op = 69;
pub const WICK_OP_mul_scalar: wick_op = 70;
pub const WICK_OP_div_scalar: wick_op = 71;
pub const WICK_OP_powf: wick_op = 72;
pub const WICK_OP_elu: wick_op = 73;
pub const WICK_OP_celu: wick_op = 181;
pub const WICK_OP_leaky_relu: wick_op = 74;
pub const WICK_OP_hardtanh: wick_op = 197;
pub const WICK_OP_softplus_beta: wick_op = 198;
pub const WICK_OP_clamp: wick_op = 75;
pub const WICK_OP_add: wick_op = 76;
pub const WICK_OP_sub: wick_op = 77;
pub const WICK_OP_mul: wick_op = 78;
pub const WICK_OP_div: wick_op = 79;
pub const WICK_OP_maximum: wick_op = 80;
pub const WICK_OP_minimum: wick_op = 81;
pub const WICK_OP_pow: wick_op = 82;
pub const WICK_OP_remainder: wick_op = 83;
pub const WICK_OP_fmod: wick_op = 266;
pub const WICK_OP_floor_divide: wick_op = 267;
pub const WICK_OP_trunc_divide: wick_op = 268;
pub const WICK_OP_atan2: wick_op = 84;
pub const WICK_OP_prelu: wick_op = 85;
pub const WICK_OP_swiglu: wick_op = 86;
pub const WICK_OP_glu: wick_op = 199;
pub const WICK_OP_bitwise_and: wick_op = 87;
pub const WICK_OP_bitwise_or: wick_op = 88;
pub const WICK_OP_bitwise_xor: wick_op = 89;
pub const WICK_OP_shift_left: wick_op = 90;
pub const WICK_OP_shift_right: wick_op = 91;
pub const WICK_OP_eq: wick_op = 92;
pub const WICK_OP_ne: wick_op = 93;
pub const WICK_OP_lt: wick_op = 94;
pub const WICK_OP_le: wick_op = 95;
pub const WICK_OP_gt: wick_op = 96;
pub const WICK_OP_ge: wick_op = 97;
pub const WICK_OP_logical_and: wick_op = 269;
pub const WICK_OP_logical_or: wick_op = 270;
pub const WICK_OP_logical_xor: wick_op = 271;
pub const WICK_OP_eq_scalar: wick_op = 188;
pub const WICK_OP_ne_scalar: wick_op = 189;
pub const WICK_OP_lt_scalar: wick_op = 190;
pub const WICK_OP_le_scalar: wick_op = 191;
pub const WICK_OP_gt_scalar: wick_op = 192;
pub const WICK_OP_ge_scalar: wick_op = 193;
pub const WICK_OP_relu_backward: wick_op = 200;
pub const WICK_OP_relu2_backward: wick_op = 201;
pub const WICK_OP_relu6_backward: wick_op = 202;
pub const WICK_OP_hard_sigmoid_backward: wick_op = 203;
pub const WICK_OP_hard_swish_backward: wick_op = 204;
pub const WICK_OP_softsign_backward: wick_op = 205;
pub const WICK_OP_leaky_relu_backward: wick_op = 206;
pub const WICK_OP_hardtanh_backward: wick_op = 207;
pub const WICK_OP_sigmoid_backward: wick_op = 208;
pub const WICK_OP_tanh_backward: wick_op = 209;
pub const WICK_OP_tanhshrink_backward: wick_op = 210;
pub const WICK_OP_gelu_backward: wick_op = 211;
pub const WICK_OP_gelu_tanh_backward: wick_op = 212;
pub const WICK_OP_silu_backward: wick_op = 213;
pub const WICK_OP_mish_backward: wick_op = 214;
pub const WICK_OP_softplus_backward: wick_op = 215;
pub const WICK_OP_log_sigmoid_backward: wick_op = 216;
pub const WICK_OP_selu_backward: wick_op = 217;
pub const WICK_OP_elu_backward: wick_op = 218;
pub const WICK_OP_celu_backward: wick_op = 219;
pub const WICK_OP_where: wick_op = 98;
pub const WICK_OP_cast: wick_op = 99;
pub const WICK_OP_full: wick_op = 100;
pub const WICK_OP_arange: wick_op = 101;
pub const WICK_OP_fill_inplace: wick_op = 102;
pub const WICK_OP_copy_inplace: wick_op = 103;
pub const WICK_OP_sum: wick_op = 104;
pub const WICK_OP_prod: wick_op = 105;
pub const WICK_OP_min: wick_op = 106;
pub const WICK_OP_max: wick_op = 107;
pub const WICK_OP_any: wick_op = 108;
pub const WICK_OP_all: wick_op = 109;
pub const WICK_OP_mean: wick_op = 110;
pub const WICK_OP_var: wick_op = 111;
pub const WICK_OP_std: wick_op = 112;
pub const WICK_OP_norm: wick_op = 113;
pub const WICK_OP_log_sum_exp: wick_op = 114;
pub const WICK_OP_argmin: wick_op = 115;
pub const WICK_OP_argmax: wick_op = 116;
pub const WICK_OP_sort: wick_op = 117;
pub const WICK_OP_argsort: wick_op = 118;
pub const WICK_OP_topk: wick_op = 119;
pub const WICK_OP_cumsum: wick_op = 120;
pub const WICK_OP_cumprod: wick_op = 121;
pub const WICK_OP_matmul: wick_op = 122;
pub const WICK_OP_dot: wick_op = 123;
pub const WICK_OP_mv: wick_op = 124;
pub const WICK_OP_outer: wick_op = 125;
pub const WICK_OP_linear: wick_op = 126;
pub const WICK_OP_dequantise: wick_op = 183;
pub const WICK_OP_linear_quantised: wick_op = 184;
pub const WICK_OP_quantise: wick_op = 185;
pub const WICK_OP_linear_experts: wick_op = 186;
pub const WICK_OP_conv1d: wick_op = 127;
pub const WICK_OP_conv2d: wick_op = 128;
pub const WICK_OP_conv3d: wick_op = 129;
pub const WICK_OP_conv_transpose1d: wick_op = 130;
pub const WICK_OP_conv_transpose2d: wick_op = 131;
pub const WICK_OP_conv_transpose3d: wick_op = 132;
pub const WICK_OP_max_pool1d: wick_op = 133;
pub const WICK_OP_max_pool2d: wick_op = 134;
pub const WICK_OP_max_pool3d: wick_op = 135;
pub const WICK_OP_avg_pool1d: wick_op = 136;
pub const WICK_OP_avg_pool2d: wick_op = 137;
pub const WICK_OP_avg_pool3d: wick_op = 138;
pub const WICK_OP_adaptive_max_pool1d: wick_op = 139;
pub const WICK_OP_adaptive_max_pool2d: wick_op = 140;
pub const WICK_OP_adaptive_max_pool3d: wick_op = 141;
pub const WICK_OP_adaptive_avg_pool1d: wick_op = 142;
pub const WICK_OP_adaptive_avg_pool2d: wick_op = 143;
pub const WICK_OP_adaptive_avg_pool3d: wick_op = 144;
pub const WICK_OP_upsample_nearest1d: wick_op = 145;
pub const WICK_OP_upsample_nearest2d: wick_op = 146;
pub const WICK_OP_upsample_nearest3d: wick_op = 147;
pub const WICK_OP_upsample_linear1d: wick_op = 148;
pub const WICK_OP_upsample_bilinear2d: wick_op = 149;
pub const WICK_OP_upsample_trilinear3d: wick_op = 150;
pub const WICK_OP_upsample_nearest_exact: wick_op = 329;
pub const WICK_OP_upsample_bicubic2d: wick_op = 330;
pub const WICK_OP_pixel_shuffle: wick_op = 151;
pub const WICK_OP_pixel_unshuffle: wick_op = 152;
pub const WICK_OP_pad: wick_op = 153;
pub const WICK_OP_max_unpool: wick_op = 338;
pub const WICK_OP_lp_pool: wick_op = 340;
pub const WICK_OP_im2col: wick_op = 342;
pub const WICK_OP_grid_sample: wick_op = 346;
pub const WICK_OP_col2im: wick_op = 343;
pub const WICK_OP_index_select: wick_op = 154;
pub const WICK_OP_embedding: wick_op = 155;
pub const WICK_OP_gather: wick_op = 156;
pub const WICK_OP_scatter: wick_op = 157;
pub const WICK_OP_scatter_add: wick_op = 158;
pub const WICK_OP_scatter_inplace: wick_op = 159;
pub const WICK_OP_scatter_add_inplace: wick_op = 160;
pub const WICK_OP_scatter_amax: wick_op = 298;
pub const WICK_OP_scatter_amin: wick_op = 299;
pub const WICK_OP_scatter_prod: wick_op = 349;
pub const WICK_OP_index_add: wick_op = 161;
pub const WICK_OP_masked_fill: wick_op = 162;
pub const WICK_OP_one_hot: wick_op = 163;
pub const WICK_OP_softmax: wick_op = 164;
pub const WICK_OP_log_softmax: wick_op = 165;
pub const WICK_OP_layer_norm: wick_op = 166;
pub const WICK_OP_rms_norm: wick_op = 167;
pub const WICK_OP_group_norm: wick_op = 168;
pub const WICK_OP_batch_norm: wick_op = 169;
pub const WICK_OP_rope: wick_op = 170;
pub const WICK_OP_rope_thd: wick_op = 171;
pub const WICK_OP_scaled_dot_product_attention: wick_op = 172;
pub const WICK_OP_attention_packed: wick_op = 182;
pub const WICK_OP_attention_step: wick_op = 360;
pub const WICK_OP_multi_head_attention: wick_op = 359;
pub const WICK_OP_local_response_norm: wick_op = 344;
pub const WICK_OP_softmax_backward: wick_op = 220;
pub const WICK_OP_log_softmax_backward: wick_op = 221;
pub const WICK_OP_layer_norm_backward: wick_op = 222;
pub const WICK_OP_rms_norm_backward: wick_op = 223;
pub const WICK_OP_group_norm_backward: wick_op = 224;
pub const WICK_OP_max_pool1d_backward: wick_op = 225;
pub const WICK_OP_max_pool2d_backward: wick_op = 226;
pub const WICK_OP_max_pool3d_backward: wick_op = 227;
pub const WICK_OP_avg_pool1d_backward: wick_op = 228;
pub const WICK_OP_avg_pool2d_backward: wick_op = 229;
pub const WICK_OP_avg_pool3d_backward: wick_op = 230;
pub const WICK_OP_conv1d_backward_input: wick_op = 240;
pub const WICK_OP_conv2d_backward_input: wick_op = 241;
pub const WICK_OP_conv3d_backward_input: wick_op = 242;
pub const WICK_OP_conv_transpose1d_backward_input: wick_op = 243;
pub const WICK_OP_conv_transpose2d_backward_input: wick_op = 244;
pub const WICK_OP_conv_transpose3d_backward_input: wick_op = 245;
pub const WICK_OP_conv1d_backward_weight: wick_op = 246;
pub const WICK_OP_conv2d_backward_weight: wick_op = 247;
pub const WICK_OP_conv3d_backward_weight: wick_op = 248;
pub const WICK_OP_conv_transpose1d_backward_weight: wick_op = 249;
pub const WICK_OP_conv_transpose2d_backward_weight: wick_op = 250;
pub const WICK_OP_conv_transpose3d_backward_weight: wick_op = 251;
pub const WICK_OP_conv_backward_bias: wick_op = 252;
pub const WICK_OP_batch_norm_train: wick_op = 253;
pub const WICK_OP_batch_norm_backward: wick_op = 254;
pub const WICK_OP_scaled_dot_product_attention_backward: wick_op = 327;
pub const WICK_OP_attention_packed_backward: wick_op = 328;
pub const WICK_OP_upsample_nearest_backward: wick_op = 331;
pub const WICK_OP_upsample_linear_backward: wick_op = 332;
pub const WICK_OP_upsample_nearest_exact_backward: wick_op = 333;
pub const WICK_OP_upsample_bicubic2d_backward: wick_op = 334;
pub const WICK_OP_adaptive_avg_pool_backward: wick_op = 335;
pub const WICK_OP_adaptive_max_pool_backward: wick_op = 336;
pub const WICK_OP_pad_backward: wick_op = 337;
pub const WICK_OP_grid_sample_backward_input: wick_op = 347;
pub const WICK_OP_grid_sample_backward_grid: wick_op = 348;
pub const WICK_OP_max_unpool_backward: wick_op = 339;
pub const WICK_OP_lp_pool_backward: wick_op = 341;
pub const WICK_OP_local_response_norm_backward: wick_op = 345;
pub const WICK_OP_prelu_backward: wick_op = 353;
pub const WICK_OP_glu_backward: wick_op = 354;
pub const WICK_OP_swiglu_backward: wick_op = 355;
pub const WICK_OP_embedding_backward: wick_op = 356;
pub const WICK_OP_embedding_bag_backward: wick_op = 358;
pub const WICK_OP_rnn_cell: wick_op = 231;
pub const WICK_OP_lstm_cell: wick_op = 232;
pub const WICK_OP_gru_cell: wick_op = 233;
pub const WICK_OP_rnn_cell_backward: wick_op = 234;
pub const WICK_OP_lstm_cell_backward: wick_op = 235;
pub const WICK_OP_gru_cell_backward: wick_op = 236;
pub const WICK_OP_recurrent: wick_op = 237;
pub const WICK_OP_recurrent_backward: wick_op = 238;
pub const WICK_OP_gates_reorder: wick_op = 239;
pub const WICK_OP_mse_loss: wick_op = 301;
pub const WICK_OP_l1_loss: wick_op = 302;
pub const WICK_OP_smooth_l1_loss: wick_op = 303;
pub const WICK_OP_huber_loss: wick_op = 304;
pub const WICK_OP_kl_div_loss: wick_op = 305;
pub const WICK_OP_binary_cross_entropy: wick_op = 306;
pub const WICK_OP_binary_cross_entropy_with_logits: wick_op = 307;
pub const WICK_OP_mse_loss_backward: wick_op = 308;
pub const WICK_OP_l1_loss_backward: wick_op = 309;
pub const WICK_OP_smooth_l1_loss_backward: wick_op = 310;
pub const WICK_OP_huber_loss_backward: wick_op = 311;
pub const WICK_OP_kl_div_loss_backward: wick_op = 312;
pub const WICK_OP_binary_cross_entropy_backward: wick_op = 313;
pub const WICK_OP_binary_cross_entropy_with_logits_backward: wick_op = 314;
pub const WICK_OP_cross_entropy: wick_op = 315;
pub const WICK_OP_cross_entropy_soft: wick_op = 316;
pub const WICK_OP_nll_loss: wick_op = 317;
pub const WICK_OP_cross_entropy_backward: wick_op = 318;
pub const WICK_OP_cross_entropy_soft_backward: wick_op = 319;
pub const WICK_OP_nll_loss_backward: wick_op = 320;
pub const WICK_OP_cosine_embedding_loss: wick_op = 321;
pub const WICK_OP_cosine_embedding_loss_backward: wick_op = 322;
pub const WICK_OP_triplet_margin_loss: wick_op = 323;
pub const WICK_OP_triplet_margin_loss_backward: wick_op = 324;
pub const WICK_OP_ctc_loss: wick_op = 325;
pub const WICK_OP_ctc_loss_backward: wick_op = 326;
pub const WICK_OP_uniform: wick_op = 173;
pub const WICK_OP_normal: wick_op = 174;
pub const WICK_OP_bernoulli: wick_op = 175;
pub const WICK_OP_randint: wick_op = 176;
pub const WICK_OP_permutation: wick_op = 177;
pub const WICK_OP_dropout: wick_op = 178;
pub const WICK_OP_multinomial: wick_op = 352;
pub const WICK_OP_max_along: wick_op = 272;
pub const WICK_OP_min_along: wick_op = 273;
pub const WICK_OP_median: wick_op = 274;
pub const WICK_OP_quantile: wick_op = 275;
pub const WICK_OP_sum_in: wick_op = 276;
pub const WICK_OP_mean_in: wick_op = 277;
pub const WICK_OP_cummax: wick_op = 294;
pub const WICK_OP_cummin: wick_op = 295;
pub const WICK_OP_logcumsumexp: wick_op = 296;
pub const WICK_OP_nonzero: wick_op = 278;
pub const WICK_OP_masked_select: wick_op = 279;
pub const WICK_OP_unique: wick_op = 280;
pub const WICK_OP_bincount: wick_op = 281;
pub const WICK_OP_index: wick_op = 282;
pub const WICK_OP_index_put: wick_op = 283;
pub const WICK_OP_index_copy: wick_op = 284;
pub const WICK_OP_searchsorted: wick_op = 285;
pub const WICK_OP_repeat_interleave: wick_op = 286;
pub const WICK_OP_scatter_mean: wick_op = 300;
pub const WICK_OP_scatter_reduce: wick_op = 350;
pub const WICK_OP_index_reduce: wick_op = 351;
pub const WICK_OP_embedding_bag: wick_op = 357;
pub const WICK_OP_nan_to_num: wick_op = 287;
pub const WICK_OP_lerp: wick_op = 288;
pub const WICK_OP_isclose: wick_op = 289;
pub const WICK_OP_linspace: wick_op = 290;
pub const WICK_OP_roll_dims: wick_op = 291;
pub const WICK_OP_addmm: wick_op = 292;
pub const WICK_OP_baddbmm: wick_op = 293;
pub const WICK_OP_einsum: wick_op = 297;
pub const WICK_OP_to_device: wick_op = 179;

/// A number out of recurrent.h.
pub type wick_recurrent_mode = c_uint;
pub const WICK_RNN_TANH: wick_recurrent_mode = 0;
pub const WICK_RNN_RELU: wick_recurrent_mode = 1;
pub const WICK_LSTM: wick_recurrent_mode = 2;
pub const WICK_GRU: wick_recurrent_mode = 3;

/// A number out of recurrent.h.
pub type wick_gate_order = c_uint;
pub const WICK_GATES_PYTORCH: wick_gate_order = 0;
pub const WICK_GATES_ONNX: wick_gate_order = 1;
pub const WICK_GATES_MIOPEN: wick_gate_order = 2;

/// What becomes of the losses of elements or rows.
pub type wick_reduction = c_uint;
pub const WICK_LOSS_MEAN: wick_reduction = 0;
pub const WICK_LOSS_SUM: wick_reduction = 1;
pub const WICK_LOSS_NONE: wick_reduction = 2;
pub const WICK_LOSS_BATCH_MEAN: wick_reduction = 3;

/// A function applied to every element of a result before it is rounded and stored.
pub type wick_activation = c_uint;
pub const WICK_ACTIVATION_NONE: wick_activation = 0;
pub const WICK_ACTIVATION_RELU: wick_activation = 1;
pub const WICK_ACTIVATION_GELU: wick_activation = 2;
pub const WICK_ACTIVATION_GELU_TANH: wick_activation = 3;
pub const WICK_ACTIVATION_SILU: wick_activation = 4;
pub const WICK_ACTIVATION_TANH: wick_activation = 5;

/// How a layer multiplies weights of blocks, or weights of bf16 or f16 by f32. docs/numerics.md has the bounds.
pub type wick_products = c_uint;
pub const WICK_PRODUCTS_EXACT: wick_products = 0;
pub const WICK_PRODUCTS_8_BIT: wick_products = 1;

/// A number out of format.h.
pub type wick_format = c_uint;
pub const WICK_FORMAT_SAFETENSORS: wick_format = 0;
pub const WICK_FORMAT_GGUF: wick_format = 1;
pub const WICK_FORMAT_NPY: wick_format = 2;
pub const WICK_FORMAT_NPZ: wick_format = 3;
pub const WICK_FORMAT_PTH: wick_format = 4;
pub const WICK_FORMAT_SHARDS: wick_format = 5;

/// A number out of format.h.
pub type wick_metadata_type = c_uint;
pub const WICK_METADATA_STRING: wick_metadata_type = 0;
pub const WICK_METADATA_BOOL: wick_metadata_type = 1;
pub const WICK_METADATA_INT: wick_metadata_type = 2;
pub const WICK_METADATA_UINT: wick_metadata_type = 3;
pub const WICK_METADATA_FLOAT: wick_metadata_type = 4;
pub const WICK_METADATA_ARRAY: wick_metadata_type = 5;

/// A number out of text.h.
pub type wick_encode_flags = c_uint;
pub const WICK_ENCODE_PLAIN: wick_encode_flags = 1;
pub const WICK_ENCODE_LITERAL: wick_encode_flags = 2;

/// A number out of index.h.
pub type wick_bag_mode = c_uint;
pub const WICK_BAG_SUM: wick_bag_mode = 0;
pub const WICK_BAG_MEAN: wick_bag_mode = 1;
pub const WICK_BAG_MAX: wick_bag_mode = 2;

/// A number out of index.h.
pub type wick_scatter_kind = c_uint;
pub const WICK_SCATTER_SUM: wick_scatter_kind = 0;
pub const WICK_SCATTER_PROD: wick_scatter_kind = 1;
pub const WICK_SCATTER_MEAN: wick_scatter_kind = 2;
pub const WICK_SCATTER_AMAX: wick_scatter_kind = 3;
pub const WICK_SCATTER_AMIN: wick_scatter_kind = 4;

/// A number out of conv.h.
pub type wick_grid_mode = c_uint;
pub const WICK_GRID_BILINEAR: wick_grid_mode = 0;
pub const WICK_GRID_NEAREST: wick_grid_mode = 1;
pub const WICK_GRID_BICUBIC: wick_grid_mode = 2;

/// A number out of conv.h.
pub type wick_grid_padding = c_uint;
pub const WICK_GRID_ZEROS: wick_grid_padding = 0;
pub const WICK_GRID_BORDER: wick_grid_padding = 1;
pub const WICK_GRID_REFLECTION: wick_grid_padding = 2;

/// A number out of conv.h.
pub type wick_pad_mode = c_uint;
pub const WICK_PAD_CONSTANT: wick_pad_mode = 0;
pub const WICK_PAD_REFLECT: wick_pad_mode = 1;
pub const WICK_PAD_REPLICATE: wick_pad_mode = 2;
pub const WICK_PAD_CIRCULAR: wick_pad_mode = 3;

/// A number out of generate.h.
pub type wick_stop = c_uint;
pub const WICK_STOP_END: wick_stop = 0;
pub const WICK_STOP_TOKENS: wick_stop = 1;
pub const WICK_STOP_CALLBACK: wick_stop = 2;
pub const WICK_STOP_CANCELLED: wick_stop = 3;

/// A number out of doctor.h.
pub type wick_doctor_format = c_uint;
pub const WICK_DOCTOR_TEXT: wick_doctor_format = 0;
pub const WICK_DOCTOR_JSON: wick_doctor_format = 1;

/// Every enumerator with its number, for tests.
#[doc(hidden)]
pub const ENUMERATORS: &[(&str, c_uint)] = &[
    ("WICK_OK", WICK_OK),
    ("WICK_INVALID", WICK_INVALID),
    ("WICK_SHAPE", WICK_SHAPE),
    ("WICK_DTYPE", WICK_DTYPE),
    ("WICK_DEVICE", WICK_DEVICE),
    ("WICK_CLOSED", WICK_CLOSED),
    ("WICK_UNSUPPORTED", WICK_UNSUPPORTED),
    ("WICK_RANGE", WICK_RANGE),
    ("WICK_OVERFLOW", WICK_OVERFLOW),
    ("WICK_MEMORY", WICK_MEMORY),
    ("WICK_IO", WICK_IO),
    ("WICK_FORMAT", WICK_FORMAT),
    ("WICK_DIVIDE", WICK_DIVIDE),
    ("WICK_INTERNAL", WICK_INTERNAL),
    ("WICK_LOG_ERROR", WICK_LOG_ERROR),
    ("WICK_LOG_WARNING", WICK_LOG_WARNING),
    ("WICK_LOG_INFO", WICK_LOG_INFO),
    ("WICK_LOG_DEBUG", WICK_LOG_DEBUG),
    ("WICK_DTYPE_u8", WICK_DTYPE_u8),
    ("WICK_DTYPE_u32", WICK_DTYPE_u32),
    ("WICK_DTYPE_i16", WICK_DTYPE_i16),
    ("WICK_DTYPE_i32", WICK_DTYPE_i32),
    ("WICK_DTYPE_i64", WICK_DTYPE_i64),
    ("WICK_DTYPE_bf16", WICK_DTYPE_bf16),
    ("WICK_DTYPE_f16", WICK_DTYPE_f16),
    ("WICK_DTYPE_f32", WICK_DTYPE_f32),
    ("WICK_DTYPE_f64", WICK_DTYPE_f64),
    ("WICK_DTYPE_f8e4m3", WICK_DTYPE_f8e4m3),
    ("WICK_DTYPE_i8", WICK_DTYPE_i8),
    ("WICK_DTYPE_u16", WICK_DTYPE_u16),
    ("WICK_DTYPE_u64", WICK_DTYPE_u64),
    ("WICK_DTYPE_bool", WICK_DTYPE_bool),
    ("WICK_DTYPE_f8e5m2", WICK_DTYPE_f8e5m2),
    ("WICK_DTYPE_f8e8m0", WICK_DTYPE_f8e8m0),
    ("WICK_DTYPE_f6e2m3", WICK_DTYPE_f6e2m3),
    ("WICK_DTYPE_f6e3m2", WICK_DTYPE_f6e3m2),
    ("WICK_DTYPE_f4", WICK_DTYPE_f4),
    ("WICK_DTYPE_q4_0", WICK_DTYPE_q4_0),
    ("WICK_DTYPE_q4_1", WICK_DTYPE_q4_1),
    ("WICK_DTYPE_q5_0", WICK_DTYPE_q5_0),
    ("WICK_DTYPE_q5_1", WICK_DTYPE_q5_1),
    ("WICK_DTYPE_q8_0", WICK_DTYPE_q8_0),
    ("WICK_DTYPE_q8_1", WICK_DTYPE_q8_1),
    ("WICK_DTYPE_q2_k", WICK_DTYPE_q2_k),
    ("WICK_DTYPE_q3_k", WICK_DTYPE_q3_k),
    ("WICK_DTYPE_q4_k", WICK_DTYPE_q4_k),
    ("WICK_DTYPE_q5_k", WICK_DTYPE_q5_k),
    ("WICK_DTYPE_q6_k", WICK_DTYPE_q6_k),
    ("WICK_DTYPE_q8_k", WICK_DTYPE_q8_k),
    ("WICK_DTYPE_iq2_xxs", WICK_DTYPE_iq2_xxs),
    ("WICK_DTYPE_iq2_xs", WICK_DTYPE_iq2_xs),
    ("WICK_DTYPE_iq3_xxs", WICK_DTYPE_iq3_xxs),
    ("WICK_DTYPE_iq1_s", WICK_DTYPE_iq1_s),
    ("WICK_DTYPE_iq4_nl", WICK_DTYPE_iq4_nl),
    ("WICK_DTYPE_iq3_s", WICK_DTYPE_iq3_s),
    ("WICK_DTYPE_iq2_s", WICK_DTYPE_iq2_s),
    ("WICK_DTYPE_iq4_xs", WICK_DTYPE_iq4_xs),
    ("WICK_DTYPE_iq1_m", WICK_DTYPE_iq1_m),
    ("WICK_DTYPE_tq1_0", WICK_DTYPE_tq1_0),
    ("WICK_DTYPE_tq2_0", WICK_DTYPE_tq2_0),
    ("WICK_DTYPE_mxfp4", WICK_DTYPE_mxfp4),
    ("WICK_DTYPE_nvfp4", WICK_DTYPE_nvfp4),
    ("WICK_DTYPE_q1_0", WICK_DTYPE_q1_0),
    ("WICK_DTYPE_q2_0", WICK_DTYPE_q2_0),
    ("WICK_DTYPE_KIND_UNSIGNED", WICK_DTYPE_KIND_UNSIGNED),
    ("WICK_DTYPE_KIND_SIGNED", WICK_DTYPE_KIND_SIGNED),
    ("WICK_DTYPE_KIND_FLOAT", WICK_DTYPE_KIND_FLOAT),
    ("WICK_DTYPE_KIND_BOOL", WICK_DTYPE_KIND_BOOL),
    ("WICK_DTYPE_KIND_QUANTISED", WICK_DTYPE_KIND_QUANTISED),
    ("WICK_DTYPE_KIND_NONE", WICK_DTYPE_KIND_NONE),
    ("WICK_BLAS_AUTO", WICK_BLAS_AUTO),
    ("WICK_BLAS_OWN", WICK_BLAS_OWN),
    ("WICK_BLAS_VENDOR", WICK_BLAS_VENDOR),
    ("WICK_DNN_AUTO", WICK_DNN_AUTO),
    ("WICK_DNN_OWN", WICK_DNN_OWN),
    ("WICK_DNN_VENDOR", WICK_DNN_VENDOR),
    ("WICK_BLAS_UNCHECKED", WICK_BLAS_UNCHECKED),
    ("WICK_BLAS_GOOD", WICK_BLAS_GOOD),
    ("WICK_BLAS_ABSENT", WICK_BLAS_ABSENT),
    ("WICK_BLAS_WRONG", WICK_BLAS_WRONG),
    ("WICK_BLAS_FLUSHES", WICK_BLAS_FLUSHES),
    ("WICK_TUNE_OFF", WICK_TUNE_OFF),
    ("WICK_TUNE_NEW", WICK_TUNE_NEW),
    ("WICK_TUNE_ALL", WICK_TUNE_ALL),
    ("WICK_ROUTE_NONE", WICK_ROUTE_NONE),
    ("WICK_ROUTE_PACK", WICK_ROUTE_PACK),
    ("WICK_ROUTE_CACHE", WICK_ROUTE_CACHE),
    ("WICK_ROUTE_COMPILE", WICK_ROUTE_COMPILE),
    ("WICK_ROUTE_BUILT_IN", WICK_ROUTE_BUILT_IN),
    ("WICK_OP_contiguous", WICK_OP_contiguous),
    ("WICK_OP_reshape", WICK_OP_reshape),
    ("WICK_OP_squeeze", WICK_OP_squeeze),
    ("WICK_OP_unsqueeze", WICK_OP_unsqueeze),
    ("WICK_OP_flatten", WICK_OP_flatten),
    ("WICK_OP_transpose", WICK_OP_transpose),
    ("WICK_OP_permute", WICK_OP_permute),
    ("WICK_OP_narrow", WICK_OP_narrow),
    ("WICK_OP_select", WICK_OP_select),
    ("WICK_OP_slice", WICK_OP_slice),
    ("WICK_OP_broadcast_to", WICK_OP_broadcast_to),
    ("WICK_OP_expand", WICK_OP_expand),
    ("WICK_OP_chunk", WICK_OP_chunk),
    ("WICK_OP_split", WICK_OP_split),
    ("WICK_OP_unfold", WICK_OP_unfold),
    ("WICK_OP_diagonal", WICK_OP_diagonal),
    ("WICK_OP_cat", WICK_OP_cat),
    ("WICK_OP_stack", WICK_OP_stack),
    ("WICK_OP_slice_set_inplace", WICK_OP_slice_set_inplace),
    ("WICK_OP_slice_scatter", WICK_OP_slice_scatter),
    ("WICK_OP_flip", WICK_OP_flip),
    ("WICK_OP_roll", WICK_OP_roll),
    ("WICK_OP_repeat", WICK_OP_repeat),
    ("WICK_OP_tril", WICK_OP_tril),
    ("WICK_OP_triu", WICK_OP_triu),
    ("WICK_OP_eye", WICK_OP_eye),
    ("WICK_OP_meshgrid", WICK_OP_meshgrid),
    ("WICK_OP_as_strided", WICK_OP_as_strided),
    ("WICK_OP_exp", WICK_OP_exp),
    ("WICK_OP_exp2", WICK_OP_exp2),
    ("WICK_OP_expm1", WICK_OP_expm1),
    ("WICK_OP_log", WICK_OP_log),
    ("WICK_OP_log2", WICK_OP_log2),
    ("WICK_OP_log10", WICK_OP_log10),
    ("WICK_OP_log1p", WICK_OP_log1p),
    ("WICK_OP_sin", WICK_OP_sin),
    ("WICK_OP_cos", WICK_OP_cos),
    ("WICK_OP_tan", WICK_OP_tan),
    ("WICK_OP_tanh", WICK_OP_tanh),
    ("WICK_OP_erf", WICK_OP_erf),
    ("WICK_OP_asin", WICK_OP_asin),
    ("WICK_OP_acos", WICK_OP_acos),
    ("WICK_OP_atan", WICK_OP_atan),
    ("WICK_OP_sinh", WICK_OP_sinh),
    ("WICK_OP_cosh", WICK_OP_cosh),
    ("WICK_OP_asinh", WICK_OP_asinh),
    ("WICK_OP_acosh", WICK_OP_acosh),
    ("WICK_OP_atanh", WICK_OP_atanh),
    ("WICK_OP_erfc", WICK_OP_erfc),
    ("WICK_OP_erfinv", WICK_OP_erfinv),
    ("WICK_OP_lgamma", WICK_OP_lgamma),
    ("WICK_OP_sqrt", WICK_OP_sqrt),
    ("WICK_OP_rsqrt", WICK_OP_rsqrt),
    ("WICK_OP_recip", WICK_OP_recip),
    ("WICK_OP_abs", WICK_OP_abs),
    ("WICK_OP_neg", WICK_OP_neg),
    ("WICK_OP_sqr", WICK_OP_sqr),
    ("WICK_OP_sign", WICK_OP_sign),
    ("WICK_OP_floor", WICK_OP_floor),
    ("WICK_OP_ceil", WICK_OP_ceil),
    ("WICK_OP_round", WICK_OP_round),
    ("WICK_OP_round_ties_away", WICK_OP_round_ties_away),
    ("WICK_OP_trunc", WICK_OP_trunc),
    ("WICK_OP_relu", WICK_OP_relu),
    ("WICK_OP_relu2", WICK_OP_relu2),
    ("WICK_OP_relu6", WICK_OP_relu6),
    ("WICK_OP_gelu", WICK_OP_gelu),
    ("WICK_OP_gelu_tanh", WICK_OP_gelu_tanh),
    ("WICK_OP_sigmoid", WICK_OP_sigmoid),
    ("WICK_OP_silu", WICK_OP_silu),
    ("WICK_OP_softplus", WICK_OP_softplus),
    ("WICK_OP_mish", WICK_OP_mish),
    ("WICK_OP_hard_sigmoid", WICK_OP_hard_sigmoid),
    ("WICK_OP_hard_swish", WICK_OP_hard_swish),
    ("WICK_OP_selu", WICK_OP_selu),
    ("WICK_OP_softsign", WICK_OP_softsign),
    ("WICK_OP_tanhshrink", WICK_OP_tanhshrink),
    ("WICK_OP_log_sigmoid", WICK_OP_log_sigmoid),
    ("WICK_OP_bitwise_not", WICK_OP_bitwise_not),
    ("WICK_OP_logical_not", WICK_OP_logical_not),
    ("WICK_OP_isnan", WICK_OP_isnan),
    ("WICK_OP_isinf", WICK_OP_isinf),
    ("WICK_OP_isfinite", WICK_OP_isfinite),
    ("WICK_OP_affine", WICK_OP_affine),
    ("WICK_OP_add_scalar", WICK_OP_add_scalar),
    ("WICK_OP_sub_scalar", WICK_OP_sub_scalar),
    ("WICK_OP_mul_scalar", WICK_OP_mul_scalar),
    ("WICK_OP_div_scalar", WICK_OP_div_scalar),
    ("WICK_OP_powf", WICK_OP_powf),
    ("WICK_OP_elu", WICK_OP_elu),
    ("WICK_OP_celu", WICK_OP_celu),
    ("WICK_OP_leaky_relu", WICK_OP_leaky_relu),
    ("WICK_OP_hardtanh", WICK_OP_hardtanh),
    ("WICK_OP_softplus_beta", WICK_OP_softplus_beta),
    ("WICK_OP_clamp", WICK_OP_clamp),
    ("WICK_OP_add", WICK_OP_add),
    ("WICK_OP_sub", WICK_OP_sub),
    ("WICK_OP_mul", WICK_OP_mul),
    ("WICK_OP_div", WICK_OP_div),
    ("WICK_OP_maximum", WICK_OP_maximum),
    ("WICK_OP_minimum", WICK_OP_minimum),
    ("WICK_OP_pow", WICK_OP_pow),
    ("WICK_OP_remainder", WICK_OP_remainder),
    ("WICK_OP_fmod", WICK_OP_fmod),
    ("WICK_OP_floor_divide", WICK_OP_floor_divide),
    ("WICK_OP_trunc_divide", WICK_OP_trunc_divide),
    ("WICK_OP_atan2", WICK_OP_atan2),
    ("WICK_OP_prelu", WICK_OP_prelu),
    ("WICK_OP_swiglu", WICK_OP_swiglu),
    ("WICK_OP_glu", WICK_OP_glu),
    ("WICK_OP_bitwise_and", WICK_OP_bitwise_and),
    ("WICK_OP_bitwise_or", WICK_OP_bitwise_or),
    ("WICK_OP_bitwise_xor", WICK_OP_bitwise_xor),
    ("WICK_OP_shift_left", WICK_OP_shift_left),
    ("WICK_OP_shift_right", WICK_OP_shift_right),
    ("WICK_OP_eq", WICK_OP_eq),
    ("WICK_OP_ne", WICK_OP_ne),
    ("WICK_OP_lt", WICK_OP_lt),
    ("WICK_OP_le", WICK_OP_le),
    ("WICK_OP_gt", WICK_OP_gt),
    ("WICK_OP_ge", WICK_OP_ge),
    ("WICK_OP_logical_and", WICK_OP_logical_and),
    ("WICK_OP_logical_or", WICK_OP_logical_or),
    ("WICK_OP_logical_xor", WICK_OP_logical_xor),
    ("WICK_OP_eq_scalar", WICK_OP_eq_scalar),
    ("WICK_OP_ne_scalar", WICK_OP_ne_scalar),
    ("WICK_OP_lt_scalar", WICK_OP_lt_scalar),
    ("WICK_OP_le_scalar", WICK_OP_le_scalar),
    ("WICK_OP_gt_scalar", WICK_OP_gt_scalar),
    ("WICK_OP_ge_scalar", WICK_OP_ge_scalar),
    ("WICK_OP_relu_backward", WICK_OP_relu_backward),
    ("WICK_OP_relu2_backward", WICK_OP_relu2_backward),
    ("WICK_OP_relu6_backward", WICK_OP_relu6_backward),
    ("WICK_OP_hard_sigmoid_backward", WICK_OP_hard_sigmoid_backward),
    ("WICK_OP_hard_swish_backward", WICK_OP_hard_swish_backward),
    ("WICK_OP_softsign_backward", WICK_OP_softsign_backward),
    ("WICK_OP_leaky_relu_backward", WICK_OP_leaky_relu_backward),
    ("WICK_OP_hardtanh_backward", WICK_OP_hardtanh_backward),
    ("WICK_OP_sigmoid_backward", WICK_OP_sigmoid_backward),
    ("WICK_OP_tanh_backward", WICK_OP_tanh_backward),
    ("WICK_OP_tanhshrink_backward", WICK_OP_tanhshrink_backward),
    ("WICK_OP_gelu_backward", WICK_OP_gelu_backward),
    ("WICK_OP_gelu_tanh_backward", WICK_OP_gelu_tanh_backward),
    ("WICK_OP_silu_backward", WICK_OP_silu_backward),
    ("WICK_OP_mish_backward", WICK_OP_mish_backward),
    ("WICK_OP_softplus_backward", WICK_OP_softplus_backward),
    ("WICK_OP_log_sigmoid_backward", WICK_OP_log_sigmoid_backward),
    ("WICK_OP_selu_backward", WICK_OP_selu_backward),
    ("WICK_OP_elu_backward", WICK_OP_elu_backward),
    ("WICK_OP_celu_backward", WICK_OP_celu_backward),
    ("WICK_OP_where", WICK_OP_where),
    ("WICK_OP_cast", WICK_OP_cast),
    ("WICK_OP_full", WICK_OP_full),
    ("WICK_OP_arange", WICK_OP_arange),
    ("WICK_OP_fill_inplace", WICK_OP_fill_inplace),
    ("WICK_OP_copy_inplace", WICK_OP_copy_inplace),
    ("WICK_OP_sum", WICK_OP_sum),
    ("WICK_OP_prod", WICK_OP_prod),
    ("WICK_OP_min", WICK_OP_min),
    ("WICK_OP_max", WICK_OP_max),
    ("WICK_OP_any", WICK_OP_any),
    ("WICK_OP_all", WICK_OP_all),
    ("WICK_OP_mean", WICK_OP_mean),
    ("WICK_OP_var", WICK_OP_var),
    ("WICK_OP_std", WICK_OP_std),
    ("WICK_OP_norm", WICK_OP_norm),
    ("WICK_OP_log_sum_exp", WICK_OP_log_sum_exp),
    ("WICK_OP_argmin", WICK_OP_argmin),
    ("WICK_OP_argmax", WICK_OP_argmax),
    ("WICK_OP_sort", WICK_OP_sort),
    ("WICK_OP_argsort", WICK_OP_argsort),
    ("WICK_OP_topk", WICK_OP_topk),
    ("WICK_OP_cumsum", WICK_OP_cumsum),
    ("WICK_OP_cumprod", WICK_OP_cumprod),
    ("WICK_OP_matmul", WICK_OP_matmul),
    ("WICK_OP_dot", WICK_OP_dot),
    ("WICK_OP_mv", WICK_OP_mv),
    ("WICK_OP_outer", WICK_OP_outer),
    ("WICK_OP_linear", WICK_OP_linear),
    ("WICK_OP_dequantise", WICK_OP_dequantise),
    ("WICK_OP_linear_quantised", WICK_OP_linear_quantised),
    ("WICK_OP_quantise", WICK_OP_quantise),
    ("WICK_OP_linear_experts", WICK_OP_linear_experts),
    ("WICK_OP_conv1d", WICK_OP_conv1d),
    ("WICK_OP_conv2d", WICK_OP_conv2d),
    ("WICK_OP_conv3d", WICK_OP_conv3d),
    ("WICK_OP_conv_transpose1d", WICK_OP_conv_transpose1d),
    ("WICK_OP_conv_transpose2d", WICK_OP_conv_transpose2d),
    ("WICK_OP_conv_transpose3d", WICK_OP_conv_transpose3d),
    ("WICK_OP_max_pool1d", WICK_OP_max_pool1d),
    ("WICK_OP_max_pool2d", WICK_OP_max_pool2d),
    ("WICK_OP_max_pool3d", WICK_OP_max_pool3d),
    ("WICK_OP_avg_pool1d", WICK_OP_avg_pool1d),
    ("WICK_OP_avg_pool2d", WICK_OP_avg_pool2d),
    ("WICK_OP_avg_pool3d", WICK_OP_avg_pool3d),
    ("WICK_OP_adaptive_max_pool1d", WICK_OP_adaptive_max_pool1d),
    ("WICK_OP_adaptive_max_pool2d", WICK_OP_adaptive_max_pool2d),
    ("WICK_OP_adaptive_max_pool3d", WICK_OP_adaptive_max_pool3d),
    ("WICK_OP_adaptive_avg_pool1d", WICK_OP_adaptive_avg_pool1d),
    ("WICK_OP_adaptive_avg_pool2d", WICK_OP_adaptive_avg_pool2d),
    ("WICK_OP_adaptive_avg_pool3d", WICK_OP_adaptive_avg_pool3d),
    ("WICK_OP_upsample_nearest1d", WICK_OP_upsample_nearest1d),
    ("WICK_OP_upsample_nearest2d", WICK_OP_upsample_nearest2d),
    ("WICK_OP_upsample_nearest3d", WICK_OP_upsample_nearest3d),
    ("WICK_OP_upsample_linear1d", WICK_OP_upsample_linear1d),
    ("WICK_OP_upsample_bilinear2d", WICK_OP_upsample_bilinear2d),
    ("WICK_OP_upsample_trilinear3d", WICK_OP_upsample_trilinear3d),
    ("WICK_OP_upsample_nearest_exact", WICK_OP_upsample_nearest_exact),
    ("WICK_OP_upsample_bicubic2d", WICK_OP_upsample_bicubic2d),
    ("WICK_OP_pixel_shuffle", WICK_OP_pixel_shuffle),
    ("WICK_OP_pixel_unshuffle", WICK_OP_pixel_unshuffle),
    ("WICK_OP_pad", WICK_OP_pad),
    ("WICK_OP_max_unpool", WICK_OP_max_unpool),
    ("WICK_OP_lp_pool", WICK_OP_lp_pool),
    ("WICK_OP_im2col", WICK_OP_im2col),
    ("WICK_OP_grid_sample", WICK_OP_grid_sample),
    ("WICK_OP_col2im", WICK_OP_col2im),
    ("WICK_OP_index_select", WICK_OP_index_select),
    ("WICK_OP_embedding", WICK_OP_embedding),
    ("WICK_OP_gather", WICK_OP_gather),
    ("WICK_OP_scatter", WICK_OP_scatter),
    ("WICK_OP_scatter_add", WICK_OP_scatter_add),
    ("WICK_OP_scatter_inplace", WICK_OP_scatter_inplace),
    ("WICK_OP_scatter_add_inplace", WICK_OP_scatter_add_inplace),
    ("WICK_OP_scatter_amax", WICK_OP_scatter_amax),
    ("WICK_OP_scatter_amin", WICK_OP_scatter_amin),
    ("WICK_OP_scatter_prod", WICK_OP_scatter_prod),
    ("WICK_OP_index_add", WICK_OP_index_add),
    ("WICK_OP_masked_fill", WICK_OP_masked_fill),
    ("WICK_OP_one_hot", WICK_OP_one_hot),
    ("WICK_OP_softmax", WICK_OP_softmax),
    ("WICK_OP_log_softmax", WICK_OP_log_softmax),
    ("WICK_OP_layer_norm", WICK_OP_layer_norm),
    ("WICK_OP_rms_norm", WICK_OP_rms_norm),
    ("WICK_OP_group_norm", WICK_OP_group_norm),
    ("WICK_OP_batch_norm", WICK_OP_batch_norm),
    ("WICK_OP_rope", WICK_OP_rope),
    ("WICK_OP_rope_thd", WICK_OP_rope_thd),
    ("WICK_OP_scaled_dot_product_attention", WICK_OP_scaled_dot_product_attention),
    ("WICK_OP_attention_packed", WICK_OP_attention_packed),
    ("WICK_OP_attention_step", WICK_OP_attention_step),
    ("WICK_OP_multi_head_attention", WICK_OP_multi_head_attention),
    ("WICK_OP_local_response_norm", WICK_OP_local_response_norm),
    ("WICK_OP_softmax_backward", WICK_OP_softmax_backward),
    ("WICK_OP_log_softmax_backward", WICK_OP_log_softmax_backward),
    ("WICK_OP_layer_norm_backward", WICK_OP_layer_norm_backward),
    ("WICK_OP_rms_norm_backward", WICK_OP_rms_norm_backward),
    ("WICK_OP_group_norm_backward", WICK_OP_group_norm_backward),
    ("WICK_OP_max_pool1d_backward", WICK_OP_max_pool1d_backward),
    ("WICK_OP_max_pool2d_backward", WICK_OP_max_pool2d_backward),
    ("WICK_OP_max_pool3d_backward", WICK_OP_max_pool3d_backward),
    ("WICK_OP_avg_pool1d_backward", WICK_OP_avg_pool1d_backward),
    ("WICK_OP_avg_pool2d_backward", WICK_OP_avg_pool2d_backward),
    ("WICK_OP_avg_pool3d_backward", WICK_OP_avg_pool3d_backward),
    ("WICK_OP_conv1d_backward_input", WICK_OP_conv1d_backward_input),
    ("WICK_OP_conv2d_backward_input", WICK_OP_conv2d_backward_input),
    ("WICK_OP_conv3d_backward_input", WICK_OP_conv3d_backward_input),
    ("WICK_OP_conv_transpose1d_backward_input", WICK_OP_conv_transpose1d_backward_input),
    ("WICK_OP_conv_transpose2d_backward_input", WICK_OP_conv_transpose2d_backward_input),
    ("WICK_OP_conv_transpose3d_backward_input", WICK_OP_conv_transpose3d_backward_input),
    ("WICK_OP_conv1d_backward_weight", WICK_OP_conv1d_backward_weight),
    ("WICK_OP_conv2d_backward_weight", WICK_OP_conv2d_backward_weight),
    ("WICK_OP_conv3d_backward_weight", WICK_OP_conv3d_backward_weight),
    ("WICK_OP_conv_transpose1d_backward_weight", WICK_OP_conv_transpose1d_backward_weight),
    ("WICK_OP_conv_transpose2d_backward_weight", WICK_OP_conv_transpose2d_backward_weight),
    ("WICK_OP_conv_transpose3d_backward_weight", WICK_OP_conv_transpose3d_backward_weight),
    ("WICK_OP_conv_backward_bias", WICK_OP_conv_backward_bias),
    ("WICK_OP_batch_norm_train", WICK_OP_batch_norm_train),
    ("WICK_OP_batch_norm_backward", WICK_OP_batch_norm_backward),
    ("WICK_OP_scaled_dot_product_attention_backward", WICK_OP_scaled_dot_product_attention_backward),
    ("WICK_OP_attention_packed_backward", WICK_OP_attention_packed_backward),
    ("WICK_OP_upsample_nearest_backward", WICK_OP_upsample_nearest_backward),
    ("WICK_OP_upsample_linear_backward", WICK_OP_upsample_linear_backward),
    ("WICK_OP_upsample_nearest_exact_backward", WICK_OP_upsample_nearest_exact_backward),
    ("WICK_OP_upsample_bicubic2d_backward", WICK_OP_upsample_bicubic2d_backward),
    ("WICK_OP_adaptive_avg_pool_backward", WICK_OP_adaptive_avg_pool_backward),
    ("WICK_OP_adaptive_max_pool_backward", WICK_OP_adaptive_max_pool_backward),
    ("WICK_OP_pad_backward", WICK_OP_pad_backward),
    ("WICK_OP_grid_sample_backward_input", WICK_OP_grid_sample_backward_input),
    ("WICK_OP_grid_sample_backward_grid", WICK_OP_grid_sample_backward_grid),
    ("WICK_OP_max_unpool_backward", WICK_OP_max_unpool_backward),
    ("WICK_OP_lp_pool_backward", WICK_OP_lp_pool_backward),
    ("WICK_OP_local_response_norm_backward", WICK_OP_local_response_norm_backward),
    ("WICK_OP_prelu_backward", WICK_OP_prelu_backward),
    ("WICK_OP_glu_backward", WICK_OP_glu_backward),
    ("WICK_OP_swiglu_backward", WICK_OP_swiglu_backward),
    ("WICK_OP_embedding_backward", WICK_OP_embedding_backward),
    ("WICK_OP_embedding_bag_backward", WICK_OP_embedding_bag_backward),
    ("WICK_OP_rnn_cell", WICK_OP_rnn_cell),
    ("WICK_OP_lstm_cell", WICK_OP_lstm_cell),
    ("WICK_OP_gru_cell", WICK_OP_gru_cell),
    ("WICK_OP_rnn_cell_backward", WICK_OP_rnn_cell_backward),
    ("WICK_OP_lstm_cell_backward", WICK_OP_lstm_cell_backward),
    ("WICK_OP_gru_cell_backward", WICK_OP_gru_cell_backward),
    ("WICK_OP_recurrent", WICK_OP_recurrent),
    ("WICK_OP_recurrent_backward", WICK_OP_recurrent_backward),
    ("WICK_OP_gates_reorder", WICK_OP_gates_reorder),
    ("WICK_OP_mse_loss", WICK_OP_mse_loss),
    ("WICK_OP_l1_loss", WICK_OP_l1_loss),
    ("WICK_OP_smooth_l1_loss", WICK_OP_smooth_l1_loss),
    ("WICK_OP_huber_loss", WICK_OP_huber_loss),
    ("WICK_OP_kl_div_loss", WICK_OP_kl_div_loss),
    ("WICK_OP_binary_cross_entropy", WICK_OP_binary_cross_entropy),
    ("WICK_OP_binary_cross_entropy_with_logits", WICK_OP_binary_cross_entropy_with_logits),
    ("WICK_OP_mse_loss_backward", WICK_OP_mse_loss_backward),
    ("WICK_OP_l1_loss_backward", WICK_OP_l1_loss_backward),
    ("WICK_OP_smooth_l1_loss_backward", WICK_OP_smooth_l1_loss_backward),
    ("WICK_OP_huber_loss_backward", WICK_OP_huber_loss_backward),
    ("WICK_OP_kl_div_loss_backward", WICK_OP_kl_div_loss_backward),
    ("WICK_OP_binary_cross_entropy_backward", WICK_OP_binary_cross_entropy_backward),
    ("WICK_OP_binary_cross_entropy_with_logits_backward", WICK_OP_binary_cross_entropy_with_logits_backward),
    ("WICK_OP_cross_entropy", WICK_OP_cross_entropy),
    ("WICK_OP_cross_entropy_soft", WICK_OP_cross_entropy_soft),
    ("WICK_OP_nll_loss", WICK_OP_nll_loss),
    ("WICK_OP_cross_entropy_backward", WICK_OP_cross_entropy_backward),
    ("WICK_OP_cross_entropy_soft_backward", WICK_OP_cross_entropy_soft_backward),
    ("WICK_OP_nll_loss_backward", WICK_OP_nll_loss_backward),
    ("WICK_OP_cosine_embedding_loss", WICK_OP_cosine_embedding_loss),
    ("WICK_OP_cosine_embedding_loss_backward", WICK_OP_cosine_embedding_loss_backward),
    ("WICK_OP_triplet_margin_loss", WICK_OP_triplet_margin_loss),
    ("WICK_OP_triplet_margin_loss_backward", WICK_OP_triplet_margin_loss_backward),
    ("WICK_OP_ctc_loss", WICK_OP_ctc_loss),
    ("WICK_OP_ctc_loss_backward", WICK_OP_ctc_loss_backward),
    ("WICK_OP_uniform", WICK_OP_uniform),
    ("WICK_OP_normal", WICK_OP_normal),
    ("WICK_OP_bernoulli", WICK_OP_bernoulli),
    ("WICK_OP_randint", WICK_OP_randint),
    ("WICK_OP_permutation", WICK_OP_permutation),
    ("WICK_OP_dropout", WICK_OP_dropout),
    ("WICK_OP_multinomial", WICK_OP_multinomial),
    ("WICK_OP_max_along", WICK_OP_max_along),
    ("WICK_OP_min_along", WICK_OP_min_along),
    ("WICK_OP_median", WICK_OP_median),
    ("WICK_OP_quantile", WICK_OP_quantile),
    ("WICK_OP_sum_in", WICK_OP_sum_in),
    ("WICK_OP_mean_in", WICK_OP_mean_in),
    ("WICK_OP_cummax", WICK_OP_cummax),
    ("WICK_OP_cummin", WICK_OP_cummin),
    ("WICK_OP_logcumsumexp", WICK_OP_logcumsumexp),
    ("WICK_OP_nonzero", WICK_OP_nonzero),
    ("WICK_OP_masked_select", WICK_OP_masked_select),
    ("WICK_OP_unique", WICK_OP_unique),
    ("WICK_OP_bincount", WICK_OP_bincount),
    ("WICK_OP_index", WICK_OP_index),
    ("WICK_OP_index_put", WICK_OP_index_put),
    ("WICK_OP_index_copy", WICK_OP_index_copy),
    ("WICK_OP_searchsorted", WICK_OP_searchsorted),
    ("WICK_OP_repeat_interleave", WICK_OP_repeat_interleave),
    ("WICK_OP_scatter_mean", WICK_OP_scatter_mean),
    ("WICK_OP_scatter_reduce", WICK_OP_scatter_reduce),
    ("WICK_OP_index_reduce", WICK_OP_index_reduce),
    ("WICK_OP_embedding_bag", WICK_OP_embedding_bag),
    ("WICK_OP_nan_to_num", WICK_OP_nan_to_num),
    ("WICK_OP_lerp", WICK_OP_lerp),
    ("WICK_OP_isclose", WICK_OP_isclose),
    ("WICK_OP_linspace", WICK_OP_linspace),
    ("WICK_OP_roll_dims", WICK_OP_roll_dims),
    ("WICK_OP_addmm", WICK_OP_addmm),
    ("WICK_OP_baddbmm", WICK_OP_baddbmm),
    ("WICK_OP_einsum", WICK_OP_einsum),
    ("WICK_OP_to_device", WICK_OP_to_device),
    ("WICK_RNN_TANH", WICK_RNN_TANH),
    ("WICK_RNN_RELU", WICK_RNN_RELU),
    ("WICK_LSTM", WICK_LSTM),
    ("WICK_GRU", WICK_GRU),
    ("WICK_GATES_PYTORCH", WICK_GATES_PYTORCH),
    ("WICK_GATES_ONNX", WICK_GATES_ONNX),
    ("WICK_GATES_MIOPEN", WICK_GATES_MIOPEN),
    ("WICK_LOSS_MEAN", WICK_LOSS_MEAN),
    ("WICK_LOSS_SUM", WICK_LOSS_SUM),
    ("WICK_LOSS_NONE", WICK_LOSS_NONE),
    ("WICK_LOSS_BATCH_MEAN", WICK_LOSS_BATCH_MEAN),
    ("WICK_ACTIVATION_NONE", WICK_ACTIVATION_NONE),
    ("WICK_ACTIVATION_RELU", WICK_ACTIVATION_RELU),
    ("WICK_ACTIVATION_GELU", WICK_ACTIVATION_GELU),
    ("WICK_ACTIVATION_GELU_TANH", WICK_ACTIVATION_GELU_TANH),
    ("WICK_ACTIVATION_SILU", WICK_ACTIVATION_SILU),
    ("WICK_ACTIVATION_TANH", WICK_ACTIVATION_TANH),
    ("WICK_PRODUCTS_EXACT", WICK_PRODUCTS_EXACT),
    ("WICK_PRODUCTS_8_BIT", WICK_PRODUCTS_8_BIT),
    ("WICK_FORMAT_SAFETENSORS", WICK_FORMAT_SAFETENSORS),
    ("WICK_FORMAT_GGUF", WICK_FORMAT_GGUF),
    ("WICK_FORMAT_NPY", WICK_FORMAT_NPY),
    ("WICK_FORMAT_NPZ", WICK_FORMAT_NPZ),
    ("WICK_FORMAT_PTH", WICK_FORMAT_PTH),
    ("WICK_FORMAT_SHARDS", WICK_FORMAT_SHARDS),
    ("WICK_METADATA_STRING", WICK_METADATA_STRING),
    ("WICK_METADATA_BOOL", WICK_METADATA_BOOL),
    ("WICK_METADATA_INT", WICK_METADATA_INT),
    ("WICK_METADATA_UINT", WICK_METADATA_UINT),
    ("WICK_METADATA_FLOAT", WICK_METADATA_FLOAT),
    ("WICK_METADATA_ARRAY", WICK_METADATA_ARRAY),
    ("WICK_ENCODE_PLAIN", WICK_ENCODE_PLAIN),
    ("WICK_ENCODE_LITERAL", WICK_ENCODE_LITERAL),
    ("WICK_BAG_SUM", WICK_BAG_SUM),
    ("WICK_BAG_MEAN", WICK_BAG_MEAN),
    ("WICK_BAG_MAX", WICK_BAG_MAX),
    ("WICK_SCATTER_SUM", WICK_SCATTER_SUM),
    ("WICK_SCATTER_PROD", WICK_SCATTER_PROD),
    ("WICK_SCATTER_MEAN", WICK_SCATTER_MEAN),
    ("WICK_SCATTER_AMAX", WICK_SCATTER_AMAX),
    ("WICK_SCATTER_AMIN", WICK_SCATTER_AMIN),
    ("WICK_GRID_BILINEAR", WICK_GRID_BILINEAR),
    ("WICK_GRID_NEAREST", WICK_GRID_NEAREST),
    ("WICK_GRID_BICUBIC", WICK_GRID_BICUBIC),
    ("WICK_GRID_ZEROS", WICK_GRID_ZEROS),
    ("WICK_GRID_BORDER", WICK_GRID_BORDER),
    ("WICK_GRID_REFLECTION", WICK_GRID_REFLECTION),
    ("WICK_PAD_CONSTANT", WICK_PAD_CONSTANT),
    ("WICK_PAD_REFLECT", WICK_PAD_REFLECT),
    ("WICK_PAD_REPLICATE", WICK_PAD_REPLICATE),
    ("WICK_PAD_CIRCULAR", WICK_PAD_CIRCULAR),
    ("WICK_STOP_END", WICK_STOP_END),
    ("WICK_STOP_TOKENS", WICK_STOP_TOKENS),
    ("WICK_STOP_CALLBACK", WICK_STOP_CALLBACK),
    ("WICK_STOP_CANCELLED", WICK_STOP_CANCELLED),
    ("WICK_DOCTOR_TEXT", WICK_DOCTOR_TEXT),
    ("WICK_DOCTOR_JSON", WICK_DOCTOR_JSON),
];

/// Receives one line, without a newline. The library calls it from any thread, possibly from several at once.
pub type wick_log_fn = unsafe extern "C" fn(context: *mut c_void, level: wick_log_level, line: *const c_char);

opaque! {
    /// An object of the library.
    wick_device
    /// An object of the library.
    wick_event
    /// An object of the library.
    wick_graph
    /// An object of the library.
    wick_tensor
    /// An object of the library.
    wick_record
    /// An object of the library.
    wick_archive
    /// An object of the library.
    wick_tokenizer
    /// An object of the library.
    wick_decoder
    /// An object of the library.
    wick_sampler
    /// An object of the library.
    wick_template
    /// An object of the library.
    wick_resnet
    /// An object of the library.
    wick_embedder
    /// An object of the library.
    wick_lm
    /// An object of the library.
    wick_sequence
}

structs! {
    /// Where the library gets all its host memory. Both functions may be called from several threads at once.
    wick_allocator {
        context: *mut c_void,
        alloc: Option<unsafe extern "C" fn(context: *mut c_void, nbytes: usize, alignment: usize) -> *mut c_void>,
        free: Option<unsafe extern "C" fn(context: *mut c_void, memory: *mut c_void, nbytes: usize)>,
    }
    /// All zero is the whole number 0.
    wick_number {
        integer: i64,
        real: f64,
        is_real: bool,
    }
    /// Facts about a device. Strings belong to the device.
    wick_device_info {
        name: *const c_char,
        family: *const c_char,
        description: *const c_char,
        isa: *const c_char,
        threads: c_int,
        memory_total: usize,
        memory_free: usize,
        units: c_int,
        wave: c_int,
        integrated: bool,
        fast_bf16: bool,
        reserved: [u64; 8],
    }
    /// Memory of a device, in bytes. The device keeps freed blocks for reuse, up to a limit.
    wick_memory {
        used: usize,
        peak: usize,
        cached: usize,
        limit: usize,
        cache: usize,
        largest: usize,
        reserved: [u64; 8],
    }
    /// What Wick knows about the vendor's products of one dtype.
    wick_blas_info {
        blas: wick_blas,
        library: *const c_char,
        fault: *const c_char,
        bf16: wick_blas_verdict,
        f16: wick_blas_verdict,
        f32: wick_blas_verdict,
        f64: wick_blas_verdict,
        used: i64,
        refused: i64,
        reserved: [u64; 8],
    }
    /// A route: a vendor's library as a way of running an op, which Wick tries before its own kernels. Routes
    /// are tried in their order.
    wick_route_info {
        name: *const c_char,
        op: *const c_char,
        library: *const c_char,
        fault: *const c_char,
        verdict: *const c_char,
        used: i64,
        refused: i64,
        reserved: [u64; 8],
    }
    /// What was measured of a call by one route.
    wick_tune_info {
        call: c_int,
        op: *const c_char,
        sizes: *const c_char,
        dtype: wick_dtype,
        route: *const c_char,
        us: f64,
        ways: c_int,
        chosen: bool,
        reserved: [u64; 8],
    }
    /// Memory that the caller owns.
    wick_memory_block {
        data: *mut c_void,
        nbytes: usize,
        release: Option<unsafe extern "C" fn(context: *mut c_void)>,
        context: *mut c_void,
    }
    /// A call. The tensors and the arrays belong to the record; retain tensors that must outlive it. Results
    /// that appear only in records are those that a gradient needs and the caller did not ask for: of layer,
    /// group and RMS norm the inverse deviation, then, but for RMS norm, the mean; of attention the sums of
    /// exponentials as logarithms; of max pooling the positions; of dropout the mask.
    wick_recorded {
        op: wick_op,
        view: bool,
        inplace: bool,
        n_in: c_int,
        n_out: c_int,
        n_extra: c_int,
        r#in: *const *mut wick_tensor,
        out: *const *mut wick_tensor,
        reserved: [u64; 8],
    }
    /// Parameters of the norms above, and places for their statistics, which a gradient needs.
    wick_norm_options {
        weight: *const wick_tensor,
        bias: *const wick_tensor,
        epsilon: f64,
        mean: *mut *mut wick_tensor,
        inverse_deviation: *mut *mut wick_tensor,
        reserved: [u64; 8],
    }
    /// Statistics and parameters of batch norm, each \[C\].
    wick_batch_norm_options {
        weight: *const wick_tensor,
        bias: *const wick_tensor,
        epsilon: f64,
        reserved: [u64; 8],
    }
    /// Parameters of batch norm in training, and its statistics; each \[C\].
    wick_batch_norm_train_options {
        weight: *const wick_tensor,
        bias: *const wick_tensor,
        epsilon: f64,
        running_mean: *mut wick_tensor,
        running_variance: *mut wick_tensor,
        momentum: f64,
        mean: *mut *mut wick_tensor,
        inverse_deviation: *mut *mut wick_tensor,
        reserved: [u64; 8],
    }
    /// Parameters of local response norm; none has a default. PyTorch's defaults are alpha 1e-4, beta 0.75, k
    /// 1.
    wick_response_options {
        size: i64,
        alpha: f64,
        beta: f64,
        k: f64,
        within_channels: bool,
        reserved: [u64; 8],
    }
    /// Which keys a query sees, and how scores change. All zero: every key, unchanged scores.
    wick_attention_options {
        scale: f64,
        soft_cap: f64,
        causal: bool,
        align_last: bool,
        windowed: bool,
        left: i64,
        right: i64,
        slopes: *const wick_tensor,
        dropout: f64,
        seed: u64,
        log_sums: *mut *mut wick_tensor,
        reserved: [u64; 8],
    }
    /// Parameters of multi-head attention, of E features and heads of E / heads each.
    wick_multi_head_options {
        heads: i64,
        in_weight: *const wick_tensor,
        q_weight: *const wick_tensor,
        k_weight: *const wick_tensor,
        v_weight: *const wick_tensor,
        in_bias: *const wick_tensor,
        out_weight: *const wick_tensor,
        out_bias: *const wick_tensor,
        mask: *const wick_tensor,
        key_mask: *const wick_tensor,
        attention: *const wick_attention_options,
        weights: *mut *mut wick_tensor,
        each_head: bool,
        reserved: [u64; 8],
    }
    /// Parameters of a step of attention.
    wick_step_options {
        v: *const wick_tensor,
        lengths: *const wick_tensor,
        cosine: *const wick_tensor,
        sine: *const wick_tensor,
        interleaved: bool,
        attention: *const wick_attention_options,
        reserved: [u64; 8],
    }
    /// What the step after this one hands back. `options` may be NULL, too.
    wick_cell_backward_options {
        next: *const wick_tensor,
        carry: *const wick_tensor,
        reserved: [u64; 8],
    }
    /// What the layers are. Zero: one layer, one direction, steps first, biases, no dropout, all sequences of T
    /// steps.
    wick_recurrent_options {
        mode: wick_recurrent_mode,
        hidden: i64,
        projection: i64,
        layers: c_int,
        bidirectional: bool,
        batch_first: bool,
        no_bias: bool,
        dropout: f64,
        seed: u64,
        lengths: *const i64,
        n_lengths: i64,
        h: *const wick_tensor,
        c: *const wick_tensor,
        last_h: *mut *mut wick_tensor,
        last_c: *mut *mut wick_tensor,
        reserve: *mut *mut wick_tensor,
        reserved: [u64; 8],
    }
    /// What goes into the gradient besides, and places for further gradients.
    wick_recurrent_backward_options {
        last_h: *const wick_tensor,
        last_c: *const wick_tensor,
        h: *mut *mut wick_tensor,
        c: *mut *mut wick_tensor,
        weights: *mut *mut wick_tensor,
        reserved: [u64; 8],
    }
    /// NULL options mean zeros.
    wick_binary_cross_entropy_options {
        weight: *const wick_tensor,
        pos_weight: *const wick_tensor,
        reduction: wick_reduction,
        reserved: [u64; 8],
    }
    /// NULL options mean zeros: the mean of all rows.
    wick_cross_entropy_options {
        weight: *const wick_tensor,
        ignore: bool,
        ignored: i64,
        smoothing: f64,
        reduction: wick_reduction,
        log_sums: *mut *mut wick_tensor,
        total_weight: *mut *mut wick_tensor,
        reserved: [u64; 8],
    }
    /// NULL options mean zeros.
    wick_cosine_options {
        margin: f64,
        reduction: wick_reduction,
        reserved: [u64; 8],
    }
    /// NULL options mean PyTorch's defaults: margin 1, p 2, epsilon 1e-6, no swap, mean.
    wick_triplet_options {
        margin: f64,
        p: f64,
        epsilon: f64,
        swap: bool,
        reduction: wick_reduction,
        positive_gradient: *mut *mut wick_tensor,
        negative_gradient: *mut *mut wick_tensor,
        reserved: [u64; 8],
    }
    /// NULL options mean zeros.
    wick_ctc_options {
        blank: i64,
        reduction: wick_reduction,
        zero_infinity: bool,
        input_lengths: *const i64,
        n_input_lengths: i64,
        target_lengths: *const i64,
        n_target_lengths: i64,
        reserved: [u64; 8],
    }
    /// See linalg.h.
    wick_linear_options {
        activation: wick_activation,
        products: wick_products,
        norm: *const wick_tensor,
        epsilon: f64,
        more: *const wick_tensor,
        swiglu: bool,
        reserved: [u64; 8],
    }
    /// Each is a maximum; 0 means the default in its comment. A file that exceeds a limit fails with WICK_RANGE
    /// and a text that names the limit.
    wick_limits {
        tensors: i64,
        metadata: i64,
        inflated: i64,
        pixels: i64,
        memory: i64,
        scans: i64,
        reserved: [u64; 8],
    }
    /// See format.h.
    wick_archive_options {
        lenient: bool,
        copy: bool,
        limits: wick_limits,
        reserved: [u64; 8],
    }
    /// An archive's description of a tensor. Strings belong to the archive.
    wick_archive_entry {
        name: *const c_char,
        r#type: *const c_char,
        loadable: bool,
        dtype: wick_dtype,
        rank: c_int,
        shape: [i64; 8],
        nbytes: i64,
        reserved: [u64; 8],
    }
    /// See format.h.
    wick_metadata {
        key: *const c_char,
        type_name: *const c_char,
        r#type: wick_metadata_type,
        length: i64,
        reserved: [u64; 8],
    }
    /// A text that the library allocated: `nbytes` bytes and a final 0. Free it with wick_text_free.
    wick_text {
        data: *mut c_char,
        nbytes: usize,
        capacity: usize,
    }
    /// Room for ids: `max` of them at `ids`, which may be NULL when max is 0.
    wick_ids {
        ids: *mut i32,
        max: i64,
        n: i64,
    }
    /// What to sample by. Zero switches a step off; all zero takes the likeliest token.
    wick_sampling {
        temperature: f64,
        top_k: i64,
        typical: f64,
        top_p: f64,
        min_p: f64,
        repeat: f64,
        frequency: f64,
        presence: f64,
        window: i64,
        seed: u64,
        n_bias: i64,
        bias_ids: *const i32,
        bias: *const f32,
        log_probabilities: bool,
        reserved: [u64; 8],
    }
    /// A sampled token.
    wick_sampled {
        id: i32,
        n_left: i64,
        probability: f64,
        log_probability: f64,
        reserved: [u64; 8],
    }
    /// The bounds on a rendering; 0 anywhere means the value in brackets.
    wick_template_limits {
        steps: i64,
        depth: c_int,
        memory: usize,
        output: usize,
        now: i64,
    }
    /// Where bags begin, and what counts in them. All zero: sums of the rows of ids.
    wick_bag_options {
        mode: wick_bag_mode,
        offsets: *const wick_tensor,
        ends: bool,
        weights: *const wick_tensor,
        padded: bool,
        padding: i64,
        reserved: [u64; 8],
    }
    /// See random.h.
    wick_dropout_options {
        mask: *mut *mut wick_tensor,
        reserved: [u64; 8],
    }
    /// Options of convolutions. NULL, or zeros, mean stride 1, padding 0, dilation 1, one group.
    wick_conv_options {
        stride: [i64; 3],
        padding: [i64; 3],
        dilation: [i64; 3],
        output_padding: [i64; 3],
        groups: i64,
        relu: bool,
        reserved: [u64; 8],
    }
    /// Options of pooling. NULL, or zeros, mean stride = kernel, padding 0, dilation 1, sizes rounded down, and
    /// padding counted in averages.
    wick_pool_options {
        stride: [i64; 3],
        padding: [i64; 3],
        dilation: [i64; 3],
        ceil_mode: bool,
        exclude_padding: bool,
        divisor: i64,
        indices: *mut *mut wick_tensor,
        reserved: [u64; 8],
    }
    /// Options of resizing. With NULL, or zeros, positions follow from the two sizes alone.
    wick_upsample_options {
        scale: [f64; 3],
        align_corners: bool,
        reserved: [u64; 8],
    }
    /// See conv.h.
    wick_grid_sample_options {
        mode: wick_grid_mode,
        padding: wick_grid_padding,
        align_corners: bool,
        reserved: [u64; 8],
    }
    /// See elementwise.h.
    wick_quantise_options {
        importance: *const wick_tensor,
        reserved: [u64; 8],
    }
    /// What the norm had besides, and places for further gradients.
    wick_norm_backward_options {
        weight: *const wick_tensor,
        weight_gradient: *mut *mut wick_tensor,
        bias_gradient: *mut *mut wick_tensor,
        reserved: [u64; 8],
    }
    /// What the call of attention had and gave, and places for further gradients. Zero and NULL: as there.
    wick_attention_backward {
        result: *const wick_tensor,
        log_sums: *const wick_tensor,
        mask: *const wick_tensor,
        q_starts: *const wick_tensor,
        k_starts: *const wick_tensor,
        function: *const wick_attention_options,
        k_gradient: *mut *mut wick_tensor,
        v_gradient: *mut *mut wick_tensor,
        mask_gradient: *mut *mut wick_tensor,
        reserved: [u64; 8],
    }
    /// The same with options; NULL means all zero. Close with wick_embedder_close.
    wick_embedder_options {
        fast: bool,
        files: wick_archive_options,
        reserved: [u64; 8],
    }
    /// A product of a layer, as it is about to be computed.
    wick_lm_product {
        name: *const c_char,
        x: *const wick_tensor,
        ids: *const wick_tensor,
        experts: i64,
        reserved: [u64; 8],
    }
    /// How a model will be used: what memory must be there for it.
    wick_lm_use {
        sequences: i64,
        context: i64,
        tokens: i64,
        cache: wick_dtype,
        all: bool,
        reserved: [u64; 8],
    }
    /// See generate.h.
    wick_lm_options {
        exact: bool,
        files: wick_archive_options,
        on_product: Option<unsafe extern "C" fn(context: *mut c_void, product: *const wick_lm_product)>,
        context: *mut c_void,
        r#use: *const wick_lm_use,
        reserved: [u64; 8],
    }
    /// What a model is, and what it needs.
    wick_lm_info {
        family: [c_char; 32],
        layers: i64,
        hidden: i64,
        vocab: i64,
        context: i64,
        weight_bytes: i64,
        cache_bytes: i64,
        reserved: [u64; 8],
    }
    /// What that holds of a device's memory, in bytes.
    wick_lm_memory {
        weights: i64,
        cache: i64,
        work: i64,
        needed: i64,
        available: i64,
        missing: i64,
        reserved: [u64; 8],
    }
    /// See generate.h.
    wick_sequence_options {
        context: i64,
        cache: wick_dtype,
        reserved: [u64; 8],
    }
    /// A token as it comes.
    wick_generated {
        id: i32,
        log_probability: f64,
        text: *const c_char,
        nbytes: usize,
        reserved: [u64; 8],
    }
    /// See generate.h.
    wick_generate_options {
        max_tokens: i64,
        ignore_end: bool,
        shift: bool,
        keep: i64,
        sampling: *const wick_sampling,
        on_token: Option<unsafe extern "C" fn(context: *mut c_void, token: *const wick_generated) -> bool>,
        context: *mut c_void,
        reserved: [u64; 8],
    }
    /// See generate.h.
    wick_generate_result {
        stop: wick_stop,
        n_tokens: i64,
        reserved: [u64; 8],
    }
}

functions! {
    /// The version of the library that runs, as "major.minor.patch". A static string.
    fn wick_version() -> *const c_char;
    /// The status as a word, "SHAPE", and as a sentence. Static strings; "?" for a value that is not a status.
    fn wick_status_name(status: wick_status) -> *const c_char;
    /// The status as a word, "SHAPE", and as a sentence. Static strings; "?" for a value that is not a status.
    fn wick_status_text(status: wick_status) -> *const c_char;
    /// The text of this thread's first failure since wick_error_clear(), "" when there is none. The text
    /// belongs to the library and stays until this thread calls wick_error_clear().
    fn wick_error() -> *const c_char;
    /// The status that goes with wick_error(), WICK_OK when there is none.
    fn wick_error_status() -> wick_status;
    /// Forgets this thread's failure.
    fn wick_error_clear();
    /// Passes every line that is at least as severe as `level` to `log`. NULL, the default, discards them. Do
    /// not call this while other threads use the library.
    fn wick_log_set(log: Option<wick_log_fn>, context: *mut c_void, level: wick_log_level);
    /// Uses a copy of `allocator` from now on; NULL means the C library's. WICK_INVALID when a function is
    /// missing, or when memory of the present allocator is still in use: set it before the first device is
    /// opened.
    fn wick_allocator_set(allocator: *const wick_allocator) -> wick_status;
    /// Bytes of host memory the library holds now through the hook, device pools of the CPU family included.
    fn wick_host_memory_used() -> usize;
    /// "f32" and the like; "?" for a value that is not a dtype. Static strings.
    fn wick_dtype_name(dtype: wick_dtype) -> *const c_char;
    /// Finds a dtype by its name. False, and \*dtype untouched, when there is none of that name.
    fn wick_dtype_from_name(name: *const c_char, dtype: *mut wick_dtype) -> bool;
    /// What the elements are; see the list of kinds above.
    fn wick_dtype_kind(dtype: wick_dtype) -> wick_dtype_kind;
    /// True for bf16, f16, f32, f64 and the 8, 6 and 4 bit floats.
    fn wick_dtype_is_float(dtype: wick_dtype) -> bool;
    /// Bits of one element. 0 for quantised dtypes, whose elements share bits, and for a value that is not a
    /// dtype. Elements of less than 8 bits lie packed, without gaps.
    fn wick_dtype_bits(dtype: wick_dtype) -> c_int;
    /// Elements of a block, and its bytes. 1 element for dtypes of whole bytes; 0 and 0 for a value that is not
    /// a dtype.
    fn wick_dtype_block(dtype: wick_dtype) -> c_int;
    /// Elements of a block, and its bytes. 1 element for dtypes of whole bytes; 0 and 0 for a value that is not
    /// a dtype.
    fn wick_dtype_block_bytes(dtype: wick_dtype) -> c_int;
    /// Opens a device by name: "cpu", "cuda:0", "rocm:1", or "auto" for the best healthy one, which is a GPU
    /// with memory of its own, then one that shares the host's, then the CPU. Opening a GPU runs a small kernel
    /// on it as a test. NULL and WICK_DEVICE if no device has this name, or it does not work; the text says
    /// why. Each call returns a new handle with its own random numbers and, on a GPU, its own stream and memory
    /// pool. All handles of the CPU share its threads and memory pool. Close with wick_device_close.
    fn wick_device_open(name: *const c_char) -> *mut wick_device;
    /// Closes a device. You may still release tensors that live on it; every other call with them fails with
    /// WICK_CLOSED. NULL is fine. Do not use the handle again.
    fn wick_device_close(device: *mut wick_device);
    /// The name that wick_device_open takes, "cpu", "rocm:0". Belongs to the device.
    fn wick_device_name(device: *const wick_device) -> *const c_char;
    /// A number \>= 0 that all handles of one device share, and no other device has, as long as the process
    /// lives; -1 for NULL. Numbers have gaps and do not follow the order of wick_device_list. The CPU is 0.
    fn wick_device_ordinal(device: *const wick_device) -> c_int;
    /// Facts about a device. Strings belong to the device.
    fn wick_device_describe(device: *const wick_device, info: *mut wick_device_info) -> wick_status;
    /// Waits until the device has done all its work. Returns a failure of the device, or the late failure of an
    /// op in place that no call has reported yet (status.h). Further calls return further such failures.
    fn wick_device_sync(device: *mut wick_device) -> wick_status;
    /// How many devices can be opened, and the name of the i-th of them, 0 \<= i \< wick_device_count(), best
    /// first; NULL for any other i. The name stays until this thread calls wick_device_list again: it belongs
    /// to the library.
    fn wick_device_count() -> c_int;
    /// How many devices can be opened, and the name of the i-th of them, 0 \<= i \< wick_device_count(), best
    /// first; NULL for any other i. The name stays until this thread calls wick_device_list again: it belongs
    /// to the library.
    fn wick_device_list(i: c_int) -> *const c_char;
    /// The number of threads that run the CPU's kernels, 1 to 256; all handles share them. The default is
    /// WICK_THREADS from the environment, or else the number of processors that this process may use. Results
    /// do not depend on it. WICK_INVALID for any other number. Do not call this while kernels run.
    fn wick_threads_set(threads: c_int) -> wick_status;
    /// The number of threads that run the CPU's kernels, 1 to 256; all handles share them. The default is
    /// WICK_THREADS from the environment, or else the number of processors that this process may use. Results
    /// do not depend on it. WICK_INVALID for any other number. Do not call this while kernels run.
    fn wick_threads() -> c_int;
    /// How long those threads spin after a call before they sleep, in microseconds, 0 to 1,000,000. Waking a
    /// sleeping thread costs some 25 us, as much as a sum of 1 MiB. A spinning thread holds a processor, but
    /// yields it to other programs. Threads never spin if there are more of them than processors. The default
    /// is WICK_SPIN from the environment, or else 5000. WICK_INVALID for any other number.
    fn wick_threads_spin_set(microseconds: c_int) -> wick_status;
    /// How long those threads spin after a call before they sleep, in microseconds, 0 to 1,000,000. Waking a
    /// sleeping thread costs some 25 us, as much as a sum of 1 MiB. A spinning thread holds a processor, but
    /// yields it to other programs. Threads never spin if there are more of them than processors. The default
    /// is WICK_SPIN from the environment, or else 5000. WICK_INVALID for any other number.
    fn wick_threads_spin() -> c_int;
    /// Memory of a device, in bytes. The device keeps freed blocks for reuse, up to a limit.
    fn wick_memory_stats(device: *const wick_device, memory: *mut wick_memory) -> wick_status;
    /// Sets the limit. An allocation that would exceed it empties the cache first, and then fails with
    /// WICK_MEMORY.
    fn wick_memory_set_limit(device: *mut wick_device, nbytes: usize) -> wick_status;
    /// Sets how many bytes of freed blocks the device keeps. It gives further ones back at once; 0 keeps none.
    fn wick_memory_set_cache(device: *mut wick_device, nbytes: usize) -> wick_status;
    /// Sets how many bytes of freed blocks the device keeps. It gives further ones back at once; 0 keeps none.
    fn wick_memory_reset_peak(device: *mut wick_device) -> wick_status;
    /// Gives the cached blocks back.
    fn wick_memory_trim(device: *mut wick_device) -> wick_status;
    /// WICK_UNSUPPORTED on the CPU, WICK_INVALID for a value that is none of the enum.
    fn wick_blas_set(device: *mut wick_device, blas: wick_blas) -> wick_status;
    /// WICK_UNSUPPORTED on the CPU, WICK_INVALID for a value that is none of the enum.
    fn wick_dnn_set(device: *mut wick_device, dnn: wick_dnn) -> wick_status;
    /// Looks for the library. If `check` is set, also checks each dtype that it has not checked yet, and waits
    /// for the device. WICK_UNSUPPORTED on the CPU.
    fn wick_blas_describe(device: *mut wick_device, check: bool, info: *mut wick_blas_info) -> wick_status;
    /// The number of routes that a device has, 0 for the CPU and for NULL.
    fn wick_route_count(device: *const wick_device) -> c_int;
    /// Describes the route of this number, from 0; see wick_blas_describe for `check`. Texts belong to the
    /// library, until the next call for this device. WICK_UNSUPPORTED on the CPU, WICK_INVALID for a number
    /// that is none.
    fn wick_route_describe(device: *mut wick_device, route: c_int, check: bool, info: *mut wick_route_info) -> wick_status;
    /// WICK_UNSUPPORTED on the CPU, WICK_INVALID for a value that is none of the enum.
    fn wick_tune_set(device: *mut wick_device, tune: wick_tune) -> wick_status;
    /// The number of such rows since the device was opened, of up to 1024 calls that more than one route took;
    /// 0 for the CPU and for NULL.
    fn wick_tune_count(device: *const wick_device) -> c_int;
    /// Describes the row of this number, from 0. Texts belong to the device. WICK_UNSUPPORTED on the CPU,
    /// WICK_INVALID for a number that is none.
    fn wick_tune_describe(device: *mut wick_device, row: c_int, info: *mut wick_tune_info) -> wick_status;
    /// Whether results of casts and elementwise ops on this handle are always row-major, for callers that keep
    /// strides of their own. The default is false: ops.h says in which order they lie then.
    fn wick_row_major_set(device: *mut wick_device, row_major: bool) -> wick_status;
    /// Seeds the device's random numbers; the default is 0. See random.h.
    fn wick_seed_set(device: *mut wick_device, seed: u64) -> wick_status;
    /// The seed as it was set last; 0 for NULL.
    fn wick_seed(device: *const wick_device) -> u64;
    /// The device's stream as the vendor's own handle, a CUstream (cudaStream_t) or hipStream_t; NULL on the
    /// CPU. Work that others queue on it runs in order with Wick's. It belongs to the device.
    fn wick_stream(device: *const wick_device) -> *mut c_void;
    /// Makes the device queue its work on another stream of the same GPU. The caller makes that stream in the
    /// GPU's primary context, and keeps it alive until the device is closed or has another stream. Waits for
    /// the work queued so far. NULL gives the device a stream of its own again. WICK_UNSUPPORTED on the CPU,
    /// and while the thread records a graph.
    fn wick_stream_set(device: *mut wick_device, stream: *mut c_void) -> wick_status;
    /// A mark behind all work queued on the device so far. NULL after a failure. Give back with
    /// wick_event_free.
    fn wick_event_record(device: *mut wick_device) -> *mut wick_event;
    /// Makes all work that `device` queues from now on wait for the event, which may be of another device. The
    /// calling thread waits only if the two devices can't wait for each other.
    fn wick_event_wait(device: *mut wick_device, event: *const wick_event) -> wick_status;
    /// Waits until the work before the event is done.
    fn wick_event_sync(event: *const wick_event) -> wick_status;
    /// Whether the work before the event is done, into \*done.
    fn wick_event_done(event: *const wick_event, done: *mut bool) -> wick_status;
    /// Milliseconds between two events of one device, measured on it, into \*ms. Waits for `to`. WICK_DEVICE
    /// for events of two devices.
    fn wick_event_elapsed(from: *const wick_event, to: *const wick_event, ms: *mut f64) -> wick_status;
    /// Frees an event. NULL is fine.
    fn wick_event_free(event: *mut wick_event);
    /// Makes the device record the ops of this thread from now on instead of running them. WICK_INVALID if it
    /// records already.
    fn wick_graph_begin(device: *mut wick_device) -> wick_status;
    /// Ends the recording, on the thread that began it. NULL if an op could not be recorded, or no recording
    /// was begun; the device computes again either way. Give back with wick_graph_free.
    fn wick_graph_end(device: *mut wick_device) -> *mut wick_graph;
    /// Queues the recorded work.
    fn wick_graph_launch(graph: *mut wick_graph) -> wick_status;
    /// Waits for running launches and frees the graph. NULL is fine.
    fn wick_graph_free(graph: *mut wick_graph);
    /// How many modules there are, and the name of the i-th; NULL for any other i. Static strings.
    fn wick_kernels_modules() -> c_int;
    /// How many modules there are, and the name of the i-th; NULL for any other i. Static strings.
    fn wick_kernels_module(i: c_int) -> *const c_char;
    /// How many kernels a module has, 0 if there is no such module, and the name of its k-th; NULL for any
    /// other k. Static strings.
    fn wick_kernels_count(module: c_int) -> c_int;
    /// How many kernels a module has, 0 if there is no such module, and the name of its k-th; NULL for any
    /// other k. Static strings.
    fn wick_kernels_name(module: c_int, k: c_int) -> *const c_char;
    /// "none", "pack", "cache", "compile", "built in". Static strings.
    fn wick_route_name(route: wick_route) -> *const c_char;
    /// The route by which the device would get a module now. Compiles and loads nothing.
    fn wick_kernels_route(device: *const wick_device, module: c_int) -> wick_route;
    /// Loads every module, and compiles those that have no other route. Afterwards no op waits for a compiler,
    /// in this process or, with a disk cache, in later ones. WICK_DEVICE if a module has no route; the others
    /// are still loaded.
    fn wick_kernels_warm(device: *mut wick_device) -> wick_status;
    /// Writes a pack with every module for this device's kind of GPU, folder/TARGET.pack ("gfx942.pack"), and
    /// makes the folder if it is missing. Other machines use the pack through WICK_KERNEL_PACK or
    /// wick_kernels_import. WICK_UNSUPPORTED on the CPU, WICK_DEVICE if a module has no route, WICK_IO if the
    /// file can't be written.
    fn wick_kernels_export(device: *mut wick_device, folder: *const c_char) -> wick_status;
    /// Copies packs, a file or a folder of TARGET.pack files, into the disk cache's folder, where Wick finds
    /// them from now on. It needs no device, so it can serve one that has no other route. WICK_FORMAT if a pack
    /// is damaged, WICK_INVALID if it was made from other sources than this library's, WICK_IO if there is no
    /// pack or no folder to write to. If one pack of a folder fails, those already copied stay.
    fn wick_kernels_import(path: *const c_char) -> wick_status;
    /// Elements are undefined.
    fn wick_empty(device: *mut wick_device, dtype: wick_dtype, rank: c_int, shape: *const i64) -> *mut wick_tensor;
    /// Elements are undefined.
    fn wick_zeros(device: *mut wick_device, dtype: wick_dtype, rank: c_int, shape: *const i64) -> *mut wick_tensor;
    /// Elements are undefined.
    fn wick_ones(device: *mut wick_device, dtype: wick_dtype, rank: c_int, shape: *const i64) -> *mut wick_tensor;
    /// Every element is `value`, cast to the dtype as wick_cast does.
    fn wick_full(device: *mut wick_device, dtype: wick_dtype, rank: c_int, shape: *const i64, value: wick_number) -> *mut wick_tensor;
    /// The device, dtype and shape of x; WICK_INVALID for NULL.
    fn wick_empty_like(x: *const wick_tensor) -> *mut wick_tensor;
    /// The device, dtype and shape of x; WICK_INVALID for NULL.
    fn wick_zeros_like(x: *const wick_tensor) -> *mut wick_tensor;
    /// The device, dtype and shape of x; WICK_INVALID for NULL.
    fn wick_ones_like(x: *const wick_tensor) -> *mut wick_tensor;
    /// A copy of prod(shape) elements at `data`, in row-major order. `data` may be NULL if there are no
    /// elements. WICK_INVALID unless `nbytes` is their size: whole blocks (dtype.h), or count \* bits / 8
    /// rounded up.
    fn wick_from_data(device: *mut wick_device, dtype: wick_dtype, rank: c_int, shape: *const i64, data: *const c_void, nbytes: usize) -> *mut wick_tensor;
    /// A tensor over the first elements of a block. On the CPU the block is host memory, e.g. a mapped file; on
    /// a GPU it is memory that this GPU can read and write, e.g. another library's tensor. The block must stay
    /// valid, and only Wick may write to it, until Wick calls release(context). It calls release once, on any
    /// thread, after the last view is released and the device has done the work queued by then; while the
    /// device records a graph, release does not wait for that work. If this call fails, it does not call
    /// release. Writes to the block on another stream must be done, or ordered before the work of this device
    /// (stream.h). WICK_INVALID if `data` is NULL or not aligned to the dtype's size, or the block is smaller
    /// than the shape. Wick does not check whether a GPU can reach the address.
    fn wick_from_memory(device: *mut wick_device, dtype: wick_dtype, rank: c_int, shape: *const i64, block: *const wick_memory_block) -> *mut wick_tensor;
    /// start, start + step, ... while below end, or above end if step \< 0. \[N\]. Integer dtypes with three
    /// whole numbers use wrapping integer arithmetic; everything else computes start + i step in f64 and casts
    /// it as wick_cast does. WICK_INVALID if step is 0 or a number is not finite.
    fn wick_arange(device: *mut wick_device, dtype: wick_dtype, start: wick_number, end: wick_number, step: wick_number) -> *mut wick_tensor;
    /// n numbers at equal steps from start to end, both included: \[N\]. Computed in f64 and cast once.
    /// WICK_INVALID for n \< 0, and for ends that are not finite.
    fn wick_linspace(device: *mut wick_device, dtype: wick_dtype, start: f64, end: f64, n: i64) -> *mut wick_tensor;
    /// \---- inspection ---- NULL gives -1, NULL or 0.
    fn wick_tensor_dtype(x: *const wick_tensor) -> wick_dtype;
    /// \---- inspection ---- NULL gives -1, NULL or 0.
    fn wick_tensor_rank(x: *const wick_tensor) -> c_int;
    /// `rank` sizes, and `rank` strides counted in elements. Both belong to the tensor.
    fn wick_tensor_shape(x: *const wick_tensor) -> *const i64;
    /// `rank` sizes, and `rank` strides counted in elements. Both belong to the tensor.
    fn wick_tensor_strides(x: *const wick_tensor) -> *const i64;
    /// The size of one dim. 0, with WICK_RANGE as this thread's error, if there is no such dim.
    fn wick_tensor_dim(x: *const wick_tensor, dim: c_int) -> i64;
    /// The number of elements.
    fn wick_tensor_count(x: *const wick_tensor) -> i64;
    /// Where the view starts in its buffer, in elements.
    fn wick_tensor_offset(x: *const wick_tensor) -> i64;
    /// Row-major without gaps; dims of size \<= 1 may have any stride, and the offset does not matter.
    fn wick_tensor_is_contiguous(x: *const wick_tensor) -> bool;
    /// The device. It belongs to the caller of wick_device_open, and stays as long as x does.
    fn wick_tensor_device(x: *const wick_tensor) -> *mut wick_device;
    /// Waits for the device and copies the elements to `data`, in row-major order. WICK_INVALID unless `nbytes`
    /// is the size of the elements: whole blocks (dtype.h), or bits rounded up to bytes.
    fn wick_read(x: *const wick_tensor, data: *mut c_void, nbytes: usize) -> wick_status;
    /// The only element of a tensor, as a double.
    fn wick_read_scalar(x: *const wick_tensor, value: *mut f64) -> wick_status;
    /// The address of the first element of a CPU tensor; NULL and WICK_DEVICE for other devices. The caller
    /// must respect strides, and must not write while others read.
    fn wick_tensor_data(x: *const wick_tensor) -> *mut c_void;
    /// Sets \*data to the device address of the first element of x, NULL if x has no elements, and \*stream to
    /// the stream on which to queue work that reads or writes it: a CUstream or hipStream_t, as wick_stream
    /// gives it. Order work on other streams against it by events. The CPU has no streams: \*stream is NULL,
    /// and the elements are ready when this call returns. The address is valid as long as x is. The caller must
    /// respect strides; writes also change every tensor that shares the buffer. WICK_INVALID for NULL,
    /// WICK_CLOSED.
    fn wick_tensor_address(x: *const wick_tensor, data: *mut *mut c_void, stream: *mut *mut c_void) -> wick_status;
    /// A copy of x on another device; a view of x if x is there already.
    fn wick_to_device(x: *const wick_tensor, device: *mut wick_device) -> *mut wick_tensor;
    /// Adds a reference and returns x. No scope owns it: give it back with wick_release.
    fn wick_retain(x: *const wick_tensor) -> *mut wick_tensor;
    /// Gives a reference back; the last one frees the tensor. NULL is fine.
    fn wick_release(x: *mut wick_tensor);
    /// Begins a scope. It owns every tensor that this thread makes until the matching wick_scope_end, and
    /// releases them there. So a forward pass needs no clean-up code: wick_scope_begin(); struct wick_tensor
    /// \*y = wick_add(wick_matmul(x, w), b); return wick_scope_end(y); Scopes nest and belong to one thread. A
    /// thread that ends releases the scopes that it left open. Do not wick_release a tensor that a scope owns,
    /// unless you mean to free it early and no one has retained it.
    fn wick_scope_begin();
    /// Ends the innermost scope. `keep`, which may be NULL, survives: it passes to the enclosing scope, or to
    /// the caller if there is none. Returns keep. Without a scope, does nothing else.
    fn wick_scope_end(keep: *mut wick_tensor) -> *mut wick_tensor;
    /// Makes another tensor of the innermost scope survive its end, in the same way. Returns x.
    fn wick_keep(x: *mut wick_tensor) -> *mut wick_tensor;
    /// "add" and the like; "?" for a value that is not an op. A static string.
    fn wick_op_name(op: wick_op) -> *const c_char;
    /// The op's formula: "x + y". A static string.
    fn wick_op_formula(op: wick_op) -> *const c_char;
    /// The group of ops it belongs to: "binary". A static string.
    fn wick_op_family(op: wick_op) -> *const c_char;
    /// The name of operand i, counted from 0, in error texts: "ids". An optional one ends in '?'. NULL past the
    /// last, and for ops without operands. Operands in an array, as in wick_cat, count as two: the first and
    /// the others. Static strings.
    fn wick_op_operand(op: wick_op, i: c_int) -> *const c_char;
    /// Whether operand i may have the dtype beside a first operand of dtype `first`. False for an operand or a
    /// dtype that does not exist.
    fn wick_op_takes(op: wick_op, i: c_int, first: wick_dtype, dtype: wick_dtype) -> bool;
    /// Finds an op by its name. False, and \*op untouched, when there is none.
    fn wick_op_from_name(name: *const c_char, op: *mut wick_op) -> bool;
    /// Whether the device runs the op on tensors whose first operand (or, without one, whose result) has this
    /// dtype. The answer is read from the row that dispatch reads. False for NULL and values out of range.
    fn wick_supports(device: *const wick_device, op: wick_op, dtype: wick_dtype) -> bool;
    /// Begins recording this thread's calls. WICK_INVALID if it records already, WICK_MEMORY.
    fn wick_record_begin() -> wick_status;
    /// Ends this thread's recording. NULL if none was begun, or if memory ran out for a call (WICK_MEMORY); the
    /// recording ends either way. Give back with wick_record_free, on any thread.
    fn wick_record_end() -> *mut wick_record;
    /// The number of calls; 0 for NULL.
    fn wick_record_count(record: *const wick_record) -> i64;
    /// Call i, counted from 0. WICK_RANGE, WICK_INVALID for NULL.
    fn wick_record_call(record: *const wick_record, i: i64, call: *mut wick_recorded) -> wick_status;
    /// Writes the parameters of call i that are not tensors, "dim=1 start=2 length=3", or "" if there are none,
    /// cut to nbytes with the final 0. Shapes and dtypes are left out; the results have them. Returns the
    /// length of the whole text in bytes, without the final 0; 0 if there is no such call.
    fn wick_record_params(record: *const wick_record, i: i64, text: *mut c_char, nbytes: usize) -> usize;
    /// Runs the calls again, in order. They write the same result tensors anew, from the current contents of
    /// the operands. Views stay as they are, and random numbers are the same. WICK_CLOSED if a device was
    /// closed, WICK_UNSUPPORTED for copies between devices while one of them records a graph, and any failure
    /// of a call.
    fn wick_record_replay(record: *const wick_record) -> wick_status;
    /// Frees the record and releases its tensors. NULL is fine.
    fn wick_record_free(record: *mut wick_record);
    /// x in row-major order without gaps; a view of x if it is contiguous already.
    fn wick_contiguous(x: *const wick_tensor) -> *mut wick_tensor;
    /// x in row-major order without gaps, in a buffer of its own: always a copy.
    fn wick_clone(x: *const wick_tensor) -> *mut wick_tensor;
    /// The elements of x in row-major order with another shape. One size may be -1, and follows from the
    /// others. A view if the strides of x allow one, otherwise a contiguous copy. WICK_SHAPE if the counts
    /// differ, or if -1 is ambiguous because the other sizes multiply to 0. WICK_INVALID for two -1 or another
    /// negative size.
    fn wick_reshape(x: *const wick_tensor, rank: c_int, shape: *const i64) -> *mut wick_tensor;
    /// x without dim `dim` if its size is 1; otherwise x as it is. A scalar, whose dims are 0 and -1, stays as
    /// it is.
    fn wick_squeeze(x: *const wick_tensor, dim: c_int) -> *mut wick_tensor;
    /// x without all its dims of size 1.
    fn wick_squeeze_all(x: *const wick_tensor) -> *mut wick_tensor;
    /// x with a new dim of size 1 before dim `dim`, -rank-1 \<= dim \<= rank.
    fn wick_unsqueeze(x: *const wick_tensor, dim: c_int) -> *mut wick_tensor;
    /// Merges dims `from` to `to`, inclusive, into one; a scalar becomes \[1\]. A view if wick_reshape gives
    /// one. WICK_RANGE if from lies after to.
    fn wick_flatten(x: *const wick_tensor, from: c_int, to: c_int) -> *mut wick_tensor;
    /// Swaps dims a and b. A scalar, whose dims are 0 and -1, stays as it is.
    fn wick_transpose(x: *const wick_tensor, a: c_int, b: c_int) -> *mut wick_tensor;
    /// Swaps the last two dims: the transpose of a matrix, or of a batch of them. WICK_SHAPE for rank \< 2.
    fn wick_t(x: *const wick_tensor) -> *mut wick_tensor;
    /// Dim i of the result is dim dims\[i\] of x. WICK_INVALID unless `dims` names each of the rank dims once.
    fn wick_permute(x: *const wick_tensor, rank: c_int, dims: *const c_int) -> *mut wick_tensor;
    /// Positions start .. start+length-1 of a dim. WICK_RANGE unless 0 \<= start \<= start + length \<= size.
    fn wick_narrow(x: *const wick_tensor, dim: c_int, start: i64, length: i64) -> *mut wick_tensor;
    /// Position `index` of a dim; the result lacks the dim. A negative index counts from the end. WICK_RANGE
    /// outside.
    fn wick_select(x: *const wick_tensor, dim: c_int, index: i64) -> *mut wick_tensor;
    /// Positions start, start+step, ... below end of a dim, as x\[start:end:step\] in Python: negative bounds
    /// count from the end, and both are then clamped to the dim; INT64_MAX is "to the end". WICK_INVALID unless
    /// step \>= 1.
    fn wick_slice(x: *const wick_tensor, dim: c_int, start: i64, end: i64, step: i64) -> *mut wick_tensor;
    /// x repeated along its dims of size 1, and along new dims in front, to a shape that it broadcasts to by
    /// NumPy's rule. WICK_SHAPE otherwise.
    fn wick_broadcast_to(x: *const wick_tensor, rank: c_int, shape: *const i64) -> *mut wick_tensor;
    /// The same, where a size of -1 keeps that of x.
    fn wick_expand(x: *const wick_tensor, rank: c_int, shape: *const i64) -> *mut wick_tensor;
    /// n \>= 1 views whose sizes along dim differ by at most one, the larger first (NumPy's array_split): 10 in
    /// 4 parts are 3, 3, 2, 2. Later ones are empty when n exceeds the size. out\[0 .. n-1\] is set only on
    /// success.
    fn wick_chunk(x: *const wick_tensor, n: i64, dim: c_int, out: *mut *mut wick_tensor) -> wick_status;
    /// n \>= 1 views of the given sizes along dim. WICK_SHAPE unless the sizes add up to that of dim.
    fn wick_split(x: *const wick_tensor, n: c_int, sizes: *const i64, dim: c_int, out: *mut *mut wick_tensor) -> wick_status;
    /// All windows of `size` positions along dim, one every `step`: \[.., N, ..\] -\> \[.., (N - size) / step +
    /// 1, .., size\]. Windows that overlap share elements. A scalar, whose dim is 0 or -1, has one window,
    /// \[size\]. WICK_RANGE unless 0 \<= size \<= N, WICK_INVALID unless step \>= 1.
    fn wick_unfold(x: *const wick_tensor, dim: c_int, size: i64, step: i64) -> *mut wick_tensor;
    /// The elements with position\[b\] - position\[a\] == offset. The result lacks dims a and b; the diagonal
    /// becomes its last dim. \[.., A, .., B, ..\] -\> \[.., L\]. WICK_INVALID if a and b are one dim.
    fn wick_diagonal(x: *const wick_tensor, offset: i64, a: c_int, b: c_int) -> *mut wick_tensor;
    /// A view of the buffer of x, whatever the layout of x itself. Element (i, j, ..) is i strides\[0\] + j
    /// strides\[1\] + .. elements after the `offset`-th of the buffer. `strides` has an entry a dim; 0 repeats.
    /// wick_tensor_strides and wick_tensor_offset return those of x. Strides of dims of size 1, and of views
    /// without elements, do not matter; the result may have others. WICK_RANGE if an element would lie outside
    /// the buffer, WICK_INVALID for a negative stride or offset.
    fn wick_as_strided(x: *const wick_tensor, rank: c_int, shape: *const i64, strides: *const i64, offset: i64) -> *mut wick_tensor;
    /// The n coordinate grids of n axes, axis i \[N_i\] along dim i of \[N_0, .., N_(n-1)\] (PyTorch's indexing
    /// "ij"). n is 1 to WICK_MAX_RANK. out\[0 .. n-1\] is set only on success.
    fn wick_meshgrid(n: c_int, axes: *const *mut wick_tensor, out: *mut *mut wick_tensor) -> wick_status;
    /// Joins n \>= 1 tensors of one dtype along dim. WICK_SHAPE unless their other dims agree.
    fn wick_cat(n: c_int, tensors: *const *mut wick_tensor, dim: c_int) -> *mut wick_tensor;
    /// Joins n \>= 1 tensors of one shape and dtype along a new dim of size n before dim `dim`, -rank-1 \<= dim
    /// \<= rank.
    fn wick_stack(n: c_int, tensors: *const *mut wick_tensor, dim: c_int) -> *mut wick_tensor;
    /// x repeated repeats\[d\] \>= 0 times along dim d. If `rank` exceeds that of x, x gets new dims in front
    /// first.
    fn wick_repeat(x: *const wick_tensor, rank: c_int, repeats: *const i64) -> *mut wick_tensor;
    /// x reversed along n dims. WICK_INVALID if a dim appears twice.
    fn wick_flip(x: *const wick_tensor, n: c_int, dims: *const c_int) -> *mut wick_tensor;
    /// Position i of dim goes to (i + shift) mod size; shift may be negative.
    fn wick_roll(x: *const wick_tensor, shift: i64, dim: c_int) -> *mut wick_tensor;
    /// The same along dims\[i\] by shifts\[i\], for n dims one after the other; a copy of x for none.
    fn wick_roll_dims(x: *const wick_tensor, n: c_int, shifts: *const i64, dims: *const c_int) -> *mut wick_tensor;
    /// Writes source into positions start .. start+n-1 of dim of `target`, where n is the size of source along
    /// dim. Other dims must agree. WICK_RANGE if source does not fit, WICK_INVALID if the two share a buffer or
    /// target is a broadcast view.
    fn wick_slice_set_inplace(target: *mut wick_tensor, source: *const wick_tensor, dim: c_int, start: i64) -> wick_status;
    /// The same on a copy of x.
    fn wick_slice_scatter(x: *const wick_tensor, source: *const wick_tensor, dim: c_int, start: i64) -> *mut wick_tensor;
    /// The lower or upper triangle of matrices \[.., M, N\], 0 elsewhere: element (i, j) stays when j \<= i +
    /// k, or when j \>= i + k. WICK_SHAPE for rank \< 2.
    fn wick_tril(x: *const wick_tensor, k: i64) -> *mut wick_tensor;
    /// The lower or upper triangle of matrices \[.., M, N\], 0 elsewhere: element (i, j) stays when j \<= i +
    /// k, or when j \>= i + k. WICK_SHAPE for rank \< 2.
    fn wick_triu(x: *const wick_tensor, k: i64) -> *mut wick_tensor;
    /// 1 on the diagonal, 0 elsewhere. \[rows, columns\], of one of the ten compute dtypes.
    fn wick_eye(device: *mut wick_device, dtype: wick_dtype, rows: i64, columns: i64) -> *mut wick_tensor;
    /// The sum; 0 of nothing. u8 sums wrap in u8: cast first where that is too narrow.
    fn wick_sum(x: *const wick_tensor, n_dims: c_int, dims: *const c_int, keepdim: bool) -> *mut wick_tensor;
    /// The product; 1 of nothing. Of floats it is right where it is in range, even if products on the way are
    /// not.
    fn wick_prod(x: *const wick_tensor, n_dims: c_int, dims: *const c_int, keepdim: bool) -> *mut wick_tensor;
    /// The smallest and the largest element; NaN if there is one. WICK_SHAPE for nothing.
    fn wick_min(x: *const wick_tensor, n_dims: c_int, dims: *const c_int, keepdim: bool) -> *mut wick_tensor;
    /// The smallest and the largest element; NaN if there is one. WICK_SHAPE for nothing.
    fn wick_max(x: *const wick_tensor, n_dims: c_int, dims: *const c_int, keepdim: bool) -> *mut wick_tensor;
    /// Whether an element is not zero; 0 of nothing. NaN is not zero.
    fn wick_any(x: *const wick_tensor, n_dims: c_int, dims: *const c_int, keepdim: bool) -> *mut wick_tensor;
    /// Whether all elements are not zero; 1 of nothing.
    fn wick_all(x: *const wick_tensor, n_dims: c_int, dims: *const c_int, keepdim: bool) -> *mut wick_tensor;
    /// The index of the smallest and of the largest element: the first among equals, or the first NaN if there
    /// is one. Over several dims it counts in row-major order. WICK_SHAPE for nothing, WICK_OVERFLOW for 2^32 -
    /// 1 elements or more.
    fn wick_argmin(x: *const wick_tensor, n_dims: c_int, dims: *const c_int, keepdim: bool) -> *mut wick_tensor;
    /// The index of the smallest and of the largest element: the first among equals, or the first NaN if there
    /// is one. Over several dims it counts in row-major order. WICK_SHAPE for nothing, WICK_OVERFLOW for 2^32 -
    /// 1 elements or more.
    fn wick_argmax(x: *const wick_tensor, n_dims: c_int, dims: *const c_int, keepdim: bool) -> *mut wick_tensor;
    /// sum(x) / n; NaN of nothing.
    fn wick_mean(x: *const wick_tensor, n_dims: c_int, dims: *const c_int, keepdim: bool) -> *mut wick_tensor;
    /// sum((x - mean)^2) / (n - correction), and its square root. A correction of 1 makes the variance
    /// unbiased; 0 gives the variance of the elements themselves. NaN of nothing. NaN or infinite if n \<=
    /// correction, because the divisor is max(0, n - correction). The sum is over deviations, not over squares
    /// of the elements, so nothing cancels.
    fn wick_var(x: *const wick_tensor, correction: f64, n_dims: c_int, dims: *const c_int, keepdim: bool) -> *mut wick_tensor;
    /// sum((x - mean)^2) / (n - correction), and its square root. A correction of 1 makes the variance
    /// unbiased; 0 gives the variance of the elements themselves. NaN of nothing. NaN or infinite if n \<=
    /// correction, because the divisor is max(0, n - correction). The sum is over deviations, not over squares
    /// of the elements, so nothing cancels.
    fn wick_std(x: *const wick_tensor, correction: f64, n_dims: c_int, dims: *const c_int, keepdim: bool) -> *mut wick_tensor;
    /// The p-norm sum(|x|^p)^(1/p), right wherever it is in range, even if powers are not. p = INFINITY gives
    /// max |x|, -INFINITY min |x|, and 0 the number of nonzero elements. 0 of nothing, but WICK_SHAPE if p \<
    /// 0. WICK_INVALID if p is NaN.
    fn wick_norm(x: *const wick_tensor, p: f64, n_dims: c_int, dims: *const c_int, keepdim: bool) -> *mut wick_tensor;
    /// log(sum(exp(x))) without overflow; -infinity of nothing.
    fn wick_log_sum_exp(x: *const wick_tensor, n_dims: c_int, dims: *const c_int, keepdim: bool) -> *mut wick_tensor;
    /// The largest and the smallest element: the first among equals, or the first NaN if there is one.
    fn wick_max_along(x: *const wick_tensor, dim: c_int, keepdim: bool, indices: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// The largest and the smallest element: the first among equals, or the first NaN if there is one.
    fn wick_min_along(x: *const wick_tensor, dim: c_int, keepdim: bool, indices: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// Element (N - 1) / 2 of wick_sort, the lower of the two in the middle; the last NaN if there is one.
    fn wick_median(x: *const wick_tensor, dim: c_int, keepdim: bool, indices: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// What lies at place p = q (N - 1) of wick_sort, between elements a and b: a + (p - floor p) (b - a),
    /// computed in f64 and rounded once. NaN if there is one. Floats. WICK_INVALID unless 0 \<= q \<= 1.
    /// WICK_SHAPE if the dim has size 0.
    fn wick_quantile(x: *const wick_tensor, q: f64, dim: c_int, keepdim: bool) -> *mut wick_tensor;
    /// The sum and the mean of the elements, each cast to `dtype` first as wick_cast does: a sum of u8 in i64
    /// does not wrap. WICK_DTYPE unless it is a compute dtype; for mean_in, a float.
    fn wick_sum_in(x: *const wick_tensor, dtype: wick_dtype, n_dims: c_int, dims: *const c_int, keepdim: bool) -> *mut wick_tensor;
    /// The sum and the mean of the elements, each cast to `dtype` first as wick_cast does: a sum of u8 in i64
    /// does not wrap. WICK_DTYPE unless it is a compute dtype; for mean_in, a float.
    fn wick_mean_in(x: *const wick_tensor, dtype: wick_dtype, n_dims: c_int, dims: *const c_int, keepdim: bool) -> *mut wick_tensor;
    /// y\[i\] = x\[0\] + ... + x\[i\], and the products, in O(n). Floats accumulate in f64 and round each
    /// element once; integers wrap around.
    fn wick_cumsum(x: *const wick_tensor, dim: c_int) -> *mut wick_tensor;
    /// y\[i\] = x\[0\] + ... + x\[i\], and the products, in O(n). Floats accumulate in f64 and round each
    /// element once; integers wrap around.
    fn wick_cumprod(x: *const wick_tensor, dim: c_int) -> *mut wick_tensor;
    /// The largest and the smallest of x\[0\] .. x\[i\]; from a NaN on, NaN. If `indices` is not NULL,
    /// \*indices receives where it is, u32: the last among equals, or the last NaN so far; a failure leaves it
    /// as it was. O(n). WICK_OVERFLOW if the dim is 2^32 - 1 or more.
    fn wick_cummax(x: *const wick_tensor, dim: c_int, indices: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// The largest and the smallest of x\[0\] .. x\[i\]; from a NaN on, NaN. If `indices` is not NULL,
    /// \*indices receives where it is, u32: the last among equals, or the last NaN so far; a failure leaves it
    /// as it was. O(n). WICK_OVERFLOW if the dim is 2^32 - 1 or more.
    fn wick_cummin(x: *const wick_tensor, dim: c_int, indices: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// log(exp(x\[0\]) + ... + exp(x\[i\])) without overflow, in f64 and rounded once. Floats. O(n).
    fn wick_logcumsumexp(x: *const wick_tensor, dim: c_int) -> *mut wick_tensor;
    /// The elements in ascending or descending order along dim. Both are stable: equal elements keep their
    /// order, and -0 and +0 are equal. NaNs come last ascending, first descending. If `indices` is not NULL,
    /// \*indices receives the original position of each element, u32; a failure leaves it as it was.
    /// WICK_OVERFLOW if the dim is 2^32 - 1 or more.
    fn wick_sort(x: *const wick_tensor, dim: c_int, descending: bool, indices: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// The indices alone, u32.
    fn wick_argsort(x: *const wick_tensor, dim: c_int, descending: bool) -> *mut wick_tensor;
    /// The first k elements of wick_sort: the k largest in descending order, or the k smallest in ascending
    /// order, the first among equals. WICK_RANGE unless 0 \<= k \<= the size of dim. `indices` as in wick_sort.
    fn wick_topk(x: *const wick_tensor, k: i64, dim: c_int, largest: bool, indices: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// exp(x - max) / sum(exp(x - max)) along dim. x \[...,N,...\] -\> \[...,N,...\]. A scalar has one dim, 0
    /// or -1, of one element.
    fn wick_softmax(x: *const wick_tensor, dim: c_int) -> *mut wick_tensor;
    /// Its logarithm, x - max - log(sum(exp(x - max))).
    fn wick_log_softmax(x: *const wick_tensor, dim: c_int) -> *mut wick_tensor;
    /// (x - mean) / sqrt(var + epsilon) \* weight + bias, mean and (biased) var over the last `axes` \>= 1
    /// dims, of which weight and bias have the shape: x \[...,A,B\], axes 2, weight \[A,B\], bias \[A,B\].
    fn wick_layer_norm(x: *const wick_tensor, axes: c_int, weight: *const wick_tensor, bias: *const wick_tensor, epsilon: f64) -> *mut wick_tensor;
    /// x / sqrt(mean(x^2) + epsilon) \* weight over the last dim: x \[...,N\], weight \[N\].
    fn wick_rms_norm(x: *const wick_tensor, weight: *const wick_tensor, epsilon: f64) -> *mut wick_tensor;
    /// As wick_layer_norm for each of `groups` groups of C / groups channels: x \[N,C,...\], weight \[C\], bias
    /// \[C\]. With groups = C it is instance norm. WICK_SHAPE unless groups divides C.
    fn wick_group_norm(x: *const wick_tensor, groups: i64, weight: *const wick_tensor, bias: *const wick_tensor, epsilon: f64) -> *mut wick_tensor;
    /// The same functions with all parameters as options, which may be NULL.
    fn wick_layer_norm_with(x: *const wick_tensor, axes: c_int, options: *const wick_norm_options) -> *mut wick_tensor;
    /// The same functions with all parameters as options, which may be NULL.
    fn wick_rms_norm_with(x: *const wick_tensor, options: *const wick_norm_options) -> *mut wick_tensor;
    /// The same functions with all parameters as options, which may be NULL.
    fn wick_group_norm_with(x: *const wick_tensor, groups: i64, options: *const wick_norm_options) -> *mut wick_tensor;
    /// (x - mean) / sqrt(variance + epsilon) \* weight + bias by channel, with given statistics, as in
    /// inference. x \[N,C,...\], mean \[C\], variance \[C\]. `options` may be NULL.
    fn wick_batch_norm(x: *const wick_tensor, mean: *const wick_tensor, variance: *const wick_tensor, options: *const wick_batch_norm_options) -> *mut wick_tensor;
    /// (x - mean) / sqrt(variance + epsilon) \* weight + bias with the statistics of x itself, over all
    /// elements of a channel: x \[N,C,...\] -\> \[N,C,...\]. For statistics of each place in a channel, view x
    /// as \[N,C H W\]. Statistics of no elements are NaN. Makes a copy of x where N is not 1 and a channel has
    /// fewer than 32 elements in an image. `options` may be NULL. WICK_INVALID unless epsilon \>= 0.
    fn wick_batch_norm_train(x: *const wick_tensor, options: *const wick_batch_norm_train_options) -> *mut wick_tensor;
    /// x / (k + alpha m)^beta, x \[N,C,...\], floats, computed in f32 (f64 for f64). m is the mean of the
    /// squares of channels c - size / 2 .. c + (size - 1) / 2, with 0 beyond the channels, as in PyTorch;
    /// within channels that of the elements around x, size in each of 1 to 3 spatial dims, those in x alone, as
    /// in MIOpen. WICK_INVALID for NULL options. Squares beyond the range of f32 are infinite.
    fn wick_local_response_norm(x: *const wick_tensor, options: *const wick_response_options) -> *mut wick_tensor;
    /// Each pair of elements (a, b) of the last dim becomes (a cos - b sin, a sin + b cos). Pairs are (i, i +
    /// D/2), or (2i, 2i + 1) if `interleaved`. x \[B,H,T,D\]; cosine and sine \[T,D/2\], or \[B,T,D/2\] for one
    /// table a batch.
    fn wick_rope(x: *const wick_tensor, cosine: *const wick_tensor, sine: *const wick_tensor, interleaved: bool) -> *mut wick_tensor;
    /// The same for x \[B,T,H,D\].
    fn wick_rope_thd(x: *const wick_tensor, cosine: *const wick_tensor, sine: *const wick_tensor, interleaved: bool) -> *mut wick_tensor;
    /// softmax(q k^T scale + mask) v by head, as torch.nn.functional.scaled_dot_product_attention, without
    /// storing the M x N scores. q \[B,H,M,D\], k \[B,K,N,D\], v \[B,K,N,E\] -\> \[B,H,M,E\]; head h of q uses
    /// head h / (H / K) of k and v. Float dtypes, computed in f32 (f64 for f64) and rounded once; matrix
    /// instructions of a GPU also round the weights of v to bf16 or f16. mask broadcasts to \[B,H,M,N\]; NULL
    /// means none. A u8 mask hides a key where it is 0. A mask of q's dtype is added to the scores, and hides a
    /// key where it is -inf. A hidden key has no effect on a query's result, even if k or v holds NaN. A query
    /// that sees no key gives zeros. \[H,M,D\], of rank 3, is a batch of one; from rank 5 on, all dims before
    /// the heads are one batch. `options` may be NULL. WICK_SHAPE unless sizes agree and K divides H,
    /// WICK_DTYPE for slopes that are not f32, WICK_INVALID unless scale and soft_cap are finite and soft_cap
    /// \>= 0.
    fn wick_scaled_dot_product_attention(q: *const wick_tensor, k: *const wick_tensor, v: *const wick_tensor, mask: *const wick_tensor, options: *const wick_attention_options) -> *mut wick_tensor;
    /// Attention of projections, as torch.nn.MultiheadAttention with batches first: query \[B,M,E\], key
    /// \[B,N,F\] and value \[B,N,G\] give \[B,M,E\]; F and G are E with in_weight. Each projection x weight^T +
    /// bias is cut into heads along its features. The heads' results of wick_scaled_dot_product_attention stand
    /// side by side and meet out_weight^T and out_bias. All are of one float dtype, to which each step is
    /// rounded. Its gradient is those of wick_linear and attention, step by step. WICK_SHAPE for other shapes,
    /// WICK_INVALID for options that are NULL or lack weights.
    fn wick_multi_head_attention(query: *const wick_tensor, key: *const wick_tensor, value: *const wick_tensor, options: *const wick_multi_head_options) -> *mut wick_tensor;
    /// wick_scaled_dot_product_attention for B sequences of different lengths, one after another: q \[M,H,D\],
    /// k \[N,K,D\], v \[N,K,E\] -\> \[M,H,E\]. Sequence b has queries q_starts\[b\] .. q_starts\[b + 1\] - 1
    /// and keys k_starts\[b\] .. k_starts\[b + 1\] - 1; positions count from its own beginning. q_starts and
    /// k_starts \[B+1\], B \>= 1, are i32 or u32, begin with 0, never decrease, and end with M and N. log_sums
    /// has the shape \[M,H\]. Other starts are WICK_RANGE, which a GPU reports when the result is read; those
    /// of an empty result are not checked. WICK_SHAPE unless M and N are below 2^31.
    fn wick_attention_packed(q: *const wick_tensor, k: *const wick_tensor, v: *const wick_tensor, q_starts: *const wick_tensor, k_starts: *const wick_tensor, options: *const wick_attention_options) -> *mut wick_tensor;
    /// One more query of each of n sequences, each of which keeps keys and values in a tensor of its own, and
    /// attention of it: q \[n,H,1,D\], kv \[n,2K,1,D\] of new keys and, behind those of K heads, their values,
    /// caches\[i\] \[1,2K,N,D\] of the same -\> \[n,H,1,D\]. Writes new keys and values to the last position of
    /// each cache and then looks at all N, whose number may differ from cache to cache: narrow views of longer
    /// tensors will do. `options` may be NULL. WICK_SHAPE unless sizes agree, WICK_INVALID for caches that
    /// share elements with an operand; those of no two may be the same. Where q and kv are f32, all caches may
    /// be bf16 or f16. Then queries, keys and values are rounded to that dtype once positions have turned them,
    /// and the result is f32: that of attention to such operands, which may be rounded to their dtype.
    fn wick_attention_step(q: *const wick_tensor, kv: *const wick_tensor, n: c_int, caches: *const *mut wick_tensor, options: *const wick_step_options) -> *mut wick_tensor;
    /// tanh(input + hidden), or its positive part with `relu`: \[N,H\].
    fn wick_rnn_cell(input: *const wick_tensor, hidden: *const wick_tensor, relu: bool) -> *mut wick_tensor;
    /// c \[N,H\] in f32 (f64 for f64) -\> h' \[N,H\]. \*next_c receives c' \[N,H\], and \*gates, unless `gates`
    /// is NULL, i, f, g and o as \[N,4H\]; both in the dtype of c, released like the result. A failure leaves
    /// them as they were.
    fn wick_lstm_cell(input: *const wick_tensor, hidden: *const wick_tensor, c: *const wick_tensor, next_c: *mut *mut wick_tensor, gates: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// h \[N,H\] -\> h' \[N,H\]. \*gates, unless `gates` is NULL, receives r, z, n and the hidden part of n,
    /// before r, as \[N,4H\] in f32 (f64 for f64), released like the result. A failure leaves it as it was.
    fn wick_gru_cell(input: *const wick_tensor, hidden: *const wick_tensor, h: *const wick_tensor, gates: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// The gradient of input, which is that of hidden: d (1 - result^2), or d where result \> 0 with `relu`.
    /// `next` may be NULL.
    fn wick_rnn_cell_backward(gradient: *const wick_tensor, next: *const wick_tensor, result: *const wick_tensor, relu: bool) -> *mut wick_tensor;
    /// The gradient of input, which is that of hidden, \[N,4H\]. gates, c and next_c are those of the step.
    /// \*c_gradient receives the gradient of c, in its dtype, released like the result. A failure leaves it as
    /// it was.
    fn wick_lstm_cell_backward(gradient: *const wick_tensor, gates: *const wick_tensor, c: *const wick_tensor, next_c: *const wick_tensor, options: *const wick_cell_backward_options, c_gradient: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// The gradient of input \[N,3H\]. gates and h are those of the step. \*hidden_gradient receives the
    /// gradient of hidden \[N,3H\], and \*carried that part of the gradient of h that does not go through
    /// hidden, d z, in the dtype of gates. They are released like the result. A failure leaves them as they
    /// were.
    fn wick_gru_cell_backward(gradient: *const wick_tensor, gates: *const wick_tensor, h: *const wick_tensor, options: *const wick_cell_backward_options, hidden_gradient: *mut *mut wick_tensor, carried: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// x \[T,N,I\] -\> the states h' of the last layer \[T,N,DP\], forward beside backward. weights are, layer
    /// by layer and forward before backward, in PyTorch's order: Wi \[gH,I\], of later layers \[gH,DP\]; Wh
    /// \[gH,P\]; bi \[gH\] and bh \[gH\] unless no_bias; Wr \[P,H\] with a projection. n is their number.
    /// WICK_SHAPE for shapes that do not agree, WICK_INVALID for options that no layer has, WICK_RANGE for
    /// lengths outside 0 .. T.
    fn wick_recurrent(x: *const wick_tensor, n: c_int, weights: *const *mut wick_tensor, options: *const wick_recurrent_options) -> *mut wick_tensor;
    /// The gradient of x, from that of the result, which may be NULL for 0. x, weights and options are those of
    /// the call whose reserve this is; its last_h and last_c are not looked at. `places` may be NULL. Weight
    /// gradients are one product over all steps.
    fn wick_recurrent_backward(x: *const wick_tensor, gradient: *const wick_tensor, n: c_int, weights: *const *mut wick_tensor, options: *const wick_recurrent_options, places: *const wick_recurrent_backward_options) -> *mut wick_tensor;
    /// A weight or bias \[gH,...\] of `mode` with its gates in another order. Any dtype of whole bytes. ONNX
    /// keeps W \[D,gH,I\], R \[D,gH,H\] and B \[D,2gH\]: select a direction, and take the halves of B as bi and
    /// bh. ONNX's GRU with linear_before_reset = 0, its default, is another function, which no order of weights
    /// gives. cuDNN and MIOpen keep all matrices, then all biases, in one buffer, in the order of
    /// wick_recurrent's weights. WICK_SHAPE unless g divides the first dim, WICK_INVALID for values outside the
    /// enums.
    fn wick_gates_reorder(x: *const wick_tensor, mode: wick_recurrent_mode, from: wick_gate_order, to: wick_gate_order) -> *mut wick_tensor;
    /// d^2.
    fn wick_mse_loss(x: *const wick_tensor, target: *const wick_tensor, reduction: wick_reduction) -> *mut wick_tensor;
    /// The gradient of x.
    fn wick_mse_loss_backward(gradient: *const wick_tensor, x: *const wick_tensor, target: *const wick_tensor, reduction: wick_reduction, target_gradient: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// |d|, with slope 0 at 0.
    fn wick_l1_loss(x: *const wick_tensor, target: *const wick_tensor, reduction: wick_reduction) -> *mut wick_tensor;
    /// The gradient of x.
    fn wick_l1_loss_backward(gradient: *const wick_tensor, x: *const wick_tensor, target: *const wick_tensor, reduction: wick_reduction, target_gradient: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// d^2 / (2 beta) where |d| \< beta, |d| - beta / 2 elsewhere. WICK_INVALID unless beta \>= 0; beta 0 is
    /// wick_l1_loss.
    fn wick_smooth_l1_loss(x: *const wick_tensor, target: *const wick_tensor, beta: f64, reduction: wick_reduction) -> *mut wick_tensor;
    /// The gradient of x.
    fn wick_smooth_l1_loss_backward(gradient: *const wick_tensor, x: *const wick_tensor, target: *const wick_tensor, beta: f64, reduction: wick_reduction, target_gradient: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// d^2 / 2 where |d| \< delta, delta (|d| - delta / 2) elsewhere. WICK_INVALID unless delta \> 0.
    fn wick_huber_loss(x: *const wick_tensor, target: *const wick_tensor, delta: f64, reduction: wick_reduction) -> *mut wick_tensor;
    /// The gradient of x.
    fn wick_huber_loss_backward(gradient: *const wick_tensor, x: *const wick_tensor, target: *const wick_tensor, delta: f64, reduction: wick_reduction, target_gradient: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// x is log q and target p, or log p if log_target: p (log p - x), and 0 where p is 0, whatever x is there.
    fn wick_kl_div_loss(x: *const wick_tensor, target: *const wick_tensor, log_target: bool, reduction: wick_reduction) -> *mut wick_tensor;
    /// The gradient of x.
    fn wick_kl_div_loss_backward(gradient: *const wick_tensor, x: *const wick_tensor, target: *const wick_tensor, log_target: bool, reduction: wick_reduction, target_gradient: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// \-weight (target log x + (1 - target) log(1 - x)) for probabilities x, with logarithms of at least -100;
    /// NaN where x is not in 0..1.
    fn wick_binary_cross_entropy(x: *const wick_tensor, target: *const wick_tensor, options: *const wick_binary_cross_entropy_options) -> *mut wick_tensor;
    /// The gradient of x, with a divisor x (1 - x) of at least 1e-12.
    fn wick_binary_cross_entropy_backward(gradient: *const wick_tensor, x: *const wick_tensor, target: *const wick_tensor, options: *const wick_binary_cross_entropy_options, target_gradient: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// The same of sigmoid(x), without its rounding: weight ((1 - target) log(1 + e^x) + pos_weight target
    /// log(1 + e^-x)).
    fn wick_binary_cross_entropy_with_logits(x: *const wick_tensor, target: *const wick_tensor, options: *const wick_binary_cross_entropy_options) -> *mut wick_tensor;
    /// The gradient of x.
    fn wick_binary_cross_entropy_with_logits_backward(gradient: *const wick_tensor, x: *const wick_tensor, target: *const wick_tensor, options: *const wick_binary_cross_entropy_options, target_gradient: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// With L = log(sum(exp(x))) of a row and y its id: (1 - s) w\[y\] (L - x\[y\]) + s / C sum over c of
    /// w\[c\] (L - x\[c\]). The mean is the sum over rows / sum over rows of w\[y\], NaN if that is empty or
    /// all rows are ignored.
    fn wick_cross_entropy(x: *const wick_tensor, ids: *const wick_tensor, options: *const wick_cross_entropy_options) -> *mut wick_tensor;
    /// The gradient of x. `log_sums` and, for the mean, `total_weight` are what the loss gave (other
    /// reductions: NULL); options are the loss's, without places.
    fn wick_cross_entropy_backward(gradient: *const wick_tensor, x: *const wick_tensor, ids: *const wick_tensor, log_sums: *const wick_tensor, total_weight: *const wick_tensor, options: *const wick_cross_entropy_options) -> *mut wick_tensor;
    /// Probabilities p in the shape of x: sum over c of w\[c\] (p\[c\] (1 - s) + s / C) (L - x\[c\]). The mean
    /// divides by the number of rows. WICK_INVALID with `ignore`.
    fn wick_cross_entropy_soft(x: *const wick_tensor, probabilities: *const wick_tensor, options: *const wick_cross_entropy_options) -> *mut wick_tensor;
    /// The gradient of x; `log_sums` is what the loss gave.
    fn wick_cross_entropy_soft_backward(gradient: *const wick_tensor, x: *const wick_tensor, probabilities: *const wick_tensor, log_sums: *const wick_tensor, options: *const wick_cross_entropy_options, probabilities_gradient: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// \-w\[y\] x\[y\], of logarithms of probabilities; its mean as that of wick_cross_entropy.
    fn wick_nll_loss(x: *const wick_tensor, ids: *const wick_tensor, options: *const wick_cross_entropy_options) -> *mut wick_tensor;
    /// The gradient of x. `total_weight`: for the mean, what the loss gave; NULL for other reductions.
    fn wick_nll_loss_backward(gradient: *const wick_tensor, x: *const wick_tensor, ids: *const wick_tensor, total_weight: *const wick_tensor, options: *const wick_cross_entropy_options) -> *mut wick_tensor;
    /// With cos = a b / sqrt((|a|^2 + 1e-12) (|b|^2 + 1e-12)): 1 - cos where y is 1, max(0, cos - margin) where
    /// it is -1, 0 for any other y. y \[N\], or a scalar for \[D\], in the dtype of a.
    fn wick_cosine_embedding_loss(a: *const wick_tensor, b: *const wick_tensor, y: *const wick_tensor, options: *const wick_cosine_options) -> *mut wick_tensor;
    /// The gradient of a.
    fn wick_cosine_embedding_loss_backward(gradient: *const wick_tensor, a: *const wick_tensor, b: *const wick_tensor, y: *const wick_tensor, options: *const wick_cosine_options, b_gradient: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// max(0, dist(anchor, positive) - dist(anchor, negative) + margin), dist(a, b) the p-norm of a - b +
    /// epsilon.
    fn wick_triplet_margin_loss(anchor: *const wick_tensor, positive: *const wick_tensor, negative: *const wick_tensor, options: *const wick_triplet_options) -> *mut wick_tensor;
    /// The gradient of the anchor. An element whose difference is 0 has slope 0.
    fn wick_triplet_margin_loss_backward(gradient: *const wick_tensor, anchor: *const wick_tensor, positive: *const wick_tensor, negative: *const wick_tensor, options: *const wick_triplet_options) -> *mut wick_tensor;
    /// Connectionist temporal classification (Graves et al., ICML 2006): minus the logarithm of the probability
    /// of all alignments of N sequences to their labels. log_probs \[T,N,C\], or \[T,C\] for one; targets, in
    /// any integer dtype, padded \[N,S\], or one sequence after another \[sum of target_lengths\]. A label
    /// among the first of its sequence's length that is no class is WICK_RANGE, as for wick_cross_entropy; the
    /// id type's largest value is a label of probability 0. A sequence too short for its labels has an infinite
    /// loss, an empty target the loss of blanks alone, an empty input with an empty target 0. \[N\], or a
    /// scalar for \[T,C\]. All sums are f64, in logarithms: nothing underflows.
    fn wick_ctc_loss(log_probs: *const wick_tensor, targets: *const wick_tensor, options: *const wick_ctc_options) -> *mut wick_tensor;
    /// exp(log_probs) minus the share of alignments that pass through a class, as PyTorch's: the gradient by
    /// log_probs up to what a log_softmax before the loss takes away, so that its gradient there is the true
    /// one. 0 from a sequence's length on; NaN before it where the loss is infinite, unless zero_infinity.
    /// Takes room for 2 N T (2 S + 1) f64, S the longest target.
    fn wick_ctc_loss_backward(gradient: *const wick_tensor, log_probs: *const wick_tensor, targets: *const wick_tensor, options: *const wick_ctc_options) -> *mut wick_tensor;
    /// The matrix product, as torch.matmul: lhs \[...,m,k\] x rhs \[...,k,n\] -\> \[...,m,n\], batch dims
    /// broadcast by NumPy's rule. A lhs of rank 1 is a row, \[k\] x \[...,k,n\] -\> \[...,n\]; a rhs of rank 1
    /// a column, \[...,m,k\] x \[k\] -\> \[...,m\]; both give a scalar. All ten dtypes. k == 0 gives zeros. Any
    /// strides. WICK_SHAPE unless the inner sizes are equal, the ranks are at least 1, and the batch dims
    /// broadcast.
    fn wick_matmul(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// The sum of products of two vectors, \[n\] x \[n\] -\> \[\].
    fn wick_dot(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// A matrix times a vector, \[m,n\] x \[n\] -\> \[m\].
    fn wick_mv(matrix: *const wick_tensor, vector: *const wick_tensor) -> *mut wick_tensor;
    /// All products of the elements of two vectors, \[m\] x \[n\] -\> \[m,n\].
    fn wick_outer(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// The sum of the products of n operands of one dtype, 1 to 8, over the labels that the result lacks:
    /// "bij,bjk-\>bik" is a product of batches, "ij-\>ji" a transpose, "ii" a trace. A label, a letter, stands
    /// for each dim of each operand; equal ones in an operand take a diagonal. "...", once in an operand,
    /// stands for the dims that its labels leave; those of all operands broadcast, from the last one:
    /// "...ij,...jk-\>...ik". A result without "..." sums over them. Without "-\>" the result has the dims of
    /// "..." and then the labels that stand there once, in alphabetical order, capitals first. All ten dtypes.
    /// Operands are multiplied from the left, and each product is rounded. WICK_INVALID for another text;
    /// WICK_SHAPE for sizes of one label that differ, and for more than WICK_MAX_RANK dims on the way.
    fn wick_einsum(text: *const c_char, n: c_int, operands: *const *mut wick_tensor) -> *mut wick_tensor;
    /// beta input + alpha lhs rhs: lhs \[m,k\] x rhs \[k,n\], or \[b,m,k\] x \[b,k,n\] for baddbmm. Input
    /// broadcasts to the shape of the product; for beta 0 nothing of it is read. Floats. The product is rounded
    /// to the dtype before it is scaled. WICK_SHAPE for other ranks, or sizes that do not agree.
    fn wick_addmm(input: *const wick_tensor, lhs: *const wick_tensor, rhs: *const wick_tensor, beta: f64, alpha: f64) -> *mut wick_tensor;
    /// beta input + alpha lhs rhs: lhs \[m,k\] x rhs \[k,n\], or \[b,m,k\] x \[b,k,n\] for baddbmm. Input
    /// broadcasts to the shape of the product; for beta 0 nothing of it is read. Floats. The product is rounded
    /// to the dtype before it is scaled. WICK_SHAPE for other ranks, or sizes that do not agree.
    fn wick_baddbmm(input: *const wick_tensor, lhs: *const wick_tensor, rhs: *const wick_tensor, beta: f64, alpha: f64) -> *mut wick_tensor;
    /// A layer of weights, activation(x weight^T + bias): x \[...,in\], weight \[out,in\], bias \[out\] or NULL
    /// \-\> \[...,out\]. Float dtypes. The result is rounded after bias and activation. WICK_INVALID for an
    /// activation outside the enum.
    fn wick_linear(x: *const wick_tensor, weight: *const wick_tensor, bias: *const wick_tensor, activation: wick_activation) -> *mut wick_tensor;
    /// wick_linear with options, which may be NULL. Weights may have a dtype of blocks; x and bias are then
    /// f32, f16 or bf16, sums are f32, and results are rounded once. Weights of bf16 or f16 may have x and bias
    /// of f32. With products of 8 bits, 32 activations of which one is infinite or NaN give NaN. The same
    /// weights and activations give the same bits on any number of threads. WICK_INVALID for an activation or
    /// products outside their enums, and for an epsilon of a norm that is not \>= 0. wick_linear is the same
    /// with exact products.
    fn wick_linear_with(x: *const wick_tensor, weight: *const wick_tensor, bias: *const wick_tensor, options: *const wick_linear_options) -> *mut wick_tensor;
    /// A mixture of experts: out\[t,u\] = activation(x\[t,u\] weight\[e\]^T + bias\[e\]) with e = ids\[t,u\]. x
    /// \[T,U,K\], or \[T,1,K\] where all U experts of t take the same row; weight \[E,N,K\] of x's dtype or of
    /// blocks, ids \[T,U\] of integers, bias \[E,N\] or NULL -\> \[T,U,N\]. Every expert multiplies its rows at
    /// once, as wick_linear_with does with `options`. The ids are read to the host: this waits for what they
    /// come from, and is nothing for a graph, WICK_INVALID. WICK_RANGE for an id that is none of 0 .. E-1;
    /// WICK_SHAPE unless sizes agree.
    fn wick_linear_experts(x: *const wick_tensor, weight: *const wick_tensor, ids: *const wick_tensor, bias: *const wick_tensor, options: *const wick_linear_options) -> *mut wick_tensor;
    /// The limits with the defaults filled in for 0 and below; all of them for NULL.
    fn wick_limits_effective(limits: *const wick_limits) -> wick_limits;
    /// "safetensors", "GGUF", "npy", "npz", "pth", "sharded"; "?" for a value that is not a format. Static
    /// strings.
    fn wick_format_name(format: wick_format) -> *const c_char;
    /// Opens a file, a folder or a shard index. In a folder, opens the first of model.safetensors,
    /// model.safetensors.index.json, pytorch_model.bin and pytorch_model.bin.index.json. Shards must lie in the
    /// index's own folder; each is opened when it is first needed. `options` may be NULL. Close with
    /// wick_archive_close. NULL on failure: WICK_IO (can't be read, or is not a regular file), WICK_FORMAT
    /// (breaks a rule), WICK_RANGE (exceeds a limit), WICK_UNSUPPORTED (a kind of file that Wick does not
    /// read), WICK_MEMORY.
    fn wick_archive_open(path: *const c_char, options: *const wick_archive_options) -> *mut wick_archive;
    /// The same for `nbytes` bytes at `data`, which must stay valid and unchanged until the archive is closed.
    /// Loaded tensors are copies. A shard index can't be opened this way. Close with wick_archive_close.
    fn wick_archive_open_memory(data: *const c_void, nbytes: usize, options: *const wick_archive_options) -> *mut wick_archive;
    /// Closes an archive. Tensors loaded from it stay valid. NULL is fine.
    fn wick_archive_close(archive: *mut wick_archive);
    /// The archive's format; WICK_FORMAT_COUNT for NULL.
    fn wick_archive_format(archive: *const wick_archive) -> wick_format;
    /// The number of tensors; 0 for NULL.
    fn wick_archive_count(archive: *const wick_archive) -> i64;
    /// The name of the i-th tensor; NULL if there is none. Belongs to the archive. Tensors of safetensors and
    /// GGUF files come in file order, those of npz files by name, those of pth files and shards as listed
    /// there.
    fn wick_archive_name(archive: *const wick_archive, i: i64) -> *const c_char;
    /// The index of the tensor with this name; -1, without a failure, if there is none.
    fn wick_archive_find(archive: *const wick_archive, name: *const c_char) -> i64;
    /// Describes the i-th tensor. WICK_RANGE if there is none; any failure of opening, if it opens a shard.
    fn wick_archive_describe(archive: *mut wick_archive, i: i64, entry: *mut wick_archive_entry) -> wick_status;
    /// Loads a tensor to a device, by name or by index. WICK_RANGE if there is no such tensor,
    /// WICK_UNSUPPORTED, naming the type, if Wick has no dtype for it, WICK_FORMAT, WICK_IO, WICK_MEMORY,
    /// WICK_CLOSED. Fortran-ordered and strided tensors are strided views on the CPU if they can be mapped, and
    /// contiguous otherwise.
    fn wick_archive_load(archive: *mut wick_archive, name: *const c_char, device: *mut wick_device) -> *mut wick_tensor;
    /// Loads a tensor to a device, by name or by index. WICK_RANGE if there is no such tensor,
    /// WICK_UNSUPPORTED, naming the type, if Wick has no dtype for it, WICK_FORMAT, WICK_IO, WICK_MEMORY,
    /// WICK_CLOSED. Fortran-ordered and strided tensors are strided views on the CPU if they can be mapped, and
    /// contiguous otherwise.
    fn wick_archive_load_at(archive: *mut wick_archive, i: i64, device: *mut wick_device) -> *mut wick_tensor;
    /// The number of keys; 0 for NULL.
    fn wick_archive_metadata_count(archive: *const wick_archive) -> i64;
    /// Describes the i-th key. WICK_RANGE when there is none.
    fn wick_archive_metadata(archive: *const wick_archive, i: i64, metadata: *mut wick_metadata) -> wick_status;
    /// The index of a key; -1, without a failure, if there is none.
    fn wick_archive_metadata_find(archive: *const wick_archive, key: *const c_char) -> i64;
    /// Writes the i-th value as text, as snprintf does: at most `size` bytes with the closing NUL. Returns the
    /// length of the whole text, or -1 if there is no such value. `item` picks one item of an array; -1 is the
    /// whole value, with arrays as "\[1, 2, 3\]". Strings have no quotes, and are not always UTF-8. `text` may
    /// be NULL if size is 0.
    fn wick_archive_metadata_text(archive: *const wick_archive, i: i64, item: i64, text: *mut c_char, size: usize) -> i64;
    /// Writes a safetensors file of n \>= 0 tensors. `metadata` is NULL, or key, value, key, value, ..., NULL.
    fn wick_safetensors_save(path: *const c_char, n: i64, names: *const *const c_char, tensors: *const *const wick_tensor, metadata: *const *const c_char) -> wick_status;
    /// Writes a GGUF file of version 3 with n \>= 0 tensors as they are, quantised ones included. Its keys are
    /// those of `like`, which is NULL or a GGUF archive of version 2 or 3, and those of `metadata`, which
    /// replace keys of the same name. `metadata` is NULL, or key, type, value, key, type, value, ..., NULL. A
    /// type is "string", "bool", "f32", "u32" and so on; a value is text as wick_archive_metadata_text gives
    /// it. Arrays can only come from `like`. WICK_INVALID for any other metadata, WICK_SHAPE for more than 4
    /// dims.
    fn wick_gguf_save(path: *const c_char, n: i64, names: *const *const c_char, tensors: *const *const wick_tensor, like: *const wick_archive, metadata: *const *const c_char) -> wick_status;
    /// Writes one tensor as a .npy file. The format has no bf16 and no float below 16 bits.
    fn wick_npy_save(path: *const c_char, x: *const wick_tensor) -> wick_status;
    /// Writes an uncompressed .npz file, in which numpy.load finds tensors\[i\] as names\[i\].
    fn wick_npz_save(path: *const c_char, n: i64, names: *const *const c_char, tensors: *const *const wick_tensor) -> wick_status;
    /// Frees the text and makes it empty. NULL is fine.
    fn wick_text_free(text: *mut wick_text);
    /// Opens the tokenizer of a GGUF file or of a model folder. In GGUF files it reads the kinds gpt2
    /// (byte-level BPE, with the splitter named in tokenizer.ggml.pre), llama (SentencePiece), gemma4 and bert.
    /// In folders, laid out as on the Hugging Face hub, it reads tokenizer.json, or else vocab.txt and, if
    /// present, tokenizer_config.json. NULL on failure: WICK_IO (none of them can be read), WICK_FORMAT (one is
    /// damaged or larger than 64 MiB), WICK_UNSUPPORTED (in a folder, a tokenizer other than WordPiece with
    /// BERT's normalizer and pre-tokenizer; BPE with the pre-tokenizers ByteLevel, Digits and isolating Splits
    /// and the normalizer NFC; BPE over characters, with byte_fallback or unk_token, or Unigram with tokens of
    /// at most 256 bytes, either with the pre-tokenizer Metaspace and the normalizers NFC, Prepend of U+2581
    /// and Replace of blanks by it; the text names what is unknown), WICK_MEMORY. Close with
    /// wick_tokenizer_close.
    fn wick_tokenizer_open(folder: *const c_char) -> *mut wick_tokenizer;
    /// Closes and frees a tokenizer. NULL is fine.
    fn wick_tokenizer_close(tokenizer: *mut wick_tokenizer);
    /// Encodes `nbytes` bytes of UTF-8, with the special tokens that the model wants around them: \[CLS\] text
    /// \[SEP\]. \*n receives the number of ids of the whole text. If that exceeds `max`, the end of the text is
    /// cut, but not the special tokens after it. So it writes min(\*n, max) ids. With max 0 it only counts, and
    /// `ids` may be NULL. WICK_INVALID (NULL, or a max \> 0 without room for the special tokens), WICK_MEMORY.
    fn wick_tokenizer_encode(tokenizer: *const wick_tokenizer, text: *const c_char, nbytes: usize, max: i64, ids: *mut i32, n: *mut i64) -> wick_status;
    /// The same with flags of WICK_ENCODE_... or 0. WICK_RANGE for a text that takes too long to split into
    /// words.
    fn wick_tokenizer_encode_with(tokenizer: *const wick_tokenizer, text: *const c_char, nbytes: usize, flags: c_uint, ids: *mut wick_ids) -> wick_status;
    /// Writes the text of n ids to \*text, without control tokens. Bytes that are not UTF-8 become U+FFFD. A
    /// failure leaves \*text as it was. Free it with wick_text_free. WICK_INVALID (NULL), WICK_RANGE (an id
    /// without a token), WICK_MEMORY.
    fn wick_tokenizer_decode(tokenizer: *const wick_tokenizer, n: i64, ids: *const i32, text: *mut wick_text) -> wick_status;
    /// Opens a decoder of ids that come one at a time. The tokenizer must outlive it, and it belongs to one
    /// thread. NULL on failure: WICK_INVALID, WICK_UNSUPPORTED, WICK_MEMORY. Close with wick_decoder_close.
    fn wick_decoder_open(tokenizer: *const wick_tokenizer) -> *mut wick_decoder;
    /// Opens a decoder of ids that come one at a time. The tokenizer must outlive it, and it belongs to one
    /// thread. NULL on failure: WICK_INVALID, WICK_UNSUPPORTED, WICK_MEMORY. Close with wick_decoder_close.
    fn wick_decoder_close(decoder: *mut wick_decoder);
    /// The same with n stop texts, UTF-8 that ends at its NUL: the text ends before the first stop text that is
    /// complete, the longest if several end at one byte, wherever the ids cut it. What may become a stop text
    /// waits until that is settled. WICK_INVALID also for a stop text that is NULL, empty or no UTF-8. Close
    /// with wick_decoder_close.
    fn wick_decoder_open_with(tokenizer: *const wick_tokenizer, n: i64, stops: *const *const c_char) -> *mut wick_decoder;
    /// Which stop text ended the text, 0 .. n-1, until another text begins; -1 if none has, and for NULL. Ids
    /// pushed after it give no text.
    fn wick_decoder_stopped(decoder: *const wick_decoder) -> i64;
    /// Adds an id and points \*text at the characters that are now complete: \*nbytes bytes of UTF-8, valid
    /// until the next call. An incomplete character waits for its remaining bytes. WICK_RANGE for an id without
    /// a token, WICK_MEMORY.
    fn wick_decoder_push(decoder: *mut wick_decoder, id: i32, text: *mut *const c_char, nbytes: *mut usize) -> wick_status;
    /// Ends the text and gives what waited. An incomplete character becomes U+FFFD. The next push begins
    /// another text.
    fn wick_decoder_end(decoder: *mut wick_decoder, text: *mut *const c_char, nbytes: *mut usize) -> wick_status;
    /// One more than the highest id; 0 for NULL.
    fn wick_tokenizer_vocab_size(tokenizer: *const wick_tokenizer) -> i32;
    /// The token of an id, "##ing", which belongs to the tokenizer; NULL if it has none.
    fn wick_tokenizer_token(tokenizer: *const wick_tokenizer, id: i32) -> *const c_char;
    /// The id of a token as the vocabulary spells it, "\[PAD\]" or "##ing"; -1 if there is no such token.
    fn wick_tokenizer_id(tokenizer: *const wick_tokenizer, token: *const c_char) -> i32;
    /// The longest input the tokenizer's files name (model_max_length), special tokens included; 0 when they
    /// name none, or one above 2^30, which is how they say that there is no limit.
    fn wick_tokenizer_max_length(tokenizer: *const wick_tokenizer) -> i64;
    /// llama.cpp's values: temperature 0.8, top_k 40, top_p 0.95, min_p 0.05, seed 0, and the rest off.
    fn wick_sampling_default() -> wick_sampling;
    /// Opens a sampler of one text; NULL for sampling means all zero. It belongs to one thread at a time. NULL
    /// on failure: WICK_INVALID (a value outside its range), WICK_RANGE (vocab_size not in 1..2^24, the id of a
    /// bias not below it), WICK_MEMORY. Close with wick_sampler_close.
    fn wick_sampler_open(sampling: *const wick_sampling, vocab_size: i64) -> *mut wick_sampler;
    /// Closes and frees a sampler. NULL is fine.
    fn wick_sampler_close(sampler: *mut wick_sampler);
    /// Tells of n tokens that stand in the text, such as the prompt's: penalties look at them. WICK_INVALID
    /// (NULL, n below 0), WICK_RANGE (an id outside the vocabulary; then none is added).
    fn wick_sampler_add(sampler: *mut wick_sampler, n: i64, ids: *const i32) -> wick_status;
    /// Samples a token by `n` logits, one a token of the vocabulary, adds it to the text, and describes it in
    /// \*sampled. A logit of -infinity excludes a token. WICK_INVALID (NULL, or n other than the size of the
    /// vocabulary), WICK_RANGE (a logit that is NaN or infinity, or no token that is not excluded); then the
    /// sampler stays as it was.
    fn wick_sampler_pick(sampler: *mut wick_sampler, n: i64, logits: *const f32, sampled: *mut wick_sampled) -> wick_status;
    /// Begins another text: no tokens, and the first random number of the seed. NULL is fine.
    fn wick_sampler_reset(sampler: *mut wick_sampler, seed: u64);
    /// The `max` likeliest of n tokens by the model's own probability, the likeliest first, and of equal ones
    /// the lower id: ids\[i\] and ln of their probability. WICK_INVALID (NULL, or max not in 1..n), WICK_RANGE
    /// (a logit that is NaN or infinity, or all of them -infinity), WICK_MEMORY.
    fn wick_log_probabilities(n: i64, logits: *const f32, max: i64, ids: *mut i32, log_probabilities: *mut f64) -> wick_status;
    /// Parses a template of `nbytes` bytes of UTF-8; the text need not stay. Close with wick_template_close.
    /// NULL on failure: WICK_FORMAT "template:LINE: ..." (wrong syntax), WICK_RANGE (more than 4 MiB),
    /// WICK_INVALID (NULL), WICK_MEMORY.
    fn wick_template_open(text: *const c_char, nbytes: usize) -> *mut wick_template;
    /// Frees a template. NULL is fine.
    fn wick_template_close(tmpl: *mut wick_template);
    /// Renders with the members of a JSON object of `nbytes` bytes as variables: "messages",
    /// "add_generation_prompt", "bos_token" and whatever else the template asks for. A template never changes,
    /// so threads may share it. `limits` may be NULL. A failure leaves \*text as it was. Free it with
    /// wick_text_free. WICK_FORMAT (the context is not a JSON object), WICK_INVALID "template:LINE: ..." (a
    /// value of the wrong type, an undefined one, the template's own raise_exception), WICK_UNSUPPORTED (an
    /// unknown filter, test or method), WICK_DIVIDE, WICK_RANGE (a limit), WICK_MEMORY.
    fn wick_template_render(tmpl: *const wick_template, context: *const c_char, nbytes: usize, limits: *const wick_template_limits, text: *mut wick_text) -> wick_status;
    /// out\[.., k, ..\] = x\[.., ids\[k\], ..\] along dim, ids \[K\]. dtypes: any, and quantised ones, whose
    /// last dim can't be picked from: WICK_UNSUPPORTED. WICK_SHAPE unless ids has rank 1.
    fn wick_index_select(x: *const wick_tensor, dim: c_int, ids: *const wick_tensor) -> *mut wick_tensor;
    /// Rows of weight \[V, D\]: ids of any shape S -\> \[S.., D\], of the same dtype. dtypes: any, and
    /// quantised ones.
    fn wick_embedding(weight: *const wick_tensor, ids: *const wick_tensor) -> *mut wick_tensor;
    /// The sum, the mean or the largest elements of the rows of weight \[V,D\] that the ids of each bag name:
    /// \[B,D\]. Rows add up in the order of ids, in f32 (f64 for f64), and the result is rounded once. A bag of
    /// no ids, or of sentinels and padding alone, gives zeros. Makes a copy of the rows, \[N,D\]. `options` may
    /// be NULL. Floats. WICK_SHAPE for other shapes, WICK_INVALID for weights without sums, WICK_RANGE for
    /// another padding.
    fn wick_embedding_bag(weight: *const wick_tensor, ids: *const wick_tensor, options: *const wick_bag_options) -> *mut wick_tensor;
    /// out\[p\] = x\[p with p\[dim\] = ids\[p\]\], in the shape of ids. dtypes: any. WICK_SHAPE unless ids has
    /// the rank of x and, in every other dim, at most the size of x.
    fn wick_gather(x: *const wick_tensor, dim: c_int, ids: *const wick_tensor) -> *mut wick_tensor;
    /// A copy of x with out\[p with p\[dim\] = ids\[p\]\] = source\[p\] for every p of ids. dtypes: any.
    /// WICK_SHAPE unless source has the shape of ids, and ids has the rank of x and, in every other dim, at
    /// most the size of x.
    fn wick_scatter(x: *const wick_tensor, dim: c_int, ids: *const wick_tensor, source: *const wick_tensor) -> *mut wick_tensor;
    /// The same with += in place of =. dtypes: compute.
    fn wick_scatter_add(x: *const wick_tensor, dim: c_int, ids: *const wick_tensor, source: *const wick_tensor) -> *mut wick_tensor;
    /// The same with the product, the largest, the smallest and the mean of all sources that ids give to an
    /// element, and, with `include_self`, of the element of x. Elements without a source stay. Products, like
    /// sums, multiply in the order of ids; integers wrap around. NaN is the largest and the smallest where
    /// there is one. The mean sums in f32 (f64 for f64) and is rounded once; it is for floats alone. x has rank
    /// 1 or more. dtypes: compute.
    fn wick_scatter_prod(x: *const wick_tensor, dim: c_int, ids: *const wick_tensor, source: *const wick_tensor, include_self: bool) -> *mut wick_tensor;
    /// The same with the product, the largest, the smallest and the mean of all sources that ids give to an
    /// element, and, with `include_self`, of the element of x. Elements without a source stay. Products, like
    /// sums, multiply in the order of ids; integers wrap around. NaN is the largest and the smallest where
    /// there is one. The mean sums in f32 (f64 for f64) and is rounded once; it is for floats alone. x has rank
    /// 1 or more. dtypes: compute.
    fn wick_scatter_amax(x: *const wick_tensor, dim: c_int, ids: *const wick_tensor, source: *const wick_tensor, include_self: bool) -> *mut wick_tensor;
    /// The same with the product, the largest, the smallest and the mean of all sources that ids give to an
    /// element, and, with `include_self`, of the element of x. Elements without a source stay. Products, like
    /// sums, multiply in the order of ids; integers wrap around. NaN is the largest and the smallest where
    /// there is one. The mean sums in f32 (f64 for f64) and is rounded once; it is for floats alone. x has rank
    /// 1 or more. dtypes: compute.
    fn wick_scatter_amin(x: *const wick_tensor, dim: c_int, ids: *const wick_tensor, source: *const wick_tensor, include_self: bool) -> *mut wick_tensor;
    /// The same with the product, the largest, the smallest and the mean of all sources that ids give to an
    /// element, and, with `include_self`, of the element of x. Elements without a source stay. Products, like
    /// sums, multiply in the order of ids; integers wrap around. NaN is the largest and the smallest where
    /// there is one. The mean sums in f32 (f64 for f64) and is rounded once; it is for floats alone. x has rank
    /// 1 or more. dtypes: compute.
    fn wick_scatter_mean(x: *const wick_tensor, dim: c_int, ids: *const wick_tensor, source: *const wick_tensor, include_self: bool) -> *mut wick_tensor;
    /// The sum, or what the function of that name does. WICK_INVALID for another kind.
    fn wick_scatter_reduce(x: *const wick_tensor, dim: c_int, ids: *const wick_tensor, source: *const wick_tensor, kind: wick_scatter_kind, include_self: bool) -> *mut wick_tensor;
    /// The same with one id for each position along dim: out\[.., ids\[k\], ..\] comes of source\[.., k, ..\].
    /// ids \[K\]; source has the shape of x, but size K along dim: WICK_SHAPE otherwise.
    fn wick_index_reduce(x: *const wick_tensor, dim: c_int, ids: *const wick_tensor, source: *const wick_tensor, kind: wick_scatter_kind, include_self: bool) -> *mut wick_tensor;
    /// scatter and scatter_add on `target` itself. WICK_INVALID if target shares a buffer with ids or source,
    /// or is a broadcast view. A failure leaves target as it was.
    fn wick_scatter_inplace(target: *mut wick_tensor, dim: c_int, ids: *const wick_tensor, source: *const wick_tensor) -> wick_status;
    /// scatter and scatter_add on `target` itself. WICK_INVALID if target shares a buffer with ids or source,
    /// or is a broadcast view. A failure leaves target as it was.
    fn wick_scatter_add_inplace(target: *mut wick_tensor, dim: c_int, ids: *const wick_tensor, source: *const wick_tensor) -> wick_status;
    /// A copy of x with out\[.., ids\[k\], ..\] += source\[.., k, ..\] along dim. ids \[K\]; source has the
    /// shape of x, but size K along dim: WICK_SHAPE otherwise. dtypes: compute.
    fn wick_index_add(x: *const wick_tensor, dim: c_int, ids: *const wick_tensor, source: *const wick_tensor) -> *mut wick_tensor;
    /// x where mask is 0, `value` cast to x's dtype elsewhere. mask is u8. dtypes: compute. WICK_SHAPE unless
    /// mask broadcasts to the shape of x.
    fn wick_masked_fill(x: *const wick_tensor, mask: *const wick_tensor, value: wick_number) -> *mut wick_tensor;
    /// out\[p, ..\] = x\[ids\[0\]\[p\], .., ids\[n-1\]\[p\], ..\]: \[S.., R..\]. dtypes: any.
    fn wick_index(x: *const wick_tensor, n: c_int, ids: *const *mut wick_tensor) -> *mut wick_tensor;
    /// A copy of x with out\[ids\[0\]\[p\], .., ids\[n-1\]\[p\], ..\] = values\[p, ..\], or += with
    /// `accumulate`. Values broadcast to \[S.., R..\]: WICK_SHAPE otherwise. dtypes: compute.
    fn wick_index_put(x: *const wick_tensor, n: c_int, ids: *const *mut wick_tensor, values: *const wick_tensor, accumulate: bool) -> *mut wick_tensor;
    /// A copy of x with out\[.., ids\[k\], ..\] = source\[.., k, ..\] along dim. ids \[K\]; source has the
    /// shape of x, but size K along dim: WICK_SHAPE otherwise. dtypes: any.
    fn wick_index_copy(x: *const wick_tensor, dim: c_int, ids: *const wick_tensor, source: *const wick_tensor) -> *mut wick_tensor;
    /// The indices of the elements that are not 0, in row-major order: \[count, rank\], i64. dtypes: compute.
    fn wick_nonzero(x: *const wick_tensor) -> *mut wick_tensor;
    /// The elements of x where mask is not 0, in row-major order: \[count\]. x and mask broadcast to one shape,
    /// mask is u8. dtypes: any. WICK_SHAPE when they do not broadcast.
    fn wick_masked_select(x: *const wick_tensor, mask: *const wick_tensor) -> *mut wick_tensor;
    /// The different elements of x in ascending order, \[count\]. Each NaN is an element of its own. If
    /// `inverse` is not NULL, \*inverse receives, in the shape of x, the place of each element in the result,
    /// and \*counts, likewise, how many there are of each: both i64; a failure leaves them as they were.
    /// dtypes: compute.
    fn wick_unique(x: *const wick_tensor, inverse: *mut *mut wick_tensor, counts: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// How many elements of x \[N\], integers, are 0, 1, 2 ..: \[max(largest + 1, least)\], i64. With weights
    /// \[N\], which may be NULL, the sums of these, in their dtype. WICK_RANGE for an element below 0,
    /// WICK_SHAPE for other shapes, WICK_INVALID for least \< 0.
    fn wick_bincount(x: *const wick_tensor, weights: *const wick_tensor, least: i64) -> *mut wick_tensor;
    /// x with position i along dim repeated repeats\[i\] times. repeats are integers, \[size of dim\], or a
    /// scalar for all. dtypes: any. WICK_SHAPE for other repeats, WICK_INVALID for one below 0.
    fn wick_repeat_interleave(x: *const wick_tensor, repeats: *const wick_tensor, dim: c_int) -> *mut wick_tensor;
    /// For each value v how many elements of a sequence, in ascending order along its last dim, are \< v, or
    /// with `right` \<= v: i64, in the shape of values. NaN is above all others. The sequence has rank 1, or
    /// the shape of values but for the last dim: WICK_SHAPE otherwise. O(m log n) for m values. In a sequence
    /// of another order the numbers mean nothing. dtypes: compute.
    fn wick_searchsorted(sequence: *const wick_tensor, values: *const wick_tensor, right: bool) -> *mut wick_tensor;
    /// ids of any shape S -\> \[S.., classes\] of a compute dtype: 1 at the id, 0 elsewhere. WICK_INVALID for
    /// classes \< 0.
    fn wick_one_hot(ids: *const wick_tensor, classes: i64, dtype: wick_dtype) -> *mut wick_tensor;
    /// Evenly spread over low \<= x \< high; rounding to the dtype may give high itself unless low is 0 and
    /// high is 1. Floats. WICK_INVALID unless low \<= high, both finite.
    fn wick_uniform(device: *mut wick_device, dtype: wick_dtype, rank: c_int, shape: *const i64, low: f64, high: f64) -> *mut wick_tensor;
    /// Normally distributed. Floats. WICK_INVALID unless mean and deviation are finite, deviation \>= 0.
    fn wick_normal(device: *mut wick_device, dtype: wick_dtype, rank: c_int, shape: *const i64, mean: f64, deviation: f64) -> *mut wick_tensor;
    /// 1 with probability p, 0 otherwise. Compute dtypes. WICK_INVALID unless 0 \<= p \<= 1.
    fn wick_bernoulli(device: *mut wick_device, dtype: wick_dtype, rank: c_int, shape: *const i64, p: f64) -> *mut wick_tensor;
    /// Integers low \<= x \< high. u8, u32, i16, i32, i64. WICK_INVALID unless low \< high and all results fit
    /// the dtype.
    fn wick_randint(device: *mut wick_device, dtype: wick_dtype, rank: c_int, shape: *const i64, low: i64, high: i64) -> *mut wick_tensor;
    /// The numbers 0 .. n-1 in random order, \[N\]. u8, u32, i16, i32, i64. WICK_INVALID when n - 1 does not
    /// fit the dtype.
    fn wick_permutation(device: *mut wick_device, dtype: wick_dtype, n: i64) -> *mut wick_tensor;
    /// n indices 0 .. K-1 into weights \[K\] or \[N,K\], floats, drawn with probabilities in proportion to the
    /// weights: i64, \[n\] or \[N,n\]. Without `replacement` no index comes twice in a row of n. An index is
    /// 2^63 - 1, the sentinel of index.h, where a row has no more weights above 0 to draw without replacement,
    /// and in rows with weights that are negative, infinite or NaN, or all 0. With replacement, weights below
    /// 2^-s of the largest, s = 52 - ceil(log2(K)), count as 0. WICK_INVALID for n \< 0, for n \> K without
    /// replacement, and for K \> 2^24; WICK_SHAPE for K = 0 and for other ranks.
    fn wick_multinomial(weights: *const wick_tensor, n: i64, replacement: bool) -> *mut wick_tensor;
    /// wick_uniform and wick_normal with the device, dtype and shape of x.
    fn wick_uniform_like(x: *const wick_tensor, low: f64, high: f64) -> *mut wick_tensor;
    /// wick_uniform and wick_normal with the device, dtype and shape of x.
    fn wick_normal_like(x: *const wick_tensor, mean: f64, deviation: f64) -> *mut wick_tensor;
    /// Each element 0 with probability p, or else divided by 1 - p, so that the mean stays: for training.
    /// Floats. WICK_INVALID unless 0 \<= p \<= 1.
    fn wick_dropout(x: *const wick_tensor, p: f64) -> *mut wick_tensor;
    /// The same; `options` may be NULL.
    fn wick_dropout_with(x: *const wick_tensor, p: f64, options: *const wick_dropout_options) -> *mut wick_tensor;
    /// Cross-correlation, as PyTorch's conv1d, conv2d, conv3d: x \[N,Cin,spatial...\], weight
    /// \[Cout,Cin/groups,kernel...\], bias \[Cout\] or NULL, result \[N,Cout,out...\] with out = floor((in + 2
    /// padding - dilation (kernel - 1) - 1) / stride) + 1. WICK_SHAPE: ranks, weight channels != Cin/groups,
    /// groups that do not divide Cin or Cout, a bias that is not \[Cout\], a kernel larger than the padded
    /// input. WICK_DTYPE: unequal dtypes.
    fn wick_conv1d(x: *const wick_tensor, weight: *const wick_tensor, bias: *const wick_tensor, options: *const wick_conv_options) -> *mut wick_tensor;
    /// Cross-correlation, as PyTorch's conv1d, conv2d, conv3d: x \[N,Cin,spatial...\], weight
    /// \[Cout,Cin/groups,kernel...\], bias \[Cout\] or NULL, result \[N,Cout,out...\] with out = floor((in + 2
    /// padding - dilation (kernel - 1) - 1) / stride) + 1. WICK_SHAPE: ranks, weight channels != Cin/groups,
    /// groups that do not divide Cin or Cout, a bias that is not \[Cout\], a kernel larger than the padded
    /// input. WICK_DTYPE: unequal dtypes.
    fn wick_conv2d(x: *const wick_tensor, weight: *const wick_tensor, bias: *const wick_tensor, options: *const wick_conv_options) -> *mut wick_tensor;
    /// Cross-correlation, as PyTorch's conv1d, conv2d, conv3d: x \[N,Cin,spatial...\], weight
    /// \[Cout,Cin/groups,kernel...\], bias \[Cout\] or NULL, result \[N,Cout,out...\] with out = floor((in + 2
    /// padding - dilation (kernel - 1) - 1) / stride) + 1. WICK_SHAPE: ranks, weight channels != Cin/groups,
    /// groups that do not divide Cin or Cout, a bias that is not \[Cout\], a kernel larger than the padded
    /// input. WICK_DTYPE: unequal dtypes.
    fn wick_conv3d(x: *const wick_tensor, weight: *const wick_tensor, bias: *const wick_tensor, options: *const wick_conv_options) -> *mut wick_tensor;
    /// The transposes, as PyTorch's conv_transpose1d, ..2d, ..3d: x \[N,Cin,spatial...\], weight
    /// \[Cin,Cout/groups,kernel...\], bias \[Cout\] or NULL, result \[N,Cout,out...\] with out = (in - 1)
    /// stride - 2 padding + dilation (kernel - 1) + output_padding + 1. WICK_SHAPE as above, and when out \< 1.
    fn wick_conv_transpose1d(x: *const wick_tensor, weight: *const wick_tensor, bias: *const wick_tensor, options: *const wick_conv_options) -> *mut wick_tensor;
    /// The transposes, as PyTorch's conv_transpose1d, ..2d, ..3d: x \[N,Cin,spatial...\], weight
    /// \[Cin,Cout/groups,kernel...\], bias \[Cout\] or NULL, result \[N,Cout,out...\] with out = (in - 1)
    /// stride - 2 padding + dilation (kernel - 1) + output_padding + 1. WICK_SHAPE as above, and when out \< 1.
    fn wick_conv_transpose2d(x: *const wick_tensor, weight: *const wick_tensor, bias: *const wick_tensor, options: *const wick_conv_options) -> *mut wick_tensor;
    /// The transposes, as PyTorch's conv_transpose1d, ..2d, ..3d: x \[N,Cin,spatial...\], weight
    /// \[Cin,Cout/groups,kernel...\], bias \[Cout\] or NULL, result \[N,Cout,out...\] with out = (in - 1)
    /// stride - 2 padding + dilation (kernel - 1) + output_padding + 1. WICK_SHAPE as above, and when out \< 1.
    fn wick_conv_transpose3d(x: *const wick_tensor, weight: *const wick_tensor, bias: *const wick_tensor, options: *const wick_conv_options) -> *mut wick_tensor;
    /// The largest element of each window: x \[N,C,spatial...\], kernel one size a spatial dim, result
    /// \[N,C,out...\] with out = floor or ceil((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1.
    /// Padding never wins; NaN always does. A dilated window that lies wholly in the padding gives the dtype's
    /// lowest value.
    fn wick_max_pool1d(x: *const wick_tensor, n: c_int, kernel: *const i64, options: *const wick_pool_options) -> *mut wick_tensor;
    /// The largest element of each window: x \[N,C,spatial...\], kernel one size a spatial dim, result
    /// \[N,C,out...\] with out = floor or ceil((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1.
    /// Padding never wins; NaN always does. A dilated window that lies wholly in the padding gives the dtype's
    /// lowest value.
    fn wick_max_pool2d(x: *const wick_tensor, n: c_int, kernel: *const i64, options: *const wick_pool_options) -> *mut wick_tensor;
    /// The largest element of each window: x \[N,C,spatial...\], kernel one size a spatial dim, result
    /// \[N,C,out...\] with out = floor or ceil((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1.
    /// Padding never wins; NaN always does. A dilated window that lies wholly in the padding gives the dtype's
    /// lowest value.
    fn wick_max_pool3d(x: *const wick_tensor, n: c_int, kernel: *const i64, options: *const wick_pool_options) -> *mut wick_tensor;
    /// The mean of each window; shapes as above. Integers give the exact mean truncated toward zero. As in
    /// PyTorch's avg_pool, the divisor counts padding (but not what ceil_mode alone reaches), unless
    /// exclude_padding or divisor say otherwise.
    fn wick_avg_pool1d(x: *const wick_tensor, n: c_int, kernel: *const i64, options: *const wick_pool_options) -> *mut wick_tensor;
    /// The mean of each window; shapes as above. Integers give the exact mean truncated toward zero. As in
    /// PyTorch's avg_pool, the divisor counts padding (but not what ceil_mode alone reaches), unless
    /// exclude_padding or divisor say otherwise.
    fn wick_avg_pool2d(x: *const wick_tensor, n: c_int, kernel: *const i64, options: *const wick_pool_options) -> *mut wick_tensor;
    /// The mean of each window; shapes as above. Integers give the exact mean truncated toward zero. As in
    /// PyTorch's avg_pool, the divisor counts padding (but not what ceil_mode alone reaches), unless
    /// exclude_padding or divisor say otherwise.
    fn wick_avg_pool3d(x: *const wick_tensor, n: c_int, kernel: *const i64, options: *const wick_pool_options) -> *mut wick_tensor;
    /// Pooling to a result of the given spatial sizes \>= 0: window o of n over a dim of size `in` is floor(o
    /// in / n) .. ceil((o + 1) in / n) - 1. Size 1 in every dim pools globally.
    fn wick_adaptive_max_pool1d(x: *const wick_tensor, n: c_int, size: *const i64) -> *mut wick_tensor;
    /// Pooling to a result of the given spatial sizes \>= 0: window o of n over a dim of size `in` is floor(o
    /// in / n) .. ceil((o + 1) in / n) - 1. Size 1 in every dim pools globally.
    fn wick_adaptive_max_pool2d(x: *const wick_tensor, n: c_int, size: *const i64) -> *mut wick_tensor;
    /// Pooling to a result of the given spatial sizes \>= 0: window o of n over a dim of size `in` is floor(o
    /// in / n) .. ceil((o + 1) in / n) - 1. Size 1 in every dim pools globally.
    fn wick_adaptive_max_pool3d(x: *const wick_tensor, n: c_int, size: *const i64) -> *mut wick_tensor;
    /// Adaptive max pooling of x \[N,C,size...\] over n = 1, 2 or 3 spatial dims that gives positions too:
    /// \*indices receives those of wick_pool_options, and is released like the result.
    fn wick_adaptive_max_pool_with_indices(x: *const wick_tensor, n: c_int, size: *const i64, indices: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// Adaptive max pooling of x \[N,C,size...\] over n = 1, 2 or 3 spatial dims that gives positions too:
    /// \*indices receives those of wick_pool_options, and is released like the result.
    fn wick_adaptive_avg_pool1d(x: *const wick_tensor, n: c_int, size: *const i64) -> *mut wick_tensor;
    /// Adaptive max pooling of x \[N,C,size...\] over n = 1, 2 or 3 spatial dims that gives positions too:
    /// \*indices receives those of wick_pool_options, and is released like the result.
    fn wick_adaptive_avg_pool2d(x: *const wick_tensor, n: c_int, size: *const i64) -> *mut wick_tensor;
    /// Adaptive max pooling of x \[N,C,size...\] over n = 1, 2 or 3 spatial dims that gives positions too:
    /// \*indices receives those of wick_pool_options, and is released like the result.
    fn wick_adaptive_avg_pool3d(x: *const wick_tensor, n: c_int, size: *const i64) -> *mut wick_tensor;
    /// Undoes max pooling: x \[N,C,in...\], indices of its shape, u32, as max pooling gives them, result
    /// \[N,C,size...\] over n = 1, 2 or 3 spatial dims: 0, with each element of x where its index says. Of
    /// elements with one index the last stays; 2^32 - 1 is skipped; WICK_RANGE for others outside the plane.
    /// PyTorch's size, unless told another, is (in - 1) stride - 2 padding + kernel.
    fn wick_max_unpool(x: *const wick_tensor, indices: *const wick_tensor, n: c_int, size: *const i64) -> *mut wick_tensor;
    /// (sum of x^p)^(1/p) of each window, as PyTorch's lp_pool1d to lp_pool3d: x \[N,C,spatial...\] of n = 1, 2
    /// or 3 spatial dims, floats, p finite and not 0. A window that ceil_mode cuts counts as often as a whole
    /// one has elements for its own, and padding, which PyTorch has none of, counts as 0. x^p keeps its sign,
    /// so that an odd p can make NaN. WICK_INVALID: dilation, exclude_padding, divisor and indices. Computed in
    /// f32 (f64 for f64), powers included.
    fn wick_lp_pool(x: *const wick_tensor, p: f64, n: c_int, kernel: *const i64, options: *const wick_pool_options) -> *mut wick_tensor;
    /// The windows of x \[N,C,spatial...\] as columns, PyTorch's unfold: \[N, C K, L\] for K elements of a
    /// kernel and L windows, n = 1, 2 or 3 spatial dims. Row c K + k has element k of the windows over channel
    /// c, windows and elements in row-major order. Of the options stride, padding and dilation count;
    /// output_padding, groups above 1 and relu are WICK_INVALID. WICK_SHAPE for a kernel larger than the padded
    /// input.
    fn wick_im2col(x: *const wick_tensor, n: c_int, kernel: *const i64, options: *const wick_conv_options) -> *mut wick_tensor;
    /// Its transpose, PyTorch's fold: columns \[N, C K, L\] -\> \[N,C,size...\], each element the sum, in f64,
    /// of those that wick_im2col makes of it. Each is the gradient of the other. Floats. WICK_SHAPE unless
    /// wick_im2col makes such columns of that size.
    fn wick_col2im(columns: *const wick_tensor, n: c_int, size: *const i64, kernel: *const i64, options: *const wick_conv_options) -> *mut wick_tensor;
    /// Nearest neighbour: x \[N,C,spatial...\], result \[N,C,size...\]. Element i of a dim comes from floor(i
    /// in / out), exactly, or with a scale from min(in - 1, floor(i / scale)), with the quotient rounded to
    /// f64. Without sizes, `0, NULL`, every scale must be given. WICK_SHAPE if a size is \< 1 or an input dim
    /// is empty.
    fn wick_upsample_nearest1d(x: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_upsample_options) -> *mut wick_tensor;
    /// Nearest neighbour: x \[N,C,spatial...\], result \[N,C,size...\]. Element i of a dim comes from floor(i
    /// in / out), exactly, or with a scale from min(in - 1, floor(i / scale)), with the quotient rounded to
    /// f64. Without sizes, `0, NULL`, every scale must be given. WICK_SHAPE if a size is \< 1 or an input dim
    /// is empty.
    fn wick_upsample_nearest2d(x: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_upsample_options) -> *mut wick_tensor;
    /// Nearest neighbour: x \[N,C,spatial...\], result \[N,C,size...\]. Element i of a dim comes from floor(i
    /// in / out), exactly, or with a scale from min(in - 1, floor(i / scale)), with the quotient rounded to
    /// f64. Without sizes, `0, NULL`, every scale must be given. WICK_SHAPE if a size is \< 1 or an input dim
    /// is empty.
    fn wick_upsample_nearest3d(x: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_upsample_options) -> *mut wick_tensor;
    /// Linear interpolation in 1, 2 and 3 dims; arguments as above. Element i lies at max(0, (i + 0.5) in / out
    /// \- 0.5), with a scale at max(0, (i + 0.5) / scale - 0.5), with align_corners at i (in - 1) / (out - 1),
    /// between the position's floor and the next element. Positions that follow from sizes are exact, others
    /// f64; weights are rounded to f64. Integers are computed in f64 and rounded to nearest, halves to even.
    fn wick_upsample_linear1d(x: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_upsample_options) -> *mut wick_tensor;
    /// Linear interpolation in 1, 2 and 3 dims; arguments as above. Element i lies at max(0, (i + 0.5) in / out
    /// \- 0.5), with a scale at max(0, (i + 0.5) / scale - 0.5), with align_corners at i (in - 1) / (out - 1),
    /// between the position's floor and the next element. Positions that follow from sizes are exact, others
    /// f64; weights are rounded to f64. Integers are computed in f64 and rounded to nearest, halves to even.
    fn wick_upsample_bilinear2d(x: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_upsample_options) -> *mut wick_tensor;
    /// Linear interpolation in 1, 2 and 3 dims; arguments as above. Element i lies at max(0, (i + 0.5) in / out
    /// \- 0.5), with a scale at max(0, (i + 0.5) / scale - 0.5), with align_corners at i (in - 1) / (out - 1),
    /// between the position's floor and the next element. Positions that follow from sizes are exact, others
    /// f64; weights are rounded to f64. Integers are computed in f64 and rounded to nearest, halves to even.
    fn wick_upsample_trilinear3d(x: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_upsample_options) -> *mut wick_tensor;
    /// Nearest neighbour, with the elements' centres compared, in n = 1, 2 or 3 dims; n 0 for sizes from
    /// scales. Element i comes from floor((i + 0.5) in / out), exactly, or with a scale from min(in - 1,
    /// floor((i + 0.5) / scale)).
    fn wick_upsample_nearest_exact(x: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_upsample_options) -> *mut wick_tensor;
    /// Cubic convolution in 2 dims; arguments as above, floats. Element i lies where linear interpolation has
    /// it, negative positions included. It is the sum of the four elements around it in each dim, at the edge
    /// the edge element again, with weights (a + 2) t^3 - (a + 3) t^2 + 1 at distances t \< 1 and a t^3 - 5 a
    /// t^2 + 8 a t - 4 a at 1 \<= t \< 2, where a is -0.75. Weights are rounded to f64, sums are f32 (f64 for
    /// f64). PyTorch's mode "area" is wick_adaptive_avg_pool2d.
    fn wick_upsample_bicubic2d(x: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_upsample_options) -> *mut wick_tensor;
    /// \[...,C r r,H,W\] to \[...,C,H r,W r\]: out\[c\]\[h r + i\]\[w r + j\] = x\[c r r + i r + j\]\[h\]\[w\].
    /// r \>= 1 divides; rank \>= 3.
    fn wick_pixel_shuffle(x: *const wick_tensor, r: i64) -> *mut wick_tensor;
    /// The inverse: \[...,C,H r,W r\] to \[...,C r r,H,W\].
    fn wick_pixel_unshuffle(x: *const wick_tensor, r: i64) -> *mut wick_tensor;
    /// x at the places of a grid, as PyTorch's grid_sample: x \[N,C,in...\], grid \[N,out...,n\] of n = 2 or 3
    /// spatial dims, result \[N,C,out...\], floats. grid\[..\]\[0\] is the place along the last dim of x,
    /// grid\[..\]\[1\] along that before: g lies at ((g + 1) size - 1) / 2, with align_corners at (g + 1) / 2
    /// (size - 1). NaN is -1. Places and weights are f64, sums f32 (f64 for f64); a weight of 0 drops its
    /// element. `options` may be NULL. WICK_SHAPE for an empty dim of x. WICK_OVERFLOW if a plane of x has 2^32
    /// \- 1 elements, or the points of an image take as many.
    fn wick_grid_sample(x: *const wick_tensor, grid: *const wick_tensor, options: *const wick_grid_sample_options) -> *mut wick_tensor;
    /// x with before\[d\] elements in front of and after\[d\] elements behind dim d; negative numbers take
    /// elements away. n is the rank of x. WICK_SHAPE if a reflection is not less than its dim, for replication
    /// or repetition of an empty dim, and if more is taken away than there is.
    fn wick_pad(x: *const wick_tensor, n: c_int, before: *const i64, after: *const i64, mode: wick_pad_mode, value: wick_number) -> *mut wick_tensor;
    /// One dim padded with zeros, and with its edge elements.
    fn wick_pad_with_zeros(x: *const wick_tensor, dim: c_int, before: i64, after: i64) -> *mut wick_tensor;
    /// One dim padded with zeros, and with its edge elements.
    fn wick_pad_with_same(x: *const wick_tensor, dim: c_int, before: i64, after: i64) -> *mut wick_tensor;
    /// Floats.
    fn wick_exp(x: *const wick_tensor) -> *mut wick_tensor;
    /// Floats.
    fn wick_exp2(x: *const wick_tensor) -> *mut wick_tensor;
    /// e^x - 1 and log(1 + x), precise near 0.
    fn wick_expm1(x: *const wick_tensor) -> *mut wick_tensor;
    /// e^x - 1 and log(1 + x), precise near 0.
    fn wick_log1p(x: *const wick_tensor) -> *mut wick_tensor;
    /// Logarithms: -inf for 0, NaN below.
    fn wick_log(x: *const wick_tensor) -> *mut wick_tensor;
    /// Logarithms: -inf for 0, NaN below.
    fn wick_log2(x: *const wick_tensor) -> *mut wick_tensor;
    /// Logarithms: -inf for 0, NaN below.
    fn wick_log10(x: *const wick_tensor) -> *mut wick_tensor;
    /// Logarithms: -inf for 0, NaN below.
    fn wick_sin(x: *const wick_tensor) -> *mut wick_tensor;
    /// Logarithms: -inf for 0, NaN below.
    fn wick_cos(x: *const wick_tensor) -> *mut wick_tensor;
    /// Logarithms: -inf for 0, NaN below.
    fn wick_tan(x: *const wick_tensor) -> *mut wick_tensor;
    /// Logarithms: -inf for 0, NaN below.
    fn wick_tanh(x: *const wick_tensor) -> *mut wick_tensor;
    /// Angles in radians: asin and atan from -pi/2 to pi/2, acos from 0 to pi. asin and acos are NaN beyond -1
    /// .. 1.
    fn wick_asin(x: *const wick_tensor) -> *mut wick_tensor;
    /// Angles in radians: asin and atan from -pi/2 to pi/2, acos from 0 to pi. asin and acos are NaN beyond -1
    /// .. 1.
    fn wick_acos(x: *const wick_tensor) -> *mut wick_tensor;
    /// Angles in radians: asin and atan from -pi/2 to pi/2, acos from 0 to pi. asin and acos are NaN beyond -1
    /// .. 1.
    fn wick_atan(x: *const wick_tensor) -> *mut wick_tensor;
    /// Hyperbolic functions and their inverses: acosh is NaN below 1, atanh beyond -1 .. 1.
    fn wick_sinh(x: *const wick_tensor) -> *mut wick_tensor;
    /// Hyperbolic functions and their inverses: acosh is NaN below 1, atanh beyond -1 .. 1.
    fn wick_cosh(x: *const wick_tensor) -> *mut wick_tensor;
    /// Hyperbolic functions and their inverses: acosh is NaN below 1, atanh beyond -1 .. 1.
    fn wick_asinh(x: *const wick_tensor) -> *mut wick_tensor;
    /// Hyperbolic functions and their inverses: acosh is NaN below 1, atanh beyond -1 .. 1.
    fn wick_acosh(x: *const wick_tensor) -> *mut wick_tensor;
    /// Hyperbolic functions and their inverses: acosh is NaN below 1, atanh beyond -1 .. 1.
    fn wick_atanh(x: *const wick_tensor) -> *mut wick_tensor;
    /// 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x.
    fn wick_erf(x: *const wick_tensor) -> *mut wick_tensor;
    /// 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x.
    fn wick_sqrt(x: *const wick_tensor) -> *mut wick_tensor;
    /// 1 - erf(x), precise for large x; and the inverse of erf, infinite for -1 and 1, NaN beyond.
    fn wick_erfc(x: *const wick_tensor) -> *mut wick_tensor;
    /// 1 - erf(x), precise for large x; and the inverse of erf, infinite for -1 and 1, NaN beyond.
    fn wick_erfinv(x: *const wick_tensor) -> *mut wick_tensor;
    /// The logarithm of |gamma(x)|: infinite for 0 and negative whole numbers.
    fn wick_lgamma(x: *const wick_tensor) -> *mut wick_tensor;
    /// 1/sqrt(x) and 1/x.
    fn wick_rsqrt(x: *const wick_tensor) -> *mut wick_tensor;
    /// 1/sqrt(x) and 1/x.
    fn wick_recip(x: *const wick_tensor) -> *mut wick_tensor;
    /// All. Negated integers wrap: 256 - x for u8. The absolute value of the least integer is itself.
    fn wick_abs(x: *const wick_tensor) -> *mut wick_tensor;
    /// All. Negated integers wrap: 256 - x for u8. The absolute value of the least integer is itself.
    fn wick_neg(x: *const wick_tensor) -> *mut wick_tensor;
    /// All. Negated integers wrap: 256 - x for u8. The absolute value of the least integer is itself.
    fn wick_sqr(x: *const wick_tensor) -> *mut wick_tensor;
    /// \-1, 0 or 1; 0 for NaN.
    fn wick_sign(x: *const wick_tensor) -> *mut wick_tensor;
    /// Round to whole numbers: down, up, to nearest with ties to even, to nearest with ties away from 0 as C's
    /// round, towards 0. Integers stay as they are.
    fn wick_floor(x: *const wick_tensor) -> *mut wick_tensor;
    /// Round to whole numbers: down, up, to nearest with ties to even, to nearest with ties away from 0 as C's
    /// round, towards 0. Integers stay as they are.
    fn wick_ceil(x: *const wick_tensor) -> *mut wick_tensor;
    /// Round to whole numbers: down, up, to nearest with ties to even, to nearest with ties away from 0 as C's
    /// round, towards 0. Integers stay as they are.
    fn wick_round(x: *const wick_tensor) -> *mut wick_tensor;
    /// Round to whole numbers: down, up, to nearest with ties to even, to nearest with ties away from 0 as C's
    /// round, towards 0. Integers stay as they are.
    fn wick_round_ties_away(x: *const wick_tensor) -> *mut wick_tensor;
    /// Round to whole numbers: down, up, to nearest with ties to even, to nearest with ties away from 0 as C's
    /// round, towards 0. Integers stay as they are.
    fn wick_trunc(x: *const wick_tensor) -> *mut wick_tensor;
    /// max(x, 0), its square, and min(max(x, 0), 6).
    fn wick_relu(x: *const wick_tensor) -> *mut wick_tensor;
    /// max(x, 0), its square, and min(max(x, 0), 6).
    fn wick_relu2(x: *const wick_tensor) -> *mut wick_tensor;
    /// max(x, 0), its square, and min(max(x, 0), 6).
    fn wick_relu6(x: *const wick_tensor) -> *mut wick_tensor;
    /// x (1 + erf(x / sqrt 2)) / 2.
    fn wick_gelu(x: *const wick_tensor) -> *mut wick_tensor;
    /// x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2.
    fn wick_gelu_tanh(x: *const wick_tensor) -> *mut wick_tensor;
    /// 1 / (1 + e^-x), and x times it.
    fn wick_sigmoid(x: *const wick_tensor) -> *mut wick_tensor;
    /// 1 / (1 + e^-x), and x times it.
    fn wick_silu(x: *const wick_tensor) -> *mut wick_tensor;
    /// log(1 + e^x), and x tanh(log(1 + e^x)).
    fn wick_softplus(x: *const wick_tensor) -> *mut wick_tensor;
    /// log(1 + e^x), and x tanh(log(1 + e^x)).
    fn wick_mish(x: *const wick_tensor) -> *mut wick_tensor;
    /// relu6(x + 3) / 6, and x times it.
    fn wick_hard_sigmoid(x: *const wick_tensor) -> *mut wick_tensor;
    /// relu6(x + 3) / 6, and x times it.
    fn wick_hard_swish(x: *const wick_tensor) -> *mut wick_tensor;
    /// 1.0507.. x for x \> 0, 1.0507.. 1.6732.. (e^x - 1) otherwise.
    fn wick_selu(x: *const wick_tensor) -> *mut wick_tensor;
    /// x for x \> 0, alpha (e^x - 1) otherwise.
    fn wick_elu(x: *const wick_tensor, alpha: f64) -> *mut wick_tensor;
    /// x for x \> 0, alpha (e^(x / alpha) - 1) otherwise. WICK_INVALID for alpha 0.
    fn wick_celu(x: *const wick_tensor, alpha: f64) -> *mut wick_tensor;
    /// x / (1 + |x|), x - tanh(x), and the logarithm of the sigmoid.
    fn wick_softsign(x: *const wick_tensor) -> *mut wick_tensor;
    /// x / (1 + |x|), x - tanh(x), and the logarithm of the sigmoid.
    fn wick_tanhshrink(x: *const wick_tensor) -> *mut wick_tensor;
    /// x / (1 + |x|), x - tanh(x), and the logarithm of the sigmoid.
    fn wick_log_sigmoid(x: *const wick_tensor) -> *mut wick_tensor;
    /// min(max(x, low), high).
    fn wick_hardtanh(x: *const wick_tensor, low: f64, high: f64) -> *mut wick_tensor;
    /// log(1 + e^(beta x)) / beta; x where beta x \> threshold, PyTorch's default is 20. WICK_INVALID for beta
    /// 0.
    fn wick_softplus_beta(x: *const wick_tensor, beta: f64, threshold: f64) -> *mut wick_tensor;
    /// x for x \>= 0, slope x otherwise.
    fn wick_leaky_relu(x: *const wick_tensor, slope: f64) -> *mut wick_tensor;
    /// x for x \> 0, weight x otherwise. `weight` has one element, or one for each position of dim 1 of x: x
    /// \[N,C,..\], weight \[C\]; for a vector x \[C\], one for each element. WICK_SHAPE otherwise.
    fn wick_prelu(x: *const wick_tensor, weight: *const wick_tensor) -> *mut wick_tensor;
    /// silu(a) b, where a and b are the halves of x along its last dim. \[..,2N\] -\> \[..,N\]. WICK_SHAPE for
    /// rank 0 or an odd size.
    fn wick_swiglu(x: *const wick_tensor) -> *mut wick_tensor;
    /// a sigmoid(b), where a and b are the halves of x along dim. \[..,2N,..\] -\> \[..,N,..\]. WICK_SHAPE for
    /// an odd size.
    fn wick_glu(x: *const wick_tensor, dim: c_int) -> *mut wick_tensor;
    /// x mul + add. All. Integers use wrapping integer arithmetic if both numbers are whole, even if a real one
    /// exceeds 64 bits. Otherwise they compute in f64 and cast back as wick_cast does.
    fn wick_affine(x: *const wick_tensor, mul: wick_number, add: wick_number) -> *mut wick_tensor;
    /// x + value and so on. All. For integers, a real number is first cast to i64 as wick_cast does, and
    /// results wrap. Integer division truncates towards 0; dividing by 0 is WICK_DIVIDE.
    fn wick_add_scalar(x: *const wick_tensor, value: wick_number) -> *mut wick_tensor;
    /// x + value and so on. All. For integers, a real number is first cast to i64 as wick_cast does, and
    /// results wrap. Integer division truncates towards 0; dividing by 0 is WICK_DIVIDE.
    fn wick_sub_scalar(x: *const wick_tensor, value: wick_number) -> *mut wick_tensor;
    /// x + value and so on. All. For integers, a real number is first cast to i64 as wick_cast does, and
    /// results wrap. Integer division truncates towards 0; dividing by 0 is WICK_DIVIDE.
    fn wick_mul_scalar(x: *const wick_tensor, value: wick_number) -> *mut wick_tensor;
    /// x + value and so on. All. For integers, a real number is first cast to i64 as wick_cast does, and
    /// results wrap. Integer division truncates towards 0; dividing by 0 is WICK_DIVIDE.
    fn wick_div_scalar(x: *const wick_tensor, value: wick_number) -> *mut wick_tensor;
    /// x^exponent. Floats.
    fn wick_powf(x: *const wick_tensor, exponent: f64) -> *mut wick_tensor;
    /// min(max(x, low), high). All. Bounds may be infinite; WICK_INVALID for NaN. For integers, the bounds are
    /// the least integer that is not below low and the greatest that is not above high, within the dtype's
    /// range. So bounds of 0.2 and 0.8, with no integer between them, give 0.
    fn wick_clamp(x: *const wick_tensor, low: wick_number, high: wick_number) -> *mut wick_tensor;
    /// max(x, value) and min(x, value): wick_clamp with one bound.
    fn wick_maximum_scalar(x: *const wick_tensor, value: wick_number) -> *mut wick_tensor;
    /// max(x, value) and min(x, value): wick_clamp with one bound.
    fn wick_minimum_scalar(x: *const wick_tensor, value: wick_number) -> *mut wick_tensor;
    /// All. Integer quotients truncate towards 0; dividing an integer by 0 is WICK_DIVIDE.
    fn wick_add(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// All. Integer quotients truncate towards 0; dividing an integer by 0 is WICK_DIVIDE.
    fn wick_sub(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// All. Integer quotients truncate towards 0; dividing an integer by 0 is WICK_DIVIDE.
    fn wick_mul(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// All. Integer quotients truncate towards 0; dividing an integer by 0 is WICK_DIVIDE.
    fn wick_div(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// All. NaN where either is NaN.
    fn wick_maximum(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// All. NaN where either is NaN.
    fn wick_minimum(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// lhs^rhs. All. Integers wrap. To a negative power, 1 gives 1, -1 gives 1 or -1, and everything else 0.
    fn wick_pow(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// lhs - rhs floor(lhs / rhs), with the sign of rhs. All. NaN for a float divisor 0, WICK_DIVIDE for an
    /// integer one.
    fn wick_remainder(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// lhs - rhs trunc(lhs / rhs), with the sign of lhs: C's fmod. All. Divisors of 0 as in wick_remainder.
    fn wick_fmod(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// lhs / rhs rounded to a whole number: down, as Python's //, and towards 0. All. floor_divide rounds the
    /// exact quotient down, trunc_divide the quotient that is rounded to the dtype (f32 for smaller floats). A
    /// float divisor 0 gives what wick_div gives, an integer one WICK_DIVIDE. floor_divide of an infinity is
    /// NaN.
    fn wick_floor_divide(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// lhs / rhs rounded to a whole number: down, as Python's //, and towards 0. All. floor_divide rounds the
    /// exact quotient down, trunc_divide the quotient that is rounded to the dtype (f32 for smaller floats). A
    /// float divisor 0 gives what wick_div gives, an integer one WICK_DIVIDE. floor_divide of an infinity is
    /// NaN.
    fn wick_trunc_divide(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// The angle of the point (rhs, lhs), from -pi to pi. Floats.
    fn wick_atan2(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// Integers. A count below 0, or not below the dtype's bits, shifts all bits out: the result is 0, or -1
    /// for a negative number shifted right. Right shifts of signed integers repeat the sign.
    fn wick_bitwise_and(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// Integers. A count below 0, or not below the dtype's bits, shifts all bits out: the result is 0, or -1
    /// for a negative number shifted right. Right shifts of signed integers repeat the sign.
    fn wick_bitwise_or(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// Integers. A count below 0, or not below the dtype's bits, shifts all bits out: the result is 0, or -1
    /// for a negative number shifted right. Right shifts of signed integers repeat the sign.
    fn wick_bitwise_xor(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// Integers. A count below 0, or not below the dtype's bits, shifts all bits out: the result is 0, or -1
    /// for a negative number shifted right. Right shifts of signed integers repeat the sign.
    fn wick_bitwise_not(x: *const wick_tensor) -> *mut wick_tensor;
    /// Integers. A count below 0, or not below the dtype's bits, shifts all bits out: the result is 0, or -1
    /// for a negative number shifted right. Right shifts of signed integers repeat the sign.
    fn wick_shift_left(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// Integers. A count below 0, or not below the dtype's bits, shifts all bits out: the result is 0, or -1
    /// for a negative number shifted right. Right shifts of signed integers repeat the sign.
    fn wick_shift_right(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// All, two tensors of one dtype, which broadcast. NaN is unequal to everything, and neither less nor
    /// greater than anything.
    fn wick_eq(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// All, two tensors of one dtype, which broadcast. NaN is unequal to everything, and neither less nor
    /// greater than anything.
    fn wick_ne(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// All, two tensors of one dtype, which broadcast. NaN is unequal to everything, and neither less nor
    /// greater than anything.
    fn wick_lt(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// All, two tensors of one dtype, which broadcast. NaN is unequal to everything, and neither less nor
    /// greater than anything.
    fn wick_le(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// All, two tensors of one dtype, which broadcast. NaN is unequal to everything, and neither less nor
    /// greater than anything.
    fn wick_gt(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// All, two tensors of one dtype, which broadcast. NaN is unequal to everything, and neither less nor
    /// greater than anything.
    fn wick_ge(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// Whether both, one or both, and one alone are not 0. NaN is not 0. All, two tensors of one dtype, which
    /// broadcast.
    fn wick_logical_and(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// Whether both, one or both, and one alone are not 0. NaN is not 0. All, two tensors of one dtype, which
    /// broadcast.
    fn wick_logical_or(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// Whether both, one or both, and one alone are not 0. NaN is not 0. All, two tensors of one dtype, which
    /// broadcast.
    fn wick_logical_xor(lhs: *const wick_tensor, rhs: *const wick_tensor) -> *mut wick_tensor;
    /// Comparisons with a number, which is not rounded to the dtype first: exact for every number and every
    /// element. So 0.1 is equal to no f32, and 3e9 is greater than every i32.
    fn wick_eq_scalar(x: *const wick_tensor, value: wick_number) -> *mut wick_tensor;
    /// Comparisons with a number, which is not rounded to the dtype first: exact for every number and every
    /// element. So 0.1 is equal to no f32, and 3e9 is greater than every i32.
    fn wick_ne_scalar(x: *const wick_tensor, value: wick_number) -> *mut wick_tensor;
    /// Comparisons with a number, which is not rounded to the dtype first: exact for every number and every
    /// element. So 0.1 is equal to no f32, and 3e9 is greater than every i32.
    fn wick_lt_scalar(x: *const wick_tensor, value: wick_number) -> *mut wick_tensor;
    /// Comparisons with a number, which is not rounded to the dtype first: exact for every number and every
    /// element. So 0.1 is equal to no f32, and 3e9 is greater than every i32.
    fn wick_le_scalar(x: *const wick_tensor, value: wick_number) -> *mut wick_tensor;
    /// Comparisons with a number, which is not rounded to the dtype first: exact for every number and every
    /// element. So 0.1 is equal to no f32, and 3e9 is greater than every i32.
    fn wick_gt_scalar(x: *const wick_tensor, value: wick_number) -> *mut wick_tensor;
    /// Comparisons with a number, which is not rounded to the dtype first: exact for every number and every
    /// element. So 0.1 is equal to no f32, and 3e9 is greater than every i32.
    fn wick_ge_scalar(x: *const wick_tensor, value: wick_number) -> *mut wick_tensor;
    /// x == 0. All.
    fn wick_logical_not(x: *const wick_tensor) -> *mut wick_tensor;
    /// Floats.
    fn wick_isnan(x: *const wick_tensor) -> *mut wick_tensor;
    /// Floats.
    fn wick_isinf(x: *const wick_tensor) -> *mut wick_tensor;
    /// Floats.
    fn wick_isfinite(x: *const wick_tensor) -> *mut wick_tensor;
    /// x with `nan`, `above` and `below` in place of NaN, +infinity and -infinity. Floats.
    fn wick_nan_to_num(x: *const wick_tensor, nan: f64, above: f64, below: f64) -> *mut wick_tensor;
    /// start + weight (end - start), end - (1 - weight) (end - start) for |weight| \>= 0.5. Floats, of one
    /// dtype.
    fn wick_lerp(start: *const wick_tensor, end: *const wick_tensor, weight: *const wick_tensor) -> *mut wick_tensor;
    /// |lhs - rhs| \<= absolute + relative |rhs|, computed in f64, as u8. Equal infinities are close; NaNs with
    /// `equal_nan`. All, of one dtype. WICK_INVALID unless both tolerances are \>= 0.
    fn wick_isclose(lhs: *const wick_tensor, rhs: *const wick_tensor, relative: f64, absolute: f64, equal_nan: bool) -> *mut wick_tensor;
    /// Whether that holds everywhere. It waits for the device. A failure leaves \*result as it was.
    fn wick_allclose(lhs: *const wick_tensor, rhs: *const wick_tensor, relative: f64, absolute: f64, equal_nan: bool, result: *mut bool) -> wick_status;
    /// a where the condition is not 0, b where it is. a and b: all, of one dtype; condition: integers. All
    /// three broadcast.
    fn wick_where(condition: *const wick_tensor, a: *const wick_tensor, b: *const wick_tensor) -> *mut wick_tensor;
    /// x in another dtype; a view of x if it has that dtype already. Between all, and bool, i8, u16, u64 and
    /// f8e5m2. float to float to nearest even, rounded once; f8e4m3 saturates at +-448, infinities too; NaN
    /// stays NaN float to integer towards 0, saturating; NaN gives 0 integer to integer wraps integer to float
    /// to nearest even, rounded once to bool x != 0 blocks to float f32, f16, bf16: scale q + shift as GGML
    /// computes it in f32, then rounded float to blocks as wick_quantise without options WICK_DTYPE for a value
    /// that is not a dtype, WICK_UNSUPPORTED for a dtype to which the device has no cast.
    fn wick_cast(x: *const wick_tensor, dtype: wick_dtype) -> *mut wick_tensor;
    /// x \[..,K\] of f32, f16 or bf16 as blocks of a quantised dtype. It searches scales that keep the sum of
    /// squared errors small. `options` may be NULL. The CPU computes it, whichever device x is on. WICK_INVALID
    /// while a graph records it. WICK_UNSUPPORTED for the dtypes iq1_s, iq1_m, iq2_xxs, iq2_xs, iq2_s, iq3_xxs
    /// and iq3_s, and those that are not quantised. WICK_SHAPE unless K is a multiple of the dtype's block, and
    /// for importance that is not \[K\]. WICK_RANGE for an element of x that is NaN or beyond 65504, and for
    /// importance that is negative or not finite.
    fn wick_quantise(x: *const wick_tensor, dtype: wick_dtype, options: *const wick_quantise_options) -> *mut wick_tensor;
    /// Writes the value, cast as wick_cast does, to every element of x. WICK_INVALID if elements of x share an
    /// address.
    fn wick_fill_inplace(x: *mut wick_tensor, value: wick_number) -> wick_status;
    /// Writes the elements of source to target. Source has the target's dtype and broadcasts to its shape. The
    /// two may overlap. WICK_INVALID if elements of target share an address.
    fn wick_copy_inplace(target: *mut wick_tensor, source: *const wick_tensor) -> wick_status;
    /// Slopes that are 0, 1 or grow with x, in pieces.
    fn wick_relu_backward(gradient: *const wick_tensor, x: *const wick_tensor) -> *mut wick_tensor;
    /// Slopes that are 0, 1 or grow with x, in pieces.
    fn wick_relu2_backward(gradient: *const wick_tensor, x: *const wick_tensor) -> *mut wick_tensor;
    /// Slopes that are 0, 1 or grow with x, in pieces.
    fn wick_relu6_backward(gradient: *const wick_tensor, x: *const wick_tensor) -> *mut wick_tensor;
    /// Slopes that are 0, 1 or grow with x, in pieces.
    fn wick_hard_sigmoid_backward(gradient: *const wick_tensor, x: *const wick_tensor) -> *mut wick_tensor;
    /// Slopes that are 0, 1 or grow with x, in pieces.
    fn wick_hard_swish_backward(gradient: *const wick_tensor, x: *const wick_tensor) -> *mut wick_tensor;
    /// With the numbers of the function.
    fn wick_leaky_relu_backward(gradient: *const wick_tensor, x: *const wick_tensor, slope: f64) -> *mut wick_tensor;
    /// With the numbers of the function.
    fn wick_hardtanh_backward(gradient: *const wick_tensor, x: *const wick_tensor, low: f64, high: f64) -> *mut wick_tensor;
    /// With the numbers of the function.
    fn wick_elu_backward(gradient: *const wick_tensor, x: *const wick_tensor, alpha: f64) -> *mut wick_tensor;
    /// Smooth slopes, of all x or of those below 0.
    fn wick_softsign_backward(gradient: *const wick_tensor, x: *const wick_tensor) -> *mut wick_tensor;
    /// Smooth slopes, of all x or of those below 0.
    fn wick_tanhshrink_backward(gradient: *const wick_tensor, x: *const wick_tensor) -> *mut wick_tensor;
    /// Smooth slopes, of all x or of those below 0.
    fn wick_gelu_backward(gradient: *const wick_tensor, x: *const wick_tensor) -> *mut wick_tensor;
    /// Smooth slopes, of all x or of those below 0.
    fn wick_gelu_tanh_backward(gradient: *const wick_tensor, x: *const wick_tensor) -> *mut wick_tensor;
    /// Smooth slopes, of all x or of those below 0.
    fn wick_silu_backward(gradient: *const wick_tensor, x: *const wick_tensor) -> *mut wick_tensor;
    /// Smooth slopes, of all x or of those below 0.
    fn wick_mish_backward(gradient: *const wick_tensor, x: *const wick_tensor) -> *mut wick_tensor;
    /// Smooth slopes, of all x or of those below 0.
    fn wick_log_sigmoid_backward(gradient: *const wick_tensor, x: *const wick_tensor) -> *mut wick_tensor;
    /// Smooth slopes, of all x or of those below 0.
    fn wick_selu_backward(gradient: *const wick_tensor, x: *const wick_tensor) -> *mut wick_tensor;
    /// Of wick_softplus_beta; with beta 1 and threshold INFINITY of wick_softplus. WICK_INVALID for beta 0.
    fn wick_softplus_backward(gradient: *const wick_tensor, x: *const wick_tensor, beta: f64, threshold: f64) -> *mut wick_tensor;
    /// WICK_INVALID for alpha 0.
    fn wick_celu_backward(gradient: *const wick_tensor, x: *const wick_tensor, alpha: f64) -> *mut wick_tensor;
    /// Of wick_glu, along dim, and wick_swiglu: gradient \[..,N,..\], x \[..,2N,..\] -\> \[..,2N,..\]. Computed
    /// in f32 (f64 for f64) and rounded once.
    fn wick_glu_backward(gradient: *const wick_tensor, x: *const wick_tensor, dim: c_int) -> *mut wick_tensor;
    /// Of wick_glu, along dim, and wick_swiglu: gradient \[..,N,..\], x \[..,2N,..\] -\> \[..,2N,..\]. Computed
    /// in f32 (f64 for f64) and rounded once.
    fn wick_swiglu_backward(gradient: *const wick_tensor, x: *const wick_tensor) -> *mut wick_tensor;
    /// Of wick_prelu, by x. If `weight_gradient` is not NULL, \*weight_gradient receives the gradient by the
    /// weight, in its shape: the sum of gradient x where x \<= 0, rounded once. A failure leaves it as it was.
    fn wick_prelu_backward(gradient: *const wick_tensor, x: *const wick_tensor, weight: *const wick_tensor, weight_gradient: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// These take the function's result instead of its argument.
    fn wick_sigmoid_backward(gradient: *const wick_tensor, result: *const wick_tensor) -> *mut wick_tensor;
    /// These take the function's result instead of its argument.
    fn wick_tanh_backward(gradient: *const wick_tensor, result: *const wick_tensor) -> *mut wick_tensor;
    /// result (gradient - sum(gradient result)).
    fn wick_softmax_backward(gradient: *const wick_tensor, result: *const wick_tensor, dim: c_int) -> *mut wick_tensor;
    /// gradient - exp(result) sum(gradient).
    fn wick_log_softmax_backward(gradient: *const wick_tensor, result: *const wick_tensor, dim: c_int) -> *mut wick_tensor;
    /// The gradient of x. With g = gradient weight, y = (x - mean) inverse_deviation and means over the last
    /// `axes` dims: inverse_deviation (g - mean(g) - y mean(g y)). That of the weight is the sum of gradient y
    /// over the other dims, that of the bias the sum of the gradient. `options` may be NULL.
    fn wick_layer_norm_backward(gradient: *const wick_tensor, x: *const wick_tensor, mean: *const wick_tensor, inverse_deviation: *const wick_tensor, axes: c_int, options: *const wick_norm_backward_options) -> *mut wick_tensor;
    /// inverse_deviation (g - y mean(g y)) with y = x inverse_deviation, over the last dim.
    fn wick_rms_norm_backward(gradient: *const wick_tensor, x: *const wick_tensor, inverse_deviation: *const wick_tensor, options: *const wick_norm_backward_options) -> *mut wick_tensor;
    /// As wick_layer_norm_backward over groups of channels; x \[N,C,...\], statistics \[N,groups\], weight
    /// \[C\].
    fn wick_group_norm_backward(gradient: *const wick_tensor, x: *const wick_tensor, mean: *const wick_tensor, inverse_deviation: *const wick_tensor, groups: i64, options: *const wick_norm_backward_options) -> *mut wick_tensor;
    /// Of batch norm: gradient and x \[N,C,...\], mean, inverse_deviation and weight \[C\] -\> \[N,C,...\].
    /// `training`: mean and inverse_deviation are those that wick_batch_norm_train gave, of x itself; the
    /// formula of wick_layer_norm_backward over all elements of a channel. Otherwise they are constants, as
    /// wick_batch_norm takes them, with inverse_deviation 1 / sqrt(variance + epsilon): gradient weight
    /// inverse_deviation. Those of weight and bias are the same in both.
    fn wick_batch_norm_backward(gradient: *const wick_tensor, x: *const wick_tensor, mean: *const wick_tensor, inverse_deviation: *const wick_tensor, training: bool, options: *const wick_norm_backward_options) -> *mut wick_tensor;
    /// The sum of the gradients of those windows whose element of `indices`, u32 in the shape of the gradient,
    /// is this position, as max pooling gives them. A position that lies outside its window's reach counts for
    /// nothing.
    fn wick_max_pool1d_backward(gradient: *const wick_tensor, indices: *const wick_tensor, n: c_int, size: *const i64, kernel: *const i64, options: *const wick_pool_options) -> *mut wick_tensor;
    /// The sum of the gradients of those windows whose element of `indices`, u32 in the shape of the gradient,
    /// is this position, as max pooling gives them. A position that lies outside its window's reach counts for
    /// nothing.
    fn wick_max_pool2d_backward(gradient: *const wick_tensor, indices: *const wick_tensor, n: c_int, size: *const i64, kernel: *const i64, options: *const wick_pool_options) -> *mut wick_tensor;
    /// The sum of the gradients of those windows whose element of `indices`, u32 in the shape of the gradient,
    /// is this position, as max pooling gives them. A position that lies outside its window's reach counts for
    /// nothing.
    fn wick_max_pool3d_backward(gradient: *const wick_tensor, indices: *const wick_tensor, n: c_int, size: *const i64, kernel: *const i64, options: *const wick_pool_options) -> *mut wick_tensor;
    /// The sum of gradient / divisor over the windows that reach an element.
    fn wick_avg_pool1d_backward(gradient: *const wick_tensor, n: c_int, size: *const i64, kernel: *const i64, options: *const wick_pool_options) -> *mut wick_tensor;
    /// The sum of gradient / divisor over the windows that reach an element.
    fn wick_avg_pool2d_backward(gradient: *const wick_tensor, n: c_int, size: *const i64, kernel: *const i64, options: *const wick_pool_options) -> *mut wick_tensor;
    /// The sum of gradient / divisor over the windows that reach an element.
    fn wick_avg_pool3d_backward(gradient: *const wick_tensor, n: c_int, size: *const i64, kernel: *const i64, options: *const wick_pool_options) -> *mut wick_tensor;
    /// Of adaptive pooling: gradient \[N,C,out...\], x \[N,C,size...\] over n = 1, 2 or 3 spatial dims -\>
    /// \[N,C,size...\]. The sum of gradient / elements over the windows that reach an element, and that of the
    /// gradients of those windows whose element of `indices` is this position, as
    /// wick_adaptive_max_pool_with_indices gives them.
    fn wick_adaptive_avg_pool_backward(gradient: *const wick_tensor, n: c_int, size: *const i64) -> *mut wick_tensor;
    /// Of adaptive pooling: gradient \[N,C,out...\], x \[N,C,size...\] over n = 1, 2 or 3 spatial dims -\>
    /// \[N,C,size...\]. The sum of gradient / elements over the windows that reach an element, and that of the
    /// gradients of those windows whose element of `indices` is this position, as
    /// wick_adaptive_max_pool_with_indices gives them.
    fn wick_adaptive_max_pool_backward(gradient: *const wick_tensor, indices: *const wick_tensor, n: c_int, size: *const i64) -> *mut wick_tensor;
    /// Of unpooling: gradient \[N,C,size...\], indices \[N,C,in...\] -\> \[N,C,in...\], the elements that the
    /// indices point to; 0 for 2^32 - 1.
    fn wick_max_unpool_backward(gradient: *const wick_tensor, indices: *const wick_tensor) -> *mut wick_tensor;
    /// Of Lp pooling: x^(p - 1) times the sum of gradient y^(1 - p) over the windows that reach an element,
    /// where y is the result, which is computed again. A window whose result is 0 counts for nothing, where
    /// PyTorch gives NaN.
    fn wick_lp_pool_backward(gradient: *const wick_tensor, x: *const wick_tensor, p: f64, n: c_int, kernel: *const i64, options: *const wick_pool_options) -> *mut wick_tensor;
    /// Of wick_embedding: gradient \[S..,D\], ids \[S..\] -\> \[rows,D\]. Sentinels, and ids that are
    /// `padding`, add nothing; a negative padding is none.
    fn wick_embedding_backward(gradient: *const wick_tensor, ids: *const wick_tensor, rows: i64, padding: i64) -> *mut wick_tensor;
    /// Of wick_embedding_bag, by weight \[V,D\]: gradient \[B,D\]; ids and options are the function's. The
    /// gradient of a maximum goes to the first row that has it. If `weights_gradient` is not NULL,
    /// \*weights_gradient receives the gradient by the options' weights, in the shape of ids: the sum of
    /// gradient times row, 0 for padding. WICK_INVALID unless there are weights. A failure leaves it as it was.
    fn wick_embedding_bag_backward(gradient: *const wick_tensor, weight: *const wick_tensor, ids: *const wick_tensor, options: *const wick_bag_options, weights_gradient: *mut *mut wick_tensor) -> *mut wick_tensor;
    /// n = 1, 2 or 3 spatial dims.
    fn wick_upsample_nearest_backward(gradient: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_upsample_options) -> *mut wick_tensor;
    /// n = 1, 2 or 3 spatial dims.
    fn wick_upsample_nearest_exact_backward(gradient: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_upsample_options) -> *mut wick_tensor;
    /// Of wick_upsample_linear1d, wick_upsample_bilinear2d, wick_upsample_trilinear3d.
    fn wick_upsample_linear_backward(gradient: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_upsample_options) -> *mut wick_tensor;
    /// n = 2.
    fn wick_upsample_bicubic2d_backward(gradient: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_upsample_options) -> *mut wick_tensor;
    /// Of wick_pad: the gradient has the padded shape and n dims; before, after and mode are the function's.
    fn wick_pad_backward(gradient: *const wick_tensor, n: c_int, before: *const i64, after: *const i64, mode: wick_pad_mode) -> *mut wick_tensor;
    /// Of wick_grid_sample, by x: gradient \[N,C,out...\], grid \[N,out...,n\], size the n spatial sizes of x
    /// \-\> \[N,C,size...\]. The sum, in f64 and in the order of the points, of gradient times the weight of the
    /// element there.
    fn wick_grid_sample_backward_input(gradient: *const wick_tensor, grid: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_grid_sample_options) -> *mut wick_tensor;
    /// By the grid: gradient \[N,C,out...\], x \[N,C,in...\], grid \[N,out...,n\] -\> the shape of grid. The
    /// sum over channels and elements, in f64, of gradient x times the slope of the weight: 0 for the nearest,
    /// and where a place beyond x is at the edge.
    fn wick_grid_sample_backward_grid(gradient: *const wick_tensor, x: *const wick_tensor, grid: *const wick_tensor, options: *const wick_grid_sample_options) -> *mut wick_tensor;
    /// Of wick_local_response_norm (nn.h): gradient and x of one shape. With d = k + alpha mean(x^2) of each
    /// element's neighbours: gradient / d^beta - 2 alpha beta x times the sum, over the elements that x is a
    /// neighbour of, of gradient x / d^(beta + 1) / (number of neighbours).
    fn wick_local_response_norm_backward(gradient: *const wick_tensor, x: *const wick_tensor, options: *const wick_response_options) -> *mut wick_tensor;
    /// The gradient of x: gradient \[N,Cout,out...\], weight \[Cout,Cin/groups,kernel...\], size the spatial
    /// sizes of x, which gradient and weight leave open -\> \[N,Cin,size...\].
    fn wick_conv1d_backward_input(gradient: *const wick_tensor, weight: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_conv_options) -> *mut wick_tensor;
    /// The gradient of x: gradient \[N,Cout,out...\], weight \[Cout,Cin/groups,kernel...\], size the spatial
    /// sizes of x, which gradient and weight leave open -\> \[N,Cin,size...\].
    fn wick_conv2d_backward_input(gradient: *const wick_tensor, weight: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_conv_options) -> *mut wick_tensor;
    /// The gradient of x: gradient \[N,Cout,out...\], weight \[Cout,Cin/groups,kernel...\], size the spatial
    /// sizes of x, which gradient and weight leave open -\> \[N,Cin,size...\].
    fn wick_conv3d_backward_input(gradient: *const wick_tensor, weight: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_conv_options) -> *mut wick_tensor;
    /// Of the transposes: gradient \[N,Cout,out...\], weight \[Cin,Cout/groups,kernel...\] -\>
    /// \[N,Cin,size...\].
    fn wick_conv_transpose1d_backward_input(gradient: *const wick_tensor, weight: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_conv_options) -> *mut wick_tensor;
    /// Of the transposes: gradient \[N,Cout,out...\], weight \[Cin,Cout/groups,kernel...\] -\>
    /// \[N,Cin,size...\].
    fn wick_conv_transpose2d_backward_input(gradient: *const wick_tensor, weight: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_conv_options) -> *mut wick_tensor;
    /// Of the transposes: gradient \[N,Cout,out...\], weight \[Cin,Cout/groups,kernel...\] -\>
    /// \[N,Cin,size...\].
    fn wick_conv_transpose3d_backward_input(gradient: *const wick_tensor, weight: *const wick_tensor, n: c_int, size: *const i64, options: *const wick_conv_options) -> *mut wick_tensor;
    /// The gradient of the weight: gradient \[N,Cout,out...\], x \[N,Cin,in...\] -\>
    /// \[Cout,Cin/groups,kernel...\].
    fn wick_conv1d_backward_weight(gradient: *const wick_tensor, x: *const wick_tensor, n: c_int, kernel: *const i64, options: *const wick_conv_options) -> *mut wick_tensor;
    /// The gradient of the weight: gradient \[N,Cout,out...\], x \[N,Cin,in...\] -\>
    /// \[Cout,Cin/groups,kernel...\].
    fn wick_conv2d_backward_weight(gradient: *const wick_tensor, x: *const wick_tensor, n: c_int, kernel: *const i64, options: *const wick_conv_options) -> *mut wick_tensor;
    /// The gradient of the weight: gradient \[N,Cout,out...\], x \[N,Cin,in...\] -\>
    /// \[Cout,Cin/groups,kernel...\].
    fn wick_conv3d_backward_weight(gradient: *const wick_tensor, x: *const wick_tensor, n: c_int, kernel: *const i64, options: *const wick_conv_options) -> *mut wick_tensor;
    /// Of the transposes: gradient \[N,Cout,out...\], x \[N,Cin,in...\] -\> \[Cin,Cout/groups,kernel...\].
    fn wick_conv_transpose1d_backward_weight(gradient: *const wick_tensor, x: *const wick_tensor, n: c_int, kernel: *const i64, options: *const wick_conv_options) -> *mut wick_tensor;
    /// Of the transposes: gradient \[N,Cout,out...\], x \[N,Cin,in...\] -\> \[Cin,Cout/groups,kernel...\].
    fn wick_conv_transpose2d_backward_weight(gradient: *const wick_tensor, x: *const wick_tensor, n: c_int, kernel: *const i64, options: *const wick_conv_options) -> *mut wick_tensor;
    /// Of the transposes: gradient \[N,Cout,out...\], x \[N,Cin,in...\] -\> \[Cin,Cout/groups,kernel...\].
    fn wick_conv_transpose3d_backward_weight(gradient: *const wick_tensor, x: *const wick_tensor, n: c_int, kernel: *const i64, options: *const wick_conv_options) -> *mut wick_tensor;
    /// The gradient of the bias of any of them: gradient \[N,C,...\] -\> \[C\], the sum over images and
    /// positions, in f64.
    fn wick_conv_backward_bias(gradient: *const wick_tensor) -> *mut wick_tensor;
    /// The gradient of q, from that of the result \[B,H,M,E\]. With P = exp(scores - log_sums) and dS = P
    /// (gradient v^T - sum(gradient result)), times the slope of the soft cap where there is one: scale dS k.
    /// That of k is scale dS^T q, that of v is P^T gradient, both summed over the heads that share them. Only
    /// dropout and the gradient of a mask store M x N scores; otherwise memory grows with M + N. Ranks other
    /// than 4 are as in the function. Floats of one dtype, log_sums f32 (f64 for f64), computed in f32 (f64 for
    /// f64) and rounded once. A hidden key has no effect, and receives none, even if an operand holds NaN.
    /// Errors are those of the function; WICK_INVALID without options, WICK_SHAPE unless gradient and result
    /// have the shape \[B,H,M,E\] and log_sums \[B,H,M\].
    fn wick_scaled_dot_product_attention_backward(gradient: *const wick_tensor, q: *const wick_tensor, k: *const wick_tensor, v: *const wick_tensor, options: *const wick_attention_backward) -> *mut wick_tensor;
    /// The same of wick_attention_packed: gradient and result \[M,H,E\], log_sums \[M,H\].
    fn wick_attention_packed_backward(gradient: *const wick_tensor, q: *const wick_tensor, k: *const wick_tensor, v: *const wick_tensor, options: *const wick_attention_backward) -> *mut wick_tensor;
    /// Opens a model from a file that format.h reads (.safetensors, .pth, .npz), or from a folder as on the
    /// Hugging Face hub. Tensors have the names of torchvision (layer1.0.conv1.weight) or of transformers
    /// (encoder.stages.0.layers.0.layer.0.convolution.weight), after any prefix; the number of blocks follows
    /// from the names. A config.json in the folder may say "downsample_in_bottleneck". Close with
    /// wick_resnet_close. NULL on failure: WICK_FORMAT if a tensor is missing or has a wrong shape, and any
    /// failure of opening a file.
    fn wick_resnet_open(path: *const c_char, device: *mut wick_device) -> *mut wick_resnet;
    /// The same with options for the weights' file, which it reads and closes; NULL means all zero. Close with
    /// wick_resnet_close.
    fn wick_resnet_open_with(path: *const c_char, device: *mut wick_device, options: *const wick_archive_options) -> *mut wick_resnet;
    /// Closes and frees a model. NULL is fine.
    fn wick_resnet_close(resnet: *mut wick_resnet);
    /// The number of layers in its name, 50 for ResNet-50, and the number of classes; 0 for NULL.
    fn wick_resnet_depth(resnet: *const wick_resnet) -> c_int;
    /// The number of layers in its name, 50 for ResNet-50, and the number of classes; 0 for NULL.
    fn wick_resnet_classes(resnet: *const wick_resnet) -> i64;
    /// The class scores, before any softmax: images \[N,3,H,W\] f32, normalised as the model was trained;
    /// \[N,classes\].
    fn wick_resnet_forward(resnet: *const wick_resnet, images: *const wick_tensor) -> *mut wick_tensor;
    /// The output of a stage: 0 is the stem with its pooling, 1 to 4 are the groups of blocks; \[N,C,h,w\].
    /// WICK_RANGE for any other stage.
    fn wick_resnet_stage(resnet: *const wick_resnet, images: *const wick_tensor, stage: c_int) -> *mut wick_tensor;
    /// Opens a model folder: config.json of model_type "bert"; weights in model.safetensors, sharded
    /// safetensors or pytorch_model.bin, of any float dtype; a tokenizer (text.h); and, if present,
    /// sentence_bert_config.json and modules.json with the modules Transformer, Pooling (cls, max, mean,
    /// mean_sqrt_len) and Normalize. Without modules.json, vectors are means over the tokens. Weights in f32
    /// stay views of the mapped file on the CPU. NULL on failure: WICK_INVALID, WICK_IO, WICK_RANGE (a limit),
    /// WICK_FORMAT (damaged files, or weights whose shapes contradict config.json), WICK_UNSUPPORTED (another
    /// kind of model, module or setting), WICK_MEMORY, WICK_CLOSED. Close with wick_embedder_close.
    fn wick_embedder_open(folder: *const c_char, device: *mut wick_device) -> *mut wick_embedder;
    /// The same with options; NULL means all zero. Close with wick_embedder_close.
    fn wick_embedder_open_with(folder: *const c_char, device: *mut wick_device, options: *const wick_embedder_options) -> *mut wick_embedder;
    /// The dtype of the layers: f32, or bf16 if `fast` took effect; f32 for NULL.
    fn wick_embedder_dtype(embedder: *const wick_embedder) -> wick_dtype;
    /// Closes and frees an embedder; the device stays open. NULL is fine.
    fn wick_embedder_close(embedder: *mut wick_embedder);
    /// The size of a vector; 0 for NULL.
    fn wick_embedder_dim(embedder: *const wick_embedder) -> i64;
    /// The longest input in tokens, special tokens included; 0 for NULL.
    fn wick_embedder_max_length(embedder: *const wick_embedder) -> i64;
    /// The embedder's tokenizer, which belongs to it; NULL for NULL.
    fn wick_embedder_tokenizer(embedder: *const wick_embedder) -> *const wick_tokenizer;
    /// Embeds n \>= 0 texts of UTF-8: \[n, dim\] f32 on the embedder's device, row i for texts\[i\]. texts\[i\]
    /// has nbytes\[i\] bytes; if nbytes is NULL, each text ends at its NUL. Texts beyond the longest input are
    /// cut. Apart from rounding, a vector does not depend on the other texts. The embedder forms batches of
    /// equal lengths, so pass many texts at once. WICK_INVALID, WICK_MEMORY, WICK_CLOSED.
    fn wick_embedder_encode(embedder: *const wick_embedder, n: i64, texts: *const *const c_char, nbytes: *const usize) -> *mut wick_tensor;
    /// The same for texts given as token ids, special tokens included. Text i has lengths\[i\] ids; the texts
    /// follow one another in `ids`, n_ids in all. WICK_INVALID unless 1 \<= lengths\[i\] \<= the network's
    /// longest input and the lengths add up to n_ids, WICK_RANGE for an id outside the vocabulary.
    fn wick_embedder_encode_ids(embedder: *const wick_embedder, n: i64, lengths: *const i64, n_ids: i64, ids: *const i32) -> *mut wick_tensor;
    /// The network alone, for N texts of L tokens each whose ids are on the embedder's device: ids \[N,L\] i32
    /// \-\> \[N, dim\] f32. It uploads nothing, so a graph (graph.h) can record it. WICK_INVALID unless ids has
    /// that shape and dtype and L is at most the longest input. An id outside the vocabulary is WICK_RANGE, on
    /// a GPU when the result is read.
    fn wick_embedder_forward(embedder: *const wick_embedder, ids: *const wick_tensor) -> *mut wick_tensor;
    /// Describes a model, a GGUF file or a folder, without loading its weights. Fails as wick_lm_open does.
    /// `options` may be NULL.
    fn wick_lm_inspect(path: *const c_char, options: *const wick_lm_options, info: *mut wick_lm_info) -> wick_status;
    /// Tells how much memory a model and its sequences need, and how much there is, from the heads of its
    /// files: no weight is read. `options` and `use` may be NULL; options-\>use is not looked at. Fails as
    /// wick_lm_open and wick_sequence_open do, but not for lack of memory: `missing` says that.
    fn wick_lm_estimate(path: *const c_char, device: *const wick_device, options: *const wick_lm_options, r#use: *const wick_lm_use, memory: *mut wick_lm_memory) -> wick_status;
    /// Opens a model, a GGUF file or a folder. On the CPU, weights stay views of the mapped files; experts that
    /// a folder has in a tensor each are copied into one, which costs memory for them all, and time. `options`
    /// may be NULL. Close with wick_lm_close. NULL on failure: WICK_INVALID, WICK_IO, WICK_RANGE (a limit),
    /// WICK_FORMAT (a damaged file, or one whose keys and tensors contradict one another), WICK_UNSUPPORTED,
    /// naming it (a family, key, tensor or type), WICK_MEMORY (too little for options-\>use, or for the weights
    /// on a GPU or the copied experts: all figures are in the text), WICK_CLOSED.
    fn wick_lm_open(path: *const c_char, device: *mut wick_device, options: *const wick_lm_options) -> *mut wick_lm;
    /// Closes and frees a model, after its sequences; the device stays open. NULL is fine.
    fn wick_lm_close(lm: *mut wick_lm);
    /// Describes an open model. WICK_INVALID for NULL.
    fn wick_lm_describe(lm: *const wick_lm, info: *mut wick_lm_info) -> wick_status;
    /// The model's tokenizer, which belongs to it; NULL for NULL.
    fn wick_lm_tokenizer(lm: *const wick_lm) -> *const wick_tokenizer;
    /// The source of the model's chat template (template.h), which belongs to it; NULL if it has none.
    fn wick_lm_chat_template(lm: *const wick_lm) -> *const c_char;
    /// Writes a conversation to \*text as the model's chat template puts it. `messages` is a JSON array of
    /// `nbytes` bytes: \[{"role": "user", "content": "Hi"}\]. `answer`: the text ends where the model's answer
    /// begins. Encode the text with WICK_ENCODE_PLAIN, because a template writes the model's special tokens
    /// itself. Free it with wick_text_free. Fails as wick_template_render does; WICK_UNSUPPORTED if the model
    /// has no template.
    fn wick_lm_chat(lm: *const wick_lm, messages: *const c_char, nbytes: usize, answer: bool, text: *mut wick_text) -> wick_status;
    /// Whether a text is over after this token: end of text, of turn, of message.
    fn wick_lm_is_end(lm: *const wick_lm, id: i32) -> bool;
    /// Opens an empty sequence. Its memory grows with its tokens, and has room for an eighth more at most.
    /// `options` may be NULL. Close with wick_sequence_close. NULL on failure: WICK_INVALID, WICK_DTYPE
    /// (another cache), WICK_SHAPE (a cache of WICK_DTYPE_q8_0 for heads that are no whole number of blocks of
    /// 32), WICK_RANGE (a context below 0 or above 2^30), WICK_MEMORY.
    fn wick_sequence_open(lm: *const wick_lm, options: *const wick_sequence_options) -> *mut wick_sequence;
    /// Closes and frees a sequence. NULL is fine.
    fn wick_sequence_close(sequence: *mut wick_sequence);
    /// How many tokens it has, and their ids, which belong to it until it changes. 0 and NULL for NULL.
    fn wick_sequence_length(sequence: *const wick_sequence) -> i64;
    /// How many tokens it has, and their ids, which belong to it until it changes. 0 and NULL for NULL.
    fn wick_sequence_ids(sequence: *const wick_sequence) -> *const i32;
    /// Keeps the first n tokens. WICK_RANGE unless 0 \<= n \<= length.
    fn wick_sequence_truncate(sequence: *mut wick_sequence, n: i64) -> wick_status;
    /// Adds n \>= 1 tokens and returns the logits \[1,vocab\] f32 of what follows, on the model's device. A
    /// failure leaves the sequence as it was. NULL on failure: WICK_RANGE (an id that is not a token, or more
    /// tokens than the context; the text has both numbers), WICK_INVALID, WICK_MEMORY, WICK_CLOSED.
    fn wick_sequence_append(sequence: *mut wick_sequence, n: i64, ids: *const i32) -> *mut wick_tensor;
    /// The same, with logits \[n,vocab\] of what follows each of the tokens.
    fn wick_sequence_append_all(sequence: *mut wick_sequence, n: i64, ids: *const i32) -> *mut wick_tensor;
    /// Adds one token to each of n \>= 1 different sequences of one model: ids\[i\] to sequences\[i\]. Weights
    /// are read once for all. -\> logits \[n,vocab\] f32. A failure leaves all as they were.
    fn wick_sequences_step(n: c_int, sequences: *const *mut wick_sequence, ids: *const i32) -> *mut wick_tensor;
    /// Makes the sequence hold the tokens of a prompt, to be continued by wick_generate. It keeps what it has
    /// of them already: the longest common beginning is not computed again. `flags` are those of
    /// wick_tokenizer_encode_with. A failure leaves some beginning of the prompt. WICK_INVALID (NULL, or a
    /// prompt without tokens), WICK_RANGE (more than the context), WICK_MEMORY, WICK_CLOSED.
    fn wick_sequence_prompt(sequence: *mut wick_sequence, text: *const c_char, nbytes: usize, flags: c_uint) -> wick_status;
    /// Writes the sequence's tokens, keys, values and, if they are known, the logits of what follows to a
    /// safetensors file. It replaces a file as the functions for writing in format.h do. WICK_INVALID (NULL, or
    /// a sequence without tokens), WICK_IO, WICK_MEMORY, WICK_CLOSED.
    fn wick_sequence_save(sequence: *const wick_sequence, path: *const c_char) -> wick_status;
    /// Makes the sequence hold what wick_sequence_save wrote, for the same model and the same dtype of the
    /// cache. What the sequence held is lost. A file that is refused leaves the sequence as it was; other
    /// failures may leave it empty. WICK_INVALID (NULL), WICK_IO, WICK_FORMAT (damaged, of another model or of
    /// another dtype of the cache), WICK_RANGE (more tokens than the context), WICK_MEMORY, WICK_CLOSED.
    fn wick_sequence_load(sequence: *mut wick_sequence, path: *const c_char) -> wick_status;
    /// Stops wick_generate on this sequence after the present token, from any thread. A call that has not begun
    /// yet stops at once; each call forgets it at its end. NULL is fine.
    fn wick_sequence_cancel(sequence: *mut wick_sequence);
    /// Continues a sequence that holds a prompt, always with the most likely token (the first among equals).
    /// The tokens become part of the sequence. A shift forgets the older half of the tokens behind the first
    /// `keep`, and computes keys and values of the others anew, which takes as long as a prompt of that length.
    /// `options` and `result` may be NULL. WICK_INVALID (NULL, an empty sequence, or one that was changed by
    /// other calls than wick_sequence_prompt, wick_sequence_load and wick_generate, a `keep` below 0 or not
    /// below the context), WICK_RANGE (the context is full: what was generated stays; or a logit that is NaN),
    /// those of wick_sampler_open, WICK_MEMORY, WICK_CLOSED.
    fn wick_generate(sequence: *mut wick_sequence, options: *const wick_generate_options, result: *mut wick_generate_result) -> wick_status;
    /// Examines the machine and returns a report, as text or as one JSON object: driver nodes and who may open
    /// them, each file tried for a vendor's library and how it failed, relevant environment variables, every
    /// GPU with its memory and the source of its kernels, and findings, each with the command or setting that
    /// fixes it. Opens every GPU once, with a small allocation, a small kernel and the self-check of its BLAS,
    /// which may take seconds. Unless `faults` is NULL, \*faults receives the number of findings that make a
    /// GPU or a library unusable: 0 on a machine without GPUs. NULL with WICK_MEMORY, or with WICK_INVALID for
    /// any other format. Give back with wick_doctor_free.
    fn wick_doctor(format: wick_doctor_format, faults: *mut c_int) -> *mut c_char;
    /// Frees a report. NULL is fine.
    fn wick_doctor_free(report: *mut c_char);
}
