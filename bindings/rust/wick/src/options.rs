//! Options of convolutions, pooling, resizing and layers. The default is what PyTorch has by default.

use crate::convert::optional;
use crate::{DType, Result, Tensor};
use wick_sys as sys;

fn fill<T: Copy>(target: &mut [T; 3], values: &[T]) {
    for (place, value) in target.iter_mut().zip(values) {
        *place = *value;
    }
}

macro_rules! options {
    ($(#[$text:meta])* $name:ident: $kind:ident { $($(#[$note:meta])* $field:ident: $form:tt,)* }) => {
        $(#[$text])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name(pub(crate) sys::$kind);

        impl $name {
            /// The defaults.
            pub fn new() -> Self {
                Self::default()
            }
            $(options!(@method $(#[$note])* $field $form);)*
        }
    };
    (@method $(#[$note:meta])* $field:ident sizes) => {
        $(#[$note])*
        ///
        /// One number a spatial dim; those past the third are ignored.
        pub fn $field(mut self, sizes: &[i64]) -> Self {
            fill(&mut self.0.$field, sizes);
            self
        }
    };
    (@method $(#[$note:meta])* $field:ident scales) => {
        $(#[$note])*
        pub fn $field(mut self, scales: &[f64]) -> Self {
            fill(&mut self.0.$field, scales);
            self
        }
    };
    (@method $(#[$note:meta])* $field:ident $kind:ty) => {
        $(#[$note])*
        pub fn $field(mut self, value: $kind) -> Self {
            self.0.$field = value;
            self
        }
    };
}

options! {
    /// Options of convolutions: stride 1, no padding, dilation 1, one group.
    ///
    /// ```
    /// let options = wick::ConvOptions::new().stride(&[2, 2]).padding(&[1, 1]);
    /// ```
    ConvOptions: wick_conv_options {
        /// The step between windows.
        stride: sizes,
        /// Zeros around the input, on both sides of each dim.
        padding: sizes,
        /// The distance of neighbouring taps.
        dilation: sizes,
        /// Transposed convolutions only: added to one end of the result.
        output_padding: sizes,
        /// Channels are split into this many independent convolutions.
        groups: i64,
        /// The result is max(0, .).
        relu: bool,
    }
}

options! {
    /// Options of pooling: the stride is the kernel's size, no padding, dilation 1, sizes rounded down.
    PoolOptions: wick_pool_options {
        /// The step between windows.
        stride: sizes,
        /// At most half of the kernel's extent.
        padding: sizes,
        /// Max pooling only.
        dilation: sizes,
        /// Sizes are rounded up.
        ceil_mode: bool,
        /// Averages divide by the number of elements inside the input.
        exclude_padding: bool,
        /// Averages divide by this instead.
        divisor: i64,
    }
}

options! {
    /// Options of resizing: positions follow from the two sizes alone.
    UpsampleOptions: wick_upsample_options {
        /// Output size / input size for each spatial dim; 0 means none.
        scale: scales,
        /// The corner elements keep their places.
        align_corners: bool,
    }
}

/// Options of [`Tensor::linear_with`](crate::Tensor::linear_with): no activation, exact products.
///
/// ```
/// let options = wick::LinearOptions::new().activation(wick::Activation::Silu).eight_bits(true);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct LinearOptions(pub(crate) sys::wick_linear_options);

impl LinearOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }
    /// Applied to every element of the result before it is rounded.
    pub fn activation(mut self, activation: crate::Activation) -> Self {
        self.0.activation = activation as sys::wick_activation;
        self
    }
    /// Weights of blocks are multiplied by activations that are rounded to 8 bits.
    pub fn eight_bits(mut self, yes: bool) -> Self {
        self.0.products = if yes {
            sys::WICK_PRODUCTS_8_BIT
        } else {
            sys::WICK_PRODUCTS_EXACT
        };
        self
    }
}

impl Tensor {
    /// x \[..,K\] of f32, f16 or bf16 as blocks of a quantised dtype: scales are searched that keep the sum of squared
    /// errors small. `importance`, \[K\] of f32, says how much an error in each column counts; `None`: all the same. The
    /// processor does it, whichever device x is on.
    pub fn quantise(&self, dtype: DType, importance: Option<&Tensor>) -> Result<Tensor> {
        let options = sys::wick_quantise_options {
            importance: optional(importance),
            ..Default::default()
        };
        Tensor::made(&self.device, || unsafe {
            sys::wick_quantise(self.as_ptr(), dtype as sys::wick_dtype, &options)
        })
    }
}
