//! Faults on demand under candle: Wick's host memory runs out at one allocation after the other, and, on a driver that
//! stands in for a GPU, one call of the driver after the other fails. Each has to end in an error with Wick's text or in
//! the right result, never in a panic or a signal. Every fault has a process of its own.

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::wick_backend::wick::sys;
use candle_core::{Device, Module, Result, Tensor, Var};
use candle_nn::Optimizer;
use candle_on_wick_proof::{device, host};
use std::alloc::Layout;
use std::ffi::c_void;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Allocations so far, and the one that fails; 0: none does.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static FAILING: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn alloc(_: *mut c_void, nbytes: usize, alignment: usize) -> *mut c_void {
    if COUNT.fetch_add(1, Relaxed) + 1 == FAILING.load(Relaxed) {
        return std::ptr::null_mut();
    }
    // A place in front of the memory keeps the alignment.
    let (room, layout) = with_room(nbytes, alignment);
    let memory = std::alloc::alloc(layout);
    memory.add(room - 8).cast::<usize>().write(alignment);
    memory.add(room).cast()
}

unsafe extern "C" fn free(_: *mut c_void, memory: *mut c_void, nbytes: usize) {
    let memory = memory.cast::<u8>();
    let (room, layout) = with_room(nbytes, memory.sub(8).cast::<usize>().read());
    std::alloc::dealloc(memory.sub(room), layout);
}

fn with_room(nbytes: usize, alignment: usize) -> (usize, Layout) {
    let room = alignment.max(16);
    (room, Layout::from_size_align(nbytes + room, room).unwrap())
}

/// Ops of most kinds: elementwise, products, norms, convolutions, indices, blocks, gradients, reads and writes.
fn work() -> Result<Vec<f32>> {
    let device = Device::new_wick(&std::env::var("WICK_CANDLE_DEVICE").unwrap_or_else(|_| "cpu".into()))?;
    let go = |shape: &[usize], seed| host(shape, seed).to_device(&device);
    let x = go(&[4, 32], 1)?;
    let norm = candle_nn::ops::layer_norm(&x, &go(&[32], 2)?, &go(&[32], 3)?, 1e-5)?;
    let scores = candle_nn::ops::softmax_last_dim(&norm.matmul(&x.t()?)?)?;
    let picked = scores.index_select(&Tensor::new(&[3u32, 1], &device)?, 0)?;
    let images = go(&[2, 4, 8, 8], 4)?.conv2d(&go(&[4, 2, 3, 3], 5)?, 1, 1, 1, 2)?;
    let blocks = QTensor::quantize(&go(&[8, 32], 6)?, GgmlDType::Q8_0)?;
    let multiplied = QMatMul::from_qtensor(blocks)?.forward(&x)?;
    let (order, _) = multiplied.contiguous()?.sort_last_dim(true)?;
    let weight = Var::from_tensor(&go(&[8, 32], 7)?)?;
    let mut sgd = candle_nn::SGD::new(vec![weight.clone()], 0.1)?;
    let loss = (x.matmul(&weight.t()?)?.tanh()? - &order)?.sqr()?.mean_all()?;
    sgd.backward_step(&loss)?;
    let sums = [
        picked.sum_all()?,
        images.max_pool2d(2)?.sum_all()?,
        weight.sum_all()?,
        loss,
    ];
    Tensor::stack(&sums, 0)?.to_vec1()
}

#[test]
#[ignore = "runs in the processes of faults_end_in_errors"]
fn under_a_fault() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let hook = sys::wick_allocator {
        context: std::ptr::null_mut(),
        alloc: Some(alloc),
        free: Some(free),
    };
    assert_eq!(unsafe { sys::wick_allocator_set(&hook) }, sys::WICK_OK);
    FAILING.store(number("FAILING_ALLOCATION").unwrap_or(0), Relaxed);
    match std::panic::catch_unwind(work) {
        Ok(Ok(made)) => println!("made {made:?}"),
        Ok(Err(error)) => println!("error {}", error.to_string().replace('\n', " ")),
        Err(panic) => std::panic::resume_unwind(panic),
    }
    println!("allocations {}", COUNT.load(Relaxed));
}

/// What a process says in which `variable` has this value: its line with the result, and how often it allocated.
fn run(variable: &str, value: &str) -> (String, usize) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "under_a_fault", "--include-ignored", "--nocapture"])
        .env(variable, value);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let find = |word| {
        text.lines()
            .find_map(|line| line.split_once(word))
            .map(|parts| parts.1.to_owned())
    };
    let result = find("made ")
        .map(|made| "made ".to_owned() + &made)
        .or_else(|| find("error "));
    assert!(
        output.status.success() && result.is_some(),
        "{variable}={value}: {}, {}",
        output.status,
        (text + &String::from_utf8_lossy(&output.stderr)).replace('\n', " | ")
    );
    (
        result.unwrap(),
        find("allocations ").map_or(0, |count| count.parse().unwrap()),
    )
}

const DRIVER: [&str; 14] = [
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuStreamSynchronize",
    "cuStreamCreate",
    "cuModuleLoadData",
    "hipModuleLaunchKernel",
    "hipMalloc",
    "hipMemcpyHtoDAsync",
    "hipMemcpyDtoHAsync",
    "hipStreamSynchronize",
    "hipStreamCreateWithFlags",
    "hipModuleLoadData",
];

#[test]
fn faults_end_in_errors() {
    let (sound, allocations) = run("FAILING_ALLOCATION", "0");
    assert!(sound.starts_with("made ") && allocations > 50, "{sound}, {allocations}");
    let (mut errors, mut runs) = (0, 0);
    let mut judge = |variable: &str, value: String| {
        let said = run(variable, &value).0;
        runs += 1;
        if said.starts_with("made ") {
            assert_eq!(said, sound, "{variable}={value}");
        } else {
            assert!(said.len() > 10, "{variable}={value}: {said}");
            errors += 1;
        }
    };
    for i in 0..24 {
        judge("FAILING_ALLOCATION", (1 + i * allocations / 24).to_string());
    }
    let family = device().as_wick_device().unwrap().family();
    if std::env::var_os("WICK_HIP_PATH").is_some() && family != "cpu" {
        for call in DRIVER
            .iter()
            .filter(|call| call.starts_with("hip") == (family == "rocm"))
        {
            for at in ["1", "2", "7", "7+"] {
                judge("STANDIN_FAIL", format!("{call}:{at}"));
            }
        }
    }
    println!("{errors} of {runs} faults end in errors");
    assert!(errors > 12, "{errors} of {runs}");
}
