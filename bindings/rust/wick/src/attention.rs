//! Attention.

use crate::convert::optional;
use crate::{Result, Tensor};
use wick_sys as sys;

/// Which keys a query sees, and what becomes of its scores. The default: every key, scores as they are.
#[derive(Clone, Copy, Default)]
pub struct AttentionOptions<'a> {
    /// Of the scores; 0 stands for 1 / sqrt(D).
    pub scale: f64,
    /// Where positive, scores become `soft_cap` tanh(score / `soft_cap`).
    pub soft_cap: f64,
    /// A query sees no key after its position.
    pub causal: bool,
    /// The last query is at the last key; otherwise the first is at the first.
    pub align_last: bool,
    /// A query at position p sees only keys p - left .. p + right; a negative number sets no limit on its side.
    pub window: Option<(i64, i64)>,
    /// ALiBi slopes, f32, \[H\] or \[B,H\].
    pub slopes: Option<&'a Tensor>,
}

impl AttentionOptions<'_> {
    fn to_sys(self) -> sys::wick_attention_options {
        let (left, right) = self.window.unwrap_or((0, 0));
        sys::wick_attention_options {
            scale: self.scale,
            soft_cap: self.soft_cap,
            causal: self.causal,
            align_last: self.align_last,
            windowed: self.window.is_some(),
            left,
            right,
            slopes: optional(self.slopes),
            ..Default::default()
        }
    }
}

impl Tensor {
    /// softmax(q k^T scale + mask) v by head: self is q \[B,H,M,D\], k \[B,K,N,D\], v \[B,K,N,E\], the result
    /// \[B,H,M,E\]. `mask` broadcasts to \[B,H,M,N\]: u8, where 0 leaves a key out, or of q's dtype, added to the scores.
    ///
    /// ```
    /// use wick::{AttentionOptions, DType, Device, Tensor};
    /// let device = Device::open("cpu")?;
    /// let q = Tensor::normal(&device, DType::F32, &[1, 2, 4, 8], 0.0, 1.0)?;
    /// let options = AttentionOptions { causal: true, ..Default::default() };
    /// let out = q.scaled_dot_product_attention(&q, &q, None, &options)?;
    /// assert_eq!(out.shape(), [1, 2, 4, 8]);
    /// # Ok::<(), wick::Error>(())
    /// ```
    pub fn scaled_dot_product_attention(
        &self,
        k: &Tensor,
        v: &Tensor,
        mask: Option<&Tensor>,
        options: &AttentionOptions<'_>,
    ) -> Result<Tensor> {
        let options = options.to_sys();
        Tensor::made(&self.device, || unsafe {
            sys::wick_scaled_dot_product_attention(self.as_ptr(), k.as_ptr(), v.as_ptr(), optional(mask), &options)
        })
    }

    /// The same for sequences of different lengths that lie one after another: self is q \[M,H,D\], k \[N,K,D\],
    /// v \[N,K,E\]. Sequence b has queries `q_starts[b] .. q_starts[b + 1]` and keys `k_starts[b] .. k_starts[b + 1]`.
    pub fn attention_packed(
        &self,
        k: &Tensor,
        v: &Tensor,
        starts: (&Tensor, &Tensor),
        options: &AttentionOptions<'_>,
    ) -> Result<Tensor> {
        let options = options.to_sys();
        Tensor::made(&self.device, || unsafe {
            sys::wick_attention_packed(
                self.as_ptr(),
                k.as_ptr(),
                v.as_ptr(),
                starts.0.as_ptr(),
                starts.1.as_ptr(),
                &options,
            )
        })
    }
}
