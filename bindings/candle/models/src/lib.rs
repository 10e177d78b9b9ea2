//! What the tests and the timings of whole models share.

use candle_core::quantized::gguf_file;
use candle_core::quantized::tokenizer::TokenizerFromGguf;
use candle_core::{DType, Device, Error, Result, Shape, Tensor, D};
use candle_nn::{Init, VarBuilder};
use candle_on_wick_proof::values;
use candle_transformers::models::{bert, quantized_llama};
use std::path::{Path, PathBuf};
use tokenizers::Tokenizer;

/// Weights that follow from their names, so that two devices get the same ones without keeping them.
struct Named;

impl candle_nn::var_builder::SimpleBackend for Named {
    fn get(&self, shape: Shape, name: &str, init: Init, dtype: DType, device: &Device) -> Result<Tensor> {
        let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let inputs: usize = shape.dims().iter().skip(1).product();
        let (middle, spread) = match init {
            Init::Const(middle) => (middle as f32, 0.1),
            _ => (0.0, 1.5 / (inputs as f32).sqrt()),
        };
        let made = values(shape.elem_count(), seed)
            .iter()
            .map(|v| middle + spread * v)
            .collect();
        Tensor::from_vec::<_, f32>(made, shape, device)?.to_dtype(dtype)
    }

    fn get_unchecked(&self, name: &str, _: DType, _: &Device) -> Result<Tensor> {
        candle_core::bail!("{name} is asked for without its shape")
    }

    fn contains_tensor(&self, _: &str) -> bool {
        true
    }
}

/// Weights for any model, the same on every device.
pub fn random_weights(device: &Device) -> VarBuilder<'static> {
    VarBuilder::from_backend(Box::new(Named), DType::F32, device.clone())
}

/// The largest difference of two tensors, by the largest magnitude of the second.
pub fn distance(here: &Tensor, expected: &Tensor) -> Result<f64> {
    let flat = |x: &Tensor| x.to_device(&Device::Cpu)?.to_dtype(DType::F64)?.flatten_all();
    let (here, expected) = (flat(here)?, flat(expected)?);
    let largest = |x: Tensor| x.abs()?.max(0)?.to_scalar::<f64>();
    Ok(largest((here - &expected)?)? / largest(expected)?)
}

/// Prints a line that tools/candle-tests puts into the table of models.
pub fn report(model: &str, difference: f64) {
    println!("model: {model} | {difference:.1e}");
}

/// Where tools/fetch-model puts a model; `None` where it has not been fetched.
pub fn fetched(name: &str) -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")))?;
    Some(cache.join("wick/models").join(name)).filter(|path| path.exists())
}

/// The sentence embedder all-MiniLM-L6-v2.
pub struct MiniLm {
    model: bert::BertModel,
    tokenizer: Tokenizer,
}

impl MiniLm {
    pub fn load(folder: &Path, device: &Device) -> Result<Self> {
        let config = bert::Config {
            vocab_size: 30522,
            hidden_size: 384,
            num_hidden_layers: 6,
            num_attention_heads: 12,
            intermediate_size: 1536,
            hidden_act: bert::HiddenAct::Gelu,
            max_position_embeddings: 512,
            type_vocab_size: 2,
            layer_norm_eps: 1e-12,
            ..Default::default()
        };
        let weights = candle_core::safetensors::load(folder.join("model.safetensors"), device)?;
        let weights = VarBuilder::from_tensors(weights, DType::F32, device);
        let mut tokenizer = Tokenizer::from_file(folder.join("tokenizer.json")).map_err(Error::wrap)?;
        tokenizer.with_padding(Some(tokenizers::PaddingParams::default()));
        Ok(MiniLm {
            model: bert::BertModel::load(weights, &config)?,
            tokenizer,
        })
    }

    /// The vectors of the lines: the means of their tokens' states, of length 1.
    pub fn embed(&self, lines: &[&str]) -> Result<Tensor> {
        let device = &self.model.device;
        let encoded = self.tokenizer.encode_batch(lines.to_vec(), true).map_err(Error::wrap)?;
        let ids: Vec<&[u32]> = encoded.iter().map(|line| line.get_ids()).collect();
        let mask: Vec<&[u32]> = encoded.iter().map(|line| line.get_attention_mask()).collect();
        let (ids, mask) = (Tensor::new(ids, device)?, Tensor::new(mask, device)?);
        let states = self.model.forward(&ids, &ids.zeros_like()?, Some(&mask))?;
        let mask = mask.to_dtype(DType::F32)?.unsqueeze(2)?;
        let sums = states.broadcast_mul(&mask)?.sum(1)?;
        let means = sums.broadcast_div(&mask.sum(1)?)?;
        means.broadcast_div(&means.sqr()?.sum_keepdim(1)?.sqrt()?)
    }
}

/// The language model SmolLM2-135M-Instruct in blocks of 4 bits.
pub struct SmolLm {
    model: quantized_llama::ModelWeights,
    tokenizer: Tokenizer,
    device: Device,
}

impl SmolLm {
    pub fn load(path: &Path, device: &Device) -> Result<Self> {
        let mut file = std::fs::File::open(path)?;
        let content = gguf_file::Content::read(&mut file)?;
        let tokenizer = Tokenizer::from_gguf(&content)?;
        Ok(SmolLm {
            model: quantized_llama::ModelWeights::from_gguf(content, &mut file, device)?,
            tokenizer,
            device: device.clone(),
        })
    }

    pub fn tokens(&self, text: &str) -> Result<Vec<u32>> {
        Ok(self
            .tokenizer
            .encode(text, false)
            .map_err(Error::wrap)?
            .get_ids()
            .to_vec())
    }

    pub fn text(&self, tokens: &[u32]) -> Result<String> {
        self.tokenizer.decode(tokens, true).map_err(Error::wrap)
    }

    /// Reads the prompt and, one after the other, the tokens that `next` picks by the logarithms of all tokens'
    /// probabilities. Gives these logarithms, step by step.
    pub fn follow(
        &mut self,
        prompt: &[u32],
        count: usize,
        mut next: impl FnMut(&[f32]) -> u32,
    ) -> Result<Vec<Vec<f32>>> {
        let (mut input, mut position, mut steps) = (prompt.to_vec(), 0, Vec::new());
        self.model.clear_kv_cache();
        for _ in 0..count {
            let ids = Tensor::new(&input[..], &self.device)?.unsqueeze(0)?;
            let logits = self.model.forward(&ids, position)?;
            let logs: Vec<f32> = candle_nn::ops::log_softmax(&logits, D::Minus1)?.squeeze(0)?.to_vec1()?;
            position += input.len();
            input = vec![next(&logs)];
            steps.push(logs);
        }
        Ok(steps)
    }
}

/// The likeliest token.
pub fn likeliest(logs: &[f32]) -> u32 {
    let best = (0..logs.len()).max_by(|&a, &b| logs[a].total_cmp(&logs[b]));
    best.map_or(0, |token| token as u32)
}
