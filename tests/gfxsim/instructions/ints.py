"""Vector integer arithmetic, bits, shifts, carries; 32, 64, 16 and packed 16 bits."""
from emit import ALL, BELOW12, GFX9, GFX10UP, GFX11UP, GFX942, GFX1030, GFX1201, LANES, Case
from pools import *
from valu import pk_case
from vector import M16, M32, M64, expect, i16, i32, i64, op, signed, take

COUNTS = [l % 37 if l < 40 else l * 0x01000193 & M32 for l in range(LANES)]  # bit numbers, past the width too
X2, X3 = 'x32:x32,x32', 'x32:x32,x32,x32'


def saturate_u(n):
    return lambda v: max(0, min((1 << n) - 1, v))


def saturate_i(n):
    return lambda v: max(-(1 << n - 1), min((1 << n - 1) - 1, v)) & (1 << n) - 1


def bit_ops():
    op('v_and_b32', X2, lambda a, b: a & b, (A32, B32))
    op('v_or_b32', X2, lambda a, b: a | b, (A32, B32))
    op('v_xor_b32', X2, lambda a, b: a ^ b, (A32, B32))
    op('v_xnor_b32', X2, lambda a, b: ~(a ^ b) & M32, (A32, B32))
    op('v_not_b32', 'x32:x32', lambda a: ~a & M32, (A32,))
    op('v_mov_b32', 'x32:x32', lambda a: a, (A32,))
    op('v_mov_b64', 'x64:x64', lambda a: a, (A64,), GFX942)
    op('v_bfrev_b32', 'x32:x32', lambda a: int(f'{a:032b}'[::-1], 2), (B32,))
    op('v_and_or_b32', X3, lambda a, b, c: a & b | c, (A32, B32, C32))
    op('v_or3_b32', X3, lambda a, b, c: a | b | c, (A32, B32, C32))
    op('v_xor3_b32', X3, lambda a, b, c: a ^ b ^ c, (A32, B32, C32), GFX10UP)
    op('v_bfi_b32', X3, lambda a, b, c: a & b | ~a & M32 & c, (A32, B32, C32))
    op('v_xad_u32', X3, lambda a, b, c: (a ^ b) + c & M32, (A32, B32, C32))
    op('v_lshl_or_b32', X3, lambda a, b, c: (a << (b & 31) | c) & M32, (A32, COUNTS, C32))
    op('v_lshl_add_u32', X3, lambda a, b, c: (a << (b & 31)) + c & M32, (A32, COUNTS, C32))
    op('v_add_lshl_u32', X3, lambda a, b, c: (a + b & M32) << (c & 31) & M32, (A32, B32, COUNTS))
    op('v_lshl_add_u64', 'x64:x64,x32,x64', lambda a, b, c: (a << b) + c & M64, (A64, [l % 5 for l in range(LANES)],
            B64), GFX942)
    width = [(s * 5 + 1) & 31 for s in range(LANES)]

    def bfe_i(a, b, c):
        n = c & 31
        return (signed(i32(a) >> (b & 31), n) & M32) if n else 0
    op('v_bfe_u32', X3, lambda a, b, c: a >> (b & 31) & (1 << (c & 31)) - 1, (A32, COUNTS, width))
    op('v_bfe_i32', X3, bfe_i, (B32, COUNTS, width))
    op('v_bfm_b32', X2, lambda a, b: ((1 << (a & 31)) - 1) << (b & 31) & M32, (COUNTS, width))
    op('v_alignbit_b32', X3, lambda a, b, c: (a << 32 | b) >> (c & 31) & M32, (A32, B32, COUNTS))
    op('v_alignbyte_b32', X3, lambda a, b, c: (a << 32 | b) >> 8 * (c & 3) & M32, (A32, B32, COUNTS))

    def perm(a, b, c):
        data = [(a << 32 | b) >> 8 * i & 255 for i in range(8)]

        def pick(s):
            return 255 if s >= 13 else 0 if s == 12 else 255 * (data[2 * (s - 8) + 1] >> 7) if s >= 8 else data[s]
        return sum(pick(c >> 8 * i & 255) << 8 * i for i in range(4))
    selectors = [(l * 0x01030507 + (l << 26)) & 0x0f0f0f0f if l < 60 else 0xff0d80e0 for l in range(LANES)]
    op('v_perm_b32', X3, perm, (A32, B32, selectors))
    op('v_bcnt_u32_b32', X2, lambda a, b: bin(a).count('1') + b & M32, (A32, B32))

    def first(x, n, msb):
        s = f'{x:0{n}b}'
        s = s if msb else s[::-1]
        return s.index('1') if '1' in s else M32

    def sign_run(x):
        s = f'{x:032b}'
        return next((i for i in range(1, 32) if s[i] != s[0]), M32)
    sparse = [1 << l % 32 | (B32[l] & (1 << l % 32) - 1 if l > 31 else 0) for l in range(LANES - 4)] + [0, M32, 1 << 31,
            0xfffffffe]
    op('v_ffbh_u32', 'x32:x32', lambda a: first(a, 32, True), (sparse,), GFX9 | GFX1030)
    op('v_clz_i32_u32', 'x32:x32', lambda a: first(a, 32, True), (sparse,), GFX11UP)
    op('v_ffbl_b32', 'x32:x32', lambda a: first(a, 32, False), (sparse,), GFX9 | GFX1030)
    op('v_ctz_i32_b32', 'x32:x32', lambda a: first(a, 32, False), (sparse,), GFX11UP)
    signs = [x ^ M32 if l % 2 else x for l, x in enumerate(sparse)]
    op('v_ffbh_i32', 'x32:x32', sign_run, (signs,), GFX9 | GFX1030)
    op('v_cls_i32', 'x32:x32', sign_run, (signs,), GFX11UP)
    lanes = range(LANES)
    # mbcnt counts the lanes below, in the lower or upper 32 of a wave.
    for targets, wave in ((GFX9, 64), (GFX10UP, 32)):
        for name, shift in (('lo', 0), ('hi', 32)):
            def mask(l, wave=wave, shift=shift):
                return ((1 << l % wave) - 1) >> shift & M32
            case = Case(f'v_mbcnt_{name}_u32_b32', targets=targets)
            take(case, ('x32', 'x32'), (A32, B32))
            line = case.asm(f'v_mbcnt_{name}_u32_b32 v32, v16, v17')
            expect(case, 'x32', '', [bin(A32[l] & mask(l)).count('1') + B32[l] & M32 for l in lanes], line)


