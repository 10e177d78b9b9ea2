//! Where Wick sits among candle's devices: in the place of `Device::Cuda`, as PyTorch has it on ROCm.

use super::{QWickStorage, WickDevice, WickStorage};
use crate::quantized::QStorage;
use crate::{DType, DeviceLocation, Error, Result, Shape, Storage, Tensor};

pub(super) fn error(error: wick::Error) -> Error {
    Error::Cuda(Box::new(error)).bt()
}

/// The device that the environment's WICK_CANDLE_DEVICE names, or else the GPU of that number: NVIDIA's where there is
/// one, AMD's otherwise.
pub(super) fn open(ordinal: usize) -> Result<WickDevice> {
    if let Ok(name) = std::env::var("WICK_CANDLE_DEVICE") {
        return WickDevice::open(&name);
    }
    let devices = wick::Device::list();
    let found = ["cuda", "rocm"]
        .iter()
        .map(|family| format!("{family}:{ordinal}"))
        .find(|name| devices.contains(name));
    match found {
        Some(name) => WickDevice::open(&name),
        None => WickDevice::open(&format!("cuda:{ordinal}")), // whose error says what is the matter
    }
}

/// Whether `open` would find a device.
pub(crate) fn is_available() -> bool {
    std::env::var_os("WICK_CANDLE_DEVICE").is_some() || wick::Device::list().iter().any(|name| name != "cpu")
}

pub(super) fn location(device: &WickDevice) -> DeviceLocation {
    DeviceLocation::Cuda { gpu_id: device.gpu_id }
}

pub(super) fn qstorage(storage: QWickStorage) -> QStorage {
    QStorage::Cuda(storage)
}

pub(super) fn storage(storage: &Storage) -> Result<&WickStorage> {
    match storage {
        Storage::Cuda(storage) => Ok(storage),
        other => crate::bail!("wick: an operand is on {:?}", other.device().location()),
    }
}

pub(super) fn tensor(storage: WickStorage, shape: Shape) -> Tensor {
    let none = crate::op::BackpropOp::none();
    crate::tensor::from_storage(Storage::Cuda(storage), shape, none, false)
}

/// Bytes of one of the small floats that candle carries without computing with them.
pub fn raw_bytes(device: &WickDevice, data: &[u8], dtype: DType) -> Result<Storage> {
    Ok(Storage::Cuda(WickStorage::from_raw_bytes(device, data, dtype)?))
}
