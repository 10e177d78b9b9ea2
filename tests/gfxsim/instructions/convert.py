"""Conversions and compares."""
from fractions import Fraction as Q

from emit import ALL, BELOW12, FILL, GFX9, GFX10_11, GFX10UP, GFX11UP, GFX942, GFX1030, GFX1100, GFX1201, LANES, Case
from floats import BF8, BF8Z, F16, F32, F64, FP8, FP8Z, RZERO, convert, flush, order, to_int
from pools import *
from vector import M16, M32, M64, ROUNDING, expect, i16, i32, op, reg, signed, take

# Numbers about the limits of integers.
def near_ints(f):
    values = [Q(n) for b in (7, 8, 15, 16, 31, 32) for n in ((1 << b) - 1, 1 << b, -(1 << b), -(1 << b) - 1)]
    values += [Q(n, 8) for n in (-13, -12, -11, -8, -7, -4, -3, -1, 1, 3, 4, 5, 8, 11, 12, 13, 20)] + [Q(10 ** 11),
            -Q(10 ** 11)]
    column = [f.round(v) for v in values] + [0, f.sign, f.inf, f.inf | f.sign, f.nan, f.inf | 1, 1, f.sign | 1]
    r = Random(f.bits)
    while len(column) < LANES:
        column.append(float_random(f, r, 12 if f.bits == 16 else 34))
    return column[:LANES]


N32, N64 = near_ints(F32), near_ints(F64)
N16 = pack(near_ints(F16), HI)


def to_ints():
    limits = {'i32': (-1 << 31, (1 << 31) - 1), 'u32': (0, M32), 'i16': (-1 << 15, (1 << 15) - 1), 'u16': (0, M16)}

    def model(f, kind, how='trunc'):
        lo, hi = limits[kind]
        return lambda x: to_int(f, x, lo, hi, how) & (M32 if '32' in kind else M16)
    for kind in ('i32', 'u32'):
        op(f'v_cvt_{kind}_f32', 'x32:f32', model(F32, kind), (N32,), mods=True)
        op(f'v_cvt_{kind}_f64', 'x32:f64', model(F64, kind), (N64,), mods=True)
    for kind in ('i16', 'u16'):
        op(f'v_cvt_{kind}_f16', 'x16:f16', model(F16, kind), (N16,))
    for targets, floor, nearest in ((GFX9 | GFX1030, 'flr', 'rpi'), (GFX11UP, 'floor', 'nearest')):
        op(f'v_cvt_{floor}_i32_f32', 'x32:f32', model(F32, 'i32', 'floor'), (N32,), targets)
        op(f'v_cvt_{nearest}_i32_f32', 'x32:f32', model(F32, 'i32', 'nearest'), (N32,), targets)
    two = lambda m: lambda a, b: m(a) | m(b) << 16
    op('v_cvt_pk_i16_f32', 'x32:f32,f32', two(model(F32, 'i16')), (N32, rotate(N32, 9)), GFX11UP)
    op('v_cvt_pk_u16_f32', 'x32:f32,f32', two(model(F32, 'u16')), (N32, rotate(N32, 9)), GFX11UP)
    op('v_cvt_pk_u16_u32', 'x32:x32,x32', two(lambda a: min(a, M16)), (A32, B32))
    op('v_cvt_pk_i16_i32', 'x32:x32,x32', two(lambda a: max(-1 << 15, min((1 << 15) - 1, i32(a))) & M16), (A32, B32))
    sat = lambda x: max(0, min(255, i16(x)))
    op('v_sat_pk_u8_i16', 'x16:x32', lambda a: sat(a) | sat(a >> 16) << 8, (pack([x * 3 & M16 for x in range(LANES)],
            A16),))
    # Rounding between integers is not published for u8, so these are whole.
    whole = [F32.round(Q(n)) for n in range(-8, 48)] + [F32.round(Q(255)), F32.round(Q(256)), F32.round(Q(10 ** 6)),
                                                        F32.nan, F32.inf, F32.inf | F32.sign, 0, F32.sign]
    byte = lambda a, b, c: c & ~(255 << 8 * (b & 3)) & M32 | to_int(F32, a, 0, 255) << 8 * (b & 3)
    op('v_cvt_pk_u8_f32', 'x32:f32,x32,x32', byte, (whole, [l * 5 for l in range(LANES)], C32))


