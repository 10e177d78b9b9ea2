// Made by bindings/rust/generate from the list of the API. Change the headers or the generator instead.

use crate::convert::{count_dims, dims_pointer, first, optional, pointers, same_length};
use crate::error::status;
use crate::{ConvOptions, Device, LinearOptions, Number, PoolOptions, Result, Tensor, UpsampleOptions};
use wick_sys as sys;

/// Element types; [`DType::name`] has the usual spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum DType {
    #[allow(missing_docs, non_camel_case_types)]
    U8 = sys::WICK_DTYPE_u8,
    #[allow(missing_docs, non_camel_case_types)]
    U32 = sys::WICK_DTYPE_u32,
    #[allow(missing_docs, non_camel_case_types)]
    I16 = sys::WICK_DTYPE_i16,
    #[allow(missing_docs, non_camel_case_types)]
    I32 = sys::WICK_DTYPE_i32,
    #[allow(missing_docs, non_camel_case_types)]
    I64 = sys::WICK_DTYPE_i64,
    #[allow(missing_docs, non_camel_case_types)]
    BF16 = sys::WICK_DTYPE_bf16,
    #[allow(missing_docs, non_camel_case_types)]
    F16 = sys::WICK_DTYPE_f16,
    #[allow(missing_docs, non_camel_case_types)]
    F32 = sys::WICK_DTYPE_f32,
    #[allow(missing_docs, non_camel_case_types)]
    F64 = sys::WICK_DTYPE_f64,
    #[allow(missing_docs, non_camel_case_types)]
    F8E4M3 = sys::WICK_DTYPE_f8e4m3,
    #[allow(missing_docs, non_camel_case_types)]
    I8 = sys::WICK_DTYPE_i8,
    #[allow(missing_docs, non_camel_case_types)]
    U16 = sys::WICK_DTYPE_u16,
    #[allow(missing_docs, non_camel_case_types)]
    U64 = sys::WICK_DTYPE_u64,
    #[allow(missing_docs, non_camel_case_types)]
    BOOL = sys::WICK_DTYPE_bool,
    #[allow(missing_docs, non_camel_case_types)]
    F8E5M2 = sys::WICK_DTYPE_f8e5m2,
    #[allow(missing_docs, non_camel_case_types)]
    F8E8M0 = sys::WICK_DTYPE_f8e8m0,
    #[allow(missing_docs, non_camel_case_types)]
    F6E2M3 = sys::WICK_DTYPE_f6e2m3,
    #[allow(missing_docs, non_camel_case_types)]
    F6E3M2 = sys::WICK_DTYPE_f6e3m2,
    #[allow(missing_docs, non_camel_case_types)]
    F4 = sys::WICK_DTYPE_f4,
    #[allow(missing_docs, non_camel_case_types)]
    Q4_0 = sys::WICK_DTYPE_q4_0,
    #[allow(missing_docs, non_camel_case_types)]
    Q4_1 = sys::WICK_DTYPE_q4_1,
    #[allow(missing_docs, non_camel_case_types)]
    Q5_0 = sys::WICK_DTYPE_q5_0,
    #[allow(missing_docs, non_camel_case_types)]
    Q5_1 = sys::WICK_DTYPE_q5_1,
    #[allow(missing_docs, non_camel_case_types)]
    Q8_0 = sys::WICK_DTYPE_q8_0,
    #[allow(missing_docs, non_camel_case_types)]
    Q8_1 = sys::WICK_DTYPE_q8_1,
    #[allow(missing_docs, non_camel_case_types)]
    Q2_K = sys::WICK_DTYPE_q2_k,
    #[allow(missing_docs, non_camel_case_types)]
    Q3_K = sys::WICK_DTYPE_q3_k,
    #[allow(missing_docs, non_camel_case_types)]
    Q4_K = sys::WICK_DTYPE_q4_k,
    #[allow(missing_docs, non_camel_case_types)]
    Q5_K = sys::WICK_DTYPE_q5_k,
    #[allow(missing_docs, non_camel_case_types)]
    Q6_K = sys::WICK_DTYPE_q6_k,
    #[allow(missing_docs, non_camel_case_types)]
    Q8_K = sys::WICK_DTYPE_q8_k,
    #[allow(missing_docs, non_camel_case_types)]
    IQ2_XXS = sys::WICK_DTYPE_iq2_xxs,
    #[allow(missing_docs, non_camel_case_types)]
    IQ2_XS = sys::WICK_DTYPE_iq2_xs,
    #[allow(missing_docs, non_camel_case_types)]
    IQ3_XXS = sys::WICK_DTYPE_iq3_xxs,
    #[allow(missing_docs, non_camel_case_types)]
    IQ1_S = sys::WICK_DTYPE_iq1_s,
    #[allow(missing_docs, non_camel_case_types)]
    IQ4_NL = sys::WICK_DTYPE_iq4_nl,
    #[allow(missing_docs, non_camel_case_types)]
    IQ3_S = sys::WICK_DTYPE_iq3_s,
    #[allow(missing_docs, non_camel_case_types)]
    IQ2_S = sys::WICK_DTYPE_iq2_s,
    #[allow(missing_docs, non_camel_case_types)]
    IQ4_XS = sys::WICK_DTYPE_iq4_xs,
    #[allow(missing_docs, non_camel_case_types)]
    IQ1_M = sys::WICK_DTYPE_iq1_m,
    #[allow(missing_docs, non_camel_case_types)]
    TQ1_0 = sys::WICK_DTYPE_tq1_0,
    #[allow(missing_docs, non_camel_case_types)]
    TQ2_0 = sys::WICK_DTYPE_tq2_0,
    #[allow(missing_docs, non_camel_case_types)]
    MXFP4 = sys::WICK_DTYPE_mxfp4,
    #[allow(missing_docs, non_camel_case_types)]
    NVFP4 = sys::WICK_DTYPE_nvfp4,
    #[allow(missing_docs, non_camel_case_types)]
    Q1_0 = sys::WICK_DTYPE_q1_0,
    #[allow(missing_docs, non_camel_case_types)]
    Q2_0 = sys::WICK_DTYPE_q2_0,
}

impl DType {
    pub(crate) const EVERY: &'static [DType] = &[
        DType::U8,
        DType::U32,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::BF16,
        DType::F16,
        DType::F32,
        DType::F64,
        DType::F8E4M3,
        DType::I8,
        DType::U16,
        DType::U64,
        DType::BOOL,
        DType::F8E5M2,
        DType::F8E8M0,
        DType::F6E2M3,
        DType::F6E3M2,
        DType::F4,
        DType::Q4_0,
        DType::Q4_1,
        DType::Q5_0,
        DType::Q5_1,
        DType::Q8_0,
        DType::Q8_1,
        DType::Q2_K,
        DType::Q3_K,
        DType::Q4_K,
        DType::Q5_K,
        DType::Q6_K,
        DType::Q8_K,
        DType::IQ2_XXS,
        DType::IQ2_XS,
        DType::IQ3_XXS,
        DType::IQ1_S,
        DType::IQ4_NL,
        DType::IQ3_S,
        DType::IQ2_S,
        DType::IQ4_XS,
        DType::IQ1_M,
        DType::TQ1_0,
        DType::TQ2_0,
        DType::MXFP4,
        DType::NVFP4,
        DType::Q1_0,
        DType::Q2_0,
    ];
}

/// A function that [`Tensor::linear`] applies to its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum Activation {
    #[allow(missing_docs, non_camel_case_types)]
    None = sys::WICK_ACTIVATION_NONE,
    #[allow(missing_docs, non_camel_case_types)]
    Relu = sys::WICK_ACTIVATION_RELU,
    #[allow(missing_docs, non_camel_case_types)]
    Gelu = sys::WICK_ACTIVATION_GELU,
    #[allow(missing_docs, non_camel_case_types)]
    GeluTanh = sys::WICK_ACTIVATION_GELU_TANH,
    #[allow(missing_docs, non_camel_case_types)]
    Silu = sys::WICK_ACTIVATION_SILU,
    #[allow(missing_docs, non_camel_case_types)]
    Tanh = sys::WICK_ACTIVATION_TANH,
}

/// What [`Tensor::pad`] puts around a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum PadMode {
    #[allow(missing_docs, non_camel_case_types)]
    Constant = sys::WICK_PAD_CONSTANT,
    #[allow(missing_docs, non_camel_case_types)]
    Reflect = sys::WICK_PAD_REFLECT,
    #[allow(missing_docs, non_camel_case_types)]
    Replicate = sys::WICK_PAD_REPLICATE,
    #[allow(missing_docs, non_camel_case_types)]
    Circular = sys::WICK_PAD_CIRCULAR,
}

/// The ops of the table, named as in C without the prefix. Dims count from the end when negative;
/// `None` for dims that are reduced stands for all of them.
impl Tensor {
    /// Elements are undefined.
    pub fn zeros(device: &Device, dtype: DType, shape: &[i64]) -> Result<Tensor> {
        Tensor::made(device, || unsafe { sys::wick_zeros(device.as_ptr(), dtype as sys::wick_dtype, shape.len() as _, shape.as_ptr()) })
    }

    /// Elements are undefined.
    pub fn ones(device: &Device, dtype: DType, shape: &[i64]) -> Result<Tensor> {
        Tensor::made(device, || unsafe { sys::wick_ones(device.as_ptr(), dtype as sys::wick_dtype, shape.len() as _, shape.as_ptr()) })
    }

    /// Every element is `value`, cast to the dtype as `cast` does.
    pub fn full(device: &Device, dtype: DType, shape: &[i64], value: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(device, || unsafe { sys::wick_full(device.as_ptr(), dtype as sys::wick_dtype, shape.len() as _, shape.as_ptr(), value.into().0) })
    }

