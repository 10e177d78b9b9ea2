"""Memory: global, flat, scratch and buffer accesses, atomics, scalar loads; and what lds.py shares of them."""
from emit import (ALL, BELOW12, FILL, GFX9, GFX10_11, GFX10UP, GFX942, GFX1030, GFX1151, GFX1201, LANES,
                  Case)
from floats import BF16, F16, F32, F64, add
from pools import *
from valu import minmax
from vector import M16, M32, signed

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


LOADS = {'u8': (1, False), 'i8': (1, True), 'u16': (2, False), 'i16': (2, True), 'b32': (4, False), 'b64': (8, False),
         'b96': (12, False), 'b128': (16, False)}
OLD = {'u8': 'ubyte', 'i8': 'sbyte', 'u16': 'ushort', 'i16': 'sshort', 'b32': 'dword', 'b64': 'dwordx2',
       'b96': 'dwordx3', 'b128': 'dwordx4'}
D16 = {'d16_u8': (1, False, 0), 'd16_i8': (1, True, 0), 'd16_b16': (2, False, 0), 'd16_hi_u8': (1, False, 1),
       'd16_hi_i8': (1, True, 1), 'd16_hi_b16': (2, False, 1)}
OLD_D16 = {'d16_u8': 'ubyte_d16', 'd16_i8': 'sbyte_d16', 'd16_b16': 'short_d16', 'd16_hi_u8': 'ubyte_d16_hi',
           'd16_hi_i8': 'sbyte_d16_hi', 'd16_hi_b16': 'short_d16_hi'}
STORES = {'b8': (1, 0), 'b16': (2, 0), 'b32': (4, 0), 'b64': (8, 0), 'b96': (12, 0), 'b128': (16, 0), 'd16_hi_b8': (1,
        2), 'd16_hi_b16': (2, 2)}
OLD_STORES = {'b8': 'byte', 'b16': 'short', 'b32': 'dword', 'b64': 'dwordx2', 'b96': 'dwordx3', 'b128': 'dwordx4',
              'd16_hi_b8': 'byte_d16_hi', 'd16_hi_b16': 'short_d16_hi'}


def reg(at, n):
    return f'v{at}' if n == 1 else f'v[{at}:{at + n - 1}]'


def put_words(case, words=OWN):
    for k in range(15):
        case.word(words[k], k)


