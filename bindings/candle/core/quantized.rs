//! Quantised tensors: GGML's blocks in the device's memory, multiplied as they are.

use super::{slot, WickDevice, WickStorage};
use crate::backend::BackendStorage;
use crate::quantized::{GgmlDType, GgmlType, QStorage};
use crate::{CpuStorage, DType, Layout, Result, Shape};
use wick::{LinearOptions, Tensor};

/// Quantised weights on a Wick device.
pub struct QWickStorage {
    blocks: Tensor,
    device: WickDevice,
    dtype: GgmlDType,
}

/// The storage for blocks of a type that is known when the program is compiled.
pub fn load_quantized<T: GgmlType + Send + Sync + 'static>(device: &WickDevice, data: &[T]) -> Result<QStorage> {
    QWickStorage::from_data(device, super::bytes_of(data), T::DTYPE).map(slot::qstorage)
}

fn dtype(dtype: GgmlDType) -> wick::DType {
    match dtype {
        GgmlDType::F32 => wick::DType::F32,
        GgmlDType::F16 => wick::DType::F16,
        GgmlDType::BF16 => wick::DType::BF16,
        GgmlDType::Q4_0 => wick::DType::Q4_0,
        GgmlDType::Q4_1 => wick::DType::Q4_1,
        GgmlDType::Q5_0 => wick::DType::Q5_0,
        GgmlDType::Q5_1 => wick::DType::Q5_1,
        GgmlDType::Q8_0 => wick::DType::Q8_0,
        GgmlDType::Q8_1 => wick::DType::Q8_1,
        GgmlDType::Q2K => wick::DType::Q2_K,
        GgmlDType::Q3K => wick::DType::Q3_K,
        GgmlDType::Q4K => wick::DType::Q4_K,
        GgmlDType::Q5K => wick::DType::Q5_K,
        GgmlDType::Q6K => wick::DType::Q6_K,
        GgmlDType::Q8K => wick::DType::Q8_K,
    }
}

impl QWickStorage {
    pub fn zeros(device: &WickDevice, elem_count: usize, dtype: GgmlDType) -> Result<Self> {
        let nbytes = elem_count / dtype.block_size() * dtype.type_size();
        Self::from_data(device, &vec![0; nbytes], dtype)
    }

    /// From the bytes of blocks, at any address.
    pub fn from_data(device: &WickDevice, data: &[u8], of: GgmlDType) -> Result<Self> {
        let blocks = data.len() / of.type_size();
        let shape = [(blocks * of.block_size()) as i64];
        let blocks = Tensor::from_bytes(&device.device, dtype(of), data, &shape).map_err(slot::error)?;
        Ok(QWickStorage {
            blocks,
            device: device.clone(),
            dtype: of,
        })
    }

    pub fn dtype(&self) -> GgmlDType {
        self.dtype
    }

    pub fn device(&self) -> &WickDevice {
        &self.device
    }

    pub fn storage_size_in_bytes(&self) -> usize {
        self.blocks.count() / self.dtype.block_size() * self.dtype.type_size()
    }

    pub fn data(&self) -> Result<Vec<u8>> {
        let mut data = vec![0; self.storage_size_in_bytes()];
        self.blocks.read_bytes(&mut data).map_err(slot::error)?;
        Ok(data)
    }

    /// Where the blocks lie in the device's memory.
    pub fn device_ptr(&self) -> Result<*const u8> {
        let (data, _) = self.blocks.address().map_err(slot::error)?;
        Ok(data.cast_const().cast())
    }

    /// Quantises on the host, where candle knows how.
    fn set(&mut self, values: &CpuStorage, imatrix: Option<(&[f32], usize)>) -> Result<()> {
        let values = values.as_slice::<f32>()?;
        let mut blocks = self.dtype.cpu_zeros(values.len());
        match imatrix {
            None => blocks.from_float(values),
            Some((weights, n_per_row)) => blocks.from_float_imatrix(values, weights, n_per_row),
        }
        let bytes = unsafe { std::slice::from_raw_parts(blocks.as_ptr(), blocks.storage_size_in_bytes()) };
        *self = Self::from_data(&self.device, bytes, self.dtype)?;
        Ok(())
    }

