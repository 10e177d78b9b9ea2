"""Dot products, mixed sizes, accumulation registers, and what else is rare."""
from fractions import Fraction as Q

from emit import FILL, GFX9, GFX11UP, GFX942, GFX1201, LANES, Case
from floats import (BF16, BF8, BF8Z, F16, F32, F64, FP8, FP8Z, add, convert, exact, exp2, fma, ldexp, log2, mul, pi,
                    rcp, rsq, sqrt, to_int)
from pools import *
from vector import M16, M32, i32, op, signed

r = Random(77)


def fields(x, n):
    return [x >> k & (1 << n) - 1 for k in range(0, 32, n)]


def dots():
    def total(n, sa, sb, lo=None, hi=None):
        def model(a, b, c):
            t = sum((signed(x, n) if sa else x) * (signed(y, n) if sb else y) for x, y in zip(fields(a, n), fields(b,
                    n)))
            t += i32(c) if sa or sb else c
            if lo is None:
                return t & M32
            return max(lo, min(hi, t)) & M32
        return model
    X3 = 'x32:x32,x32,x32'
    for n, k in ((16, 2), (8, 4), (4, 8)):
        for name, s in ((f'v_dot{k}_i32_i{n}', True), (f'v_dot{k}_u32_u{n}', False)):
            case = op(name, X3, total(n, s, s), (A32, B32, C32))
            at = case.next_out
            limits = (-1 << 31, (1 << 31) - 1) if s else (0, M32)
            line = case.asm(f'{name} v{32 + at}, v16, v17, v18 clamp')
            case.out(at, 'x', [total(n, s, s, *limits)(*v) for v in zip(A32, B32, C32)], line)
        op(f'v_dot{k}c_i32_i{n}', X3, total(n, True, True), (A32, B32, C32), accumulate=True)
        if n == 16:
            continue
        case = Case(f'v_dot{k}_i32_iu{n}', targets=GFX11UP)
        for c in (A32, B32, C32):
            case.word(c)
        for at, (sa, sb) in enumerate(((0, 0), (1, 0), (0, 1), (1, 1))):
            line = case.asm(f'v_dot{k}_i32_iu{n} v{32 + at}, v16, v17, v18 neg_lo:[{sa},{sb},0]')
            case.out(at, 'x', [sum((signed(x, n) if sa else x) * (signed(y, n) if sb else y) for x, y in zip(fields(a,
                    n), fields(b, n))) + c & M32
                               for a, b, c in zip(A32, B32, C32)], line)
    # Of floats: operands whose sums are exact, since the roundings on the way are not published.
    def small(f, n):
        return [f.round(Q(r.next(2 * n + 1) - n, 4)) for _ in range(LANES)]

    def sums(f, width, count, g=None):
        g = g or f

        def model(a, b, c):
            v = sum(f.value(a >> width * k & (1 << width) - 1) * g.value(b >> width * k & (1 << width) - 1)
                    for k in range(count))
            return v + c
        return model
    halves = [pack(small(F16, 40), small(F16, 40)) for _ in range(2)]
    brains = [pack(small(BF16, 20), small(BF16, 20)) for _ in range(2)]
    wide = small(F32, 1000)
    for name, columns, f in (('v_dot2_f32_f16', halves, F16), ('v_dot2_f32_bf16', brains, BF16)):
        op(name, 'f32:x32,x32,f32', lambda a, b, c, f=f: F32.round(sums(f, 16, 2)(a, b, F32.value(c))), (*columns,
                wide))
    for name in ('v_dot2c_f32_f16', 'v_dot2acc_f32_f16'):
        op(name, 'f32:x32,x32,f32', lambda a, b, c: F32.round(sums(F16, 16, 2)(a, b, F32.value(c))), (*halves, wide),
           accumulate=True)
    case = Case('v_dual_dot2acc_f32_f16', targets=GFX11UP)
    for c in (*halves, wide):
        case.word(c)
    case.pre('v_mov_b32 v32, v18')
    case.pre('v_mov_b32 v33, v18')
    line = case.asm('v_dual_dot2acc_f32_f16 v32, v16, v17 :: v_dual_dot2acc_f32_f16 v33, v17, v16')
    for at in (0, 1):
        case.out(at, 'f', [F32.round(sums(F16, 16, 2)(a, b, F32.value(c))) for a, b, c in zip(*halves, wide)], line)
    exact16, exactb = small(F16, 40), small(BF16, 4)
    op('v_dot2_f16_f16', 'f16:x32,x32,f16', lambda a, b, c: F16.round(sums(F16, 16, 2)(a, b, F16.value(c))),
       ([pack(small(F16, 8), small(F16, 8)) for _ in range(2)][0], pack(small(F16, 8), small(F16, 8)), pack(exact16,
               HI)), GFX11UP)
    few = [pack([BF16.round(Q(r.next(5) - 2)) for _ in range(LANES)], [BF16.round(Q(r.next(5) - 2))
            for _ in range(LANES)]) for _ in range(2)]
    case = Case('v_dot2_bf16_bf16', targets=GFX11UP)
    for c in (*few, pack(exactb, HI)):
        case.word(c)
    line = case.asm('v_dot2_bf16_bf16 v32, v16, v17, v18')
    case.out(0, 'b', [BF16.round(sums(BF16, 16, 2)(a, b, BF16.value(c))) | f & 0xffff0000 for a, b, c, f in zip(*few,
            exactb, FILL)], line)
    bytes_ = {f: [sum(f.round(Q(r.next(9) - 4, 2)) << 8 * k for k in range(4)) for _ in range(LANES)] for f in (FP8,
            BF8)}
    for na, f in (('fp8', FP8), ('bf8', BF8)):
        for nb, g in (('fp8', FP8), ('bf8', BF8)):
            op(f'v_dot4_f32_{na}_{nb}', 'f32:x32,x32,f32', lambda a, b, c, f=f, g=g: F32.round(sums(f, 8, 4, g)(a, b,
                    F32.value(c))),
               (bytes_[f], rotate(bytes_[g], 5), wide), GFX1201)


