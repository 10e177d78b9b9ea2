"""Vector arithmetic: float, integer, packed. Each model is written from the operation's published pseudocode."""
from emit import ALL, BELOW12, FILL, GFX9, GFX10_11, GFX10UP, GFX11UP, GFX1030, GFX1100, GFX1201, LANES, Case
from fractions import Fraction as Q

from floats import (F16, F32, F64, add, clamp, finite, flush, fma, fract, frexp, integral, ldexp, mul, order, rcp, rsq,
                    sqrt, sub, total, exp2, log2, sine)
from pools import *
from vector import M16, M32, ROUNDING, i32, i16, reg, size, take, low, expect, dst_of, op, bind


# ---- minimum and maximum, three generations of NaN ----

def quieted(f, x):
    return f.quiet(x)


def minmax(f, a, b, greater, generation):
    """generation 9, 10 (and 11) with IEEE set; 12: the _num forms. Of two NaNs each generation takes another, but
    that a NaN is quiet is all that is compared."""
    if generation != 12:
        if f.is_snan(a):
            return quieted(f, a)
        if f.is_snan(b):
            return quieted(f, b)
    if f.is_nan(a) and f.is_nan(b):
        return b if generation == 9 else a if generation == 10 else quieted(f, a)
    if f.is_nan(a):
        return b
    if f.is_nan(b):
        return a
    ta, tb = total(f, a), total(f, b)
    return (a if ta > tb else b) if greater else (a if ta < tb else b)


def minimum(f, a, b, greater):
    for x in (a, b):
        if f.is_snan(x):
            return quieted(f, x)
    for x in (a, b):
        if f.is_nan(x):
            return x
    return (a if total(f, a) > total(f, b) else b) if greater else (a if total(f, a) < total(f, b) else b)


def three(one, a, b, c):
    return one(one(a, b), c)


def med3(f, a, b, c, g):
    mn, mx = (lambda x, y: minmax(f, x, y, False, g)), (lambda x, y: minmax(f, x, y, True, g))
    if any(f.is_nan(x) for x in (a, b, c)):
        return three(mn, a, b, c)
    top = three(mx, a, b, c)
    return mx(b, c) if order(f, top) == order(f, a) else mx(a, c) if order(f, top) == order(f, b) else mx(a, b)


GENERATIONS = ((GFX9, 9), (GFX10_11, 10), (GFX1201, 12))


def float_minmax():
    for kind, f, (a, b, c) in (('f32', F32, (FA32, FB32, FC32)), ('f16', F16, (GA16, GB16, GC16)), ('f64', F64,
            (FA64, FB64, FC64))):
        for targets, g in GENERATIONS:
            s = '_num' if g == 12 else ''
            x = kind
            mn = lambda p, q, f=f, g=g: minmax(f, p, q, False, g)
            mx = lambda p, q, f=f, g=g: minmax(f, p, q, True, g)
            two = f'{x}:{x},{x}'
            # Signalling NaNs reach an operation with neg or abs as they are.
            op(f'v_min{s}_{kind}', two, mn, (a, b), targets, mods=kind)
            op(f'v_max{s}_{kind}', two, mx, (a, b), targets, mods=kind)
            if kind == 'f64':
                continue
            tri = f'{x}:{x},{x},{x}'
            op(f'v_min3{s}_{kind}', tri, lambda p, q, r, m=mn: three(m, p, q, r), (a, b, c), targets)
            op(f'v_max3{s}_{kind}', tri, lambda p, q, r, m=mx: three(m, p, q, r), (a, b, c), targets)
            op(f'v_med3{s}_{kind}', tri, lambda p, q, r, f=f, g=g: med3(f, p, q, r, g), (a, b, c), targets)
            if g != 9:
                op(f'v_minmax{s}_{kind}', tri, lambda p, q, r, m=mn, n=mx: n(m(p, q), r), (a, b, c), targets & GFX11UP)
                op(f'v_maxmin{s}_{kind}', tri, lambda p, q, r, m=mn, n=mx: m(n(p, q), r), (a, b, c), targets & GFX11UP)
        mn = lambda p, q, f=f: minimum(f, p, q, False)
        mx = lambda p, q, f=f: minimum(f, p, q, True)
        two, tri = f'{kind}:{kind},{kind}', f'{kind}:{kind},{kind},{kind}'
        op(f'v_minimum_{kind}', two, mn, (a, b), GFX1201)
        op(f'v_maximum_{kind}', two, mx, (a, b), GFX1201)
        if kind != 'f64':
            op(f'v_minimum3_{kind}', tri, lambda p, q, r, m=mn: three(m, p, q, r), (a, b, c), GFX1201)
            op(f'v_maximum3_{kind}', tri, lambda p, q, r, m=mx: three(m, p, q, r), (a, b, c), GFX1201)
            op(f'v_minimummaximum_{kind}', tri, lambda p, q, r, m=mn, n=mx: n(m(p, q), r), (a, b, c), GFX1201)
            op(f'v_maximumminimum_{kind}', tri, lambda p, q, r, m=mn, n=mx: m(n(p, q), r), (a, b, c), GFX1201)


