"""Cases of vector instructions: their operands, what they expect, and the form of each target."""
from emit import ALL, FILL, GFX9, GFX10UP, LANES, Case
from floats import BF16, F16, F32, F64, RDOWN, RUP, RZERO, clamp
from pools import *

M16, M32, M64 = 0xffff, 0xffffffff, (1 << 64) - 1
ROUNDING = ((0xf5, RUP), (0xfa, RDOWN), (0xff, RZERO))
FORMAT = {'f16': F16, 'f32': F32, 'f64': F64, 'p16': F16, 'bf16': BF16}
# 16-bit results on gfx9: these clear the upper half (LLVM's zeroesHigh16BitsOfDest); of the others, only the lower is
# looked at there. From gfx10 on every one keeps the upper half.
ZEROES = set('''v_cvt_f16_f32 v_cvt_f16_u16 v_cvt_f16_i16 v_rcp_f16 v_rsq_f16 v_sqrt_f16 v_log_f16 v_exp_f16 v_sin_f16
v_cos_f16 v_floor_f16 v_ceil_f16 v_trunc_f16 v_rndne_f16 v_fract_f16 v_frexp_mant_f16 v_frexp_exp_i16_f16 v_ldexp_f16
v_lshlrev_b16 v_lshrrev_b16 v_ashrrev_i16 v_add_u16 v_sub_u16 v_subrev_u16 v_mul_lo_u16 v_add_f16 v_sub_f16 v_subrev_f16
v_mul_f16 v_max_f16 v_min_f16 v_max_u16 v_min_u16 v_max_i16 v_min_i16 v_mad_legacy_f16 v_mad_legacy_u16 v_mad_legacy_i16
v_fma_legacy_f16 v_div_fixup_legacy_f16'''.split())
HOW = {'f32': 'f', 'f16': 'h', 'f64': 'd', 'p16': 'p', 'i32': 'x', 'i16': 'x', 'i64': 'y', 'x32': 'x', 'x16': 'x',
       'x64': 'y',
       'xp16': 'x', 'p32': 'z'}


def i32(x):
    return x - (1 << 32) if x & 1 << 31 else x


def i16(x):
    x &= M16
    return x - (1 << 16) if x & 1 << 15 else x


def i64(x):
    return x - (1 << 64) if x & 1 << 63 else x


def signed(x, n):
    x &= (1 << n) - 1
    return x - (1 << n) if x >> n - 1 else x


def reg(at, n):
    return f'v{at}' if n == 1 else f'v[{at}:{at + n - 1}]'


def size(kind):
    return 2 if kind.endswith('64') or kind == 'p32' else 1


def take(case, kinds, columns):
    """Puts operands into the case; their registers."""
    regs = []
    for kind, column in zip(kinds, columns):
        n = size(kind)
        if n == 2:
            case.next_in += case.next_in & 1
            at = case.word([w & M32 for w in column])
            case.word([w >> 32 for w in column])
        else:
            at = case.word(column)
        regs.append((16 + at, n))
    return regs


def low(kind, column):
    return [w & M16 for w in column] if kind in ('f16', 'i16', 'x16', 'bf16') else column


def expect(case, kind, name, column, line, targets=ALL, how=None):
    """The result at the case's next output word."""
    at = case.next_out
    how = how or HOW[kind]
    if kind in ('f16', 'i16', 'x16', 'bf16'):
        if name in ZEROES:
            case.out(at, how, column, line, targets & GFX9)
        else:
            case.out(at, {'h': 'g', 'v': 'k'}.get(how, 'l'), column, line, targets & GFX9)
        case.out(at, how, [c & M16 | f & 0xffff0000 for c, f in zip(column, FILL)], line, targets & GFX10UP)
    elif kind == 'i64' or kind == 'x64' or kind == 'p32':
        case.out(at, 'x' if kind != 'p32' else 'f', [w & M32 for w in column], line, targets)
        case.out(at + 1, 'x' if kind != 'p32' else 'f', [w >> 32 for w in column], line, targets)
    else:
        case.out(at, how, column, line, targets)


def dst_of(case, kind):
    n = size(kind)
    if n == 2 and case.next_out & 1:
        case.next_out += 1
    return case.next_out, reg(32 + case.next_out, n)


def op(name, sig, model, columns, targets=ALL, mods=None, how=None, tail='', mode=0xf0, accumulate=False, opsel=None,
       saturate=None, forms=('',), extra=()):
    """A case of a lane-wise instruction. sig: 'f32:f32,f32'. mods: also the e64 form with neg and abs. opsel: also with
    the upper halves of the operands and of the result. saturate: a model for the form with clamp. accumulate: the last
    operand is the destination's old value."""
    dst, srcs = sig.split(':')
    srcs = srcs.split(',')
    case = Case(name, targets=targets, mode=mode)
    regs = take(case, srcs, columns)
    values = list(zip(*[low(k, c) for k, c in zip(srcs, columns)]))
    shown = regs[:-1] if accumulate else regs

    def emit(form, operands, column, tail_, kind=dst, how_=how, only=ALL):
        at, text = dst_of(case, kind)
        if accumulate:
            last, n = regs[-1]
            for k in range(n):
                case.pre(f'v_mov_b32 v{32 + at + k}, v{last + k}')
        line = case.asm(f'{name}{form} {text}, {", ".join(operands)}{tail_}', only & targets)
        if accumulate and kind in ('f16', 'i16', 'x16'):
            # the upper half is the accumulator's
            hi = columns[-1]
            case.out(at, 'g', column, line, GFX9)
            case.out(at, how_ or HOW[kind], [c & M16 | h & 0xffff0000 for c, h in zip(column, hi)], line, GFX10UP)
        else:
            expect(case, kind, name, column, line, how=how_)

    plain = [reg(*r) for r in shown]
    for form in forms:
        emit(form, plain, [model(*v) for v in values], tail)
    f = FORMAT.get(mods if isinstance(mods, str) else srcs[0])
    if mods:
        def modify(v):
            v = list(v)
            v[0] ^= f.sign
            if len(shown) > 1:
                v[1] &= f.sign - 1
            if len(shown) > 2:
                v[2] = v[2] & (f.sign - 1) | f.sign
            return v
        m = ['-' + plain[0]] + ['|' + plain[1] + '|' if len(plain) > 1 else ''] + ['-|' + p + '|' for p in plain[2:]]
        emit('_e64', m[:len(plain)], [model(*modify(v)) for v in values], tail)
    if saturate:
        emit('_e64' if '_e64' not in forms[0] and not name.startswith('v_pk') else '', plain,
             [saturate(*v) for v in values], tail + ' clamp')
    if opsel:
        n = len(plain)
        high = [tuple(c[l] >> 16 for c in columns) for l in range(LANES)]
        at, text = dst_of(case, dst)
        line = case.asm(f'{name}_e64 {text}, {", ".join(plain)} op_sel:[{",".join("1" * (n + 1))}]', targets & opsel)
        case.out(at, {'f16': 'H'}.get(dst, 'x'), [model(*v) << 16 | f_ & M16 for v, f_ in zip(high, FILL)], line)
    for text, column, kind in extra:
        at, out = dst_of(case, kind)
        line = case.asm(text.replace('$d', out))
        expect(case, kind, name, column, line)
    return case


def bind(f, g, **kw):
    return lambda *x: g(f, *x, **kw)