def shifts():
    for a, b, names in ((A32, COUNTS, ('v_lshlrev_b32', 'v_lshrrev_b32', 'v_ashrrev_i32')),):
        op(names[0], X2, lambda s, v: v << (s & 31) & M32, (b, a))
        op(names[1], X2, lambda s, v: v >> (s & 31), (b, a))
        op(names[2], X2, lambda s, v: i32(v) >> (s & 31) & M32, (b, B32))
    counts = [l * 3 for l in range(LANES)]
    op('v_lshlrev_b64', 'x64:x32,x64', lambda s, v: v << (s & 63) & M64, (counts, A64))
    op('v_lshrrev_b64', 'x64:x32,x64', lambda s, v: v >> (s & 63), (counts, A64))
    op('v_ashrrev_i64', 'x64:x32,x64', lambda s, v: i64(v) >> (s & 63) & M64, (counts, B64))
    op('v_lshlrev_b16', 'x16:x16,x16', lambda s, v: v << (s & 15) & M16, (SHIFT16, IA16))
    op('v_lshrrev_b16', 'x16:x16,x16', lambda s, v: v >> (s & 15), (SHIFT16, IA16))
    op('v_ashrrev_i16', 'x16:x16,x16', lambda s, v: i16(v) >> (s & 15) & M16, (SHIFT16, IB16))
    pk_case('v_pk_lshlrev_b16', 'xp16', lambda s, v: v << (s & 15) & M16, (SHIFT16, QA16), ALL)
    pk_case('v_pk_lshrrev_b16', 'xp16', lambda s, v: v >> (s & 15), (SHIFT16, QA16), ALL)
    pk_case('v_pk_ashrrev_i16', 'xp16', lambda s, v: i16(v) >> (s & 15) & M16, (SHIFT16, QB16), ALL)