# ---- add, multiply, fused ----

def float_arithmetic():
    sets = (('f32', F32, (FA32, FB32, FC32)), ('f16', F16, (GA16, GB16, GC16)), ('f64', F64, (FA64, FB64, FC64)))
    for kind, f, (a, b, c) in sets:
        two, tri = f'{kind}:{kind},{kind}', f'{kind}:{kind},{kind},{kind}'
        for name, g in (('add', add), ('sub', sub), ('mul', mul)):
            if kind == 'f64' and name == 'sub':
                continue
            m = bind(f, g)
            op(f'v_{name}_{kind}', two, m, (a, b), mods=True, saturate=lambda x, y, m=m, f=f: clamp(f, m(x, y)))
            for mode, r in ROUNDING:
                op(f'v_{name}_{kind}', two, bind(f, g, mode=r), (a, b), mode=mode)
            op(f'v_{name}_{kind}', two, lambda x, y, f=f, g=g: flush(f, g(f, flush(f, x), flush(f, y))), (a, b), mode=0)
        if kind != 'f64':
            op(f'v_subrev_{kind}', two, lambda x, y, f=f: sub(f, y, x), (a, b), mods=True)
        m = bind(f, fma)
        op(f'v_fma_{kind}', tri, m, (a, b, c), mods=True, saturate=lambda x, y, z, m=m, f=f: clamp(f, m(x, y, z)),
           **(dict(opsel=GFX9 | GFX10UP) if kind == 'f16' else {}))
        for mode, r in ROUNDING:
            op(f'v_fma_{kind}', tri, bind(f, fma, mode=r), (a, b, c), mode=mode)
        op(f'v_fma_{kind}', tri, lambda x, y, z, f=f: flush(f, fma(f, flush(f, x), flush(f, y), flush(f, z))),
           (a, b, c), mode=0)
        op(f'v_fmac_{kind}', tri, m, (a, b, c), accumulate=True)
    K = 0x40490fdb
    case = Case('v_fmamk_f32')
    a, b = case.word(FA32), case.word(FB32)
    case.out(0, 'f', [fma(F32, x, K, y) for x, y in zip(FA32, FB32)], case.asm(f'v_fmamk_f32 v32, v16, {K:#x}, v17'))
    case = Case('v_fmaak_f32')
    a, b = case.word(FA32), case.word(FB32)
    case.out(0, 'f', [fma(F32, x, y, K) for x, y in zip(FA32, FB32)], case.asm(f'v_fmaak_f32 v32, v16, v17, {K:#x}'))
    H = 0x4248
    case = Case('v_fmamk_f16', targets=GFX10UP)
    a, b = case.word(GA16), case.word(GB16)
    case.out(0, 'h', [fma(F16, x & M16, H, y & M16) | f & 0xffff0000 for x, y, f in zip(GA16, GB16, FILL)],
             case.asm(f'v_fmamk_f16 v32, v16, {H:#x}, v17'))
    case = Case('v_fmaak_f16', targets=GFX10UP)
    a, b = case.word(GA16), case.word(GB16)
    case.out(0, 'h', [fma(F16, x & M16, y & M16, H) | f & 0xffff0000 for x, y, f in zip(GA16, GB16, FILL)],
             case.asm(f'v_fmaak_f16 v32, v16, v17, {H:#x}'))

    def legacy_mul(x, y):
        return 0 if F32.is_zero(x) or F32.is_zero(y) else mul(F32, x, y)

    def legacy_fma(x, y, z):
        return z if F32.is_zero(x) or F32.is_zero(y) else fma(F32, x, y, z)
    op('v_mul_legacy_f32', 'f32:f32,f32', legacy_mul, (FA32, FB32), BELOW12 & ~GFX1100)
    op('v_mul_dx9_zero_f32', 'f32:f32,f32', legacy_mul, (FA32, FB32), GFX11UP)
    op('v_fma_legacy_f32', 'f32:f32,f32,f32', legacy_fma, (FA32, FB32, FC32), GFX1030)
    op('v_fma_dx9_zero_f32', 'f32:f32,f32,f32', legacy_fma, (FA32, FB32, FC32), GFX11UP)
    op('v_fmac_legacy_f32', 'f32:f32,f32,f32', legacy_fma, (FA32, FB32, FC32), GFX1030, accumulate=True)
    op('v_fmac_dx9_zero_f32', 'f32:f32,f32,f32', legacy_fma, (FA32, FB32, FC32), GFX1100, accumulate=True)
    # gfx9's unfused multiply and add rounds twice.
    mad = lambda x, y, z: add(F16, mul(F16, x, y), z)
    op('v_mad_f16', 'f16:f16,f16,f16', mad, (GA16, GB16, GC16), GFX9)
    op('v_mad_legacy_f16', 'f16:f16,f16,f16', mad, (GA16, GB16, GC16), GFX9)
    op('v_mac_f16', 'f16:f16,f16,f16', mad, (GA16, GB16, GC16), GFX9, accumulate=True)
    op('v_fma_legacy_f16', 'f16:f16,f16,f16', bind(F16, fma), (GA16, GB16, GC16), GFX9)

    def mullit(a, b, c):
        if b in (F32.max | F32.sign, F32.inf | F32.sign) or F32.is_nan(b) or F32.is_nan(c) or order(F32, c) <= 0:
            return F32.max | F32.sign
        return mul(F32, a, b)
    op('v_mullit_f32', 'f32:f32,f32,f32', mullit, (FA32, FB32, FC32), GFX10UP)


