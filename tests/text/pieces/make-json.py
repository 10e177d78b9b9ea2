#!/usr/bin/env python3
"""Makes small tokenizer.json files of BPE and Unigram in the layouts of models, and what Hugging Face's tokenizers make of texts.

    python3 -m pip install tokenizers && tests/text/pieces/make-json.py [NAME...]
    tests/text/pieces/make-json.py --compare BUILD [N]      compares N random texts (100,000) instead

Each json-NAME/tokenizer.json has a vocabulary of some hundred tokens, trained on Wick's own README; json-NAME.json.gz has
texts and ids. Random texts hold assigned characters alone, so that both sides' versions of Unicode agree on them, and not
U+09FE, a mark of class 230 that tokenizers 0.23 sorts before marks of class 7."""
import gzip
import io
import json
import pathlib
import random
import struct
import subprocess
import sys
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
CORPUS = ((HERE / "../../../README.md").read_text(encoding="utf-8") * 2 + " 1234 99 007 " * 9 + " don't we'll I'M it's " * 9 +
          " 日本語のテキスト 한국어 héllo Ünï e\u0301 " * 20)
LLAMA = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
         r"\s+(?!\S)|\s+")
SPECIAL = ["<|end|>", "<|user|>"]
METASPACES = {"metaspace": ("first", True), "metaspace-whole": ("always", False), "metaspace-never": ("never", True),
              "unigram": ("always", True), "unigram-bytes": ("first", False)}
NAMES = ["gpt2", "roberta", "smollm", "llama3", "qwen2", "llama2", "gemma"] + list(METASPACES)
WORDS = CORPUS.split() + SPECIAL + ["  two", "café", "cafe\u0301", "<x>", "wor", "'LL", "  ", "\n\n", "▁", "<0x41>", "<unk>"]
POOLS = [(32, 127)] * 4 + [
    (0xA0, 0x250), (0x370, 0x500), (0x590, 0x700), (0x900, 0xA00), (0xE00, 0xE80), (0x1100, 0x1200), (0x1E00, 0x2000),
    (0x2000, 0x2100), (0x3000, 0x3100), (0x4E00, 0x5000), (0xAC00, 0xAE00), (0xF900, 0xFB00), (0xFE00, 0xFFF0), (0x300, 0x370),
    (9, 14), (0x1D400, 0x1D500), (0x1F300, 0x1F700), (0x20000, 0x20100), (0, 0x110000)]


