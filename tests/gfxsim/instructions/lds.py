"""LDS: loads, stores, atomics, and what goes between lanes through it."""
from emit import ALL, BELOW12, FILL, GFX9, GFX10UP, GFX11UP, GFX942, GFX1030, GFX1100, GFX1201, LANES, Case
from floats import BF16, F16, F32, F64, add
from memory import (D16, LOADS, OWN, STORES, TAME, TAME64, edges, expect_load, integer_atomics, number, own_bytes,
                    packed_add, put_words, r, reg, region, split, stored, tame16)
from pools import *
from valu import minmax
from vector import M32


# ---- LDS ----

def lds_fill(case):
    """Each lane's 64 bytes of LDS start at v1."""
    put_words(case)
    case.pre('lds_fill')


def lds_result(case, after, line, words):
    case.post('lds_result')
    for k in words:
        case.out(k, 'x', [number(d, 4 * k, 4) for d in after], line)


def lds():
    for kind, (n, _) in LOADS.items():
        case = Case('ds_load_' + kind, lds=4096)
        lds_fill(case)
        for i, offset in enumerate((0, 4 if n <= 4 else 16, 41 if n == 1 else 42 if n == 2 else 40 if n in (4, 8)
                                    else 32)):
            at = case.next_out = (case.next_out + 3) // 4 * 4 if n >= 12 else case.next_out
            line = case.asm(f'ds_read_{kind} {reg(32 + at, (n + 3) // 4)}, v1 offset:{offset}')
            expect_load(case, line, kind, at, offset)
            if n == 8 and case.next_out % 2:
                case.next_out += 1
        case.asm('wait_all')
    for kind in D16:
        case = Case('ds_load_' + kind, lds=4096)
        lds_fill(case)
        new = f'ds_read_{kind.split("_")[-1].replace("b16", "u16")}_d16{"_hi" if "_hi_" in kind else ""}'
        for i, offset in enumerate((0, 6, 34)):
            line = case.asm(f'{new} v{32 + i}, v1 offset:{offset}')
            expect_load(case, line, kind, i, offset)
    for kind, (n, skip) in STORES.items():
        for offset in (0, {1: 37, 2: 38, 4: 36, 8: 40, 12: 48, 16: 48}[n]):
            case = Case('ds_store_' + kind, lds=4096)
            lds_fill(case)
            new = f'ds_write_{kind.split("_")[-1]}{"_d16_hi" if "_hi_" in kind else ""}'
            line = case.asm(f'{new} v1, {reg(20, (n + 3) // 4)} offset:{offset}')
            lds_result(case, stored(n, skip, offset, 4), line, range(max(0, offset // 4 - 1),
                                                                     min(16, (offset + n + 7) // 4)))
    for n, kind in ((4, 'b32'), (8, 'b64')):
        w = n // 4
        case = Case(f'ds_load_2addr_{kind}', lds=16384)
        lds_fill(case)
        line = case.asm(f'ds_read2_{kind} {reg(32, 2 * w)}, v1 offset0:3 offset1:1')
        for k in range(2 * w):
            case.out(k, 'x', [number(own_bytes(l), (3 if k < w else 1) * n + 4 * (k % w), 4) for l in range(LANES)],
                     line)
        # 64 elements on: that of another lane.
        stride = 64 * n // 64
        case = Case(f'ds_load_2addr_stride64_{kind}', lds=16384)
        lds_fill(case)
        case.pre(f'v_subrev_u32 v2, {stride * 64}, v1', GFX9)
        case.pre(f'v_subrev_nc_u32 v2, {stride * 64}, v1', GFX10UP)
        case.pre('v_max_i32 v2, 0, v2')
        line = case.asm(f'ds_read2st64_{kind} {reg(32, 2 * w)}, v2 offset0:0 offset1:1')
        for k in range(2 * w):
            lane = [max(0, l - stride) + (0 if k < w else stride) for l in range(LANES)]
            case.out(k, 'x', [number(own_bytes(m), 4 * (k % w), 4) for m in lane], line)
        case = Case(f'ds_store_2addr_{kind}', lds=4096)
        lds_fill(case)
        line = case.asm(f'ds_write2_{kind} v1, {reg(20, w)}, {reg(24, w)} offset0:0 offset1:{3 if w == 1 else 2}')
        after = []
        for l in range(LANES):
            d, second = own_bytes(l), (3 if w == 1 else 2) * n
            d2 = d[16:16 + n] + d[n:second] + d[32:32 + n] + d[second + n:]
            after.append(d2)
        lds_result(case, after, line, range(6))
        case = Case(f'ds_store_2addr_stride64_{kind}', lds=4096 * 3)
        lds_fill(case)
        far = 4096 // (64 * n)
        for k in range(4):
            case.pre(f'ds_write_b128 v1, v[{16 + 4 * k}:{19 + 4 * k}] offset:{4096 + 16 * k}')
        line = case.asm(f'ds_write2st64_{kind} v1, {reg(20, w)}, {reg(24, w)} offset0:0 offset1:{far}')
        case.post('wait_all')
        for k in range(2):
            case.post(f'ds_read_b64 v[{32 + 2 * k}:{33 + 2 * k}], v1 offset:{4096 * k}')
        for k in range(2):
            for j in range(2):
                d = [own_bytes(l)[16 * (k + 1):16 * (k + 1) + n] + own_bytes(l)[n:8] for l in range(LANES)]
                case.out(2 * k + j, 'x', [number(x, 4 * j, 4) for x in d], line)


def lds_atomic(name, n, model, old, data, text, rtn, second=None, how='x', targets=ALL):
    """An atomic without a result on the lane's first 8 bytes of LDS, and one with it on the next 8; operands in words
    2 and 4."""
    w = n // 32
    after = [model(*v) for v in zip(old, data, *([second] if second else []))]
    case = Case(name, lds=4096, targets=targets)
    pad = [[0] * LANES] if w == 1 else []
    columns = split(old, n) + pad + split(data, n) + pad + (split(second, n) if second else [])
    for k, c in enumerate(columns):
        case.word(c, k)
    case.pre(f'ds_write_b{n} v1, {reg(16, w)}')
    case.pre(f'ds_write_b{n} v1, {reg(16, w)} offset:8')
    case.pre('wait_all')
    operands = f'v1, {reg(18, w)}' + (f', {reg(20, w)}' if second else '')
    case.post('wait_all')
    for form, offset in ((text, 0), (rtn, 8)):
        if form is None:
            continue
        line = case.asm(f'{form} {reg(36, w) + ", " if offset else ""}{operands}{" offset:8" if offset else ""}')
        at = offset // 4
        case.post(f'ds_read_b{n} {reg(32 + at, w)}, v1 offset:{offset}')
        if how == 'd':
            case.out(at, 'd', after, line)
        else:
            for k in range(w):
                case.out(at + k, how, split(after, n)[k], line)
        for k in range(w if offset else 0):
            case.out(4 + k, 'x', split(old, n)[k], line)


def lds_atomics():
    for n in (32, 64):
        old, data = edges(n)
        for name, model in integer_atomics(n).items():
            full = f'{name}{n}'
            op_, t = name.split('_')
            lds_atomic(f'ds_{full}', n, model, old, data, f'ds_{full}', f'ds_{op_}_rtn_{t}{n}')
        lds_atomic(f'ds_rsub_u{n}', n, lambda t, d, n=n: d - t & (1 << n) - 1, old, data, f'ds_rsub_u{n}',
                   f'ds_rsub_rtn_u{n}')
        second = [r.bits(n) for _ in range(LANES)]
        lds_atomic(f'ds_mskor_b{n}', n, lambda t, d, e: t & ~d | e, old, data, f'ds_mskor_b{n}', f'ds_mskor_rtn_b{n}',
                   second)
        lds_atomic(f'ds_storexchg_b{n}', n, lambda t, d: d, old, data, None, f'ds_wrxchg_rtn_b{n}')
        equal = [t if l % 2 else d for l, (t, d) in enumerate(zip(old, data))]
        # The compare value is the first operand before gfx11 and the second from it on.
        lds_atomic(f'ds_cmpst_b{n}', n, lambda t, c, v: v if t == c else t, old, equal, f'ds_cmpst_b{n}',
                   f'ds_cmpst_rtn_b{n}', second, targets=GFX9 | GFX1030)
        lds_atomic(f'ds_cmpstore_b{n}', n, lambda t, v, c: v if t == c else t, old, second, f'ds_cmpstore_b{n}',
                   f'ds_cmpstore_rtn_b{n}', equal, targets=GFX11UP)
    old, data = edges(32)
    lds_atomic('ds_wrap_rtn_b32', 32, lambda t, d, e: (t - d if t >= d else t + e) & M32, old, data, None,
               'ds_wrap_rtn_b32', [r.bits(32) for _ in range(LANES)], targets=BELOW12)
    lds_atomic('ds_cond_sub_u32', 32, lambda t, d: t - d if t >= d else t, old, data, 'ds_cond_sub_u32',
               'ds_cond_sub_rtn_u32', targets=GFX1201)
    lds_atomic('ds_sub_clamp_u32', 32, lambda t, d: max(0, t - d), old, data, 'ds_sub_clamp_u32',
               'ds_sub_clamp_rtn_u32', targets=GFX1201)
    a, b = TAME[:2]
    lds_atomic('ds_add_f32', 32, lambda t, d: add(F32, t, d), a, b, 'ds_add_f32', 'ds_add_rtn_f32', how='f')
    b = [x if l % 5 else a[l] for l, x in enumerate(b)]
    for name, new, big in (('min', 'min_num', False), ('max', 'max_num', True)):
        model = lambda t, d, g=big: minmax(F32, d, t, g, 12)
        lds_atomic(f'ds_{name}_f32', 32, model, a, b, f'ds_{name}_f32', f'ds_{name}_rtn_f32', targets=BELOW12)
        lds_atomic(f'ds_{new}_f32', 32, model, a, b, f'ds_{new}_f32', f'ds_{new}_rtn_f32', targets=GFX1201)
        model = lambda t, d, g=big: minmax(F64, d, t, g, 12)
        lds_atomic(f'ds_{name}_f64', 64, model, *TAME64, f'ds_{name}_f64', f'ds_{name}_rtn_f64', targets=BELOW12)
        lds_atomic(f'ds_{new}_f64', 64, model, *TAME64, f'ds_{new}_f64', f'ds_{new}_rtn_f64', targets=GFX1201)
    lds_atomic('ds_add_f64', 64, lambda t, d: add(F64, t, d), *TAME64, 'ds_add_f64', 'ds_add_rtn_f64', how='d',
               targets=GFX9)
    a, b = pack(*tame16(F16, 2)), pack(*tame16(F16, 2))
    lds_atomic('ds_pk_add_f16', 32, packed_add(F16), a, b, 'ds_pk_add_f16', 'ds_pk_add_rtn_f16', how='p')
    a, b = pack(*tame16(BF16, 2)), pack(*tame16(BF16, 2))
    lds_atomic('ds_pk_add_bf16', 32, packed_add(BF16), a, b, 'ds_pk_add_bf16', 'ds_pk_add_rtn_bf16', how='q')
    a, b = TAME[2:4]
    c = [t if l % 2 else x for l, (t, x) in enumerate(zip(a, b))]
    lds_atomic('ds_cmpst_f32', 32, lambda t, p, v: v if t == p else t, a, c, 'ds_cmpst_f32', 'ds_cmpst_rtn_f32', b,
               targets=GFX9 | GFX1030)
    lds_atomic('ds_cmpstore_f32', 32, lambda t, v, p: v if t == p else t, a, b, 'ds_cmpstore_f32',
               'ds_cmpstore_rtn_f32', c, targets=GFX1100)
    a, b = TAME64
    c = [t if l % 2 else x for l, (t, x) in enumerate(zip(a, b))]
    lds_atomic('ds_cmpst_f64', 64, lambda t, p, v: v if t == p else t, a, c, 'ds_cmpst_f64', 'ds_cmpst_rtn_f64', b,
               targets=GFX9 | GFX1030)
    lds_atomic('ds_cmpstore_f64', 64, lambda t, v, p: v if t == p else t, a, b, 'ds_cmpstore_f64',
               'ds_cmpstore_rtn_f64', c, targets=GFX1100)
    old, data = edges(64)
    half = lambda t, d: d & M32 >> 1 if d >> 31 else t
    lds_atomic('ds_condxchg32_rtn_b64', 64, lambda t, d: half(t & M32, d & M32) | half(t >> 32, d >> 32) << 32, old,
               data, None, 'ds_condxchg32_rtn_b64')
    # Two exchanges at once.
    for n in (32, 64):
        w = n // 32
        for stride, text in ((0, 'ds_wrxchg2_rtn_b'), (1, 'ds_wrxchg2st64_rtn_b')):
            case = Case(text + str(n), lds=4096 + 64 * 64)
            put_words(case)
            case.pre(f'ds_write_b{n} v1, {reg(16, w)}')
            second = 4096 if stride else 32
            unit = n // 8 * (64 if stride else 1)
            off = second // unit
            case.pre(f'ds_write_b{n} v1, {reg(18, w)} offset:{off * unit}')
            case.pre('wait_all')
            line = case.asm(f'{text}{n} {reg(36, 2 * w)}, v1, {reg(20, w)}, {reg(22, w)} offset0:0 offset1:{off}')
            case.post('wait_all')
            case.post(f'ds_read_b{n} {reg(32, w)}, v1')
            case.post(f'ds_read_b{n} {reg(34, w)}, v1 offset:{off * unit}')
            for k in range(w):
                case.out(k, 'x', OWN[4 + k], line)
                case.out(2 + k, 'x', OWN[6 + k], line)
                case.out(4 + k, 'x', OWN[k], line)
                case.out(4 + w + k, 'x', OWN[2 + k], line)


def lds_cross():
    active_sets = ([1] * LANES, [1 if l % 5 and l % 11 != 6 else 0 for l in range(LANES)])
    for targets, wave in ((GFX9, 64), (GFX10UP, 32)):
        for active in active_sets:
            where = [(l * 37 + 11) * 4 + l % 4 & 0x1ff for l in range(LANES)]
            case = Case('ds_permute_b32', targets=targets)
            case.word(where)
            case.word(B32)
            case.word(active, 13)
            case.pre('partial')
            result = list(FILL)
            for base in range(0, LANES, wave):
                tmp = [0] * wave
                for l in range(base, base + wave):
                    if active[l]:
                        tmp[where[l] // 4 % wave] = B32[l]
                for l in range(base, base + wave):
                    if active[l]:
                        result[l] = tmp[l - base]
            line = case.asm('ds_permute_b32 v32, v16, v17')
            case.out(0, 'x', result, line)
            back = [l - l % wave + where[l] // 4 % wave for l in range(LANES)]
            shifted = [l - l % wave + (where[l] + 8) // 4 % wave for l in range(LANES)]
            # Lanes that EXEC leaves out count as a finding when they are read, so each reads one that is in it.
            if active[0] and all(active):
                line = case.asm('ds_bpermute_b32 v33, v16, v17')
                case.out(1, 'x', [B32[s] for s in back], line)
                line = case.asm('ds_bpermute_b32 v34, v16, v17 offset:8')
                case.out(2, 'x', [B32[s] for s in shifted], line)
            line = case.asm('ds_bpermute_fi_b32 v35, v16, v17', GFX1201)
            case.out(3, 'x', [B32[s] if a else f for s, a, f in zip(back, active, FILL)], line)
            case.asm('wait_all')
    case = Case('ds_bpermute_b32')
    source = [l - l % 32 + (l * 5 + 1) % 32 for l in range(LANES)]
    active = [1 if l % 8 != 3 else 0 for l in range(LANES)]
    reads = [s if active[s] else s + 1 - (32 if s % 32 == 31 else 0) for s in source]
    case.word([s * 4 for s in reads])
    case.word(B32)
    case.word(active, 13)
    case.pre('partial')
    line = case.asm('ds_bpermute_b32 v32, v16, v17')
    case.out(0, 'x', [B32[s] if a else f for s, a, f in zip(reads, active, FILL)], line)
    case = Case('ds_swizzle_b32')
    case.word(B32)

    def masked(a, o, x):
        return [B32[l - l % 32 + ((l % 32 & a | o) ^ x)] for l in range(LANES)]
    for k, (text, column) in enumerate((
            ('offset:swizzle(QUAD_PERM,3,0,2,1)', [B32[l - l % 4 + (3, 0, 2, 1)[l % 4]] for l in range(LANES)]),
            ('offset:swizzle(SWAP,16)', masked(31, 0, 16)), ('offset:swizzle(REVERSE,8)', masked(31, 0, 7)),
            ('offset:swizzle(BROADCAST,4,2)', masked(0x1c, 2, 0)), (f'offset:{0x1f | 0 << 5 | 0x15 << 10:#x}',
                                                                    masked(31, 0, 0x15)),
            (f'offset:{0x12 | 0x05 << 5 | 0x18 << 10:#x}', masked(0x12, 5, 0x18)))):
        at = case.next_out
        case.out(at, 'x', column, case.asm(f'ds_swizzle_b32 v{32 + at}, v16 {text}'))
    case.asm('wait_all')
    # Without a register for the address.
    for name, sign in (('ds_append', 1), ('ds_consume', -1)):
        case = Case(name, lds=4096)
        case.pre('v_mov_b32 v2, 0')
        case.pre('v_mov_b32 v3, 50')
        case.pre('v_cmp_eq_u32_e64 $m20, 0, v0')
        case.pre('s_mov_b$B $exec, $m20')
        case.pre('ds_write_b32 v2, v3 offset:8')
        case.pre('wait_all')
        case.pre('s_mov_b$B $exec, -1')
        case.pre('barrier')
        case.pre('v_cmp_gt_u32_e64 $m20, 21, v0')
        case.asm('s_mov_b$B $exec, $m20')
        case.asm('s_mov_b32 m0, 0')
        line = case.asm(f'{name} v32 offset:8')
        case.asm('wait_all')
        case.asm('s_mov_b$B $exec, -1')
        case.post('barrier')
        case.post('ds_read_b32 v33, v2 offset:8')
        case.out(0, 'x', [50 if l < 21 else FILL[l] for l in range(LANES)], line)
        case.out(1, 'x', [50 + 21 * sign] * LANES, line)
    # The address is M0 and the lane's number.
    for targets, wave in ((GFX9, 64), (GFX10UP, 32)):
        column = [B32[l % wave] for l in range(LANES)]
        case = Case('ds_load_addtid_b32', lds=16384, targets=targets)
        case.word(column)
        case.pre('v_readfirstlane_b32 s20, v0')  # waves of 32 have parts of their own
        case.pre('s_lshl_b32 s20, s20, 6')
        case.pre('s_add_u32 m0, s20, 16')
        case.asm('ds_write_addtid_b32 v16 offset:16')
        case.asm('wait_all')
        line = case.asm('ds_read_addtid_b32 v32 offset:16')
        case.asm('wait_all')
        case.post(f'v_and_b32 v2, {wave - 1}, v0')
        case.post('v_lshlrev_b32 v2, 2, v2')
        case.post('v_or_b32 v2, s20, v2')
        case.post('ds_read_b32 v33, v2 offset:32')
        case.out(0, 'x', column, line)
        case.out(1, 'x', column, line)
        if wave == 64:
            continue
        case = Case('global_load_addtid_b32', targets=targets)
        put_words(case)
        flat = region()
        case.remember({})
        for form in ('global_load_dword_addtid', 'global_load_addtid_b32'):
            line = case.asm(f'{form} v32, s[8:9] offset:128', GFX1030 if 'dword' in form else GFX11UP)
            case.out(0, 'x', [flat[32 + l % wave] for l in range(LANES)], line)
        case.asm('wait_all')
        after = {k: list(OWN[k]) for k in range(16)}
        same = [OWN[4][l % wave] for l in range(LANES)]
        case = Case('global_store_addtid_b32', targets=targets)
        put_words(case)
        case.word(same, 4)
        columns = [*OWN[:4], same, *OWN[5:]]
        after = {k: list(columns[k]) for k in range(16)}
        for l in range(wave):
            after[l % 16][l // 16] = same[l]
        case.remember(after)
        case.asm('global_store_dword_addtid v20, s[8:9]', GFX1030)
        case.asm('global_store_addtid_b32 v20, s[8:9]', GFX11UP)
    # Straight to LDS: at M0, the offset and four bytes a lane.
    for name, n, sign in (('ubyte', 1, False), ('sbyte', 1, True), ('ushort', 2, False), ('sshort', 2, True), ('dword',
            4, False)):
        case = Case(f'global_load_lds_{name}', lds=4096, targets=GFX942)
        put_words(case)
        case.remember({})
        case.pre('s_movk_i32 m0, 0x100')
        case.asm(f'global_load_lds_{name} v1, s[8:9] offset:4')
        case.asm('wait_all')
        case.post('v_lshlrev_b32 v2, 2, v0')
        case.post('ds_read_b32 v32, v2 offset:260')
        case.out(0, 'x', [number(own_bytes(l), 4, n, sign) & M32 for l in range(LANES)])


def buffer_to_lds():
    for new, old, n, sign in (('u8', 'ubyte', 1, False), ('i8', 'sbyte', 1, True), ('u16', 'ushort', 2, False),
                              ('i16', 'sshort', 2, True), ('b32', 'dword', 4, False)):
        case = Case(f'buffer_load_lds_{new}', lds=16384)
        put_words(case)
        case.remember({})
        case.pre('buffer_of 4096')
        case.pre('v_readfirstlane_b32 s26, v0')  # waves of 32 have parts of their own
        case.pre('s_lshl_b32 s26, s26, 6')
        case.pre('s_add_u32 m0, s26, 0x100')
        case.asm(f'buffer_load_lds_{new} v1, s[20:23], s24 offen offset:4', GFX1100)
        case.asm(f'buffer_load_{old} v1, s[20:23], s24 offen offset:4 lds', GFX9 | GFX1030)
        case.asm('wait_all')
        case.post('v_mbcnt_lo_u32_b32 v2, -1, 0')
        case.post('v_mbcnt_hi_u32_b32 v2, -1, v2')
        case.post('v_lshlrev_b32 v2, 2, v2')
        case.post('v_or_b32 v2, s26, v2')
        case.post('ds_read_b32 v32, v2 offset:260')
        case.out(0, 'x', [number(own_bytes(l), 12, n, sign) & M32 for l in range(LANES)])


def all_cases():
    lds()
    lds_atomics()
    lds_cross()
    buffer_to_lds()
