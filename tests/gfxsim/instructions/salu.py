"""Scalar instructions: arithmetic, bits, compares, moves, EXEC, branches, registers of the hardware."""
from fractions import Fraction as Q

from convert import N16, N32
from emit import ALL, BELOW12, GFX9, GFX10UP, GFX11UP, GFX1030, GFX1201, GFX1151, LANES, Case
from floats import F16, F32, RZERO, add, convert, fma, integral, mul, order, sub, to_int
from pools import *
from valu import minimum, minmax
from vector import M16, M32, M64, i16, i32, signed

FILL = 0xC0DE0000
CARRY = list(FLAGS)
SCC = 7  # its output word


def regs(at, n):
    return f's{at}' if n == 1 else f's[{at}:{at + n - 1}]'


def sop(name, sig, model, columns, targets=ALL, text=None, scc='keep', accumulate=False):
    """sig 'd:s,s' with widths in words, 0 for no result. The model takes operands (with scc 'in' SCC after them) and
    gives the result, or (result, SCC). With 'keep' SCC is what it was, with 'nonzero' whether the result is not 0."""
    d, s = sig.split(':')
    d, s = int(d), [int(x) for x in s.split(',') if x]
    case = Case(name, kind='s', targets=targets)
    operands, at = [], 0
    for n, column in zip(s, columns):
        at += at % n
        case.word([x & M32 for x in column], at)
        if n == 2:
            case.word([x >> 32 for x in column], at + 1)
        operands.append(regs(16 + at, n))
        at += n
    case.word(CARRY, 15)
    if accumulate:
        for k in range(d):
            case.pre(f's_mov_b32 s{40 + k}, s{16 + at - d + k}')
        operands = operands[:-1]
    results, flags = [], []
    for row in range(LANES):
        v = [c[row] for c in columns]
        r = model(*v, CARRY[row]) if scc == 'in' else model(*v)
        flag = CARRY[row]
        if scc == 'nonzero':
            flag = r != 0
        elif isinstance(r, tuple):
            r, flag = r
        results.append(r)
        flags.append(flag)
    line = case.asm(text or f'{name} {", ".join(([regs(40, d)] if d else []) + operands)}')
    if d:
        case.out(0, 'x', [r & M32 for r in results], line)
    if d == 2:
        case.out(1, 'x', [r >> 32 & M32 for r in results], line)
    case.out(SCC, 'm', flags, line)
    return case


def rev(n):
    return lambda x: int(f'{x:0{n}b}'[::-1], 2)


COUNT32 = [l % 37 if l < 40 else l * 0x01000193 & M32 for l in range(LANES)]
SPARSE32 = [1 << l % 32 | (B32[l] & (1 << l % 32) - 1 if l > 31 else 0) for l in range(LANES - 4)] + [0, M32, 1 << 31,
        0xfffffffe]
SPARSE64 = [(1 << l) | (B64[l] & (1 << l) - 1 if l % 2 else 0) for l in range(LANES - 3)] + [0, M64, 1 << 63]


