//! The ops and shapes of candle's own benches, and whole models, on candle's CPU and on a Wick device, in turns.
//!
//!     cargo run --release --example speed [DEVICE [WORD]]
//!     cargo run --release --features cuda --example speed -- --cuda [DEVICE [WORD]]
//!
//! Prints a table, of the rows whose names contain WORD. Each figure is the least of many rounds. With --cuda, candle's own
//! CUDA backend takes the place of its CPU.

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{DType, Device, Module, Result, Tensor};
use candle_nn::{ops, Conv2d, Conv2dConfig};
use candle_on_wick_models::{fetched, likeliest, random_weights, MiniLm, SmolLm};
use candle_on_wick_proof::host;
use candle_transformers::models::resnet;
use std::time::{Duration, Instant};

/// What is timed, with its operands on a device.
type Work = Box<dyn FnMut() -> Result<()>>;

struct Table {
    /// candle's own device.
    peer: Device,
    device: Device,
    wanted: Option<String>,
    ratios: Vec<f64>,
}

fn wait(device: &Device) -> Result<()> {
    match device {
        Device::Cpu => Ok(()),
        _ => device.synchronize(),
    }
}

fn seconds(work: &mut Work, device: &Device, times: u32) -> Result<f64> {
    let begun = Instant::now();
    for _ in 0..times {
        work()?;
    }
    wait(device)?;
    Ok(begun.elapsed().as_secs_f64() / f64::from(times))
}

