//! Networks of candle-nn on Wick beside candle's own CPU: forward, and whole trainings.

use candle_core::{DType, Device, Result, Tensor, Var};
use candle_nn::{AdamW, Optimizer, ParamsAdamW, SGD};
use candle_on_wick_proof::{close, device, host, values};

#[test]
fn fused_ops_agree() -> Result<()> {
    let device = device();
    let x = host(&[2, 4, 6, 16], 1);
    let (alpha, beta) = (host(&[16], 2), host(&[16], 3));
    let (cos, sin) = (host(&[6, 8], 4), host(&[6, 8], 5));
    let go = |t: &Tensor| t.to_device(&device);
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let tolerance = if dtype == DType::F32 { 1e-6 } else { 2e-2 };
        let cast = |t: &Tensor| t.to_dtype(dtype);
        let (x, alpha, beta, cos, sin) = (cast(&x)?, cast(&alpha)?, cast(&beta)?, cast(&cos)?, cast(&sin)?);
        let on = (go(&x)?, go(&alpha)?, go(&beta)?, go(&cos)?, go(&sin)?);
        close(
            &candle_nn::ops::softmax_last_dim(&on.0)?,
            &candle_nn::ops::softmax_last_dim(&x)?,
            tolerance,
        )?;
        close(
            &candle_nn::ops::sigmoid(&on.0)?,
            &candle_nn::ops::sigmoid(&x)?,
            tolerance,
        )?;
        close(
            &candle_nn::ops::rms_norm(&on.0, &on.1, 1e-5)?,
            &candle_nn::ops::rms_norm(&x, &alpha, 1e-5)?,
            tolerance,
        )?;
        let here = candle_nn::ops::layer_norm(&on.0, &on.1, &on.2, 1e-5)?;
        close(&here, &candle_nn::ops::layer_norm(&x, &alpha, &beta, 1e-5)?, tolerance)?;
        use candle_nn::rotary_emb::{rope, rope_i, rope_thd};
        close(&rope(&on.0, &on.3, &on.4)?, &rope(&x, &cos, &sin)?, tolerance)?;
        close(&rope_i(&on.0, &on.3, &on.4)?, &rope_i(&x, &cos, &sin)?, tolerance)?;
        let (turned, here) = (x.transpose(1, 2)?.contiguous()?, on.0.transpose(1, 2)?.contiguous()?);
        close(
            &rope_thd(&here, &on.3, &on.4)?,
            &rope_thd(&turned, &cos, &sin)?,
            tolerance,
        )?;
    }
    let order = x.sort_last_dim(false)?.1;
    assert_eq!(
        go(&x)?.sort_last_dim(false)?.1.flatten_all()?.to_vec1::<u32>()?,
        order.flatten_all()?.to_vec1::<u32>()?
    );
    Ok(())
}

/// One block of a transformer: attention with rotary embedding, a norm before each half, a gated layer.
fn block(device: &Device) -> Result<Tensor> {
    let go = |shape: &[usize], seed| host(shape, seed).to_device(device);
    let (tokens, width, heads) = (24, 32, 4);
    let x = go(&[2, tokens, width], 10)?;
    let weight = |rows, columns, seed| go(&[rows, columns], seed)? * (1.0 / (columns as f64).sqrt());
    let norm = |x: &Tensor, seed| candle_nn::ops::rms_norm(x, &go(&[width], seed)?, 1e-6);
    let linear = |x: &Tensor, w: Tensor| x.broadcast_matmul(&w.t()?);
    let split = |x: Tensor| {
        x.reshape((2, tokens, heads, width / heads))?
            .transpose(1, 2)?
            .contiguous()
    };
    let angles = (
        go(&[tokens, width / heads / 2], 20)?.cos()?,
        go(&[tokens, width / heads / 2], 20)?.sin()?,
    );
    let h = norm(&x, 11)?;
    let q = candle_nn::rotary_emb::rope(&split(linear(&h, weight(width, width, 12)?)?)?, &angles.0, &angles.1)?;
    let k = candle_nn::rotary_emb::rope(&split(linear(&h, weight(width, width, 13)?)?)?, &angles.0, &angles.1)?;
    let v = split(linear(&h, weight(width, width, 14)?)?)?;
    let scores = (q.matmul(&k.t()?)? / ((width / heads) as f64).sqrt())?;
    let mask: Vec<u8> = (0..tokens * tokens)
        .map(|i| u8::from(i % tokens > i / tokens))
        .collect();
    let mask = Tensor::from_vec(mask, (tokens, tokens), device)?.broadcast_as(scores.shape())?;
    let hidden = Tensor::new(f32::NEG_INFINITY, device)?.broadcast_as(scores.shape())?;
    let scores = candle_nn::ops::softmax_last_dim(&mask.where_cond(&hidden, &scores)?)?;
    let mixed = scores.matmul(&v)?.transpose(1, 2)?.reshape((2, tokens, width))?;
    let x = (x + linear(&mixed, weight(width, width, 15)?)?)?;
    let h = norm(&x, 16)?;
    let gate = (linear(&h, weight(64, width, 17)?)?.silu()? * linear(&h, weight(64, width, 18)?)?)?;
    x + linear(&gate, weight(width, 64, 19)?)?
}

#[test]
fn a_transformer_block_agrees() -> Result<()> {
    close(&block(&device())?, &block(&Device::Cpu)?, 2e-6)
}

/// The losses of a small classifier with a convolution, step by step.
fn losses(device: &Device, adam: bool) -> Result<Vec<f32>> {
    let var = |shape: &[usize], seed, scale: f64| Var::from_tensor(&(host(shape, seed).to_device(device)? * scale)?);
    let vars = [
        var(&[4, 1, 3, 3], 1, 0.3)?,
        var(&[16, 36], 2, 0.2)?,
        var(&[16], 3, 0.1)?,
        var(&[3, 16], 4, 0.3)?,
    ];
    let images = host(&[30, 1, 8, 8], 5).to_device(device)?;
    let labels: Vec<u32> = values(30, 6).iter().map(|v| ((v + 1.0) * 1.499) as u32).collect();
    let labels = Tensor::from_vec(labels, 30, device)?;
    let mut sgd = SGD::new(vars.to_vec(), 0.5)?;
    let mut adamw = AdamW::new(
        vars.to_vec(),
        ParamsAdamW {
            lr: 0.01,
            ..Default::default()
        },
    )?;
    let mut curve = Vec::new();
    for _ in 0..60 {
        let h = images
            .conv2d(&vars[0], 0, 1, 1, 1)?
            .relu()?
            .max_pool2d(2)?
            .flatten_from(1)?;
        let h = h.matmul(&vars[1].t()?)?.broadcast_add(&vars[2])?.tanh()?;
        let loss = candle_nn::loss::cross_entropy(&h.matmul(&vars[3].t()?)?, &labels)?;
        if adam {
            adamw.backward_step(&loss)?;
        } else {
            sgd.backward_step(&loss)?;
        }
        curve.push(loss.to_scalar::<f32>()?);
    }
    Ok(curve)
}

#[test]
fn trainings_agree() -> Result<()> {
    for adam in [false, true] {
        let (here, expected) = (losses(&device(), adam)?, losses(&Device::Cpu, adam)?);
        assert!(
            expected[59] < 0.9 * expected[0],
            "the training itself does nothing: {expected:?}"
        );
        for (step, (a, b)) in here.iter().zip(&expected).enumerate() {
            assert!(
                (a - b).abs() < 1e-4 * b.abs().max(1.0),
                "adam {adam}, step {step}: {a}, expected {b}"
            );
        }
    }
    Ok(())
}