def two_operands():
    def with_carry(lo, hi):
        return lambda r: (r & M32, not lo <= r <= hi)
    u, i = with_carry(0, M32), with_carry(-1 << 31, (1 << 31) - 1)
    ab = (A32, B32)
    for targets, names in ((BELOW12, ('s_add_u32', 's_sub_u32', 's_add_i32', 's_sub_i32', 's_addc_u32', 's_subb_u32')),
                           (GFX1201, ('s_add_co_u32', 's_sub_co_u32', 's_add_co_i32', 's_sub_co_i32', 's_add_co_ci_u32',
                                      's_sub_co_ci_u32'))):
        sop(names[0], '1:1,1', lambda a, b: u(a + b), ab, targets)
        sop(names[1], '1:1,1', lambda a, b: u(a - b), ab, targets)
        sop(names[2], '1:1,1', lambda a, b: i(i32(a) + i32(b)), ab, targets)
        sop(names[3], '1:1,1', lambda a, b: i(i32(a) - i32(b)), ab, targets)
        sop(names[4], '1:1,1', lambda a, b, c: u(a + b + c), ab, targets, scc='in')
        sop(names[5], '1:1,1', lambda a, b, c: u(a - b - c), ab, targets, scc='in')
    # The difference wraps before its sign is looked at.
    sop('s_absdiff_i32', '1:1,1', lambda a, b: abs(i32(a - b & M32)) & M32, ab, scc='nonzero')
    sop('s_mul_i32', '1:1,1', lambda a, b: a * b & M32, ab)
    sop('s_mul_hi_u32', '1:1,1', lambda a, b: a * b >> 32, ab)
    sop('s_mul_hi_i32', '1:1,1', lambda a, b: i32(a) * i32(b) >> 32 & M32, ab)
    sop('s_add_nc_u64', '2:2,2', lambda a, b: a + b & M64, (A64, B64), GFX1201)
    sop('s_sub_nc_u64', '2:2,2', lambda a, b: a - b & M64, (A64, B64), GFX1201)
    sop('s_mul_u64', '2:2,2', lambda a, b: a * b & M64, (A64, B64), GFX1201)
    for k in (1, 2, 3, 4):
        sop(f's_lshl{k}_add_u32', '1:1,1', lambda a, b, k=k: ((a << k) + b & M32, (a << k) + b > M32), ab)
    for n in (32, 64):
        w, M = n // 32, (1 << n) - 1
        a, b = (A32, B32) if n == 32 else (A64, B64)
        for names, m in ((('and', 'and'), lambda x, y, M=M: x & y), (('or', 'or'), lambda x, y, M=M: x | y),
                         (('xor', 'xor'), lambda x, y, M=M: x ^ y),
                         (('nand', 'nand'), lambda x, y, M=M: ~(x & y) & M), (('nor', 'nor'), lambda x, y,
                                 M=M: ~(x | y) & M),
                         (('xnor', 'xnor'), lambda x, y, M=M: ~(x ^ y) & M), (('andn2', 'and_not1'), lambda x, y,
                                 M=M: x & ~y & M),
                         (('orn2', 'or_not1'), lambda x, y, M=M: (x | ~y) & M)):
            for name, targets in ((names[0], ALL),) if names[0] == names[1] else ((names[0], GFX9 | GFX1030), (names[1],
                    GFX11UP)):
                sop(f's_{name}_b{n}', f'{w}:{w},{w}', m, (a, b), targets, scc='nonzero')
        counts = COUNT32 if n == 32 else [l * 3 for l in range(LANES)]
        sop(f's_lshl_b{n}', f'{w}:{w},1', lambda x, c, n=n, M=M: x << (c & n - 1) & M, (a, counts), scc='nonzero')
        sop(f's_lshr_b{n}', f'{w}:{w},1', lambda x, c, n=n: x >> (c & n - 1), (a, counts), scc='nonzero')
        sop(f's_ashr_i{n}', f'{w}:{w},1', lambda x, c, n=n, M=M: signed(x, n) >> (c & n - 1) & M, (b, counts),
            scc='nonzero')
        # The width runs from 0 to the whole.
        fields = [(l * 5 & n - 1) | min(l * 7 % (n + 1), n) << 16 for l in range(LANES)]
        sop(f's_bfe_u{n}', f'{w}:{w},1', lambda x, f, n=n: x >> (f & n - 1) & (1 << (f >> 16 & 127)) - 1, (a, fields),
            scc='nonzero')

        def bfe_i(x, f, n=n, M=M):
            size = f >> 16 & 127
            return signed(signed(x, n) >> (f & n - 1), size) & M if size else 0
        sop(f's_bfe_i{n}', f'{w}:{w},1', bfe_i, (b, fields), scc='nonzero')
        sop(f's_bfm_b{n}', f'{w}:1,1', lambda x, y, n=n, M=M: ((1 << (x & n - 1)) - 1) << (y & n - 1) & M, (COUNT32,
                rotate(COUNT32, 11)))
        sop(f's_cselect_b{n}', f'{w}:{w},{w}', lambda x, y, c: (x if c else y, c), (a, b), scc='in')
    for s in 'iu':
        k = i32 if s == 'i' else (lambda x: x)
        sop(f's_min_{s}32', '1:1,1', lambda a, b, k=k: (min(a, b, key=k), k(a) < k(b)), ab)
        sop(f's_max_{s}32', '1:1,1', lambda a, b, k=k: (max(a, b, key=k), k(a) >= k(b)), ab)
    sop('s_pack_ll_b32_b16', '1:1,1', lambda a, b: a & M16 | (b & M16) << 16, ab)
    sop('s_pack_lh_b32_b16', '1:1,1', lambda a, b: a & M16 | b >> 16 << 16, ab)
    sop('s_pack_hh_b32_b16', '1:1,1', lambda a, b: a >> 16 | b >> 16 << 16, ab)
    sop('s_pack_hl_b32_b16', '1:1,1', lambda a, b: a >> 16 | (b & M16) << 16, ab, GFX11UP)


