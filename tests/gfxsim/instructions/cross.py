"""Lanes that read each other: DPP, SDWA's parts, readlane, permutes; EXEC; operands of every kind."""
from fractions import Fraction as Q

from emit import FILL, GFX9, GFX10UP, GFX11UP, GFX1030, GFX1100, GFX1201, LANES, Case
from floats import F16, F32, F64, add, clamp, fma, mul, sub
from pools import *
from vector import M16, M32, M64, signed, take

WAVES = ((GFX9, 64), (GFX10UP, 32))
PARTIAL = [1 if l % 5 and l % 11 != 6 else 0 for l in range(LANES)]
WHOLE = 'row_mask:0xf bank_mask:0xf'
EMPTY, FULL = [0] * LANES, [1] * LANES


# ---- DPP ----

def dpp_source(control, lane, wave):
    """The lane that a lane reads, None beyond the row or the wave. Rows are of 16 lanes."""
    base, row, l = lane - lane % wave, lane - lane % 16, lane % 16
    name, _, n = control.partition(':')
    if name == 'quad_perm':
        return lane - lane % 4 + [int(x) for x in n.strip('[]').split(',')][lane % 4]
    n = int(n) if n else 0
    if name == 'row_shl':
        return lane + n if l + n < 16 else None
    if name == 'row_shr':
        return lane - n if l - n >= 0 else None
    if name == 'row_ror':
        return row + (l - n) % 16
    if name == 'row_mirror':
        return row + 15 - l
    if name == 'row_half_mirror':
        return lane - lane % 8 + 7 - lane % 8
    if name in ('row_share', 'row_newbcast'):
        return row + n
    if name == 'row_xmask':
        return row + (l ^ n)
    if name == 'wave_shl':
        return lane + 1 if lane % wave != wave - 1 else None
    if name == 'wave_shr':
        return lane - 1 if lane % wave else None
    if name == 'wave_rol':
        return base + (lane + 1) % wave
    if name == 'wave_ror':
        return base + (lane - 1) % wave
    if name == 'row_bcast' and n == 15:
        return row - 1 if row > base else None
    if name == 'row_bcast' and n == 31:
        return base + 31 if lane % wave >= 32 else None
    raise ValueError(control)


def dpp(values, control, wave, active, row_mask=15, bank_mask=15, zero=False, fetch=False):
    """(value, written) of each lane: bound_ctrl zero gives 0 where there is no lane to read, else that lane is left
    alone; an inactive lane counts as none unless fi says to fetch."""
    out = []
    for lane in range(LANES):
        if not active[lane] or not row_mask >> lane % wave // 16 & 1 or not bank_mask >> lane % 16 // 4 & 1:
            out.append((0, False))
            continue
        s = dpp_source(control, lane, wave)
        if s is None or not (active[s] or fetch):
            out.append((0, zero))
        else:
            out.append((values[s], True))
    return out


