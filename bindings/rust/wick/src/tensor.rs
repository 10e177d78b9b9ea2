//! Tensors: making them, looking at them, getting data in and out. The ops are in ops.rs.

use crate::convert::{optional, pointers, text};
use crate::error::{pointer, status};
use crate::{DType, Device, Element, Error, Result, Status};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use wick_sys as sys;

/// A counted reference to a strided view of a typed buffer on a device.
///
/// Cloning adds a reference and copies nothing; [`Tensor::contiguous`] and [`Tensor::deep_clone`] copy.
pub struct Tensor {
    pointer: NonNull<sys::wick_tensor>,
    pub(crate) device: Device,
}

// References are counted atomically, and what else a tensor says of itself never changes.
unsafe impl Send for Tensor {}
unsafe impl Sync for Tensor {}

impl Drop for Tensor {
    fn drop(&mut self) {
        unsafe { sys::wick_release(self.as_ptr()) }
    }
}

impl Clone for Tensor {
    fn clone(&self) -> Self {
        unsafe { sys::wick_retain(self.as_ptr()) };
        Tensor {
            pointer: self.pointer,
            device: self.device.clone(),
        }
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Tensor({:?} {} on {})",
            self.shape(),
            self.dtype().name(),
            self.device.name()
        )
    }
}

impl DType {
    /// "f32" and the like.
    pub fn name(self) -> &'static str {
        unsafe { text(sys::wick_dtype_name(self as sys::wick_dtype)) }
    }

    /// Bits of one element; 0 for quantised dtypes, whose elements share bits.
    pub fn bits(self) -> usize {
        unsafe { sys::wick_dtype_bits(self as sys::wick_dtype) as usize }
    }

    /// Elements of a block, and its bytes: 1 and the element's for dtypes of whole bytes.
    pub fn block(self) -> (usize, usize) {
        let dtype = self as sys::wick_dtype;
        unsafe {
            (
                sys::wick_dtype_block(dtype) as usize,
                sys::wick_dtype_block_bytes(dtype) as usize,
            )
        }
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        unsafe { sys::wick_dtype_is_float(self as sys::wick_dtype) }
    }
}

impl Tensor {
    /// What a call of the library made.
    #[inline]
    pub(crate) fn made(device: &Device, call: impl FnOnce() -> *mut sys::wick_tensor) -> Result<Tensor> {
        Ok(Tensor {
            pointer: pointer(call)?,
            device: device.clone(),
        })
    }

    /// Takes over a reference to a tensor on `device`.
    ///
    /// # Safety
    /// `pointer` is a reference that the caller owns, and of a tensor that lives on the handle of `device`.
    pub unsafe fn from_raw(pointer: NonNull<sys::wick_tensor>, device: &Device) -> Tensor {
        Tensor {
            pointer,
            device: device.clone(),
        }
    }

    /// The tensor for calls of the C interface. It stays this reference's.
    #[inline]
    pub fn as_ptr(&self) -> *mut sys::wick_tensor {
        self.pointer.as_ptr()
    }

    // ---- making ----

    /// Elements that hold whatever their memory held.
    ///
    /// # Safety
    /// The elements must be written before they are read.
    pub unsafe fn empty(device: &Device, dtype: DType, shape: &[i64]) -> Result<Tensor> {
        Tensor::made(device, || {
            sys::wick_empty(
                device.as_ptr(),
                dtype as sys::wick_dtype,
                shape.len() as _,
                shape.as_ptr(),
            )
        })
    }