    /// The device, dtype and shape of x; `Status::Invalid` for None.
    pub fn zeros_like(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_zeros_like(self.as_ptr()) })
    }

    /// The device, dtype and shape of x; `Status::Invalid` for None.
    pub fn ones_like(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_ones_like(self.as_ptr()) })
    }

    /// start, start + step, ... while below end, or above end if step \< 0. \[N\]. Integer dtypes with three
    /// whole numbers use wrapping integer arithmetic; everything else computes start + i step in f64 and casts
    /// it as `cast` does. `Status::Invalid` if step is 0 or a number is not finite.
    pub fn arange(device: &Device, dtype: DType, start: impl Into<Number>, end: impl Into<Number>, step: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(device, || unsafe { sys::wick_arange(device.as_ptr(), dtype as sys::wick_dtype, start.into().0, end.into().0, step.into().0) })
    }

    /// n numbers at equal steps from start to end, both included: \[N\]. Computed in f64 and cast once.
    /// `Status::Invalid` for n \< 0, and for ends that are not finite.
    pub fn linspace(device: &Device, dtype: DType, start: f64, end: f64, n: i64) -> Result<Tensor> {
        Tensor::made(device, || unsafe { sys::wick_linspace(device.as_ptr(), dtype as sys::wick_dtype, start, end, n) })
    }

    /// x in row-major order without gaps; a view of x if it is contiguous already.
    pub fn contiguous(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_contiguous(self.as_ptr()) })
    }

    /// The elements of x in row-major order with another shape. One size may be -1, and follows from the
    /// others. A view if the strides of x allow one, otherwise a contiguous copy. `Status::Shape` if the counts
    /// differ, or if -1 is ambiguous because the other sizes multiply to 0. `Status::Invalid` for two -1 or
    /// another negative size.
    pub fn reshape(&self, shape: &[i64]) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_reshape(self.as_ptr(), shape.len() as _, shape.as_ptr()) })
    }

    /// x without dim `dim` if its size is 1; otherwise x as it is. A scalar, whose dims are 0 and -1, stays as
    /// it is.
    pub fn squeeze(&self, dim: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_squeeze(self.as_ptr(), dim) })
    }

    /// x without all its dims of size 1.
    pub fn squeeze_all(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_squeeze_all(self.as_ptr()) })
    }

    /// x with a new dim of size 1 before dim `dim`, -rank-1 \<= dim \<= rank.
    pub fn unsqueeze(&self, dim: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_unsqueeze(self.as_ptr(), dim) })
    }

    /// Merges dims `from` to `to`, inclusive, into one; a scalar becomes \[1\]. A view if `reshape` gives one.
    /// `Status::Range` if from lies after to.
    pub fn flatten(&self, from: i32, to: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_flatten(self.as_ptr(), from, to) })
    }

    /// Swaps dims a and b. A scalar, whose dims are 0 and -1, stays as it is.
    pub fn transpose(&self, a: i32, b: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_transpose(self.as_ptr(), a, b) })
    }

    /// Swaps the last two dims: the transpose of a matrix, or of a batch of them. `Status::Shape` for rank \<
    /// 2.
    pub fn t(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_t(self.as_ptr()) })
    }

    /// Dim i of the result is dim dims\[i\] of x. `Status::Invalid` unless `dims` names each of the rank dims
    /// once.
    pub fn permute(&self, dims: &[i32]) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_permute(self.as_ptr(), dims.len() as _, dims.as_ptr()) })
    }

    /// Positions start .. start+length-1 of a dim. `Status::Range` unless 0 \<= start \<= start + length \<=
    /// size.
    pub fn narrow(&self, dim: i32, start: i64, length: i64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_narrow(self.as_ptr(), dim, start, length) })
    }

    /// Position `index` of a dim; the result lacks the dim. A negative index counts from the end.
    /// `Status::Range` outside.
    pub fn select(&self, dim: i32, index: i64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_select(self.as_ptr(), dim, index) })
    }

    /// Positions start, start+step, ... below end of a dim, as x\[start:end:step\] in Python: negative bounds
    /// count from the end, and both are then clamped to the dim; INT64_MAX is "to the end". `Status::Invalid`
    /// unless step \>= 1.
    pub fn slice(&self, dim: i32, start: i64, end: i64, step: i64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_slice(self.as_ptr(), dim, start, end, step) })
    }

    /// x repeated along its dims of size 1, and along new dims in front, to a shape that it broadcasts to by
    /// NumPy's rule. `Status::Shape` otherwise.
    pub fn broadcast_to(&self, shape: &[i64]) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_broadcast_to(self.as_ptr(), shape.len() as _, shape.as_ptr()) })
    }

    /// The same, where a size of -1 keeps that of x.
    pub fn expand(&self, shape: &[i64]) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_expand(self.as_ptr(), shape.len() as _, shape.as_ptr()) })
    }

    /// All windows of `size` positions along dim, one every `step`: \[.., N, ..\] -\> \[.., (N - size) / step +
    /// 1, .., size\]. Windows that overlap share elements. A scalar, whose dim is 0 or -1, has one window,
    /// \[size\]. `Status::Range` unless 0 \<= size \<= N, `Status::Invalid` unless step \>= 1.
    pub fn unfold(&self, dim: i32, size: i64, step: i64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_unfold(self.as_ptr(), dim, size, step) })
    }

    /// The elements with position\[b\] - position\[a\] == offset. The result lacks dims a and b; the diagonal
    /// becomes its last dim. \[.., A, .., B, ..\] -\> \[.., L\]. `Status::Invalid` if a and b are one dim.
    pub fn diagonal(&self, offset: i64, a: i32, b: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_diagonal(self.as_ptr(), offset, a, b) })
    }

    /// A view of the buffer of x, whatever the layout of x itself. Element (i, j, ..) is i strides\[0\] + j
    /// strides\[1\] + .. elements after the `offset`-th of the buffer. `strides` has an entry a dim; 0 repeats.
    /// `tensor_strides` and `tensor_offset` return those of x. Strides of dims of size 1, and of views without
    /// elements, do not matter; the result may have others. `Status::Range` if an element would lie outside the
    /// buffer, `Status::Invalid` for a negative stride or offset.
    pub fn as_strided(&self, shape: &[i64], strides: &[i64], offset: i64) -> Result<Tensor> {
        same_length(shape.len(), strides.len())?;
        Tensor::made(&self.device, || unsafe { sys::wick_as_strided(self.as_ptr(), shape.len() as _, shape.as_ptr(), strides.as_ptr(), offset) })
    }

    /// Joins n \>= 1 tensors of one dtype along dim. `Status::Shape` unless their other dims agree.
    pub fn cat(tensors: &[&Tensor], dim: i32) -> Result<Tensor> {
        Tensor::made(&first(tensors)?.device, || unsafe { sys::wick_cat(tensors.len() as _, pointers(tensors).as_ptr(), dim) })
    }

    /// Joins n \>= 1 tensors of one shape and dtype along a new dim of size n before dim `dim`, -rank-1 \<= dim
    /// \<= rank.
    pub fn stack(tensors: &[&Tensor], dim: i32) -> Result<Tensor> {
        Tensor::made(&first(tensors)?.device, || unsafe { sys::wick_stack(tensors.len() as _, pointers(tensors).as_ptr(), dim) })
    }

    /// x repeated repeats\[d\] \>= 0 times along dim d. If `rank` exceeds that of x, x gets new dims in front
    /// first.
    pub fn repeat(&self, repeats: &[i64]) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_repeat(self.as_ptr(), repeats.len() as _, repeats.as_ptr()) })
    }

    /// x reversed along n dims. `Status::Invalid` if a dim appears twice.
    pub fn flip(&self, dims: &[i32]) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_flip(self.as_ptr(), dims.len() as _, dims.as_ptr()) })
    }

    /// Position i of dim goes to (i + shift) mod size; shift may be negative.
    pub fn roll(&self, shift: i64, dim: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_roll(self.as_ptr(), shift, dim) })
    }

    /// The same along dims\[i\] by shifts\[i\], for n dims one after the other; a copy of x for none.
    pub fn roll_dims(&self, shifts: &[i64], dims: &[i32]) -> Result<Tensor> {
        same_length(shifts.len(), dims.len())?;
        Tensor::made(&self.device, || unsafe { sys::wick_roll_dims(self.as_ptr(), shifts.len() as _, shifts.as_ptr(), dims.as_ptr()) })
    }

    /// Writes source into positions start .. start+n-1 of dim of `target`, where n is the size of source along
    /// dim. Other dims must agree. `Status::Range` if source does not fit, `Status::Invalid` if the two share a
    /// buffer or target is a broadcast view.
    ///
    /// # Safety
    /// No other thread may read or write these elements during the call, be it through another view of them.
    pub unsafe fn slice_set_inplace(&self, source: &Tensor, dim: i32, start: i64) -> Result<()> {
        status(|| unsafe { sys::wick_slice_set_inplace(self.as_ptr(), source.as_ptr(), dim, start) })
    }

    /// The same on a copy of x.
    pub fn slice_scatter(&self, source: &Tensor, dim: i32, start: i64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_slice_scatter(self.as_ptr(), source.as_ptr(), dim, start) })
    }

    /// The lower or upper triangle of matrices \[.., M, N\], 0 elsewhere: element (i, j) stays when j \<= i +
    /// k, or when j \>= i + k. `Status::Shape` for rank \< 2.
    pub fn tril(&self, k: i64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_tril(self.as_ptr(), k) })
    }

    /// The lower or upper triangle of matrices \[.., M, N\], 0 elsewhere: element (i, j) stays when j \<= i +
    /// k, or when j \>= i + k. `Status::Shape` for rank \< 2.
    pub fn triu(&self, k: i64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_triu(self.as_ptr(), k) })
    }

    /// 1 on the diagonal, 0 elsewhere. \[rows, columns\], of one of the ten compute dtypes.
    pub fn eye(device: &Device, dtype: DType, rows: i64, columns: i64) -> Result<Tensor> {
        Tensor::made(device, || unsafe { sys::wick_eye(device.as_ptr(), dtype as sys::wick_dtype, rows, columns) })
    }

    /// The sum; 0 of nothing. u8 sums wrap in u8: cast first where that is too narrow.
    pub fn sum(&self, dims: Option<&[i32]>, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_sum(self.as_ptr(), count_dims(dims), dims_pointer(dims), keepdim) })
    }

    /// The product; 1 of nothing. Of floats it is right where it is in range, even if products on the way are
    /// not.
    pub fn prod(&self, dims: Option<&[i32]>, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_prod(self.as_ptr(), count_dims(dims), dims_pointer(dims), keepdim) })
    }

    /// The smallest and the largest element; NaN if there is one. `Status::Shape` for nothing.
    pub fn min(&self, dims: Option<&[i32]>, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_min(self.as_ptr(), count_dims(dims), dims_pointer(dims), keepdim) })
    }

    /// The smallest and the largest element; NaN if there is one. `Status::Shape` for nothing.
    pub fn max(&self, dims: Option<&[i32]>, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_max(self.as_ptr(), count_dims(dims), dims_pointer(dims), keepdim) })
    }

    /// Whether an element is not zero; 0 of nothing. NaN is not zero.
    pub fn any(&self, dims: Option<&[i32]>, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_any(self.as_ptr(), count_dims(dims), dims_pointer(dims), keepdim) })
    }

    /// Whether all elements are not zero; 1 of nothing.
    pub fn all(&self, dims: Option<&[i32]>, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_all(self.as_ptr(), count_dims(dims), dims_pointer(dims), keepdim) })
    }

    /// The index of the smallest and of the largest element: the first among equals, or the first NaN if there
    /// is one. Over several dims it counts in row-major order. `Status::Shape` for nothing, `Status::Overflow`
    /// for 2^32 - 1 elements or more.
    pub fn argmin(&self, dims: Option<&[i32]>, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_argmin(self.as_ptr(), count_dims(dims), dims_pointer(dims), keepdim) })
    }

    /// The index of the smallest and of the largest element: the first among equals, or the first NaN if there
    /// is one. Over several dims it counts in row-major order. `Status::Shape` for nothing, `Status::Overflow`
    /// for 2^32 - 1 elements or more.
    pub fn argmax(&self, dims: Option<&[i32]>, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_argmax(self.as_ptr(), count_dims(dims), dims_pointer(dims), keepdim) })
    }

    /// sum(x) / n; NaN of nothing.
    pub fn mean(&self, dims: Option<&[i32]>, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_mean(self.as_ptr(), count_dims(dims), dims_pointer(dims), keepdim) })
    }

    /// sum((x - mean)^2) / (n - correction), and its square root. A correction of 1 makes the variance
    /// unbiased; 0 gives the variance of the elements themselves. NaN of nothing. NaN or infinite if n \<=
    /// correction, because the divisor is max(0, n - correction). The sum is over deviations, not over squares
    /// of the elements, so nothing cancels.
    pub fn var(&self, correction: f64, dims: Option<&[i32]>, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_var(self.as_ptr(), correction, count_dims(dims), dims_pointer(dims), keepdim) })
    }

    /// sum((x - mean)^2) / (n - correction), and its square root. A correction of 1 makes the variance
    /// unbiased; 0 gives the variance of the elements themselves. NaN of nothing. NaN or infinite if n \<=
    /// correction, because the divisor is max(0, n - correction). The sum is over deviations, not over squares
    /// of the elements, so nothing cancels.
    pub fn std(&self, correction: f64, dims: Option<&[i32]>, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_std(self.as_ptr(), correction, count_dims(dims), dims_pointer(dims), keepdim) })
    }

    /// The p-norm sum(|x|^p)^(1/p), right wherever it is in range, even if powers are not. p = INFINITY gives
    /// max |x|, -INFINITY min |x|, and 0 the number of nonzero elements. 0 of nothing, but `Status::Shape` if p
    /// \< 0. `Status::Invalid` if p is NaN.
    pub fn norm(&self, p: f64, dims: Option<&[i32]>, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_norm(self.as_ptr(), p, count_dims(dims), dims_pointer(dims), keepdim) })
    }

    /// log(sum(exp(x))) without overflow; -infinity of nothing.
    pub fn log_sum_exp(&self, dims: Option<&[i32]>, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_log_sum_exp(self.as_ptr(), count_dims(dims), dims_pointer(dims), keepdim) })
    }

    /// What lies at place p = q (N - 1) of `sort`, between elements a and b: a + (p - floor p) (b - a),
    /// computed in f64 and rounded once. NaN if there is one. Floats. `Status::Invalid` unless 0 \<= q \<= 1.
    /// `Status::Shape` if the dim has size 0.
    pub fn quantile(&self, q: f64, dim: i32, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_quantile(self.as_ptr(), q, dim, keepdim) })
    }

    /// The sum and the mean of the elements, each cast to `dtype` first as `cast` does: a sum of u8 in i64 does
    /// not wrap. `Status::Dtype` unless it is a compute dtype; for mean_in, a float.
    pub fn sum_in(&self, dtype: DType, dims: Option<&[i32]>, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_sum_in(self.as_ptr(), dtype as sys::wick_dtype, count_dims(dims), dims_pointer(dims), keepdim) })
    }

    /// The sum and the mean of the elements, each cast to `dtype` first as `cast` does: a sum of u8 in i64 does
    /// not wrap. `Status::Dtype` unless it is a compute dtype; for mean_in, a float.
    pub fn mean_in(&self, dtype: DType, dims: Option<&[i32]>, keepdim: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_mean_in(self.as_ptr(), dtype as sys::wick_dtype, count_dims(dims), dims_pointer(dims), keepdim) })
    }

    /// y\[i\] = x\[0\] + ... + x\[i\], and the products, in O(n). Floats accumulate in f64 and round each
    /// element once; integers wrap around.
    pub fn cumsum(&self, dim: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_cumsum(self.as_ptr(), dim) })
    }

    /// y\[i\] = x\[0\] + ... + x\[i\], and the products, in O(n). Floats accumulate in f64 and round each
    /// element once; integers wrap around.
    pub fn cumprod(&self, dim: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_cumprod(self.as_ptr(), dim) })
    }

    /// log(exp(x\[0\]) + ... + exp(x\[i\])) without overflow, in f64 and rounded once. Floats. O(n).
    pub fn logcumsumexp(&self, dim: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_logcumsumexp(self.as_ptr(), dim) })
    }

    /// The indices alone, u32.
    pub fn argsort(&self, dim: i32, descending: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_argsort(self.as_ptr(), dim, descending) })
    }

    /// exp(x - max) / sum(exp(x - max)) along dim. x \[...,N,...\] -\> \[...,N,...\]. A scalar has one dim, 0
    /// or -1, of one element.
    pub fn softmax(&self, dim: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_softmax(self.as_ptr(), dim) })
    }

    /// Its logarithm, x - max - log(sum(exp(x - max))).
    pub fn log_softmax(&self, dim: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_log_softmax(self.as_ptr(), dim) })
    }

    /// (x - mean) / sqrt(var + epsilon) \* weight + bias, mean and (biased) var over the last `axes` \>= 1
    /// dims, of which weight and bias have the shape: x \[...,A,B\], axes 2, weight \[A,B\], bias \[A,B\].
    pub fn layer_norm(&self, axes: i32, weight: Option<&Tensor>, bias: Option<&Tensor>, epsilon: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_layer_norm(self.as_ptr(), axes, optional(weight), optional(bias), epsilon) })
    }

    /// x / sqrt(mean(x^2) + epsilon) \* weight over the last dim: x \[...,N\], weight \[N\].
    pub fn rms_norm(&self, weight: Option<&Tensor>, epsilon: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_rms_norm(self.as_ptr(), optional(weight), epsilon) })
    }

    /// As `layer_norm` for each of `groups` groups of C / groups channels: x \[N,C,...\], weight \[C\], bias
    /// \[C\]. With groups = C it is instance norm. `Status::Shape` unless groups divides C.
    pub fn group_norm(&self, groups: i64, weight: Option<&Tensor>, bias: Option<&Tensor>, epsilon: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_group_norm(self.as_ptr(), groups, optional(weight), optional(bias), epsilon) })
    }

    /// Each pair of elements (a, b) of the last dim becomes (a cos - b sin, a sin + b cos). Pairs are (i, i +
    /// D/2), or (2i, 2i + 1) if `interleaved`. x \[B,H,T,D\]; cosine and sine \[T,D/2\], or \[B,T,D/2\] for one
    /// table a batch.
    pub fn rope(&self, cosine: &Tensor, sine: &Tensor, interleaved: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_rope(self.as_ptr(), cosine.as_ptr(), sine.as_ptr(), interleaved) })
    }

    /// The same for x \[B,T,H,D\].
    pub fn rope_thd(&self, cosine: &Tensor, sine: &Tensor, interleaved: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_rope_thd(self.as_ptr(), cosine.as_ptr(), sine.as_ptr(), interleaved) })
    }

    /// tanh(input + hidden), or its positive part with `relu`: \[N,H\].
    pub fn rnn_cell(&self, hidden: &Tensor, relu: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_rnn_cell(self.as_ptr(), hidden.as_ptr(), relu) })
    }

    /// The gradient of input, which is that of hidden: d (1 - result^2), or d where result \> 0 with `relu`.
    /// `next` may be None.
    pub fn rnn_cell_backward(&self, next: Option<&Tensor>, result: &Tensor, relu: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_rnn_cell_backward(self.as_ptr(), optional(next), result.as_ptr(), relu) })
    }

    /// The matrix product, as torch.matmul: lhs \[...,m,k\] x rhs \[...,k,n\] -\> \[...,m,n\], batch dims
    /// broadcast by NumPy's rule. A lhs of rank 1 is a row, \[k\] x \[...,k,n\] -\> \[...,n\]; a rhs of rank 1
    /// a column, \[...,m,k\] x \[k\] -\> \[...,m\]; both give a scalar. All ten dtypes. k == 0 gives zeros. Any
    /// strides. `Status::Shape` unless the inner sizes are equal, the ranks are at least 1, and the batch dims
    /// broadcast.
    pub fn matmul(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_matmul(self.as_ptr(), rhs.as_ptr()) })
    }

    /// The sum of products of two vectors, \[n\] x \[n\] -\> \[\].
    pub fn dot(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_dot(self.as_ptr(), rhs.as_ptr()) })
    }

    /// A matrix times a vector, \[m,n\] x \[n\] -\> \[m\].
    pub fn mv(&self, vector: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_mv(self.as_ptr(), vector.as_ptr()) })
    }

    /// All products of the elements of two vectors, \[m\] x \[n\] -\> \[m,n\].
    pub fn outer(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_outer(self.as_ptr(), rhs.as_ptr()) })
    }

    /// beta input + alpha lhs rhs: lhs \[m,k\] x rhs \[k,n\], or \[b,m,k\] x \[b,k,n\] for baddbmm. Input
    /// broadcasts to the shape of the product; for beta 0 nothing of it is read. Floats. The product is rounded
    /// to the dtype before it is scaled. `Status::Shape` for other ranks, or sizes that do not agree.
    pub fn addmm(&self, lhs: &Tensor, rhs: &Tensor, beta: f64, alpha: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_addmm(self.as_ptr(), lhs.as_ptr(), rhs.as_ptr(), beta, alpha) })
    }

    /// beta input + alpha lhs rhs: lhs \[m,k\] x rhs \[k,n\], or \[b,m,k\] x \[b,k,n\] for baddbmm. Input
    /// broadcasts to the shape of the product; for beta 0 nothing of it is read. Floats. The product is rounded
    /// to the dtype before it is scaled. `Status::Shape` for other ranks, or sizes that do not agree.
    pub fn baddbmm(&self, lhs: &Tensor, rhs: &Tensor, beta: f64, alpha: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_baddbmm(self.as_ptr(), lhs.as_ptr(), rhs.as_ptr(), beta, alpha) })
    }

    /// A layer of weights, activation(x weight^T + bias): x \[...,in\], weight \[out,in\], bias \[out\] or None
    /// \-\> \[...,out\]. Float dtypes. The result is rounded after bias and activation. `Status::Invalid` for an
    /// activation outside the enum.
    pub fn linear(&self, weight: &Tensor, bias: Option<&Tensor>, activation: Activation) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_linear(self.as_ptr(), weight.as_ptr(), optional(bias), activation as sys::wick_activation) })
    }

    /// `linear` with options, which may be None. Weights may have a dtype of blocks; x and bias are then f32,
    /// f16 or bf16, sums are f32, and results are rounded once. Weights of bf16 or f16 may have x and bias of
    /// f32. With products of 8 bits, 32 activations of which one is infinite or NaN give NaN. The same weights
    /// and activations give the same bits on any number of threads. `Status::Invalid` for an activation or
    /// products outside their enums, and for an epsilon of a norm that is not \>= 0. `linear` is the same with
    /// exact products.
    pub fn linear_with(&self, weight: &Tensor, bias: Option<&Tensor>, options: &LinearOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_linear_with(self.as_ptr(), weight.as_ptr(), optional(bias), &options.0) })
    }

    /// A mixture of experts: out\[t,u\] = activation(x\[t,u\] weight\[e\]^T + bias\[e\]) with e = ids\[t,u\]. x
    /// \[T,U,K\], or \[T,1,K\] where all U experts of t take the same row; weight \[E,N,K\] of x's dtype or of
    /// blocks, ids \[T,U\] of integers, bias \[E,N\] or None -\> \[T,U,N\]. Every expert multiplies its rows at
    /// once, as `linear_with` does with `options`. The ids are read to the host: this waits for what they come
    /// from, and is nothing for a graph, `Status::Invalid`. `Status::Range` for an id that is none of 0 .. E-1;
    /// `Status::Shape` unless sizes agree.
    pub fn linear_experts(&self, weight: &Tensor, ids: &Tensor, bias: Option<&Tensor>, options: &LinearOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_linear_experts(self.as_ptr(), weight.as_ptr(), ids.as_ptr(), optional(bias), &options.0) })
    }

    /// out\[.., k, ..\] = x\[.., ids\[k\], ..\] along dim, ids \[K\]. dtypes: any, and quantised ones, whose
    /// last dim can't be picked from: `Status::Unsupported`. `Status::Shape` unless ids has rank 1.
    pub fn index_select(&self, dim: i32, ids: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_index_select(self.as_ptr(), dim, ids.as_ptr()) })
    }

    /// Rows of weight \[V, D\]: ids of any shape S -\> \[S.., D\], of the same dtype. dtypes: any, and
    /// quantised ones.
    pub fn embedding(&self, ids: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_embedding(self.as_ptr(), ids.as_ptr()) })
    }

    /// out\[p\] = x\[p with p\[dim\] = ids\[p\]\], in the shape of ids. dtypes: any. `Status::Shape` unless ids
    /// has the rank of x and, in every other dim, at most the size of x.
    pub fn gather(&self, dim: i32, ids: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_gather(self.as_ptr(), dim, ids.as_ptr()) })
    }

    /// A copy of x with out\[p with p\[dim\] = ids\[p\]\] = source\[p\] for every p of ids. dtypes: any.
    /// `Status::Shape` unless source has the shape of ids, and ids has the rank of x and, in every other dim,
    /// at most the size of x.
    pub fn scatter(&self, dim: i32, ids: &Tensor, source: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_scatter(self.as_ptr(), dim, ids.as_ptr(), source.as_ptr()) })
    }

    /// The same with += in place of =. dtypes: compute.
    pub fn scatter_add(&self, dim: i32, ids: &Tensor, source: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_scatter_add(self.as_ptr(), dim, ids.as_ptr(), source.as_ptr()) })
    }

    /// The same with the product, the largest, the smallest and the mean of all sources that ids give to an
    /// element, and, with `include_self`, of the element of x. Elements without a source stay. Products, like
    /// sums, multiply in the order of ids; integers wrap around. NaN is the largest and the smallest where
    /// there is one. The mean sums in f32 (f64 for f64) and is rounded once; it is for floats alone. x has rank
    /// 1 or more. dtypes: compute.
    pub fn scatter_prod(&self, dim: i32, ids: &Tensor, source: &Tensor, include_self: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_scatter_prod(self.as_ptr(), dim, ids.as_ptr(), source.as_ptr(), include_self) })
    }

    /// The same with the product, the largest, the smallest and the mean of all sources that ids give to an
    /// element, and, with `include_self`, of the element of x. Elements without a source stay. Products, like
    /// sums, multiply in the order of ids; integers wrap around. NaN is the largest and the smallest where
    /// there is one. The mean sums in f32 (f64 for f64) and is rounded once; it is for floats alone. x has rank
    /// 1 or more. dtypes: compute.
    pub fn scatter_amax(&self, dim: i32, ids: &Tensor, source: &Tensor, include_self: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_scatter_amax(self.as_ptr(), dim, ids.as_ptr(), source.as_ptr(), include_self) })
    }

    /// The same with the product, the largest, the smallest and the mean of all sources that ids give to an
    /// element, and, with `include_self`, of the element of x. Elements without a source stay. Products, like
    /// sums, multiply in the order of ids; integers wrap around. NaN is the largest and the smallest where
    /// there is one. The mean sums in f32 (f64 for f64) and is rounded once; it is for floats alone. x has rank
    /// 1 or more. dtypes: compute.
    pub fn scatter_amin(&self, dim: i32, ids: &Tensor, source: &Tensor, include_self: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_scatter_amin(self.as_ptr(), dim, ids.as_ptr(), source.as_ptr(), include_self) })
    }

    /// The same with the product, the largest, the smallest and the mean of all sources that ids give to an
    /// element, and, with `include_self`, of the element of x. Elements without a source stay. Products, like
    /// sums, multiply in the order of ids; integers wrap around. NaN is the largest and the smallest where
    /// there is one. The mean sums in f32 (f64 for f64) and is rounded once; it is for floats alone. x has rank
    /// 1 or more. dtypes: compute.
    pub fn scatter_mean(&self, dim: i32, ids: &Tensor, source: &Tensor, include_self: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_scatter_mean(self.as_ptr(), dim, ids.as_ptr(), source.as_ptr(), include_self) })
    }

    /// scatter and scatter_add on `target` itself. `Status::Invalid` if target shares a buffer with ids or
    /// source, or is a broadcast view. A failure leaves target as it was.
    ///
    /// # Safety
    /// No other thread may read or write these elements during the call, be it through another view of them.
    pub unsafe fn scatter_inplace(&self, dim: i32, ids: &Tensor, source: &Tensor) -> Result<()> {
        status(|| unsafe { sys::wick_scatter_inplace(self.as_ptr(), dim, ids.as_ptr(), source.as_ptr()) })
    }

    /// scatter and scatter_add on `target` itself. `Status::Invalid` if target shares a buffer with ids or
    /// source, or is a broadcast view. A failure leaves target as it was.
    ///
    /// # Safety
    /// No other thread may read or write these elements during the call, be it through another view of them.
    pub unsafe fn scatter_add_inplace(&self, dim: i32, ids: &Tensor, source: &Tensor) -> Result<()> {
        status(|| unsafe { sys::wick_scatter_add_inplace(self.as_ptr(), dim, ids.as_ptr(), source.as_ptr()) })
    }

    /// A copy of x with out\[.., ids\[k\], ..\] += source\[.., k, ..\] along dim. ids \[K\]; source has the
    /// shape of x, but size K along dim: `Status::Shape` otherwise. dtypes: compute.
    pub fn index_add(&self, dim: i32, ids: &Tensor, source: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_index_add(self.as_ptr(), dim, ids.as_ptr(), source.as_ptr()) })
    }

    /// x where mask is 0, `value` cast to x's dtype elsewhere. mask is u8. dtypes: compute. `Status::Shape`
    /// unless mask broadcasts to the shape of x.
    pub fn masked_fill(&self, mask: Option<&Tensor>, value: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_masked_fill(self.as_ptr(), optional(mask), value.into().0) })
    }

    /// out\[p, ..\] = x\[ids\[0\]\[p\], .., ids\[n-1\]\[p\], ..\]: \[S.., R..\]. dtypes: any.
    pub fn index(&self, ids: &[&Tensor]) -> Result<Tensor> {
        Tensor::made(&first(ids)?.device, || unsafe { sys::wick_index(self.as_ptr(), ids.len() as _, pointers(ids).as_ptr()) })
    }

    /// A copy of x with out\[ids\[0\]\[p\], .., ids\[n-1\]\[p\], ..\] = values\[p, ..\], or += with
    /// `accumulate`. Values broadcast to \[S.., R..\]: `Status::Shape` otherwise. dtypes: compute.
    pub fn index_put(&self, ids: &[&Tensor], values: &Tensor, accumulate: bool) -> Result<Tensor> {
        Tensor::made(&first(ids)?.device, || unsafe { sys::wick_index_put(self.as_ptr(), ids.len() as _, pointers(ids).as_ptr(), values.as_ptr(), accumulate) })
    }

    /// A copy of x with out\[.., ids\[k\], ..\] = source\[.., k, ..\] along dim. ids \[K\]; source has the
    /// shape of x, but size K along dim: `Status::Shape` otherwise. dtypes: any.
    pub fn index_copy(&self, dim: i32, ids: &Tensor, source: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_index_copy(self.as_ptr(), dim, ids.as_ptr(), source.as_ptr()) })
    }

    /// The indices of the elements that are not 0, in row-major order: \[count, rank\], i64. dtypes: compute.
    pub fn nonzero(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_nonzero(self.as_ptr()) })
    }

    /// The elements of x where mask is not 0, in row-major order: \[count\]. x and mask broadcast to one shape,
    /// mask is u8. dtypes: any. `Status::Shape` when they do not broadcast.
    pub fn masked_select(&self, mask: Option<&Tensor>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_masked_select(self.as_ptr(), optional(mask)) })
    }

    /// How many elements of x \[N\], integers, are 0, 1, 2 ..: \[max(largest + 1, least)\], i64. With weights
    /// \[N\], which may be None, the sums of these, in their dtype. `Status::Range` for an element below 0,
    /// `Status::Shape` for other shapes, `Status::Invalid` for least \< 0.
    pub fn bincount(&self, weights: Option<&Tensor>, least: i64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_bincount(self.as_ptr(), optional(weights), least) })
    }

    /// x with position i along dim repeated repeats\[i\] times. repeats are integers, \[size of dim\], or a
    /// scalar for all. dtypes: any. `Status::Shape` for other repeats, `Status::Invalid` for one below 0.
    pub fn repeat_interleave(&self, repeats: &Tensor, dim: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_repeat_interleave(self.as_ptr(), repeats.as_ptr(), dim) })
    }

    /// For each value v how many elements of a sequence, in ascending order along its last dim, are \< v, or
    /// with `right` \<= v: i64, in the shape of values. NaN is above all others. The sequence has rank 1, or
    /// the shape of values but for the last dim: `Status::Shape` otherwise. O(m log n) for m values. In a
    /// sequence of another order the numbers mean nothing. dtypes: compute.
    pub fn searchsorted(&self, values: &Tensor, right: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_searchsorted(self.as_ptr(), values.as_ptr(), right) })
    }

    /// ids of any shape S -\> \[S.., classes\] of a compute dtype: 1 at the id, 0 elsewhere. `Status::Invalid`
    /// for classes \< 0.
    pub fn one_hot(&self, classes: i64, dtype: DType) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_one_hot(self.as_ptr(), classes, dtype as sys::wick_dtype) })
    }

    /// Evenly spread over low \<= x \< high; rounding to the dtype may give high itself unless low is 0 and
    /// high is 1. Floats. `Status::Invalid` unless low \<= high, both finite.
    pub fn uniform(device: &Device, dtype: DType, shape: &[i64], low: f64, high: f64) -> Result<Tensor> {
        Tensor::made(device, || unsafe { sys::wick_uniform(device.as_ptr(), dtype as sys::wick_dtype, shape.len() as _, shape.as_ptr(), low, high) })
    }

    /// Normally distributed. Floats. `Status::Invalid` unless mean and deviation are finite, deviation \>= 0.
    pub fn normal(device: &Device, dtype: DType, shape: &[i64], mean: f64, deviation: f64) -> Result<Tensor> {
        Tensor::made(device, || unsafe { sys::wick_normal(device.as_ptr(), dtype as sys::wick_dtype, shape.len() as _, shape.as_ptr(), mean, deviation) })
    }

    /// 1 with probability p, 0 otherwise. Compute dtypes. `Status::Invalid` unless 0 \<= p \<= 1.
    pub fn bernoulli(device: &Device, dtype: DType, shape: &[i64], p: f64) -> Result<Tensor> {
        Tensor::made(device, || unsafe { sys::wick_bernoulli(device.as_ptr(), dtype as sys::wick_dtype, shape.len() as _, shape.as_ptr(), p) })
    }

    /// Integers low \<= x \< high. u8, u32, i16, i32, i64. `Status::Invalid` unless low \< high and all results
    /// fit the dtype.
    pub fn randint(device: &Device, dtype: DType, shape: &[i64], low: i64, high: i64) -> Result<Tensor> {
        Tensor::made(device, || unsafe { sys::wick_randint(device.as_ptr(), dtype as sys::wick_dtype, shape.len() as _, shape.as_ptr(), low, high) })
    }

    /// The numbers 0 .. n-1 in random order, \[N\]. u8, u32, i16, i32, i64. `Status::Invalid` when n - 1 does
    /// not fit the dtype.
    pub fn permutation(device: &Device, dtype: DType, n: i64) -> Result<Tensor> {
        Tensor::made(device, || unsafe { sys::wick_permutation(device.as_ptr(), dtype as sys::wick_dtype, n) })
    }

    /// n indices 0 .. K-1 into weights \[K\] or \[N,K\], floats, drawn with probabilities in proportion to the
    /// weights: i64, \[n\] or \[N,n\]. Without `replacement` no index comes twice in a row of n. An index is
    /// 2^63 - 1, the sentinel of index.h, where a row has no more weights above 0 to draw without replacement,
    /// and in rows with weights that are negative, infinite or NaN, or all 0. With replacement, weights below
    /// 2^-s of the largest, s = 52 - ceil(log2(K)), count as 0. `Status::Invalid` for n \< 0, for n \> K
    /// without replacement, and for K \> 2^24; `Status::Shape` for K = 0 and for other ranks.
    pub fn multinomial(&self, n: i64, replacement: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_multinomial(self.as_ptr(), n, replacement) })
    }

    /// `uniform` and `normal` with the device, dtype and shape of x.
    pub fn uniform_like(&self, low: f64, high: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_uniform_like(self.as_ptr(), low, high) })
    }

    /// `uniform` and `normal` with the device, dtype and shape of x.
    pub fn normal_like(&self, mean: f64, deviation: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_normal_like(self.as_ptr(), mean, deviation) })
    }

    /// Each element 0 with probability p, or else divided by 1 - p, so that the mean stays: for training.
    /// Floats. `Status::Invalid` unless 0 \<= p \<= 1.
    pub fn dropout(&self, p: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_dropout(self.as_ptr(), p) })
    }

    /// Cross-correlation, as PyTorch's conv1d, conv2d, conv3d: x \[N,Cin,spatial...\], weight
    /// \[Cout,Cin/groups,kernel...\], bias \[Cout\] or None, result \[N,Cout,out...\] with out = floor((in + 2
    /// padding - dilation (kernel - 1) - 1) / stride) + 1. `Status::Shape`: ranks, weight channels !=
    /// Cin/groups, groups that do not divide Cin or Cout, a bias that is not \[Cout\], a kernel larger than the
    /// padded input. `Status::Dtype`: unequal dtypes.
    pub fn conv1d(&self, weight: &Tensor, bias: Option<&Tensor>, options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv1d(self.as_ptr(), weight.as_ptr(), optional(bias), &options.0) })
    }

    /// Cross-correlation, as PyTorch's conv1d, conv2d, conv3d: x \[N,Cin,spatial...\], weight
    /// \[Cout,Cin/groups,kernel...\], bias \[Cout\] or None, result \[N,Cout,out...\] with out = floor((in + 2
    /// padding - dilation (kernel - 1) - 1) / stride) + 1. `Status::Shape`: ranks, weight channels !=
    /// Cin/groups, groups that do not divide Cin or Cout, a bias that is not \[Cout\], a kernel larger than the
    /// padded input. `Status::Dtype`: unequal dtypes.
    pub fn conv2d(&self, weight: &Tensor, bias: Option<&Tensor>, options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv2d(self.as_ptr(), weight.as_ptr(), optional(bias), &options.0) })
    }

    /// Cross-correlation, as PyTorch's conv1d, conv2d, conv3d: x \[N,Cin,spatial...\], weight
    /// \[Cout,Cin/groups,kernel...\], bias \[Cout\] or None, result \[N,Cout,out...\] with out = floor((in + 2
    /// padding - dilation (kernel - 1) - 1) / stride) + 1. `Status::Shape`: ranks, weight channels !=
    /// Cin/groups, groups that do not divide Cin or Cout, a bias that is not \[Cout\], a kernel larger than the
    /// padded input. `Status::Dtype`: unequal dtypes.
    pub fn conv3d(&self, weight: &Tensor, bias: Option<&Tensor>, options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv3d(self.as_ptr(), weight.as_ptr(), optional(bias), &options.0) })
    }

    /// The transposes, as PyTorch's conv_transpose1d, ..2d, ..3d: x \[N,Cin,spatial...\], weight
    /// \[Cin,Cout/groups,kernel...\], bias \[Cout\] or None, result \[N,Cout,out...\] with out = (in - 1)
    /// stride - 2 padding + dilation (kernel - 1) + output_padding + 1. `Status::Shape` as above, and when out
    /// \< 1.
    pub fn conv_transpose1d(&self, weight: &Tensor, bias: Option<&Tensor>, options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv_transpose1d(self.as_ptr(), weight.as_ptr(), optional(bias), &options.0) })
    }

    /// The transposes, as PyTorch's conv_transpose1d, ..2d, ..3d: x \[N,Cin,spatial...\], weight
    /// \[Cin,Cout/groups,kernel...\], bias \[Cout\] or None, result \[N,Cout,out...\] with out = (in - 1)
    /// stride - 2 padding + dilation (kernel - 1) + output_padding + 1. `Status::Shape` as above, and when out
    /// \< 1.
    pub fn conv_transpose2d(&self, weight: &Tensor, bias: Option<&Tensor>, options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv_transpose2d(self.as_ptr(), weight.as_ptr(), optional(bias), &options.0) })
    }

    /// The transposes, as PyTorch's conv_transpose1d, ..2d, ..3d: x \[N,Cin,spatial...\], weight
    /// \[Cin,Cout/groups,kernel...\], bias \[Cout\] or None, result \[N,Cout,out...\] with out = (in - 1)
    /// stride - 2 padding + dilation (kernel - 1) + output_padding + 1. `Status::Shape` as above, and when out
    /// \< 1.
    pub fn conv_transpose3d(&self, weight: &Tensor, bias: Option<&Tensor>, options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv_transpose3d(self.as_ptr(), weight.as_ptr(), optional(bias), &options.0) })
    }

    /// The largest element of each window: x \[N,C,spatial...\], kernel one size a spatial dim, result
    /// \[N,C,out...\] with out = floor or ceil((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1.
    /// Padding never wins; NaN always does. A dilated window that lies wholly in the padding gives the dtype's
    /// lowest value.
    pub fn max_pool1d(&self, kernel: &[i64], options: &PoolOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_max_pool1d(self.as_ptr(), kernel.len() as _, kernel.as_ptr(), &options.0) })
    }

    /// The largest element of each window: x \[N,C,spatial...\], kernel one size a spatial dim, result
    /// \[N,C,out...\] with out = floor or ceil((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1.
    /// Padding never wins; NaN always does. A dilated window that lies wholly in the padding gives the dtype's
    /// lowest value.
    pub fn max_pool2d(&self, kernel: &[i64], options: &PoolOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_max_pool2d(self.as_ptr(), kernel.len() as _, kernel.as_ptr(), &options.0) })
    }

    /// The largest element of each window: x \[N,C,spatial...\], kernel one size a spatial dim, result
    /// \[N,C,out...\] with out = floor or ceil((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1.
    /// Padding never wins; NaN always does. A dilated window that lies wholly in the padding gives the dtype's
    /// lowest value.
    pub fn max_pool3d(&self, kernel: &[i64], options: &PoolOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_max_pool3d(self.as_ptr(), kernel.len() as _, kernel.as_ptr(), &options.0) })
    }

    /// The mean of each window; shapes as above. Integers give the exact mean truncated toward zero. As in
    /// PyTorch's avg_pool, the divisor counts padding (but not what ceil_mode alone reaches), unless
    /// exclude_padding or divisor say otherwise.
    pub fn avg_pool1d(&self, kernel: &[i64], options: &PoolOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_avg_pool1d(self.as_ptr(), kernel.len() as _, kernel.as_ptr(), &options.0) })
    }

    /// The mean of each window; shapes as above. Integers give the exact mean truncated toward zero. As in
    /// PyTorch's avg_pool, the divisor counts padding (but not what ceil_mode alone reaches), unless
    /// exclude_padding or divisor say otherwise.
    pub fn avg_pool2d(&self, kernel: &[i64], options: &PoolOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_avg_pool2d(self.as_ptr(), kernel.len() as _, kernel.as_ptr(), &options.0) })
    }

    /// The mean of each window; shapes as above. Integers give the exact mean truncated toward zero. As in
    /// PyTorch's avg_pool, the divisor counts padding (but not what ceil_mode alone reaches), unless
    /// exclude_padding or divisor say otherwise.
    pub fn avg_pool3d(&self, kernel: &[i64], options: &PoolOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_avg_pool3d(self.as_ptr(), kernel.len() as _, kernel.as_ptr(), &options.0) })
    }

    /// Pooling to a result of the given spatial sizes \>= 0: window o of n over a dim of size `in` is floor(o
    /// in / n) .. ceil((o + 1) in / n) - 1. Size 1 in every dim pools globally.
    pub fn adaptive_max_pool1d(&self, size: &[i64]) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_adaptive_max_pool1d(self.as_ptr(), size.len() as _, size.as_ptr()) })
    }

    /// Pooling to a result of the given spatial sizes \>= 0: window o of n over a dim of size `in` is floor(o
    /// in / n) .. ceil((o + 1) in / n) - 1. Size 1 in every dim pools globally.
    pub fn adaptive_max_pool2d(&self, size: &[i64]) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_adaptive_max_pool2d(self.as_ptr(), size.len() as _, size.as_ptr()) })
    }

    /// Pooling to a result of the given spatial sizes \>= 0: window o of n over a dim of size `in` is floor(o
    /// in / n) .. ceil((o + 1) in / n) - 1. Size 1 in every dim pools globally.
    pub fn adaptive_max_pool3d(&self, size: &[i64]) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_adaptive_max_pool3d(self.as_ptr(), size.len() as _, size.as_ptr()) })
    }

    /// Adaptive max pooling of x \[N,C,size...\] over n = 1, 2 or 3 spatial dims that gives positions too:
    /// \*indices receives those of `pool_options`, and is released like the result.
    pub fn adaptive_avg_pool1d(&self, size: &[i64]) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_adaptive_avg_pool1d(self.as_ptr(), size.len() as _, size.as_ptr()) })
    }

    /// Adaptive max pooling of x \[N,C,size...\] over n = 1, 2 or 3 spatial dims that gives positions too:
    /// \*indices receives those of `pool_options`, and is released like the result.
    pub fn adaptive_avg_pool2d(&self, size: &[i64]) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_adaptive_avg_pool2d(self.as_ptr(), size.len() as _, size.as_ptr()) })
    }

    /// Adaptive max pooling of x \[N,C,size...\] over n = 1, 2 or 3 spatial dims that gives positions too:
    /// \*indices receives those of `pool_options`, and is released like the result.
    pub fn adaptive_avg_pool3d(&self, size: &[i64]) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_adaptive_avg_pool3d(self.as_ptr(), size.len() as _, size.as_ptr()) })
    }

    /// Undoes max pooling: x \[N,C,in...\], indices of its shape, u32, as max pooling gives them, result
    /// \[N,C,size...\] over n = 1, 2 or 3 spatial dims: 0, with each element of x where its index says. Of
    /// elements with one index the last stays; 2^32 - 1 is skipped; `Status::Range` for others outside the
    /// plane. PyTorch's size, unless told another, is (in - 1) stride - 2 padding + kernel.
    pub fn max_unpool(&self, indices: &Tensor, size: &[i64]) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_max_unpool(self.as_ptr(), indices.as_ptr(), size.len() as _, size.as_ptr()) })
    }

    /// (sum of x^p)^(1/p) of each window, as PyTorch's lp_pool1d to lp_pool3d: x \[N,C,spatial...\] of n = 1, 2
    /// or 3 spatial dims, floats, p finite and not 0. A window that ceil_mode cuts counts as often as a whole
    /// one has elements for its own, and padding, which PyTorch has none of, counts as 0. x^p keeps its sign,
    /// so that an odd p can make NaN. `Status::Invalid`: dilation, exclude_padding, divisor and indices.
    /// Computed in f32 (f64 for f64), powers included.
    pub fn lp_pool(&self, p: f64, kernel: &[i64], options: &PoolOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_lp_pool(self.as_ptr(), p, kernel.len() as _, kernel.as_ptr(), &options.0) })
    }

    /// The windows of x \[N,C,spatial...\] as columns, PyTorch's unfold: \[N, C K, L\] for K elements of a
    /// kernel and L windows, n = 1, 2 or 3 spatial dims. Row c K + k has element k of the windows over channel
    /// c, windows and elements in row-major order. Of the options stride, padding and dilation count;
    /// output_padding, groups above 1 and relu are `Status::Invalid`. `Status::Shape` for a kernel larger than
    /// the padded input.
    pub fn im2col(&self, kernel: &[i64], options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_im2col(self.as_ptr(), kernel.len() as _, kernel.as_ptr(), &options.0) })
    }

    /// Its transpose, PyTorch's fold: columns \[N, C K, L\] -\> \[N,C,size...\], each element the sum, in f64,
    /// of those that `im2col` makes of it. Each is the gradient of the other. Floats. `Status::Shape` unless
    /// `im2col` makes such columns of that size.
    pub fn col2im(&self, size: &[i64], kernel: &[i64], options: &ConvOptions) -> Result<Tensor> {
        same_length(size.len(), kernel.len())?;
        Tensor::made(&self.device, || unsafe { sys::wick_col2im(self.as_ptr(), size.len() as _, size.as_ptr(), kernel.as_ptr(), &options.0) })
    }

    /// Nearest neighbour: x \[N,C,spatial...\], result \[N,C,size...\]. Element i of a dim comes from floor(i
    /// in / out), exactly, or with a scale from min(in - 1, floor(i / scale)), with the quotient rounded to
    /// f64. Without sizes, `0, None`, every scale must be given. `Status::Shape` if a size is \< 1 or an input
    /// dim is empty.
    pub fn upsample_nearest1d(&self, size: &[i64], options: &UpsampleOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_upsample_nearest1d(self.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// Nearest neighbour: x \[N,C,spatial...\], result \[N,C,size...\]. Element i of a dim comes from floor(i
    /// in / out), exactly, or with a scale from min(in - 1, floor(i / scale)), with the quotient rounded to
    /// f64. Without sizes, `0, None`, every scale must be given. `Status::Shape` if a size is \< 1 or an input
    /// dim is empty.
    pub fn upsample_nearest2d(&self, size: &[i64], options: &UpsampleOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_upsample_nearest2d(self.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// Nearest neighbour: x \[N,C,spatial...\], result \[N,C,size...\]. Element i of a dim comes from floor(i
    /// in / out), exactly, or with a scale from min(in - 1, floor(i / scale)), with the quotient rounded to
    /// f64. Without sizes, `0, None`, every scale must be given. `Status::Shape` if a size is \< 1 or an input
    /// dim is empty.
    pub fn upsample_nearest3d(&self, size: &[i64], options: &UpsampleOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_upsample_nearest3d(self.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// Linear interpolation in 1, 2 and 3 dims; arguments as above. Element i lies at max(0, (i + 0.5) in / out
    /// \- 0.5), with a scale at max(0, (i + 0.5) / scale - 0.5), with align_corners at i (in - 1) / (out - 1),
    /// between the position's floor and the next element. Positions that follow from sizes are exact, others
    /// f64; weights are rounded to f64. Integers are computed in f64 and rounded to nearest, halves to even.
    pub fn upsample_linear1d(&self, size: &[i64], options: &UpsampleOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_upsample_linear1d(self.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// Linear interpolation in 1, 2 and 3 dims; arguments as above. Element i lies at max(0, (i + 0.5) in / out
    /// \- 0.5), with a scale at max(0, (i + 0.5) / scale - 0.5), with align_corners at i (in - 1) / (out - 1),
    /// between the position's floor and the next element. Positions that follow from sizes are exact, others
    /// f64; weights are rounded to f64. Integers are computed in f64 and rounded to nearest, halves to even.
    pub fn upsample_bilinear2d(&self, size: &[i64], options: &UpsampleOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_upsample_bilinear2d(self.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// Linear interpolation in 1, 2 and 3 dims; arguments as above. Element i lies at max(0, (i + 0.5) in / out
    /// \- 0.5), with a scale at max(0, (i + 0.5) / scale - 0.5), with align_corners at i (in - 1) / (out - 1),
    /// between the position's floor and the next element. Positions that follow from sizes are exact, others
    /// f64; weights are rounded to f64. Integers are computed in f64 and rounded to nearest, halves to even.
    pub fn upsample_trilinear3d(&self, size: &[i64], options: &UpsampleOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_upsample_trilinear3d(self.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// Nearest neighbour, with the elements' centres compared, in n = 1, 2 or 3 dims; n 0 for sizes from
    /// scales. Element i comes from floor((i + 0.5) in / out), exactly, or with a scale from min(in - 1,
    /// floor((i + 0.5) / scale)).
    pub fn upsample_nearest_exact(&self, size: &[i64], options: &UpsampleOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_upsample_nearest_exact(self.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// Cubic convolution in 2 dims; arguments as above, floats. Element i lies where linear interpolation has
    /// it, negative positions included. It is the sum of the four elements around it in each dim, at the edge
    /// the edge element again, with weights (a + 2) t^3 - (a + 3) t^2 + 1 at distances t \< 1 and a t^3 - 5 a
    /// t^2 + 8 a t - 4 a at 1 \<= t \< 2, where a is -0.75. Weights are rounded to f64, sums are f32 (f64 for
    /// f64). PyTorch's mode "area" is `adaptive_avg_pool2d`.
    pub fn upsample_bicubic2d(&self, size: &[i64], options: &UpsampleOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_upsample_bicubic2d(self.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// \[...,C r r,H,W\] to \[...,C,H r,W r\]: out\[c\]\[h r + i\]\[w r + j\] = x\[c r r + i r + j\]\[h\]\[w\].
    /// r \>= 1 divides; rank \>= 3.
    pub fn pixel_shuffle(&self, r: i64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_pixel_shuffle(self.as_ptr(), r) })
    }

    /// The inverse: \[...,C,H r,W r\] to \[...,C r r,H,W\].
    pub fn pixel_unshuffle(&self, r: i64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_pixel_unshuffle(self.as_ptr(), r) })
    }

    /// x with before\[d\] elements in front of and after\[d\] elements behind dim d; negative numbers take
    /// elements away. n is the rank of x. `Status::Shape` if a reflection is not less than its dim, for
    /// replication or repetition of an empty dim, and if more is taken away than there is.
    pub fn pad(&self, before: &[i64], after: &[i64], mode: PadMode, value: impl Into<Number>) -> Result<Tensor> {
        same_length(before.len(), after.len())?;
        Tensor::made(&self.device, || unsafe { sys::wick_pad(self.as_ptr(), before.len() as _, before.as_ptr(), after.as_ptr(), mode as sys::wick_pad_mode, value.into().0) })
    }

    /// One dim padded with zeros, and with its edge elements.
    pub fn pad_with_zeros(&self, dim: i32, before: i64, after: i64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_pad_with_zeros(self.as_ptr(), dim, before, after) })
    }

    /// One dim padded with zeros, and with its edge elements.
    pub fn pad_with_same(&self, dim: i32, before: i64, after: i64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_pad_with_same(self.as_ptr(), dim, before, after) })
    }

    /// Floats.
    pub fn exp(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_exp(self.as_ptr()) })
    }

    /// Floats.
    pub fn exp2(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_exp2(self.as_ptr()) })
    }

    /// e^x - 1 and log(1 + x), precise near 0.
    pub fn expm1(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_expm1(self.as_ptr()) })
    }

    /// e^x - 1 and log(1 + x), precise near 0.
    pub fn log1p(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_log1p(self.as_ptr()) })
    }

    /// Logarithms: -inf for 0, NaN below.
    pub fn log(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_log(self.as_ptr()) })
    }

    /// Logarithms: -inf for 0, NaN below.
    pub fn log2(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_log2(self.as_ptr()) })
    }

    /// Logarithms: -inf for 0, NaN below.
    pub fn log10(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_log10(self.as_ptr()) })
    }

    /// Logarithms: -inf for 0, NaN below.
    pub fn sin(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_sin(self.as_ptr()) })
    }

    /// Logarithms: -inf for 0, NaN below.
    pub fn cos(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_cos(self.as_ptr()) })
    }

    /// Logarithms: -inf for 0, NaN below.
    pub fn tan(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_tan(self.as_ptr()) })
    }

    /// Logarithms: -inf for 0, NaN below.
    pub fn tanh(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_tanh(self.as_ptr()) })
    }

    /// Angles in radians: asin and atan from -pi/2 to pi/2, acos from 0 to pi. asin and acos are NaN beyond -1
    /// .. 1.
    pub fn asin(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_asin(self.as_ptr()) })
    }

    /// Angles in radians: asin and atan from -pi/2 to pi/2, acos from 0 to pi. asin and acos are NaN beyond -1
    /// .. 1.
    pub fn acos(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_acos(self.as_ptr()) })
    }

    /// Angles in radians: asin and atan from -pi/2 to pi/2, acos from 0 to pi. asin and acos are NaN beyond -1
    /// .. 1.
    pub fn atan(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_atan(self.as_ptr()) })
    }

    /// Hyperbolic functions and their inverses: acosh is NaN below 1, atanh beyond -1 .. 1.
    pub fn sinh(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_sinh(self.as_ptr()) })
    }

    /// Hyperbolic functions and their inverses: acosh is NaN below 1, atanh beyond -1 .. 1.
    pub fn cosh(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_cosh(self.as_ptr()) })
    }

    /// Hyperbolic functions and their inverses: acosh is NaN below 1, atanh beyond -1 .. 1.
    pub fn asinh(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_asinh(self.as_ptr()) })
    }

    /// Hyperbolic functions and their inverses: acosh is NaN below 1, atanh beyond -1 .. 1.
    pub fn acosh(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_acosh(self.as_ptr()) })
    }

    /// Hyperbolic functions and their inverses: acosh is NaN below 1, atanh beyond -1 .. 1.
    pub fn atanh(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_atanh(self.as_ptr()) })
    }

    /// 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x.
    pub fn erf(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_erf(self.as_ptr()) })
    }

    /// 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x.
    pub fn sqrt(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_sqrt(self.as_ptr()) })
    }

    /// 1 - erf(x), precise for large x; and the inverse of erf, infinite for -1 and 1, NaN beyond.
    pub fn erfc(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_erfc(self.as_ptr()) })
    }

    /// 1 - erf(x), precise for large x; and the inverse of erf, infinite for -1 and 1, NaN beyond.
    pub fn erfinv(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_erfinv(self.as_ptr()) })
    }

    /// The logarithm of |gamma(x)|: infinite for 0 and negative whole numbers.
    pub fn lgamma(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_lgamma(self.as_ptr()) })
    }

    /// 1/sqrt(x) and 1/x.
    pub fn rsqrt(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_rsqrt(self.as_ptr()) })
    }

    /// 1/sqrt(x) and 1/x.
    pub fn recip(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_recip(self.as_ptr()) })
    }

    /// All. Negated integers wrap: 256 - x for u8. The absolute value of the least integer is itself.
    pub fn abs(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_abs(self.as_ptr()) })
    }

    /// All. Negated integers wrap: 256 - x for u8. The absolute value of the least integer is itself.
    pub fn neg(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_neg(self.as_ptr()) })
    }

    /// All. Negated integers wrap: 256 - x for u8. The absolute value of the least integer is itself.
    pub fn sqr(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_sqr(self.as_ptr()) })
    }

    /// \-1, 0 or 1; 0 for NaN.
    pub fn sign(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_sign(self.as_ptr()) })
    }

    /// Round to whole numbers: down, up, to nearest with ties to even, to nearest with ties away from 0 as C's
    /// round, towards 0. Integers stay as they are.
    pub fn floor(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_floor(self.as_ptr()) })
    }

    /// Round to whole numbers: down, up, to nearest with ties to even, to nearest with ties away from 0 as C's
    /// round, towards 0. Integers stay as they are.
    pub fn ceil(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_ceil(self.as_ptr()) })
    }

    /// Round to whole numbers: down, up, to nearest with ties to even, to nearest with ties away from 0 as C's
    /// round, towards 0. Integers stay as they are.
    pub fn round(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_round(self.as_ptr()) })
    }

    /// Round to whole numbers: down, up, to nearest with ties to even, to nearest with ties away from 0 as C's
    /// round, towards 0. Integers stay as they are.
    pub fn round_ties_away(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_round_ties_away(self.as_ptr()) })
    }

    /// Round to whole numbers: down, up, to nearest with ties to even, to nearest with ties away from 0 as C's
    /// round, towards 0. Integers stay as they are.
    pub fn trunc(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_trunc(self.as_ptr()) })
    }

    /// max(x, 0), its square, and min(max(x, 0), 6).
    pub fn relu(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_relu(self.as_ptr()) })
    }

    /// max(x, 0), its square, and min(max(x, 0), 6).
    pub fn relu2(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_relu2(self.as_ptr()) })
    }

    /// max(x, 0), its square, and min(max(x, 0), 6).
    pub fn relu6(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_relu6(self.as_ptr()) })
    }

    /// x (1 + erf(x / sqrt 2)) / 2.
    pub fn gelu(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_gelu(self.as_ptr()) })
    }

    /// x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2.
    pub fn gelu_tanh(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_gelu_tanh(self.as_ptr()) })
    }

    /// 1 / (1 + e^-x), and x times it.
    pub fn sigmoid(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_sigmoid(self.as_ptr()) })
    }

    /// 1 / (1 + e^-x), and x times it.
    pub fn silu(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_silu(self.as_ptr()) })
    }

    /// log(1 + e^x), and x tanh(log(1 + e^x)).
    pub fn softplus(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_softplus(self.as_ptr()) })
    }

    /// log(1 + e^x), and x tanh(log(1 + e^x)).
    pub fn mish(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_mish(self.as_ptr()) })
    }

    /// relu6(x + 3) / 6, and x times it.
    pub fn hard_sigmoid(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_hard_sigmoid(self.as_ptr()) })
    }

    /// relu6(x + 3) / 6, and x times it.
    pub fn hard_swish(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_hard_swish(self.as_ptr()) })
    }

    /// 1.0507.. x for x \> 0, 1.0507.. 1.6732.. (e^x - 1) otherwise.
    pub fn selu(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_selu(self.as_ptr()) })
    }

    /// x for x \> 0, alpha (e^x - 1) otherwise.
    pub fn elu(&self, alpha: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_elu(self.as_ptr(), alpha) })
    }

    /// x for x \> 0, alpha (e^(x / alpha) - 1) otherwise. `Status::Invalid` for alpha 0.
    pub fn celu(&self, alpha: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_celu(self.as_ptr(), alpha) })
    }

    /// x / (1 + |x|), x - tanh(x), and the logarithm of the sigmoid.
    pub fn softsign(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_softsign(self.as_ptr()) })
    }

    /// x / (1 + |x|), x - tanh(x), and the logarithm of the sigmoid.
    pub fn tanhshrink(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_tanhshrink(self.as_ptr()) })
    }

    /// x / (1 + |x|), x - tanh(x), and the logarithm of the sigmoid.
    pub fn log_sigmoid(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_log_sigmoid(self.as_ptr()) })
    }

    /// min(max(x, low), high).
    pub fn hardtanh(&self, low: f64, high: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_hardtanh(self.as_ptr(), low, high) })
    }

    /// log(1 + e^(beta x)) / beta; x where beta x \> threshold, PyTorch's default is 20. `Status::Invalid` for
    /// beta 0.
    pub fn softplus_beta(&self, beta: f64, threshold: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_softplus_beta(self.as_ptr(), beta, threshold) })
    }

    /// x for x \>= 0, slope x otherwise.
    pub fn leaky_relu(&self, slope: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_leaky_relu(self.as_ptr(), slope) })
    }

    /// x for x \> 0, weight x otherwise. `weight` has one element, or one for each position of dim 1 of x: x
    /// \[N,C,..\], weight \[C\]; for a vector x \[C\], one for each element. `Status::Shape` otherwise.
    pub fn prelu(&self, weight: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_prelu(self.as_ptr(), weight.as_ptr()) })
    }

    /// silu(a) b, where a and b are the halves of x along its last dim. \[..,2N\] -\> \[..,N\]. `Status::Shape`
    /// for rank 0 or an odd size.
    pub fn swiglu(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_swiglu(self.as_ptr()) })
    }

    /// a sigmoid(b), where a and b are the halves of x along dim. \[..,2N,..\] -\> \[..,N,..\]. `Status::Shape`
    /// for an odd size.
    pub fn glu(&self, dim: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_glu(self.as_ptr(), dim) })
    }

    /// x mul + add. All. Integers use wrapping integer arithmetic if both numbers are whole, even if a real one
    /// exceeds 64 bits. Otherwise they compute in f64 and cast back as `cast` does.
    pub fn affine(&self, mul: impl Into<Number>, add: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_affine(self.as_ptr(), mul.into().0, add.into().0) })
    }

    /// x + value and so on. All. For integers, a real number is first cast to i64 as `cast` does, and results
    /// wrap. Integer division truncates towards 0; dividing by 0 is `Status::Divide`.
    pub fn add_scalar(&self, value: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_add_scalar(self.as_ptr(), value.into().0) })
    }

    /// x + value and so on. All. For integers, a real number is first cast to i64 as `cast` does, and results
    /// wrap. Integer division truncates towards 0; dividing by 0 is `Status::Divide`.
    pub fn sub_scalar(&self, value: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_sub_scalar(self.as_ptr(), value.into().0) })
    }

    /// x + value and so on. All. For integers, a real number is first cast to i64 as `cast` does, and results
    /// wrap. Integer division truncates towards 0; dividing by 0 is `Status::Divide`.
    pub fn mul_scalar(&self, value: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_mul_scalar(self.as_ptr(), value.into().0) })
    }

    /// x + value and so on. All. For integers, a real number is first cast to i64 as `cast` does, and results
    /// wrap. Integer division truncates towards 0; dividing by 0 is `Status::Divide`.
    pub fn div_scalar(&self, value: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_div_scalar(self.as_ptr(), value.into().0) })
    }

    /// x^exponent. Floats.
    pub fn powf(&self, exponent: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_powf(self.as_ptr(), exponent) })
    }

    /// min(max(x, low), high). All. Bounds may be infinite; `Status::Invalid` for NaN. For integers, the bounds
    /// are the least integer that is not below low and the greatest that is not above high, within the dtype's
    /// range. So bounds of 0.2 and 0.8, with no integer between them, give 0.
    pub fn clamp(&self, low: impl Into<Number>, high: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_clamp(self.as_ptr(), low.into().0, high.into().0) })
    }

    /// max(x, value) and min(x, value): `clamp` with one bound.
    pub fn maximum_scalar(&self, value: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_maximum_scalar(self.as_ptr(), value.into().0) })
    }

    /// max(x, value) and min(x, value): `clamp` with one bound.
    pub fn minimum_scalar(&self, value: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_minimum_scalar(self.as_ptr(), value.into().0) })
    }

    /// All. Integer quotients truncate towards 0; dividing an integer by 0 is `Status::Divide`.
    pub fn add(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_add(self.as_ptr(), rhs.as_ptr()) })
    }

    /// All. Integer quotients truncate towards 0; dividing an integer by 0 is `Status::Divide`.
    pub fn sub(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_sub(self.as_ptr(), rhs.as_ptr()) })
    }

    /// All. Integer quotients truncate towards 0; dividing an integer by 0 is `Status::Divide`.
    pub fn mul(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_mul(self.as_ptr(), rhs.as_ptr()) })
    }

    /// All. Integer quotients truncate towards 0; dividing an integer by 0 is `Status::Divide`.
    pub fn div(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_div(self.as_ptr(), rhs.as_ptr()) })
    }

    /// All. NaN where either is NaN.
    pub fn maximum(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_maximum(self.as_ptr(), rhs.as_ptr()) })
    }

    /// All. NaN where either is NaN.
    pub fn minimum(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_minimum(self.as_ptr(), rhs.as_ptr()) })
    }

    /// lhs^rhs. All. Integers wrap. To a negative power, 1 gives 1, -1 gives 1 or -1, and everything else 0.
    pub fn pow(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_pow(self.as_ptr(), rhs.as_ptr()) })
    }

    /// lhs - rhs floor(lhs / rhs), with the sign of rhs. All. NaN for a float divisor 0, `Status::Divide` for
    /// an integer one.
    pub fn remainder(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_remainder(self.as_ptr(), rhs.as_ptr()) })
    }

    /// lhs - rhs trunc(lhs / rhs), with the sign of lhs: C's fmod. All. Divisors of 0 as in `remainder`.
    pub fn fmod(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_fmod(self.as_ptr(), rhs.as_ptr()) })
    }

    /// lhs / rhs rounded to a whole number: down, as Python's //, and towards 0. All. floor_divide rounds the
    /// exact quotient down, trunc_divide the quotient that is rounded to the dtype (f32 for smaller floats). A
    /// float divisor 0 gives what `div` gives, an integer one `Status::Divide`. floor_divide of an infinity is
    /// NaN.
    pub fn floor_divide(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_floor_divide(self.as_ptr(), rhs.as_ptr()) })
    }

    /// lhs / rhs rounded to a whole number: down, as Python's //, and towards 0. All. floor_divide rounds the
    /// exact quotient down, trunc_divide the quotient that is rounded to the dtype (f32 for smaller floats). A
    /// float divisor 0 gives what `div` gives, an integer one `Status::Divide`. floor_divide of an infinity is
    /// NaN.
    pub fn trunc_divide(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_trunc_divide(self.as_ptr(), rhs.as_ptr()) })
    }

    /// The angle of the point (rhs, lhs), from -pi to pi. Floats.
    pub fn atan2(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_atan2(self.as_ptr(), rhs.as_ptr()) })
    }

    /// Integers. A count below 0, or not below the dtype's bits, shifts all bits out: the result is 0, or -1
    /// for a negative number shifted right. Right shifts of signed integers repeat the sign.
    pub fn bitwise_and(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_bitwise_and(self.as_ptr(), rhs.as_ptr()) })
    }

    /// Integers. A count below 0, or not below the dtype's bits, shifts all bits out: the result is 0, or -1
    /// for a negative number shifted right. Right shifts of signed integers repeat the sign.
    pub fn bitwise_or(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_bitwise_or(self.as_ptr(), rhs.as_ptr()) })
    }

    /// Integers. A count below 0, or not below the dtype's bits, shifts all bits out: the result is 0, or -1
    /// for a negative number shifted right. Right shifts of signed integers repeat the sign.
    pub fn bitwise_xor(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_bitwise_xor(self.as_ptr(), rhs.as_ptr()) })
    }

    /// Integers. A count below 0, or not below the dtype's bits, shifts all bits out: the result is 0, or -1
    /// for a negative number shifted right. Right shifts of signed integers repeat the sign.
    pub fn bitwise_not(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_bitwise_not(self.as_ptr()) })
    }

    /// Integers. A count below 0, or not below the dtype's bits, shifts all bits out: the result is 0, or -1
    /// for a negative number shifted right. Right shifts of signed integers repeat the sign.
    pub fn shift_left(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_shift_left(self.as_ptr(), rhs.as_ptr()) })
    }

    /// Integers. A count below 0, or not below the dtype's bits, shifts all bits out: the result is 0, or -1
    /// for a negative number shifted right. Right shifts of signed integers repeat the sign.
    pub fn shift_right(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_shift_right(self.as_ptr(), rhs.as_ptr()) })
    }

    /// All, two tensors of one dtype, which broadcast. NaN is unequal to everything, and neither less nor
    /// greater than anything.
    pub fn eq(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_eq(self.as_ptr(), rhs.as_ptr()) })
    }

    /// All, two tensors of one dtype, which broadcast. NaN is unequal to everything, and neither less nor
    /// greater than anything.
    pub fn ne(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_ne(self.as_ptr(), rhs.as_ptr()) })
    }

    /// All, two tensors of one dtype, which broadcast. NaN is unequal to everything, and neither less nor
    /// greater than anything.
    pub fn lt(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_lt(self.as_ptr(), rhs.as_ptr()) })
    }

    /// All, two tensors of one dtype, which broadcast. NaN is unequal to everything, and neither less nor
    /// greater than anything.
    pub fn le(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_le(self.as_ptr(), rhs.as_ptr()) })
    }

    /// All, two tensors of one dtype, which broadcast. NaN is unequal to everything, and neither less nor
    /// greater than anything.
    pub fn gt(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_gt(self.as_ptr(), rhs.as_ptr()) })
    }

    /// All, two tensors of one dtype, which broadcast. NaN is unequal to everything, and neither less nor
    /// greater than anything.
    pub fn ge(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_ge(self.as_ptr(), rhs.as_ptr()) })
    }

    /// Whether both, one or both, and one alone are not 0. NaN is not 0. All, two tensors of one dtype, which
    /// broadcast.
    pub fn logical_and(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_logical_and(self.as_ptr(), rhs.as_ptr()) })
    }

    /// Whether both, one or both, and one alone are not 0. NaN is not 0. All, two tensors of one dtype, which
    /// broadcast.
    pub fn logical_or(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_logical_or(self.as_ptr(), rhs.as_ptr()) })
    }

    /// Whether both, one or both, and one alone are not 0. NaN is not 0. All, two tensors of one dtype, which
    /// broadcast.
    pub fn logical_xor(&self, rhs: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_logical_xor(self.as_ptr(), rhs.as_ptr()) })
    }

    /// Comparisons with a number, which is not rounded to the dtype first: exact for every number and every
    /// element. So 0.1 is equal to no f32, and 3e9 is greater than every i32.
    pub fn eq_scalar(&self, value: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_eq_scalar(self.as_ptr(), value.into().0) })
    }

    /// Comparisons with a number, which is not rounded to the dtype first: exact for every number and every
    /// element. So 0.1 is equal to no f32, and 3e9 is greater than every i32.
    pub fn ne_scalar(&self, value: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_ne_scalar(self.as_ptr(), value.into().0) })
    }

    /// Comparisons with a number, which is not rounded to the dtype first: exact for every number and every
    /// element. So 0.1 is equal to no f32, and 3e9 is greater than every i32.
    pub fn lt_scalar(&self, value: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_lt_scalar(self.as_ptr(), value.into().0) })
    }

    /// Comparisons with a number, which is not rounded to the dtype first: exact for every number and every
    /// element. So 0.1 is equal to no f32, and 3e9 is greater than every i32.
    pub fn le_scalar(&self, value: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_le_scalar(self.as_ptr(), value.into().0) })
    }

    /// Comparisons with a number, which is not rounded to the dtype first: exact for every number and every
    /// element. So 0.1 is equal to no f32, and 3e9 is greater than every i32.
    pub fn gt_scalar(&self, value: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_gt_scalar(self.as_ptr(), value.into().0) })
    }

    /// Comparisons with a number, which is not rounded to the dtype first: exact for every number and every
    /// element. So 0.1 is equal to no f32, and 3e9 is greater than every i32.
    pub fn ge_scalar(&self, value: impl Into<Number>) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_ge_scalar(self.as_ptr(), value.into().0) })
    }

    /// x == 0. All.
    pub fn logical_not(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_logical_not(self.as_ptr()) })
    }

    /// Floats.
    pub fn isnan(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_isnan(self.as_ptr()) })
    }

    /// Floats.
    pub fn isinf(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_isinf(self.as_ptr()) })
    }

    /// Floats.
    pub fn isfinite(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_isfinite(self.as_ptr()) })
    }

    /// x with `nan`, `above` and `below` in place of NaN, +infinity and -infinity. Floats.
    pub fn nan_to_num(&self, nan: f64, above: f64, below: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_nan_to_num(self.as_ptr(), nan, above, below) })
    }

    /// start + weight (end - start), end - (1 - weight) (end - start) for |weight| \>= 0.5. Floats, of one
    /// dtype.
    pub fn lerp(&self, end: &Tensor, weight: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_lerp(self.as_ptr(), end.as_ptr(), weight.as_ptr()) })
    }

    /// |lhs - rhs| \<= absolute + relative |rhs|, computed in f64, as u8. Equal infinities are close; NaNs with
    /// `equal_nan`. All, of one dtype. `Status::Invalid` unless both tolerances are \>= 0.
    pub fn isclose(&self, rhs: &Tensor, relative: f64, absolute: f64, equal_nan: bool) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_isclose(self.as_ptr(), rhs.as_ptr(), relative, absolute, equal_nan) })
    }

    /// a where the condition is not 0, b where it is. a and b: all, of one dtype; condition: integers. All
    /// three broadcast.
    pub fn where_(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_where(self.as_ptr(), a.as_ptr(), b.as_ptr()) })
    }

    /// x in another dtype; a view of x if it has that dtype already. Between all, and bool, i8, u16, u64 and
    /// f8e5m2. float to float to nearest even, rounded once; f8e4m3 saturates at +-448, infinities too; NaN
    /// stays NaN float to integer towards 0, saturating; NaN gives 0 integer to integer wraps integer to float
    /// to nearest even, rounded once to bool x != 0 blocks to float f32, f16, bf16: scale q + shift as GGML
    /// computes it in f32, then rounded float to blocks as `quantise` without options `Status::Dtype` for a
    /// value that is not a dtype, `Status::Unsupported` for a dtype to which the device has no cast.
    pub fn cast(&self, dtype: DType) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_cast(self.as_ptr(), dtype as sys::wick_dtype) })
    }

    /// Writes the value, cast as `cast` does, to every element of x. `Status::Invalid` if elements of x share
    /// an address.
    ///
    /// # Safety
    /// No other thread may read or write these elements during the call, be it through another view of them.
    pub unsafe fn fill_inplace(&self, value: impl Into<Number>) -> Result<()> {
        status(|| unsafe { sys::wick_fill_inplace(self.as_ptr(), value.into().0) })
    }

    /// Writes the elements of source to target. Source has the target's dtype and broadcasts to its shape. The
    /// two may overlap. `Status::Invalid` if elements of target share an address.
    ///
    /// # Safety
    /// No other thread may read or write these elements during the call, be it through another view of them.
    pub unsafe fn copy_inplace(&self, source: &Tensor) -> Result<()> {
        status(|| unsafe { sys::wick_copy_inplace(self.as_ptr(), source.as_ptr()) })
    }

    /// Slopes that are 0, 1 or grow with x, in pieces.
    pub fn relu_backward(&self, x: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_relu_backward(self.as_ptr(), x.as_ptr()) })
    }

    /// Slopes that are 0, 1 or grow with x, in pieces.
    pub fn relu2_backward(&self, x: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_relu2_backward(self.as_ptr(), x.as_ptr()) })
    }

    /// Slopes that are 0, 1 or grow with x, in pieces.
    pub fn relu6_backward(&self, x: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_relu6_backward(self.as_ptr(), x.as_ptr()) })
    }

    /// Slopes that are 0, 1 or grow with x, in pieces.
    pub fn hard_sigmoid_backward(&self, x: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_hard_sigmoid_backward(self.as_ptr(), x.as_ptr()) })
    }

    /// Slopes that are 0, 1 or grow with x, in pieces.
    pub fn hard_swish_backward(&self, x: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_hard_swish_backward(self.as_ptr(), x.as_ptr()) })
    }

    /// With the numbers of the function.
    pub fn leaky_relu_backward(&self, x: &Tensor, slope: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_leaky_relu_backward(self.as_ptr(), x.as_ptr(), slope) })
    }

    /// With the numbers of the function.
    pub fn hardtanh_backward(&self, x: &Tensor, low: f64, high: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_hardtanh_backward(self.as_ptr(), x.as_ptr(), low, high) })
    }

    /// With the numbers of the function.
    pub fn elu_backward(&self, x: &Tensor, alpha: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_elu_backward(self.as_ptr(), x.as_ptr(), alpha) })
    }

    /// Smooth slopes, of all x or of those below 0.
    pub fn softsign_backward(&self, x: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_softsign_backward(self.as_ptr(), x.as_ptr()) })
    }

    /// Smooth slopes, of all x or of those below 0.
    pub fn tanhshrink_backward(&self, x: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_tanhshrink_backward(self.as_ptr(), x.as_ptr()) })
    }

    /// Smooth slopes, of all x or of those below 0.
    pub fn gelu_backward(&self, x: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_gelu_backward(self.as_ptr(), x.as_ptr()) })
    }

    /// Smooth slopes, of all x or of those below 0.
    pub fn gelu_tanh_backward(&self, x: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_gelu_tanh_backward(self.as_ptr(), x.as_ptr()) })
    }

    /// Smooth slopes, of all x or of those below 0.
    pub fn silu_backward(&self, x: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_silu_backward(self.as_ptr(), x.as_ptr()) })
    }

    /// Smooth slopes, of all x or of those below 0.
    pub fn mish_backward(&self, x: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_mish_backward(self.as_ptr(), x.as_ptr()) })
    }

    /// Smooth slopes, of all x or of those below 0.
    pub fn log_sigmoid_backward(&self, x: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_log_sigmoid_backward(self.as_ptr(), x.as_ptr()) })
    }

    /// Smooth slopes, of all x or of those below 0.
    pub fn selu_backward(&self, x: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_selu_backward(self.as_ptr(), x.as_ptr()) })
    }

    /// Of `softplus_beta`; with beta 1 and threshold INFINITY of `softplus`. `Status::Invalid` for beta 0.
    pub fn softplus_backward(&self, x: &Tensor, beta: f64, threshold: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_softplus_backward(self.as_ptr(), x.as_ptr(), beta, threshold) })
    }

    /// `Status::Invalid` for alpha 0.
    pub fn celu_backward(&self, x: &Tensor, alpha: f64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_celu_backward(self.as_ptr(), x.as_ptr(), alpha) })
    }

    /// Of `glu`, along dim, and `swiglu`: gradient \[..,N,..\], x \[..,2N,..\] -\> \[..,2N,..\]. Computed in
    /// f32 (f64 for f64) and rounded once.
    pub fn glu_backward(&self, x: &Tensor, dim: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_glu_backward(self.as_ptr(), x.as_ptr(), dim) })
    }

    /// Of `glu`, along dim, and `swiglu`: gradient \[..,N,..\], x \[..,2N,..\] -\> \[..,2N,..\]. Computed in
    /// f32 (f64 for f64) and rounded once.
    pub fn swiglu_backward(&self, x: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_swiglu_backward(self.as_ptr(), x.as_ptr()) })
    }

    /// These take the function's result instead of its argument.
    pub fn sigmoid_backward(&self, result: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_sigmoid_backward(self.as_ptr(), result.as_ptr()) })
    }

    /// These take the function's result instead of its argument.
    pub fn tanh_backward(&self, result: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_tanh_backward(self.as_ptr(), result.as_ptr()) })
    }

    /// result (gradient - sum(gradient result)).
    pub fn softmax_backward(&self, result: &Tensor, dim: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_softmax_backward(self.as_ptr(), result.as_ptr(), dim) })
    }

    /// gradient - exp(result) sum(gradient).
    pub fn log_softmax_backward(&self, result: &Tensor, dim: i32) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_log_softmax_backward(self.as_ptr(), result.as_ptr(), dim) })
    }

    /// The sum of the gradients of those windows whose element of `indices`, u32 in the shape of the gradient,
    /// is this position, as max pooling gives them. A position that lies outside its window's reach counts for
    /// nothing.
    pub fn max_pool1d_backward(&self, indices: &Tensor, size: &[i64], kernel: &[i64], options: &PoolOptions) -> Result<Tensor> {
        same_length(size.len(), kernel.len())?;
        Tensor::made(&self.device, || unsafe { sys::wick_max_pool1d_backward(self.as_ptr(), indices.as_ptr(), size.len() as _, size.as_ptr(), kernel.as_ptr(), &options.0) })
    }

    /// The sum of the gradients of those windows whose element of `indices`, u32 in the shape of the gradient,
    /// is this position, as max pooling gives them. A position that lies outside its window's reach counts for
    /// nothing.
    pub fn max_pool2d_backward(&self, indices: &Tensor, size: &[i64], kernel: &[i64], options: &PoolOptions) -> Result<Tensor> {
        same_length(size.len(), kernel.len())?;
        Tensor::made(&self.device, || unsafe { sys::wick_max_pool2d_backward(self.as_ptr(), indices.as_ptr(), size.len() as _, size.as_ptr(), kernel.as_ptr(), &options.0) })
    }

    /// The sum of the gradients of those windows whose element of `indices`, u32 in the shape of the gradient,
    /// is this position, as max pooling gives them. A position that lies outside its window's reach counts for
    /// nothing.
    pub fn max_pool3d_backward(&self, indices: &Tensor, size: &[i64], kernel: &[i64], options: &PoolOptions) -> Result<Tensor> {
        same_length(size.len(), kernel.len())?;
        Tensor::made(&self.device, || unsafe { sys::wick_max_pool3d_backward(self.as_ptr(), indices.as_ptr(), size.len() as _, size.as_ptr(), kernel.as_ptr(), &options.0) })
    }

    /// The sum of gradient / divisor over the windows that reach an element.
    pub fn avg_pool1d_backward(&self, size: &[i64], kernel: &[i64], options: &PoolOptions) -> Result<Tensor> {
        same_length(size.len(), kernel.len())?;
        Tensor::made(&self.device, || unsafe { sys::wick_avg_pool1d_backward(self.as_ptr(), size.len() as _, size.as_ptr(), kernel.as_ptr(), &options.0) })
    }

    /// The sum of gradient / divisor over the windows that reach an element.
    pub fn avg_pool2d_backward(&self, size: &[i64], kernel: &[i64], options: &PoolOptions) -> Result<Tensor> {
        same_length(size.len(), kernel.len())?;
        Tensor::made(&self.device, || unsafe { sys::wick_avg_pool2d_backward(self.as_ptr(), size.len() as _, size.as_ptr(), kernel.as_ptr(), &options.0) })
    }

    /// The sum of gradient / divisor over the windows that reach an element.
    pub fn avg_pool3d_backward(&self, size: &[i64], kernel: &[i64], options: &PoolOptions) -> Result<Tensor> {
        same_length(size.len(), kernel.len())?;
        Tensor::made(&self.device, || unsafe { sys::wick_avg_pool3d_backward(self.as_ptr(), size.len() as _, size.as_ptr(), kernel.as_ptr(), &options.0) })
    }

    /// Of adaptive pooling: gradient \[N,C,out...\], x \[N,C,size...\] over n = 1, 2 or 3 spatial dims -\>
    /// \[N,C,size...\]. The sum of gradient / elements over the windows that reach an element, and that of the
    /// gradients of those windows whose element of `indices` is this position, as
    /// `adaptive_max_pool_with_indices` gives them.
    pub fn adaptive_avg_pool_backward(&self, size: &[i64]) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_adaptive_avg_pool_backward(self.as_ptr(), size.len() as _, size.as_ptr()) })
    }

    /// Of adaptive pooling: gradient \[N,C,out...\], x \[N,C,size...\] over n = 1, 2 or 3 spatial dims -\>
    /// \[N,C,size...\]. The sum of gradient / elements over the windows that reach an element, and that of the
    /// gradients of those windows whose element of `indices` is this position, as
    /// `adaptive_max_pool_with_indices` gives them.
    pub fn adaptive_max_pool_backward(&self, indices: &Tensor, size: &[i64]) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_adaptive_max_pool_backward(self.as_ptr(), indices.as_ptr(), size.len() as _, size.as_ptr()) })
    }

    /// Of unpooling: gradient \[N,C,size...\], indices \[N,C,in...\] -\> \[N,C,in...\], the elements that the
    /// indices point to; 0 for 2^32 - 1.
    pub fn max_unpool_backward(&self, indices: &Tensor) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_max_unpool_backward(self.as_ptr(), indices.as_ptr()) })
    }

    /// Of Lp pooling: x^(p - 1) times the sum of gradient y^(1 - p) over the windows that reach an element,
    /// where y is the result, which is computed again. A window whose result is 0 counts for nothing, where
    /// PyTorch gives NaN.
    pub fn lp_pool_backward(&self, x: &Tensor, p: f64, kernel: &[i64], options: &PoolOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_lp_pool_backward(self.as_ptr(), x.as_ptr(), p, kernel.len() as _, kernel.as_ptr(), &options.0) })
    }

    /// Of `embedding`: gradient \[S..,D\], ids \[S..\] -\> \[rows,D\]. Sentinels, and ids that are `padding`,
    /// add nothing; a negative padding is none.
    pub fn embedding_backward(&self, ids: &Tensor, rows: i64, padding: i64) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_embedding_backward(self.as_ptr(), ids.as_ptr(), rows, padding) })
    }

    /// n = 1, 2 or 3 spatial dims.
    pub fn upsample_nearest_backward(&self, size: &[i64], options: &UpsampleOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_upsample_nearest_backward(self.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// n = 1, 2 or 3 spatial dims.
    pub fn upsample_nearest_exact_backward(&self, size: &[i64], options: &UpsampleOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_upsample_nearest_exact_backward(self.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// Of `upsample_linear1d`, `upsample_bilinear2d`, `upsample_trilinear3d`.
    pub fn upsample_linear_backward(&self, size: &[i64], options: &UpsampleOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_upsample_linear_backward(self.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// n = 2.
    pub fn upsample_bicubic2d_backward(&self, size: &[i64], options: &UpsampleOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_upsample_bicubic2d_backward(self.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// Of `pad`: the gradient has the padded shape and n dims; before, after and mode are the function's.
    pub fn pad_backward(&self, before: &[i64], after: &[i64], mode: PadMode) -> Result<Tensor> {
        same_length(before.len(), after.len())?;
        Tensor::made(&self.device, || unsafe { sys::wick_pad_backward(self.as_ptr(), before.len() as _, before.as_ptr(), after.as_ptr(), mode as sys::wick_pad_mode) })
    }

    /// The gradient of x: gradient \[N,Cout,out...\], weight \[Cout,Cin/groups,kernel...\], size the spatial
    /// sizes of x, which gradient and weight leave open -\> \[N,Cin,size...\].
    pub fn conv1d_backward_input(&self, weight: &Tensor, size: &[i64], options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv1d_backward_input(self.as_ptr(), weight.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// The gradient of x: gradient \[N,Cout,out...\], weight \[Cout,Cin/groups,kernel...\], size the spatial
    /// sizes of x, which gradient and weight leave open -\> \[N,Cin,size...\].
    pub fn conv2d_backward_input(&self, weight: &Tensor, size: &[i64], options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv2d_backward_input(self.as_ptr(), weight.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// The gradient of x: gradient \[N,Cout,out...\], weight \[Cout,Cin/groups,kernel...\], size the spatial
    /// sizes of x, which gradient and weight leave open -\> \[N,Cin,size...\].
    pub fn conv3d_backward_input(&self, weight: &Tensor, size: &[i64], options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv3d_backward_input(self.as_ptr(), weight.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// Of the transposes: gradient \[N,Cout,out...\], weight \[Cin,Cout/groups,kernel...\] -\>
    /// \[N,Cin,size...\].
    pub fn conv_transpose1d_backward_input(&self, weight: &Tensor, size: &[i64], options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv_transpose1d_backward_input(self.as_ptr(), weight.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// Of the transposes: gradient \[N,Cout,out...\], weight \[Cin,Cout/groups,kernel...\] -\>
    /// \[N,Cin,size...\].
    pub fn conv_transpose2d_backward_input(&self, weight: &Tensor, size: &[i64], options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv_transpose2d_backward_input(self.as_ptr(), weight.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// Of the transposes: gradient \[N,Cout,out...\], weight \[Cin,Cout/groups,kernel...\] -\>
    /// \[N,Cin,size...\].
    pub fn conv_transpose3d_backward_input(&self, weight: &Tensor, size: &[i64], options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv_transpose3d_backward_input(self.as_ptr(), weight.as_ptr(), size.len() as _, size.as_ptr(), &options.0) })
    }

    /// The gradient of the weight: gradient \[N,Cout,out...\], x \[N,Cin,in...\] -\>
    /// \[Cout,Cin/groups,kernel...\].
    pub fn conv1d_backward_weight(&self, x: &Tensor, kernel: &[i64], options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv1d_backward_weight(self.as_ptr(), x.as_ptr(), kernel.len() as _, kernel.as_ptr(), &options.0) })
    }

    /// The gradient of the weight: gradient \[N,Cout,out...\], x \[N,Cin,in...\] -\>
    /// \[Cout,Cin/groups,kernel...\].
    pub fn conv2d_backward_weight(&self, x: &Tensor, kernel: &[i64], options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv2d_backward_weight(self.as_ptr(), x.as_ptr(), kernel.len() as _, kernel.as_ptr(), &options.0) })
    }

    /// The gradient of the weight: gradient \[N,Cout,out...\], x \[N,Cin,in...\] -\>
    /// \[Cout,Cin/groups,kernel...\].
    pub fn conv3d_backward_weight(&self, x: &Tensor, kernel: &[i64], options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv3d_backward_weight(self.as_ptr(), x.as_ptr(), kernel.len() as _, kernel.as_ptr(), &options.0) })
    }

    /// Of the transposes: gradient \[N,Cout,out...\], x \[N,Cin,in...\] -\> \[Cin,Cout/groups,kernel...\].
    pub fn conv_transpose1d_backward_weight(&self, x: &Tensor, kernel: &[i64], options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv_transpose1d_backward_weight(self.as_ptr(), x.as_ptr(), kernel.len() as _, kernel.as_ptr(), &options.0) })
    }

    /// Of the transposes: gradient \[N,Cout,out...\], x \[N,Cin,in...\] -\> \[Cin,Cout/groups,kernel...\].
    pub fn conv_transpose2d_backward_weight(&self, x: &Tensor, kernel: &[i64], options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv_transpose2d_backward_weight(self.as_ptr(), x.as_ptr(), kernel.len() as _, kernel.as_ptr(), &options.0) })
    }

    /// Of the transposes: gradient \[N,Cout,out...\], x \[N,Cin,in...\] -\> \[Cin,Cout/groups,kernel...\].
    pub fn conv_transpose3d_backward_weight(&self, x: &Tensor, kernel: &[i64], options: &ConvOptions) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv_transpose3d_backward_weight(self.as_ptr(), x.as_ptr(), kernel.len() as _, kernel.as_ptr(), &options.0) })
    }

    /// The gradient of the bias of any of them: gradient \[N,C,...\] -\> \[C\], the sum over images and
    /// positions, in f64.
    pub fn conv_backward_bias(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_conv_backward_bias(self.as_ptr()) })
    }
}

