#!/usr/bin/env python3
"""Makes the pictures of this folder, and prepared.safetensors: what Pillow and torchvision's steps make of them.

Needs numpy, pillow and safetensors. Steps: RGB, shorter edge to 40, centre 32 x 32, (v / 255 - mean) / deviation."""
import pathlib

import numpy
import safetensors.numpy
from PIL import Image

HERE = pathlib.Path(__file__).parent
MEAN, DEVIATION = numpy.float32((0.485, 0.456, 0.406)), numpy.float32((0.229, 0.224, 0.225))


def scene(width, height, channels):
    y, x = numpy.mgrid[0:height, 0:width] / max(width, height)
    random = numpy.random.default_rng(7).integers(0, 40, (height, width, channels))
    planes = [120 + 100 * numpy.sin(9 * x + 3 * c) * numpy.cos(7 * y - c) for c in range(channels)]
    return numpy.clip(numpy.stack(planes, -1) + random, 0, 255).astype(numpy.uint8)


def make():
    Image.fromarray(scene(90, 61, 3)).save(HERE / "wide.png")
    Image.fromarray(scene(30, 37, 3)).save(HERE / "small.png")
    Image.fromarray(scene(70, 80, 1)[..., 0]).save(HERE / "grey.png")
    Image.fromarray(scene(75, 64, 3)).save(HERE / "tall.jpg", quality=90)
    Image.fromarray(scene(75, 64, 1)[..., 0]).save(HERE / "grey.jpg", quality=90)


def prepare(path, resample):
    image = Image.open(path).convert("RGB")
    shorter = min(image.size)
    width, height = (40 * edge // shorter for edge in image.size)
    image = image.resize((width, height), resample)
    left, top = round((width - 32) / 2), round((height - 32) / 2)
    values = numpy.asarray(image.crop((left, top, left + 32, top + 32)), numpy.float32) / numpy.float32(255)
    return ((values - MEAN) / DEVIATION).transpose(2, 0, 1).copy()


if __name__ == "__main__":
    make()
    results = {}
    for name in ("wide.png", "small.png", "grey.png", "tall.jpg", "grey.jpg"):
        results[name + ".bilinear"] = prepare(HERE / name, Image.Resampling.BILINEAR)
        results[name + ".bicubic"] = prepare(HERE / name, Image.Resampling.BICUBIC)
    safetensors.numpy.save_file(results, HERE / "prepared.safetensors")