def packed_float():
    def halves(model):
        return lambda *x: model(*[v & M16 for v in x]) | model(*[v >> 16 for v in x]) << 16
    for name, g in (('add', add), ('mul', mul)):
        pk_case(f'v_pk_{name}_f16', 'p16', bind(F16, g), (PA16, PB16), ALL, floats=True)
    pk_case('v_pk_fma_f16', 'p16', bind(F16, fma), (PA16, PB16, PC16), ALL, floats=True)
    for mode, r in ROUNDING:
        op('v_pk_fma_f16', 'p16:p16,p16,p16', halves(bind(F16, fma, mode=r)), (PA16, PB16, PC16), mode=mode)
    for targets, g in GENERATIONS:
        s = '_num' if g == 12 else ''
        pk_case(f'v_pk_min{s}_f16', 'p16', lambda a, b, g=g: minmax(F16, a, b, False, g), (PA16, PB16), targets,
                floats=True)
        pk_case(f'v_pk_max{s}_f16', 'p16', lambda a, b, g=g: minmax(F16, a, b, True, g), (PA16, PB16), targets,
                floats=True)
    pk_case('v_pk_minimum_f16', 'p16', lambda a, b: minimum(F16, a, b, False), (PA16, PB16), GFX1201)
    pk_case('v_pk_maximum_f16', 'p16', lambda a, b: minimum(F16, a, b, True), (PA16, PB16), GFX1201)
    op('v_pk_fmac_f16', 'p16:p16,p16,p16', halves(bind(F16, fma)), (PA16, PB16, PC16), ALL, accumulate=True)
    wide = [[x | y << 32 for x, y in zip(c, rotate(d, 5))] for c, d in ((FA32, FB32), (FB32, FC32), (FC32, FA32))]
    for name, g in (('add', add), ('mul', mul), ('fma', fma)):
        n = 3 if name == 'fma' else 2
        model = lambda *x, g=g: g(F32, *[v & M32 for v in x]) | g(F32, *[v >> 32 for v in x]) << 32
        cross = lambda *x, g=g: g(F32, *[v >> 32 for v in x]) | g(F32, *[v & M32 for v in x]) << 32
        negated = lambda *x, g=g: (g(F32, x[0] & M32 ^ 1 << 31, *[v & M32 for v in x[1:]])
                                   | g(F32, x[0] >> 32, (x[1] >> 32) ^ 1 << 31, *[v >> 32 for v in x[2:]]) << 32)
        case = op(f'v_pk_{name}_f32', 'p32:' + ','.join(['p32'] * n), model, wide[:n], GFX9)
        regs = ', '.join(f'v[{16 + 2 * k}:{17 + 2 * k}]' for k in range(n))
        ones, zeros = ','.join('1' * n), ','.join('0' * n)
        for tail, m in ((f'op_sel:[{ones}] op_sel_hi:[{zeros}]', cross),
                        (f'neg_lo:[1,{zeros[2:]}] neg_hi:[0,1{",0" * (n - 2)}]', negated)):
            at, text = dst_of(case, 'p32')
            line = case.asm(f'v_pk_{name}_f32 {text}, {regs} {tail}')
            expect(case, 'p32', '', [m(*v) for v in zip(*wide[:n])], line)
    case = Case('v_pk_mov_b32', targets=GFX9)
    take(case, ('x64', 'x64'), wide[:2])
    for k, (s, m) in enumerate((('op_sel:[0,1]', lambda a, b: a & M32 | b & ~M32), ('op_sel:[1,0]', lambda a,
            b: a >> 32 | (b & M32) << 32))):
        line = case.asm(f'v_pk_mov_b32 v[{32 + 2 * k}:{33 + 2 * k}], v[16:17], v[18:19] {s}')
        expect(case, 'x64', '', [m(*v) for v in zip(*wide[:2])], line)


