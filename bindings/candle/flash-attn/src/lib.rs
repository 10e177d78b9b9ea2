//! The functions of candle-flash-attn by Wick's attention: on all of Wick's devices, for all float dtypes and any size of
//! head. Nothing has to be compiled with nvcc.
//!
//! In all of them the last query is at the last key. A query sees the keys from `window_size_left` before its position to
//! `window_size_right` behind it; `None` sets no limit on that side, and `causal` stands for a right side of 0. A query
//! that sees no key gives zeros. Head h of q uses head h / (heads of q / heads of k) of k and v.
//!
//! Gradients do not pass through, as in candle-flash-attn.

#![allow(clippy::too_many_arguments)] // the functions are candle's

use candle::wick_backend::{Attention, WickStorage};
use candle::{CpuStorage, CustomOp3, Layout, Result, Shape, Tensor};

#[derive(Default)]
struct FlashAttn {
    scale: f32,
    softcap: f32,
    left: Option<usize>,
    right: Option<usize>,
    slopes: Option<Tensor>,
    starts: Option<(Tensor, Tensor)>,
}

impl CustomOp3 for FlashAttn {
    fn name(&self) -> &'static str {
        "flash-attn"
    }

    fn cpu_fwd(
        &self,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        candle::bail!("flash-attn: candle's own CPU device has none; Device::new_wick(\"cpu\") has")
    }

    fn wick_fwd(
        &self,
        q: &WickStorage,
        q_l: &Layout,
        k: &WickStorage,
        k_l: &Layout,
        v: &WickStorage,
        v_l: &Layout,
    ) -> Result<(WickStorage, Shape)> {
        let form = Attention {
            scale: self.scale,
            soft_cap: self.softcap,
            left: self.left,
            right: self.right,
            slopes: self.slopes.as_ref(),
        };
        match &self.starts {
            Some((queries, keys)) => q.attention_packed(q_l, (k, k_l), (v, v_l), (queries, keys), &form),
            None => q.attention(q_l, (k, k_l), (v, v_l), None, &form),
        }
    }
}

/// The same numbers with heads before tokens, and back: views, not copies.
fn by_heads(q: &Tensor, k: &Tensor, v: &Tensor, op: FlashAttn) -> Result<Tensor> {
    let (k, v) = (k.transpose(1, 2)?, v.transpose(1, 2)?);
    q.transpose(1, 2)?.apply_op3(&k, &v, op)?.transpose(1, 2)
}

fn right_of(causal: bool) -> Option<usize> {
    causal.then_some(0)
}

/// softmax(q k^T softmax_scale) v: q \[b,m,h,d\], k and v \[b,n,k,d\] -> \[b,m,h,d\].
pub fn flash_attn(q: &Tensor, k: &Tensor, v: &Tensor, softmax_scale: f32, causal: bool) -> Result<Tensor> {
    flash_attn_windowed(q, k, v, softmax_scale, None, right_of(causal))
}

/// The same with a window.
pub fn flash_attn_windowed(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    softmax_scale: f32,
    window_size_left: Option<usize>,
    window_size_right: Option<usize>,
) -> Result<Tensor> {
    let (left, right) = (window_size_left, window_size_right);
    flash_attn_alibi_windowed_softcap(q, k, v, None, softmax_scale, left, right, 0.0)
}

/// The same with ALiBi: `alibi_slopes` \[h\] or \[b,h\], f32, times the distance of key and query is subtracted from scores.
pub fn flash_attn_alibi(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    alibi_slopes: &Tensor,
    softmax_scale: f32,
    causal: bool,
) -> Result<Tensor> {
    flash_attn_alibi_windowed(q, k, v, alibi_slopes, softmax_scale, None, right_of(causal))
}

/// The same with ALiBi and a window.
pub fn flash_attn_alibi_windowed(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    alibi_slopes: &Tensor,
    softmax_scale: f32,
    window_size_left: Option<usize>,
    window_size_right: Option<usize>,
) -> Result<Tensor> {
    let (left, right) = (window_size_left, window_size_right);
    flash_attn_alibi_windowed_softcap(q, k, v, Some(alibi_slopes), softmax_scale, left, right, 0.0)
}

