//! Devices.

use crate::convert::text;
use crate::error::{pointer, status};
use crate::{Error, Result, Status};
use std::ffi::{c_void, CString};
use std::ptr::NonNull;
use std::sync::{Arc, Weak};
use wick_sys as sys;

struct Handle(NonNull<sys::wick_device>);

// Handles may be shared between threads, and closed on any.
unsafe impl Send for Handle {}
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        unsafe { sys::wick_device_close(self.0.as_ptr()) }
    }
}

/// A device: its kernels, its memory pool, its stream and its random numbers.
///
/// Clones are references to one handle. Tensors hold one too, so a device is closed when the last of all these goes.
///
/// ```
/// let device = wick::Device::open("cpu")?;
/// assert_eq!(device.name(), "cpu");
/// assert!(wick::Device::open("no-such-device").is_err());
/// # Ok::<(), wick::Error>(())
/// ```
#[derive(Clone)]
pub struct Device(Arc<Handle>);

/// A reference that does not keep the device open; see [`Device::downgrade`].
#[derive(Clone)]
pub struct WeakDevice(Weak<Handle>);

impl WeakDevice {
    /// The device, unless it is closed.
    pub fn upgrade(&self) -> Option<Device> {
        self.0.upgrade().map(Device)
    }
}

/// What is known of a device; see [`Device::info`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// "cpu", "cuda" or "rocm".
    pub family: String,
    /// The processor's own name.
    pub description: String,
    /// The instruction set of its kernels: "avx512", "sm_90", "gfx942:sramecc+:xnack-".
    pub isa: String,
    /// Bytes of memory the device can use, 0 when not known.
    pub memory_total: usize,
    /// Whether it is a GPU that shares the host's memory.
    pub integrated: bool,
    /// Whether it has matrix products of bf16 that are faster than those of f32.
    pub fast_bf16: bool,
}

/// Memory figures of a device, in bytes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Memory {
    /// Held by tensors now.
    pub used: usize,
    /// The highest `used` so far.
    pub peak: usize,
    /// Freed and kept for reuse.
    pub cached: usize,
}

impl Device {
    /// Opens a device by name: "cpu", "cuda:0", "rocm:1", or "auto" for the best one that is healthy. Each call makes a
    /// new handle, with its own random numbers and, on a GPU, its own stream and memory pool. [`Status::Device`] when
    /// there is none of that name, or it does not work; the text says why.
    pub fn open(name: &str) -> Result<Self> {
        #[cfg(feature = "dlopen")]
        sys::load(None).map_err(|error| Error::new(Status::Device, error.to_string()))?;
        let name = CString::new(name).map_err(|_| Error::new(Status::Invalid, "a device's name holds a NUL"))?;
        let handle = pointer(|| unsafe { sys::wick_device_open(name.as_ptr()) })?;
        Ok(Device(Arc::new(Handle(handle))))
    }

    /// The names of the devices that can be opened, best first.
    pub fn list() -> Vec<String> {
        #[cfg(feature = "dlopen")]
        if sys::load(None).is_err() {
            return Vec::new();
        }
        unsafe {
            (0..sys::wick_device_count())
                .map(|i| text(sys::wick_device_list(i)).to_owned())
                .collect()
        }
    }

    /// The handle, which stays this device's.
    #[inline]
    pub fn as_ptr(&self) -> *mut sys::wick_device {
        self.0 .0.as_ptr()
    }

    /// The name it can be opened by: "cpu", "rocm:0".
    pub fn name(&self) -> &str {
        unsafe { text(sys::wick_device_name(self.as_ptr())) }
    }

    /// A number that all handles of a device have in common, and no other device has.
    pub fn ordinal(&self) -> i32 {
        unsafe { sys::wick_device_ordinal(self.as_ptr()) }
    }

    /// Whether both are the same handle. Operands of an op have to be of one handle.
    pub fn is_same(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A reference for those who list open devices without keeping them open.
    pub fn downgrade(&self) -> WeakDevice {
        WeakDevice(Arc::downgrade(&self.0))
    }

    /// What is known of the device.
    pub fn info(&self) -> Result<DeviceInfo> {
        let mut info = sys::wick_device_info::default();
        status(|| unsafe { sys::wick_device_describe(self.as_ptr(), &mut info) })?;
        Ok(unsafe {
            DeviceInfo {
                family: text(info.family).into(),
                description: text(info.description).into(),
                isa: text(info.isa).into(),
                memory_total: info.memory_total,
                integrated: info.integrated,
                fast_bf16: info.fast_bf16,
            }
        })
    }

    /// Waits until all work given to the device is done. Returns the failure of an op in place that the device found
    /// later, if there is one.
    pub fn synchronize(&self) -> Result<()> {
        status(|| unsafe { sys::wick_device_sync(self.as_ptr()) })
    }

    /// Whether results of casts and elementwise ops are always row-major, for callers that keep strides of their own.
    /// Otherwise, as at first, they have the order in memory of the dims of their first operand that has the result's
    /// shape.
    pub fn set_row_major(&self, row_major: bool) -> Result<()> {
        status(|| unsafe { sys::wick_row_major_set(self.as_ptr(), row_major) })
    }

    /// Seeds the device's random numbers; the start value is 0.
    pub fn set_seed(&self, seed: u64) -> Result<()> {
        status(|| unsafe { sys::wick_seed_set(self.as_ptr(), seed) })
    }

    /// The seed as it was set last.
    pub fn seed(&self) -> u64 {
        unsafe { sys::wick_seed(self.as_ptr()) }
    }

    /// Memory figures.
    pub fn memory(&self) -> Result<Memory> {
        let mut memory = sys::wick_memory::default();
        status(|| unsafe { sys::wick_memory_stats(self.as_ptr(), &mut memory) })?;
        Ok(Memory {
            used: memory.used,
            peak: memory.peak,
            cached: memory.cached,
        })
    }

    /// The device's stream, a CUstream or hipStream_t; NULL on the CPU. Work that others queue on it runs in order with
    /// Wick's.
    pub fn stream(&self) -> *mut c_void {
        unsafe { sys::wick_stream(self.as_ptr()) }
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Device({})", self.name())
    }
}