// Of another form, and so in the C interface alone: wick_max_along, wick_min_along, wick_median, wick_cummax, wick_cummin, wick_layer_norm_with, wick_rms_norm_with, wick_group_norm_with, wick_batch_norm_train, wick_local_response_norm, wick_multi_head_attention, wick_attention_step, wick_lstm_cell, wick_gru_cell, wick_lstm_cell_backward, wick_gru_cell_backward, wick_recurrent, wick_recurrent_backward, wick_gates_reorder, wick_mse_loss, wick_mse_loss_backward, wick_l1_loss, wick_l1_loss_backward, wick_smooth_l1_loss, wick_smooth_l1_loss_backward, wick_huber_loss, wick_huber_loss_backward, wick_kl_div_loss, wick_kl_div_loss_backward, wick_binary_cross_entropy, wick_binary_cross_entropy_backward, wick_binary_cross_entropy_with_logits, wick_binary_cross_entropy_with_logits_backward, wick_cross_entropy, wick_cross_entropy_backward, wick_cross_entropy_soft, wick_cross_entropy_soft_backward, wick_nll_loss, wick_nll_loss_backward, wick_cosine_embedding_loss, wick_cosine_embedding_loss_backward, wick_triplet_margin_loss, wick_triplet_margin_loss_backward, wick_ctc_loss, wick_ctc_loss_backward, wick_einsum, wick_embedding_bag, wick_scatter_reduce, wick_index_reduce, wick_unique, wick_dropout_with, wick_adaptive_max_pool_with_indices, wick_grid_sample, wick_prelu_backward, wick_layer_norm_backward, wick_rms_norm_backward, wick_group_norm_backward, wick_batch_norm_backward, wick_embedding_bag_backward, wick_grid_sample_backward_input, wick_grid_sample_backward_grid, wick_local_response_norm_backward, wick_scaled_dot_product_attention_backward, wick_attention_packed_backward.
