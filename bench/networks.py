"""Rows drawn from networks that people run, as data: shapes of their layers, forward and backward."""
import kinds
import plain_kinds as plain
from kinds import Convolution

# With a batch for a GPU.
CONVOLUTIONS = (
    ("ResNet-50 7x7", Convolution((64, 3, 224, 224), (64, 3, 7, 7), 2, 3)),
    ("ResNet-50 1x1", Convolution((64, 64, 56, 56), (256, 64, 1, 1))),
    ("ResNet-50 1x1", Convolution((64, 1024, 14, 14), (256, 1024, 1, 1))),
    ("ResNet-50 1x1 s2", Convolution((64, 256, 56, 56), (512, 256, 1, 1), 2)),
    ("ResNet-50 3x3", Convolution((64, 64, 56, 56), (64, 64, 3, 3), 1, 1)),
    ("ResNet-50 3x3", Convolution((64, 256, 14, 14), (256, 256, 3, 3), 1, 1)),
    ("ResNet-50 3x3 s2", Convolution((64, 512, 14, 14), (512, 512, 3, 3), 2, 1)),
    ("ResNet-50, one image", Convolution((1, 128, 28, 28), (128, 128, 3, 3), 1, 1)),
    ("MobileNet depthwise", Convolution((32, 144, 56, 56), (144, 1, 3, 3), 1, 1, groups=144)),
    ("MobileNet depthwise s2", Convolution((32, 192, 28, 28), (192, 1, 3, 3), 2, 1, groups=192)),
    ("EfficientNet depthwise 5x5", Convolution((32, 672, 14, 14), (672, 1, 5, 5), 1, 2, groups=672)),
    ("ResNeXt grouped", Convolution((32, 256, 28, 28), (256, 8, 3, 3), 1, 1, groups=32)),
    ("UNet 3x3", Convolution((2, 320, 64, 64), (320, 320, 3, 3), 1, 1, bias=True)),
    ("UNet 3x3", Convolution((2, 1280, 16, 16), (640, 1280, 3, 3), 1, 1, bias=True)),
    ("UNet first", Convolution((2, 4, 64, 64), (320, 4, 3, 3), 1, 1, bias=True)),
    ("DeepLab dilated", Convolution((4, 512, 32, 32), (256, 512, 3, 3), 1, 6, dilation=6)),
    ("DCGAN transposed", Convolution((64, 512, 8, 8), (512, 256, 4, 4), 2, 1, transposed=True)),
    ("UNet transposed", Convolution((4, 128, 64, 64), (128, 64, 2, 2), 2, bias=True, transposed=True)),
    ("Whisper first", Convolution((4, 80, 3000), (512, 80, 3), 1, 1, bias=True)),
    ("Whisper second", Convolution((4, 512, 3000), (512, 512, 3), 2, 1, bias=True)),
    ("video ResNet", Convolution((4, 64, 8, 56, 56), (64, 64, 3, 3, 3), 1, 1)),
    ("video ResNet", Convolution((4, 256, 4, 14, 14), (256, 256, 3, 3, 3), 1, 1)),
    ("LeNet first", Convolution((64, 1, 28, 28), (6, 1, 5, 5), 1, 2, bias=True)),
    ("small", Convolution((1, 16, 16, 16), (16, 16, 3, 3), 1, 1)),
    ("ViT patches", Convolution((32, 3, 224, 224), (768, 3, 16, 16), 16, bias=True)),
    ("MobileNet first", Convolution((32, 3, 224, 224), (32, 3, 3, 3), 2, 1)),
    ("MobileNet expand", Convolution((32, 24, 56, 56), (144, 24, 1, 1))),
    ("MobileNet project", Convolution((32, 576, 14, 14), (96, 576, 1, 1))),
    ("EfficientNet squeeze", Convolution((32, 672, 1, 1), (28, 672, 1, 1), bias=True)),
    ("EfficientNet depthwise 5x5 s2", Convolution((32, 144, 56, 56), (144, 1, 5, 5), 2, 2, groups=144)),
    ("UNet down", Convolution((2, 320, 64, 64), (320, 320, 3, 3), 2, 1, bias=True)),
    ("UNet last", Convolution((2, 320, 64, 64), (4, 320, 3, 3), 1, 1, bias=True)),
)