    /// A copy of `data` in row-major order. [`Status::Invalid`] unless the shape has as many elements.
    ///
    /// ```
    /// # let device = wick::Device::open("cpu")?;
    /// let x = wick::Tensor::from_slice(&device, &[1i64, 2, 3], &[3])?;
    /// assert_eq!(x.to_vec::<i64>()?, [1, 2, 3]);
    /// assert!(wick::Tensor::from_slice(&device, &[1i64, 2, 3], &[4]).is_err());
    /// # Ok::<(), wick::Error>(())
    /// ```
    pub fn from_slice<T: Element>(device: &Device, data: &[T], shape: &[i64]) -> Result<Tensor> {
        let bytes = unsafe { std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), std::mem::size_of_val(data)) };
        Tensor::from_bytes(device, T::DTYPE, bytes, shape)
    }

    /// The same from the bytes of the elements. [`Status::Invalid`] unless there are as many as the shape takes.
    pub fn from_bytes(device: &Device, dtype: DType, data: &[u8], shape: &[i64]) -> Result<Tensor> {
        Tensor::made(device, || unsafe {
            let (rank, dims) = (shape.len() as _, shape.as_ptr());
            sys::wick_from_data(
                device.as_ptr(),
                dtype as sys::wick_dtype,
                rank,
                dims,
                data.as_ptr().cast(),
                data.len(),
            )
        })
    }

    /// A tensor in memory that `owner` holds: nothing is copied. Wick drops the owner, on any thread, after the last view.
    ///
    /// ```
    /// # let device = wick::Device::open("cpu")?;
    /// let mut owner = vec![1f32, 2.0, 3.0, 4.0];
    /// let memory = (owner.as_mut_ptr().cast(), 16);
    /// let x = unsafe { wick::Tensor::from_memory(&device, wick::DType::F32, &[2, 2], memory, owner)? };
    /// assert_eq!(x.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), wick::Error>(())
    /// ```
    ///
    /// # Safety
    /// `memory` is an address on the device, which is host memory on the CPU, and a number of bytes. They are initialised,
    /// and stay in place and untouched by others until `owner` is dropped.
    pub unsafe fn from_memory<O: Send + 'static>(
        device: &Device,
        dtype: DType,
        shape: &[i64],
        memory: (*mut u8, usize),
        owner: O,
    ) -> Result<Tensor> {
        unsafe extern "C" fn release<O>(owner: *mut c_void) {
            drop(Box::from_raw(owner.cast::<O>()));
        }
        let owner = Box::into_raw(Box::new(owner));
        let block = sys::wick_memory_block {
            data: memory.0.cast(),
            nbytes: memory.1,
            release: Some(release::<O>),
            context: owner.cast(),
        };
        let (rank, dims) = (shape.len() as _, shape.as_ptr());
        Tensor::made(device, || {
            sys::wick_from_memory(device.as_ptr(), dtype as sys::wick_dtype, rank, dims, &block)
        })
        .inspect_err(|_| drop(Box::from_raw(owner))) // a call that fails releases nothing
    }

    // ---- looking ----

    /// The element type.
    pub fn dtype(&self) -> DType {
        let dtype = unsafe { sys::wick_tensor_dtype(self.as_ptr()) };
        // A tensor of a dtype that came after this crate can only come from a newer library's file reader.
        DType::EVERY.get(dtype as usize).copied().unwrap_or(DType::U8)
    }

    /// The number of dims.
    pub fn rank(&self) -> usize {
        unsafe { sys::wick_tensor_rank(self.as_ptr()) as usize }
    }

    /// The sizes of the dims.
    pub fn shape(&self) -> &[i64] {
        match self.rank() {
            0 => &[],
            rank => unsafe { std::slice::from_raw_parts(sys::wick_tensor_shape(self.as_ptr()), rank) },
        }
    }

    /// The strides, in elements.
    pub fn strides(&self) -> &[i64] {
        match self.rank() {
            0 => &[],
            rank => unsafe { std::slice::from_raw_parts(sys::wick_tensor_strides(self.as_ptr()), rank) },
        }
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        unsafe { sys::wick_tensor_count(self.as_ptr()) as usize }
    }

    /// Where the view starts in its buffer, in elements.
    pub fn offset(&self) -> i64 {
        unsafe { sys::wick_tensor_offset(self.as_ptr()) }
    }

    /// Whether the elements lie in row-major order without gaps.
    pub fn is_contiguous(&self) -> bool {
        unsafe { sys::wick_tensor_is_contiguous(self.as_ptr()) }
    }

    /// The device it lives on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    // ---- data ----

    /// The elements in row-major order, after the device has made them. [`Status::Dtype`] for another type.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let mut data = vec![T::default(); self.count()];
        self.read(&mut data)?;
        Ok(data)
    }

    /// The same into `data`. [`Status::Invalid`] unless it has as many elements.
    pub fn read<T: Element>(&self, data: &mut [T]) -> Result<()> {
        if self.dtype() != T::DTYPE {
            let text = format!("read: {:?} as {}", self, T::DTYPE.name());
            return Err(Error::new(Status::Dtype, text));
        }
        let nbytes = std::mem::size_of_val(data);
        // Any bytes are a value of these types.
        self.read_bytes(unsafe { std::slice::from_raw_parts_mut(data.as_mut_ptr().cast(), nbytes) })
    }

    /// The bytes of the elements in row-major order. [`Status::Invalid`] unless `data` has as many.
    pub fn read_bytes(&self, data: &mut [u8]) -> Result<()> {
        status(|| unsafe { sys::wick_read(self.as_ptr(), data.as_mut_ptr().cast(), data.len()) })
    }

    /// The same into memory that holds nothing yet; all of it has been written when this succeeds.
    pub fn read_uninit(&self, data: &mut [MaybeUninit<u8>]) -> Result<()> {
        status(|| unsafe { sys::wick_read(self.as_ptr(), data.as_mut_ptr().cast(), data.len()) })
    }

    /// One element of a tensor that has just one, as a double.
    pub fn read_scalar(&self) -> Result<f64> {
        let mut value = 0.0;
        status(|| unsafe { sys::wick_read_scalar(self.as_ptr(), &mut value) })?;
        Ok(value)
    }

    /// Where the first element lies on its device, and the stream to queue work on that reads or writes it: a CUstream
    /// or hipStream_t, NULL on the CPU, where the elements are there when this returns. The address is good as long as
    /// the tensor is.
    pub fn address(&self) -> Result<(*mut std::ffi::c_void, *mut std::ffi::c_void)> {
        let (mut data, mut stream) = (std::ptr::null_mut(), std::ptr::null_mut());
        status(|| unsafe { sys::wick_tensor_address(self.as_ptr(), &mut data, &mut stream) })?;
        Ok((data, stream))
    }

    /// A copy on another device; a view when it is there already.
    pub fn to_device(&self, device: &Device) -> Result<Tensor> {
        Tensor::made(device, || unsafe {
            sys::wick_to_device(self.as_ptr(), device.as_ptr())
        })
    }

    /// The elements in row-major order in a buffer of their own: always a copy.
    pub fn deep_clone(&self) -> Result<Tensor> {
        Tensor::made(&self.device, || unsafe { sys::wick_clone(self.as_ptr()) })
    }

    // ---- ops of several results, or with tensors among their options ----

    /// The elements in order along `dim`, and where each came from, u32. Stable; NaNs are last ascending.
    pub fn sort(&self, dim: i32, descending: bool) -> Result<(Tensor, Tensor)> {
        self.with_indices(|indices| unsafe { sys::wick_sort(self.as_ptr(), dim, descending, indices) })
    }

    /// The k largest elements in descending order, or the k smallest in ascending order, and where each came from, u32.
    pub fn topk(&self, k: i64, dim: i32, largest: bool) -> Result<(Tensor, Tensor)> {
        self.with_indices(|indices| unsafe { sys::wick_topk(self.as_ptr(), k, dim, largest, indices) })
    }

    fn with_indices(
        &self,
        call: impl FnOnce(*mut *mut sys::wick_tensor) -> *mut sys::wick_tensor,
    ) -> Result<(Tensor, Tensor)> {
        let mut indices = std::ptr::null_mut();
        let values = Tensor::made(&self.device, || call(&mut indices))?;
        let indices = Tensor::made(&self.device, || indices)?;
        Ok((values, indices))
    }

    /// `n` views whose sizes along `dim` differ by at most one, the larger first.
    pub fn chunk(&self, n: usize, dim: i32) -> Result<Vec<Tensor>> {
        self.several(n, |out| unsafe { sys::wick_chunk(self.as_ptr(), n as i64, dim, out) })
    }

    /// Views of the given sizes along `dim`, which must add up to its size.
    pub fn split(&self, sizes: &[i64], dim: i32) -> Result<Vec<Tensor>> {
        self.several(sizes.len(), |out| unsafe {
            sys::wick_split(self.as_ptr(), sizes.len() as _, sizes.as_ptr(), dim, out)
        })
    }

    /// The coordinate grids of vectors, axis i along dim i.
    pub fn meshgrid(axes: &[&Tensor]) -> Result<Vec<Tensor>> {
        let axis = crate::convert::first(axes)?;
        let pointers = pointers(axes);
        axis.several(axes.len(), |out| unsafe {
            sys::wick_meshgrid(axes.len() as _, pointers.as_ptr(), out)
        })
    }

    fn several(
        &self,
        n: usize,
        call: impl FnOnce(*mut *mut sys::wick_tensor) -> sys::wick_status,
    ) -> Result<Vec<Tensor>> {
        let mut out = vec![std::ptr::null_mut(); n];
        status(|| call(out.as_mut_ptr()))?;
        out.into_iter()
            .map(|made| Tensor::made(&self.device, || made))
            .collect()
    }

    /// (x - mean) / sqrt(variance + epsilon) weight + bias by channel: x \[N,C,...\], all others \[C\].
    pub fn batch_norm(
        &self,
        mean: &Tensor,
        variance: &Tensor,
        weight_and_bias: (Option<&Tensor>, Option<&Tensor>),
        epsilon: f64,
    ) -> Result<Tensor> {
        let options = sys::wick_batch_norm_options {
            weight: optional(weight_and_bias.0),
            bias: optional(weight_and_bias.1),
            epsilon,
            ..Default::default()
        };
        Tensor::made(&self.device, || unsafe {
            sys::wick_batch_norm(self.as_ptr(), mean.as_ptr(), variance.as_ptr(), &options)
        })
    }
}
