#!/usr/bin/env python3
"""Writes the n-th block of C of a page of the documentation to FOLDER/PAGE-n.h, for tests to include.

Usage: blocks.py PAGE.md FOLDER COUNT     the page must have COUNT such blocks
"""
import os
import re
import sys

page, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(page, encoding="utf-8") as file:
    blocks = re.findall(r"^```c\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
if len(blocks) != count:
    sys.exit(f"{page} has {len(blocks)} blocks of C, not {count}: tests/docs includes each")
for n, block in enumerate(blocks, 1):
    name = os.path.splitext(os.path.basename(page))[0]
    with open(os.path.join(folder, f"{name}-{n}.h"), "w", encoding="utf-8") as file:
        file.write(block)