def sums():
    add = lambda a, b: a + b & M32
    sub = lambda a, b: a - b & M32
    rev = lambda a, b: b - a & M32
    su, si = saturate_u(32), saturate_i(32)
    for targets, nc in ((GFX9, ''), (GFX10UP, '_nc')):
        op(f'v_add{nc}_u32', X2, add, (A32, B32), targets, saturate=lambda a, b: su(a + b))
        op(f'v_sub{nc}_u32', X2, sub, (A32, B32), targets, saturate=lambda a, b: su(a - b))
        op(f'v_subrev{nc}_u32', X2, rev, (A32, B32), targets, saturate=lambda a, b: su(b - a))
        op(f'v_add{nc}_i32', X2, add, (A32, B32), targets, saturate=None, extra=())
        op(f'v_sub{nc}_i32', X2, sub, (A32, B32), targets)
        case = Case(f'v_add{nc}_i32', targets=targets)
        take(case, ('x32', 'x32'), (A32, B32))
        for name, m in (('add', lambda a, b: si(i32(a) + i32(b))), ('sub', lambda a, b: si(i32(a) - i32(b)))):
            at = case.next_out
            expect(case, 'x32', '', [m(a, b) for a, b in zip(A32, B32)],
                   case.asm(f'v_{name}{nc}_i32 v{32 + at}, v16, v17 clamp'))
    u16, s16 = saturate_u(16), saturate_i(16)
    two = 'x16:x16,x16'
    for targets, nc in ((GFX9, ''), (GFX10UP, '_nc')):
        sat = dict(saturate=lambda a, b: u16(a + b)) if nc == '' else {}
        op(f'v_add{nc}_u16', two, lambda a, b: a + b & M16, (IA16, IB16), targets, **sat)
        op(f'v_sub{nc}_u16', two, lambda a, b: a - b & M16, (IA16, IB16), targets)
        op(f'v_add{nc}_i16', two, lambda a, b: a + b & M16, (IA16, IB16), targets)
        op(f'v_sub{nc}_i16', two, lambda a, b: a - b & M16, (IA16, IB16), targets)
        if nc:
            case = Case('v_add_nc_u16', targets=targets)
            take(case, ('x16', 'x16'), (IA16, IB16))
            high = [(a >> 16, b >> 16) for a, b in zip(IA16, IB16)]
            low = [(a & M16, b & M16) for a, b in zip(IA16, IB16)]
            from emit import FILL
            for text, m, tail in (('v_add_nc_u16', lambda a, b: a + b & M16, ''), ('v_sub_nc_u16', lambda a,
                    b: a - b & M16, ''),
                                  ('v_add_nc_i16', lambda a, b: s16(i16(a) + i16(b)), ' clamp'), ('v_sub_nc_i16',
                                          lambda a, b: s16(i16(a) - i16(b)), ' clamp')):
                at = case.next_out
                line = case.asm(f'{text} v{32 + at}, v16, v17 op_sel:[1,1,1]{tail}')
                case.out(at, 'x', [m(a, b) << 16 | f & M16 for (a, b), f in zip(high, FILL)], line)
                at = case.next_out
                line = case.asm(f'{text} v{32 + at}, v16, v17 op_sel:[1,0,0]{tail}')
                case.out(at, 'x', [m(a, b) | f & 0xffff0000 for (a, _), (_, b), f in zip(high, low, FILL)], line)
    op('v_subrev_u16', two, lambda a, b: b - a & M16, (IA16, IB16), GFX9)
    op('v_mul_lo_u16', two, lambda a, b: a * b & M16, (IA16, IB16))
    op('v_add3_u32', X3, lambda a, b, c: a + b + c & M32, (A32, B32, C32))
    mul24u = lambda a, b: (a & 0xffffff) * (b & 0xffffff)
    mul24i = lambda a, b: signed(a, 24) * signed(b, 24)
    op('v_mul_u32_u24', X2, lambda a, b: mul24u(a, b) & M32, (A32, B32))
    op('v_mul_i32_i24', X2, lambda a, b: mul24i(a, b) & M32, (A32, B32))
    op('v_mul_hi_u32_u24', X2, lambda a, b: mul24u(a, b) >> 32, (A32, B32))
    op('v_mul_hi_i32_i24', X2, lambda a, b: mul24i(a, b) >> 32 & M32, (A32, B32))
    op('v_mad_u32_u24', X3, lambda a, b, c: mul24u(a, b) + c & M32, (A32, B32, C32))
    op('v_mad_i32_i24', X3, lambda a, b, c: mul24i(a, b) + i32(c) & M32, (A32, B32, C32))
    op('v_mul_lo_u32', X2, lambda a, b: a * b & M32, (A32, B32))
    op('v_mul_hi_u32', X2, lambda a, b: a * b >> 32, (A32, B32))
    op('v_mul_hi_i32', X2, lambda a, b: i32(a) * i32(b) >> 32 & M32, (A32, B32))
    tri = 'x16:x16,x16,x16'
    mad = lambda a, b, c: a * b + c & M16
    from emit import FILL
    for name, t in (('v_mad_u16', ALL), ('v_mad_i16', ALL), ('v_mad_legacy_u16', GFX9), ('v_mad_legacy_i16', GFX9)):
        case = op(name, tri, mad, (IA16, IB16, IC16), t)
        if 'legacy' in name:
            continue
        at = case.next_out
        line = case.asm(f'{name} v{32 + at}, v16, v17, v18 op_sel:[1,0,1,1]')
        case.out(at, 'x', [mad(a >> 16, b & M16, c >> 16) << 16 | f & M16 for a, b, c, f in zip(IA16, IB16, IC16,
                FILL)], line)
    op('v_mad_u32_u16', 'x32:x16,x16,x32', lambda a, b, c: a * b + c & M32, (IA16, IB16, C32))
    op('v_mad_i32_i16', 'x32:x16,x16,x32', lambda a, b, c: i16(a) * i16(b) + c & M32, (IA16, IB16, C32))
    pk_case('v_pk_add_u16', 'xp16', lambda a, b: a + b & M16, (QA16, QB16), ALL, saturate=lambda a, b: u16(a + b))
    pk_case('v_pk_sub_u16', 'xp16', lambda a, b: a - b & M16, (QA16, QB16), ALL, saturate=lambda a, b: u16(a - b))
    pk_case('v_pk_add_i16', 'xp16', lambda a, b: a + b & M16, (QA16, QB16), ALL, saturate=lambda a,
            b: s16(i16(a) + i16(b)))
    pk_case('v_pk_sub_i16', 'xp16', lambda a, b: a - b & M16, (QA16, QB16), ALL, saturate=lambda a,
            b: s16(i16(a) - i16(b)))
    pk_case('v_pk_mul_lo_u16', 'xp16', lambda a, b: a * b & M16, (QA16, QB16), ALL)
    pk_case('v_pk_mad_u16', 'xp16', mad, (QA16, QB16, QC16), ALL, saturate=lambda a, b, c: u16(a * b + c))
    pk_case('v_pk_mad_i16', 'xp16', mad, (QA16, QB16, QC16), ALL, saturate=lambda a, b,
            c: s16(i16(a) * i16(b) + i16(c)))


