#!/usr/bin/env python3
"""Makes the reference files of tests/text from what Hugging Face's libraries compute.

    tests/text/make-reference.py MODEL DJANGO

MODEL is a folder with all-MiniLM-L6-v2 (tools/fetch-model makes one), DJANGO an unpacked wheel of Django, whose
translations (BSD-3-Clause) are the multilingual text. Needs tokenizers, and sentence-transformers for embeddings.

    lines.gz         one text a line, UTF-8
    lines.ids.gz     for each of them a little-endian u16 count and that many u16 ids
    edges.json.gz    [{"text": ..., "ids": [...]}]: constructed texts with what is hard about Unicode
    sentences.json.gz and embeddings.safetensors
                     texts, and their vectors from sentence-transformers in f32: round(vector * 2^16) as i16
    tiny.json        the same for the folders under tests/text/: {"FOLDER": [{"text": ..., "ids": [...]}]}
"""
import glob, gettext, gzip, hashlib, json, struct, sys
from pathlib import Path
from tokenizers import BertWordPieceTokenizer, Tokenizer

HERE = Path(__file__).parent
PER_LANGUAGE = 62


def translations(folder):
    """At most PER_LANGUAGE lines of each language, other messages in each."""
    languages = {}
    for path in sorted(glob.glob(f"{folder}/**/LC_MESSAGES/django*.mo", recursive=True)):
        language = path.split("/locale/")[1].split("/")[0]
        with open(path, "rb") as file:
            catalog = gettext.GNUTranslations(file)._catalog
        for key, text in catalog.items():
            if key == "" or text == key or not isinstance(text, str):
                continue
            for line in text.split("\n"):
                if len(line.strip()) >= 4 and len(line) < 400:
                    languages.setdefault(language, set()).add(line)
    lines = []
    for language, texts in sorted(languages.items()):
        order = sorted(texts, key=lambda text: hashlib.sha256((language + text).encode()).digest())
        lines += order[:PER_LANGUAGE]
    return lines