/// The same, and scores become `softcap` tanh(score / `softcap`) before slopes; 0 leaves them.
pub fn flash_attn_alibi_windowed_softcap(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    alibi_slopes: Option<&Tensor>,
    softmax_scale: f32,
    window_size_left: Option<usize>,
    window_size_right: Option<usize>,
    softcap: f32,
) -> Result<Tensor> {
    let op = FlashAttn {
        scale: softmax_scale,
        softcap,
        left: window_size_left,
        right: window_size_right,
        slopes: alibi_slopes.cloned(),
        starts: None,
    };
    by_heads(q, k, v, op)
}

/// `flash_attn` of sequences that lie one after another: q \[m,h,d\], k and v \[n,k,d\] -> \[m,h,d\]. Sequence b has queries
/// `seqlens_q[b] .. seqlens_q[b + 1]` and keys `seqlens_k[b] .. seqlens_k[b + 1]`, u32. The greatest lengths are not needed.
pub fn flash_attn_varlen(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    seqlens_q: &Tensor,
    seqlens_k: &Tensor,
    max_seqlen_q: usize,
    max_seqlen_k: usize,
    softmax_scale: f32,
    causal: bool,
) -> Result<Tensor> {
    let (longest_q, longest_k) = (max_seqlen_q, max_seqlen_k);
    let right = right_of(causal);
    flash_attn_varlen_windowed(
        q,
        k,
        v,
        seqlens_q,
        seqlens_k,
        longest_q,
        longest_k,
        softmax_scale,
        None,
        right,
    )
}

/// The same with a window.
pub fn flash_attn_varlen_windowed(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    seqlens_q: &Tensor,
    seqlens_k: &Tensor,
    _max_seqlen_q: usize,
    _max_seqlen_k: usize,
    softmax_scale: f32,
    window_size_left: Option<usize>,
    window_size_right: Option<usize>,
) -> Result<Tensor> {
    let op = FlashAttn {
        scale: softmax_scale,
        left: window_size_left,
        right: window_size_right,
        starts: Some((seqlens_q.clone(), seqlens_k.clone())),
        ..Default::default()
    };
    q.apply_op3(k, v, op)
}

/// The same with ALiBi.
pub fn flash_attn_varlen_alibi(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    alibi_slopes: &Tensor,
    seqlens_q: &Tensor,
    seqlens_k: &Tensor,
    max_seqlen_q: usize,
    max_seqlen_k: usize,
    softmax_scale: f32,
    causal: bool,
) -> Result<Tensor> {
    let (slopes, right) = (Some(alibi_slopes), right_of(causal));
    let (longest_q, longest_k) = (max_seqlen_q, max_seqlen_k);
    flash_attn_varlen_alibi_windowed_softcap(
        q,
        k,
        v,
        slopes,
        seqlens_q,
        seqlens_k,
        longest_q,
        longest_k,
        softmax_scale,
        None,
        right,
        0.0,
    )
}

/// The same with ALiBi and a window.
pub fn flash_attn_varlen_alibi_windowed(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    alibi_slopes: &Tensor,
    seqlens_q: &Tensor,
    seqlens_k: &Tensor,
    max_seqlen_q: usize,
    max_seqlen_k: usize,
    softmax_scale: f32,
    window_size_left: Option<usize>,
    window_size_right: Option<usize>,
) -> Result<Tensor> {
    let (slopes, left, right) = (Some(alibi_slopes), window_size_left, window_size_right);
    let (longest_q, longest_k) = (max_seqlen_q, max_seqlen_k);
    flash_attn_varlen_alibi_windowed_softcap(
        q,
        k,
        v,
        slopes,
        seqlens_q,
        seqlens_k,
        longest_q,
        longest_k,
        softmax_scale,
        left,
        right,
        0.0,
    )
}

/// The same with `softcap`.
pub fn flash_attn_varlen_alibi_windowed_softcap(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    alibi_slopes: Option<&Tensor>,
    seqlens_q: &Tensor,
    seqlens_k: &Tensor,
    _max_seqlen_q: usize,
    _max_seqlen_k: usize,
    softmax_scale: f32,
    window_size_left: Option<usize>,
    window_size_right: Option<usize>,
    softcap: f32,
) -> Result<Tensor> {
    let op = FlashAttn {
        scale: softmax_scale,
        softcap,
        left: window_size_left,
        right: window_size_right,
        slopes: alibi_slopes.cloned(),
        starts: Some((seqlens_q.clone(), seqlens_k.clone())),
    };
    q.apply_op3(k, v, op)
}
