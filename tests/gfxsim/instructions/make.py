"""Writes the test vectors of gfxsim's instructions: python3 make.py, with llvm-mc-19 there to say which target has
what."""
import os

import convert
import cross
import emit
import extra
import forms
import ints
import lds
import memory
import salu
import valu

for module in (valu, ints, convert, salu, cross, memory, lds, extra, forms):
    module.all_cases()
emit.write(os.path.dirname(os.path.abspath(__file__)))
