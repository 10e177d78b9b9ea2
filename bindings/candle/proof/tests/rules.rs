//! What a device of candle's must do that candle's own tests do not ask: errors, threads, memory, custom ops, and the cells
//! in which candle's CUDA backend fails.

use candle_core::backend::{BackendDevice, BackendStorage};
use candle_core::{
    CpuStorage, CustomOp1, DType, Device, InplaceOp1, Layout, Result, Shape, Storage, Tensor, WickStorage,
};
use candle_on_wick_proof::{close, device, host, values};

fn text<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("this should fail"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn failures_are_errors_and_harm_nothing() -> Result<()> {
    let device = device();
    let x = Tensor::arange(0f32, 6., &device)?.reshape((3, 2))?;
    let ids = Tensor::new(&[0u32, 7], &device)?;
    let picked = x.index_select(&ids, 0).and_then(|picked| picked.to_vec2::<f32>());
    let said = text(picked);
    assert!(said.contains("index_select") && said.contains('7'), "{said}");
    let zero = Tensor::new(&[1i64, 0], &device)?;
    let said = text((&zero / &zero).and_then(|quotient| quotient.to_vec1::<i64>()));
    assert!(said.contains("div"), "{said}");
    assert!(text(Tensor::new(&[1i64], &device)?.exp()).contains("exp"));
    assert!(text(Device::new_wick("cuda:77")).contains("cuda:77"));
    assert_eq!(x.sum_all()?.to_scalar::<f32>()?, 15.0);
    let other = Device::new_wick_with_stream(device.as_wick_device()?.wick_device().name())?;
    assert!((&x + x.to_device(&other)?).is_err(), "operands of two handles");
    assert_eq!(
        x.to_device(&other)?.to_device(&device)?.to_vec2::<f32>()?,
        x.to_vec2::<f32>()?
    );
    Ok(())
}

#[test]
fn eight_threads_share_a_device() -> Result<()> {
    let device = device();
    let x = host(&[32, 32], 1).to_device(&device)?;
    let expected = x.matmul(&x)?.sum_all()?.to_scalar::<f32>()?;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let sum = x.matmul(&x).unwrap().sum_all().unwrap().to_scalar::<f32>().unwrap();
                    assert_eq!(sum, expected);
                }
            });
        }
    });
    Ok(())
}

#[test]
fn a_thousand_rounds_leak_nothing() -> Result<()> {
    let name = device().as_wick_device()?.wick_device().name().to_owned();
    let mut memory = Vec::new();
    for round in 0..1000 {
        let device = Device::new_wick_with_stream(&name)?;
        let x = Tensor::from_vec(values(256, round), (16, 16), &device)?;
        let wick = device.as_wick_device()?.wick_device().clone();
        drop(device);
        let y = x.t()?.matmul(&x)?.broadcast_add(&x.narrow(0, 1, 1)?)?;
        std::thread::spawn(move || drop(x)).join().unwrap();
        assert_eq!(y.dims(), [16, 16]);
        drop(y);
        memory.push(wick.memory().unwrap().used);
    }
    // The CPU's figures are of all its handles: other tests of this process add to them for a moment.
    assert!(
        memory[999] < memory[0] + 100_000,
        "{} bytes, then {}",
        memory[0],
        memory[999]
    );
    Ok(())
}

struct Twice;

impl CustomOp1 for Twice {
    fn name(&self) -> &'static str {
        "twice"
    }
    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let data = storage.as_slice::<f32>()?;
        let at = |i| layout.start_offset() + i;
        let made = (0..layout.shape().elem_count()).map(|i| 2.0 * data[at(i)]).collect();
        Ok((CpuStorage::F32(made), layout.shape().clone()))
    }
}

struct Clear;

impl InplaceOp1 for Clear {
    fn name(&self) -> &'static str {
        "clear"
    }
    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let CpuStorage::F32(data) = storage else {
            candle_core::bail!("f32 expected")
        };
        let (start, end) = layout.contiguous_offsets().unwrap();
        data[start..end].fill(0.0);
        Ok(())
    }
}

