//! candle's ops as Wick's.

use super::{dtype, slot, WickDevice, WickStorage};
use crate::backend::BackendStorage;
use crate::conv::{ParamsConv1D, ParamsConv2D, ParamsConvTranspose1D, ParamsConvTranspose2D};
use crate::op::{BinaryOpT, CmpOp, ReduceOp, UnaryOpT};
use crate::scalar::Scalar;
use crate::{CpuStorage, DType, Layout, Result};
use wick::{ConvOptions, Number, PoolOptions, Tensor, UpsampleOptions};

/// A scalar of the dtype that an f64 becomes, as candle makes it: integers are cut off, not computed with fractions.
fn number(value: f64, of: DType) -> Number {
    match of {
        DType::U8 => (value as u8).into(),
        DType::U32 => (value as u32).into(),
        DType::I16 => (value as i16).into(),
        DType::I32 => (value as i32).into(),
        DType::I64 => (value as i64).into(),
        _ => value.into(),
    }
}

fn scalar(value: Scalar) -> Number {
    match value {
        Scalar::U8(value) => value.into(),
        Scalar::U32(value) => value.into(),
        Scalar::I16(value) => value.into(),
        Scalar::I32(value) => value.into(),
        Scalar::I64(value) => value.into(),
        Scalar::BF16(value) => value.to_f64().into(),
        Scalar::F16(value) => value.to_f64().into(),
        Scalar::F32(value) => value.into(),
        Scalar::F64(value) => value.into(),
        Scalar::F8E4M3(value) => value.to_f64().into(),
    }
}

/// To the nearest whole number, halves away from zero, where wick_round has halves to even. The number below one half
/// keeps what is just below a half from being rounded up to it by the sum.
fn round_half_away(x: &Tensor) -> wick::Result<Tensor> {
    let below = match x.dtype() {
        wick::DType::F64 => 0.5f64.next_down(),
        wick::DType::F32 => 0.5f32.next_down().into(),
        wick::DType::F16 => 0.5 - 0.5f64.powi(12),
        wick::DType::BF16 => 0.5 - 0.5f64.powi(9),
        wick::DType::F8E4M3 => 0.5 - 0.5f64.powi(5),
        _ => return x.deep_clone(),
    };
    x.sign()?.mul_scalar(below)?.add(x)?.trunc()
}

/// Two operands of one shape: as rows of elements where both are, otherwise as they are.
fn pair(lhs: (&WickStorage, &Layout), rhs: (&WickStorage, &Layout)) -> Result<(Tensor, Tensor)> {
    if lhs.1.is_contiguous() && rhs.1.is_contiguous() {
        return Ok((lhs.0.elements(lhs.1)?, rhs.0.elements(rhs.1)?));
    }
    Ok((lhs.0.view(lhs.1)?, rhs.0.view(rhs.1)?))
}

/// An operand of a product as Wick takes it. candle compares only the product of batch dims: where they differ one by
/// one, both operands become [b, rows, columns].
fn batched(storage: &WickStorage, l: &Layout, b: usize, same: bool) -> Result<Tensor> {
    let view = storage.view(l)?;
    let dims = l.dims();
    if same && dims.len() <= wick::sys::WICK_MAX_RANK {
        return Ok(view);
    }
    let (rows, columns) = (dims[dims.len() - 2] as i64, dims[dims.len() - 1] as i64);
    view.reshape(&[b as i64, rows, columns]).map_err(slot::error)
}

fn window(stride: usize, padding: usize, dilation: usize) -> ConvOptions {
    let (stride, padding, dilation) = (stride as i64, padding as i64, dilation as i64);
    ConvOptions::new()
        .stride(&[stride; 2])
        .padding(&[padding; 2])
        .dilation(&[dilation; 2])
}

/// The convolutions that channels are split into: candle's parameters have the channels of one.
fn groups(l: &Layout, c_in: usize) -> i64 {
    l.dims().get(1).and_then(|all| all.checked_div(c_in)).unwrap_or(1) as i64
}

fn pool(stride: (usize, usize)) -> PoolOptions {
    PoolOptions::new().stride(&[stride.0 as i64, stride.1 as i64])
}

impl WickStorage {
    fn of_elements(
        &self,
        l: &Layout,
        op: &'static str,
        call: impl FnOnce(&Tensor) -> wick::Result<Tensor>,
    ) -> Result<Self> {
        self.computes(op)?;
        self.made(call(&self.elements(l)?))
    }

