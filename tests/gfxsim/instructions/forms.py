"""Forms of instructions that compilers like: parts of registers (SDWA), halves of packed operands, neg and abs,
literals."""
from fractions import Fraction as Q

from cross import PARTS, part, put_part
from emit import ALL, FILL, GFX9, GFX10UP, GFX1030, LANES, Case
from floats import F16, F32, F64, add, convert, fma, frexp, integral, mul, order, sub
from pools import *
from vector import M16, M32, M64, i16, i32, signed, take

r = Random(404)


def sdwa():
    u16 = lambda m: lambda a, b: m(a & M16, b & M16) & M16
    s16 = lambda m: lambda a, b: m(i16(a), i16(b)) & M16
    half = lambda f: lambda a, b: f(F16, a & M16, b & M16)
    # (operands, result's bits, model); a float's has NaNs of any kind
    table = {
        'v_or_b32': (2, 32, lambda a, b: a | b), 'v_and_b32': (2, 32, lambda a, b: a & b), 'v_xor_b32': (2, 32,
                lambda a, b: a ^ b),
        'v_lshlrev_b32': (2, 32, lambda a, b: b << (a & 31) & M32), 'v_lshrrev_b32': (2, 32, lambda a,
                b: b >> (a & 31)),
        'v_ashrrev_i32': (2, 32, lambda a, b: i32(b) >> (a & 31) & M32), 'v_max_u32': (2, 32, max), 'v_min_u32': (2, 32,
                min),
        'v_max_i32': (2, 32, lambda a, b: max(a, b, key=i32)), 'v_sub_u32': (2, 32, lambda a, b: a - b & M32),
        'v_sub_nc_u32': (2, 32, lambda a, b: a - b & M32), 'v_mul_u32_u24': (2, 32, lambda a,
                b: (a & 0xffffff) * (b & 0xffffff) & M32),
        'v_mul_i32_i24': (2, 32, lambda a, b: signed(a, 24) * signed(b, 24) & M32),
        'v_max_u16': (2, 16, u16(max)), 'v_min_u16': (2, 16, u16(min)), 'v_max_i16': (2, 16, s16(max)), 'v_min_i16': (2,
                16, s16(min)),
        'v_add_u16': (2, 16, u16(lambda a, b: a + b)), 'v_sub_u16': (2, 16, u16(lambda a, b: a - b)),
        'v_mul_lo_u16': (2, 16, u16(lambda a, b: a * b)),
        'v_lshlrev_b16': (2, 16, u16(lambda a, b: b << (a & 15))), 'v_lshrrev_b16': (2, 16, u16(lambda a,
                b: b >> (a & 15))),
        'v_ashrrev_i16': (2, 16, lambda a, b: i16(b) >> (a & 15) & M16),
        'v_add_f16': (2, 'f', half(add)), 'v_sub_f16': (2, 'f', half(sub)), 'v_mul_f16': (2, 'f', half(mul)),
        'v_mov_b32': (1, 32, lambda a: a), 'v_not_b32': (1, 32, lambda a: ~a & M32),
        'v_cvt_f32_f16': (1, 32, lambda a: convert(F16, F32, a & M16)), 'v_cvt_f32_i32': (1, 32,
                lambda a: F32.round(Q(i32(a)))),
        'v_cvt_f32_u32': (1, 32, lambda a: F32.round(Q(a))), 'v_cvt_f16_f32': (1, 'f', lambda a: convert(F32, F16, a)),
        'v_cvt_u32_f32': (1, 32, lambda a: max(0, min(M32, int(F32.value(a)))) if not F32.is_nan(a)
                          and not F32.is_inf(a) else 0 if F32.is_nan(a) or F32.neg(a) else M32),
    }
    for name, (n, bits, model) in table.items():
        floats = bits == 'f'
        case = Case(name, targets=GFX9 if bits == 16 else GFX9 | GFX1030)  # of 16-bit integers it is gfx9's alone
        a, b = (PA16, PB16) if floats or name == 'v_cvt_f32_f16' else (A32, B32)
        if name in ('v_cvt_f16_f32', 'v_cvt_u32_f32'):
            a = FA32
        case.word(a)
        case.word(b)
        for k in range(7):
            whole = name in ('v_cvt_f16_f32', 'v_cvt_u32_f32')
            s0, s1 = (PARTS[(k * 3 + 1) % 7], PARTS[(k * 5 + 2) % 7]) if not floats and not whole else (('DWORD',) * 2
                    if whole else (PARTS[4 + k % 2], PARTS[4 + k // 2 % 2]))
            e0, e1 = (k % 3 == 1, k % 2 == 1) if not floats and name[
                    :6] != 'v_cvt_' or name == 'v_cvt_f32_i32' else (False, False)
            dst = ('DWORD', 'WORD_1', 'BYTE_1', 'DWORD', 'WORD_0', 'BYTE_3', 'WORD_1')[k] if not floats else ('WORD_0',
                    'WORD_1')[k % 2]
            unused = ('UNUSED_PAD', 'UNUSED_PRESERVE', 'UNUSED_PAD', 'UNUSED_PAD', 'UNUSED_PRESERVE', 'UNUSED_SEXT',
                      'UNUSED_PAD')[k]
            if name.startswith('v_cvt_f32') and dst != 'DWORD':
                dst, unused = 'DWORD', 'UNUSED_PAD'
            text = lambda reg, e: f'sext({reg})' if e else reg
            at = case.next_out
            second = f', {text("v17", e1)}' if n == 2 else ''
            sel1 = f' src1_sel:{s1}' if n == 2 else ''
            places = f'dst_sel:{dst} dst_unused:{unused} src0_sel:{s0}{sel1}'
            line = case.asm(f'{name}_sdwa v{32 + at}, {text("v16", e0)}{second} {places}')
            column = []
            for x, y, f in zip(a, b, FILL):
                v = model(*((part(x, s0, e0), part(y, s1, e1))[:n]))
                column.append(put_part(v, dst, unused, f))
            how = 'x'
            if floats:
                # A NaN may be any; which half it is in is known, and the other must be right.
                how = 'h' if dst == 'WORD_0' else 'H'
            elif name == 'v_cvt_f32_f16':
                how = 'f'
            case.out(at, how, column, line)
    relations = {'lt': lambda a, b: a < b, 'eq': lambda a, b: a == b, 'le': lambda a, b: a <= b, 'gt': lambda a,
                 b: a > b, 'ne': lambda a, b: a != b, 'ge': lambda a, b: a >= b}
    for kind in ('u16', 'i16', 'u32', 'i32'):
        width = int(kind[1:])
        value = (lambda x: signed(x, width)) if kind[0] == 'i' else (lambda x: x & (1 << width) - 1)
        for name, relation in relations.items():
            case = Case(f'v_cmp_{name}_{kind}', targets=GFX9 | GFX1030)
            a = [x if l % 3 else x & 0xff00ff | (x & 0xff) << 8 | (x & 0xff) << 24 for l, x in enumerate(A32)]
            b = [x if l % 3 else a[l] for l, x in enumerate(B32)]
            case.word(a)
            case.word(b)
            for k in range(4):
                s0, s1 = PARTS[(k * 2 + (width == 16)) % 7], PARTS[(k * 3 + len(name)) % 7]
                e0, e1 = (k % 2 == 1, k > 1) if kind[0] == 'i' else (False, False)
                text = lambda reg, e: f'sext({reg})' if e else reg
                operands = f'$m{22 + 2 * k}, {text("v16", e0)}, {text("v17", e1)}'
                line = case.asm(f'v_cmp_{name}_{kind}_sdwa {operands} src0_sel:{s0} src1_sel:{s1}')
                case.post(f'bit v{32 + k}, $m{22 + 2 * k}')
                case.out(k, 'm', [relation(value(part(x, s0, e0)), value(part(y, s1, e1))) for x, y in zip(a, b)], line)
    for name in ('lt', 'eq', 'le', 'gt', 'lg', 'ge', 'o', 'u', 'nge', 'nlg', 'ngt', 'nle', 'neq', 'nlt'):
        case = Case(f'v_cmp_{name}_f16', targets=GFX9 | GFX1030)
        b = [x if l % 4 else PA16[l] for l, x in enumerate(PB16)]
        case.word(PA16)
        case.word(b)
        base = {'nge': 'ge', 'nlg': 'lg', 'ngt': 'gt', 'nle': 'le', 'neq': 'eq', 'nlt': 'lt'}.get(name, name)
        for k, (s0, s1, n0, a1) in enumerate((('WORD_1', 'WORD_1', '', 0), ('WORD_0', 'WORD_1', '-', 1), ('WORD_1',
                'DWORD', '', 0))):
            def holds(x, y):
                x, y = part(x, s0) & M16, part(y, s1) & M16
                x, y = x ^ (0x8000 if n0 else 0), y & 0x7fff if a1 else y
                nan = F16.is_nan(x) or F16.is_nan(y)
                if base in ('o', 'u'):
                    return nan == (base == 'u')
                positive = not nan and {**relations, 'lg': relations['ne']}[base](order(F16, x), order(F16, y))
                return positive != (base != name)
            second = '|v17|' if a1 else 'v17'
            line = case.asm(f'v_cmp_{name}_f16_sdwa $m{22 + 2 * k}, {n0}v16, {second} src0_sel:{s0} src1_sel:{s1}')
            case.post(f'bit v{32 + k}, $m{22 + 2 * k}')
            case.out(k, 'm', [holds(x, y) for x, y in zip(PA16, b)], line)


def choices(n, count, hi_default):
    """Some op_sel, op_sel_hi, neg_lo, neg_hi of n operands, as bits."""
    out = []
    for k in range(count):
        out.append((r.next(1 << n) if k % 2 else 0, r.next(1 << n) if k else hi_default, r.next(1 << n) if k % 3 else 0,
                    r.next(1 << n) if k % 4 else 0))
    return out


def modifier(name, value, n, default):
    return '' if value == default else f' {name}:[{",".join(str(value >> k & 1) for k in range(n))}]'


def packed():
    def put(name, n, columns, model, kind, targets, with_neg, sign, width):
        """Halves of `width` bits."""
        mask, full = (1 << width) - 1, (1 << n) - 1
        wide = width == 32
        for block in range(2):
            case = Case(name, targets=targets)
            names = []
            for c in columns[:n]:
                if wide:
                    case.next_in += case.next_in & 1
                    names.append(f'v[{16 + case.next_in}:{17 + case.next_in}]')
                    case.word([x & M32 for x in c])
                    case.word([x >> 32 for x in c])
                else:
                    names.append(f'v{16 + case.next_in}')
                    case.word(c)
            for sel, hi, nlo, nhi in choices(n, 6, full):
                if not with_neg:
                    nlo = nhi = 0
                text = ', '.join(names) + modifier('op_sel', sel, n, 0) + modifier('op_sel_hi', hi, n, full)
                text += modifier('neg_lo', nlo, n, 0) + modifier('neg_hi', nhi, n, 0)
                at = case.next_out
                line = case.asm(f'{name} {f"v[{32 + at}:{33 + at}]" if wide else f"v{32 + at}"}, {text}')
                pick = lambda x, k, from_, neg: (x >> (width if from_ >> k & 1 else 0) & mask) ^ (sign if neg >> k & 1
                        else 0)
                lows = [model(*(pick(x, k, sel, nlo) for k, x in enumerate(v))) for v in zip(*columns[:n])]
                highs = [model(*(pick(x, k, hi, nhi) for k, x in enumerate(v))) for v in zip(*columns[:n])]
                if wide:
                    case.out(at, 'f', lows, line)
                    case.out(at + 1, 'f', highs, line)
                else:
                    case.out(at, kind, pack(lows, highs), line)
    wide = [[x | y << 32 for x, y in zip(c, rotate(d, 5))] for c, d in ((FA32, FB32), (FB32, FC32), (FC32, FA32))]
    for name, g, n in (('add', add, 2), ('mul', mul, 2), ('fma', fma, 3)):
        put(f'v_pk_{name}_f32', n, wide, lambda *x, g=g: g(F32, *x), 'f', GFX9, True, 1 << 31, 32)
        put(f'v_pk_{name}_f16', n, (PA16, PB16, PC16), lambda *x, g=g: g(F16, *x), 'p', ALL, True, 0x8000, 16)
    for name, n, m in (('v_pk_add_u16', 2, lambda a, b: a + b & M16), ('v_pk_sub_i16', 2, lambda a, b: a - b & M16),
                       ('v_pk_mul_lo_u16', 2, lambda a, b: a * b & M16),
                       ('v_pk_mad_u16', 3, lambda a, b, c: a * b + c & M16), ('v_pk_max_i16', 2, lambda a,
                               b: max(i16(a), i16(b)) & M16),
                       ('v_pk_lshlrev_b16', 2, lambda a, b: b << (a & 15) & M16), ('v_pk_ashrrev_i16', 2, lambda a,
                               b: i16(b) >> (a & 15) & M16)):
        put(name, n, (QA16, QB16, QC16), m, 'x', ALL, False, 0, 16)
    # Scalars and constants as pairs: of a constant the upper word of a pair of f32 is 0, of halves too.
    case = Case('v_pk_mul_f32', targets=GFX9)
    take(case, ('x64',), (wide[0],))
    case.scalars = [0x40490fdb, 0xc2f60000] + [0] * 14
    pairs = [(x & M32, x >> 32) for x in wide[0]]
    for text, lo, hi in (('s[16:17]', 0x40490fdb, 0xc2f60000), ('s[16:17] op_sel_hi:[1,0]', 0x40490fdb, 0x40490fdb),
                         ('s[16:17] op_sel:[0,1] op_sel_hi:[1,0]', 0xc2f60000, 0x40490fdb),
                         ('2.0 op_sel_hi:[1,0]', 0x40000000, 0x40000000)):
        at = case.next_out
        line = case.asm(f'v_pk_mul_f32 v[{32 + at}:{33 + at}], v[16:17], {text}')
        case.out(at, 'f', [mul(F32, x, lo) for x, _ in pairs], line)
        case.out(at + 1, 'f', [mul(F32, y, hi) for _, y in pairs], line)
    case = Case('v_pk_mov_b32', targets=GFX9)
    take(case, ('x64', 'x64'), (A64, B64))
    case.scalars = [0x12345678, 0x9abcdef0] + [0] * 14
    for text, lo, hi in (('v[16:17], v[18:19]', 0, 2), ('v[16:17], v[18:19] op_sel:[1,1]', 1, 3),
                         ('s[16:17], s[16:17] op_sel:[0,1]', 's', 't'), ('v[18:19], s[16:17] op_sel:[1,0]', 3, 's')):
        at = case.next_out
        line = case.asm(f'v_pk_mov_b32 v[{32 + at}:{33 + at}], {text}')
        column = {0: [x & M32 for x in A64], 1: [x >> 32 for x in A64], 2: [x & M32 for x in B64], 3: [x >> 32
                for x in B64],
                  's': [0x12345678] * LANES, 't': [0x9abcdef0] * LANES}
        case.out(at, 'x', column[lo], line)
        case.out(at + 1, 'x', column[hi], line)
    # Mixed sizes: each operand's size and half, with neg and abs.
    for block in range(2):
        case = Case('v_fma_mix_f32')
        columns = (PA16, FB32 if block else PB16, PC16)
        for c in columns:
            case.word(c)
        for sel, hi, neg, absolute in choices(3, 10, 7):
            hi |= 0 if block else 2

            def read(k, x):
                v = convert(F16, F32, x >> 16 if sel >> k & 1 else x & M16) if hi >> k & 1 else x
                v = v & M32 >> 1 if absolute >> k & 1 else v
                return v ^ 1 << 31 if neg >> k & 1 else v
            shown = ', '.join(('-' if neg >> k & 1 else '') + (f'|v{16 + k}|' if absolute >> k & 1 else f'v{16 + k}')
                              for k in range(3))
            at = case.next_out
            modifiers = modifier('op_sel', sel, 3, 0) + modifier('op_sel_hi', hi, 3, 0)
            line = case.asm(f'v_fma_mix_f32 v{32 + at}, {shown}{modifiers}')
            case.out(at, 'f', [fma(F32, *(read(k, x) for k, x in enumerate(v))) for v in zip(*columns)], line)


def signs():
    """neg and abs where they are rare, and literals of each size."""
    m31 = M32 >> 1
    case = Case('v_frexp_mant_f32')
    tame = [x if not F32.is_nan(x) else 0x3f800000 for x in FA32]
    case.word(tame)
    for text, column, how in (('v_frexp_mant_f32_e64 $d, |v16|', [frexp(F32, x & m31)[0] for x in tame], 'f'),
                              ('v_frexp_exp_i32_f32_e64 $d, |v16|', [frexp(F32, x)[1] & M32 for x in tame], 'x'),
                              ('v_cvt_f32_f16_e64 $d, |v16|', [convert(F16, F32, x & 0x7fff) for x in tame], 'f'),
                              ('v_cvt_f32_f16_e64 $d, -v16', [convert(F16, F32, x & M16 ^ 0x8000) for x in tame], 'f'),
                              ('v_rndne_f32_e64 $d, -|v16|', [integral(F32, x | 1 << 31, 'rndne') for x in tame], 'f'),
                              ('v_ldexp_f32 $d, -|v16|, 3', [mul(F32, x | 1 << 31, 0x41000000) for x in tame], 'f'),
                              ('v_mul_f32_e64 $d, -v16, |v16| clamp', [0 if x >> 31 == 0 or F32.is_nan(x)
                                      or F32.is_zero(x) else min(0x3f800000, mul(F32, x & m31, x & m31)) for x in tame],
                                      'f'),
                              ('v_max_f32_e64 $d, v16, v16 clamp', [0 if x >> 31 else min(x, 0x3f800000) for x in tame],
                               'f')):
        at = case.next_out
        case.out(at, how, column, case.asm(text.replace('$d', f'v{32 + at}')))
    case = Case('v_add_f64', targets=ALL)
    take(case, ('f64',), (FA64,))
    # A literal is the upper half of a double.
    line = case.asm('v_add_f64 v[32:33], v[16:17], 0x40091eb8', GFX10UP)
    case.out(0, 'd', [add(F64, x, 0x40091eb8 << 32) for x in FA64], line)
    line = case.asm('v_cmp_gt_f64_e32 $vcc, 0x40091eb8, v[16:17]')
    case.post('bit v34, $vcc')
    case.out(2, 'm', [not F64.is_nan(x) and order(F64, x) < order(F64, 0x40091eb8 << 32) for x in FA64], line)
    line = case.asm('v_add_f64 v[36:37], -|v[16:17]|, 1.0')
    case.out(4, 'd', [add(F64, x | 1 << 63, 0x3ff0000000000000) for x in FA64], line)
    case = Case('v_lshlrev_b64')
    take(case, ('x64',), (B64,))
    line = case.asm('v_cmp_gt_i64_e32 $vcc, 0x7fffffff, v[16:17]')
    case.post('bit v32, $vcc')
    case.out(0, 'm', [signed(x, 64) < 0x7fffffff for x in B64], line)
    line = case.asm('v_cmp_lt_u64_e64 $m22, -5, v[16:17]')
    case.post('bit v33, $m22')
    case.out(1, 'm', [x > M64 - 4 for x in B64], line)
    line = case.asm('v_cmp_eq_u64_e64 $m24, v[16:17], s[16:17]')
    case.post('bit v34, $m24')
    case.scalars = [B64[7] & M32, B64[7] >> 32] + [0] * 14
    case.out(2, 'm', [x == B64[7] for x in B64], line)
    # Multiply and add of 24 bits, saturated.
    case = Case('v_mad_u32_u24')
    for c in (A32, B32, C32):
        case.word(c)
    m24 = 0xffffff
    line = case.asm('v_mad_u32_u24 v32, v16, v17, v18 clamp')
    case.out(0, 'x', [min(M32, (a & m24) * (b & m24) + c) for a, b, c in zip(A32, B32, C32)], line)
    line = case.asm('v_mad_i32_i24 v33, v16, v17, v18 clamp')
    case.out(1, 'x', [max(-1 << 31, min((1 << 31) - 1, signed(a, 24) * signed(b, 24) + i32(c))) & M32 for a, b,
                      c in zip(A32, B32, C32)], line)
    # VCC's upper half is no part of it in a wave of 32.
    for name, taken in (('s_cbranch_vccz', lambda x: x == 0), ('s_cbranch_vccnz', lambda x: x != 0)):
        case = Case(name, kind='s', targets=GFX10UP)
        flags = [0 if l % 2 else l for l in range(LANES)]
        case.word(flags, 0)
        case.pre('s_mov_b32 vcc_hi, -1')
        case.pre('s_mov_b32 vcc_lo, s16')
        case.pre('s_mov_b32 s40, 1')
        line = case.asm(f'{name} 1')
        case.asm('s_mov_b32 s40, 2')
        case.out(0, 'x', [1 if taken(x) else 2 for x in flags], line)


def all_cases():
    sdwa()
    packed()
    signs()