def from_ints():
    # The conversion to f16 goes through the f32's rounding nowhere: one rounding each.
    op('v_cvt_f32_i32', 'f32:x32', lambda a: F32.round(Q(i32(a))), (A32,))
    op('v_cvt_f32_u32', 'f32:x32', lambda a: F32.round(Q(a)), (A32,))
    op('v_cvt_f64_i32', 'f64:x32', lambda a: F64.round(Q(i32(a))), (A32,))
    op('v_cvt_f64_u32', 'f64:x32', lambda a: F64.round(Q(a)), (A32,))
    op('v_cvt_f16_i16', 'f16:x16', lambda a: F16.round(Q(i16(a))), (IA16,))
    op('v_cvt_f16_u16', 'f16:x16', lambda a: F16.round(Q(a)), (IA16,))
    for k in range(4):
        op(f'v_cvt_f32_ubyte{k}', 'f32:x32', lambda a, k=k: F32.round(Q(a >> 8 * k & 255)), (A32,))
    op('v_cvt_off_f32_i4', 'f32:x32', lambda a: F32.round(Q(signed(a, 4), 16)), ([l * 3 for l in range(LANES)],))
    for mode, r in ROUNDING:
        op('v_cvt_f32_i32', 'f32:x32', lambda a, r=r: F32.round(Q(i32(a)), r), (A32,), mode=mode)
        op('v_cvt_f32_u32', 'f32:x32', lambda a, r=r: F32.round(Q(a), r), (A32,), mode=mode)


def between_floats():
    r = Random(17)
    near16 = [F32.round(Q(r.next(1 << 13) + 1, 1 << r.next(30)) * (-1) ** l) for l in range(24)]
    edges = [F32.round(v) for v in (Q(65504), Q(65519), Q(65520), Q(65536), Q(-65520), Q(1, 1 << 24), Q(1, 1 << 25),
                                    Q(3, 1 << 26), Q(1, 1 << 26), Q(2049), Q(2051), Q(1023, 1 << 24), Q(2047, 1 << 25))]
    to16 = (edges + near16 + FA32)[:LANES]
    op('v_cvt_f16_f32', 'f16:f32', lambda a: convert(F32, F16, a), (to16,), mods=True)
    op('v_cvt_f32_f16', 'f32:f16', lambda a: convert(F16, F32, a), (GA16,), mods=True)
    op('v_cvt_f32_f64', 'f32:f64', lambda a: convert(F64, F32, a), (FA64,), mods=True)
    near32 = [F64.round(F32.value(x) * (1 + Q(k, 1 << 25))) for k, x in enumerate(float_random(F32, r)
            for _ in range(20))]
    near32 += [F64.round(v) for v in (Q(2) ** -149, Q(2) ** -150, Q(3) * Q(2) ** -151, Q(2) ** 128,
                                      F32.value(F32.max) + Q(2) ** 102)]
    op('v_cvt_f32_f64', 'f32:f64', lambda a: convert(F64, F32, a), ((near32 + FB64)[:LANES],))
    op('v_cvt_f64_f32', 'f64:f32', lambda a: convert(F32, F64, a), (FA32,), mods=True)
    for mode, m in ROUNDING:
        op('v_cvt_f16_f32', 'f16:f32', lambda a, m=m: convert(F32, F16, a, m), (to16,), mode=mode)
    op('v_cvt_f16_f32', 'f16:f32', lambda a: flush(F16, convert(F32, F16, flush(F32, a))), (to16,), mode=0)
    rtz = lambda a, b: convert(F32, F16, a, RZERO) | convert(F32, F16, b, RZERO) << 16
    for name, targets in (('v_cvt_pkrtz_f16_f32', GFX9 | GFX1030), ('v_cvt_pk_rtz_f16_f32', GFX11UP)):
        op(name, 'p16:f32,f32', rtz, (to16, rotate(to16, 5)), targets)
    op('v_pack_b32_f16', 'x32:f16,f16', lambda a, b: a | b << 16, (GA16, GB16))
    norm = [Q(n, 1000) for n in (-1500, -1000, -999, -501, -333, -7, 0, 3, 21, 400, 707, 998, 1000, 1001, 5000)]

    def to_norm(f, lo, scale):
        def model(x):
            if f.is_nan(x):
                return 0
            if f.is_inf(x):
                return (lo if f.neg(x) else scale) & M16
            v = max(Q(lo, scale), min(Q(1), f.value(x))) * scale
            n = v.numerator // v.denominator
            return (n + (v - n > Q(1, 2))) & M16
        return model
    for f, kind in ((F32, 'f32'), (F16, 'f16')):
        column = ([f.round(v) for v in norm] + [f.nan, f.inf, f.inf | f.sign, 0, f.sign]) * 4
        column = column[:LANES]
        # No product halfway between two integers: how those round is not published.
        snorm, unorm = to_norm(f, -32767, 32767), to_norm(f, 0, 65535)
        pair = lambda m: lambda a, b: m(a) | m(b) << 16
        sig = f'x32:{kind},{kind}'
        old, new = 'v_cvt_pknorm', 'v_cvt_pk_norm'
        for targets, name in ((GFX9 | GFX1030, old), (GFX11UP, new)):
            op(f'{name}_i16_{kind}', sig, pair(snorm), (column, rotate(column, 3)), targets)
            op(f'{name}_u16_{kind}', sig, pair(unorm), (column, rotate(column, 3)), targets)
    halves = pack(column, HI)
    op('v_cvt_norm_i16_f16', 'x16:f16', snorm, (halves,))
    op('v_cvt_norm_u16_f16', 'x16:f16', unorm, (halves,))


