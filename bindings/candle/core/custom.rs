//! Custom ops that know nothing of Wick: their operands go to the host, `cpu_fwd` runs, and the result comes back.

use super::WickStorage;
use crate::backend::{BackendDevice, BackendStorage};
use crate::{CpuStorage, Result, Shape};

fn back(device: &super::WickDevice, made: (CpuStorage, Shape)) -> Result<(WickStorage, Shape)> {
    Ok((device.storage_from_cpu_storage_owned(made.0)?, made.1))
}

/// Runs a function of one storage on the host.
pub fn op1(
    a: &WickStorage,
    forward: impl FnOnce(&CpuStorage) -> Result<(CpuStorage, Shape)>,
) -> Result<(WickStorage, Shape)> {
    back(a.device(), forward(&a.to_cpu_storage()?)?)
}

/// Runs a function of two storages on the host.
pub fn op2(
    a: &WickStorage,
    b: &WickStorage,
    forward: impl FnOnce(&CpuStorage, &CpuStorage) -> Result<(CpuStorage, Shape)>,
) -> Result<(WickStorage, Shape)> {
    back(a.device(), forward(&a.to_cpu_storage()?, &b.to_cpu_storage()?)?)
}

/// Runs a function of three storages on the host.
pub fn op3(
    a: &WickStorage,
    b: &WickStorage,
    c: &WickStorage,
    forward: impl FnOnce(&CpuStorage, &CpuStorage, &CpuStorage) -> Result<(CpuStorage, Shape)>,
) -> Result<(WickStorage, Shape)> {
    back(
        a.device(),
        forward(&a.to_cpu_storage()?, &b.to_cpu_storage()?, &c.to_cpu_storage()?)?,
    )
}

/// What storages hold, on the host; nothing for those that are left out.
pub fn hosts<const N: usize>(storages: [Option<&WickStorage>; N]) -> Result<Vec<CpuStorage>> {
    let host = |storage: &WickStorage| storage.to_cpu_storage();
    let all = storages.iter();
    all.map(|storage| storage.map_or_else(|| Ok(CpuStorage::U8(Vec::new())), host))
        .collect()
}

/// Runs a function that changes its storage on the host.
pub fn inplace1(a: &mut WickStorage, forward: impl FnOnce(&mut CpuStorage) -> Result<()>) -> Result<()> {
    let mut host = a.to_cpu_storage()?;
    forward(&mut host)?;
    *a = a.device().storage_from_cpu_storage_owned(host)?;
    Ok(())
}

/// Runs a function that changes the first of two storages on the host.
pub fn inplace2(
    a: &mut WickStorage,
    b: &WickStorage,
    forward: impl FnOnce(&mut CpuStorage, &CpuStorage) -> Result<()>,
) -> Result<()> {
    let b = b.to_cpu_storage()?;
    inplace1(a, |a| forward(a, &b))
}

/// Runs a function that changes the first of three storages on the host.
pub fn inplace3(
    a: &mut WickStorage,
    b: &WickStorage,
    c: &WickStorage,
    forward: impl FnOnce(&mut CpuStorage, &CpuStorage, &CpuStorage) -> Result<()>,
) -> Result<()> {
    let (b, c) = (b.to_cpu_storage()?, c.to_cpu_storage()?);
    inplace1(a, |a| forward(a, &b, &c))
}
