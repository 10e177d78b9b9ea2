"""Collects cases and writes cases.txt and words.safetensors, which run.c reads; its head comment tells the form."""
import json
import struct
import subprocess
import sys

GFX90A, GFX942, GFX1030, GFX1100, GFX1201, GFX1151 = 1, 2, 4, 8, 16, 32
GFX9 = GFX90A | GFX942
GFX11UP = GFX1100 | GFX1201
GFX10_11 = GFX1030 | GFX1100
GFX10UP = GFX1030 | GFX11UP
BELOW12 = GFX9 | GFX10_11
ALL = GFX9 | GFX10UP  # what gfx1100 has, gfx1151 runs too; GFX1151 is for what it has alone
NAMES = {GFX90A: 'gfx90a', GFX942: 'gfx942', GFX1030: 'gfx1030', GFX1100: 'gfx1100', GFX1151: 'gfx1151',
         GFX1201: 'gfx1201'}
LANES = 64
FILL = [0xC0DE0000 | (l * 0x0205 & 0xffff) for l in range(LANES)]  # what v32... hold before

words = []
where = {}


def place(column):
    """Offset of a column in the words, shared with an equal one."""
    key = tuple(column)
    if key not in where:
        assert all(0 <= w < 1 << 32 for w in key), column
        where[key] = len(words)
        words.extend(key)
    return where[key]


def bits(flags):
    """A column of 0 and 1 as words of 32."""
    return [sum(1 << i for i, b in enumerate(flags[k:k + 32]) if b) for k in range(0, len(flags), 32)]


# Macros that cases share: name and parameters, and lines for targets.
MACROS = [
    ('wait_all', [('s_waitcnt 0', BELOW12), ('s_waitcnt_vscnt null, 0x0', GFX10_11),
                  ('s_wait_loadcnt_dscnt 0x0', GFX1201), ('s_wait_kmcnt 0x0', GFX1201),
                  ('s_wait_storecnt 0x0', GFX1201)]),
    ('barrier', [('s_barrier', BELOW12), ('s_barrier_signal -1', GFX1201), ('s_barrier_wait -1', GFX1201)]),
    # Lanes whose word 13 is not 0, as a mask, and as EXEC.
    ('flags mask', [('v_cmp_ne_u32_e64 \\mask, 0, v29', ALL)]),
    ('partial', [('v_cmp_ne_u32_e64 $m20, 0, v29', ALL), ('s_mov_b$B $exec, $m20', ALL)]),
    ('bit register, mask', [('v_cndmask_b32_e64 \\register, 0, 1, \\mask', ALL)]),
    # The lane's memory as a 64-bit address.
    ('address', [('v_add_co_u32 v2, $vcc, s8, v1', ALL), ('v_mov_b32 v3, s9', ALL)]),
    # A buffer of some bytes at s[8:9], addressed by bytes, with each generation's format and bounds; s24 is 8.
    ('buffer_of nbytes', [('s_mov_b32 s20, s8', ALL), ('s_mov_b32 s21, s9', ALL), ('s_movk_i32 s22, \\nbytes', ALL),
                          ('s_mov_b32 s23, 0x27000', GFX9), ('s_mov_b32 s23, 0x31016000', GFX1030),
                          ('s_mov_b32 s23, 0x31004000', GFX11UP), ('s_mov_b32 s24, 8', ALL)]),
    # Each lane's words to its 64 bytes of LDS, and from there.
    ('lds_fill', [(f'ds_write_b128 v1, v[{16 + 4 * k}:{19 + 4 * k}] offset:{16 * k}', ALL) for k in range(4)]
     + [('wait_all', ALL), ('barrier', ALL)]),
    ('lds_result', [('wait_all', ALL), ('barrier', ALL)]
     + [(f'ds_read_b128 v[{32 + 4 * k}:{35 + 4 * k}], v1 offset:{16 * k}', ALL) for k in range(4)]),
]


class Line:
    def __init__(self, stage, targets, text):
        self.stage, self.targets, self.text = stage, targets, text


class Case:
    """One kernel. kind 'v': a block of 64 lanes; input word k of a lane is in v[16 + k], output word k is taken from
    v[32 + k]. kind 's': for each row of input, word k in s[16 + k], output word k from s[40 + k], and SCC."""
    every = []

    def __init__(self, name, kind='v', targets=ALL, mode=0xf0, lds=0, scratch=0):
        self.name, self.kind, self.targets, self.mode, self.lds, self.scratch = name, kind, targets, mode, lds, scratch
        self.inputs, self.scalars, self.lines, self.outs, self.memory = {}, None, [], [], False
        self.was, self.becomes = {}, {}
        self.next_in, self.next_out = 0, 0
        Case.every.append(self)

    def word(self, column, at=None):
        """Takes a column of input words; says its number."""
        assert len(column) == LANES or self.kind == 's', self.name
        at = self.next_in if at is None else at
        self.inputs[at] = place(column)
        self.next_in = max(self.next_in, at + 1)
        return at

    def remember(self, becomes, was=None):
        """Gives the case memory of 16 words a lane, at s[8:9] and lane * 64: the lane's input, but for columns {k:
        words} in `was`; afterwards but for those in `becomes`."""
        self.memory = True
        self.was = {k: place(v) for k, v in (was or {}).items()}
        self.becomes = {k: place(v) for k, v in becomes.items()}

    def pre(self, text, targets=ALL | GFX1151):
        self.lines.append(Line('pre', targets, text))

    def asm(self, text, targets=ALL | GFX1151):
        self.lines.append(Line('asm', targets, text))
        return self.lines[-1]

    def post(self, text, targets=ALL | GFX1151):
        self.lines.append(Line('post', targets, text))

    def out(self, at, how, column, line=None, targets=ALL | GFX1151):
        """Expects a column in output word `at`, compared as `how` says; on the targets that have `line`."""
        column = list(column)
        if how == 'm':
            column = bits(column)
        if how in 'dw':
            offset = place([w & 0xffffffff for w in column] + [w >> 32 for w in column])
        else:
            offset = place(column)
        self.outs.append((at, how, offset, line, targets))
        self.next_out = max(self.next_out, at + (2 if how in 'dw' else 1))