def small_floats():
    """8-bit floats: with neither infinities nor -0 on gfx942, OCP's on gfx12."""
    every = [(l * 4 + k) & 255 for k in range(4) for l in range(LANES)]
    packed = [every[l] | every[64 + l] << 8 | every[128 + l] << 16 | every[192 + l] << 24 for l in range(LANES)]
    r = Random(8)
    for targets, formats in ((GFX942, (('fp8', FP8Z), ('bf8', BF8Z))), (GFX1201, (('fp8', FP8), ('bf8', BF8)))):
        for name, f in formats:
            case = Case(f'v_cvt_f32_{name}', targets=targets)
            take(case, ('x32',), (packed,))
            line = case.asm(f'v_cvt_f32_{name} v32, v16')
            expect(case, 'f32', '', [convert(f, F32, x & 255) for x in packed], line)
            for k in (1, 2, 3):
                at = case.next_out
                text = (f'v_cvt_f32_{name}_sdwa v{32 + at}, v16 src0_sel:BYTE_{k}' if targets == GFX942 else
                        f'v_cvt_f32_{name}_e64 v{32 + at}, v16 byte_sel:{k}')
                expect(case, 'f32', '', [convert(f, F32, x >> 8 * k & 255) for x in packed], case.asm(text))
            case = Case(f'v_cvt_pk_f32_{name}', targets=targets)
            take(case, ('x32',), (packed,))
            pair = lambda x, f=f: convert(f, F32, x & 255) | convert(f, F32, x >> 8 & 255) << 32
            expect(case, 'p32', '', [pair(x) for x in packed], case.asm(f'v_cvt_pk_f32_{name} v[32:33], v16'))
            text = ('v_cvt_pk_f32_{}_sdwa v[34:35], v16 src0_sel:WORD_1' if targets == GFX942 else
                    'v_cvt_pk_f32_{}_e64 v[34:35], v16 op_sel:[1,0]')
            expect(case, 'p32', '', [pair(x >> 16) for x in packed], case.asm(text.format(name)))
            # Within the range: what happens beyond it is a mode's matter.
            values = [F32.round(f.value(r.next(f.max + 1)) * (1 + Q(r.next(64) - 32, 512)) * (-1) ** l)
                      for l in range(LANES - 4)]
            values = [v if abs(F32.value(v)) <= f.value(f.max) else f32_max(f) for v in values] + [0, F32.nan,
                    F32.round(f.value(1)), F32.round(f.value(1) / 2)]
            other = rotate(values, 7)
            case = Case(f'v_cvt_pk_{name}_f32', targets=targets)
            take(case, ('f32', 'f32'), (values, other))
            lo = [convert(F32, f, a) | convert(F32, f, b) << 8 for a, b in zip(values, other)]
            case.out(0, 'x', [x | h & 0xffff0000 for x, h in zip(lo, FILL)],
                     case.asm(f'v_cvt_pk_{name}_f32 v32, v16, v17'))
            case.out(1, 'x', [x << 16 | h & M16 for x, h in zip(lo, FILL)],
                     case.asm(f'v_cvt_pk_{name}_f32 v33, v16, v17 op_sel:[0,0,1]'))


def f32_max(f):
    return F32.round(f.value(f.max))


# ---- compares ----

