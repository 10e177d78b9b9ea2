    /// Runs the op on a Wick device; by default on the host.
    GATE
    fn NAME(&self, dst: &mut STORAGE, dst_l: &Layout, srcs: [(&STORAGE, &Layout); N]) -> Result<()> {
        let hosts = crate::wick_backend::hosts(srcs.map(|src| Some(src.0)))?;
        let on_host = std::array::from_fn(|i| (&hosts[i], srcs[i].1));
        crate::wick_backend::inplace1(dst, |dst| self.cpu_fwd(dst, dst_l, on_host))
    }

    /// The same where sources share storage with the target.
    GATE
    fn NAME_aliased(&self, dst: &mut STORAGE, dst_l: &Layout, srcs: [(Src<'_, STORAGE>, &Layout); N]) -> Result<()> {
        let hosts = crate::wick_backend::hosts(srcs.map(|src| match src.0 {
            Src::Distinct(storage) => Some(storage),
            Src::Aliased(_) => None,
        }))?;
        let on_host = std::array::from_fn(|i| match srcs[i] {
            (Src::Distinct(_), l) => (Src::Distinct(&hosts[i]), l),
            (Src::Aliased(relation), l) => (Src::Aliased(relation), l),
        });
        crate::wick_backend::inplace1(dst, |dst| self.cpu_fwd_aliased(dst, dst_l, on_host))
    }

