//! The storage: a flat buffer of Wick's, seen through candle's layouts.

use super::{dtype, is_opaque, slot, WickDevice};
use crate::{CpuStorage, DType, Layout, Result};
use std::mem::MaybeUninit;
use wick::Tensor;

/// A flat, typed buffer on a Wick device.
pub struct WickStorage {
    /// All elements of a buffer of its own, in order; its shape means nothing.
    pub(super) tensor: Tensor,
    pub(super) device: WickDevice,
    pub(super) dtype: DType,
}

impl std::fmt::Debug for WickStorage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "WickStorage({} {} on {})",
            self.tensor.count(),
            self.dtype.as_str(),
            self.device.device.name()
        )
    }
}

const MAX_RANK: usize = wick::sys::WICK_MAX_RANK;

/// Sizes and strides as Wick takes them, on the stack.
struct Dims {
    rank: usize,
    sizes: [i64; MAX_RANK],
    strides: [i64; MAX_RANK],
}

impl Dims {
    fn push(&mut self, size: usize, stride: usize) -> Result<()> {
        if self.rank == MAX_RANK {
            crate::bail!("wick: more than {MAX_RANK} dims that do not merge");
        }
        (self.sizes[self.rank], self.strides[self.rank]) = (size as i64, stride as i64);
        self.rank += 1;
        Ok(())
    }

    /// The dims as they are, without those of size 1 where there are too many.
    fn of(l: &Layout) -> Result<Dims> {
        let mut dims = Dims {
            rank: 0,
            sizes: [0; MAX_RANK],
            strides: [0; MAX_RANK],
        };
        let all = l.dims().len() <= MAX_RANK;
        for (&size, &stride) in l.dims().iter().zip(l.stride()) {
            if all || size != 1 {
                dims.push(size, stride)?;
            }
        }
        Ok(dims)
    }

    /// The same elements in the same order, in as few dims as there can be.
    fn merged(l: &Layout) -> Result<Dims> {
        let mut dims = Dims {
            rank: 0,
            sizes: [0; MAX_RANK],
            strides: [0; MAX_RANK],
        };
        for (&size, &stride) in l.dims().iter().zip(l.stride()) {
            let last = dims.rank.wrapping_sub(1);
            if size == 1 {
                continue;
            } else if dims.rank > 0 && dims.strides[last] == (size * stride) as i64 {
                (dims.sizes[last], dims.strides[last]) = (dims.sizes[last] * size as i64, stride as i64);
            } else {
                dims.push(size, stride)?;
            }
        }
        Ok(dims)
    }
}

impl WickStorage {
    pub(super) fn new(tensor: Tensor, device: WickDevice, dtype: DType) -> Self {
        WickStorage { tensor, device, dtype }
    }

    pub(super) fn from_raw_bytes(device: &WickDevice, data: &[u8], of: DType) -> Result<Self> {
        device.made(
            Tensor::from_bytes(&device.device, dtype(of), data, &[data.len() as i64]),
            of,
        )
    }

    pub(super) fn made(&self, tensor: wick::Result<Tensor>) -> Result<Self> {
        self.device.made(tensor, self.dtype)
    }

    /// Wick's tensor of all elements, for its other functions. Others may use it at the same time: only who holds this
    /// storage mutably may write to it.
    pub fn wick_tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// Takes over a tensor that Wick has made. It is copied unless it is all of a buffer, in order.
    pub fn from_wick_tensor(tensor: Tensor, device: &WickDevice, of: DType) -> Result<Self> {
        if tensor.dtype() != dtype(of) || !tensor.device().is_same(&device.device) {
            crate::bail!("wick: {tensor:?} is not a storage of {} on {device:?}", of.as_str());
        }
        device.made(tensor.deep_clone(), of)
    }

    fn strided(&self, dims: &Dims, offset: usize) -> Result<Tensor> {
        let (sizes, strides) = (&dims.sizes[..dims.rank], &dims.strides[..dims.rank]);
        self.tensor
            .as_strided(sizes, strides, offset as i64)
            .map_err(slot::error)
    }

