//! Small networks of candle-transformers with random weights: the same numbers on Wick as on candle's own CPU.

use candle_core::{DType, Device, Module, Result, Tensor};
use candle_on_wick_models::{distance, random_weights, report};
use candle_on_wick_proof::{close, device, host};
use candle_transformers::models::{llama, resnet, stable_diffusion, vit, whisper};

/// Holds the output on Wick to that on candle's CPU.
fn agree(model: &str, forward: impl Fn(&Device) -> Result<Tensor>) -> Result<()> {
    let expected = forward(&Device::Cpu)?;
    let flat = expected.flatten_all()?;
    let spread = (flat.max(0)? - flat.min(0)?)?.to_scalar::<f32>()?;
    assert!(
        spread.is_finite() && spread > 1e-3,
        "the outputs differ by {spread} at most"
    );
    let made = forward(&device())?;
    report(model, distance(&made, &expected)?);
    close(&made, &expected, 1e-5)
}

#[test]
fn resnet_agrees() -> Result<()> {
    agree("ResNet-18", |device| {
        let model = resnet::resnet18(10, random_weights(device))?;
        model.forward(&host(&[1, 3, 64, 64], 1).to_device(device)?)
    })
}

#[test]
fn resnet_with_bottlenecks_agrees() -> Result<()> {
    agree("ResNet-50", |device| {
        let model = resnet::resnet50(10, random_weights(device))?;
        model.forward(&host(&[1, 3, 32, 32], 1).to_device(device)?)
    })
}

#[test]
fn vision_transformer_agrees() -> Result<()> {
    let config = vit::Config {
        hidden_size: 48,
        num_hidden_layers: 3,
        num_attention_heads: 4,
        intermediate_size: 96,
        image_size: 32,
        patch_size: 8,
        ..vit::Config::vit_base_patch16_224()
    };
    agree("ViT", |device| {
        let model = vit::Model::new(&config, 10, random_weights(device))?;
        model.forward(&host(&[2, 3, 32, 32], 1).to_device(device)?)
    })
}

#[test]
fn whisper_agrees() -> Result<()> {
    let config = whisper::Config {
        num_mel_bins: 16,
        max_source_positions: 40,
        d_model: 32,
        encoder_attention_heads: 4,
        encoder_layers: 2,
        vocab_size: 60,
        max_target_positions: 20,
        decoder_attention_heads: 4,
        decoder_layers: 2,
        suppress_tokens: Vec::new(),
    };
    agree("Whisper", |device| {
        let mut model = whisper::model::Whisper::load(&random_weights(device), config.clone())?;
        let heard = model.encoder.forward(&host(&[1, 16, 80], 1).to_device(device)?, true)?;
        let tokens = Tensor::new(&[[3u32, 1, 4, 1, 5, 9]], device)?;
        let states = model.decoder.forward(&tokens, &heard, true)?;
        model.decoder.final_linear(&states)
    })
}

#[test]
fn stable_diffusion_agrees() -> Result<()> {
    use stable_diffusion::unet_2d::{BlockConfig, UNet2DConditionModel, UNet2DConditionModelConfig};
    let block = |out_channels, use_cross_attn| BlockConfig {
        out_channels,
        use_cross_attn,
        attention_head_dim: 4,
    };
    agree("Stable Diffusion's UNet", |device| {
        let config = UNet2DConditionModelConfig {
            blocks: vec![block(32, Some(1)), block(64, Some(1)), block(64, None)],
            layers_per_block: 1,
            cross_attention_dim: 24,
            ..Default::default()
        };
        let model = UNet2DConditionModel::new(random_weights(device), 4, 4, false, config)?;
        let (noise, text) = (host(&[2, 4, 16, 16], 1), host(&[2, 7, 24], 2));
        model.forward(&noise.to_device(device)?, 321.0, &text.to_device(device)?)
    })
}

#[test]
fn llama_agrees() -> Result<()> {
    let config = llama::Config {
        hidden_size: 64,
        intermediate_size: 128,
        vocab_size: 100,
        num_hidden_layers: 3,
        num_attention_heads: 4,
        num_key_value_heads: 2,
        max_position_embeddings: 64,
        ..llama::Config::config_7b_v2(false)
    };
    agree("Llama", |device| {
        let model = llama::Llama::load(random_weights(device), &config)?;
        let mut cache = llama::Cache::new(true, DType::F32, &config, device)?;
        let prompt = Tensor::new(&[[5u32, 17, 99, 0, 42, 7, 7]], device)?;
        let first = model.forward(&prompt, 0, &mut cache)?;
        let next = model.forward(&Tensor::new(&[[23u32]], device)?, 7, &mut cache)?;
        Tensor::cat(&[first, next], 0)
    })
}
