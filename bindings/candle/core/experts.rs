//! candle-nn's moe_gemm functions: a mixture of experts whose pairs of token and expert are sorted by expert.

use super::{computes, slot, WickStorage};
use crate::quantized::QTensor;
use crate::{DType, Result, Shape, Tensor};
use wick::LinearOptions;

/// The weights of all experts, \[e,n,k\].
pub enum Experts<'a> {
    /// Of the dtype of what they multiply.
    Dense(&'a Tensor),
    /// GGML's blocks.
    Blocks(&'a QTensor),
}

/// x \[t,u,k\] or \[t,1,k\] by the experts that ids \[t,u\] name -> \[t,u,n\].
fn moe_gemm_dense(x: &Tensor, weights: &Tensor, ids: &Tensor) -> Result<Tensor> {
    computes(x.dtype(), "moe_gemm")?;
    let (storage, layout) = x.storage_and_layout();
    let storage = slot::storage(&storage)?;
    let view = |x: &Tensor| -> Result<wick::Tensor> {
        let (storage, layout) = x.storage_and_layout();
        slot::storage(&storage)?.view(layout)
    };
    let made = storage
        .view(layout)?
        .linear_experts(&view(weights)?, &view(ids)?, None, &LinearOptions::new());
    let made = made.map_err(slot::error)?;
    let shape: Vec<usize> = made.shape().iter().map(|&size| size as usize).collect();
    let made = WickStorage::new(made, storage.device.clone(), x.dtype());
    Ok(slot::tensor(made, Shape::from(shape)))
}

/// out\[p\] = x\[row of p\] weights\[expert of p\]^T for m pairs p of a token and an expert, `topk` a token. sorted \[m\] lists
/// the pairs in the order of their experts, chosen \[m\] those experts. Without `scales`, x has a row for each token. With
/// scales \[m\], it has one for each pair, and rows of the result are multiplied by them.
pub fn moe_gemm(
    x: &Tensor,
    weights: Experts<'_>,
    scales: Option<&Tensor>,
    (sorted, chosen): (&Tensor, &Tensor),
    topk: usize,
) -> Result<Tensor> {
    let (rows, k) = x.dims2()?;
    let pairs = sorted.elem_count();
    let tokens = pairs.checked_div(topk).unwrap_or(0);
    let expected = if scales.is_some() { pairs } else { tokens };
    if tokens * topk != pairs || rows != expected {
        crate::bail!("moe_gemm: {rows} rows of x, {pairs} pairs of a token and one of its {topk} experts");
    }
    let ids = Tensor::zeros(pairs, DType::U32, x.device())?;
    let ids = ids.scatter(&sorted.flatten_all()?, &chosen.flatten_all()?.to_dtype(DType::U32)?, 0)?;
    let (ids, x) = (
        ids.reshape((tokens, topk))?,
        x.reshape((tokens, rows / tokens.max(1), k))?,
    );
    let made = match weights {
        Experts::Dense(weights) => moe_gemm_dense(&x, weights, &ids)?,
        Experts::Blocks(weights) => weights.indexed_moe_forward(&x, &ids)?,
    };
    let made = made.flatten(0, 1)?;
    match scales {
        Some(scales) => made.broadcast_mul(&scales.reshape((pairs, 1))?.to_dtype(made.dtype())?),
        None => Ok(made),
    }
}