def edges():
    texts = [
        "", " ", "\t\n\r\v\f", "Hello, world!", "naïve café Ångström Zoë", "ÀÉÎÕÜ àéîõü", "cafe\u0301 e\u0301\u0323\u0301",
        "Straße STRASSE ẞ ß", "İstanbul ISTANBUL ıstanbul iİIı", "ΟΔΥΣΣΕΥΣ Ὀδυσσεύς ΣΑΣ σας ᾳ ῳ ᾼ ΐ", "ǅ ǆ Ǆ ﬁ ﬂ ﬀ Ⅷ ⅷ Ⓐ",
        "Việt Nam Tiếng Việt ƠƯƠƯ ế ệ ữ", "한국어 안녕하세요 각힣", "\u1112\u1161\u11ab\u1100\u1173\u11af 한글 ㄱㅏ", "日本語のテキスト、カタカナ。ガギグ がぎぐ ﾊﾝｶｸ",
        "你好世界 𠀀𪜀𫝀𫠠𬺰 豈 㐀 〇 々", "مرحبا بالعالم السَّلَامُ عَلَيْكُمْ", "שָׁלוֹם עולם", "हिन्दी नमस्ते क्ष ज़", "বাংলা தமிழ் తెలుగు ಕನ್ನಡ മലയാളം සිංහල",
        "ภาษาไทย สวัสดี กำ", "ລາວ ខ្មែរ မြန်မာ བོད་", "ქართული ᲥᲐᲠᲗᲣᲚᲘ հայերեն ՀԱՅ", "Ꭰ ꭰ Ꮤ ᏸ Ꙁ Ⰰ ⰰ 𐐀 𐐨 𞤀", "Ᲊ Ɤ Ꟍ Ꟑ Ꟛ Ƛ 𐵐 𖺠",
        "👍 👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 ☺️ ❤ #️⃣", "a\u200db a\u200cb a\u200bb a\u2060b a\ufeffb", "a\u00adb soft\u00adhyphen", "\u202eabc\u202c \u200fא\u200e \u2066x\u2069",
        "a\u0000b", "a\ufffdb \ufffd", "a\u0001b\u001fc\u007fd\u0085e\u009ff", "a\u00a0b\u1680c\u2000d\u2009e\u2028f\u2029g\u202fh\u205fi\u3000j", "a\u180eb a\u180bb",
        "\ue000 \uf8ff \U000f0000 \U0010fffd \U0010ffff \ufdd0 \ufffe", "x" * 99, "x" * 100, "x" * 101, "é" * 100, "é" * 101, "e\u0301" * 60, "漢" * 120,
        "x" * 5000, "antidisestablishmentarianism floccinaucinihilipilification", "don't can't it's 'quoted' \"double\" `tick`",
        "a-b_c.d/e\\f|g~h^i=j+k<l>m$n%o&p*q(r)s[t]u{v}w@x#y", "$100 €5 £3 ¥7 ₿ ¢ ₹ ± × ÷ ≤ ≠ ∞ ∑ √ ° § ¶ © ® ™", "1.5e-10 0x1F 3,141,592.65 50% 1/2 ½ ² ³ ₂ ⁴ ①",
        "“curly” ‘quotes’ «guillemets» „low“ — – ‒ … • · † ‡", "、。「」『』【】〜・！？（）：；", "http://www.example.org/a?b=c&d=%20 me@example.org",
        "[CLS] [SEP] [MASK] [PAD] [UNK]", "a[SEP]b", "[cls] [sep] [Mask]", "[CLS][CLS] [ SEP ] [SEP", "[[SEP]]", "##ing ##s", "[unused0] [unused99]",
        "\u0301", "\u0301\u0302 a", "a\u0327\u0301b", "a\u0301\u0327b", "क\u094d\u0323\u0302ष \u302e\u302f", "\u0f71\u0f72 \u0f73 \u0f75 \u0f81", "\u0344 \u0340 \u0341 \u0343 \u0374 \u037e \u0387",
        "\u2126 \u212a \u212b Å K Ω", "\uf900 \ufa0e \ufa70 \ufb1d \ufb2a \ufb4e", "\U0001d15e \U0001d1bb \U0002f800 \U0002fa1d", "\U0001109a \U0001112e \U0001134b \U000114bb \U000115ba \U00011938",
        "\u08d4 \u08e3 \u1cf7 \u1dfa \u1df6 \ua8ff \U0001e000 \U00011c30", "\u2e43 \u2e52 \u166d \U00011660 \U0001e95e \U000111c9 \u061d", "\u0890 \u08e2 \U000110cd \U00013430 \U000e0001 \U000e0041",
        "\u1734 \u17b4 \u17b5 \u1715", "ﷺ ﷲ ﻼ", "ﾞ ﾟ ゙ ゚ か\u3099", "𝐇𝐞𝐥𝐥𝐨 𝕎𝕠𝕣𝕝𝕕 ℍ ｆｕｌｌ Ｗｉｄｔｈ １２３", "Ⅻ ℵ ℃ ㎏ ㍿ ㈱", "ʼn ŉ ǰ ẖ ẗ ẘ ẙ ẚ",
        "tab\tnew\nline\r\ncarriage\rreturn", "   leading and trailing   ", "a" + " " * 300 + "b", "word " * 3000, "é " * 700, "漢字" * 400, "?!" * 500, "\u0301" * 300 + "a", "क\u094d" * 80,
        "The quick brown fox jumps over the lazy dog.", "Lorem ipsum dolor sit amet, consectetur adipiscing elit.", "I said: \"No!\" (twice)...", "C++ C# .NET node.js x86_64 utf-8 README.md",
        "if (x == NULL) return -1; /* comment */", "SELECT * FROM t WHERE a='b';", "🙂" * 120, "Ａ̊ ﾊﾟ", "Zürich–Genève, 12 °C", "ﬃ ſ ẛ̣", "¿Qué? ¡Sí!", "na\u00efve na\u0069\u0308ve",
    ]
    # Every assigned character up to U+FFFF between letters, 96 at a time, and a sample above.
    for start in range(0xA0, 0x3400, 96):
        texts.append(" ".join(f"a{chr(c)}" for c in range(start, min(start + 96, 0x3400))))
    for start in [*range(0xA000, 0xABFF, 96), *range(0xD7A4, 0xD800, 96), *range(0xF900, 0x10000, 96), *range(0x10000, 0x12000, 192),
                  *range(0x16A00, 0x17000, 192), *range(0x1BC00, 0x1BD00, 96), *range(0x1D100, 0x1D200, 96), *range(0x1E000, 0x1F000, 192)]:
        texts.append(" ".join(f"a{chr(c)}" for c in range(start, start + 96) if not 0xD800 <= c < 0xE000))
    return texts