    fn of_view(
        &self,
        l: &Layout,
        op: &'static str,
        call: impl FnOnce(&Tensor) -> wick::Result<Tensor>,
    ) -> Result<Self> {
        self.computes(op)?;
        self.made(call(&self.view(l)?))
    }

    /// A result that may be of another dtype than self.
    fn typed(&self, made: wick::Result<Tensor>, of: DType) -> Result<Self> {
        self.device.made(made, of)
    }
}

impl BackendStorage for WickStorage {
    type Device = WickDevice;

    fn try_clone(&self, _: &Layout) -> Result<Self> {
        self.made(self.tensor.deep_clone())
    }

    fn dtype(&self) -> DType {
        self.dtype
    }

    fn device(&self) -> &WickDevice {
        &self.device
    }

    fn to_cpu_storage(&self) -> Result<CpuStorage> {
        self.to_host()
    }

    fn affine(&self, l: &Layout, mul: f64, add: f64) -> Result<Self> {
        let (mul, add) = (number(mul, self.dtype), number(add, self.dtype));
        self.of_elements(l, "affine", |x| x.affine(mul, add))
    }

    fn powf(&self, l: &Layout, exponent: f64) -> Result<Self> {
        self.of_elements(l, "powf", |x| x.powf(exponent))
    }

    fn elu(&self, l: &Layout, alpha: f64) -> Result<Self> {
        self.of_elements(l, "elu", |x| x.elu(alpha))
    }

    fn reduce_op(&self, op: ReduceOp, l: &Layout, dims: &[usize]) -> Result<Self> {
        self.computes("reduce")?;
        let x = self.view(l)?;
        if l.dims().len() != x.rank() {
            crate::bail!("wick: {} of {} dims", op.name(), l.dims().len());
        }
        let dims: Vec<i32> = dims.iter().map(|&dim| dim as i32).collect();
        let dims = Some(dims.as_slice());
        match op {
            ReduceOp::Sum => self.made(x.sum(dims, false)),
            ReduceOp::Min => self.made(x.min(dims, false)),
            ReduceOp::Max => self.made(x.max(dims, false)),
            ReduceOp::ArgMin => self.typed(x.argmin(dims, false), DType::U32),
            ReduceOp::ArgMax => self.typed(x.argmax(dims, false), DType::U32),
        }
    }

    fn cmp(&self, op: CmpOp, rhs: &Self, lhs_l: &Layout, rhs_l: &Layout) -> Result<Self> {
        self.computes("cmp")?;
        let (a, b) = pair((self, lhs_l), (rhs, rhs_l))?;
        let made = match op {
            CmpOp::Eq => a.eq(&b),
            CmpOp::Ne => a.ne(&b),
            CmpOp::Le => a.le(&b),
            CmpOp::Ge => a.ge(&b),
            CmpOp::Lt => a.lt(&b),
            CmpOp::Gt => a.gt(&b),
        };
        self.typed(made, DType::U8)
    }

    fn to_dtype(&self, l: &Layout, of: DType) -> Result<Self> {
        self.computes("to_dtype")?;
        super::computes(of, "to_dtype")?;
        let x = self.elements(l)?;
        let made = if of == self.dtype {
            x.deep_clone()
        } else {
            x.cast(dtype(of))
        };
        self.typed(made, of)
    }

    fn unary_impl<B: UnaryOpT>(&self, l: &Layout) -> Result<Self> {
        self.of_elements(l, B::NAME, |x| match B::NAME {
            "exp" => x.exp(),
            "log" => x.log(),
            "sin" => x.sin(),
            "cos" => x.cos(),
            "tanh" => x.tanh(),
            "neg" => x.neg(),
            "recip" => x.recip(),
            "sqr" => x.sqr(),
            "sqrt" => x.sqrt(),
            "gelu" => x.gelu_tanh(),
            "gelu_erf" => x.gelu(),
            "erf" => x.erf(),
            "silu" => x.silu(),
            "abs" => x.abs(),
            "ceil" => x.ceil(),
            "floor" => x.floor(),
            "round" => round_half_away(x),
            "relu" => x.relu(),
            "sign" => x.sign(),
            other => unreachable!("candle has no op {other} that this module was made for"),
        })
    }

