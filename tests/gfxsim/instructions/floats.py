"""Floating point in exact arithmetic: bits in, bits out, one rounding. Written from IEEE 754 and from AMD's published
instruction set documents; it shares nothing with the simulator."""
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction as Q
from math import isqrt

getcontext().prec = 80
RNE, RUP, RDOWN, RZERO = 0, 1, 2, 3  # as in the MODE register


class Format:
    """Sign, `e` exponent bits, `m` bits of mantissa. `kind`: ieee, fn (no infinities, all ones a NaN), fnuz (neither
    infinities nor -0, which is the NaN)."""

    def __init__(self, e, m, kind='ieee', bias=None):
        self.e, self.m, self.kind = e, m, kind
        self.bits = 1 + e + m
        self.bias = bias if bias is not None else (1 << (e - 1)) - 1
        self.sign = 1 << (e + m)
        self.emax = (1 << e) - 1
        self.inf = self.emax << m
        self.qbit = 1 << (m - 1)
        # OCP's 5-bit-exponent float of 8 bits has NaNs, but conversions make that of all ones.
        self.nan = self.sign - 1 if self.bits == 8 and kind != 'fnuz' else {'ieee': self.inf | self.qbit,
                'fn': self.sign - 1, 'fnuz': self.sign}[kind]
        self.max = {'ieee': self.inf - 1, 'fn': self.sign - 2, 'fnuz': self.sign - 1}[kind]

    def is_nan(self, x):
        if self.kind == 'ieee':
            return (x & (self.sign - 1)) > self.inf
        return x & (self.sign - 1) == self.sign - 1 if self.kind == 'fn' else x == self.sign

    def is_snan(self, x):
        return self.is_nan(x) and not x & self.qbit

    def is_inf(self, x):
        return self.kind == 'ieee' and (x & (self.sign - 1)) == self.inf

    def is_zero(self, x):
        return x & (self.sign - 1) == 0 and not self.is_nan(x)

    def neg(self, x):
        return bool(x & self.sign)

    def exponent(self, x):
        return (x >> self.m) & self.emax

    def is_denormal(self, x):
        return self.exponent(x) == 0 and x & ((1 << self.m) - 1) != 0

    def quiet(self, x):
        return x | self.qbit

    def value(self, x):
        """The exact value of a finite number."""
        e, m = self.exponent(x), x & ((1 << self.m) - 1)
        v = Q(m) * Q(2) ** (1 - self.bias - self.m) if e == 0 else Q(m | 1 << self.m) * Q(2) ** (e - self.bias - self.m)
        return -v if x & self.sign else v

    def round(self, v, mode=RNE, negative=False, saturate=False):
        """The bits of an exact value; `negative` gives a zero its sign."""
        if v == 0:
            return self.sign if negative and self.kind != 'fnuz' else 0
        s, a = (self.sign, -v) if v < 0 else (0, v)
        # 2^k <= a < 2^(k+1)
        k = a.numerator.bit_length() - a.denominator.bit_length()
        if Q(2) ** k > a:
            k -= 1
        k = max(k, 1 - self.bias)
        unit = Q(2) ** (k - self.m)
        n, rest = divmod(a, unit)
        n = int(n)
        up = {RNE: rest * 2 > unit or (rest * 2 == unit and n & 1), RUP: rest > 0 and not s, RDOWN: rest > 0 and s,
              RZERO: False}[mode]
        n += 1 if up else 0
        bits = n + ((k - 1 + self.bias) << self.m) if k > 1 - self.bias or n >> self.m else n
        if bits > self.max:
            if saturate or mode == RZERO or (mode == RUP and s) or (mode == RDOWN and not s):
                return s | self.max
            return s | (self.inf if self.kind == 'ieee' else self.nan)
        if bits == 0 and self.kind == 'fnuz':
            return 0
        return s | bits


F16, BF16, F32, F64 = Format(5, 10), Format(8, 7), Format(8, 23), Format(11, 52)
FP8, BF8 = Format(4, 3, 'fn'), Format(5, 2)
FP8Z, BF8Z = Format(4, 3, 'fnuz', 8), Format(5, 2, 'fnuz', 16)


