//! Wick as a device: CPU, CUDA and ROCm through one library.

mod custom;
mod experts;
mod fused;
mod ops;
pub mod quantized;
mod slot;
mod storage;

pub use custom::{hosts, inplace1, inplace2, inplace3, op1, op2, op3};
pub use experts::{moe_gemm, Experts};
pub use fused::{Attention, Operand, Rope};
pub use quantized::QWickStorage;
pub use slot::raw_bytes;
pub use storage::WickStorage;
pub use ::wick;

use crate::backend::BackendDevice;
use crate::{CpuStorage, DType, DeviceLocation, Error, Result, Shape};
use std::sync::Mutex;
use wick::Tensor;

/// A device of Wick's: a processor or a GPU with its stream, memory pool and random numbers.
#[derive(Clone)]
pub struct WickDevice {
    device: wick::Device,
    family: &'static str,
    gpu_id: usize,
    supports_bf16: bool,
}

impl std::fmt::Debug for WickDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WickDevice({})", self.device.name())
    }
}

/// The handles that programs share: one a device, as long as anybody uses it.
static OPEN: Mutex<Vec<wick::WeakDevice>> = Mutex::new(Vec::new());

impl WickDevice {
    /// Opens "cpu", "cuda:0", "rocm:1", or "auto" for the best one that is healthy. Who asks for the same device again
    /// gets the same handle, so that all tensors on it can meet.
    pub fn open(name: &str) -> Result<Self> {
        let mut open = OPEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        open.retain(|device| device.upgrade().is_some());
        let shared = |name: &str| {
            open.iter()
                .filter_map(|device| device.upgrade())
                .find(|device| device.name() == name)
        };
        if let Some(device) = shared(name) {
            return Self::new_on(device);
        }
        let mut device = wick::Device::open(name).map_err(slot::error)?;
        if let Some(older) = shared(device.name()) {
            device = older; // "auto" is one that is open
        }
        open.push(device.downgrade());
        Self::new_on(device)
    }

    /// The same with a handle of its own: its own stream, memory pool and random numbers. Its tensors do not meet those
    /// of other handles; `to_device` moves them.
    pub fn open_with_stream(name: &str) -> Result<Self> {
        Self::new_on(wick::Device::open(name).map_err(slot::error)?)
    }

    /// A device that the program has opened itself. Results of elementwise ops on it are row-major from then on: candle
    /// keeps strides of its own.
    pub fn new_on(device: wick::Device) -> Result<Self> {
        device.set_row_major(true).map_err(slot::error)?;
        let info = device.info().map_err(slot::error)?;
        let family = match info.family.as_str() {
            "cpu" => "cpu",
            "cuda" => "cuda",
            "rocm" => "rocm",
            other => crate::bail!("wick has a device family {other} that this crate does not know"),
        };
        let gpu_id = device
            .name()
            .rsplit(':')
            .next()
            .and_then(|id| id.parse().ok())
            .unwrap_or(0);
        Ok(WickDevice {
            device,
            family,
            gpu_id,
            supports_bf16: family != "cpu" || info.fast_bf16,
        })
    }

    /// Wick's own handle, for its other functions: memory figures, streams, graphs.
    pub fn wick_device(&self) -> &wick::Device {
        &self.device
    }

    /// "cpu", "cuda" or "rocm".
    pub fn family(&self) -> &'static str {
        self.family
    }

    /// The number behind the family's name; 0 for the CPU.
    pub fn gpu_id(&self) -> usize {
        self.gpu_id
    }

    /// Whether bf16 costs no more than f32: on GPUs, and on processors with instructions for it.
    pub fn supports_bf16(&self) -> bool {
        self.supports_bf16
    }

    /// Takes over the memory of numbers on the host, where there are so many that a copy costs more.
    fn adopted<T: Send + 'static>(&self, mut data: Vec<T>, of: DType) -> Result<WickStorage> {
        let (shape, memory) = ([data.len() as i64], (data.as_mut_ptr().cast(), bytes_of(&data).len()));
        let made = if memory.1 < 1 << 14 {
            Tensor::from_bytes(&self.device, dtype(of), bytes_of(&data), &shape)
        } else {
            // The numbers of a vector stay in place where the vector itself moves.
            unsafe { Tensor::from_memory(&self.device, dtype(of), &shape, memory, data) }
        };
        self.made(made, of)
    }

    fn made(&self, tensor: wick::Result<Tensor>, dtype: DType) -> Result<WickStorage> {
        Ok(WickStorage::new(tensor.map_err(slot::error)?, self.clone(), dtype))
    }
}

/// Wick's dtype with the same bits. The small floats that candle carries as bytes are bytes here too.
fn dtype(dtype: DType) -> wick::DType {
    match dtype {
        DType::U8 | DType::F6E2M3 | DType::F6E3M2 | DType::F4 | DType::F8E8M0 => wick::DType::U8,
        DType::U32 => wick::DType::U32,
        DType::I16 => wick::DType::I16,
        DType::I32 => wick::DType::I32,
        DType::I64 => wick::DType::I64,
        DType::BF16 => wick::DType::BF16,
        DType::F16 => wick::DType::F16,
        DType::F32 => wick::DType::F32,
        DType::F64 => wick::DType::F64,
        DType::F8E4M3 => wick::DType::F8E4M3,
    }
}

