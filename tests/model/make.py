#!/usr/bin/env python3
"""Makes small random models of each family, FAMILY.gguf and the folder hub/FAMILY as transformers saves it, and the logits
that transformers computes with the same weights, logits.safetensors.

Usage: make.py            (needs torch, transformers, gguf, safetensors, tokenizers)
"""
import os
import shutil

import gguf
import numpy as np
import torch
import transformers as hf
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE

HERE = os.path.dirname(os.path.abspath(__file__))
VOCAB, HIDDEN, WIDE, HEADS, KV, HEAD, CONTEXT, TOKENS = 64, 32, 48, 4, 2, 8, 64, 24
COMMON = dict(vocab_size=VOCAB, hidden_size=HIDDEN, intermediate_size=WIDE, num_hidden_layers=2, num_attention_heads=HEADS,
              num_key_value_heads=KV, max_position_embeddings=CONTEXT, rms_norm_eps=1e-5, attn_implementation="eager",
              pad_token_id=0, bos_token_id=1, eos_token_id=2)


def rope(base=10000.0, **more):
    return {"rope_type": "default", "rope_theta": base, **more}


def models():
    """name, architecture, configuration, keys beyond those of every model"""
    yield "llama", "llama", hf.LlamaConfig(**COMMON, head_dim=HEAD, rope_parameters=rope()), {}
    yield "llama3", "llama", hf.LlamaConfig(
        **COMMON, head_dim=HEAD, tie_word_embeddings=True, attention_bias=True, mlp_bias=True,
        rope_parameters=rope(500.0, rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                             original_max_position_embeddings=16)), {}
    yield "linear", "llama", hf.LlamaConfig(**COMMON, head_dim=HEAD, rope_parameters=rope(rope_type="linear", factor=4.0)), {
        "rope.scaling.type": "linear", "rope.scaling.factor": 4.0}
    yield "yarn", "qwen2", hf.Qwen2Config(
        **COMMON, rope_parameters=rope(rope_type="yarn", factor=4.0, original_max_position_embeddings=16)), {
        "rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 16}
    yield "mistral", "llama", hf.MistralConfig(**COMMON, head_dim=HEAD, sliding_window=5, rope_parameters=rope()), {
        "attention.sliding_window": 5}
    yield "mixtral", "llama", hf.MixtralConfig(**COMMON, num_local_experts=4, num_experts_per_tok=2, sliding_window=None,
                                               rope_parameters=rope()), {"expert_count": 4, "expert_used_count": 2}
    yield "qwen2", "qwen2", hf.Qwen2Config(**COMMON, rope_parameters=rope()), {}
    yield "qwen3", "qwen3", hf.Qwen3Config(**COMMON, head_dim=12, rope_parameters=rope()), {}
    yield "gemma", "gemma", hf.GemmaConfig(**COMMON, head_dim=12, hidden_activation="gelu_pytorch_tanh", rope_parameters=rope()), {}
    yield "gemma2", "gemma2", hf.Gemma2Config(
        **COMMON, head_dim=HEAD, query_pre_attn_scalar=HEAD, sliding_window=5, attn_logit_softcapping=2.0,
        final_logit_softcapping=1.5, rope_parameters=rope()), {
        "attention.sliding_window": 5, "attn_logit_softcapping": 2.0, "final_logit_softcapping": 1.5}
    yield "gemma3", "gemma3", hf.Gemma3TextConfig(
        **COMMON, head_dim=HEAD, query_pre_attn_scalar=HEAD, sliding_window=5,
        layer_types=["sliding_attention", "full_attention"],
        rope_parameters={"sliding_attention": rope(), "full_attention": rope(1000000.0, rope_type="linear", factor=8.0)}), {
        "attention.sliding_window": 5, "attention.sliding_window_pattern": 2, "rope.scaling.type": "linear",
        "rope.scaling.factor": 8.0, "rope.freq_base": 1000000.0}
    yield "phi3", "phi3", hf.Phi3Config(**COMMON, sliding_window=7, rope_parameters=rope(partial_rotary_factor=0.5)), {
        "attention.sliding_window": 7, "rope.dimension_count": HEAD // 2}
    yield "longrope", "phi3", hf.Phi3Config(
        **COMMON, sliding_window=None, original_max_position_embeddings=16,
        rope_parameters=rope(rope_type="longrope", short_factor=[1.0, 1.1, 1.2, 1.3], long_factor=[1.5, 2.0, 3.0, 4.0],
                             original_max_position_embeddings=16, factor=4.0)), {
        "rope.scaling.original_context_length": 16, "rope.scaling.type": "longrope",
        "rope.scaling.attn_factor": float(np.sqrt(1 + np.log(4.0) / np.log(16.0)))}
    yield "qwen3moe", "qwen3moe", hf.Qwen3MoeConfig(
        **COMMON, head_dim=12, moe_intermediate_size=16, num_experts=4, num_experts_per_tok=2, norm_topk_prob=True,
        rope_parameters=rope()), {"expert_count": 4, "expert_used_count": 2, "expert_feed_forward_length": 16}


NAMES = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
         "self_attn.v_proj": "attn_v", "self_attn.qkv_proj": "attn_qkv", "self_attn.o_proj": "attn_output",
         "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate",
         "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "mlp.gate_up_proj": "ffn_up", "mlp.gate": "ffn_gate_inp"}


def name_of(name, arch):
    plain = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
             "lm_head.weight": "output.weight"}
    if name in plain:
        return plain[name]
    _, _, number, rest = name.split(".", 3)
    part, kind = rest.rsplit(".", 1)
    new = dict(NAMES)
    if arch in ("gemma2", "gemma3"):
        new.update({"post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
                    "post_feedforward_layernorm": "post_ffw_norm"})
    else:
        new["post_attention_layernorm"] = "ffn_norm"
    return f"blk.{number}.{new[part]}.{kind}"


def pairs(weight, heads):
    """Rows of a head from halves to pairs, as the converter of Llama's weights orders them."""
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(weight.shape)


def tensors(model, arch, config):
    for name, value in model.state_dict().items():
        x = value.detach().numpy().astype(np.float32)
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        if "experts." in name:
            block = name.split(".")[2]
            if name.endswith("gate_up_proj"):
                half = x.shape[1] // 2
                yield f"blk.{block}.ffn_gate_exps.weight", x[:, :half]
                yield f"blk.{block}.ffn_up_exps.weight", x[:, half:]
            else:
                yield f"blk.{block}.ffn_down_exps.weight", x
            continue
        if arch.startswith("gemma") and name.endswith("norm.weight"):
            x = x + 1
        if arch == "llama" and ".q_proj" in name:
            x = pairs(x, HEADS)
        if arch == "llama" and ".k_proj" in name:
            x = pairs(x, KV)
        yield name_of(name, arch), x


def vocabulary(writer):
    """A byte-level vocabulary: 3 special tokens, 60 characters from A on, and one merge."""
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(["<unk>", "<s>", "</s>"] + characters() + ["ab"])
    writer.add_token_types([2, 3, 3] + [1] * (VOCAB - 3))
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(2)
    writer.add_bos_token_id(1)
    writer.add_add_bos_token(False)


def write(name, arch, config, model, more):
    writer = gguf.GGUFWriter(os.path.join(HERE, name + ".gguf"), arch)
    keys = {"block_count": 2, "context_length": CONTEXT, "embedding_length": HIDDEN, "feed_forward_length": WIDE,
            "attention.head_count": HEADS, "attention.head_count_kv": KV, "attention.layer_norm_rms_epsilon": 1e-5,
            "rope.freq_base": 10000.0, **more}
    head = getattr(config, "head_dim", None) or HEAD
    if head != HEAD:
        keys["attention.key_length"] = keys["attention.value_length"] = head
    if name == "llama3":
        keys["rope.freq_base"] = 500.0
    for key, value in keys.items():
        add = writer.add_string if isinstance(value, str) else writer.add_uint32 if isinstance(value, int) else writer.add_float32
        add(f"{arch}.{key}", value)
    vocabulary(writer)
    for tensor, value in tensors(model, arch, config):
        writer.add_tensor(tensor, np.ascontiguousarray(value))
    if name == "llama3":  # the converter's rope_freqs: how much longer each wave is
        inverse = 1 / 500.0 ** (np.arange(0, HEAD, 2) / HEAD)
        writer.add_tensor("rope_freqs.weight", (inverse / model.model.rotary_emb.inv_freq.numpy()).astype(np.float32))
    if name == "longrope":
        for kind in ("short", "long"):
            factors = np.array(config.rope_parameters[kind + "_factor"], np.float32)
            writer.add_tensor(f"rope_factors_{kind}.weight", factors)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def characters():
    return [chr(65 + i) for i in range(VOCAB - 4)]


def write_folder(name, model):
    """The folder that transformers writes, with the vocabulary of the GGUF file."""
    folder = os.path.join(HERE, "hub", name)
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder, max_shard_size="64KB" if name == "mixtral" else "1GB")
    vocab = {token: i for i, token in enumerate(["<unk>", "<s>", "</s>"] + characters() + ["ab"])}
    tokenizer = Tokenizer(BPE(vocab=vocab, merges=[("a", "b")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    tokenizer.save(os.path.join(folder, "tokenizer.json"), pretty=False)
    for file in os.listdir(folder):
        os.chmod(os.path.join(folder, file), 0o644)


def main():
    expected = {}
    ids = (np.arange(TOKENS) * 37 + 5) % (VOCAB - 3) + 3
    for number, (name, arch, config, more) in enumerate(models()):
        torch.manual_seed(number)
        model = hf.AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
        for parameter in model.parameters():
            parameter.data = torch.randn(parameter.shape) * (0.3 if parameter.dim() > 1 else 0.2)
            if parameter.dim() == 1 and not arch.startswith("gemma"):
                parameter.data += 1
        if config.tie_word_embeddings:
            model.tie_weights()
        with torch.no_grad():
            expected[name] = model(torch.tensor(ids)[None]).logits[0].numpy()
        write(name, arch, config, model, more)
        write_folder(name, model)
        print(name, expected[name].shape, np.abs(expected[name]).max())
    expected["ids"] = ids.astype(np.int32)
    save_file(expected, os.path.join(HERE, "logits.safetensors"))


main()