def dpp_cases():
    common = ['quad_perm:[3,2,1,0]', 'quad_perm:[1,1,0,2]', 'row_shl:1', 'row_shl:15', 'row_shr:1', 'row_shr:8',
              'row_ror:1', 'row_ror:13',
              'row_mirror', 'row_half_mirror']
    old = ['wave_shl:1', 'wave_shr:1', 'wave_rol:1', 'wave_ror:1', 'row_bcast:15', 'row_bcast:31']
    for targets, wave in WAVES:
        controls = common + ([*old, 'row_newbcast:3', 'row_newbcast:15'] if wave == 64 else ['row_share:0',
                'row_share:9', 'row_xmask:1', 'row_xmask:13'])
        for active, what in ((FULL, 'full'), (PARTIAL, 'partial')):
            for first in range(0, len(controls), 7):
                case = Case('v_mov_b32', targets=targets)
                case.word(B32)
                case.word(active, 13)
                case.pre('partial')
                for control in controls[first:first + 7]:
                    for zero in (False, True):
                        at = case.next_out
                        line = case.asm(f'v_mov_b32_dpp v{32 + at}, v16 {control} {WHOLE}' + ' bound_ctrl:1' * zero)
                        shown = control.split(':')[0] + (':' + control.split(':')[1] if ':' in control else '')
                        got = dpp(B32, shown, wave, active, zero=zero)
                        case.out(at, 'x', [v if w else f for (v, w), f in zip(got, FILL)], line)
        for masks in ((0xa, 0xf), (0xf, 0x5), (0x3, 0xc)):
            case = Case('v_mov_b32', targets=targets)
            case.word(B32)
            modifiers = f'row_mask:{masks[0]:#x} bank_mask:{masks[1]:#x} bound_ctrl:1'
            line = case.asm(f'v_mov_b32_dpp v32, v16 row_shr:2 {modifiers}')
            case.out(0, 'x', [v if w else f for (v, w), f in zip(dpp(B32, 'row_shr:2', wave, FULL, *masks, True),
                                                                 FILL)], line)
        # Through arithmetic: the first operand comes from another lane, after neg.
        case = Case('v_add_f32', targets=targets)
        case.word(FA32)
        case.word(FB32)
        line = case.asm('v_add_f32_dpp v32, -v16, |v17| row_ror:3 row_mask:0xf bank_mask:0xf')
        got = dpp(FA32, 'row_ror:3', wave, FULL)
        case.out(0, 'f', [add(F32, v ^ 1 << 31, b & M32 >> 1) for (v, _), b in zip(got, FB32)], line)
        line = case.asm('v_mul_f32_dpp v33, v16, v17 row_shr:1 row_mask:0xf bank_mask:0xf')
        got = dpp(FA32, 'row_shr:1', wave, FULL)
        case.out(1, 'f', [mul(F32, v, b) if w else f for (v, w), b, f in zip(got, FB32, FILL)], line)
        # Lanes of a carry that are not written keep nothing of it.
        case = Case('v_cndmask_b32', targets=targets)
        case.word(A32)
        case.word(B32)
        case.word(FLAGS, 13)
        case.pre('flags $vcc')
        line = case.asm('v_cndmask_b32_dpp v32, v16, v17, $vcc row_mirror row_mask:0xf bank_mask:0xf')
        case.out(0, 'x', [b if f else v for (v, _), b, f in zip(dpp(A32, 'row_mirror', wave, FULL), B32, FLAGS)], line)
    # An accumulating operation leaves lanes it does not write.
    case = Case('v_fmac_f32')
    for column in (FA32, FB32, FC32):
        case.word(column)
    case.pre('v_mov_b32 v32, v18')
    line = case.asm('v_fmac_f32_dpp v32, v16, v17 row_shl:4 row_mask:0xf bank_mask:0xf')
    got = dpp(FA32, 'row_shl:4', 64, FULL)
    case.out(0, 'f', [fma(F32, v, b, c) if w else c for (v, w), b, c in zip(got, FB32, FC32)], line)
    # fi: reads lanes that EXEC leaves out; and DPP8.
    for active in (FULL, PARTIAL):
        case = Case('v_mov_b32', targets=GFX10UP)
        case.word(B32)
        case.word(active, 13)
        case.pre('partial')
        for control in ('row_shl:1', 'row_xmask:5', 'row_share:5'):
            for zero in (False, True):
                at = case.next_out
                line = case.asm(f'v_mov_b32_dpp v{32 + at}, v16 {control} {WHOLE}{" bound_ctrl:1" * zero} fi:1')
                case.out(at, 'x', [v if w else f for (v, w), f in zip(dpp(B32, control, 32, active, zero=zero,
                        fetch=True), FILL)], line)
        for fetch in (False, True):
            order = [7, 0, 5, 2, 2, 6, 1, 3]
            at = case.next_out
            line = case.asm(f'v_mov_b32_dpp v{32 + at}, v16 dpp8:[{",".join(map(str, order))}]' + ' fi:1' * fetch)
            column = []
            for l in range(LANES):
                s = l - l % 8 + order[l % 8]
                column.append(FILL[l] if not active[l] else B32[s] if active[s] or fetch else 0)
            case.out(at, 'x', column, line)
    # gfx11 has DPP of three operands.
    case = Case('v_fma_f32', targets=GFX11UP)
    for column in (FA32, FB32, FC32):
        case.word(column)
    line = case.asm('v_fma_f32_e64_dpp v32, v16, -v17, |v18| row_ror:5 row_mask:0xf bank_mask:0xf')
    got = dpp(FA32, 'row_ror:5', 32, FULL)
    case.out(0, 'f', [fma(F32, v, b ^ 1 << 31, c & M32 >> 1) for (v, _), b, c in zip(got, FB32, FC32)], line)
    line = case.asm('v_add_nc_u32_e64_dpp v33, v16, v17 row_shr:1 row_mask:0xf bank_mask:0xf')
    got = dpp(FA32, 'row_shr:1', 32, FULL)
    case.out(1, 'x', [v + b & M32 if w else f for (v, w), b, f in zip(got, FB32, FILL)], line)
    # A compare: lanes that read nothing give no bit.
    case = Case('v_cmp_lt_u32', targets=GFX11UP)
    case.word(A32)
    case.word(B32)
    line = case.asm('v_cmp_lt_u32_dpp $vcc, v16, v17 row_ror:7 row_mask:0xf bank_mask:0xf')
    case.post('bit v32, $vcc')
    case.out(0, 'm', [v < b for (v, _), b in zip(dpp(A32, 'row_ror:7', 32, FULL), B32)], line)