def compares():
    relations = {'f': lambda a, b: False, 'lt': lambda a, b: a < b, 'eq': lambda a, b: a == b, 'le': lambda a,
                 b: a <= b,
                 'gt': lambda a, b: a > b, 'lg': lambda a, b: a != b, 'ge': lambda a, b: a >= b}
    negated = {'nge': 'ge', 'nlg': 'lg', 'ngt': 'gt', 'nle': 'le', 'neq': 'eq', 'nlt': 'lt'}

    def float_relation(f, name):
        def model(a, b):
            nan = f.is_nan(a) or f.is_nan(b)
            if name in ('o', 'u'):
                return nan == (name == 'u')
            if name == 'tru':
                return True
            r = relations[negated.get(name, name)]
            positive = not nan and r(order(f, a), order(f, b))
            return not positive if name in negated else positive
        return model

    def put(group, kind, columns, floats=None, second=None):
        """Compares of one kind of operands, [(name, model, targets)]: to VCC, to other registers under a partial
        EXEC, with neg and abs; and the forms that write EXEC."""
        mask = M16 if kind.endswith('16') else M64
        values = [[v & mask for v in x] for x in zip(*columns)]
        for first in range(0, len(group), 4):
            some = group[first:first + 4]
            targets = 0
            for _, _, t in some:
                targets |= t
            for form in ('cmp', 'cmpx'):
                case = Case(f'v_{form}_{some[0][0]}', targets=targets)
                regs = [reg(*r) for r in take(case, (kind, second or kind), columns)]
                case.word(FLAGS, 13)
                case.pre('flags $m20')
                at = 0
                for name, model, t in some:
                    result = [model(*v) for v in values]
                    part = [v and f for v, f in zip(result, FLAGS)]
                    if form == 'cmp':
                        line = case.asm(f'v_cmp_{name} $vcc, {regs[0]}, {regs[1]}', t)
                        case.asm(f'bit v{32 + at}, $vcc', t)
                        case.asm('s_mov_b$B $exec, $m20', t)
                        case.asm(f'v_cmp_{name}_e64 $m24, {regs[0]}, {regs[1]}', t)
                        case.asm('s_mov_b$B $exec, -1', t)
                        case.asm(f'bit v{33 + at}, $m24', t)
                        case.out(at, 'm', result, line)
                        case.out(at + 1, 'm', part, line)
                        if floats:
                            s = floats.sign
                            case.asm(f'v_cmp_{name}_e64 $m22, -{regs[0]}, |{regs[1]}|', t)
                            case.asm(f'bit v{34 + at}, $m22', t)
                            case.out(at + 2, 'm', [model(a ^ s, b & s - 1 if not second else b) for a, b in values],
                                     line)
                    else:
                        case.asm('s_mov_b$B $exec, $m20', t)
                        case.asm(f'v_cmpx_{name}_e64 $m24, {regs[0]}, {regs[1]}', t & GFX9)
                        line = case.asm(f'v_cmpx_{name} {regs[0]}, {regs[1]}', t & GFX10UP)
                        case.asm('s_mov_b$B $m26, $exec', t)
                        case.asm('s_mov_b$B $exec, -1', t)
                        case.asm(f'bit v{32 + at}, $m26', t)
                        case.asm(f'bit v{33 + at}, $m24', t & GFX9)
                        case.out(at, 'm', part, targets=t)
                        case.out(at + 1, 'm', part, targets=t & GFX9)
                    at += 4
    for kind, f, a, b in (('f32', F32, FA32, FB32), ('f16', F16, GA16, GB16), ('f64', F64, FA64, FB64)):
        # Some lanes equal.
        b = [a[l] if l % 9 == 0 else x for l, x in enumerate(b)]
        # f and tru are gone from gfx12, tru is t from gfx11 on.
        gone = {'f': BELOW12, 'tru': BELOW12 & ~GFX1100}
        group = [(f'{name}_{kind}', float_relation(f, name), gone.get(name, ALL)) for name in [*relations, *negated,
                'o', 'u', 'tru']]
        put(group + [(f't_{kind}', lambda p, q: True, GFX1100)], kind, (a, b), f)

        def of_class(x, m, f=f):
            if f.is_nan(x):
                return bool(m >> (1 if x & f.qbit else 0) & 1)
            n = f.neg(x)
            k = (2 if n else 9) if f.is_inf(x) else (5 if n else 6) if f.is_zero(x) else (4 if n
                    else 7) if f.is_denormal(x) else (3 if n else 8)
            return bool(m >> k & 1)
        masks = [1 << l % 10 if l % 3 else (l * 0x155 ^ 0x2aa) & 0x3ff for l in range(LANES)]
        put([(f'class_{kind}', of_class, ALL)], kind, (a, masks), second='x32')
    ints = {'lt': relations['lt'], 'eq': relations['eq'], 'le': relations['le'], 'gt': relations['gt'],
            'ne': relations['lg'], 'ge': relations['ge']}
    for n, a, b in ((32, A32, B32), (16, IA16, IB16), (64, A64, B64)):
        b = [a[l] if l % 5 == 0 else x for l, x in enumerate(b)]
        gone = BELOW12 if n != 16 else BELOW12 & ~GFX10_11
        for s in 'iu':
            k = (lambda x, n=n: signed(x, n)) if s == 'i' else (lambda x: x)
            group = [(f'{name}_{s}{n}', lambda p, q, r=r, k=k: r(k(p), k(q)), ALL) for name, r in ints.items()]
            put(group + [(f'f_{s}{n}', lambda p, q: False, gone), (f't_{s}{n}', lambda p, q: True, gone)], f'x{n}',
                (a, b))


def all_cases():
    to_ints()
    from_ints()
    between_floats()
    small_floats()
    compares()