fn readable(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

impl Table {
    /// Times the work that `prepare` makes for a device.
    fn row(&mut self, name: &str, prepare: impl Fn(&Device) -> Result<Work>) -> Result<()> {
        if self
            .wanted
            .as_ref()
            .is_some_and(|wanted| !name.contains(wanted.as_str()))
        {
            return Ok(());
        }
        let mut here = prepare(&self.device)?;
        let first = self.first(&mut here, &self.device)?;
        let there = prepare(&self.peer).and_then(|mut work| Ok((self.first(&mut work, &self.peer)?, work)));
        let (slower, mut there) = match there {
            Ok((time, work)) => (first.max(time), work),
            Err(error) => {
                let error = error.to_string();
                let line = error.lines().next().unwrap_or("an error");
                println!("| {name} | {line} | {} | |", readable(first));
                return Ok(());
            }
        };
        let times = (2e-3 / slower).clamp(1.0, 1000.0) as u32;
        let spent = Duration::from_millis(if self.peer.is_cpu() { 600 } else { 300 });
        let (mut candle, mut wick) = (f64::INFINITY, f64::INFINITY);
        let (begun, mut rounds) = (Instant::now(), 0);
        while rounds < 3 || (rounds < 200 && begun.elapsed() < spent) {
            candle = candle.min(seconds(&mut there, &self.peer, times)?);
            wick = wick.min(seconds(&mut here, &self.device, times)?);
            rounds += 1;
        }
        let ratio = candle / wick;
        println!("| {name} | {} | {} | {ratio:.2} |", readable(candle), readable(wick));
        self.ratios.push(ratio);
        Ok(())
    }

    /// About how long the work takes. A GPU gets it some times before, as it compiles and loads kernels at the first.
    fn first(&self, work: &mut Work, device: &Device) -> Result<f64> {
        if self.peer.is_cpu() {
            return seconds(work, device, 1);
        }
        seconds(work, device, 3)?;
        seconds(work, device, 10)
    }

    /// A row of an op of tensors.
    fn op(&mut self, name: &str, tensors: &[(&[usize], DType)], op: fn(&[Tensor]) -> Result<Tensor>) -> Result<()> {
        self.row(name, |device| {
            let operand = |(i, (shape, dtype)): (usize, &(&[usize], DType))| {
                host(shape, i as u64).to_dtype(*dtype)?.to_device(device)
            };
            let operands = tensors.iter().enumerate().map(operand).collect::<Result<Vec<_>>>()?;
            Ok(Box::new(move || op(&operands).map(drop)))
        })
    }
}

/// What a call costs where there is next to nothing to compute.
fn small(table: &mut Table) -> Result<()> {
    let square: (&[usize], DType) = (&[4, 4], DType::F32);
    table.op("small: add of 4x4", &[square; 2], |x| &x[0] + &x[1])?;
    table.op("small: affine of 4x4", &[square], |x| x[0].affine(2.0, 1.0))?;
    table.op("small: sum of 4x4", &[square], |x| x[0].sum_keepdim(1))?;
    table.op("small: softmax of 4x4", &[square], |x| ops::softmax_last_dim(&x[0]))?;
    table.op("small: matmul of 4x4", &[square; 2], |x| x[0].matmul(&x[1]))
}

const SQUARE: &[usize] = &[1, 1024, 1024];
const FLOATS: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

fn products(table: &mut Table) -> Result<()> {
    let shapes: [(&str, &[usize], &[usize]); 7] = [
        ("gemv", &[1, 1, 2048], &[1, 2048, 2048]),
        ("attn_4d_small", &[484, 6, 144, 32], &[484, 6, 32, 144]),
        ("attn_4d_large", &[121, 24, 144, 32], &[121, 24, 32, 144]),
        ("square_512", &[512, 512], &[512, 512]),
        ("square_1024", &[1024, 1024], &[1024, 1024]),
        ("batch_1000", &[1000, 144, 32], &[1000, 32, 144]),
        ("linear_large", &[17424, 768], &[768, 3072]),
    ];
    for (name, a, b) in shapes {
        table.op(&format!("matmul {name}"), &[(a, DType::F32), (b, DType::F32)], |x| {
            x[0].broadcast_matmul(&x[1])
        })?;
    }
    for dtype in [
        GgmlDType::F32,
        GgmlDType::F16,
        GgmlDType::Q4_0,
        GgmlDType::Q4_1,
        GgmlDType::Q5_0,
        GgmlDType::Q5_1,
        GgmlDType::Q8_0,
        GgmlDType::Q2K,
        GgmlDType::Q3K,
        GgmlDType::Q4K,
        GgmlDType::Q5K,
        GgmlDType::Q6K,
    ] {
        table.row(&format!("qmatmul {dtype:?}"), |device| {
            let x = host(&[1, 1024], 1).to_device(device)?;
            let weights = QTensor::quantize(&host(&[1024, 1024], 2).to_device(device)?, dtype)?;
            let weights = QMatMul::from_qtensor(weights)?;
            Ok(Box::new(move || weights.forward(&x).map(drop)))
        })?;
    }
    Ok(())
}

fn convolutions(table: &mut Table) -> Result<()> {
    for (dtype, kernel, size, bias) in [
        (DType::F32, 3, 128, true),
        (DType::F32, 1, 128, false),
        (DType::F32, 5, 128, false),
        (DType::F32, 3, 512, false),
        (DType::F16, 3, 128, true),
        (DType::F16, 5, 128, false),
        (DType::F16, 5, 512, false),
    ] {
        let name = format!(
            "conv2d {dtype:?} {size}, {kernel}x{kernel}{}",
            if bias { ", bias" } else { "" }
        );
        table.row(&name, |device| {
            let go = |shape: &[usize]| host(shape, 1).to_dtype(dtype)?.to_device(device);
            let added = if bias { Some(go(&[1])?) } else { None };
            let layer = Conv2d::new(go(&[1, 1, kernel, kernel])?, added, Conv2dConfig::default());
            let image = go(&[1, 1, size, size])?;
            Ok(Box::new(move || layer.forward(&image).map(drop)))
        })?;
    }
    for dtype in FLOATS {
        let operands: [(&[usize], DType); 2] = [(&[1, 4, 50, 50], dtype), (&[4, 1, 5, 5], dtype)];
        table.op(&format!("conv_transpose2d {dtype:?}"), &operands, |x| {
            x[0].conv_transpose2d(&x[1], 1, 0, 1, 2)
        })?;
    }
    Ok(())
}

fn elements(table: &mut Table) -> Result<()> {
    for dtype in FLOATS {
        let one: [(&[usize], DType); 1] = [(SQUARE, dtype)];
        let mut op = |name: &str, op| table.op(&format!("{name} {dtype:?}"), &one, op);
        op("sum", |x| x[0].sum_keepdim(2))?;
        op("sum, strided", |x| x[0].transpose(0, 2)?.sum_keepdim(2))?;
        op("argmin", |x| x[0].argmin_keepdim(2))?;
        op("argmin, strided", |x| x[0].transpose(0, 2)?.argmin_keepdim(2))?;
        op("softmax", |x| ops::softmax_last_dim(&x[0]))?;
        op("affine", |x| x[0].affine(12.34, 56.78))?;
        op("sqrt", |x| x[0].sqrt())?;
        op("mul", |x| &x[0] * &x[0])?;
        op("contiguous of a transpose", |x| x[0].transpose(1, 2)?.contiguous())?;
        let to = if dtype == DType::F32 { DType::F16 } else { DType::F32 };
        match to {
            DType::F16 => op("cast to F16 of", |x| x[0].to_dtype(DType::F16))?,
            _ => op("cast to F32 of", |x| x[0].to_dtype(DType::F32))?,
        }
        let normed: [(&[usize], DType); 3] = [(SQUARE, dtype), (&[1024], dtype), (&[1024], dtype)];
        table.op(&format!("rms_norm {dtype:?}"), &normed, |x| {
            ops::rms_norm(&x[0], &x[1], 1e-5)
        })?;
        table.op(&format!("layer_norm {dtype:?}"), &normed, |x| {
            ops::layer_norm(&x[0], &x[1], &x[2], 1e-5)
        })?;
        table.row(&format!("where_cond {dtype:?}"), |device| {
            let flags: Vec<u8> = (0..1 << 20).map(|i| (i % 2) as u8).collect();
            let flags = Tensor::from_vec(flags, SQUARE, device)?;
            let (a, b) = (
                Tensor::ones(SQUARE, dtype, device)?,
                Tensor::zeros(SQUARE, dtype, device)?,
            );
            Ok(Box::new(move || flags.where_cond(&a, &b).map(drop)))
        })?;
    }
    table.row("copy_mask: 128x1x1024 from the host", |device| {
        let (mask, device) = (vec![vec![vec![0f32; 1024]; 1]; 128], device.clone());
        Ok(Box::new(move || Tensor::new(mask.clone(), &device).map(drop)))
    })
}

fn models(table: &mut Table) -> Result<()> {
    table.row("ResNet-50, 1x3x224x224", |device| {
        let model = resnet::resnet50(1000, random_weights(device))?;
        let image = host(&[1, 3, 224, 224], 1).to_device(device)?;
        Ok(Box::new(move || model.forward(&image).map(drop)))
    })?;
    if let Some(folder) = fetched("all-MiniLM-L6-v2") {
        let line = "Eager tensors on processors and GPUs: one text of each kernel, compiled for both, and checked.";
        for lines in [1, 32] {
            table.row(&format!("MiniLM, {lines} of 21 tokens"), |device| {
                let model = MiniLm::load(&folder, device)?;
                Ok(Box::new(move || {
                    model.embed(&vec![line; lines])?.to_device(&Device::Cpu).map(drop)
                }))
            })?;
        }
    }
    if let Some(path) = fetched("SmolLM2-135M-Instruct.Q4_1.gguf") {
        for (name, prompt, count) in [("a prompt of 128 tokens", 128, 1), ("4 and 16 more tokens", 4, 16)] {
            table.row(&format!("SmolLM2 Q4_1, {name}"), |device| {
                let mut model = SmolLm::load(&path, device)?;
                let tokens: Vec<u32> = (0..prompt).map(|i| 1000 + 7 * i).collect();
                Ok(Box::new(move || model.follow(&tokens, count, likeliest).map(drop)))
            })?;
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    let cuda = arguments.next_if_eq("--cuda").is_some();
    let name = arguments
        .next()
        .unwrap_or_else(|| if cuda { "cuda:0" } else { "cpu" }.into());
    let mut table = Table {
        peer: if cuda { Device::new_cuda(0)? } else { Device::Cpu },
        device: Device::new_wick(&name)?,
        wanted: arguments.next(),
        ratios: Vec::new(),
    };
    let peer = if cuda { "CUDA" } else { "CPU" };
    println!("| | candle's {peer} | Wick {name} | times as fast |\n| --- | ---: | ---: | ---: |");
    products(&mut table)?;
    convolutions(&mut table)?;
    elements(&mut table)?;
    small(&mut table)?;
    models(&mut table)?;
    let logs: f64 = table.ratios.iter().map(|ratio| ratio.ln()).sum();
    let below = table.ratios.iter().filter(|ratio| **ratio < 0.9).count();
    println!(
        "\n{} rows, geometric mean {:.2}, {below} below 0.9.",
        table.ratios.len(),
        (logs / table.ratios.len() as f64).exp()
    );
    Ok(())
}
