#!/usr/bin/env python3
"""Makes small GGUF vocabularies and what Hugging Face's tokenizers and Google's sentencepiece make of texts with them.

    python3 -m pip install gguf tokenizers sentencepiece && tests/text/pieces/make.py

Each NAME.gguf has a vocabulary of some hundred tokens, trained on Wick's own README; NAME.json.gz has texts and ids."""
import gzip
import io
import json
import pathlib
import random

import gguf
import sentencepiece
import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).parent
TEXT = (HERE / "../../../README.md").read_text(encoding="utf-8") * 2 + " 1234 99 007 " * 9 + " don't we'll I'M it's " * 9
SPECIAL = ["<|end|>", "<|user|>"]
GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
         r"\s+(?!\S)|\s+")
SPLITTERS = {"gpt-2": [GPT_2], "smollm": [r"\p{N}", GPT_2], "llama-bpe": [LLAMA % "{1,3}"], "qwen2": [LLAMA % ""]}
EDGES = ["", " ", "  ", "\n", "\n\n \n", "\t\t x", "Hello world", " Hello  world ", "a\r\nb\r\n\r\nc", "1234567 12 3", "don't I'LL we'Re 'S",
         "héllo Ünï €5 ½", "日本語のテキスト 한국어", "👩‍👩‍👧 😶‍🌫️", "e\u0301 \u200d \ufeff", "((x)) [y]; {z}!!!\n\n", "<|user|>hi<|end|>\n", "<|us er|>",
         "x" * 300, " " * 70 + "y", "!" * 99, "\u00a0\u3000 z", "ſ's 'ſ", "\u2028a\u0085b", "٣٤٥ ৪৫", "a'b'c's", "\0\x01\x7f"]


def texts():
    draw = random.Random(7)
    pools = [(32, 127), (32, 127), (0xA0, 0x250), (0x370, 0x500), (0x3040, 0x3100), (0x4E00, 0x4F00), (0xAC00, 0xAD00),
             (0x1F600, 0x1F640), (0x2000, 0x2070), (0x300, 0x340), (9, 14)]
    lines = list(EDGES)
    for _ in range(300):
        pool = [draw.choice(pools) for _ in range(draw.randint(1, 4))]
        lines.append("".join(chr(draw.randrange(*draw.choice(pool))) for _ in range(draw.randint(1, 40))))
    words = TEXT.split()
    return lines + [" ".join(draw.choice(words) for _ in range(12)) for _ in range(40)]


def save(name, cases):
    with open(HERE / (name + ".json.gz"), "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed:
        json.dump(cases, io.TextIOWrapper(packed, "utf-8", write_through=True), ensure_ascii=False)
    print(name, len(cases), "texts")


def byte_level(name, patterns):
    tokenizer = tokenizers.Tokenizer(models.BPE(ignore_merges=name == "llama-bpe"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated") for pattern in patterns] +
        [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator([TEXT], trainers.BpeTrainer(
        vocab_size=500, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    state = json.loads(tokenizer.to_str())
    vocab = sorted(state["model"]["vocab"].items(), key=lambda item: item[1])
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in state["model"]["merges"]]
    writer = gguf.GGUFWriter(HERE / ("bpe-%s.gguf" % name), "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(name)
    writer.add_token_list([token for token, _ in vocab])
    writer.add_token_types([gguf.TokenType.CONTROL if token in SPECIAL else gguf.TokenType.NORMAL for token, _ in vocab])
    writer.add_token_merges(merges)
    writer.add_bos_token_id(0)
    finish(writer)
    save("bpe-" + name, [{"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids} for text in texts()])


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def sentence_piece():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT.splitlines()), model_writer=model, vocab_size=700, model_type="bpe", byte_fallback=True,
        character_coverage=1.0, split_digits=True, normalization_rule_name="identity", remove_extra_whitespaces=False,
        allow_whitespace_only_pieces=True, minloglevel=2, num_threads=1)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    ids = range(processor.vocab_size())
    writer = gguf.GGUFWriter(HERE / "spm.gguf", "llama")
    writer.add_tokenizer_model("llama")
    writer.add_token_list([processor.id_to_piece(i) for i in ids])
    writer.add_token_scores([processor.get_score(i) for i in ids])
    writer.add_token_types([gguf.TokenType.UNKNOWN if processor.is_unknown(i) else gguf.TokenType.CONTROL if processor.is_control(i)
                            else gguf.TokenType.BYTE if processor.is_byte(i) else gguf.TokenType.NORMAL for i in ids])
    finish(writer)
    chosen = [text for text in texts() if "\0" not in text and "<" not in text]  # sentencepiece ends a text at U+0000
    save("spm", [{"text": text, "ids": processor.encode(text)} for text in chosen])


for key, value in SPLITTERS.items():
    byte_level(key, value)
sentence_piece()
