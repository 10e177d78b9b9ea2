"""Memory: LDS, global, flat, scratch and buffer accesses, atomics, scalar loads."""
from emit import ALL, BELOW12, FILL, GFX9, GFX10_11, GFX10UP, GFX11UP, GFX90A, GFX942, GFX1030, GFX1100, GFX1201, LANES, Case
from floats import BF16, F16, F32, F64, add, less, total
from pools import *
from valu import M16, M32, M64, minmax, signed

r = Random(2024)
# Sixteen words of each lane; run.c puts its fill in the last.
OWN = [[r.bits(32) for _ in range(LANES)] for _ in range(15)] + [FILL]
TAME = [[float_random(F32, r) for _ in range(LANES)] for _ in range(4)]
TAME64 = [[float_random(F64, r) for _ in range(LANES)] for _ in range(2)]
RETURNS = ((GFX9 & ~GFX942 | GFX10_11, ' glc'), (GFX942, ' sc0'), (GFX1201, ' th:TH_ATOMIC_RETURN'))


def own_bytes(l, words=OWN):
    return b''.join(w[l].to_bytes(4, 'little') for w in words)


def number(data, at, n, sign=False):
    return int.from_bytes(data[at:at + n], 'little', signed=sign)


LOADS = {'u8': (1, False), 'i8': (1, True), 'u16': (2, False), 'i16': (2, True), 'b32': (4, False), 'b64': (8, False), 'b96': (12, False), 'b128': (16, False)}
OLD = {'u8': 'ubyte', 'i8': 'sbyte', 'u16': 'ushort', 'i16': 'sshort', 'b32': 'dword', 'b64': 'dwordx2', 'b96': 'dwordx3', 'b128': 'dwordx4'}
D16 = {'d16_u8': (1, False, 0), 'd16_i8': (1, True, 0), 'd16_b16': (2, False, 0), 'd16_hi_u8': (1, False, 1), 'd16_hi_i8': (1, True, 1), 'd16_hi_b16': (2, False, 1)}
OLD_D16 = {'d16_u8': 'ubyte_d16', 'd16_i8': 'sbyte_d16', 'd16_b16': 'short_d16', 'd16_hi_u8': 'ubyte_d16_hi', 'd16_hi_i8': 'sbyte_d16_hi', 'd16_hi_b16': 'short_d16_hi'}
STORES = {'b8': (1, 0), 'b16': (2, 0), 'b32': (4, 0), 'b64': (8, 0), 'b96': (12, 0), 'b128': (16, 0), 'd16_hi_b8': (1, 2), 'd16_hi_b16': (2, 2)}
OLD_STORES = {'b8': 'byte', 'b16': 'short', 'b32': 'dword', 'b64': 'dwordx2', 'b96': 'dwordx3', 'b128': 'dwordx4', 'd16_hi_b8': 'byte_d16_hi', 'd16_hi_b16': 'short_d16_hi'}


def reg(at, n):
    return f'v{at}' if n == 1 else f'v[{at}:{at + n - 1}]'


def put_words(case, words=OWN):
    for k in range(15):
        case.word(words[k], k)


