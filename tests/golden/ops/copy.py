op("contiguous")(lambda c: c.a.clone())
op("copy_inplace")(lambda c: c.a.clone().copy_(c.b))