def pk_case(name, kind, model, columns, targets, floats=False, saturate=None):
    """A packed 16-bit instruction: plain, with halves exchanged, with neg_lo and neg_hi, with clamp."""
    case = Case(name, targets=targets)
    n = len(columns)
    regs = ', '.join(reg(*r) for r in take(case, ['p16'] * n, columns))
    values = list(zip(*columns))

    def lane(v, lo, hi, m=model):
        return m(*lo(v)) | m(*hi(v)) << 16

    def lows(v):
        return [x & M16 for x in v]

    def highs(v):
        return [x >> 16 for x in v]

    def put(tail, column):
        at, text = dst_of(case, 'p16')
        line = case.asm(f'{name} {text}, {regs}{tail}')
        expect(case, kind, name, column, line)
    put('', [lane(v, lows, highs) for v in values])
    ones, zeros = ','.join('1' * n), ','.join('0' * n)
    put(f' op_sel:[{ones}] op_sel_hi:[{zeros}]', [lane(v, highs, lows) for v in values])
    put(f' op_sel:[1,{zeros[2:]}] op_sel_hi:[1,0{",1" * (n - 2)}]',
        [lane(v, lambda u: [u[0] >> 16] + lows(u[1:]), lambda u: [u[0] >> 16, u[1] & M16] + highs(u[2:]))
         for v in values])
    if floats:
        def flip(x, k):
            return [e ^ 0x8000 if i == k else e for i, e in enumerate(x)]
        put(f' neg_lo:[1,{zeros[2:]}] neg_hi:[0,1{",0" * (n - 2)}]',
            [lane(v, lambda u: flip(lows(u), 0), lambda u: flip(highs(u), 1)) for v in values])
        if kind == 'p16':
            put(' clamp', [lane(v, lows, highs, lambda *x: clamp(F16, model(*x))) for v in values])
    if saturate:
        put(' clamp', [lane(v, lows, highs, saturate) for v in values])