# ---- SDWA: parts of registers, on gfx9 and gfx10 ----

PARTS = ('BYTE_0', 'BYTE_1', 'BYTE_2', 'BYTE_3', 'WORD_0', 'WORD_1', 'DWORD')


def part(x, sel, sext=False):
    if sel == 'DWORD':
        return x
    n = 8 if sel[0] == 'B' else 16
    v = x >> int(sel[-1]) * n & (1 << n) - 1
    return signed(v, n) & M32 if sext else v


def put_part(x, sel, unused, old):
    if sel == 'DWORD':
        return x
    n, k = 8 if sel[0] == 'B' else 16, int(sel[-1])
    field = (x & (1 << n) - 1) << n * k
    if unused == 'UNUSED_PRESERVE':
        return old & ~(((1 << n) - 1) << n * k) & M32 | field
    if unused == 'UNUSED_SEXT' and x >> n - 1 & 1:
        return field | M32 << n * (k + 1) & M32
    return field


def sdwa_cases():
    targets = GFX9 | GFX1030
    for name, t in (('v_add_u32', GFX9), ('v_add_nc_u32', GFX1030)):
        for unused in ('UNUSED_PAD', 'UNUSED_SEXT', 'UNUSED_PRESERVE'):
            case = Case(name, targets=t)
            case.word(A32)
            case.word(B32)
            for k, sel in enumerate(PARTS):
                s0, s1 = PARTS[(k * 3 + 1) % 7], PARTS[(k * 5 + 2) % 7]
                e0, e1 = k % 2 == 0, k % 3 == 0
                at = case.next_out
                text = lambda r, e: f'sext({r})' if e else r
                places = f'dst_sel:{sel} dst_unused:{unused} src0_sel:{s0} src1_sel:{s1}'
                line = case.asm(f'{name}_sdwa v{32 + at}, {text("v16", e0)}, {text("v17", e1)} {places}')
                case.out(at, 'x', [put_part(part(a, s0, e0) + part(b, s1, e1) & M32, sel, unused, f) for a, b,
                                   f in zip(A32, B32, FILL)], line)
    case = Case('v_mov_b32', targets=targets)
    case.word(B32)
    for k, sel in enumerate(PARTS):
        at = case.next_out
        line = case.asm(f'v_mov_b32_sdwa v{32 + at}, v16 dst_sel:{sel} dst_unused:UNUSED_PRESERVE '
                        f'src0_sel:{PARTS[6 - k]}')
        case.out(at, 'x', [put_part(part(b, PARTS[6 - k]), sel, 'UNUSED_PRESERVE', f) for b, f in zip(B32, FILL)], line)
    # Halves of floats; neg and abs apply to the half.
    case = Case('v_mul_f16', targets=targets)
    case.word(PA16)
    case.word(PB16)
    line = case.asm('v_mul_f16_sdwa v32, v16, v17 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE '
                    'src0_sel:WORD_1 src1_sel:WORD_0')
    case.out(0, 'H', [mul(F16, a >> 16, b & M16) << 16 | f & M16 for a, b, f in zip(PA16, PB16, FILL)], line)
    line = case.asm('v_add_f16_sdwa v33, -v16, |v17| dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE '
                    'src0_sel:WORD_1 src1_sel:WORD_1')
    case.out(1, 'h', [add(F16, (a >> 16) ^ 0x8000, b >> 16 & 0x7fff) | f & 0xffff0000 for a, b, f in zip(PA16, PB16,
            FILL)], line)
    case = Case('v_cmp_lt_u32', targets=targets)
    case.word(A32)
    case.word(B32)
    line = case.asm('v_cmp_lt_u32_sdwa $vcc, v16, v17 src0_sel:BYTE_2 src1_sel:BYTE_1')
    second = case.asm('v_cmp_lt_i32_sdwa $m22, sext(v16), sext(v17) src0_sel:BYTE_3 src1_sel:WORD_1')
    case.post('bit v32, $vcc')
    case.post('bit v33, $m22')
    case.out(0, 'm', [part(a, 'BYTE_2') < part(b, 'BYTE_1') for a, b in zip(A32, B32)], line)
    case.out(1, 'm', [signed(a >> 24, 8) < signed(b >> 16, 16) for a, b in zip(A32, B32)], second)
    case = Case('v_cvt_f32_ubyte0', targets=targets)
    case.word(A32)
    line = case.asm('v_cvt_f32_u32_sdwa v32, v16 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1')
    case.out(0, 'f', [F32.round(Q(a >> 16)) for a in A32], line)