def expect_load(case, line, kind, at, offset, zero=()):
    """A load of `kind` from byte `offset` of each lane's words."""
    if kind in D16:
        n, sign, hi = D16[kind]
        values = [number(own_bytes(l), offset, n, sign) & M16 for l in range(LANES)]
        case.out(at, 'x', [(f & M16 | v << 16) if hi else f & 0xffff0000 | v for f, v in zip(FILL, values)], line)
        return
    n, sign = LOADS[kind]
    for k in range((n + 3) // 4):
        case.out(at + k, 'x', [0 if l in zero else number(own_bytes(l), offset + 4 * k, min(n, 4), sign) & M32 for l in range(LANES)], line)


def stored(n, skip, offset, source=0):
    """Each lane's words after its n bytes from word `source` on, skipping some, went to `offset`."""
    out = []
    for l in range(LANES):
        d = own_bytes(l)
        data = d[4 * source + skip:4 * source + skip + n]
        out.append(d[:offset] + data + d[offset + n:])
    return out


# ---- LDS ----

def lds_fill(case):
    """Each lane's 64 bytes of LDS start at v1."""
    put_words(case)
    for k in range(4):
        case.pre(f'ds_write_b128 v1, v[{16 + 4 * k}:{19 + 4 * k}] offset:{16 * k}')
    case.pre('wait_all')
    case.pre('barrier')


def lds_result(case, after, line, words):
    case.post('wait_all')
    case.post('barrier')
    for k in range(4):
        case.post(f'ds_read_b128 v[{32 + 4 * k}:{35 + 4 * k}], v1 offset:{16 * k}')
    for k in words:
        case.out(k, 'x', [number(d, 4 * k, 4) for d in after], line)


def lds():
    for kind, (n, _) in LOADS.items():
        case = Case('ds_load_' + kind, lds=4096)
        lds_fill(case)
        step = 4 if n <= 4 else n // 4 * 4
        for i, offset in enumerate((0, 4 if n <= 4 else 16, 41 if n == 1 else 42 if n == 2 else 40 if n in (4, 8) else 32)):
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
            lds_result(case, stored(n, skip, offset, 4), line, range(max(0, offset // 4 - 1), min(16, (offset + n + 7) // 4)))
    for n, kind in ((4, 'b32'), (8, 'b64')):
        w = n // 4
        case = Case(f'ds_load_2addr_{kind}', lds=16384)
        lds_fill(case)
        line = case.asm(f'ds_read2_{kind} {reg(32, 2 * w)}, v1 offset0:3 offset1:1')
        for k in range(2 * w):
            case.out(k, 'x', [number(own_bytes(l), (3 if k < w else 1) * n + 4 * (k % w), 4) for l in range(LANES)], line)
        # 64 elements on: that of another lane.
        stride = 64 * n // 64
        back = {l: l + stride for l in range(LANES) if l + stride < LANES}
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


def integer_atomics(n):
    M = (1 << n) - 1
    s = lambda x: signed(x, n)
    return {'add_u': lambda t, d: t + d & M, 'sub_u': lambda t, d: t - d & M, 'min_i': lambda t, d: min(t, d, key=s), 'max_i': lambda t, d: max(t, d, key=s),
            'min_u': min, 'max_u': max, 'and_b': lambda t, d: t & d, 'or_b': lambda t, d: t | d, 'xor_b': lambda t, d: t ^ d,
            'inc_u': lambda t, d: 0 if t >= d else t + 1, 'dec_u': lambda t, d: d if t == 0 or t > d else t - 1}


def edges(n):
    """(old values, operands) for atomics: equal, zero and the largest among them."""
    M = (1 << n) - 1
    old = [r.bits(n) for _ in range(LANES)]
    data = [r.bits(n) for _ in range(LANES)]
    for l, (t, d) in enumerate(((0, 0), (0, 5), (5, 0), (7, 7), (M, M), (M, 1), (1, M), (1 << n - 1, 1 << n - 1), ((1 << n - 1) - 1, 1 << n - 1), (8, 7), (7, 8))):
        old[l], data[l] = t, d
    return old, data


def split(column, n):
    return [column] if n == 32 else [[x & M32 for x in column], [x >> 32 for x in column]]


def lds_atomic(name, n, model, old, data, text, rtn, second=None, how='x', targets=ALL, returns_only=False):
    """An atomic on words 0 (and 1) of the lane's LDS, operand in words 2, a second in 4."""
    w = n // 32
    after = [model(*v) for v in zip(old, data, *([second] if second else []))]
    for form in (text, rtn):
        if form is None or (form is text and returns_only):
            continue
        case = Case(name, lds=4096, targets=targets)
        columns = split(old, n) + ([[0] * LANES] if w == 1 else []) + split(data, n) + ([[0] * LANES] if w == 1 else []) + (split(second, n) if second else [])
        for k, c in enumerate(columns):
            case.word(c, k)
        case.pre(f'ds_write_b{n} v1, {reg(16, w)}')
        case.pre('wait_all')
        operands = f'v1, {reg(18, w)}' + (f', {reg(20, w)}' if second else '')
        line = case.asm(f'{form} {reg(34, w) + ", " if form is rtn else ""}{operands}')
        case.post('wait_all')
        case.post(f'ds_read_b{n} {reg(32, w)}, v1')
        for k in range(w):
            if how == 'd':
                break
            case.out(k, how, split(after, n)[k], line)
            if form is rtn:
                case.out(2 + k, 'x', split(old, n)[k], line)
        if how == 'd':
            case.out(0, 'd', after, line)
            if form is rtn:
                case.out(2, 'd', old, line)


def lds_atomics():
    for n in (32, 64):
        old, data = edges(n)
        for name, model in integer_atomics(n).items():
            full = f'{name}{n}'
            op_, t = name.split('_')
            lds_atomic(f'ds_{full}', n, model, old, data, f'ds_{full}', f'ds_{op_}_rtn_{t}{n}')
        lds_atomic(f'ds_rsub_u{n}', n, lambda t, d, n=n: d - t & (1 << n) - 1, old, data, f'ds_rsub_u{n}', f'ds_rsub_rtn_u{n}')
        second = [r.bits(n) for _ in range(LANES)]
        lds_atomic(f'ds_mskor_b{n}', n, lambda t, d, e: t & ~d | e, old, data, f'ds_mskor_b{n}', f'ds_mskor_rtn_b{n}', second)
        lds_atomic(f'ds_storexchg_b{n}', n, lambda t, d: d, old, data, None, f'ds_wrxchg_rtn_b{n}')
        equal = [t if l % 2 else d for l, (t, d) in enumerate(zip(old, data))]
        # The compare value is the first operand before gfx11 and the second from it on.
        lds_atomic(f'ds_cmpst_b{n}', n, lambda t, c, v: v if t == c else t, old, equal, f'ds_cmpst_b{n}', f'ds_cmpst_rtn_b{n}', second, targets=GFX9 | GFX1030)
        lds_atomic(f'ds_cmpstore_b{n}', n, lambda t, v, c: v if t == c else t, old, second, f'ds_cmpstore_b{n}', f'ds_cmpstore_rtn_b{n}', equal, targets=GFX11UP)
    old, data = edges(32)
    lds_atomic('ds_wrap_rtn_b32', 32, lambda t, d, e: (t - d if t >= d else t + e) & M32, old, data, None, 'ds_wrap_rtn_b32', [r.bits(32) for _ in range(LANES)], targets=BELOW12)
    lds_atomic('ds_cond_sub_u32', 32, lambda t, d: t - d if t >= d else t, old, data, 'ds_cond_sub_u32', 'ds_cond_sub_rtn_u32', targets=GFX1201)
    lds_atomic('ds_sub_clamp_u32', 32, lambda t, d: max(0, t - d), old, data, 'ds_sub_clamp_u32', 'ds_sub_clamp_rtn_u32', targets=GFX1201)
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
    lds_atomic('ds_add_f64', 64, lambda t, d: add(F64, t, d), *TAME64, 'ds_add_f64', 'ds_add_rtn_f64', how='d', targets=GFX9)
    a, b = pack(*tame16(F16, 2)), pack(*tame16(F16, 2))
    lds_atomic('ds_pk_add_f16', 32, packed_add(F16), a, b, 'ds_pk_add_f16', 'ds_pk_add_rtn_f16', how='p')
    a, b = pack(*tame16(BF16, 2)), pack(*tame16(BF16, 2))
    lds_atomic('ds_pk_add_bf16', 32, packed_add(BF16), a, b, 'ds_pk_add_bf16', 'ds_pk_add_rtn_bf16', how='q')
    a, b = TAME[2:4]
    c = [t if l % 2 else x for l, (t, x) in enumerate(zip(a, b))]
    lds_atomic('ds_cmpst_f32', 32, lambda t, p, v: v if t == p else t, a, c, 'ds_cmpst_f32', 'ds_cmpst_rtn_f32', b, targets=GFX9 | GFX1030)
    lds_atomic('ds_cmpstore_f32', 32, lambda t, v, p: v if t == p else t, a, b, 'ds_cmpstore_f32', 'ds_cmpstore_rtn_f32', c, targets=GFX1100)
    a, b = TAME64
    c = [t if l % 2 else x for l, (t, x) in enumerate(zip(a, b))]
    lds_atomic('ds_cmpst_f64', 64, lambda t, p, v: v if t == p else t, a, c, 'ds_cmpst_f64', 'ds_cmpst_rtn_f64', b, targets=GFX9 | GFX1030)
    lds_atomic('ds_cmpstore_f64', 64, lambda t, v, p: v if t == p else t, a, b, 'ds_cmpstore_f64', 'ds_cmpstore_rtn_f64', c, targets=GFX1100)
    old, data = edges(64)
    half = lambda t, d: d & M32 >> 1 if d >> 31 else t
    lds_atomic('ds_condxchg32_rtn_b64', 64, lambda t, d: half(t & M32, d & M32) | half(t >> 32, d >> 32) << 32, old, data, None, 'ds_condxchg32_rtn_b64')
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


def tame16(f, n):
    return [[float_random(f, r, 4) for _ in range(LANES)] for _ in range(n)]


def packed_add(f):
    return lambda t, d: add(f, t & M16, d & M16) | add(f, t >> 16, d >> 16) << 16


def lds_cross():
    active_sets = ([1] * LANES, [1 if l % 5 and l % 11 != 6 else 0 for l in range(LANES)])
    for targets, wave in ((GFX9, 64), (GFX10UP, 32)):
        for active in active_sets:
            where = [(l * 37 + 11) * 4 + l % 4 & 0x1ff for l in range(LANES)]
            case = Case('ds_permute_b32', targets=targets)
            case.word(where)
            case.word(B32)
            case.word(active, 13)
            case.pre('v_cmp_ne_u32_e64 $m20, 0, v29')
            case.pre('s_mov_b$B $exec, $m20')
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
    case.pre('v_cmp_ne_u32_e64 $m20, 0, v29')
    case.pre('s_mov_b$B $exec, $m20')
    line = case.asm('ds_bpermute_b32 v32, v16, v17')
    case.out(0, 'x', [B32[s] if a else f for s, a, f in zip(reads, active, FILL)], line)
    case = Case('ds_swizzle_b32')
    case.word(B32)

    def masked(a, o, x):
        return [B32[l - l % 32 + ((l % 32 & a | o) ^ x)] for l in range(LANES)]
    for k, (text, column) in enumerate((
            ('offset:swizzle(QUAD_PERM,3,0,2,1)', [B32[l - l % 4 + (3, 0, 2, 1)[l % 4]] for l in range(LANES)]),
            ('offset:swizzle(SWAP,16)', masked(31, 0, 16)), ('offset:swizzle(REVERSE,8)', masked(31, 0, 7)),
            ('offset:swizzle(BROADCAST,4,2)', masked(0x1c, 2, 0)), (f'offset:{0x1f | 0 << 5 | 0x15 << 10:#x}', masked(31, 0, 0x15)),
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
    for name, n, sign in (('ubyte', 1, False), ('sbyte', 1, True), ('ushort', 2, False), ('sshort', 2, True), ('dword', 4, False)):
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
    for new, old, n, sign in (('u8', 'ubyte', 1, False), ('i8', 'sbyte', 1, True), ('u16', 'ushort', 2, False), ('i16', 'sshort', 2, True), ('b32', 'dword', 4, False)):
        case = Case(f'buffer_load_lds_{new}', lds=16384)
        put_words(case)
        case.remember({})
        descriptor(case)
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


# ---- global, flat, scratch, buffer ----

def region():
    """The words of all lanes, one after the other."""
    return [OWN[k][l] for l in range(LANES) for k in range(16)]


def after_store(n, skip, offset, source):
    """The columns that change, and what they become."""
    after = stored(n, skip, offset, source)
    return {k: [number(d, 4 * k, 4) for d in after] for k in range(offset // 4, (offset + n + 3) // 4)}


ADDRESS = ('v_add_co_u32 v2, $vcc, s8, v1', 'v_mov_b32 v3, s9')


def spaces():
    """(prefix, setup, address before the data, address after, targets, offset)"""
    return (('global', (), 'v1', 's[8:9]', ALL, True), ('global', ADDRESS, 'v[2:3]', 'off', ALL, True),
            ('flat', ADDRESS, 'v[2:3]', '', ALL, False))


def accesses():
    for prefix, setup, address, base, targets, offsets in spaces():
        tail = ', ' + base if base else ''
        for kind, (n, _) in LOADS.items():
            case = Case(f'{prefix}_load_{kind}', targets=targets)
            put_words(case)
            case.remember({})
            for t in setup:
                case.pre(t)
            choices = (0, {1: 41, 2: 42, 4: 44, 8: 40, 12: 20, 16: 48}[n]) if offsets else (0,)
            for offset in choices:
                if n == 8 and case.next_out % 2:
                    case.next_out += 1
                at = case.next_out = (case.next_out + 3) // 4 * 4 if n >= 12 else case.next_out
                line = case.asm(f'{prefix}_load_{OLD[kind]} {reg(32 + at, (n + 3) // 4)}, {address}{tail}{f" offset:{offset}" if offset else ""}')
                expect_load(case, line, kind, at, offset)
            case.asm('wait_all')
        for kind in D16:
            case = Case(f'{prefix}_load_{kind}', targets=targets)
            put_words(case)
            case.remember({})
            for t in setup:
                case.pre(t)
            for at, offset in enumerate((0, 22) if offsets else (0,)):
                line = case.asm(f'{prefix}_load_{OLD_D16[kind]} v{32 + at}, {address}{tail}{f" offset:{offset}" if offset else ""}')
                expect_load(case, line, kind, at, offset)
            case.asm('wait_all')
        for kind, (n, skip) in STORES.items():
            case = Case(f'{prefix}_store_{kind}', targets=targets)
            put_words(case)
            offset = {1: 37, 2: 38, 4: 36, 8: 40, 12: 44, 16: 48}[n] if offsets else 0
            case.remember(after_store(n, skip, offset, 4))
            for t in setup:
                case.pre(t)
            case.asm(f'{prefix}_store_{OLD_STORES[kind]} {address}, {reg(20, (n + 3) // 4)}{tail}{f" offset:{offset}" if offset else ""}')
    # Offsets below the address, and a scalar base with the largest.
    case = Case('global_load_b32')
    put_words(case)
    case.remember({})
    case.pre('v_add_co_u32 v2, $vcc, s8, v1')
    case.pre('v_add_co_u32 v2, $vcc, 60, v2')
    case.pre('v_mov_b32 v3, s9')
    line = case.asm('global_load_dword v32, v[2:3], off offset:-56')
    expect_load(case, line, 'b32', 0, 4)
    case.pre('v_min_u32 v4, 0x800, v1')
    line = case.asm('global_load_dword v33, v4, s[8:9] offset:2044')
    case.asm('wait_all')
    case.out(1, 'x', [region()[(min(0x800, 64 * l) + 2044) // 4] for l in range(LANES)], line)
    # A partial EXEC loads and stores nothing elsewhere.
    case = Case('global_store_b32')
    put_words(case)
    case.word(FLAGS, 13)
    case.remember({3: [OWN[7][l] if FLAGS[l] else OWN[3][l] for l in range(LANES)]})
    case.pre('v_cmp_ne_u32_e64 $m20, 0, v29')
    case.pre('s_mov_b$B $exec, $m20')
    line = case.asm('global_load_dword v32, v1, s[8:9] offset:8')
    case.asm('global_store_dword v1, v23, s[8:9] offset:12')
    case.asm('wait_all')
    case.out(0, 'x', [OWN[2][l] if FLAGS[l] else FILL[l] for l in range(LANES)], line)
    # Flat addresses of LDS and of scratch.
    case = Case('flat_load_b32', lds=4096)
    lds_fill(case)
    case.pre('s_mov_b64 s[20:21], src_shared_base')
    case.pre('v_mov_b32 v3, s21')
    case.pre('v_mov_b32 v2, v1')
    line = case.asm('flat_load_dword v32, v[2:3]')
    case.asm('wait_all')
    case.asm('flat_store_dword v[2:3], v23')
    case.asm('wait_all')
    case.post('ds_read_b32 v33, v1')
    case.out(0, 'x', OWN[0], line)
    case.out(1, 'x', OWN[7], line)
    scratch()
    buffers()
    buffer_to_lds()


def scratch():
    """64 bytes of each lane. With a register for the address, with a scalar one, with neither."""
    forms = (('v2', 'off', ALL), ('off', 's20', ALL), ('off', 'off', GFX942 | GFX10UP))
    for vector, scalar, targets in forms:
        for kind, (n, skip) in STORES.items():
            load = {'b8': 'u8', 'b16': 'u16', 'd16_hi_b8': 'i8', 'd16_hi_b16': 'i16'}.get(kind, kind)
            case = Case(f'scratch_store_{kind}', targets=targets, scratch=64)
            put_words(case)
            case.pre('v_mov_b32 v2, 16')
            case.pre('s_mov_b32 s20, 16')
            base = 16 if (vector, scalar) != ('off', 'off') else 0
            case.asm(f'scratch_store_{OLD_STORES[kind]} {vector}, {reg(20, (n + 3) // 4)}, {scalar} offset:{24 if n != 16 and n != 12 else 32}')
            case.asm('wait_all')
            at = f'{vector}, {scalar} offset:{24 if n != 16 and n != 12 else 32}'
            line = case.asm(f'scratch_load_{OLD[load]} {reg(32, (n + 3) // 4)}, {at}')
            case.asm('wait_all')
            m, sign = LOADS[load]
            for k in range((m + 3) // 4):
                case.out(k, 'x', [number(own_bytes(l), 16 + skip + 4 * k, min(m, 4), sign) & M32 for l in range(LANES)], line)
    for kind in D16:
        n, sign, hi = D16[kind]
        case = Case(f'scratch_load_{kind}', scratch=64)
        put_words(case)
        case.pre('v_mov_b32 v2, 16')
        case.pre('scratch_store_dwordx4 v2, v[16:19], off offset:16')
        case.pre('wait_all')
        line = case.asm(f'scratch_load_{OLD_D16[kind]} v32, v2, off offset:18')
        case.asm('wait_all')
        expect_load(case, line, kind, 0, 2)


# A buffer of 4096 bytes at s[8:9], addressed by bytes; the last word's format and bounds as each generation has them.
def descriptor(case, nbytes=4096):
    case.pre('s_mov_b32 s20, s8')
    case.pre('s_mov_b32 s21, s9')
    case.pre(f's_movk_i32 s22, {nbytes:#x}')
    case.pre('s_mov_b32 s23, 0x27000', GFX9)
    case.pre('s_mov_b32 s23, 0x31016000', GFX1030)
    case.pre('s_mov_b32 s23, 0x31004000', GFX11UP)
    case.pre('s_mov_b32 s24, 8')


def buffers():
    for kind, (n, _) in LOADS.items():
        case = Case(f'buffer_load_{kind}')
        put_words(case)
        case.remember({})
        descriptor(case)
        for targets, none in ((BELOW12, '0'), (GFX1201, 'null')):
            line = case.asm(f'buffer_load_{OLD[kind]} {reg(32, (n + 3) // 4)}, v1, s[20:23], {none} offen offset:16', targets)
            expect_load(case, line, kind, 0, 16)
        line = case.asm(f'buffer_load_{OLD[kind]} {reg(36, (n + 3) // 4)}, v1, s[20:23], s24 offen offset:4')
        expect_load(case, line, kind, 4, 12)
        case.asm('wait_all')
        # Beyond the end of the buffer: zeros.
        case = Case(f'buffer_load_{kind}')
        put_words(case)
        case.remember({})
        descriptor(case, 2048)
        for targets, none in ((BELOW12, '0'), (GFX1201, 'null')):
            line = case.asm(f'buffer_load_{OLD[kind]} {reg(32, (n + 3) // 4)}, v1, s[20:23], {none} offen', targets)
            expect_load(case, line, kind, 0, 0, range(32, 64))
        case.asm('wait_all')
    for kind in D16:
        case = Case(f'buffer_load_{kind}')
        put_words(case)
        case.remember({})
        descriptor(case)
        line = case.asm(f'buffer_load_{OLD_D16[kind]} v32, v1, s[20:23], s24 offen offset:2')
        case.asm('wait_all')
        expect_load(case, line, kind, 0, 10)
    for kind, (n, skip) in STORES.items():
        case = Case(f'buffer_store_{kind}')
        put_words(case)
        case.remember(after_store(n, skip, 12, 4))
        descriptor(case)
        case.asm(f'buffer_store_{OLD_STORES[kind]} {reg(20, (n + 3) // 4)}, v1, s[20:23], s24 offen offset:4')
    # Nothing is stored beyond the end, and one without a register for the offset goes to one place.
    case = Case('buffer_store_b32')
    put_words(case)
    case.remember({0: [OWN[4][l] if l < 32 else OWN[0][l] for l in range(LANES)]})
    descriptor(case, 2048)
    for targets, none in ((BELOW12, '0'), (GFX1201, 'null')):
        case.asm(f'buffer_store_dword v20, v1, s[20:23], {none} offen', targets)
    case = Case('buffer_load_b32')
    put_words(case)
    case.remember({})
    descriptor(case)
    for targets, none in ((BELOW12, '0'), (GFX1201, 'null')):
        line = case.asm(f'buffer_load_dword v32, off, s[20:23], {none} offset:132', targets)
        case.out(0, 'x', [region()[33]] * LANES, line)
    case.asm('wait_all')


def atomic_case(name, text, n, model, old, data, second=None, how='x', targets=ALL, prefix='global', w_data=None):
    w = n // 32
    after = [model(*v) for v in zip(old, data, *([second] if second else []))]
    for returns in (False, True):
        case = Case(f'{prefix}_{name}', targets=targets)
        for k, c in enumerate(split(data, n) + (split(second, n) if second else [])):
            case.word(c, k)
        case.remember({2 + k: c for k, c in enumerate(split(after, n))}, {2 + k: c for k, c in enumerate(split(old, n))})
        if prefix == 'flat':
            for t in ADDRESS:
                case.pre(t)
            case.pre('v_add_co_u32 v2, $vcc, 8, v2')
        if prefix == 'buffer':
            descriptor(case)
        operands = reg(16, w * (2 if second else 1))
        for ts, tail in RETURNS:
            if not returns:
                ts, tail = ALL, ''
            d = reg(32, w) + ', ' if returns else ''
            if prefix == 'global':
                line = case.asm(f'global_{text} {d}v1, {operands}, s[8:9] offset:8{tail}', ts)
            elif prefix == 'flat':
                line = case.asm(f'flat_{text} {d}v[2:3], {operands}{tail}', ts)
            else:
                # The operand's register takes the old value.
                line = case.asm(f'buffer_{text} {operands}, v1, s[20:23], s24 offen{tail}', ts)
            if returns:
                if prefix == 'buffer':
                    for k in range(w):
                        case.post(f'v_mov_b32 v{32 + k}, v{16 + k}', ts)
                for k in range(w):
                    case.out(k, 'x', split(old, n)[k], line)
            else:
                break
        case.asm('wait_all')


def atomics():
    for prefix in ('global', 'flat', 'buffer'):
        for n, x in ((32, ''), (64, '_x2')):
            old, data = edges(n)
            names = {'add_u': 'add', 'sub_u': 'sub', 'min_i': 'smin', 'max_i': 'smax', 'min_u': 'umin', 'max_u': 'umax', 'and_b': 'and', 'or_b': 'or',
                     'xor_b': 'xor', 'inc_u': 'inc', 'dec_u': 'dec'}
            for name, model in integer_atomics(n).items():
                atomic_case(f'atomic_{name}{n}', f'atomic_{names[name]}{x}', n, model, old, data, prefix=prefix)
            atomic_case(f'atomic_swap_b{n}', f'atomic_swap{x}', n, lambda t, d: d, old, data, prefix=prefix)
            compare = [t if l % 2 else d for l, (t, d) in enumerate(zip(old, data))]
            atomic_case(f'atomic_cmpswap_b{n}', f'atomic_cmpswap{x}', n, lambda t, d, c: d if t == c else t, old, data, compare, prefix=prefix)
        old, data = edges(32)
        atomic_case('atomic_cond_sub_u32', 'atomic_cond_sub_u32', 32, lambda t, d: t - d if t >= d else t, old, data, targets=GFX1201, prefix=prefix)
        atomic_case('atomic_sub_clamp_u32', 'atomic_sub_clamp_u32', 32, lambda t, d: max(0, t - d), old, data, targets=GFX1201, prefix=prefix)
        atomic_case('atomic_csub', 'atomic_csub', 32, lambda t, d: max(0, t - d), old, data, targets=GFX10_11, prefix=prefix)
        a, b = TAME[:2]
        atomic_case('atomic_add_f32', 'atomic_add_f32', 32, lambda t, d: add(F32, t, d), a, b, prefix=prefix)
        b = [v if l % 5 else a[l] for l, v in enumerate(b)]
        for big, old_name, new in ((False, 'fmin', 'min_num_f32'), (True, 'fmax', 'max_num_f32')):
            model = lambda t, d, g=big: minmax(F32, d, t, g, 12)
            atomic_case(f'atomic_{old_name}', f'atomic_{old_name}', 32, model, a, b, targets=GFX10_11, prefix=prefix)
            atomic_case(f'atomic_{new}', f'atomic_{new}', 32, model, a, b, targets=GFX1201, prefix=prefix)
            model = lambda t, d, g=big: minmax(F64, d, t, g, 12)
            atomic_case(f'atomic_{old_name}_x2', f'atomic_{old_name}_x2', 64, model, *TAME64, targets=GFX1030, prefix=prefix)
            short = old_name[1:]
            atomic_case(f'atomic_{short}_f64', f'atomic_{short}_f64', 64, model, *TAME64, targets=GFX9, prefix=prefix)
        atomic_case('atomic_add_f64', 'atomic_add_f64', 64, lambda t, d: add(F64, t, d), *TAME64, targets=GFX9, prefix=prefix)
        c = [t if l % 2 else d for l, (t, d) in enumerate(zip(a, b))]
        atomic_case('atomic_fcmpswap', 'atomic_fcmpswap', 32, lambda t, d, k: d if t == k else t, a, b, c, targets=GFX10_11, prefix=prefix)
        c = [t if l % 2 else d for l, (t, d) in enumerate(zip(*TAME64))]
        atomic_case('atomic_fcmpswap_x2', 'atomic_fcmpswap_x2', 64, lambda t, d, k: d if t == k else t, *TAME64, c, targets=GFX1030, prefix=prefix)
        for f, name in ((F16, 'f16'), (BF16, 'bf16')):
            a, b = pack(*tame16(f, 2)), pack(*tame16(f, 2))
            atomic_case(f'atomic_pk_add_{name}', f'atomic_pk_add_{name}', 32, packed_add(f), a, b, prefix=prefix)
    # Many lanes on one word, one after the other: only the sum is sure.
    case = Case('global_atomic_add_u32')
    case.word([l + 1 for l in range(LANES)])
    case.remember({1: [7 + sum(range(1, LANES + 1))] + [0] * (LANES - 1)}, {1: [7] + [0] * (LANES - 1)})
    case.pre('v_mov_b32 v2, 0')
    case.asm('global_atomic_add v2, v16, s[8:9] offset:4')


def scalar_loads():
    words_ = region()
    for n, name in ((1, 'dword'), (2, 'dwordx2'), (4, 'dwordx4'), (8, 'dwordx8'), (16, 'dwordx16')):
        for prefix, base, setup in (('s_load', 's[8:9]', None), ('s_buffer_load', 's[20:23]', descriptor)):
            case = Case(f'{prefix}_b{32 * n}')
            put_words(case)
            case.remember({})
            if setup:
                setup(case)
            case.pre('s_movk_i32 s26, 0x340')
            d = f's{48}' if n == 1 else f's[48:{47 + n}]'
            line = case.asm(f'{prefix}_{name} {d}, {base}, 0x80')
            case.asm('wait_all')
            second = n <= 8
            if second:
                d = f's{64}' if n == 1 else f's[64:{63 + n}]'
                line2 = case.asm(f'{prefix}_{name} {d}, {base}, s26')
                case.asm('wait_all')
            for k in range(min(n, 16 if not second else 8)):
                case.post(f'v_mov_b32 v{32 + k}, s{48 + k}')
                case.out(k, 'x', [words_[32 + k]] * LANES, line)
            for k in range(n if second else 0):
                case.post(f'v_mov_b32 v{40 + k}, s{64 + k}')
                case.out(8 + k, 'x', [words_[0x340 // 4 + k]] * LANES, line2)
    for prefix, base, setup in (('s_load', 's[8:9]', None), ('s_buffer_load', 's[20:23]', descriptor)):
        case = Case(f'{prefix}_b96', targets=GFX1201)
        put_words(case)
        case.remember({})
        if setup:
            setup(case)
        line = case.asm(f'{prefix}_b96 s[48:50], {base}, 0x80')
        data = b''.join(w.to_bytes(4, 'little') for w in words_)
        for k, (kind, n, sign) in enumerate((('u8', 1, False), ('i8', 1, True), ('u16', 2, False), ('i16', 2, True))):
            case.asm(f'{prefix}_{kind} s{52 + k}, {base}, {0x82 + 2 * k:#x}')
            case.post(f'v_mov_b32 v{35 + k}, s{52 + k}')
            case.out(3 + k, 'x', [number(data, 0x82 + 2 * k, n, sign) & M32] * LANES, line)
        case.asm('wait_all')
        for k in range(3):
            case.post(f'v_mov_b32 v{32 + k}, s{48 + k}')
            case.out(k, 'x', [words_[32 + k]] * LANES, line)


def all_cases():
    lds()
    lds_atomics()
    lds_cross()
    accesses()
    atomics()
    scalar_loads()
