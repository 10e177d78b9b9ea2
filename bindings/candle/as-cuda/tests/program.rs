//! What programs for candle's CUDA do, on Wick in its place. Nothing here names Wick.

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{CpuStorage, CustomOp1, DType, Device, DeviceLocation, Layout, Module, Result, Shape, Tensor, Var};
use candle_nn::Optimizer;

/// Picks its device as candle's examples do.
fn device() -> Result<Device> {
    assert!(candle_core::utils::cuda_is_available());
    let device = Device::cuda_if_available(0)?;
    assert!(device.is_cuda() && !device.is_cpu());
    assert!(matches!(device.location(), DeviceLocation::Cuda { .. }));
    assert!(device.as_cuda_device().is_ok() && device.same_device(&Device::new_cuda(0)?));
    Ok(device)
}

#[test]
fn tensors_compute() -> Result<()> {
    let device = device()?;
    let x = Tensor::arange(0f32, 6., &device)?.reshape((2, 3))?;
    assert_eq!(x.matmul(&x.t()?)?.to_vec2::<f32>()?, [[5., 14.], [14., 50.]]);
    let sums = candle_nn::ops::softmax_last_dim(&x)?.sum(1)?.to_vec1::<f32>()?;
    assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-6));
    let ids = Tensor::new(&[1u32, 9], &device)?;
    let picked = x.index_select(&ids, 0).and_then(|picked| picked.to_vec2::<f32>());
    assert!(picked.unwrap_err().to_string().contains("index_select"));
    assert_eq!(x.to_device(&Device::Cpu)?.to_vec2::<f32>()?, x.to_vec2::<f32>()?);
    Ok(())
}

#[test]
fn networks_learn() -> Result<()> {
    let device = device()?;
    let weight = Var::zeros((1, 2), DType::F32, &device)?;
    let x = Tensor::new(&[[2f32, 1.], [7., 4.], [-4., 12.]], &device)?;
    let y = Tensor::new(&[[7f32], [25.], [0.]], &device)?;
    let mut sgd = candle_nn::SGD::new(vec![weight.clone()], 0.004)?;
    for _ in 0..1000 {
        sgd.backward_step(&(x.matmul(&weight.t()?)? - &y)?.sqr()?.sum_all()?)?;
    }
    let found = weight.flatten_all()?.to_vec1::<f32>()?;
    assert!(
        (found[0] - 3.0).abs() < 1e-2 && (found[1] - 1.0).abs() < 2e-2,
        "{found:?}"
    );
    Ok(())
}

#[test]
fn blocks_and_attention_run() -> Result<()> {
    let device = device()?;
    let weights = QTensor::quantize(&Tensor::ones((4, 256), DType::F32, &device)?, GgmlDType::Q8_0)?;
    let made = QMatMul::from_qtensor(weights)?.forward(&Tensor::ones((1, 256), DType::F32, &device)?)?;
    let made = made.to_vec2::<f32>()?;
    assert!(made[0].iter().all(|sum| (sum - 256.0).abs() < 2.0), "{made:?}");
    let q = Tensor::ones((1, 5, 2, 8), DType::F16, &device)?;
    let mixed = candle_flash_attn::flash_attn(&q, &q, &q, 0.5, true)?;
    assert_eq!(mixed.flatten_all()?.to_dtype(DType::F32)?.to_vec1::<f32>()?, [1.0; 80]);
    Ok(())
}

struct Twice;

impl CustomOp1 for Twice {
    fn name(&self) -> &'static str {
        "twice"
    }
    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let made = storage.as_slice::<f32>()?.iter().map(|x| 2.0 * x).collect();
        Ok((CpuStorage::F32(made), layout.shape().clone()))
    }
}

#[test]
fn custom_ops_without_cuda_run() -> Result<()> {
    let x = Tensor::arange(0f32, 4., &device()?)?;
    assert_eq!(x.apply_op1(Twice)?.to_vec1::<f32>()?, [0., 2., 4., 6.]);
    Ok(())
}