fn is_opaque(dtype: DType) -> bool {
    matches!(dtype, DType::F6E2M3 | DType::F6E3M2 | DType::F4 | DType::F8E8M0)
}

/// An error unless ops can compute with the dtype.
fn computes(dtype: DType, op: &'static str) -> Result<()> {
    if is_opaque(dtype) {
        return Err(Error::UnsupportedDTypeForOp(dtype, op).bt());
    }
    Ok(())
}

/// Gives the vector of a CpuStorage, whatever its type, to a macro.
macro_rules! for_any_cpu_storage {
    ($storage:expr, $call:ident) => {
        match $storage {
            CpuStorage::U8(data) => $call!(data),
            CpuStorage::U32(data) => $call!(data),
            CpuStorage::I16(data) => $call!(data),
            CpuStorage::I32(data) => $call!(data),
            CpuStorage::I64(data) => $call!(data),
            CpuStorage::BF16(data) => $call!(data),
            CpuStorage::F16(data) => $call!(data),
            CpuStorage::F32(data) => $call!(data),
            CpuStorage::F64(data) => $call!(data),
            CpuStorage::F8E4M3(data) => $call!(data),
            CpuStorage::F6E2M3(data) => $call!(data),
            CpuStorage::F6E3M2(data) => $call!(data),
            CpuStorage::F4(data) => $call!(data),
            CpuStorage::F8E8M0(data) => $call!(data),
        }
    };
}

fn bytes_of<T>(data: &[T]) -> &[u8] {
    // Numbers without padding.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), std::mem::size_of_val(data)) }
}

impl BackendDevice for WickDevice {
    type Storage = WickStorage;

    fn new(ordinal: usize) -> Result<Self> {
        slot::open(ordinal)
    }

    fn location(&self) -> DeviceLocation {
        slot::location(self)
    }

    fn same_device(&self, other: &Self) -> bool {
        self.device.is_same(&other.device)
    }

    fn zeros_impl(&self, shape: &Shape, of: DType) -> Result<WickStorage> {
        computes(of, "zeros")?;
        self.made(Tensor::zeros(&self.device, dtype(of), &[shape.elem_count() as i64]), of)
    }

    unsafe fn alloc_uninit(&self, shape: &Shape, of: DType) -> Result<WickStorage> {
        computes(of, "alloc_uninit")?;
        self.made(Tensor::empty(&self.device, dtype(of), &[shape.elem_count() as i64]), of)
    }

    fn storage_from_slice<T: crate::WithDType>(&self, data: &[T]) -> Result<WickStorage> {
        let shape = [data.len() as i64];
        self.made(
            Tensor::from_bytes(&self.device, dtype(T::DTYPE), bytes_of(data), &shape),
            T::DTYPE,
        )
    }

    fn storage_from_cpu_storage(&self, storage: &CpuStorage) -> Result<WickStorage> {
        use crate::backend::BackendStorage;
        macro_rules! copied {
            ($data:ident) => {
                (bytes_of($data), $data.len())
            };
        }
        let (bytes, count) = for_any_cpu_storage!(storage, copied);
        let of = storage.dtype();
        self.made(Tensor::from_bytes(&self.device, dtype(of), bytes, &[count as i64]), of)
    }

    fn storage_from_cpu_storage_owned(&self, storage: CpuStorage) -> Result<WickStorage> {
        use crate::backend::BackendStorage;
        let of = storage.dtype();
        if self.family != "cpu" {
            return self.storage_from_cpu_storage(&storage);
        }
        macro_rules! adopted {
            ($data:ident) => {
                self.adopted($data, of)
            };
        }
        for_any_cpu_storage!(storage, adopted)
    }

    fn rand_uniform(&self, shape: &Shape, of: DType, low: f64, up: f64) -> Result<WickStorage> {
        computes(of, "rand_uniform")?;
        self.made(
            Tensor::uniform(&self.device, dtype(of), &[shape.elem_count() as i64], low, up),
            of,
        )
    }

    fn rand_normal(&self, shape: &Shape, of: DType, mean: f64, std: f64) -> Result<WickStorage> {
        computes(of, "rand_normal")?;
        self.made(
            Tensor::normal(&self.device, dtype(of), &[shape.elem_count() as i64], mean, std),
            of,
        )
    }

    fn set_seed(&self, seed: u64) -> Result<()> {
        self.device.set_seed(seed).map_err(slot::error)
    }

    fn get_current_seed(&self) -> Result<u64> {
        Ok(self.device.seed())
    }

    fn synchronize(&self) -> Result<()> {
        self.device.synchronize().map_err(slot::error)
    }
}