#[test]
fn foreign_custom_ops_run() -> Result<()> {
    let x = Tensor::arange(0f32, 6., &device())?;
    assert_eq!(x.narrow(0, 2, 3)?.apply_op1(Twice)?.to_vec1::<f32>()?, [4., 6., 8.]);
    x.narrow(0, 2, 3)?.inplace_op1(&Clear)?;
    assert_eq!(x.to_vec1::<f32>()?, [0., 1., 0., 0., 0., 5.]);
    Ok(())
}

/// An op with a kernel of its own, which is a loop on the processor. On GPUs Wick stands in for it.
struct Triple;

impl CustomOp1 for Triple {
    fn name(&self) -> &'static str {
        "triple"
    }
    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        candle_core::bail!("this one is for Wick devices")
    }
    fn wick_fwd(&self, storage: &WickStorage, layout: &Layout) -> Result<(WickStorage, Shape)> {
        let device = storage.device();
        let made = unsafe { device.alloc_uninit(layout.shape(), DType::F32)? };
        let (from, stream) = storage.wick_tensor().address()?;
        let (to, same) = made.wick_tensor().address()?;
        assert!(!from.is_null() && !to.is_null() && from != to);
        assert_eq!((stream, same), (device.wick_device().stream(), stream));
        assert_eq!(stream.is_null(), device.family() == "cpu");
        if device.family() == "cpu" {
            let (from, to) = (from.cast::<f32>(), to.cast::<f32>());
            for i in 0..layout.shape().elem_count() {
                unsafe { *to.add(i) = 3.0 * *from.add(layout.start_offset() + i) };
            }
        } else {
            let tripled = storage.affine(layout, 3.0, 0.0)?;
            unsafe { made.wick_tensor().copy_inplace(tripled.wick_tensor())? };
        }
        Ok((made, layout.shape().clone()))
    }
}

#[test]
fn custom_ops_get_a_stream_and_addresses() -> Result<()> {
    let x = Tensor::arange(0f32, 6., &device())?;
    assert_eq!(x.narrow(0, 2, 3)?.apply_op1(Triple)?.to_vec1::<f32>()?, [6., 9., 12.]);
    Ok(())
}

/// Nanoseconds of a call, the least of many batches.
fn nanoseconds(mut call: impl FnMut()) -> f64 {
    let batch = |call: &mut dyn FnMut()| {
        let begun = std::time::Instant::now();
        (0..1000).for_each(|_| call());
        begun.elapsed().as_nanos() as f64 / 1000.0
    };
    (0..200).map(|_| batch(&mut call)).fold(f64::INFINITY, f64::min)
}

/// Run alone, with `--ignored --nocapture`: what candle adds to a call of Wick's.
#[test]
#[ignore = "measures time"]
fn dispatch_costs_little() -> Result<()> {
    let device = device();
    let x = host(&[4, 4], 1).to_device(&device)?;
    let storage = x.storage_and_layout().0;
    let Storage::Wick(storage) = &*storage else {
        unreachable!()
    };
    let y = storage.wick_tensor().clone();
    let (direct, through) = (
        nanoseconds(|| drop(y.add(&y).unwrap())),
        nanoseconds(|| drop((&x + &x).unwrap())),
    );
    println!("add of 16 numbers: {direct:.0} ns by Wick, {through:.0} ns through candle");
    assert!(through < direct + 500.0);
    Ok(())
}

#[test]
fn halves_round_away_from_zero() -> Result<()> {
    let device = device();
    let patterns = Tensor::from_vec((0..=u16::MAX).map(half_bits).collect::<Vec<_>>(), 65536, &Device::Cpu)?;
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let x = patterns.to_dtype(dtype)?;
        let here = x.to_device(&device)?.round()?.to_dtype(DType::F64)?.to_vec1::<f64>()?;
        let expected = x.to_dtype(DType::F64)?.to_vec1::<f64>()?;
        for (a, x) in here.iter().zip(&expected) {
            assert!(
                *a == x.round() || (a.is_nan() && x.is_nan()),
                "{dtype:?}: round({x}) is {a}"
            );
        }
    }
    let edges = [
        0.49999997f32,
        0.5,
        -0.49999997,
        -0.5,
        8388607.5,
        -8388607.5,
        4194304.5,
        f32::MAX,
        f32::INFINITY,
    ];
    let expected: Vec<f32> = edges.iter().map(|x| x.round()).collect();
    assert_eq!(Tensor::new(&edges, &device)?.round()?.to_vec1::<f32>()?, expected);
    Ok(())
}

