//! What the tests share.

use candle_core::{DType, Device, Result, Tensor};

/// The device under test: the environment's WICK_CANDLE_DEVICE, or Wick's CPU.
pub fn device() -> Device {
    let name = std::env::var("WICK_CANDLE_DEVICE").unwrap_or_else(|_| "cpu".into());
    Device::new_wick(&name).unwrap()
}

/// Numbers between -1 and 1 that look random and are the same in every run.
pub fn values(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((state >> 40) as f32) / (1u64 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// Such numbers as a tensor on candle's CPU.
pub fn host(shape: &[usize], seed: u64) -> Tensor {
    Tensor::from_vec(values(shape.iter().product(), seed), shape, &Device::Cpu).unwrap()
}

/// Fails unless both hold the same numbers, up to `tolerance` times the largest magnitude.
pub fn close(here: &Tensor, expected: &Tensor, tolerance: f64) -> Result<()> {
    assert_eq!(here.dims(), expected.dims());
    let flat = |x: &Tensor| {
        x.to_device(&Device::Cpu)?
            .to_dtype(DType::F64)?
            .flatten_all()?
            .to_vec1::<f64>()
    };
    let (here, expected) = (flat(here)?, flat(expected)?);
    let scale = expected.iter().fold(1e-30f64, |most, x| most.max(x.abs()));
    for (i, (a, b)) in here.iter().zip(&expected).enumerate() {
        let same = (a - b).abs() <= tolerance * scale || (a.is_nan() && b.is_nan());
        assert!(same, "element {i}: {a}, expected {b}");
    }
    Ok(())
}