def extremes():
    for n, kind, a, b, c in ((32, 'x32', A32, B32, C32), (16, 'x16', IA16, IB16, IC16)):
        two, tri = f'{kind}:{kind},{kind}', f'{kind}:{kind},{kind},{kind}'
        for s in 'iu':
            key = (lambda x, n=n: signed(x, n)) if s == 'i' else (lambda x: x)
            mn = lambda *x, k=key: min(x, key=k)
            mx = lambda *x, k=key: max(x, key=k)
            op(f'v_min_{s}{n}', two, mn, (a, b))
            op(f'v_max_{s}{n}', two, mx, (a, b))
            op(f'v_min3_{s}{n}', tri, mn, (a, b, c))
            op(f'v_max3_{s}{n}', tri, mx, (a, b, c))
            op(f'v_med3_{s}{n}', tri, lambda *x, k=key: sorted(x, key=k)[1], (a, b, c))
            if n == 32:
                op(f'v_minmax_{s}32', tri, lambda p, q, r, m=mn, w=mx: w(m(p, q), r), (a, b, c), GFX11UP)
                op(f'v_maxmin_{s}32', tri, lambda p, q, r, m=mn, w=mx: m(w(p, q), r), (a, b, c), GFX11UP)
            else:
                pk_case(f'v_pk_min_{s}16', 'xp16', mn, (QA16, QB16), ALL)
                pk_case(f'v_pk_max_{s}16', 'xp16', mx, (QA16, QB16), ALL)
    op('v_and_b16', 'x16:x16,x16', lambda a, b: a & b, (IA16, IB16), GFX11UP)
    op('v_or_b16', 'x16:x16,x16', lambda a, b: a | b, (IA16, IB16), GFX11UP)
    op('v_xor_b16', 'x16:x16,x16', lambda a, b: a ^ b, (IA16, IB16), GFX11UP)
    op('v_not_b16', 'x16:x16', lambda a: ~a & M16, (IA16,), GFX11UP)
    op('v_cvt_i32_i16', 'x32:x16', lambda a: i16(a) & M32, (IA16,), GFX11UP)
    op('v_cvt_u32_u16', 'x32:x16', lambda a: a, (IA16,), GFX11UP)


