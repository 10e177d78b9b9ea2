//! The safe crate: values, errors, ownership, threads. Expected values are worked out by hand or by loops here.

use wick::{ConvOptions, DType, Device, Error, Result, Status, Tensor};

fn device() -> Device {
    let name = std::env::var("WICK_RUST_DEVICE").unwrap_or_else(|_| "cpu".into());
    Device::open(&name).unwrap()
}

#[test]
fn computes_and_reads() -> Result<()> {
    let device = device();
    let x = Tensor::from_slice(&device, &[1f32, 2., 3., 4., 5., 6.], &[2, 3])?;
    assert_eq!(x.matmul(&x.t()?)?.to_vec::<f32>()?, [14., 32., 32., 77.]);
    assert_eq!(x.sum(None, false)?.read_scalar()?, 21.0);
    assert_eq!(x.sum(Some(&[0]), true)?.shape(), [1, 3]);
    assert_eq!(x.sum(Some(&[]), false)?.to_vec::<f32>()?, [1., 2., 3., 4., 5., 6.]);
    assert_eq!(x.affine(2, 0.5)?.to_vec::<f32>()?, [2.5, 4.5, 6.5, 8.5, 10.5, 12.5]);
    assert_eq!(Tensor::cat(&[&x, &x], 0)?.shape(), [4, 3]);
    assert_eq!(
        x.chunk(2, 1)?.iter().map(|part| part.shape()[1]).collect::<Vec<_>>(),
        [2, 1]
    );
    let (values, indices) = x.sort(1, true)?;
    assert_eq!(values.to_vec::<f32>()?, [3., 2., 1., 6., 5., 4.]);
    assert_eq!(indices.to_vec::<u32>()?, [2, 1, 0, 2, 1, 0]);
    let wide = Tensor::full(&device, DType::I64, &[2], i64::MAX)?;
    assert_eq!(wide.to_vec::<i64>()?, [i64::MAX, i64::MAX]);
    let image = Tensor::from_slice(&device, &[1f32, 2., 3., 4.], &[1, 1, 2, 2])?;
    let kernel = Tensor::from_slice(&device, &[1f32; 9], &[1, 1, 3, 3])?;
    let sums = image.conv2d(&kernel, None, &ConvOptions::new().padding(&[1, 1]))?;
    assert_eq!(sums.to_vec::<f32>()?, [10.0; 4]);
    Ok(())
}

#[test]
fn views_share_elements() -> Result<()> {
    let device = device();
    let x = Tensor::zeros(&device, DType::I32, &[2, 3])?;
    let column = x.select(1, 1)?;
    let copy = x.deep_clone()?;
    unsafe { column.fill_inplace(7)? };
    assert_eq!(x.to_vec::<i32>()?, [0, 7, 0, 0, 7, 0]);
    assert_eq!(copy.to_vec::<i32>()?, [0; 6]);
    let diagonal = x.as_strided(&[2], &[4], 0)?;
    assert_eq!(diagonal.to_vec::<i32>()?, [0, 7]);
    assert_eq!((diagonal.strides(), diagonal.offset()), ([4i64].as_slice(), 0));
    Ok(())
}

fn failure<T>(result: Result<T>) -> Error {
    match result {
        Ok(_) => panic!("this should fail"),
        Err(error) => error,
    }
}

#[test]
fn errors_have_status_and_text() -> Result<()> {
    let device = device();
    let x = Tensor::zeros(&device, DType::F32, &[2, 3])?;
    let error = failure(x.matmul(&x));
    assert_eq!(error.status(), Status::Shape);
    assert!(
        error.to_string().contains("matmul") && error.to_string().contains("[2,3]"),
        "{error}"
    );
    assert_eq!(failure(x.add(&x.cast(DType::F16)?)).status(), Status::Dtype);
    assert_eq!(failure(x.to_vec::<f64>()).status(), Status::Dtype);
    assert_eq!(failure(x.read(&mut [0f32; 5])).status(), Status::Invalid);
    assert_eq!(failure(Device::open("no\0name")).status(), Status::Invalid);
    assert_eq!(failure(Device::open("cuda:99")).status(), Status::Device);
    assert_eq!(failure(Tensor::cat(&[], 0)).status(), Status::Invalid);
    assert_eq!(failure(x.as_strided(&[2], &[1, 1], 0)).status(), Status::Invalid);
    assert_eq!(failure(x.as_strided(&[7], &[1], 0)).status(), Status::Range);
    // A failure is forgotten once it has been told.
    assert_eq!(x.exp()?.to_vec::<f32>()?, [1.0; 6]);
    let zero = Tensor::zeros(&device, DType::I32, &[2])?;
    let quotient = zero.div(&zero).and_then(|quotient| quotient.to_vec::<i32>());
    assert_eq!(failure(quotient).status(), Status::Divide);
    Ok(())
}

#[test]
fn tensors_outlive_their_device_on_any_thread() -> Result<()> {
    let device = device();
    let x = Tensor::full(&device, DType::F32, &[1000], 1.5)?;
    drop(device);
    let threads: Vec<_> = (0..8)
        .map(|i| {
            let x = x.clone();
            std::thread::spawn(move || {
                (0..50)
                    .map(|_| {
                        x.mul_scalar(i)
                            .unwrap()
                            .sum(None, false)
                            .unwrap()
                            .read_scalar()
                            .unwrap()
                    })
                    .sum::<f64>()
            })
        })
        .collect();
    drop(x);
    for (i, thread) in threads.into_iter().enumerate() {
        assert_eq!(thread.join().unwrap(), 50.0 * 1500.0 * i as f64);
    }
    Ok(())
}

#[test]
fn memory_of_others_goes_back_once() -> Result<()> {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Owner(#[allow(dead_code)] Vec<f32>);
    impl Drop for Owner {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::SeqCst);
        }
    }
    let device = Device::open("cpu")?; // host memory
    let adopt = |count: i64| {
        let mut numbers = vec![1f32, 2.0, 3.0, 4.0];
        let data = numbers.as_mut_ptr().cast();
        unsafe { Tensor::from_memory(&device, DType::F32, &[count], (data, 16), Owner(numbers)) }
    };
    let x = adopt(4)?;
    let y = x.narrow(0, 1, 2)?;
    drop(x);
    assert_eq!(DROPPED.load(Ordering::SeqCst), 0);
    assert_eq!(y.to_vec::<f32>()?, [2.0, 3.0]);
    drop(y);
    assert_eq!(DROPPED.load(Ordering::SeqCst), 1);
    assert_eq!(failure(adopt(5)).status(), Status::Invalid);
    assert_eq!(DROPPED.load(Ordering::SeqCst), 2);
    Ok(())
}

#[test]
fn nothing_leaks() -> Result<()> {
    // Memory figures of the CPU are shared by all its handles: other tests of this process add to them for a moment.
    let device = device();
    let round = || -> Result<()> {
        let x = Tensor::full(&device, DType::F32, &[64, 64], 0.5)?;
        let y = x.matmul(&x)?.softmax(-1)?;
        failure(y.reshape(&[5]));
        y.narrow(0, 1, 2)?.to_vec::<f32>()?;
        Ok(())
    };
    for _ in 0..1000 {
        round()?;
    }
    let bytes = 64 * 64 * 4;
    assert!(device.memory()?.used < 200 * bytes, "{:?}", device.memory()?);
    Ok(())
}