def one_operand():
    sop('s_mov_b32', '1:1', lambda a: a, (A32,))
    sop('s_mov_b64', '2:2', lambda a: a, (A64,))
    sop('s_cmov_b32', '1:1', lambda a, c: (a if c else FILL, c), (A32,), scc='in')
    sop('s_cmov_b64', '2:2', lambda a, c: (a if c else FILL << 32 | FILL, c), (A64,), scc='in')
    for n in (32, 64):
        w, M, a, sparse = n // 32, (1 << n) - 1, A32 if n == 32 else A64, SPARSE32 if n == 32 else SPARSE64
        sop(f's_not_b{n}', f'{w}:{w}', lambda x, M=M: ~x & M, (a,), scc='nonzero')
        sop(f's_brev_b{n}', f'{w}:{w}', rev(n), (a,))
        sop(f's_bcnt0_i32_b{n}', f'1:{w}', lambda x, n=n: n - bin(x).count('1'), (a,), scc='nonzero')
        sop(f's_bcnt1_i32_b{n}', f'1:{w}', lambda x: bin(x).count('1'), (a,), scc='nonzero')

        def first(bit, msb, n=n):
            def model(x):
                s = f'{x:0{n}b}'
                s = s if msb else s[::-1]
                return s.index(bit) if bit in s else M32
            return model

        def run(x, n=n):
            s = f'{x:0{n}b}'
            return next((i for i in range(1, n) if s[i] != s[0]), M32)
        inverse = [x ^ M for x in sparse]
        either = [x if l % 2 else x ^ M for l, x in enumerate(sparse)]
        old, t = GFX9 | GFX1030, f'1:{w}'
        sop(f's_ff0_i32_b{n}', t, first('0', False), (inverse,), old)
        sop(f's_ff1_i32_b{n}', t, first('1', False), (sparse,), old)
        sop(f's_ctz_i32_b{n}', t, first('1', False), (sparse,), GFX11UP)
        sop(f's_flbit_i32_b{n}', t, first('1', True), (sparse,), old)
        sop(f's_clz_i32_u{n}', t, first('1', True), (sparse,), GFX11UP)
        sop('s_flbit_i32' + ('_i64' if n == 64 else ''), t, run, (either,), old)
        sop('s_cls_i32' + ('_i64' if n == 64 else ''), t, run, (either,), GFX11UP)
        quad = lambda x, n=n: sum(1 << i for i in range(n // 4) if x >> 4 * i & 15)
        sop(f's_quadmask_b{n}', f'{w}:{w}', quad, ([x & sparse[-l] & sparse[l // 2] for l, x in enumerate(a)],),
            scc='nonzero')
        sop(f's_wqm_b{n}', f'{w}:{w}', lambda x, n=n: sum(15 << 4 * i for i in range(n // 4) if x >> 4 * i & 15),
            (sparse,), scc='nonzero')
        F = FILL if n == 32 else FILL << 32 | FILL
        sop(f's_bitset0_b{n}', f'{w}:1', lambda x, n=n, F=F: F & ~(1 << (x & n - 1)), (COUNT32,))
        sop(f's_bitset1_b{n}', f'{w}:1', lambda x, n=n, F=F: F | 1 << (x & n - 1), (COUNT32,))
    sop('s_sext_i32_i8', '1:1', lambda a: signed(a, 8) & M32, (A32,))
    sop('s_sext_i32_i16', '1:1', lambda a: i16(a) & M32, (A32,))
    sop('s_abs_i32', '1:1', lambda a: abs(i32(a)) & M32, (A32,), scc='nonzero')
    sop('s_bitreplicate_b64_b32', '2:1', lambda a: sum(3 << 2 * i for i in range(32) if a >> i & 1), (A32,))


def constants():
    """Sixteen bits in the instruction, and literals."""
    for k in (0, 1, 0x7fff, -1, -0x8000, 0x1234):
        x = k & M32
        sop('s_movk_i32', '1:', lambda x=x: x, (), text=f's_movk_i32 s40, {k & M16:#x}')
        sop('s_cmovk_i32', '1:', lambda c, x=x: (x if c else FILL, c), (), text=f's_cmovk_i32 s40, {k & M16:#x}',
            scc='in')
        for targets, name in ((BELOW12, 's_addk_i32'), (GFX1201, 's_addk_co_i32')):
            sop(name, '1:1', lambda a, k=k: (a + k & M32, not -1 << 31 <= i32(a) + k < 1 << 31), (A32,), targets,
                text=f'{name} s40, {k & M16:#x}', accumulate=True)
        sop('s_mulk_i32', '1:1', lambda a, k=k: a * k & M32, (A32,), text=f's_mulk_i32 s40, {k & M16:#x}',
            accumulate=True)
        values = [x if l % 5 == 0 else (k & M16) + l % 3 - 1 & M32 if l % 3 else A32[l] for l in range(LANES)]
        rel = {'eq': lambda a, b: a == b, 'lg': lambda a, b: a != b, 'gt': lambda a, b: a > b, 'ge': lambda a,
               b: a >= b,
               'lt': lambda a, b: a < b, 'le': lambda a, b: a <= b}
        for name, r in rel.items():
            sop(f's_cmpk_{name}_i32', '0:1', lambda a, r=r, k=k: (0, r(i32(a), k)), (values,), BELOW12,
                text=f's_cmpk_{name}_i32 s16, {k & M16:#x}')
            sop(f's_cmpk_{name}_u32', '0:1', lambda a, r=r, k=k: (0, r(a, k & M16)), (values,), BELOW12,
                text=f's_cmpk_{name}_u32 s16, {k & M16:#x}')
    for text, value in (('64', 64), ('-16', -16 & M32), ('0.5', 0x3f000000), ('-4.0', 0xc0800000), ('0x12345678',
            0x12345678), ('0.15915494', 0x3e22f983)):
        sop('s_mov_b32', '1:', lambda v=value: v, (), text=f's_mov_b32 s40, {text}')
        sop('s_xor_b32', '1:1', lambda a, v=value: a ^ v, (A32,), text=f's_xor_b32 s40, s16, {text}', scc='nonzero')
    # Of 64 bits: an inline constant extends its sign, a float one is a double, a literal has no sign.
    for text, value in (('-1', M64), ('33', 33), ('1.0', 0x3ff0000000000000), ('-0.5', 0xbfe0000000000000),
                        ('0x7fffffff', 0x7fffffff)):
        sop('s_mov_b64', '2:', lambda v=value: v, (), text=f's_mov_b64 s[40:41], {text}')


def compares():
    rel = {'eq': lambda a, b: a == b, 'lg': lambda a, b: a != b, 'gt': lambda a, b: a > b, 'ge': lambda a, b: a >= b,
           'lt': lambda a, b: a < b, 'le': lambda a, b: a <= b}
    b = [A32[l] if l % 5 == 0 else x for l, x in enumerate(B32)]
    for name, r in rel.items():
        sop(f's_cmp_{name}_i32', '0:1,1', lambda p, q, r=r: (0, r(i32(p), i32(q))), (A32, b))
        sop(f's_cmp_{name}_u32', '0:1,1', lambda p, q, r=r: (0, r(p, q)), (A32, b))
    b = [A64[l] if l % 3 == 0 else A64[l] ^ 1 << l if l % 3 == 1 else x for l, x in enumerate(B64)]
    for name in ('eq', 'lg'):
        sop(f's_cmp_{name}_u64', '0:2,2', lambda p, q, r=rel[name]: (0, r(p, q)), (A64, b))
    for k in (0, 1):
        sop(f's_bitcmp{k}_b32', '0:1,1', lambda p, q, k=k: (0, p >> (q & 31) & 1 == k), (B32, COUNT32))
        sop(f's_bitcmp{k}_b64', '0:2,1', lambda p, q, k=k: (0, p >> (q & 63) & 1 == k),
            (B64, [l * 3 for l in range(LANES)]))
    negated = {'nge': 'ge', 'nlg': 'lg', 'ngt': 'gt', 'nle': 'le', 'neq': 'eq', 'nlt': 'lt'}
    for f, n, a, b in ((F32, 32, FA32, FB32), (F16, 16, FA16, FB16)):
        b = [a[l] if l % 9 == 0 else x for l, x in enumerate(b)]

        def relation(name, f=f):
            def model(p, q):
                nan = f.is_nan(p) or f.is_nan(q)
                if name in 'ou':
                    return 0, nan == (name == 'u')
                positive = not nan and rel[negated.get(name, name)](order(f, p), order(f, q))
                return 0, positive != (name in negated)
            return model
        for name in [*rel, *negated, 'o', 'u']:
            sop(f's_cmp_{name}_f{n}', '0:1,1', relation(name), (a, b), GFX1151 | GFX1201)


def floats():
    """Scalar floating point of gfx1151 and gfx12."""
    def put(name, model, columns, how='f', accumulate=False, text=None, targets=GFX1151 | GFX1201):
        case = Case(name, kind='s', targets=targets)
        operands = []
        for k, column in enumerate(columns):
            case.word(column, k)
            operands.append(f's{16 + k}')
        if accumulate:
            case.pre(f's_mov_b32 s40, {operands.pop()}')
        line = case.asm(text or f'{name} s40, {", ".join(operands)}')
        case.out(0, how, [model(*v) for v in zip(*columns)], line)
    for f, n, a, b, c, how in ((F32, 32, FA32, FB32, FC32, 'f'), (F16, 16, FA16, FB16, FC16, 'g')):
        put(f's_add_f{n}', lambda p, q, f=f: add(f, p, q), (a, b), how)
        put(f's_sub_f{n}', lambda p, q, f=f: sub(f, p, q), (a, b), how)
        put(f's_mul_f{n}', lambda p, q, f=f: mul(f, p, q), (a, b), how)
        put(f's_fmac_f{n}', lambda p, q, r, f=f: fma(f, p, q, r), (a, b, c), how, True)
        for t, g, num in ((GFX1151, 10, ''), (GFX1201, 12, '_num')):
            put(f's_min{num}_f{n}', lambda p, q, f=f, g=g: minmax(f, p, q, False, g), (a, b), how, targets=t)
            put(f's_max{num}_f{n}', lambda p, q, f=f, g=g: minmax(f, p, q, True, g), (a, b), how, targets=t)
        put(f's_minimum_f{n}', lambda p, q, f=f: minimum(f, p, q, False), (a, b), how, targets=GFX1201)
        put(f's_maximum_f{n}', lambda p, q, f=f: minimum(f, p, q, True), (a, b), how, targets=GFX1201)
        column = N32 if n == 32 else [v & M16 for v in N16]
        for name in ('ceil', 'floor', 'trunc', 'rndne'):
            put(f's_{name}_f{n}', lambda p, f=f, h=name: integral(f, p, h), (column,), how)
    put('s_fmaak_f32', lambda p, q: fma(F32, p, q, 0x40490fdb), (FA32, FB32),
        text='s_fmaak_f32 s40, s16, s17, 0x40490fdb')
    put('s_fmamk_f32', lambda p, q: fma(F32, p, 0x40490fdb, q), (FA32, FB32),
        text='s_fmamk_f32 s40, s16, 0x40490fdb, s17')
    put('s_cvt_f32_i32', lambda p: F32.round(Q(i32(p))), (A32,))
    put('s_cvt_f32_u32', lambda p: F32.round(Q(p)), (A32,))
    put('s_cvt_i32_f32', lambda p: to_int(F32, p, -1 << 31, (1 << 31) - 1) & M32, (N32,), 'x')
    put('s_cvt_u32_f32', lambda p: to_int(F32, p, 0, M32), (N32,), 'x')
    put('s_cvt_f16_f32', lambda p: convert(F32, F16, p), (FA32,), 'g')
    put('s_cvt_f32_f16', lambda p: convert(F16, F32, p & M16), (GA16,))
    put('s_cvt_hi_f32_f16', lambda p: convert(F16, F32, p >> 16), (PA16,))
    put('s_cvt_pk_rtz_f16_f32', lambda p, q: convert(F32, F16, p, RZERO) | convert(F32, F16, q, RZERO) << 16,
        (FA32, FB32), 'p')


def exec_masks():
    """Instructions that read and write EXEC, at the width of a wave; of 64 bits in a wave of 32 too."""
    names = {'and': lambda s, e, M: s & e, 'or': lambda s, e, M: s | e, 'xor': lambda s, e, M: s ^ e, 'nand': lambda s,
             e, M: ~(s & e) & M,
             'nor': lambda s, e, M: ~(s | e) & M, 'xnor': lambda s, e, M: ~(s ^ e) & M,
             'andn1': lambda s, e, M: ~s & e & M, 'andn2': lambda s, e, M: s & ~e & M, 'orn1': lambda s, e,
             M: (~s | e) & M,
             'orn2': lambda s, e, M: (s | ~e) & M}
    new = {'andn1': 'and_not0', 'andn2': 'and_not1', 'orn1': 'or_not0', 'orn2': 'or_not1'}
    for targets, n in ((GFX9, 64), (GFX1030, 32), (GFX11UP, 32), (GFX1030, 64), (GFX11UP, 64)):
        pair = lambda r: f's[{r}:{r + 1}]' if n == 64 else f's{r}'
        exec_ = 'exec' if n == 64 else 'exec_lo'
        # The upper half of EXEC is always 0 in a wave of 32.
        M = (1 << n) - 1 if targets & GFX9 else M32
        a, e = (A64, B64) if n == 64 else (A32, B32)
        if not targets & GFX9:
            a, e = [x & M32 for x in a], [x & M32 for x in e]
        a = [e[l] if l % 7 == 0 else e[l] ^ M if l % 7 == 1 else x for l, x in enumerate(a)]
        for name, m in names.items():
            shown = new.get(name, name) if targets & GFX11UP else name
            for kind in ('saveexec', 'wrexec'):
                if kind == 'wrexec' and name not in ('andn1', 'andn2'):
                    continue
                case = Case(f's_{shown}_{kind}_b{n}', kind='s', targets=targets)
                for k in range(n // 32):
                    case.word([x >> 32 * k & M32 for x in a], k)
                    case.word([x >> 32 * k & M32 for x in e], 2 + k)
                case.word(CARRY, 15)
                case.pre(f's_mov_b{n} {exec_}, {pair(18)}')
                line = case.asm(f's_{shown}_{kind}_b{n} {pair(40)}, {pair(16)}')
                case.post(f's_mov_b{n} {pair(42)}, {exec_}')
                result = [m(p, q, M) for p, q in zip(a, e)]
                for k in range(n // 32):
                    case.out(k, 'x', [x >> 32 * k & M32 for x in (e if kind == 'saveexec' else result)], line)
                    case.out(2 + k, 'x', [x >> 32 * k & M32 for x in result], line)
                case.out(SCC, 'm', [x != 0 for x in result], line)


def control():
    """Branches, calls, the program counter, hardware registers."""
    ways = {'s_cbranch_scc0': ('s_cmp_lg_u32 s16, 0', lambda x: x == 0), 's_cbranch_scc1': ('s_cmp_lg_u32 s16, 0',
            lambda x: x != 0),
            's_cbranch_vccz': ('s_mov_b$B $vcc, $m16', lambda x: x == 0), 's_cbranch_vccnz': ('s_mov_b$B $vcc, $m16',
                    lambda x: x != 0),
            's_cbranch_execz': ('s_mov_b$B $exec, $m16', lambda x: x == 0),
            's_cbranch_execnz': ('s_mov_b$B $exec, $m16', lambda x: x != 0)}
    flags = [0 if l % 3 == 0 else B32[l] or 1 for l in range(LANES)]
    for name, (setup, taken) in ways.items():
        case = Case(name, kind='s')
        case.word(flags, 0)
        case.pre(setup)
        case.pre('s_mov_b32 s40, 1')
        line = case.asm(f'{name} 1')
        case.asm('s_mov_b32 s40, 2')
        case.out(0, 'x', [1 if taken(x) else 2 for x in flags], line)
    case = Case('s_branch', kind='s')
    case.pre('s_mov_b32 s40, 1')
    line = case.asm('s_branch 1')
    case.asm('s_mov_b32 s40, 2')
    case.out(0, 'x', [1] * LANES, line)
    # The way there and back: getpc names the instruction after it, every instruction here has 4 bytes but the
    # literal's.
    case = Case('s_setpc_b64', kind='s')
    case.pre('s_mov_b32 s40, 0')
    case.asm('s_getpc_b64 s[20:21]')            # names what follows
    case.asm('s_add_u32 s20, s20, 20')          # 4 bytes; to the third s_or below
    case.asm('s_addc_u32 s21, s21, 0')
    case.asm('s_setpc_b64 s[20:21]')
    case.asm('s_or_b32 s40, s40, 1')
    case.asm('s_or_b32 s40, s40, 2')
    line = case.asm('s_or_b32 s40, s40, 4')
    case.out(0, 'x', [4] * LANES, line)
    case = Case('s_swappc_b64', kind='s')
    case.pre('s_mov_b32 s40, 0')
    case.asm('s_getpc_b64 s[20:21]')
    case.asm('s_add_u32 s20, s20, 16')          # to the s_or below
    case.asm('s_addc_u32 s21, s21, 0')
    case.asm('s_swappc_b64 s[22:23], s[20:21]')
    case.asm('s_branch 2')                      # past the target, when it returns here
    case.asm('s_or_b32 s40, s40, 4')
    line = case.asm('s_setpc_b64 s[22:23]')
    case.asm('s_or_b32 s40, s40, 8')
    case.out(0, 'x', [12] * LANES, line)
    case = Case('s_call_b64', kind='s')
    case.pre('s_mov_b32 s40, 0')
    case.asm('s_call_b64 s[22:23], 1')
    case.asm('s_branch 2')
    case.asm('s_or_b32 s40, s40, 4')
    line = case.asm('s_setpc_b64 s[22:23]')
    case.out(0, 'x', [4] * LANES, line)
    # MODE's rounding and denormal bits, which the case's descriptor sets.
    case = Case('s_getreg_b32', kind='s', mode=0xf5)
    line = case.asm('s_getreg_b32 s40, hwreg(HW_REG_MODE, 0, 8)')
    second = case.asm('s_getreg_b32 s41, hwreg(HW_REG_MODE, 2, 4)')
    case.out(0, 'x', [0xf5] * LANES, line)
    case.out(1, 'x', [0xd] * LANES, second)
    for name, text, expected in (('s_setreg_b32', 's_setreg_b32 hwreg(HW_REG_MODE, 2, 2), s16',
                                  lambda x: 0xf0 | (x & 3) << 2),
                                 ('s_setreg_imm32_b32', 's_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0x6',
                                  lambda x: 0xf6),
                                 ('s_round_mode', 's_round_mode 0x9', lambda x: 0xf9), ('s_denorm_mode',
                                         's_denorm_mode 0x6', lambda x: 0x60)):
        case = Case(name, kind='s')
        case.word(A32, 0)
        line = case.asm(text)
        case.post('s_getreg_b32 s40, hwreg(HW_REG_MODE, 0, 8)')
        case.post('s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf0')
        case.out(0, 'x', [expected(x) for x in A32], line)
    # A rounding mode set on the way counts.
    case = Case('s_setreg_imm32_b32')
    case.word(FA32)
    case.word(FB32)
    case.asm('s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3')
    line = case.asm('v_add_f32 v32, v16, v17')
    case.post('s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0')
    case.out(0, 'f', [add(F32, p, q, RZERO) for p, q in zip(FA32, FB32)], line)
    # Registers chosen by M0.
    for name, pre, asm, model in (
            ('s_movrels_b32', (), 's_movrels_b32 s40, s16', lambda r, m: r[m]),
            ('s_movreld_b32', (), 's_movreld_b32 s40, s17', None), ('s_movrelsd_2_b32', (), 's_movrelsd_2_b32 s40, s16',
                                                                    None)):
        case = Case(name, kind='s', targets=GFX9 | GFX10UP)
        columns = [A32, B32, C32, rotate(A32, 5)]
        for k, c in enumerate(columns):
            case.word(c, k)
        index = [l % 4 for l in range(LANES)]
        m0 = [i | (3 - i) << 16 for i in index] if '_2_' in name else index
        case.word(m0, 8)
        case.pre('s_mov_b32 m0, s24')
        line = case.asm(asm)
        for k in range(4):
            if name == 's_movrels_b32':
                if k == 0:
                    case.out(0, 'x', [columns[index[l]][l] for l in range(LANES)], line)
            elif name == 's_movreld_b32':
                case.out(k, 'x', [B32[l] if index[l] == k else FILL for l in range(LANES)], line)
            else:
                case.out(k, 'x', [columns[index[l]][l] if 3 - index[l] == k else FILL for l in range(LANES)], line)
    case = Case('s_movrels_b64', kind='s')
    wide = [A32, B32, C32, rotate(A32, 5)]
    for k, c in enumerate(wide):
        case.word(c, k)
    case.word([l % 2 * 2 for l in range(LANES)], 8)
    case.pre('s_mov_b32 m0, s24')
    line = case.asm('s_movrels_b64 s[40:41], s[16:17]')
    for k in (0, 1):
        case.out(k, 'x', [wide[l % 2 * 2 + k][l] for l in range(LANES)], line)
    case = Case('s_movreld_b64', kind='s')
    for k, c in enumerate(wide):
        case.word(c, k)
    case.word([l % 2 * 2 for l in range(LANES)], 8)
    case.pre('s_mov_b32 m0, s24')
    line = case.asm('s_movreld_b64 s[40:41], s[16:17]')
    for k in range(4):
        case.out(k, 'x', [wide[k % 2][l] if l % 2 == k // 2 else FILL for l in range(LANES)], line)


def all_cases():
    two_operands()
    one_operand()
    constants()
    compares()
    floats()
    exec_masks()
    control()