def mixed():
    """Each operand an f32, or a half of a register."""
    for name, to in (('v_fma_mix_f32', None), ('v_fma_mixlo_f16', 0), ('v_fma_mixhi_f16', 16)):
        case = Case(name)
        columns = (FA32, PB16, PC16)
        for c in columns:
            case.word(c)
        for sel, hi, neg in ((0, 0, 0), (2, 6, 0), (4, 6, 5), (7, 7, 2), (0, 7, 0), (5, 4, 0)):
            def read(k, x, l):
                half = x >> 16 if sel >> k & 1 else x & M16
                v = convert(F16, F32, half) if hi >> k & 1 else x
                return v ^ 1 << 31 if neg >> k & 1 else v
            bits = lambda m: ','.join(str(m >> k & 1) for k in range(3))
            at = case.next_out
            operands = ', '.join(('-' if neg >> k & 1 else '') + f'v{16 + k}' for k in range(3))
            line = case.asm(f'{name} v{32 + at}, {operands} op_sel:[{bits(sel)}] op_sel_hi:[{bits(hi)}]')
            results = [fma(F32, *(read(k, c[l], l) for k, c in enumerate(columns))) for l in range(LANES)]
            if to is None:
                case.out(at, 'f', results, line)
            else:
                # Two roundings, as published.
                results = [convert(F32, F16, x) for x in results]
                case.out(at, 'H' if to else 'h', [x << to | f & (M16 if to else 0xffff0000) for x, f in zip(results,
                        FILL)], line)


def old_mad():
    """gfx90a's multiply and add of two roundings; it has no denormals, so there are none here."""
    r2 = Random(31)
    a, b, c = [[float_random(F32, r2) for _ in range(LANES - 6)] + [0, 1 << 31, F32.inf, F32.nan, 0x3f800000, F32.max]
               for _ in range(3)]
    b, c = rotate(b, 1), rotate(c, 2)
    mad = lambda x, y, z: add(F32, mul(F32, x, y), z)
    op('v_mad_f32', 'f32:f32,f32,f32', mad, (a, b, c), GFX9)
    op('v_mac_f32', 'f32:f32,f32,f32', mad, (a, b, c), GFX9, accumulate=True)
    op('v_mad_legacy_f32', 'f32:f32,f32,f32', lambda x, y, z: add(F32, 0 if F32.is_zero(x) or F32.is_zero(y)
                                                                  else mul(F32, x, y), z), (a, b, c), GFX9)
    for n, f, columns, k, how in ((32, F32, (a, b), 0x40490fdb, 'f'), (16, F16, (GA16, GB16), 0x4248, 'g')):
        m = lambda x, y, z, f=f: add(f, mul(f, x & 2 * f.sign - 1, y & 2 * f.sign - 1), z & 2 * f.sign - 1)
        case = Case(f'v_madmk_f{n}', targets=GFX9)
        for column in columns:
            case.word(column)
        case.out(0, how, [m(x, k, y) for x, y in zip(*columns)], case.asm(f'v_madmk_f{n} v32, v16, {k:#x}, v17'))
        case = Case(f'v_madak_f{n}', targets=GFX9)
        for column in columns:
            case.word(column)
        case.out(0, how, [m(x, y, k) for x, y in zip(*columns)], case.asm(f'v_madak_f{n} v32, v16, v17, {k:#x}'))
    tame = [abs(i32(x)) & M32 if not F32.is_denormal(x) else 0x3f800000 for x in a]
    op('v_log_legacy_f32', 'f32:f32', lambda x: log2(F32, x), (tame,), GFX9, how='u')
    op('v_exp_legacy_f32', 'f32:f32', lambda x: exp2(F32, x), ([F32.round(Q(n * 5, 3)) for n in range(-32, 32)],), GFX9,
       how='u')


