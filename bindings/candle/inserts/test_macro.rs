/// Runs a device test on the device that the environment's WICK_CANDLE_DEVICE names, or Wick's CPU.
#[cfg(feature = "wick")]
#[macro_export]
macro_rules! test_wick_device {
    ($fn_name: ident, $module: ident) => {
        mod $module {
            #[allow(unused_imports)]
            use super::*;
            #[test]
            fn wick() -> Result<()> {
                let name = std::env::var("WICK_CANDLE_DEVICE").unwrap_or_else(|_| "cpu".into());
                super::$fn_name(&Device::new_wick(&name)?)
            }
        }
    };
}
#[cfg(not(feature = "wick"))]
#[macro_export]
macro_rules! test_wick_device {
    ($fn_name: ident, $module: ident) => {};
}