def assembles(target, texts):
    """For each text, NULL or the assembler's complaint."""
    wave = '64' if target & GFX9 else '32'
    prelude = ''.join(f'.macro {name}\n.endm\n' for name, _ in MACROS)
    run = subprocess.run(['llvm-mc-19', '-triple=amdgcn-amd-amdhsa', '-mcpu=' + NAMES[target], '-filetype=null', '-'],
                         input=prelude + '\n'.join(substitute(t, wave) for t in texts), capture_output=True, text=True)
    bad = {}
    for line in run.stderr.splitlines():
        if line.startswith('<stdin>:') and ': error:' in line:
            bad[int(line.split(':')[1]) - 1 - prelude.count('\n')] = line.split(': error: ')[1]
    return bad


def substitute(text, wave):
    """$vcc, $exec and $m20 are a lane mask in scalar registers; $B the size of one."""
    out, i = '', 0
    while i < len(text):
        if text[i] != '$':
            out += text[i]
            i += 1
        elif text[i + 1:i + 4] == 'vcc':
            out += 'vcc' if wave == '64' else 'vcc_lo'
            i += 4
        elif text[i + 1:i + 5] == 'exec':
            out += 'exec' if wave == '64' else 'exec_lo'
            i += 5
        elif text[i + 1] == 'B':
            out += wave
            i += 2
        else:
            n = int(text[i + 2:i + 4])
            out += f's[{n}:{n + 1}]' if wave == '64' else f's{n}'
            i += 4
    return out


def runs(columns, width=1):
    """{number: offset} as (number, offset, n) of columns that follow each other."""
    out = []
    for k, offset in sorted(columns.items()):
        if out and k == out[-1][0] + out[-1][2] * width and offset == out[-1][1] + out[-1][2] * width * LANES:
            out[-1] = (*out[-1][:2], out[-1][2] + 1)
        else:
            out.append((k, offset, 1))
    return out


def write(folder):
    """Asks the assembler which lines each target has, and writes the files."""
    dropped = {}
    flat = [(c, l) for c in Case.every for l in c.lines]
    for target in NAMES:
        asked = [(c, l) for c, l in flat if l.targets & c.targets & target]
        bad = assembles(target, [l.text for _, l in asked])
        for i, (case, line) in enumerate(asked):
            if i in bad:
                line.targets &= ~target
                dropped.setdefault((case.name, line.stage, line.text), []).append((NAMES[target], bad[i]))
    text = []
    for name, lines in MACROS:
        text.append('macro ' + name)
        text.extend(f'line {targets:x} {line}' for line, targets in lines)
    for c in Case.every:
        used = 0
        for l in c.lines:
            l.targets &= c.targets
            if l.stage == 'asm' and l.text not in ('wait_all', 'barrier') and not l.text.startswith('s_mov_b$B $exec'):
                used |= l.targets
        c.targets &= used
        if not c.targets:
            print('no target has', c.name, [l.text for l in c.lines if l.stage == 'asm'][:1], file=sys.stderr)
            continue
        text.append(f'case {c.name} {c.kind} {c.targets:x} {c.mode:x} {c.lds} {c.scratch}')
        text.extend(f'in {k} {offset} {n}' for k, offset, n in runs(c.inputs))
        if c.scalars:
            text.append(f'scalars {place(c.scalars)} {len(c.scalars)}')
        if c.memory:
            text.append('memory')
            text.extend(f'was {k} {offset} {n}' for k, offset, n in runs(c.was))
            text.extend(f'becomes {k} {offset} {n}' for k, offset, n in runs(c.becomes))
        for l in c.lines:
            if l.targets & c.targets:
                text.append(f'{l.stage} {l.targets & c.targets:x} {l.text}')
        outs = {}
        for at, how, offset, line, targets in c.outs:
            mask = (line.targets if line else c.targets) & c.targets & targets
            if mask:
                outs.setdefault((mask, how), {})[at] = offset
        for (mask, how), columns in outs.items():
            text.extend(f'out {mask:x} {how} {k} {offset} {n}' for k, offset, n in runs(columns, 2 if how in 'dw'
                    else 1))
    for (name, stage, line), targets in sorted(dropped.items()):
        print(f'{name}: {",".join(t for t, _ in targets)} without "{line}": {targets[0][1]}', file=sys.stderr)
    with open(folder + '/cases.txt', 'w') as f:
        f.write('\n'.join(text) + '\n')
    header = json.dumps({'words': {'dtype': 'U32', 'shape': [len(words)], 'data_offsets': [0,
            4 * len(words)]}}).encode()
    header += b' ' * (-len(header) % 8)
    with open(folder + '/words.safetensors', 'wb') as f:
        f.write(struct.pack('<Q', len(header)) + header + struct.pack(f'<{len(words)}I', *words))
    print(len(Case.every), 'cases,', len(words) * 4, 'bytes of words', file=sys.stderr)
