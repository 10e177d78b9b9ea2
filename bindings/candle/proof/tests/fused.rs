//! What candle has for CUDA or Metal alone: attention, mixtures of experts, and convolutions in groups in one call. The
//! references are loops in f64 and candle's own CPU.

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{DType, Device, Result, Tensor, Var};
use candle_on_wick_proof::{close, device, host};

fn numbers(x: &Tensor) -> Result<Vec<f64>> {
    x.to_device(&Device::Cpu)?
        .to_dtype(DType::F64)?
        .flatten_all()?
        .to_vec1()
}

/// softmax(score) v for q [b,h,m,d], k [b,g,n,d] and v [b,g,n,e]. `score` turns q k^T into a score, or hides the key.
fn attention(q: &Tensor, k: &Tensor, v: &Tensor, score: impl Fn([usize; 4], f64) -> Option<f64>) -> Result<Tensor> {
    let ((b, h, m, d), (_, g, n, e)) = (q.dims4()?, v.dims4()?);
    let (q, k, v) = (numbers(q)?, numbers(k)?, numbers(v)?);
    let mut out = Vec::new();
    for row in 0..b * h * m {
        let (batch, head, query) = (row / (h * m), row / m % h, row % m);
        let shared = batch * g + head / (h / g);
        let mut weights = vec![0.0; n];
        for (key, weight) in weights.iter_mut().enumerate() {
            let dot = (0..d).map(|i| q[row * d + i] * k[(shared * n + key) * d + i]).sum();
            *weight = score([batch, head, query, key], dot).map_or(0.0, f64::exp);
        }
        let sum: f64 = weights.iter().sum();
        for i in 0..e {
            let mixed: f64 = (0..n).map(|key| weights[key] * v[(shared * n + key) * e + i]).sum();
            out.push(if sum > 0.0 { mixed / sum } else { 0.0 });
        }
    }
    Tensor::from_vec(out, (b, h, m, e), &Device::Cpu)
}

#[test]
fn sdpa_agrees() -> Result<()> {
    let device = device();
    let (q, k, v) = (host(&[2, 4, 5, 8], 1), host(&[2, 2, 7, 8], 2), host(&[2, 2, 7, 6], 3));
    let mask = host(&[2, 4, 5, 7], 4);
    let added = numbers(&mask)?;
    let on = (q.to_device(&device)?, k.to_device(&device)?, v.to_device(&device)?);
    let go = |mask: Option<&Tensor>, causal, cap| candle_nn::ops::sdpa(&on.0, &on.1, &on.2, mask, causal, 0.7, cap);
    close(
        &go(None, false, 1.0)?,
        &attention(&q, &k, &v, |_, s| Some(0.7 * s))?,
        1e-6,
    )?;
    let causal = attention(&q, &k, &v, |[_, _, i, j], s| (j <= i + 2).then_some(0.7 * s))?;
    close(&go(None, true, 1.0)?, &causal, 1e-6)?;
    let masked = attention(&q, &k, &v, |[b, h, i, j], s| {
        Some(0.7 * s + added[((b * 4 + h) * 5 + i) * 7 + j])
    })?;
    close(&go(Some(&mask.to_device(&device)?), false, 1.0)?, &masked, 1e-6)?;
    let capped = attention(&q, &k, &v, |_, s| Some(0.5 * (0.7 * s / 0.5).tanh()))?;
    close(&go(None, false, 0.5)?, &capped, 1e-6)?;
    assert!(go(Some(&mask), false, 1.0).is_err(), "the mask is on another device");
    Ok(())
}

