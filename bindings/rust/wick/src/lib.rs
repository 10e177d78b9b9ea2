//! Eager tensors on the CPU, on NVIDIA GPUs and on AMD GPUs: the safe interface of the
//! [Wick](https://docs.rs/wick-sys) library.
//!
//! ```
//! use wick::{DType, Device, Tensor};
//!
//! # fn main() -> wick::Result<()> {
//! let device = Device::open("cpu")?; // or "cuda:0", "rocm:0", "auto"
//! let x = Tensor::from_slice(&device, &[1f32, 2., 3., 4., 5., 6.], &[2, 3])?;
//! let y = x.matmul(&x.t()?)?.softmax(-1)?;
//! assert_eq!(y.shape(), [2, 2]);
//! let values: Vec<f32> = y.to_vec()?;
//! assert!((values[0] + values[1] - 1.0).abs() < 1e-6);
//! assert_eq!(y.cast(DType::F16)?.dtype(), DType::F16);
//! # Ok(())
//! # }
//! ```
//!
//! # Tensors and views
//! A [`Tensor`] is a strided view of a typed buffer on a [`Device`]. Its shape and dtype never change. Ops return new
//! tensors at once; views share elements and never copy. Any op accepts any layout, operands broadcast by NumPy's rule,
//! and dtypes never mix silently. The last reference that is dropped frees the buffer; scopes, as C programs use them,
//! are not needed, and none may be open on a thread that calls this crate.
//!
//! # Errors
//! Every failure is an [`Error`] with a [`Status`] and a text that names op, shapes, dtypes, device and rule. Nothing
//! panics but what each function says.
//!
//! A GPU finds some failures, an index out of range or an integer divided by zero, after the call has returned. Reading
//! the result, or what was computed from it, returns that error.
//!
//! # Threads
//! Devices and tensors are [`Send`] and [`Sync`]. Functions that write elements in place are `unsafe`: views share
//! elements, so the caller has to see that no other thread uses them.

#![warn(missing_docs)]

mod attention;
mod convert;
mod device;
mod error;
#[rustfmt::skip]
mod ops;
mod options;
mod tensor;

pub use attention::AttentionOptions;
pub use convert::{Element, Number};
pub use device::{Device, DeviceInfo, Memory, WeakDevice};
pub use error::{Error, Result, Status};
pub use ops::{Activation, DType, PadMode};
pub use options::{ConvOptions, LinearOptions, PoolOptions, UpsampleOptions};
pub use tensor::Tensor;

/// The C interface.
pub use wick_sys as sys;

#[cfg(feature = "dlopen")]
pub use wick_sys::{load, LoadError};

/// The version of the library that runs.
pub fn version() -> &'static str {
    unsafe { convert::text(sys::wick_version()) }
}