def convolution_rows(smaller, dtype):
    for name, layer in CONVOLUTIONS:
        layer = layer.of_batch(max(1, layer.x[0] // smaller))
        for way in ("y", "dx", "dw"):
            yield name, layer.case(way, dtype)


def image_rows(batch, dtype):
    """Batch norms, pooling, activations and heads of networks that look at pictures."""
    for name, x in (("ResNet-50", (batch, 64, 112, 112)), ("MobileNet", (batch, 576, 14, 14)),
                    ("EfficientNet", (batch, 144, 56, 56))):
        yield name, kinds.batch_norm(x, dtype=dtype)
        yield name, kinds.batch_norm(x, training=True, dtype=dtype)
        yield name, kinds.batch_norm(x, dtype=dtype, training=True, backward=True)
    for backward in (False, True):
        yield "ResNet-50", kinds.pool("max", (batch, 64, 112, 112), 3, 2, 1, dtype, backward=backward)
        yield "UNet down", kinds.pool("avg", (batch, 320, 32, 32), 2, dtype=dtype, backward=backward)
        yield "UNet up", kinds.resize("nearest", (batch, 640, 32, 32), (64, 64), dtype, backward=backward)
        yield "DeepLab up", kinds.resize("linear", (batch, 21, 65, 65), (513, 513), dtype, backward=backward)
        yield "UNet", kinds.norm("group", (batch, 320, 64, 64), 32, dtype, backward=backward)
    yield "ResNet-50", kinds.adaptive_pool("avg", (batch, 2048, 7, 7), 1, dtype)
    yield "EfficientNet squeeze", plain.reduction("mean", (batch, 672, 14, 14), (2, 3), dtype)
    yield "EfficientNet", plain.unary("silu", (batch, 672, 14, 14), dtype)
    yield "EfficientNet", plain.activation_backward("silu", (batch, 672, 14, 14), dtype)
    yield "EfficientNet scale", plain.binary("mul", (batch, 672, 14, 14), (batch, 672, 1, 1), dtype)
    yield "MobileNet", plain.unary("relu6", (batch, 144, 56, 56), dtype)
    yield "MobileNetV3", plain.unary("hard_swish", (batch, 240, 14, 14), dtype)
    yield "ResNet-50 residual", plain.binary("add", (batch, 256, 56, 56), (batch, 256, 56, 56), dtype)
    yield "classes", kinds.linear((batch, 2048), 1000, dtype)
    yield "classes", kinds.cross_entropy(batch, 1000, dtype)
    yield "bias", plain.reduction("sum", (batch, 320, 64, 64), (0, 2, 3), dtype)


# name, batch, heads, heads of keys, queries, keys, elements, causal
ATTENTIONS = (("ViT-B/16", 1, 12, 12, 197, 197, 64, False), ("UNet self", 2, 8, 8, 1024, 1024, 40, False),
              ("UNet self", 2, 8, 8, 256, 256, 80, False), ("UNet cross", 2, 8, 8, 1024, 77, 40, False),
              ("Whisper encoder", 1, 8, 8, 1500, 1500, 64, False), ("Whisper cross", 1, 8, 8, 1, 1500, 64, False),
              ("GPT-2", 1, 12, 12, 512, 512, 64, True), ("Llama prefill", 1, 32, 8, 512, 512, 64, True),
              ("Llama decode", 1, 32, 8, 1, 2048, 64, False), ("Llama-8B decode", 1, 32, 8, 1, 4096, 128, False))


def text_rows(batch, dtype):
    for name, items, heads, kv_heads, queries, keys, width, causal in ATTENTIONS:
        q = (items * batch, heads, queries, width)
        yield name, kinds.attention(q, keys, kv_heads, dtype, causal)
        if queries > 1:
            yield name, kinds.attention(q, keys, kv_heads, dtype, causal, backward=True)
    # name, rows, terms, columns
    for name, m, k, n in (("ViT-B/16 up", 197, 768, 3072), ("ViT-B/16 down", 197, 3072, 768),
                          ("Whisper", 1500, 512, 512), ("UNet", 1024, 320, 2560),
                          ("Llama prefill", 128, 2048, 8192), ("GPT-2", 512, 768, 2304)):
        yield name, kinds.linear((batch, m, k), n, dtype)
        yield f"{name}, dx", kinds.matmul((batch * m, n), (n, k), dtype)
        yield f"{name}, dw", kinds.matmul((n, batch * m), (batch * m, k), dtype, ("transposed", ""))
    for m in (1, 4, 7, 16):
        yield "Llama decode", kinds.linear((m, 1, 2048), 8192, dtype, bias=False)
    yield "GPT-2 vocabulary", kinds.linear((1, 1, 768), 50257, dtype, bias=False)
    yield "GPT-2 vocabulary", kinds.linear((1, 64, 768), 50257, dtype, bias=False)
    for backward in (False, True):
        yield "GPT-2 vocabulary", kinds.cross_entropy(64 * batch, 50257, dtype, backward)
        yield "GPT-2 vocabulary", plain.softmax((4, 50257), -1, dtype, backward=backward)
        yield "GPT-2 vocabulary", kinds.embedding(50257, 768, 512 * batch, dtype, backward)
        yield "ViT-B/16", kinds.norm("layer", (batch, 197, 768), dtype=dtype, backward=backward)
        yield "Llama", kinds.norm("rms", (batch, 128, 2048), dtype=dtype, backward=backward)
        yield "UNet scores", plain.softmax((8 * batch, 1024, 77), -1, dtype, backward=backward)
    yield "Llama decode", kinds.norm("rms", (1, 1, 2048), dtype=dtype)
    yield "Llama", kinds.rope((batch, 32, 512, 64), dtype)
    yield "ViT-B/16", plain.unary("gelu", (batch, 197, 3072), dtype)
    yield "ViT-B/16", plain.activation_backward("gelu", (batch, 197, 3072), dtype)
    yield "GPT-2", plain.unary("gelu_tanh", (batch, 512, 3072), dtype)
    yield "Llama", plain.unary("silu", (batch, 128, 8192), dtype)
    yield "heads moved", plain.copy((8 * batch, 12, 128, 64), (0, 2, 1, 3), dtype)
    yield "heads moved back", plain.copy((8 * batch, 128, 12, 64), (0, 2, 1, 3), dtype)
    yield "token sampling", plain.argmax((batch, 50257), -1, dtype)
    yield "token sampling", plain.cumsum((batch, 50257), -1, dtype)
    yield "residual", plain.binary("add", (batch, 512, 2048), (batch, 512, 2048), dtype)
    yield "bias", plain.binary("add", (batch, 512, 3072), (3072,), dtype)
    yield "bias", plain.reduction("sum", (batch * 512, 3072), (0,), dtype)


def rows(on_gpu, dtypes):
    """(network, case) of each."""
    batch = 16 if on_gpu else 1
    for dtype in dtypes:
        yield from convolution_rows(16 // batch, dtype)
        yield from image_rows(batch, dtype)
        yield from text_rows(min(batch, 4), dtype)