    pub fn quantize(&mut self, src: &WickStorage) -> Result<()> {
        self.set(&src.to_cpu_storage()?, None)
    }

    pub fn quantize_imatrix(&mut self, src: &WickStorage, weights: &[f32], n_per_row: usize) -> Result<()> {
        self.set(&src.to_cpu_storage()?, Some((weights, n_per_row)))
    }

    pub fn quantize_onto(&mut self, src: &CpuStorage) -> Result<()> {
        self.set(src, None)
    }

    pub fn quantize_imatrix_onto(&mut self, src: &CpuStorage, weights: &[f32], n_per_row: usize) -> Result<()> {
        self.set(src, Some((weights, n_per_row)))
    }

    fn floats(&self, elem_count: usize, of: DType) -> Result<WickStorage> {
        if elem_count != self.blocks.count() {
            crate::bail!("{elem_count} elements asked of {:?}", self.blocks);
        }
        let of_wick = super::dtype(of);
        let made = if of_wick == self.blocks.dtype() {
            self.blocks.deep_clone()
        } else {
            self.blocks.cast(of_wick)
        };
        self.device.made(made, of)
    }

    /// The weights as f32.
    pub fn dequantize(&self, elem_count: usize) -> Result<WickStorage> {
        self.floats(elem_count, DType::F32)
    }

    /// The weights as f16.
    pub fn dequantize_f16(&self, elem_count: usize) -> Result<WickStorage> {
        self.floats(elem_count, DType::F16)
    }

    fn matrix(&self, rows: usize, columns: usize) -> Result<Tensor> {
        self.blocks.reshape(&[rows as i64, columns as i64]).map_err(slot::error)
    }

    /// The rows that `ids` name, f32.
    pub fn embedding(&self, rows: usize, hidden: usize, ids: &WickStorage, ids_l: &Layout) -> Result<WickStorage> {
        let picked = self.matrix(rows, hidden)?.index_select(0, &ids.elements(ids_l)?);
        let picked = picked.and_then(|rows| rows.cast(wick::DType::F32));
        self.device.made(picked, DType::F32)
    }

    /// x weight^T for x [.., k] of f32, f16 or bf16 and weights [n, k]. Activations are rounded to 8 bits, as candle
    /// does on its other devices.
    pub fn fwd(&self, shape: &Shape, x: &WickStorage, l: &Layout) -> Result<(WickStorage, Shape)> {
        let (n, k) = shape.dims2()?;
        let mut dims = l.dims().to_vec();
        match dims.pop() {
            Some(last) if last == k && !dims.is_empty() => dims.push(n),
            _ => crate::bail!("input tensor {l:?} incompatible with {shape:?}"),
        }
        let weights = self.factors(self.matrix(n, k)?, x)?;
        let made = x
            .view(l)?
            .linear_with(&weights, None, &LinearOptions::new().eight_bits(true));
        Ok((x.made(made)?, dims.into()))
    }

    /// A mixture of experts: x \[t,u,k\], or \[t,1,k\] where all experts of a token take the same row, weights \[e,n,k\],
    /// ids \[t,u\] -> \[t,u,n\] of x's dtype. The ids are read to the host. Activations are rounded as above.
    pub fn indexed_moe_forward(
        &self,
        shape: &Shape,
        x: &WickStorage,
        l: &Layout,
        ids: &WickStorage,
        ids_l: &Layout,
    ) -> Result<(WickStorage, Shape)> {
        let (experts, n, k) = shape.dims3()?;
        let (tokens, used) = ids_l.shape().dims2()?;
        let weights = self.blocks.reshape(&[experts as i64, n as i64, k as i64]);
        let weights = self.factors(weights.map_err(slot::error)?, x)?;
        let options = LinearOptions::new().eight_bits(true);
        let made = x.view(l)?.linear_experts(&weights, &ids.view(ids_l)?, None, &options);
        Ok((x.made(made)?, (tokens, used, n).into()))
    }

    /// Weights that are not blocks take the dtype of what they multiply.
    fn factors(&self, weights: Tensor, x: &WickStorage) -> Result<Tensor> {
        match self.dtype {
            GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16 => {
                weights.cast(super::dtype(x.dtype)).map_err(slot::error)
            }
            _ => Ok(weights),
        }
    }
}