def finite(f, *xs):
    return not any(f.is_nan(x) or f.is_inf(x) for x in xs)


def fma(f, a, b, c, mode=RNE, out=None):
    """a * b + c with one rounding, to the format `out`; a NaN comes back as the default one."""
    out = out or f
    if any(f.is_nan(x) for x in (a, b, c)):
        return out.nan
    s = f.neg(a) ^ f.neg(b)
    if f.is_inf(a) or f.is_inf(b):
        if f.is_zero(a) or f.is_zero(b) or (f.is_inf(c) and f.neg(c) != s):
            return out.nan
        return out.inf | (out.sign if s else 0)
    if f.is_inf(c):
        return out.inf | (out.sign if f.neg(c) else 0)
    v = f.value(a) * f.value(b) + f.value(c)
    if v == 0:
        product_zero = f.value(a) * f.value(b) == 0
        same = product_zero and f.is_zero(c) and f.neg(c) == s
        return out.round(v, mode, s if same else mode == RDOWN)
    return out.round(v, mode)


def add(f, a, b, mode=RNE):
    return fma(f, a, f.bias << f.m, b, mode)


def sub(f, a, b, mode=RNE):
    return add(f, a, b ^ f.sign, mode) if not f.is_nan(b) else f.nan


def mul(f, a, b, mode=RNE):
    if any(f.is_nan(x) for x in (a, b)):
        return f.nan
    s = f.neg(a) ^ f.neg(b)
    if f.is_inf(a) or f.is_inf(b):
        return f.nan if f.is_zero(a) or f.is_zero(b) else f.inf | (f.sign if s else 0)
    return f.round(f.value(a) * f.value(b), mode, s)


def convert(src, dst, x, mode=RNE, saturate=False):
    if src.is_nan(x):
        return dst.nan if dst.kind != 'ieee' else dst.nan | (dst.sign if src.neg(x) and src.kind == 'ieee' else 0)
    if src.is_inf(x):
        if saturate or dst.kind != 'ieee':
            return (dst.max if saturate else dst.nan) | (dst.sign if src.neg(x) and (saturate or dst.kind == 'fn')
                                                         else 0)
        return dst.inf | (dst.sign if src.neg(x) else 0)
    return dst.round(src.value(x), mode, src.neg(x), saturate)


def flush(f, x):
    return x & f.sign if f.is_denormal(x) else x


def clamp(f, x):
    """The clamp modifier with DX10_CLAMP: to [0, 1], a NaN to 0."""
    if f.is_nan(x) or f.neg(x):
        return 0
    return min(x, f.bias << f.m)


def less(f, a, b):
    """a < b of numbers that are not NaN, infinities included, -0 equal to +0."""
    return order(f, a) < order(f, b)


def order(f, x):
    magnitude = x & (f.sign - 1)
    return -magnitude if x & f.sign else magnitude


def total(f, x):
    """As order, with -0 below +0."""
    return order(f, x) * 2 - (1 if x & f.sign else 0)


# ---- rounding to integers ----

def floor_q(v):
    return v.numerator // v.denominator


def integral(f, x, how):
    if f.is_nan(x):
        return f.nan
    if f.is_inf(x) or f.is_zero(x):
        return x
    v = f.value(x)
    n = floor_q(v)
    if how == 'ceil':
        n = -floor_q(-v)
    elif how == 'trunc':
        n = n if v >= 0 else -floor_q(-v)
    elif how == 'rndne':
        d = v - n
        if d > Q(1, 2) or (d == Q(1, 2) and n & 1):
            n += 1
    return f.round(Q(n), RNE, f.neg(x))


def fract(f, x):
    """x - floor(x), and below 1 always."""
    if not finite(f, x):
        return f.nan
    v = f.value(x)
    return min(f.round(v - floor_q(v)), (f.bias << f.m) - 1)


def to_int(f, x, lo, hi, how='trunc'):
    """Saturating; a NaN gives 0."""
    if f.is_nan(x):
        return 0
    if f.is_inf(x):
        return lo if f.neg(x) else hi
    v = f.value(x)
    if how == 'floor':
        n = floor_q(v)
    elif how == 'nearest':
        n = floor_q(v + Q(1, 2))
    else:
        n = floor_q(v) if v >= 0 else -floor_q(-v)
    return max(lo, min(hi, n))


