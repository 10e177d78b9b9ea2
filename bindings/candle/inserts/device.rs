    /// A device of Wick's by name: "cpu", "cuda:0", "rocm:1", or "auto" for the best one that is healthy.
    #[cfg(feature = "wick")]
    pub fn new_wick(name: &str) -> Result<Self> {
        Ok(Self::Wick(crate::WickDevice::open(name)?))
    }

    /// The same with a stream, a memory pool and random numbers of its own.
    #[cfg(feature = "wick")]
    pub fn new_wick_with_stream(name: &str) -> Result<Self> {
        Ok(Self::Wick(crate::WickDevice::open_with_stream(name)?))
    }

    #[cfg(feature = "wick")]
    pub fn as_wick_device(&self) -> Result<&crate::WickDevice> {
        match self {
            Self::Wick(device) => Ok(device),
            other => crate::bail!("expected a wick device, got {other:?}"),
        }
    }

    pub fn is_wick(&self) -> bool {
        #[cfg(feature = "wick")]
        return matches!(self, Self::Wick(_));
        #[cfg(not(feature = "wick"))]
        return false;
    }