# ---- one operand ----

def float_unary():
    sets = (('f32', F32, FA32), ('f16', F16, GA16), ('f64', F64, FA64))
    r = Random(99)
    for kind, f, a in sets:
        parts = float_edges(f) + [f.round(Q(n, 4)) for n in range(-11, 12, 1)] + [float_random(f, r) for _ in range(64)]
        parts = (parts + parts)[:LANES]
        cols = [(x | HI[l] << 16) if kind == 'f16' else x for l, x in enumerate(parts)]
        sig = f'{kind}:{kind}'
        for name in ('trunc', 'ceil', 'floor', 'rndne'):
            op(f'v_{name}_{kind}', sig, lambda x, f=f, h=name: integral(f, x, h), (cols,), mods=True)

        op(f'v_fract_{kind}', sig, bind(f, fract), (cols,))
        op(f'v_frexp_mant_{kind}', sig, lambda x, f=f: frexp(f, x)[0], (cols,))
        e = {'f32': 'i32', 'f16': 'i16', 'f64': 'i32'}[kind]
        op(f'v_frexp_exp_{e}_{kind}', f'{"x16" if e == "i16" else "x32"}:{kind}',
           lambda x, f=f, e=e: frexp(f, x)[1] & (M16 if e == 'i16' else M32), (cols,))
        # What becomes of denormals here is the hardware's matter for f32 (LLVM never lets them get there), so no
        # operand or result is one.
        tame = [x if not f.is_denormal(x) and not (kind != 'f16' and finite(f, x) and not f.is_zero(x) and
                                                   f.exponent(x) > f.emax - 3) else f.bias << f.m | i * 77
                for i, x in enumerate(low(kind, FA32 if kind == 'f32' else GA16 if kind == 'f16' else FA64))]
        if kind == 'f16':
            tame = [x | HI[l] << 16 for l, x in enumerate(low(kind, GA16))]
        near = 'v' if kind == 'f16' else 'w' if kind == 'f64' else 'u'
        op(f'v_rcp_{kind}', sig, bind(f, rcp), (tame,), how=near, mods=True)
        op(f'v_sqrt_{kind}', sig, bind(f, sqrt), (tame,), how=near)
        op(f'v_rsq_{kind}', sig, bind(f, rsq), (tame,), how=near)
        if kind == 'f64':
            continue
        if kind == 'f32':
            op('v_rcp_iflag_f32', sig, bind(f, rcp), (tame,), how=near)
        op(f'v_log_{kind}', sig, bind(f, log2), (tame,), how=near)
        exps = [f.round(Q(n * 37, 8)) for n in range(-24, 24)] + [0, f.sign, f.inf, f.inf | f.sign, f.nan, f.inf | 1,
                                                                  f.round(Q(12)), f.round(Q(-12)),
                f.round(Q(200)), f.round(Q(-200)), f.round(Q(1, 3)), f.round(Q(-1, 3)), f.bias << f.m, f.round(Q(15)),
                f.round(Q(127)), f.round(Q(1, 1000))]
        if kind == 'f16':
            exps = [x | HI[l] << 16 for l, x in enumerate(exps)]
        op(f'v_exp_{kind}', sig, bind(f, exp2), (exps,), how=near)
        turns = [f.round(Q(n, 16)) for n in range(-20, 21)] + [f.round(Q(n * 113, 71)) for n in range(-8, 8)] + [0,
                f.sign, f.inf, f.nan, f.inf | f.sign,
                 f.round(Q(1, 100)), f.round(Q(100)) | 1]
        if kind == 'f16':
            turns = [x | HI[l] << 16 for l, x in enumerate(turns)]
        op(f'v_sin_{kind}', sig, lambda x, f=f: sine(f, x, 0), (turns,), how=near)
        op(f'v_cos_{kind}', sig, lambda x, f=f: sine(f, x, 1), (turns,), how=near)