def expect_load(case, line, kind, at, offset, zero=()):
    """A load of `kind` from byte `offset` of each lane's words; the lanes in `zero` are beyond a buffer's end. 16 bits
    go to half of a register: gfx9 clears the other half, later ones keep it."""
    if kind in D16:
        n, sign, hi = D16[kind]
        values = [0 if l in zero else number(own_bytes(l), offset, n, sign) & M16 for l in range(LANES)]
        for targets, fill in ((GFX9, [0] * LANES), (GFX10UP | GFX1151, FILL)):
            case.out(at, 'x', [(f & M16 | v << 16) if hi else f & 0xffff0000 | v for f, v in zip(fill, values)], line,
                     targets)
        return
    n, sign = LOADS[kind]
    for k in range((n + 3) // 4):
        case.out(at + k, 'x', [0 if l in zero else number(own_bytes(l), offset + 4 * k, min(n, 4), sign) & M32
                               for l in range(LANES)], line)


def stored(n, skip, offset, source=0):
    """Each lane's words after its n bytes from word `source` on, skipping some, went to `offset`."""
    out = []
    for l in range(LANES):
        d = own_bytes(l)
        data = d[4 * source + skip:4 * source + skip + n]
        out.append(d[:offset] + data + d[offset + n:])
    return out


def integer_atomics(n):
    M = (1 << n) - 1
    s = lambda x: signed(x, n)
    return {'add_u': lambda t, d: t + d & M, 'sub_u': lambda t, d: t - d & M, 'min_i': lambda t, d: min(t, d, key=s),
            'max_i': lambda t, d: max(t, d, key=s),
            'min_u': min, 'max_u': max, 'and_b': lambda t, d: t & d, 'or_b': lambda t, d: t | d, 'xor_b': lambda t,
            d: t ^ d,
            'inc_u': lambda t, d: 0 if t >= d else t + 1, 'dec_u': lambda t, d: d if t == 0 or t > d else t - 1}


def edges(n):
    """(old values, operands) for atomics: equal, zero and the largest among them."""
    M = (1 << n) - 1
    old = [r.bits(n) for _ in range(LANES)]
    data = [r.bits(n) for _ in range(LANES)]
    for l, (t, d) in enumerate(((0, 0), (0, 5), (5, 0), (7, 7), (M, M), (M, 1), (1, M), (1 << n - 1, 1 << n - 1),
                                ((1 << n - 1) - 1, 1 << n - 1), (8, 7), (7, 8))):
        old[l], data[l] = t, d
    return old, data


def split(column, n):
    return [column] if n == 32 else [[x & M32 for x in column], [x >> 32 for x in column]]


def tame16(f, n):
    return [[float_random(f, r, 4) for _ in range(LANES)] for _ in range(n)]


def packed_add(f):
    return lambda t, d: add(f, t & M16, d & M16) | add(f, t >> 16, d >> 16) << 16


# ---- global, flat, scratch, buffer ----

def region():
    """The words of all lanes, one after the other."""
    return [OWN[k][l] for l in range(LANES) for k in range(16)]


def after_store(n, skip, offset, source):
    """The columns that change, and what they become."""
    after = stored(n, skip, offset, source)
    return {k: [number(d, 4 * k, 4) for d in after] for k in range(offset // 4, (offset + n + 3) // 4)}


ADDRESS = ('address',)


def spaces():
    """(prefix, setup, address before the data, address after, targets, offset)"""
    return (('global', (), 'v1', 's[8:9]', ALL, True), ('global', ADDRESS, 'v[2:3]', 'off', ALL, True),
            ('flat', ADDRESS, 'v[2:3]', '', ALL, False))


def plus(offset):
    return f' offset:{offset}' if offset else ''


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
                result = reg(32 + at, (n + 3) // 4)
                line = case.asm(f'{prefix}_load_{OLD[kind]} {result}, {address}{tail}{plus(offset)}')
                expect_load(case, line, kind, at, offset)
            case.asm('wait_all')
        for kind in D16:
            case = Case(f'{prefix}_load_{kind}', targets=targets)
            put_words(case)
            case.remember({})
            for t in setup:
                case.pre(t)
            for at, offset in enumerate((0, 22) if offsets else (0,)):
                line = case.asm(f'{prefix}_load_{OLD_D16[kind]} v{32 + at}, {address}{tail}{plus(offset)}')
                expect_load(case, line, kind, at, offset)
            case.asm('wait_all')
        for kind, (n, skip) in STORES.items():
            case = Case(f'{prefix}_store_{kind}', targets=targets)
            put_words(case)
            offset = {1: 37, 2: 38, 4: 36, 8: 40, 12: 44, 16: 48}[n] if offsets else 0
            case.remember(after_store(n, skip, offset, 4))
            for t in setup:
                case.pre(t)
            case.asm(f'{prefix}_store_{OLD_STORES[kind]} {address}, {reg(20, (n + 3) // 4)}{tail}{plus(offset)}')
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
    case.pre('partial')
    line = case.asm('global_load_dword v32, v1, s[8:9] offset:8')
    case.asm('global_store_dword v1, v23, s[8:9] offset:12')
    case.asm('wait_all')
    case.out(0, 'x', [OWN[2][l] if FLAGS[l] else FILL[l] for l in range(LANES)], line)
    # Flat addresses of LDS and of scratch.
    case = Case('flat_load_b32', lds=4096)
    put_words(case)
    case.pre('lds_fill')
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
            offset = 32 if n >= 12 else 24
            case.asm(f'scratch_store_{OLD_STORES[kind]} {vector}, {reg(20, (n + 3) // 4)}, {scalar} offset:{offset}')
            case.asm('wait_all')
            at = f'{vector}, {scalar} offset:{offset}'
            line = case.asm(f'scratch_load_{OLD[load]} {reg(32, (n + 3) // 4)}, {at}')
            case.asm('wait_all')
            m, sign = LOADS[load]
            for k in range((m + 3) // 4):
                case.out(k, 'x', [number(own_bytes(l), 16 + skip + 4 * k, min(m, 4), sign) & M32 for l in range(LANES)],
                         line)
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


def buffers():
    for kind, (n, _) in LOADS.items():
        case = Case(f'buffer_load_{kind}')
        put_words(case)
        case.remember({})
        case.pre('buffer_of 4096')
        for targets, none in ((BELOW12, '0'), (GFX1201, 'null')):
            line = case.asm(f'buffer_load_{OLD[kind]} {reg(32, (n + 3) // 4)}, v1, s[20:23], {none} offen offset:16',
                            targets)
            expect_load(case, line, kind, 0, 16)
        line = case.asm(f'buffer_load_{OLD[kind]} {reg(36, (n + 3) // 4)}, v1, s[20:23], s24 offen offset:4')
        expect_load(case, line, kind, 4, 12)
        case.asm('wait_all')
        # Beyond the end of the buffer: zeros.
        case = Case(f'buffer_load_{kind}')
        put_words(case)
        case.remember({})
        case.pre('buffer_of 2048')
        for targets, none in ((BELOW12, '0'), (GFX1201, 'null')):
            line = case.asm(f'buffer_load_{OLD[kind]} {reg(32, (n + 3) // 4)}, v1, s[20:23], {none} offen', targets)
            expect_load(case, line, kind, 0, 0, range(32, 64))
        case.asm('wait_all')
    for kind in D16:
        case = Case(f'buffer_load_{kind}')
        put_words(case)
        case.remember({})
        case.pre('buffer_of 4096')
        line = case.asm(f'buffer_load_{OLD_D16[kind]} v32, v1, s[20:23], s24 offen offset:2')
        case.asm('wait_all')
        expect_load(case, line, kind, 0, 10)
        case = Case(f'buffer_load_{kind}')
        put_words(case)
        case.remember({})
        case.pre('buffer_of 2048')
        line = case.asm(f'buffer_load_{OLD_D16[kind]} v32, v1, s[20:23], s24 offen offset:2')
        case.asm('wait_all')
        expect_load(case, line, kind, 0, 10, range(32, 64))
    for kind, (n, skip) in STORES.items():
        case = Case(f'buffer_store_{kind}')
        put_words(case)
        case.remember(after_store(n, skip, 12, 4))
        case.pre('buffer_of 4096')
        case.asm(f'buffer_store_{OLD_STORES[kind]} {reg(20, (n + 3) // 4)}, v1, s[20:23], s24 offen offset:4')
    # Nothing is stored beyond the end, and one without a register for the offset goes to one place.
    case = Case('buffer_store_b32')
    put_words(case)
    case.remember({0: [OWN[4][l] if l < 32 else OWN[0][l] for l in range(LANES)]})
    case.pre('buffer_of 2048')
    for targets, none in ((BELOW12, '0'), (GFX1201, 'null')):
        case.asm(f'buffer_store_dword v20, v1, s[20:23], {none} offen', targets)
    case = Case('buffer_load_b32')
    put_words(case)
    case.remember({})
    case.pre('buffer_of 4096')
    for targets, none in ((BELOW12, '0'), (GFX1201, 'null')):
        line = case.asm(f'buffer_load_dword v32, off, s[20:23], {none} offset:132', targets)
        case.out(0, 'x', [region()[33]] * LANES, line)
    case.asm('wait_all')


def atomic_case(name, text, n, model, old, data, second=None, targets=ALL, prefix='global'):
    """An atomic without a result on words 2 and 3 of each lane's memory, and one with it on words 4 and 5."""
    w = n // 32
    after = [model(*v) for v in zip(old, data, *([second] if second else []))]
    case = Case(f'{prefix}_{name}', targets=targets)
    for k, c in enumerate(split(data, n) + (split(second, n) if second else [])):
        case.word(c, k)
    both = lambda values: {at + k: c for at in (2, 4) for k, c in enumerate(split(values, n))}
    case.remember(both(after), both(old))
    if prefix == 'flat':
        case.pre('address')
        case.pre('v_add_co_u32 v4, $vcc, 16, v2')
        case.pre('v_add_co_u32 v2, $vcc, 8, v2')
        case.pre('v_mov_b32 v5, v3')
    if prefix == 'buffer':
        case.pre('buffer_of 4096')
    words = w * (2 if second else 1)
    operands = reg(16, words)
    if prefix == 'buffer':
        # The operand's register takes the old value.
        for k in range(words):
            case.pre(f'v_mov_b32 v{32 + k}, v{16 + k}')
    plain, returning = {'global': (f'global_{text} v1, {operands}, s[8:9] offset:8',
                                   f'global_{text} {reg(32, w)}, v1, {operands}, s[8:9] offset:16'),
                        'flat': (f'flat_{text} v[2:3], {operands}', f'flat_{text} {reg(32, w)}, v[4:5], {operands}'),
                        'buffer': (f'buffer_{text} {operands}, v1, s[20:23], s24 offen',
                                   f'buffer_{text} {reg(32, words)}, v1, s[20:23], s24 offen offset:8')}[prefix]
    case.asm(plain)
    for returns, tail in RETURNS:
        line = case.asm(returning + tail, returns)
        for k in range(w):
            case.out(k, 'x', split(old, n)[k], line)
    case.asm('wait_all')


def atomics():
    for prefix in ('global', 'flat', 'buffer'):
        for n, x in ((32, ''), (64, '_x2')):
            old, data = edges(n)
            names = {'add_u': 'add', 'sub_u': 'sub', 'min_i': 'smin', 'max_i': 'smax', 'min_u': 'umin', 'max_u': 'umax',
                     'and_b': 'and', 'or_b': 'or',
                     'xor_b': 'xor', 'inc_u': 'inc', 'dec_u': 'dec'}
            for name, model in integer_atomics(n).items():
                atomic_case(f'atomic_{name}{n}', f'atomic_{names[name]}{x}', n, model, old, data, prefix=prefix)
            atomic_case(f'atomic_swap_b{n}', f'atomic_swap{x}', n, lambda t, d: d, old, data, prefix=prefix)
            compare = [t if l % 2 else d for l, (t, d) in enumerate(zip(old, data))]
            atomic_case(f'atomic_cmpswap_b{n}', f'atomic_cmpswap{x}', n, lambda t, d, c: d if t == c else t, old, data,
                        compare, prefix=prefix)
        old, data = edges(32)
        atomic_case('atomic_cond_sub_u32', 'atomic_cond_sub_u32', 32, lambda t, d: t - d if t >= d else t, old, data,
                    targets=GFX1201, prefix=prefix)
        atomic_case('atomic_sub_clamp_u32', 'atomic_sub_clamp_u32', 32, lambda t, d: max(0, t - d), old, data,
                    targets=GFX1201, prefix=prefix)
        if prefix != 'flat':
            atomic_case('atomic_csub', 'atomic_csub', 32, lambda t, d: max(0, t - d), old, data, targets=GFX10_11,
                        prefix=prefix)
        a, b = TAME[:2]
        atomic_case('atomic_add_f32', 'atomic_add_f32', 32, lambda t, d: add(F32, t, d), a, b, prefix=prefix)
        b = [v if l % 5 else a[l] for l, v in enumerate(b)]
        for big, old_name, new in ((False, 'fmin', 'min_num_f32'), (True, 'fmax', 'max_num_f32')):
            model = lambda t, d, g=big: minmax(F32, d, t, g, 12)
            atomic_case(f'atomic_{old_name}', f'atomic_{old_name}', 32, model, a, b, targets=GFX10_11, prefix=prefix)
            atomic_case(f'atomic_{new}', f'atomic_{new}', 32, model, a, b, targets=GFX1201, prefix=prefix)
            model = lambda t, d, g=big: minmax(F64, d, t, g, 12)
            atomic_case(f'atomic_{old_name}_x2', f'atomic_{old_name}_x2', 64, model, *TAME64, targets=GFX1030,
                        prefix=prefix)
            short = old_name[1:]
            atomic_case(f'atomic_{short}_f64', f'atomic_{short}_f64', 64, model, *TAME64, targets=GFX9, prefix=prefix)
        atomic_case('atomic_add_f64', 'atomic_add_f64', 64, lambda t, d: add(F64, t, d), *TAME64, targets=GFX9,
                    prefix=prefix)
        c = [t if l % 2 else d for l, (t, d) in enumerate(zip(a, b))]
        atomic_case('atomic_fcmpswap', 'atomic_fcmpswap', 32, lambda t, d, k: d if t == k else t, a, b, c,
                    targets=GFX10_11, prefix=prefix)
        c = [t if l % 2 else d for l, (t, d) in enumerate(zip(*TAME64))]
        atomic_case('atomic_fcmpswap_x2', 'atomic_fcmpswap_x2', 64, lambda t, d, k: d if t == k else t, *TAME64, c,
                    targets=GFX1030, prefix=prefix)
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
        for prefix, base, setup in (('s_load', 's[8:9]', None), ('s_buffer_load', 's[20:23]', 'buffer_of 4096')):
            case = Case(f'{prefix}_b{32 * n}')
            put_words(case)
            case.remember({})
            if setup:
                case.pre(setup)
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
    for prefix, base, setup in (('s_load', 's[8:9]', None), ('s_buffer_load', 's[20:23]', 'buffer_of 4096')):
        case = Case(f'{prefix}_b96', targets=GFX1201)
        put_words(case)
        case.remember({})
        if setup:
            case.pre(setup)
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
    accesses()
    atomics()
    scalar_loads()
