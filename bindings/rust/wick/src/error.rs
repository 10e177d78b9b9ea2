//! Errors, and the two ways in which calls of the library report them.

use wick_sys as sys;

/// What kind of failure it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// An argument has a value outside its documented set.
    Invalid,
    /// Shapes do not fit the op or one another.
    Shape,
    /// Dtypes do not fit the op or one another.
    Dtype,
    /// Operands live on different devices, or there is no such device.
    Device,
    /// The device was closed.
    Closed,
    /// No kernel of this device takes this op, dtype or layout.
    Unsupported,
    /// An index or a dim is out of range.
    Range,
    /// A size or an offset does not fit in 64 bits.
    Overflow,
    /// Out of memory.
    Memory,
    /// A file could not be read or written.
    Io,
    /// A file or a text is not in its documented format.
    Format,
    /// An integer was divided by zero.
    Divide,
    /// A fault in the library itself: please report it.
    Internal,
}

impl Status {
    fn from_sys(status: sys::wick_status) -> Self {
        match status {
            sys::WICK_INVALID => Self::Invalid,
            sys::WICK_SHAPE => Self::Shape,
            sys::WICK_DTYPE => Self::Dtype,
            sys::WICK_DEVICE => Self::Device,
            sys::WICK_CLOSED => Self::Closed,
            sys::WICK_UNSUPPORTED => Self::Unsupported,
            sys::WICK_RANGE => Self::Range,
            sys::WICK_OVERFLOW => Self::Overflow,
            sys::WICK_MEMORY => Self::Memory,
            sys::WICK_IO => Self::Io,
            sys::WICK_FORMAT => Self::Format,
            sys::WICK_DIVIDE => Self::Divide,
            _ => Self::Internal,
        }
    }
}

/// A failed call: its status, and the library's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    status: Status,
    text: Box<str>,
}

/// The result of a call that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(status: Status, text: impl Into<Box<str>>) -> Self {
        Error {
            status,
            text: text.into(),
        }
    }

    /// This thread's failure, which is forgotten.
    #[cold]
    pub(crate) fn take(status: sys::wick_status) -> Self {
        unsafe {
            let text = crate::convert::text(sys::wick_error());
            let text = if text.is_empty() {
                crate::convert::text(sys::wick_status_text(status))
            } else {
                text
            };
            let error = Error::new(Status::from_sys(status), text);
            sys::wick_error_clear();
            error
        }
    }

    /// The kind of failure.
    pub fn status(&self) -> Status {
        self.status
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

/// Runs a call that returns a status.
#[inline]
pub(crate) fn status(call: impl FnOnce() -> sys::wick_status) -> Result<()> {
    unsafe { sys::wick_error_clear() };
    match call() {
        sys::WICK_OK => Ok(()),
        status => Err(Error::take(status)),
    }
}

/// Runs a call that returns a pointer, NULL after a failure.
#[inline]
pub(crate) fn pointer<T>(call: impl FnOnce() -> *mut T) -> Result<std::ptr::NonNull<T>> {
    unsafe { sys::wick_error_clear() };
    std::ptr::NonNull::new(call()).ok_or_else(|| Error::take(unsafe { sys::wick_error_status() }))
}