#[test]
fn flash_attention_agrees() -> Result<()> {
    use candle_flash_attn as flash;
    let device = device();
    let (q, k, v) = (host(&[2, 5, 4, 8], 1), host(&[2, 7, 2, 8], 2), host(&[2, 7, 2, 8], 3));
    let slopes = Tensor::new(&[0.5f32, 0.25, 0.125, 0.0625], &Device::Cpu)?;
    let heads = |x: &Tensor| x.transpose(1, 2)?.contiguous();
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let tolerance = if dtype == DType::F32 { 1e-6 } else { 1e-2 };
        let on = |x: &Tensor| x.to_dtype(dtype)?.to_device(&device);
        let rounded = |x: &Tensor| heads(&x.to_dtype(dtype)?.to_dtype(DType::F32)?);
        let (a, b, c) = (on(&q)?, on(&k)?, on(&v)?);
        let expected = |score: &dyn Fn([usize; 4], f64) -> Option<f64>| {
            heads(&attention(&rounded(&q)?, &rounded(&k)?, &rounded(&v)?, score)?)
        };
        let check = |made: Tensor, score: &dyn Fn([usize; 4], f64) -> Option<f64>| {
            assert_eq!(made.dtype(), dtype);
            close(&made, &expected(score)?, tolerance)
        };
        // Query i is at key i + 2.
        check(flash::flash_attn(&a, &b, &c, 0.3, false)?, &|_, s| Some(0.3 * s))?;
        check(flash::flash_attn(&a, &b, &c, 0.3, true)?, &|[_, _, i, j], s| {
            (j <= i + 2).then_some(0.3 * s)
        })?;
        check(
            flash::flash_attn_windowed(&a, &b, &c, 0.3, Some(1), Some(2))?,
            &|[_, _, i, j], s| (j + 1 >= i + 2 && j <= i + 4).then_some(0.3 * s),
        )?;
        let slope = |h: usize| 0.5 / f64::from(1 << h);
        let far = |i: usize, j: usize| (i as f64 + 2.0 - j as f64).abs();
        let slopes = slopes.to_device(&device)?;
        check(
            flash::flash_attn_alibi(&a, &b, &c, &slopes, 0.3, true)?,
            &|[_, h, i, j], s| (j <= i + 2).then_some(0.3 * s - slope(h) * far(i, j)),
        )?;
        check(
            flash::flash_attn_alibi_windowed_softcap(&a, &b, &c, Some(&slopes), 0.3, Some(2), None, 0.2)?,
            &|[_, h, i, j], s| (j + 2 >= i + 2).then_some(0.2 * (0.3 * s / 0.2).tanh() - slope(h) * far(i, j)),
        )?;
    }
    assert!(flash::flash_attn(&q, &k, &v, 0.3, true).is_err(), "candle's CPU");
    Ok(())
}

#[test]
fn flash_attention_of_many_lengths_agrees() -> Result<()> {
    use candle_flash_attn as flash;
    let device = device();
    let (q, k, v) = (host(&[9, 4, 8], 1), host(&[12, 2, 8], 2), host(&[12, 2, 8], 3));
    let (starts_q, starts_k) = ([0u32, 3, 4, 9], [0u32, 4, 5, 12]);
    let slopes = Tensor::new(&[0.5f32, 0.25, 0.125, 0.0625], &device)?;
    let on = (q.to_device(&device)?, k.to_device(&device)?, v.to_device(&device)?);
    let starts = (Tensor::new(&starts_q, &device)?, Tensor::new(&starts_k, &device)?);
    let plain = flash::flash_attn_varlen(&on.0, &on.1, &on.2, &starts.0, &starts.1, 5, 7, 0.3, true)?;
    let (longest_q, longest_k, left) = (5, 7, Some(1));
    let leaning = flash::flash_attn_varlen_alibi_windowed(
        &on.0, &on.1, &on.2, &slopes, &starts.0, &starts.1, longest_q, longest_k, 0.3, left, None,
    )?;
    for b in 0..3 {
        let part = |x: &Tensor, starts: &[u32]| {
            let (from, to) = (starts[b] as usize, starts[b + 1] as usize);
            x.narrow(0, from, to - from)?.transpose(0, 1)?.unsqueeze(0)
        };
        let (q, k, v) = (part(&q, &starts_q)?, part(&k, &starts_k)?, part(&v, &starts_k)?);
        let behind = k.dim(2)? - q.dim(2)?;
        let causal = attention(&q, &k, &v, |[_, _, i, j], s| (j <= i + behind).then_some(0.3 * s))?;
        close(&part(&plain, &starts_q)?, &causal, 1e-6)?;
        let tilted = attention(&q, &k, &v, |[_, h, i, j], s| {
            let distance = ((i + behind) as f64 - j as f64).abs();
            (j + 1 >= i + behind).then_some(0.3 * s - 0.5 / f64::from(1 << h) * distance)
        })?;
        close(&part(&leaning, &starts_q)?, &tilted, 1e-6)?;
    }
    Ok(())
}

#[test]
fn mixtures_of_experts_agree() -> Result<()> {
    let device = device();
    let (experts, n, k, tokens, used) = (5, 6, 256, 7, 2);
    let ids: Vec<u32> = (0..tokens * used).map(|i| (i * i % experts) as u32).collect();
    let chosen = Tensor::from_slice(&ids, (tokens, used), &device)?;
    for dtype in [GgmlDType::Q8_0, GgmlDType::Q4K, GgmlDType::Q6K, GgmlDType::F32] {
        let weights = QTensor::quantize(&host(&[experts, n, k], 1).to_device(&device)?, dtype)?;
        let w = numbers(&weights.dequantize(&device)?)?;
        let weights = QMatMul::QTensor(weights.into());
        for rows in [1, used] {
            let x = host(&[tokens, rows, k], 2);
            let values = numbers(&x)?;
            let expected: Vec<f64> = (0..tokens * used * n)
                .map(|i| {
                    let (pair, out) = (i / n, i % n);
                    let row = if rows == 1 { pair / used } else { pair };
                    let w = &w[(ids[pair] as usize * n + out) * k..];
                    (0..k).map(|j| values[row * k + j] * w[j]).sum()
                })
                .collect();
            let expected = Tensor::from_vec(expected, (tokens, used, n), &Device::Cpu)?;
            let made = weights.indexed_moe_forward(&x.to_device(&device)?, &chosen)?;
            close(&made, &expected, if dtype == GgmlDType::F32 { 1e-6 } else { 1e-2 })?;
        }
        let x = host(&[tokens, 1, k], 2);
        let wrong = Tensor::full(experts as u32, (tokens, used), &device)?;
        assert!(weights.indexed_moe_forward(&x.to_device(&device)?, &wrong).is_err());
        assert!(
            weights.indexed_moe_forward(&x, &chosen).is_err(),
            "x is on another device"
        );
    }
    Ok(())
}