TINY_TEXTS = ["", "Hello World", "hello worlds", "unaffable", "unaffableé", "HELLO, hello!", "a [TOOL] b", "a[TOOL]b", "x[KEEP]y", "x [KEEP] y", "a [WORD] b aWORDb WORD",
              "hello  [LEFT]  world", "hello  [RIGHT]  world", "hello [both] world", "Café cafe\u0301", "你好 hello", "A\u0301\u0327", "x" * 12, "hello\u200dworld \u0000", "Straße İ ΣΑΣ", "[SEP] [sep]", "new  york", "New York", "NEW\tYORK"]


def sentences(lines, texts):
    """Texts of every kind: all languages, the first constructed ones, and lengths from nothing to 3000 words."""
    step = len(lines) // 200
    words = " ".join(lines).split()
    picked = lines[::step][:200] + texts[:84]
    picked += [" ".join(words[n : n + n * n % 290]) for n in range(1, 36)]
    picked += ["word " * 3000, " ".join(words[:3000])]
    return picked


def embed(model, texts):
    import numpy, safetensors.numpy, torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(2)
    vectors = SentenceTransformer(model, device="cpu").encode(texts, batch_size=16, convert_to_numpy=True)
    scaled = numpy.round(vectors.astype(numpy.float64) * 65536)
    assert numpy.abs(scaled).max() < 32768
    return safetensors.numpy.save({"vectors": scaled.astype(numpy.int16)})


def encode_all(tokenizer, texts):
    return [encoding.ids for encoding in tokenizer.encode_batch(texts)]


def main(model, django):
    tokenizer = Tokenizer.from_file(f"{model}/tokenizer.json")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    lines = translations(django)
    assert len(lines) >= 5000 and not any("\n" in line for line in lines)
    ids = encode_all(tokenizer, lines)
    packed = b"".join(struct.pack(f"<{len(row) + 1}H", len(row), *row) for row in ids)
    (HERE / "lines.gz").write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode(), 9, mtime=0))
    (HERE / "lines.ids.gz").write_bytes(gzip.compress(packed, 9, mtime=0))
    texts = edges()
    rows = [json.dumps({"text": text, "ids": row}, separators=(",", ":")) for text, row in zip(texts, encode_all(tokenizer, texts))]
    (HERE / "edges.json.gz").write_bytes(gzip.compress(("[" + ",\n".join(rows) + "]\n").encode(), 9, mtime=0))
    picked = sentences(lines, texts)
    (HERE / "sentences.json.gz").write_bytes(gzip.compress(json.dumps(picked, indent=0).encode(), 9, mtime=0))
    (HERE / "embeddings.safetensors").write_bytes(embed(model, picked))
    tiny = {}
    for folder in sorted(HERE.glob("tiny-*")):
        if (folder / "tokenizer.json").exists():
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        else:
            config = json.loads((folder / "tokenizer_config.json").read_text())
            tokenizer = BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=config["do_lower_case"], strip_accents=config["strip_accents"])
        tiny[folder.name] = [{"text": text, "ids": row} for text, row in zip(TINY_TEXTS, encode_all(tokenizer, TINY_TEXTS))]
    (HERE / "tiny.json").write_text(json.dumps(tiny, separators=(",", ":")).replace("]},", "]},\n") + "\n")
    print(len(lines), "lines,", sum(map(len, ids)), "ids,", len(texts), "edges,", len(picked), "sentences")


if __name__ == "__main__":
    main(*sys.argv[1:])