# ---- functions, correctly rounded ----

def real(v):
    return Decimal(v.numerator) / Decimal(v.denominator)


def exact(d):
    return Q(d)


def rcp(f, x):
    if f.is_nan(x):
        return f.nan
    s = x & f.sign
    if f.is_inf(x):
        return s
    if f.is_zero(x):
        return s | f.inf
    return f.round(1 / f.value(x))


def root(v):
    """The square root to 300 bits, a little above when it is not exact."""
    k = 300 - (v.numerator.bit_length() - v.denominator.bit_length()) // 2
    scaled = v * Q(4) ** k
    r = isqrt(scaled.numerator // scaled.denominator)
    return (r + (Q(1, 1 << 20) if r * r != scaled else 0)) / Q(2) ** k


def sqrt(f, x):
    if f.is_nan(x):
        return f.nan
    if f.is_zero(x):
        return x
    if f.neg(x):
        return f.nan
    return x if f.is_inf(x) else f.round(root(f.value(x)))


def rsq(f, x):
    if f.is_nan(x):
        return f.nan
    if f.is_zero(x):
        return f.inf | (x & f.sign)
    if f.neg(x):
        return f.nan
    return 0 if f.is_inf(x) else f.round(root(1 / f.value(x)))


LN2 = Decimal(2).ln()


def exp2(f, x):
    if f.is_nan(x):
        return f.nan
    if f.is_inf(x):
        return 0 if f.neg(x) else x
    v = f.value(x)
    if v.denominator == 1 and abs(v) < 2000:
        return f.round(Q(2) ** int(v))
    if abs(v) > 2000:
        return 0 if v < 0 else f.inf
    return f.round(exact((real(v) * LN2).exp()))


def log2(f, x):
    if f.is_nan(x):
        return f.nan
    if f.is_zero(x):
        return f.inf | f.sign
    if f.neg(x):
        return f.nan
    if f.is_inf(x):
        return x
    v = f.value(x)
    k = v.numerator.bit_length() - v.denominator.bit_length()
    if v == Q(2) ** k:
        return f.round(Q(k))
    return f.round(exact(real(v).ln() / LN2))


def pi(digits):
    """Machin's formula."""
    with localcontext() as context:
        context.prec = digits

        def arctan(n):
            term, total_, k = Decimal(1) / n, Decimal(0), 0
            while abs(term) > Decimal(10) ** (2 - digits):
                total_ += term / (2 * k + 1) * (1 if k % 2 == 0 else -1)
                term /= n * n
                k += 1
            return total_
        return 4 * (4 * arctan(5) - arctan(239))


PI = pi(80)


def sine(f, x, quarter):
    """sin(2 pi x), or with quarter 1 the cosine."""
    if not finite(f, x):
        return f.nan
    v = f.value(x)
    if v == 0 and not quarter:
        return x
    t = v + Q(quarter, 4)
    t -= floor_q(t)
    if (t * 4).denominator == 1:
        return f.round(Q([0, 1, 0, -1][int(t * 4)]), RNE)
    a = real(t) * 2 * PI
    if a > PI:
        a -= 2 * PI
    term, total_, k = a, Decimal(0), 1
    while abs(term) > Decimal(10) ** -70:
        total_ += term
        term *= -a * a / ((k + 1) * (k + 2))
        k += 2
    return f.round(exact(total_))


def ldexp(f, x, n, mode=RNE):
    if f.is_nan(x):
        return f.nan
    if f.is_inf(x) or f.is_zero(x):
        return x
    return f.round(f.value(x) * Q(2) ** max(-5000, min(5000, n)), mode)


def frexp(f, x):
    """(mantissa in [0.5, 1), exponent); (x, 0) of zeros, infinities and NaN."""
    if not finite(f, x) or f.is_zero(x):
        return x, 0
    a = abs(f.value(x))
    k = a.numerator.bit_length() - a.denominator.bit_length()
    if Q(2) ** k > a:
        k -= 1
    return f.round(f.value(x) / Q(2) ** (k + 1)), k + 1