/// The number that the bits are as f16, computed from sign, exponent and fraction.
fn half_bits(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// Each of these is an error, a wrong result or the end of the process on candle's CUDA backend.
#[test]
fn cells_that_candle_lacks_on_gpus() -> Result<()> {
    let device = device();
    for dtype in [DType::I16, DType::I32, DType::F8E4M3] {
        let ones = Tensor::ones((2, 3), dtype, &device)?;
        let two = (&ones + &ones)?.t()?.contiguous()?;
        let joined = Tensor::cat(&[&two, &ones.t()?.contiguous()?], 1)?.to_dtype(DType::F32)?;
        assert_eq!(joined.to_vec2::<f32>()?, vec![vec![2., 2., 1., 1.]; 3]);
        assert_eq!(
            ones.gt(&ones)?.to_dtype(DType::F32)?.sum_all()?.to_scalar::<f32>()?,
            0.0
        );
    }
    let long = Tensor::new(&[3i64, -4], &device)?;
    assert_eq!(
        long.to_dtype(DType::BF16)?.to_dtype(DType::I64)?.to_vec1::<i64>()?,
        [3, -4]
    );
    let x = host(&[1, 2, 5], 1);
    close(
        &x.to_device(&device)?.upsample_nearest1d(9)?,
        &x.upsample_nearest1d(9)?,
        0.0,
    )?;
    let row = host(&[1, 9000], 2);
    let sorted = row.to_device(&device)?.sort_last_dim(true)?.0.to_vec2::<f32>()?;
    assert!(sorted[0].windows(2).all(|pair| pair[0] <= pair[1]));
    let (image, kernel) = (host(&[1, 2, 6, 6], 3), host(&[3, 3, 2, 4], 4).permute((3, 2, 0, 1))?);
    let expected = image.conv2d(&kernel.contiguous()?, 1, 2, 2, 1)?;
    close(
        &image
            .to_device(&device)?
            .conv2d(&kernel.to_device(&device)?, 1, 2, 2, 1)?,
        &expected,
        1e-6,
    )?;
    let table = host(&[4, 3], 5);
    let ids = Tensor::new(&[[0u32, 3], [2, 1]], &Device::Cpu)?;
    let strided = ids.to_device(&device)?.t()?.narrow(0, 1, 1)?.squeeze(0)?; // 3, 1
    let picked = table.to_device(&device)?.index_select(&strided, 0)?;
    close(
        &picked,
        &table.index_select(&Tensor::new(&[3u32, 1], &Device::Cpu)?, 0)?,
        0.0,
    )?;
    let target = table.to_device(&device)?.narrow(0, 1, 3)?;
    let added = target.index_add(
        &Tensor::new(&[2u32], &device)?,
        &Tensor::ones((1, 3), DType::F32, &device)?,
        0,
    )?;
    let expected = table.narrow(0, 1, 3)?.contiguous()?;
    let expected = expected.index_add(
        &Tensor::new(&[2u32], &Device::Cpu)?,
        &Tensor::ones((1, 3), DType::F32, &Device::Cpu)?,
        0,
    )?;
    close(&added, &expected, 0.0)?;
    let picture = host(&[1, 1, 4, 6], 6).transpose(2, 3)?;
    close(
        &picture.to_device(&device)?.upsample_bilinear2d(6, 4, false)?,
        &picture.contiguous()?,
        1e-6,
    )?;
    assert_eq!(Tensor::zeros((3, 0, 2), DType::F32, &device)?.sum(0)?.dims(), [0, 2]);
    Ok(())
}