# ---- division ----

def division():
    def fixup(f):
        def model(a, b, c):
            s = f.sign if f.neg(b) != f.neg(c) else 0
            if f.is_nan(c):
                return f.nan
            if f.is_nan(b):
                return f.nan
            if f.is_zero(b) and f.is_zero(c) or f.is_inf(b) and f.is_inf(c):
                return f.nan
            if f.is_zero(b) or f.is_inf(c):
                return f.inf | s
            if f.is_inf(b) or f.is_zero(c):
                return s
            return a & (f.sign - 1) | s
        return model
    close = {}
    for kind, f, (a, b, c) in (('f32', F32, (FA32, FB32, FC32)), ('f16', F16, (GA16, GB16, GC16)), ('f64', F64,
            (FA64, FB64, FC64))):
        # The quotient's exponent stays within the range, beyond which the result is the operation's own.
        def tame(column, l, f=f):
            x = column[l] & (f.sign * 2 - 1)
            if finite(f, x) and not f.is_zero(x):
                x = x & (f.sign | (1 << f.m) - 1) | (f.bias + l % 9 - 4) << f.m
            return x | (column[l] & 0xffff0000 if f is F16 else 0)
        b, c = ([tame(x, l) for l in range(LANES)] for x in (b, c))
        close[kind] = b, c
        a = [x if not f.is_nan(x & (2 * f.sign - 1)) else f.bias << f.m for x in a]
        tri = f'{kind}:{kind},{kind},{kind}'
        op(f'v_div_fixup_{kind}', tri, fixup(f), (a, b, c))
        if kind == 'f16':
            op('v_div_fixup_legacy_f16', tri, fixup(f), (a, b, c), GFX9)
    for kind, f, n in (('f32', F32, 64), ('f64', F64, 128)):
        # fmas: results away from overflow and denormals, where scaling is exact. It undoes what div_scale did: 2^64
        # (2^128 of f64) down for a quotient below 1, up for one above; the published factor 2^32 (2^64) would undo
        # neither.
        r = Random(5)
        quiet = [[float_random(f, r) for _ in range(LANES)] for _ in range(3)]
        case = Case(f'v_div_fmas_{kind}')
        take(case, [kind] * 3, quiet)
        case.word(FLAGS, 13)
        case.pre('flags $vcc')
        w = size(kind)
        line = case.asm(f'v_div_fmas_{kind} {reg(32, w)}, {reg(16, w)}, {reg(16 + w, w)}, {reg(16 + 2 * w, w)}')
        expect(case, kind, '', [ldexp(f, fma(f, *v), 0 if not t else n if f.exponent(v[2]) > f.bias else -n) for v,
                                t in zip(zip(*quiet), FLAGS)], line)
        b, c = quiet[:2]
        b = [x if l % 5 else f.round(Q(2) ** ((-1) ** l * (f.bias - 26)) * (l + 1)) for l, x in enumerate(b)]
        c = [x if l % 7 else f.round(Q(2) ** ((-1) ** (l // 2) * (f.bias - 13)) * (l + 3)) for l, x in enumerate(c)]
        c = [x if l % 11 != 3 else (l + 5) & 31 or 1 for l, x in enumerate(c)]
        c[9], b[17], b[23], c[23] = 0, 0, 5, f.round(Q(3))

        def scale(a, b, c, f=f, n=n, kind=kind):
            """(result, VCC)"""
            spread, tiny = (96, 23) if kind == 'f32' else (768, 53)
            if f.is_zero(b) or f.is_zero(c):
                return f.nan, 0
            ratio = f.value(c) / f.value(b)
            least = Q(2) ** (1 - f.bias)
            if f.exponent(c) - f.exponent(b) >= spread:
                return (ldexp(f, a, n) if a == b else a), 1
            if f.is_denormal(b):
                return ldexp(f, a, n), 0
            small_inverse, small_ratio = abs(1 / f.value(b)) < least, abs(ratio) < least
            if small_inverse and small_ratio:
                return (ldexp(f, a, n) if a == b else a), 1
            if small_inverse:
                return ldexp(f, a, -n), 0
            if small_ratio:
                return (ldexp(f, a, n) if a == c else a), 1
            if f.exponent(c) <= tiny:
                return ldexp(f, a, n), 0
            return a, 0
        case = Case(f'v_div_scale_{kind}')
        take(case, [kind] * 2, (b, c))
        for which, a in (('d', b), ('n', c)):
            at, text = dst_of(case, kind)
            first = reg(16, w) if which == 'd' else reg(16 + w, w)
            line = case.asm(f'v_div_scale_{kind} {text}, $vcc, {first}, {reg(16, w)}, {reg(16 + w, w)}')
            case.asm(f'v_cndmask_b32_e64 v{46 if which == "d" else 47}, 0, 1, $vcc')
            both = [scale(p, q, s) for p, q, s in zip(a, b, c)]
            expect(case, kind, '', [x for x, _ in both], line)
            case.out(14 if which == 'd' else 15, 'm', [v for _, v in both], line)
            case.next_out = at + w
    ints = [(l * 7 - 220) & M32 for l in range(LANES)]
    op('v_ldexp_f32', 'f32:f32,x32', lambda x, n: ldexp(F32, x, i32(n)), (FA32, ints))
    op('v_ldexp_f64', 'f64:f64,x32', lambda x, n: ldexp(F64, x, i32(n)), (FA64, [i32(n) * 11 & M32 for n in ints]))
    small = [(l - 32) & M16 | HI[l] << 16 for l in range(LANES)]
    op('v_ldexp_f16', 'f16:f16,i16', lambda x, n: ldexp(F16, x, i16(n)), (GA16, small))


def cube():
    quiet = [[x if finite(F32, x) else 0x3f800000 + 997 * l for l, x in enumerate(c)] for c in (FA32, FB32, FC32)]

    def face(a, b, c):
        big = lambda p, q: (p & M32 >> 1) >= (q & M32 >> 1)
        return 'z' if big(c, a) and big(c, b) else 'y' if big(b, a) else 'x'
    minus = lambda x: x ^ 1 << 31
    below = lambda x: order(F32, x) < 0

    def ident(a, b, c):
        v = {'x': a, 'y': b, 'z': c}[face(a, b, c)]
        return F32.round(Q({'x': 0, 'y': 2, 'z': 4}[face(a, b, c)] + below(v)))

    def sc(a, b, c):
        w = face(a, b, c)
        return (minus(a) if below(c) else a) if w == 'z' else a if w == 'y' else (c if below(a) else minus(c))

    def tc(a, b, c):
        w = face(a, b, c)
        return (minus(c) if below(b) else c) if w == 'y' else minus(b)

    def ma(a, b, c):
        return mul(F32, {'x': a, 'y': b, 'z': c}[face(a, b, c)], 0x40000000)
    for name, m in (('id', ident), ('sc', sc), ('tc', tc), ('ma', ma)):
        op(f'v_cube{name}_f32', 'f32:f32,f32,f32', m, quiet)


def all_cases():
    float_minmax()
    float_arithmetic()
    packed_float()
    float_unary()
    division()
    cube()