    /// The elements of a layout, with its shape.
    pub(super) fn view(&self, l: &Layout) -> Result<Tensor> {
        self.strided(&Dims::of(l)?, l.start_offset())
    }

    /// The elements of a layout in row-major order, whatever the shape.
    pub(super) fn elements(&self, l: &Layout) -> Result<Tensor> {
        if l.is_contiguous() {
            return self.run(l.start_offset(), l.shape().elem_count());
        }
        self.strided(&Dims::merged(l)?, l.start_offset())
    }

    /// `count` elements in a row.
    fn run(&self, offset: usize, count: usize) -> Result<Tensor> {
        if offset == 0 && count == self.tensor.count() && self.tensor.rank() == 1 {
            return Ok(self.tensor.clone());
        }
        self.tensor
            .as_strided(&[count as i64], &[1], offset as i64)
            .map_err(slot::error)
    }

    /// The places that a layout names, each once: dims that repeat elements count as one.
    pub(super) fn places(&self, l: &Layout) -> Result<Tensor> {
        if l.is_contiguous() {
            return self.run(l.start_offset(), l.shape().elem_count());
        }
        let mut dims = Dims::merged(l)?;
        for d in 0..dims.rank {
            if dims.strides[d] == 0 {
                dims.sizes[d] = dims.sizes[d].min(1);
            }
        }
        self.strided(&dims, l.start_offset())
    }

    /// `rows` rows of `columns` neighbouring elements.
    pub(super) fn rows(&self, rows: usize, columns: usize, stride: usize, offset: usize) -> Result<Tensor> {
        let (sizes, strides) = ([rows as i64, columns as i64], [stride as i64, 1]);
        self.tensor
            .as_strided(&sizes, &strides, offset as i64)
            .map_err(slot::error)
    }

    /// A copy on another handle.
    pub fn transfer_to_device(&self, device: &WickDevice) -> Result<Self> {
        let moved =
            self.tensor
                .to_device(&device.device)
                .and_then(|moved| match self.device.device.is_same(&device.device) {
                    true => moved.deep_clone(),
                    false => Ok(moved),
                });
        device.made(moved, self.dtype)
    }

    fn read<T: Copy>(&self) -> Result<Vec<T>> {
        let count = self.tensor.count();
        let mut data: Vec<T> = Vec::with_capacity(count);
        let nbytes = count * std::mem::size_of::<T>();
        // The read writes all elements, and any bytes are a value of T, which is a number.
        let bytes = unsafe { std::slice::from_raw_parts_mut(data.as_mut_ptr().cast::<MaybeUninit<u8>>(), nbytes) };
        self.tensor.read_uninit(bytes).map_err(slot::error)?;
        unsafe { data.set_len(count) };
        Ok(data)
    }

    pub(super) fn to_host(&self) -> Result<CpuStorage> {
        Ok(match self.dtype {
            DType::U8 => CpuStorage::U8(self.read()?),
            DType::U32 => CpuStorage::U32(self.read()?),
            DType::I16 => CpuStorage::I16(self.read()?),
            DType::I32 => CpuStorage::I32(self.read()?),
            DType::I64 => CpuStorage::I64(self.read()?),
            DType::BF16 => CpuStorage::BF16(self.read()?),
            DType::F16 => CpuStorage::F16(self.read()?),
            DType::F32 => CpuStorage::F32(self.read()?),
            DType::F64 => CpuStorage::F64(self.read()?),
            DType::F8E4M3 => CpuStorage::F8E4M3(self.read()?),
            DType::F6E2M3 => CpuStorage::F6E2M3(self.read()?),
            DType::F6E3M2 => CpuStorage::F6E3M2(self.read()?),
            DType::F4 => CpuStorage::F4(self.read()?),
            DType::F8E8M0 => CpuStorage::F8E8M0(self.read()?),
        })
    }

    /// An error unless ops can compute with the dtype.
    pub(super) fn computes(&self, op: &'static str) -> Result<()> {
        match is_opaque(self.dtype) {
            true => Err(crate::Error::UnsupportedDTypeForOp(self.dtype, op).bt()),
            false => Ok(()),
        }
    }
}