def sads():
    def byte(x, k):
        return x >> 8 * k & 255
    sad8 = lambda a, b, c: c + sum(abs(byte(a, k) - byte(b, k)) for k in range(4)) & M32
    msad = lambda a, b, c: c + sum(abs(byte(a, k) - byte(b, k)) if byte(b, k) else 0 for k in range(4)) & M32
    op('v_sad_u8', X3, sad8, (A32, B32, C32))
    op('v_sad_hi_u8', X3, lambda a, b, c: (sad8(a, b, 0) << 16) + c & M32, (A32, B32, C32))
    op('v_sad_u16', X3, lambda a, b, c: c + abs((a & M16) - (b & M16)) + abs((a >> 16) - (b >> 16)) & M32, (A32, B32,
            C32))
    op('v_sad_u32', X3, lambda a, b, c: abs(a - b) + c & M32, (A32, B32, C32))
    op('v_msad_u8', X3, msad, (A32, B32, C32))
    lerp = lambda a, b, c: sum((byte(a, k) + byte(b, k) + (byte(c, k) & 1) >> 1) << 8 * k for k in range(4))
    op('v_lerp_u8', X3, lerp, (A32, B32, C32))

    def four(one):
        return lambda a, b, c: sum((one(a >> 8 * k & M32, b, c >> 16 * k & M16) & M16) << 16 * k for k in range(4))
    small = [x & 0x0fff0fff0fff0fff for x in C64]
    op('v_qsad_pk_u16_u8', 'x64:x64,x32,x64', four(sad8), (A64, B32, small))
    op('v_mqsad_pk_u16_u8', 'x64:x64,x32,x64', four(msad), (A64, B32, small))
    case = Case('v_mqsad_u32_u8')
    take(case, ('x64', 'x64', 'x64', 'x32'), (A64, B64, C64, B32))
    wide = [b | c << 64 for b, c in zip(B64, C64)]
    line = case.asm('v_mqsad_u32_u8 v[32:35], v[16:17], v22, v[18:21]')
    for k in range(4):
        case.out(k, 'x', [msad(a >> 8 * k & M32, b, c >> 32 * k & M32) for a, b, c in zip(A64, B32, wide)], line)


