//! Where Wick sits among candle's devices: as one of its own, `Device::Wick`.

use super::{QWickStorage, WickDevice, WickStorage};
use crate::quantized::QStorage;
use crate::{DType, DeviceLocation, Error, Result, Shape, Storage, Tensor};

pub(super) fn error(error: wick::Error) -> Error {
    Error::Wick(error).bt()
}

pub(super) fn open(ordinal: usize) -> Result<WickDevice> {
    match wick::Device::list().get(ordinal) {
        Some(name) => WickDevice::open(name),
        None => crate::bail!("wick lists no device {ordinal}"),
    }
}

pub(super) fn location(device: &WickDevice) -> DeviceLocation {
    DeviceLocation::Wick {
        family: device.family,
        gpu_id: device.gpu_id,
    }
}

pub(super) fn qstorage(storage: QWickStorage) -> QStorage {
    QStorage::Wick(storage)
}

pub(super) fn storage(storage: &Storage) -> Result<&WickStorage> {
    match storage {
        Storage::Wick(storage) => Ok(storage),
        other => crate::bail!("wick: an operand is on {:?}", other.device().location()),
    }
}

pub(super) fn tensor(storage: WickStorage, shape: Shape) -> Tensor {
    let none = crate::op::BackpropOp::none();
    crate::tensor::from_storage(Storage::Wick(storage), shape, none, false)
}

/// Bytes of one of the small floats that candle carries without computing with them.
pub fn raw_bytes(device: &WickDevice, data: &[u8], dtype: DType) -> Result<Storage> {
    Ok(Storage::Wick(WickStorage::from_raw_bytes(device, data, dtype)?))
}
