//! Ops that candle has as custom ops, and Wick as its own.

use super::{computes, slot, WickStorage};
use crate::{DType, Layout, Result, Shape, Tensor};

/// A storage and its layout.
pub type Operand<'a> = (&'a WickStorage, &'a Layout);

/// How rotary embedding pairs elements and lays out its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rope {
    /// Pairs (2i, 2i + 1) of \[b,h,t,d\].
    Interleaved,
    /// Pairs (i, i + d/2) of \[b,h,t,d\].
    Halves,
    /// Pairs (i, i + d/2) of \[b,t,h,d\].
    HalvesThd,
}

/// Which keys a query sees, and how scores change. The last query is at the last key.
#[derive(Clone, Copy, Default)]
pub struct Attention<'a> {
    /// Of the scores; 0 stands for 1 / sqrt(d).
    pub scale: f32,
    /// Where positive, scores become `soft_cap` tanh(score / `soft_cap`).
    pub soft_cap: f32,
    /// A query sees no key further before its position; `None`: no limit.
    pub left: Option<usize>,
    /// A query sees no key further behind its position; `Some(0)` is causal attention.
    pub right: Option<usize>,
    /// ALiBi slopes, f32, \[h\] or \[b,h\].
    pub slopes: Option<&'a Tensor>,
}

impl Attention<'_> {
    fn options<'b>(&self, slopes: Option<&'b wick::Tensor>) -> wick::AttentionOptions<'b> {
        let side = |limit: Option<usize>| limit.map_or(-1, |keys| i64::try_from(keys).unwrap_or(-1));
        let causal = self.right == Some(0);
        let window =
            (self.left.is_some() || (self.right.is_some() && !causal)).then(|| (side(self.left), side(self.right)));
        wick::AttentionOptions {
            scale: self.scale.into(),
            soft_cap: self.soft_cap.into(),
            causal,
            align_last: true,
            window,
            slopes,
        }
    }
}

/// A tensor of candle's as Wick's, for operands that candle hands over with the op.
fn tensor(x: &Tensor) -> Result<wick::Tensor> {
    let (storage, layout) = x.storage_and_layout();
    slot::storage(&storage)?.view(layout)
}

impl WickStorage {
    fn same_shape(
        &self,
        l: &Layout,
        op: &'static str,
        call: impl FnOnce(&wick::Tensor) -> wick::Result<wick::Tensor>,
    ) -> Result<(WickStorage, Shape)> {
        computes(self.dtype, op)?;
        let made = call(&self.view(l)?).map_err(slot::error)?;
        Ok((
            WickStorage::new(made, self.device.clone(), self.dtype),
            l.shape().clone(),
        ))
    }

    /// 1 / (1 + exp(-x)).
    pub fn sigmoid(&self, l: &Layout) -> Result<(WickStorage, Shape)> {
        self.same_shape(l, "sigmoid", |x| x.sigmoid())
    }

    /// exp(x) / sum(exp(x)) along the last dim.
    pub fn softmax_last_dim(&self, l: &Layout) -> Result<(WickStorage, Shape)> {
        self.same_shape(l, "softmax-last-dim", |x| x.softmax(-1))
    }

    /// x / sqrt(mean(x^2) + eps) alpha over the last dim.
    pub fn rms_norm(&self, l: &Layout, alpha: Operand<'_>, eps: f32) -> Result<(WickStorage, Shape)> {
        let alpha = alpha.0.view(alpha.1)?;
        self.same_shape(l, "rms-norm", |x| x.rms_norm(Some(&alpha), eps.into()))
    }

    /// (x - mean) / sqrt(var + eps) alpha + beta over the last dim.
    pub fn layer_norm(
        &self,
        l: &Layout,
        alpha: Operand<'_>,
        beta: Operand<'_>,
        eps: f32,
    ) -> Result<(WickStorage, Shape)> {
        let (alpha, beta) = (alpha.0.view(alpha.1)?, beta.0.view(beta.1)?);
        self.same_shape(l, "layer-norm", |x| {
            x.layer_norm(1, Some(&alpha), Some(&beta), eps.into())
        })
    }

    /// Rotary embedding with tables of \[t,d/2\] or \[b,t,d/2\].
    pub fn rope(&self, l: &Layout, cos: Operand<'_>, sin: Operand<'_>, form: Rope) -> Result<(WickStorage, Shape)> {
        let (cos, sin) = (cos.0.view(cos.1)?, sin.0.view(sin.1)?);
        self.same_shape(l, "rope", |x| match form {
            Rope::Interleaved => x.rope(&cos, &sin, true),
            Rope::Halves => x.rope(&cos, &sin, false),
            Rope::HalvesThd => x.rope_thd(&cos, &sin, false),
        })
    }

    /// The order of the elements along the last dim, u32; stable.
    pub fn argsort_last_dim(&self, l: &Layout, ascending: bool) -> Result<(WickStorage, Shape)> {
        computes(self.dtype, "argsort")?;
        let made = self.view(l)?.argsort(-1, !ascending).map_err(slot::error)?;
        Ok((
            WickStorage::new(made, self.device.clone(), DType::U32),
            l.shape().clone(),
        ))
    }

    /// softmax(q k^T scale + mask) v: q \[b,h,m,d\], k and v \[b,k,n,d\], without room for m x n scores.
    pub fn attention(
        &self,
        l: &Layout,
        k: Operand<'_>,
        v: Operand<'_>,
        mask: Option<&Tensor>,
        form: &Attention<'_>,
    ) -> Result<(WickStorage, Shape)> {
        computes(self.dtype, "attention")?;
        let (q, k, v) = (self.view(l)?, k.0.view(k.1)?, v.0.view(v.1)?);
        let (mask, slopes) = (mask.map(tensor).transpose()?, form.slopes.map(tensor).transpose()?);
        let options = form.options(slopes.as_ref());
        let made = q.scaled_dot_product_attention(&k, &v, mask.as_ref(), &options);
        self.shaped(made.map_err(slot::error)?)
    }

    /// The same for sequences that lie one after another: q \[m,h,d\], k and v \[n,k,d\]. Sequence b has the queries
    /// `starts.0[b] .. starts.0[b + 1]` and the keys that `starts.1` says.
    pub fn attention_packed(
        &self,
        l: &Layout,
        k: Operand<'_>,
        v: Operand<'_>,
        starts: (&Tensor, &Tensor),
        form: &Attention<'_>,
    ) -> Result<(WickStorage, Shape)> {
        computes(self.dtype, "attention")?;
        let (q, k, v) = (self.view(l)?, k.0.view(k.1)?, v.0.view(v.1)?);
        let (queries, keys) = (tensor(starts.0)?, tensor(starts.1)?);
        let slopes = form.slopes.map(tensor).transpose()?;
        let options = form.options(slopes.as_ref());
        let made = q.attention_packed(&k, &v, (&queries, &keys), &options);
        self.shaped(made.map_err(slot::error)?)
    }

    fn shaped(&self, made: wick::Tensor) -> Result<(WickStorage, Shape)> {
        let shape: Vec<usize> = made.shape().iter().map(|&size| size as usize).collect();
        Ok((WickStorage::new(made, self.device.clone(), self.dtype), shape.into()))
    }
}
