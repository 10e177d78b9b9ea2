//! Between Rust's types and those of the C interface.

use crate::{DType, Error, Result, Status, Tensor};
use std::ffi::{c_char, CStr};
use wick_sys as sys;

/// A static string, or one that outlives 'a, of the library; "" for NULL.
pub(crate) unsafe fn text<'a>(pointer: *const c_char) -> &'a str {
    if pointer.is_null() {
        return "";
    }
    CStr::from_ptr(pointer).to_str().unwrap_or("?")
}

/// A number as an argument of ops: a whole number of 64 bits, or a double.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub(crate) sys::wick_number);

macro_rules! numbers {
    ($field:ident, $is_real:literal, $($kind:ty)*) => { $(
        impl From<$kind> for Number {
            fn from(value: $kind) -> Self {
                let number = sys::wick_number { $field: value.into(), is_real: $is_real, ..Default::default() };
                Number(number)
            }
        }
    )* };
}
numbers!(integer, false, i64 i32 i16 i8 u32 u16 u8 bool);
numbers!(real, true, f64 f32);

mod sealed {
    pub trait Sealed {}
}

/// A Rust type with the same bits as a dtype: what slices of elements are made of.
///
/// f16, bf16 and f8e4m3 have no type in Rust's standard library; [`Tensor::from_bytes`] and [`Tensor::read_bytes`] move
/// them as bytes.
pub trait Element: Copy + Default + sealed::Sealed + 'static {
    /// The dtype.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($kind:ty: $dtype:ident,)*) => { $(
        impl sealed::Sealed for $kind {}
        impl Element for $kind {
            const DTYPE: DType = DType::$dtype;
        }
    )* };
}
elements!(u8: U8, u32: U32, i16: I16, i32: I32, i64: I64, f32: F32, f64: F64, i8: I8, u16: U16, u64: U64,);

pub(crate) fn optional(tensor: Option<&Tensor>) -> *const sys::wick_tensor {
    tensor.map_or(std::ptr::null(), |tensor| tensor.as_ptr().cast_const())
}

pub(crate) fn pointers(tensors: &[&Tensor]) -> Vec<*mut sys::wick_tensor> {
    tensors.iter().map(|tensor| tensor.as_ptr()).collect()
}

pub(crate) fn first<'a>(tensors: &[&'a Tensor]) -> Result<&'a Tensor> {
    tensors
        .first()
        .copied()
        .ok_or_else(|| Error::new(Status::Invalid, "no tensors"))
}

pub(crate) fn same_length(a: usize, b: usize) -> Result<()> {
    if a == b {
        return Ok(());
    }
    Err(Error::new(
        Status::Invalid,
        format!("slices of {a} and {b} numbers that belong together"),
    ))
}

/// The number of dims to reduce; no list stands for all of them.
pub(crate) fn count_dims(dims: Option<&[i32]>) -> i32 {
    dims.map_or(sys::WICK_ALL, |dims| dims.len() as i32)
}

pub(crate) fn dims_pointer(dims: Option<&[i32]>) -> *const i32 {
    dims.map_or(std::ptr::null(), <[i32]>::as_ptr)
}