def byte_level(name):
    tokenizer = Tokenizer(models.BPE(ignore_merges=name == "llama3"))
    whole = pre_tokenizers.ByteLevel(add_prefix_space=name == "roberta")
    rest = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = whole
    if name == "roberta":
        tokenizer.post_processor = processors.RobertaProcessing((SPECIAL[0], 0), (SPECIAL[1], 1))
    if name == "smollm":
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), whole])
    if name in ("llama3", "qwen2"):
        pattern = Regex(LLAMA % ("{1,3}" if name == "llama3" else ""))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(pattern, "isolated"), rest])
    if name == "llama3":
        tokenizer.post_processor = processors.Sequence([
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(single="<|user|> $A", pair="<|user|> $A $B", special_tokens=[("<|user|>", 1)])])
    if name == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.train_from_iterator([CORPUS], trainers.BpeTrainer(
        vocab_size=480, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.add_tokens([AddedToken("  two", normalized=True), AddedToken("café", normalized=True),
                          AddedToken("<x>", normalized=False, lstrip=True, rstrip=True),
                          AddedToken("wor", single_word=True, normalized=False)])
    return tokenizer


def characters(name):
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    prepend = [normalizers.Prepend("▁")] if name == "llama2" else []
    tokenizer.normalizer = normalizers.Sequence(prepend + [normalizers.Replace(" ", "▁")])
    if name == "gemma":
        tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    special = ["<unk>"] + SPECIAL + ["<0x%02X>" % i for i in range(256)]
    tokenizer.train_from_iterator(
        [word + " " for word in CORPUS.split()] + [CORPUS[i:i + 30] for i in range(0, len(CORPUS), 30)],
        trainers.BpeTrainer(vocab_size=700, special_tokens=special, show_progress=False))
    state = json.loads(tokenizer.to_str())
    state["added_tokens"] = [token for token in state["added_tokens"] if not token["content"].startswith("<0x")]
    return Tokenizer.from_str(json.dumps(state))


def metaspace(name):
    """With tokens of bytes (metaspace, unigram-bytes), an unknown token for each character, or one for many."""
    scheme, split = METASPACES[name]
    special, in_bytes = ["<unk>"] + SPECIAL, ["<0x%02X>" % i for i in range(256)]
    fallback = name in ("metaspace", "unigram-bytes")
    if name.startswith("unigram"):
        tokenizer = Tokenizer(models.Unigram())
        trainer = trainers.UnigramTrainer(vocab_size=500, special_tokens=special, unk_token="<unk>", show_progress=False)
    else:
        tokenizer = Tokenizer(models.BPE(byte_fallback=fallback, unk_token="<unk>", fuse_unk=name == "metaspace-whole"))
        trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=special + in_bytes * fallback, show_progress=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
    tokenizer.train_from_iterator([CORPUS[i:i + 60] for i in range(0, len(CORPUS), 60)], trainer)
    tokenizer.add_tokens([AddedToken("<x>", normalized=False, lstrip=True, rstrip=True), AddedToken("café", normalized=True)])
    state = json.loads(tokenizer.to_str())
    state["added_tokens"] = [token for token in state["added_tokens"] if not token["content"].startswith("<0x")]
    if name == "unigram-bytes":
        state["model"]["byte_fallback"] = True
        added = len(state["model"]["vocab"])
        state["model"]["vocab"] += [[token, -20.0] for token in in_bytes]
        for token in state["added_tokens"]:
            token["id"] += 256 * (token["id"] >= added)
    return Tokenizer.from_str(json.dumps(state))


def random_texts(n, seed):
    draw = random.Random(seed)
    for _ in range(n):
        parts = []
        for _ in range(draw.randint(0, 6)):
            chance = draw.random()
            if chance < 0.4:
                parts.append(draw.choice(WORDS))
            if chance < 0.3:
                parts.append(" " * draw.randint(0, 3))
            if chance > 0.35:
                pool = draw.choice(POOLS)
                parts += [chr(draw.randrange(*pool)) for _ in range(draw.randint(1, 8))]
        yield "".join(c for c in "".join(parts) if unicodedata.category(c) not in ("Cn", "Cs") and c != "\u09FE")


def make(name):
    kind = metaspace if name in METASPACES else characters if name in ("llama2", "gemma") else byte_level
    tokenizer = kind(name)
    folder = HERE / ("json-" + name)
    folder.mkdir(exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    cases = [{"text": text, "ids": tokenizer.encode(text).ids} for text in random_texts(400, 11)]
    with open(HERE / ("json-%s.json.gz" % name), "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed:
        json.dump(cases, io.TextIOWrapper(packed, "utf-8", write_through=True), ensure_ascii=False)


def compare(name, program, texts):
    """Returns how many of the texts have other ids."""
    folder = HERE / ("json-" + name)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    data = b"".join(struct.pack("<I", len(text)) + text for text in (text.encode() for text in texts))
    out = subprocess.run([program, folder], input=data, stdout=subprocess.PIPE, check=True).stdout
    at, wrong = 0, 0
    for text in texts:
        n = struct.unpack_from("<i", out, at)[0]
        wrong += list(struct.unpack_from("<%di" % n, out, at + 4)) != tokenizer.encode(text).ids
        at += 4 + 4 * n
    print(name, len(texts), "texts,", wrong, "with other ids", flush=True)
    return wrong


if sys.argv[1:2] == ["--compare"]:
    drawn = list(random_texts(int((sys.argv + ["100000"])[3]), 1))
    sys.exit(sum(compare(name, pathlib.Path(sys.argv[2], "tests/test-text-ids"), drawn) for name in NAMES) != 0)
for key in sys.argv[1:] or NAMES:
    make(key)