def scalar_functions():
    """gfx12's transcendental functions of scalar registers."""
    values = [F32.round(Q(n * n + 1, 7)) for n in range(LANES)]
    halves = [F16.round(Q(n * n + 1, 7)) for n in range(LANES)]
    exps = [F32.round(Q(n * 3, 2) - 48) for n in range(LANES)]
    exps16 = [F16.round(Q(n, 3) - 11) for n in range(LANES)]
    for f, n, how, arguments, powers in ((F32, 32, 'u', values, exps), (F16, 16, 'v', halves, exps16)):
        for name, g in (('exp', exp2), ('log', log2), ('rcp', rcp), ('rsq', rsq), ('sqrt', sqrt)):
            case = Case(f'v_s_{name}_f{n}', kind='s', targets=GFX1201)
            column = powers if name == 'exp' else arguments
            case.word(column, 0)
            line = case.asm(f'v_s_{name}_f{n} s40, s16')
            case.out(0, how, [g(f, x) for x in column], line)


def registers():
    """Accumulation registers, and VGPRs chosen by M0 on gfx9."""
    case = Case('v_accvgpr_read_b32', targets=GFX9)
    case.word(A32)
    case.word(FLAGS, 13)
    case.pre('flags $m20')
    case.asm('v_accvgpr_write_b32 a3, 7')
    case.asm('s_mov_b$B $exec, $m20')
    case.asm('v_accvgpr_write_b32 a3, v16')
    case.asm('s_mov_b$B $exec, -1')
    case.asm('v_accvgpr_mov_b32 a9, a3')
    line = case.asm('v_accvgpr_read_b32 v32, a9')
    case.out(0, 'x', [a if f else 7 for a, f in zip(A32, FLAGS)], line)
    case = Case('s_set_gpr_idx_on', targets=GFX9)
    columns = (A32, B32, C32, rotate(A32, 7))
    for c in columns:
        case.word(c)
    case.scalars = [2, 1] + [0] * 14
    case.asm('s_set_gpr_idx_on s16, gpr_idx(SRC0)')
    line = case.asm('v_mov_b32 v32, v16')
    case.asm('s_set_gpr_idx_idx s17')
    second = case.asm('v_mov_b32 v33, v16')
    case.asm('s_set_gpr_idx_mode gpr_idx(DST)')
    third = case.asm('v_mov_b32 v33, v19')
    case.asm('s_set_gpr_idx_off')
    case.out(0, 'x', C32, line)
    case.out(1, 'x', B32, second)
    case.out(2, 'x', columns[3], third)


def rare():
    two_over_pi = int(2 / exact(pi(400)) * (1 << 1201))
    column = [F64.round(Q(2) ** e * (1 + Q(l, 97))) for l, e in enumerate([0, 3, 20, 54, 55, 60, 100, 300, 500, 900,
            960, 1000, 1020, 1023, -5, -1000] * 4)]

    def preop(x, n):
        shift = (n & 31) * 53
        if F64.exponent(x) > 1077:
            shift += F64.exponent(x) - 1077
        value = two_over_pi << shift >> 1201 - 53 & (1 << 53) - 1
        scale = -53 - shift + (128 if F64.exponent(x) >= 1968 else 0)
        return ldexp(F64, F64.round(Q(value)), scale)
    op('v_trig_preop_f64', 'f64:f64,x32', preop, (column, [l // 16 for l in range(LANES)]))
    whole = [F32.round(Q(n)) for n in range(-4, 56)] + [F32.round(Q(256)), F32.nan, F32.inf, F32.inf | F32.sign]
    case = Case('v_cvt_pkaccum_u8_f32', targets=GFX9)
    case.word(whole)
    case.word([l * 3 for l in range(LANES)])
    line = case.asm('v_cvt_pkaccum_u8_f32 v32, v16, v17')
    case.out(0, 'x', [f & ~(255 << 8 * (l * 3 & 3)) & M32 | to_int(F32, x, 0, 255) << 8 * (l * 3 & 3) for l,
                      (x, f) in enumerate(zip(whole, FILL))], line)
    # Stochastic rounding: the random bits are added below what is kept.
    for targets, formats in ((GFX942, (('fp8', FP8Z, 12), ('bf8', BF8Z, 11))), (GFX1201, (('fp8', FP8, 12), ('bf8', BF8,
            11)))):
        for name, f, cut in formats:
            case = Case(f'v_cvt_sr_{name}_f32', targets=targets)
            r3 = Random(cut)
            values = [F32.round(Q(r3.next(4000) + 300, 1000) * (-1) ** l) for l in range(LANES)]
            noise = [r3.bits(32) for _ in range(LANES)]
            case.word(values)
            case.word(noise)
            kept = 23 - f.m

            def stochastic(x, s):
                # Random bits as wide as what is cut off, then cut.
                m = (x & 0x7fffffff) + (s >> 32 - kept)
                return f.round(F32.value(m >> kept << kept)) | (f.sign if x >> 31 else 0)
            for k, tail in enumerate(('', ' op_sel:[0,0,1,0]' if targets == GFX942 else ' byte_sel:1')):
                at = case.next_out
                line = case.asm(f'v_cvt_sr_{name}_f32 v{32 + at}, v16, v17{tail}')
                case.out(at, 'x', [stochastic(x, s) << 8 * k | w & ~(255 << 8 * k) & M32 for x, s, w in zip(values,
                        noise, FILL)], line)


def all_cases():
    dots()
    mixed()
    old_mad()
    scalar_functions()
    registers()
    rare()
