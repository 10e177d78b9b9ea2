//! The CUDA device of this build is Wick's.

pub use crate::wick_backend::{WickDevice as CudaDevice, WickStorage as CudaStorage};

/// Tells handles apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceId(usize);

impl CudaDevice {
    pub fn new_with_stream(ordinal: usize) -> crate::Result<Self> {
        use crate::backend::BackendDevice;
        Self::open_with_stream(Self::new(ordinal)?.wick_device().name())
    }

    pub fn id(&self) -> DeviceId {
        DeviceId(self.wick_device().as_ptr() as usize)
    }
}

