
GATE
pub fn moe_gemm(
    input: &Tensor,
    weights: &Tensor,
    topk_weights: &Option<Tensor>,
    sorted_token_ids: &Tensor,
    experts_ids: &Tensor,
    topk: usize,
    _: bool,
) -> Result<Tensor> {
    use candle::wick_backend::{moe_gemm, Experts};
    let pairs = (sorted_token_ids, experts_ids);
    moe_gemm(input, Experts::Dense(weights), topk_weights.as_ref(), pairs, topk)
}

GATE
#[allow(clippy::too_many_arguments)]
pub fn moe_gemm_gguf(
    input: &Tensor,
    weights: &QTensor,
    topk_weights: &Option<Tensor>,
    sorted_token_ids: &Tensor,
    experts_ids: &Tensor,
    topk: usize,
    _: bool,
    _: candle::DType,
) -> Result<Tensor> {
    use candle::wick_backend::{moe_gemm, Experts};
    let pairs = (sorted_token_ids, experts_ids);
    moe_gemm(input, Experts::Blocks(weights), topk_weights.as_ref(), pairs, topk)
}