# ---- one lane and another ----

def lanes():
    chosen = [0, 1, 31, 17, 63, 40, 32, 64, 5]
    for targets, wave in WAVES:
        for name in ('v_readlane_b32', 'v_writelane_b32'):
            case = Case(name, targets=targets)
            case.word(B32)
            case.scalars = [0x1000 + 77 * k if k >= 9 else chosen[k] for k in range(16)]
            case.asm('s_mov_b$B $exec, 0')  # EXEC does not matter
            lines = []
            for k in range(6):
                if name == 'v_readlane_b32':
                    lines.append(case.asm(f'v_readlane_b32 s{48 + k}, v16, s{16 + k}'))
                else:
                    # gfx9 reads one scalar
                    case.asm(f'v_writelane_b32 v{32 + k}, {"42" if wave == 64 else "s25"}, s{16 + k}')
            if name == 'v_readlane_b32':
                case.asm('v_readlane_b32 s54, v16, 21')
            else:
                case.asm('v_writelane_b32 v38, -7, 21')
            case.asm('s_mov_b$B $exec, -1')
            for k in range(7):
                lane = (chosen[k] if k < 6 else 21) % wave
                if name == 'v_readlane_b32':
                    case.post(f'v_mov_b32 v{32 + k}, s{48 + k}')
                    case.out(k, 'x', [B32[l - l % wave + lane] for l in range(LANES)])
                else:
                    value = (42 if wave == 64 else case.scalars[9]) if k < 6 else -7 & M32
                    case.out(k, 'x', [value if l % wave == lane else FILL[l] for l in range(LANES)])
        for active in (FULL, PARTIAL, EMPTY, [1 if l % 32 == 29 else 0 for l in range(LANES)]):
            case = Case('v_readfirstlane_b32', targets=targets)
            case.word(B32)
            case.word(active, 13)
            case.pre('flags $m20')
            case.asm('s_mov_b$B $exec, $m20')
            line = case.asm('v_readfirstlane_b32 s48, v16')
            case.asm('s_mov_b$B $exec, -1')
            case.post('v_mov_b32 v32, s48')
            first = [next((k for k in range(b, b + wave) if active[k]), b) for b in range(0, LANES, wave)]
            case.out(0, 'x', [B32[first[l // wave]] for l in range(LANES)], line)
    # permlane16 and permlanex16: any lane of the row, or of the other of two.
    sel = (0x3210fedc, 0x76543b0a)
    pick = [(sel[0] | sel[1] << 32) >> 4 * i & 15 for i in range(16)]
    for active in (FULL, PARTIAL):
        for name, other in (('v_permlane16_b32', 0), ('v_permlanex16_b32', 16)):
            case = Case(name, targets=GFX10UP)
            case.word(B32)
            case.word(active, 13)
            case.scalars = [*sel] + [0] * 14
            case.pre('partial')

            def read(l, fetch):
                if not active[l]:
                    return FILL[l]
                s = (l - l % 16 ^ other) + pick[l % 16]
                return B32[s] if active[s] or fetch else None
            # Without fi a lane that reads an inactive one keeps its value, or reads 0 with bound_ctrl.
            line = case.asm(f'{name} v32, v16, s16, s17 op_sel:[1,0]')
            case.out(0, 'x', [read(l, True) for l in range(LANES)], line)
            if active is FULL:
                line = case.asm(f'{name} v33, v16, s16, s17')
                case.out(1, 'x', [read(l, False) for l in range(LANES)], line)
            name = name.replace('_b32', '_var_b32')
            case = Case(name, targets=GFX1201)
            case.word(B32)
            var = [(l * 7 + 3) & 0xff for l in range(LANES)]
            case.word(var)
            case.word(active, 13)
            case.pre('partial')
            column = [FILL[l] if not active[l] else B32[(l - l % 16 ^ other) + var[l] % 16] for l in range(LANES)]
            case.out(0, 'x', column, case.asm(f'{name} v32, v16, v17 op_sel:[1,0]'))
    case = Case('v_permlane64_b32', targets=GFX11UP)
    case.word(B32)
    case.out(0, 'x', FILL, case.asm('v_permlane64_b32 v32, v16'))  # nothing, in a wave of 32
    case = Case('v_swap_b32')
    case.word(A32)
    case.word(B32)
    case.word(FLAGS, 13)
    case.pre('flags $m20')
    case.pre('v_mov_b32 v32, v16')
    case.pre('v_mov_b32 v33, v17')
    case.pre('s_mov_b$B $exec, $m20')
    line = case.asm('v_swap_b32 v32, v33')
    case.out(0, 'x', [b if f else a for a, b, f in zip(A32, B32, FLAGS)], line)
    case.out(1, 'x', [a if f else b for a, b, f in zip(A32, B32, FLAGS)], line)
    for name, asm in (('v_movrels_b32', 'v_movrels_b32 v32, v16'), ('v_movreld_b32', 'v_movreld_b32 v32, v17'),
                      ('v_movrelsd_b32', 'v_movrelsd_b32 v32, v16'), ('v_movrelsd_2_b32', 'v_movrelsd_2_b32 v32, v16'),
                      ('v_swaprel_b32', 'v_swaprel_b32 v32, v16')):
        case = Case(name, targets=GFX10UP)
        columns = [A32, B32, C32, rotate(A32, 5)]
        for c in columns:
            case.word(c)
        case.pre('s_movk_i32 m0, 2' if '2_' not in name and 'swap' not in name else 's_mov_b32 m0, 0x10003')
        line = case.asm(asm)
        source = {'v_movrels_b32': C32, 'v_movreld_b32': B32, 'v_movrelsd_b32': C32, 'v_movrelsd_2_b32': columns[3],
                  'v_swaprel_b32': columns[3]}[name]
        goes = {'v_movrels_b32': 0, 'v_movreld_b32': 2, 'v_movrelsd_b32': 2}.get(name, 1)
        for k in range(4):
            case.out(k, 'x', source if k == goes else FILL, line)


# ---- EXEC, and operands of every kind ----

def exec_and_operands():
    for active in (EMPTY, PARTIAL, [1 if l % 32 == 31 else 0 for l in range(LANES)]):
        for asm, kind, column in (('v_add_f32 v32, v16, v17', 'f', [add(F32, a, b) for a, b in zip(FA32, FB32)]),
                                  ('v_fma_f32 v33, v16, v17, v18', 'f', [fma(F32, *v) for v in zip(FA32, FB32, FC32)]),
                                  ('v_lshlrev_b32 v34, v16, v17', 'x', [b << (a & 31) & M32 for a, b in zip(FA32,
                                          FB32)]),
                                  ('v_cvt_f32_u32 v35, v17', 'f', [F32.round(Q(b)) for b in FB32])):
            case = Case(asm.split()[0])
            for c in (FA32, FB32, FC32):
                case.word(c)
            case.word(active, 13)
            case.pre('partial')
            line = case.asm(asm)
            case.out(int(asm.split()[1].strip('v,')) - 32, kind, [v if a else f for v, a, f in zip(column, active,
                    FILL)], line)
    case = Case('v_add_f32')
    case.word(FA32)
    case.scalars = [0x40490fdb, 0xc2f60000] + [0] * 14
    for text, value in (('s16', 0x40490fdb), ('1.0', 0x3f800000), ('-4.0', 0xc0800000), ('0.5', 0x3f000000),
                        ('0.15915494', 0x3e22f983),
                        ('0x42f6e979', 0x42f6e979), ('3', 3), ('-16', -16 & M32)):
        at = case.next_out
        case.out(at, 'f', [add(F32, value, x) for x in FA32], case.asm(f'v_add_f32 v{32 + at}, {text}, v16'))
    for text, value in (('-s17', 0x42f60000), ('|s17|', 0x42f60000)):
        at = case.next_out
        case.out(at, 'f', [add(F32, value, x) for x in FA32], case.asm(f'v_add_f32_e64 v{32 + at}, {text}, v16'))
    case = Case('v_add_f16')
    case.word(GA16)
    case.scalars = [0x40493c01] + [0] * 15
    for text, value in (('s16', 0x3c01), ('1.0', 0x3c00), ('0x5640', 0x5640), ('-2.0', 0xc000)):
        at = case.next_out
        case.out(at, 'g', [add(F16, value, x & M16) for x in GA16], case.asm(f'v_add_f16 v{32 + at}, {text}, v16'))
    case = Case('v_pk_add_f16')
    case.word(PA16)
    case.scalars = [0x40493c01] + [0] * 15
    # An inline constant is in the lower half only, so the upper half reads 0 unless op_sel_hi takes the lower one.
    for text, tail, pair in (('s16', '', (0x3c01, 0x4049)), ('s16', ' op_sel_hi:[0,1]', (0x3c01, 0x3c01)),
                             ('1.0', ' op_sel_hi:[0,1]', (0x3c00, 0x3c00))):
        at = case.next_out
        case.out(at, 'p', [add(F16, pair[0], x & M16) | add(F16, pair[1], x >> 16) << 16 for x in PA16],
                 case.asm(f'v_pk_add_f16 v{32 + at}, {text}, v16{tail}'))
    case = Case('v_fma_f64')
    take(case, ('f64',), (FA64,))
    for text, value in (('1.0', 0x3ff0000000000000), ('-0.5', 0xbfe0000000000000), ('2', 2), ('-3', M64 - 2)):
        at = case.next_out
        case.out(at, 'd', [fma(F64, x, value, x) for x in FA64],
                 case.asm(f'v_fma_f64 v[{32 + at}:{33 + at}], v[16:17], {text}, v[16:17]'))
    case = Case('v_lshlrev_b64')
    take(case, ('x64',), (A64,))
    for text, value in (('1', 1), ('33', 33), ('63', 63)):
        at = case.next_out
        line = case.asm(f'v_lshlrev_b64 v[{32 + at}:{33 + at}], {text}, v[16:17]')
        case.out(at, 'x', [x << value & M32 for x in A64], line)
        case.out(at + 1, 'x', [(x << value & M64) >> 32 for x in A64], line)
    # omod, where denormals are flushed; and clamp after it.
    case = Case('v_mul_f32', mode=0)
    r = Random(3)
    a, b = [[float_random(F32, r) for _ in range(LANES)] for _ in range(2)]
    case.word(a)
    case.word(b)
    for tail, factor in (('mul:2', Q(2)), ('mul:4', Q(4)), ('div:2', Q(1, 2))):
        at = case.next_out
        line = case.asm(f'v_mul_f32_e64 v{32 + at}, v16, v17 {tail}')
        case.out(at, 'f', [F32.round(F32.value(mul(F32, x, y)) * factor) for x, y in zip(a, b)], line)
    at = case.next_out
    case.out(at, 'f', [clamp(F32, F32.round(F32.value(mul(F32, x, y)) * 2)) for x, y in zip(a, b)],
             case.asm(f'v_mul_f32_e64 v{32 + at}, v16, v17 clamp mul:2'))


def dual():
    """Two instructions at once: each reads before either writes. gfx11 and gfx12."""
    ops = {'add_f32': lambda a, b, d: add(F32, a, b), 'mul_f32': lambda a, b, d: mul(F32, a, b), 'sub_f32': lambda a, b,
           d: sub(F32, a, b),
           'subrev_f32': lambda a, b, d: sub(F32, b, a), 'fmac_f32': lambda a, b, d: fma(F32, a, b, d),
           'mov_b32': lambda a, b, d: a,
           'cndmask_b32': None, 'add_nc_u32': lambda a, b, d: a + b & M32, 'lshlrev_b32': lambda a, b,
           d: b << (a & 31) & M32,
           'and_b32': lambda a, b, d: a & b}
    xs = ['add_f32', 'mul_f32', 'sub_f32', 'subrev_f32', 'fmac_f32', 'mov_b32', 'cndmask_b32']
    for k, y in enumerate(ops):
        x = xs[k % len(xs)]
        case = Case('v_dual_' + x, targets=GFX11UP)
        for c in (FA32, FB32, FC32, rotate(FA32, 3)):
            case.word(c)
        case.word(FLAGS, 13)
        case.pre('flags $vcc')
        case.pre('v_mov_b32 v32, v16')
        case.pre('v_mov_b32 v33, v17')

        def half(name, d, s0, s1):
            return f'v_dual_{name} v{d}, v{s0}' + ('' if name == 'mov_b32' else f', v{s1}')
        # Each writes what the other reads.
        line = case.asm(f'{half(x, 32, 33, 18)} :: {half(y, 33, 32, 19)}')

        def run(name, a, b, d, l):
            return (b if FLAGS[l] else a) if name == 'cndmask_b32' else ops[name](a, b, d)
        rotated = rotate(FA32, 3)
        case.out(0, 'f' if 'f32' in x else 'x', [run(x, FB32[l], FC32[l], FA32[l], l) for l in range(LANES)], line)
        case.out(1, 'f' if 'f32' in y else 'x', [run(y, FA32[l], rotated[l], FB32[l], l) for l in range(LANES)], line)
    case = Case('v_dual_fmaak_f32', targets=GFX11UP)
    for c in (FA32, FB32, FC32, rotate(FA32, 3)):
        case.word(c)
    K = 0x40490fdb
    line = case.asm(f'v_dual_fmaak_f32 v32, v16, v17, {K:#x} :: v_dual_fmamk_f32 v33, v19, {K:#x}, v18')
    case.out(0, 'f', [fma(F32, a, b, K) for a, b in zip(FA32, FB32)], line)
    case.out(1, 'f', [fma(F32, a, K, c) for a, c in zip(rotate(FA32, 3), FC32)], line)
    line = case.asm('v_dual_mul_dx9_zero_f32 v34, v16, v17 :: v_dual_mul_dx9_zero_f32 v35, v19, v18')
    zero = lambda a, b: 0 if F32.is_zero(a) or F32.is_zero(b) else mul(F32, a, b)
    case.out(2, 'f', [zero(a, b) for a, b in zip(FA32, FB32)], line)
    case.out(3, 'f', [zero(a, b) for a, b in zip(rotate(FA32, 3), FC32)], line)
    from valu import minmax
    for targets, g, s in ((GFX1100, 10, ''), (GFX1201, 12, '_num')):
        case = Case('v_dual_max_f32', targets=targets)
        for c in (FA32, FB32, FC32, rotate(FA32, 3)):
            case.word(c)
        line = case.asm(f'v_dual_max{s}_f32 v32, v16, v17 :: v_dual_min{s}_f32 v33, v19, v18')
        case.out(0, 'f', [minmax(F32, a, b, True, g) for a, b in zip(FA32, FB32)], line)
        case.out(1, 'f', [minmax(F32, a, b, False, g) for a, b in zip(rotate(FA32, 3), FC32)], line)




def all_cases():
    dpp_cases()
    sdwa_cases()
    lanes()
    exec_and_operands()
    dual()