#[test]
fn sorted_mixtures_of_experts_agree() -> Result<()> {
    use candle_nn::moe::{moe_gemm, moe_gemm_gguf};
    let device = device();
    let (experts, n, k, tokens, used) = (5, 6, 256, 7, 2);
    let pairs = tokens * used;
    let ids: Vec<u32> = (0..pairs).map(|i| (i * i % experts) as u32).collect();
    let (chosen, sorted) = Tensor::from_slice(&ids, pairs, &device)?.sort_last_dim(true)?;
    let (w, scales) = (host(&[experts, n, k], 1), host(&[pairs], 2));
    let blocks = QTensor::quantize(&w.to_device(&device)?, GgmlDType::Q8_0)?;
    for scaled in [false, true] {
        let x = host(&[if scaled { pairs } else { tokens }, k], 3);
        let scales = scaled.then_some(&scales);
        let on = scales.map(|scales| scales.to_device(&device)).transpose()?;
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            let (x, w) = (x.to_dtype(dtype)?, w.to_dtype(dtype)?);
            let (xs, ws, factors) = (numbers(&x)?, numbers(&w)?, scales.map(numbers).transpose()?);
            let expected = |i: usize| -> f64 {
                let (pair, out) = (i / n, i % n);
                let row = if scaled { pair } else { pair / used };
                let w = &ws[(ids[pair] as usize * n + out) * k..];
                let sum: f64 = (0..k).map(|j| xs[row * k + j] * w[j]).sum();
                sum * factors.as_ref().map_or(1.0, |factors| factors[pair])
            };
            let expected = Tensor::from_iter((0..pairs * n).map(expected), &Device::Cpu)?.reshape((pairs, n))?;
            let (x, w) = (x.to_device(&device)?, w.to_device(&device)?);
            let made = moe_gemm(&x, &w, &on, &sorted, &chosen, used, true)?;
            assert_eq!(made.dtype(), dtype);
            close(&made, &expected, if dtype == DType::F32 { 1e-6 } else { 2e-2 })?;
            if dtype == DType::F32 {
                let made = moe_gemm_gguf(&x, &blocks, &on, &sorted, &chosen, used, false, DType::BF16)?;
                close(&made, &expected, 2e-2)?;
            }
        }
        let x = x.to_device(&device)?;
        assert!(
            moe_gemm(&x, &w.to_device(&device)?, &on, &sorted, &chosen, 5, true).is_err(),
            "sizes"
        );
    }
    let x = host(&[tokens, k], 3);
    assert!(
        moe_gemm(&x, &w, &None, &sorted, &chosen, used, true).is_err(),
        "candle's CPU"
    );
    Ok(())
}

#[test]
fn convolutions_in_groups_agree() -> Result<()> {
    let device = device();
    let go = |x: &Tensor| x.to_device(&device);
    for groups in [2, 3, 6] {
        let (image, kernel) = (host(&[2, 6, 9, 8], 1), host(&[12, 6 / groups, 3, 2], 2));
        let made = go(&image)?.conv2d(&go(&kernel)?, 1, 2, 1, groups)?;
        close(&made, &image.conv2d(&kernel, 1, 2, 1, groups)?, 1e-6)?;
        let (row, kernel) = (host(&[2, 6, 11], 3), host(&[12, 6 / groups, 3], 4));
        let made = go(&row)?.conv1d(&go(&kernel)?, 2, 1, 2, groups)?;
        close(&made, &row.conv1d(&kernel, 2, 1, 2, groups)?, 1e-6)?;
        let kernel = host(&[6, 4, 3], 5);
        let made = go(&row)?.conv_transpose1d(&go(&kernel)?, 1, 1, 2, 1, groups)?;
        close(&made, &row.conv_transpose1d(&kernel, 1, 1, 2, 1, groups)?, 1e-6)?;
        let gradients = |device: &Device| -> Result<_> {
            let kernel = Var::from_tensor(&host(&[12, 6 / groups, 3, 2], 2).to_device(device)?)?;
            let made = image.to_device(device)?.conv2d(&kernel, 1, 1, 1, groups)?;
            Ok(made.sqr()?.sum_all()?.backward()?.get(&kernel).cloned().unwrap())
        };
        close(&gradients(&device)?, &gradients(&Device::Cpu)?, 1e-6)?;
    }
    Ok(())
}