def carries():
    """Sums with a carry in or out for each lane."""
    flag = list(FLAGS)

    def case_of(name, targets, with_in, model, vop2):
        case = Case(name, targets=targets)
        take(case, ('x32', 'x32'), (A32, B32))
        case.word(flag, 13)
        case.pre('flags $vcc')
        case.pre('flags $m20')
        both = [model(a, b, f) for a, b, f in zip(A32, B32, flag)]
        case.asm(f'{name} v33, $m22, v16, v17{", $m20" if with_in else ""}')
        line = case.asm(f'{name} v32, $vcc, v16, v17{", $vcc" if with_in else ""}')
        case.post('bit v34, $vcc')
        case.post('bit v35, $m22')
        for at in (0, 1):
            case.out(at, 'x', [v & M32 for v, _ in both], line)
            case.out(at + 2, 'm', [c for _, c in both], line)
    for targets, names in ((GFX9, ('v_add_co_u32', 'v_sub_co_u32', 'v_subrev_co_u32', 'v_addc_co_u32', 'v_subb_co_u32',
                                   'v_subbrev_co_u32')),
                           (GFX10UP, ('v_add_co_u32', 'v_sub_co_u32', 'v_subrev_co_u32', 'v_add_co_ci_u32',
                                      'v_sub_co_ci_u32', 'v_subrev_co_ci_u32'))):
        models = (lambda a, b, f: (a + b, a + b > M32), lambda a, b, f: (a - b, b > a), lambda a, b, f: (b - a, a > b),
                  lambda a, b, f: (a + b + f, a + b + f > M32), lambda a, b, f: (a - b - f, b + f > a), lambda a, b,
                  f: (b - a - f, a + f > b))
        for k, (name, model) in enumerate(zip(names, models)):
            case_of(name, targets, k >= 3, model, k >= 3 or targets & GFX9)
    for targets, names in ((BELOW12, ('v_mad_u64_u32', 'v_mad_i64_i32')), (GFX1201, ('v_mad_co_u64_u32',
            'v_mad_co_i64_i32'))):
        for name, s in zip(names, (lambda x: x, i32)):
            case = Case(name, targets=targets)
            take(case, ('x32', 'x32', 'x64'), (A32, B32, C64))
            total = [s(a) * s(b) + (c if s(M32) > 0 else i64(c)) for a, b, c in zip(A32, B32, C64)]
            line = case.asm(f'{name} v[32:33], $vcc, v16, v17, v[18:19]')
            case.post('bit v34, $vcc')
            expect(case, 'x64', '', [t & M64 for t in total], line)
            case.out(2, 'm', [t >> 64 & 1 for t in total], line)
    case = Case('v_cndmask_b32')
    take(case, ('x32', 'x32'), (A32, B32))
    case.word(flag, 13)
    case.pre('flags $vcc')
    case.pre('v_cmp_eq_u32_e64 $m20, 0, v29')
    expect(case, 'x32', '', [b if f else a for a, b, f in zip(A32, B32, flag)],
           case.asm('v_cndmask_b32 v32, v16, v17, $vcc'))
    expect(case, 'x32', '', [a if f else b for a, b, f in zip(A32, B32, flag)],
           case.asm('v_cndmask_b32_e64 v33, v16, v17, $m20'))
    expect(case, 'x32', '', [b ^ 1 << 31 if f else a & M32 >> 1 for a, b, f in zip(A32, B32, flag)],
           case.asm('v_cndmask_b32_e64 v34, |v16|, -v17, $vcc'))
    case = Case('v_cndmask_b16', targets=GFX11UP)
    take(case, ('x32', 'x32'), (A32, B32))
    case.word(flag, 13)
    case.pre('flags $m20')
    expect(case, 'x16', '', [b if f else a for a, b, f in zip(A32, B32, flag)],
           case.asm('v_cndmask_b16 v32, v16, v17, $m20'))


def all_cases():
    bit_ops()
    shifts()
    sums()
    extremes()
    sads()
    carries()
