//! The C interface of [Wick](https://docs.rs/wick): eager tensors on CPU, CUDA and ROCm devices.
//!
//! Everything here is as in the C headers, names and comments included. The crate `wick` is the safe interface.
//!
//! The functions are linked by pkg-config, or from the folder that `WICK_LIB_DIR` names when the crate is built. With
//! the feature `dlopen` nothing is linked: `load` opens the library, and the first call of a function does so where
//! nobody has called `load` before.

#![allow(non_camel_case_types, non_upper_case_globals)]

use std::ffi::{c_char, c_int, c_uint, c_void};

#[cfg(feature = "dlopen")]
mod dynamic;
#[cfg(feature = "dlopen")]
pub use dynamic::{load, LoadError};

/// The highest number of dims a tensor can have.
pub const WICK_MAX_RANK: usize = 8;
/// As a number of dims: all there are.
pub const WICK_ALL: c_int = -1;

macro_rules! opaque {
    ($($(#[$text:meta])* $name:ident)*) => { $(
        $(#[$text])*
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
            _not_send: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
        }
    )*
        /// The names of the structs that only the library looks into.
        #[doc(hidden)]
        pub const OPAQUE: &[&str] = &[$(stringify!($name)),*];
    };
}

/// Where a struct's members lie, for the test that compares them with the headers.
#[doc(hidden)]
pub struct StructLayout {
    /// The struct's name.
    pub name: &'static str,
    /// Its size in bytes.
    pub size: usize,
    /// Its alignment in bytes.
    pub align: usize,
    /// Name and offset of each member.
    pub fields: &'static [(&'static str, usize)],
}

macro_rules! structs {
    ($($(#[$text:meta])* $name:ident { $($field:ident: $kind:ty,)* })*) => {
        $(
            $(#[$text])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            #[allow(missing_docs)]
            pub struct $name { $(pub $field: $kind,)* }

            impl Default for $name {
                /// All zero, which is the default of every option.
                fn default() -> Self {
                    // Numbers, pointers, arrays of them and optional functions: zero is a value of each.
                    unsafe { core::mem::zeroed() }
                }
            }
        )*
        #[doc(hidden)]
        pub const STRUCTS: &[StructLayout] = &[$(StructLayout {
            name: stringify!($name),
            size: core::mem::size_of::<$name>(),
            align: core::mem::align_of::<$name>(),
            fields: &[$((stringify!($field), core::mem::offset_of!($name, $field)),)*],
        },)*];
    };
}

macro_rules! functions {
    ($($(#[$text:meta])* fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        #[cfg(not(feature = "dlopen"))]
        extern "C" {
            $($(#[$text])* pub fn $name($($argument: $kind),*) $(-> $result)?;)*
        }

        $(
            $(#[$text])*
            ///
            /// # Safety
            /// The rules are those of C: pointers are valid, arrays as long as their lengths say.
            ///
            /// # Panics
            /// When the library can't be loaded; a successful [`load`] rules that out.
            #[cfg(feature = "dlopen")]
            #[inline]
            pub unsafe fn $name($($argument: $kind),*) $(-> $result)? {
                (dynamic::table().$name)($($argument),*)
            }
        )*

        #[cfg(feature = "dlopen")]
        pub(crate) struct Table {
            $(pub $name: unsafe extern "C" fn($($kind),*) $(-> $result)?,)*
        }

        #[cfg(feature = "dlopen")]
        impl Table {
            /// Asks `find` for the address of every function.
            pub(crate) fn new<E>(mut find: impl FnMut(&str) -> Result<*mut c_void, E>) -> Result<Self, E> {
                Ok(Table {
                    $($name: unsafe {
                        core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($kind),*) $(-> $result)?>(
                            find(stringify!($name))?,
                        )
                    },)*
                })
            }
        }

        /// Name, types of the arguments and type of the result, for the test that compares them with the headers.
        #[doc(hidden)]
        pub const SIGNATURES: &[(&str, &[&str], &str)] = &[$((
            stringify!($name),
            &[$(stringify!($kind)),*],
            concat!("", $(stringify!($result))?),
        ),)*];
    };
}

// Made by bindings/rust/generate; left as it writes it.
include!("api.rs");