    fn binary_impl<B: BinaryOpT>(&self, rhs: &Self, lhs_l: &Layout, rhs_l: &Layout) -> Result<Self> {
        self.computes(B::NAME)?;
        let (a, b) = pair((self, lhs_l), (rhs, rhs_l))?;
        self.made(match B::NAME {
            "add" => a.add(&b),
            "sub" => a.sub(&b),
            "mul" => a.mul(&b),
            "div" => a.div(&b),
            "minimum" => a.minimum(&b),
            "maximum" => a.maximum(&b),
            other => unreachable!("candle has no op {other} that this module was made for"),
        })
    }

    fn where_cond(&self, l: &Layout, t: &Self, t_l: &Layout, f: &Self, f_l: &Layout) -> Result<Self> {
        t.computes("where")?;
        let (t_view, f_view) = (t.view(t_l)?, f.view(f_l)?);
        t.made(self.view(l)?.where_(&t_view, &f_view))
    }

    fn conv1d(&self, l: &Layout, kernel: &Self, kernel_l: &Layout, params: &ParamsConv1D) -> Result<Self> {
        let options = window(params.stride, params.padding, params.dilation).groups(groups(l, params.c_in));
        let kernel = kernel.view(kernel_l)?;
        self.of_view(l, "conv1d", |x| x.conv1d(&kernel, None, &options))
    }

    fn conv_transpose1d(
        &self,
        l: &Layout,
        kernel: &Self,
        kernel_l: &Layout,
        params: &ParamsConvTranspose1D,
    ) -> Result<Self> {
        let extra = [params.output_padding as i64; 2];
        let options = window(params.stride, params.padding, params.dilation)
            .output_padding(&extra)
            .groups(groups(l, params.c_in));
        let kernel = kernel.view(kernel_l)?;
        self.of_view(l, "conv_transpose1d", |x| x.conv_transpose1d(&kernel, None, &options))
    }

    fn conv2d(&self, l: &Layout, kernel: &Self, kernel_l: &Layout, params: &ParamsConv2D) -> Result<Self> {
        let options = window(params.stride, params.padding, params.dilation).groups(groups(l, params.c_in));
        let kernel = kernel.view(kernel_l)?;
        self.of_view(l, "conv2d", |x| x.conv2d(&kernel, None, &options))
    }

    fn conv_transpose2d(
        &self,
        l: &Layout,
        kernel: &Self,
        kernel_l: &Layout,
        params: &ParamsConvTranspose2D,
    ) -> Result<Self> {
        let extra = [params.output_padding as i64; 2];
        let options = window(params.stride, params.padding, params.dilation).output_padding(&extra);
        let kernel = kernel.view(kernel_l)?;
        self.of_view(l, "conv_transpose2d", |x| x.conv_transpose2d(&kernel, None, &options))
    }

    fn avg_pool2d(&self, l: &Layout, kernel: (usize, usize), stride: (usize, usize)) -> Result<Self> {
        let kernel = [kernel.0 as i64, kernel.1 as i64];
        self.of_view(l, "avg_pool2d", |x| x.avg_pool2d(&kernel, &pool(stride)))
    }

    fn max_pool2d(&self, l: &Layout, kernel: (usize, usize), stride: (usize, usize)) -> Result<Self> {
        let kernel = [kernel.0 as i64, kernel.1 as i64];
        self.of_view(l, "max_pool2d", |x| x.max_pool2d(&kernel, &pool(stride)))
    }

    fn upsample_nearest1d(&self, l: &Layout, size: usize) -> Result<Self> {
        let options = UpsampleOptions::new();
        self.of_view(l, "upsample_nearest1d", |x| {
            x.upsample_nearest1d(&[size as i64], &options)
        })
    }

    fn upsample_nearest2d(&self, l: &Layout, h: usize, w: usize) -> Result<Self> {
        let options = UpsampleOptions::new();
        self.of_view(l, "upsample_nearest2d", |x| {
            x.upsample_nearest2d(&[h as i64, w as i64], &options)
        })
    }

