//! SmolLM2-135M-Instruct of tools/fetch-model through candle-transformers' Llama for GGUF files. Nothing is tested where
//! it has not been fetched.

use candle_core::{Device, Result};
use candle_on_wick_models::{fetched, likeliest, report, SmolLm};
use candle_on_wick_proof::device;
use std::sync::Mutex;

/// Held while a model is loaded: candle asks the environment whether to keep the blocks.
static LOADING: Mutex<()> = Mutex::new(());

fn load(device: &Device, blocks: bool) -> Result<Option<SmolLm>> {
    let _held = LOADING.lock().unwrap();
    let Some(path) = fetched("SmolLM2-135M-Instruct.Q4_1.gguf") else {
        return Ok(None);
    };
    std::env::set_var("CANDLE_DEQUANTIZE_ALL", if blocks { "0" } else { "1" });
    // candle asks once in each thread.
    std::thread::scope(|scope| scope.spawn(|| SmolLm::load(&path, device).map(Some)).join().unwrap())
}

/// A prompt, the tokens behind it, and at each of these the logarithms of all tokens' probabilities.
type Story = (Vec<u32>, Vec<u32>, Vec<Vec<f32>>);

/// The likeliest `count` tokens by candle's CPU, with weights as f32.
fn story(count: usize) -> Result<Option<Story>> {
    let Some(mut model) = load(&Device::Cpu, false)? else {
        return Ok(None);
    };
    let prompt = model.tokens("<|im_start|>user\nWhat is a candle made of?<|im_end|>\n<|im_start|>assistant\n")?;
    let logs = model.follow(&prompt, count, likeliest)?;
    let tokens: Vec<u32> = logs.iter().map(|logs| likeliest(logs)).collect();
    println!("{:?}", model.text(&tokens)?);
    Ok(Some((prompt, tokens, logs)))
}

/// At each step, how far the logarithm of the probability of the story's token is off.
fn differences(mut model: SmolLm, story: &Story) -> Result<Vec<f64>> {
    let (prompt, tokens, expected) = story;
    let mut told = tokens.iter();
    let logs = model.follow(prompt, tokens.len(), |_| *told.next().unwrap())?;
    let steps = tokens.iter().zip(logs.iter().zip(expected));
    Ok(steps
        .map(|(&t, (a, b))| f64::from((a[t as usize] - b[t as usize]).abs()))
        .collect())
}

/// With weights as f32, the device gives every token of the story nearly the probability that candle's CPU gives to it.
fn agrees(story: &Story) -> Result<f64> {
    let made = differences(load(&device(), false)?.unwrap(), story)?;
    let largest = made.iter().copied().fold(0.0, f64::max);
    assert!(largest < 1e-2, "{made:?}");
    Ok(largest)
}

#[test]
fn whole_smollm_agrees() -> Result<()> {
    let Some(story) = story(12)? else { return Ok(()) };
    agrees(&story).map(drop)
}

/// The same for 64 tokens, and in blocks: there, rounding activations to 8 bits moves the probabilities far more than
/// devices differ, on each its own way. Wick must not be further from exact products than candle's CPU is.
#[test]
#[ignore = "takes half a minute"]
fn whole_smollm_in_blocks_is_as_exact() -> Result<()> {
    let Some(story) = story(64)? else { return Ok(()) };
    report("Llama, SmolLM2-135M-Instruct with weights as f32", agrees(&story)?);
    let mean = |device: &Device| -> Result<f64> {
        let made = differences(load(device, true)?.unwrap(), &story)?;
        Ok(made.iter().sum::<f64>() / made.len() as f64)
    };
    let (here, there) = (mean(&device())?, mean(&Device::Cpu)?);
    report("Llama, SmolLM2-135M-Instruct in blocks", here);
    report("Llama, SmolLM2-135M-Instruct in blocks by candle's CPU", there);
    assert!(here < 1.25 * there, "{here}, candle's CPU {there}");
    Ok(())
}