    fn upsample_bilinear2d(
        &self,
        l: &Layout,
        h: usize,
        w: usize,
        align_corners: bool,
        scale_h: Option<f64>,
        scale_w: Option<f64>,
    ) -> Result<Self> {
        let scales = [scale_h.unwrap_or(0.0), scale_w.unwrap_or(0.0)];
        let options = UpsampleOptions::new().align_corners(align_corners).scale(&scales);
        self.of_view(l, "upsample_bilinear2d", |x| {
            x.upsample_bilinear2d(&[h as i64, w as i64], &options)
        })
    }

    fn gather(&self, l: &Layout, ids: &Self, ids_l: &Layout, dim: usize) -> Result<Self> {
        let ids = ids.view(ids_l)?;
        self.of_view(l, "gather", |x| x.gather(dim as i32, &ids))
    }

    fn scatter_set(
        &mut self,
        l: &Layout,
        ids: &Self,
        ids_l: &Layout,
        src: &Self,
        src_l: &Layout,
        dim: usize,
    ) -> Result<()> {
        self.computes("scatter")?;
        let (target, ids, source) = (self.view(l)?, ids.view(ids_l)?, src.view(src_l)?);
        // Self is borrowed mutably, and no other storage shares its buffer.
        unsafe { target.scatter_inplace(dim as i32, &ids, &source) }.map_err(slot::error)
    }

    fn scatter_add_set(
        &mut self,
        l: &Layout,
        ids: &Self,
        ids_l: &Layout,
        src: &Self,
        src_l: &Layout,
        dim: usize,
    ) -> Result<()> {
        self.computes("scatter-add")?;
        let (target, ids, source) = (self.view(l)?, ids.view(ids_l)?, src.view(src_l)?);
        // As above.
        unsafe { target.scatter_add_inplace(dim as i32, &ids, &source) }.map_err(slot::error)
    }

    fn index_select(&self, ids: &Self, l: &Layout, ids_l: &Layout, dim: usize) -> Result<Self> {
        let ids = ids.view(ids_l)?;
        self.of_view(l, "index-select", |x| x.index_select(dim as i32, &ids))
    }

    fn index_add(
        &self,
        l: &Layout,
        ids: &Self,
        ids_l: &Layout,
        src: &Self,
        src_l: &Layout,
        dim: usize,
    ) -> Result<Self> {
        let (ids, source) = (ids.view(ids_l)?, src.view(src_l)?);
        self.of_view(l, "index-add", |x| x.index_add(dim as i32, &ids, &source))
    }

    fn matmul(
        &self,
        rhs: &Self,
        (b, _, _, _): (usize, usize, usize, usize),
        lhs_l: &Layout,
        rhs_l: &Layout,
    ) -> Result<Self> {
        self.computes("matmul")?;
        let batch = |l: &Layout| l.dims()[..l.dims().len() - 2].to_vec();
        let same = batch(lhs_l) == batch(rhs_l);
        let lhs = batched(self, lhs_l, b, same)?;
        let rhs = batched(rhs, rhs_l, b, same)?;
        self.made(lhs.matmul(&rhs))
    }

    fn copy_strided_src(&self, dst: &mut Self, dst_offset: usize, src_l: &Layout) -> Result<()> {
        let count = src_l.shape().elem_count();
        if count == 0 {
            return Ok(());
        }
        let source = self.elements(src_l)?;
        let target = dst
            .rows(1, count, 0, dst_offset)?
            .reshape(source.shape())
            .map_err(slot::error)?;
        // dst is borrowed mutably, and no other storage shares its buffer.
        unsafe { target.copy_inplace(&source) }.map_err(slot::error)
    }

    fn copy2d(
        &self,
        dst: &mut Self,
        d1: usize,
        d2: usize,
        src_stride1: usize,
        dst_stride1: usize,
        src_offset: usize,
        dst_offset: usize,
    ) -> Result<()> {
        if d1 == 0 || d2 == 0 {
            return Ok(());
        }
        let source = self.rows(d1, d2, src_stride1, src_offset)?;
        let target = dst.rows(d1, d2, dst_stride1, dst_offset)?;
        // As above.
        unsafe { target.copy_inplace(&source) }.map_err(slot::error)
    }

    fn const_set(&mut self, value: Scalar, l: &Layout) -> Result<()> {
        self.computes("const-set")?;
        if l.shape().elem_count() == 0 {
            return Ok(());
        }
        // As above.
        unsafe { self.places(l)?.fill_inplace(scalar(value)) }.map_err(slot::error)
    }
}
