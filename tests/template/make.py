#!/usr/bin/env python3
"""Makes tests/template/cases.json: what Python's jinja2 renders, set up as Hugging Face's transformers sets it up.

    python3 -m pip install jinja2==3.1.6 && tests/template/make.py

With --render PROGRAM FILE... it compares PROGRAM TEMPLATE CONTEXT, which prints a rendering, with jinja2 on templates
of models instead, each over several conversations, and ends with a line of counts."""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jinja2
import jinja2.ext
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = 1700000000


class Generation(jinja2.ext.Extension):
    """{% generation %}...{% endgeneration %} prints what is inside."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_show"), [], [], body).set_lineno(line)

    def _show(self, caller):
        return caller()


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=[Generation, jinja2.ext.loopcontrols])

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda format: datetime.datetime.fromtimestamp(
        NOW, datetime.timezone.utc).strftime(format)
    return env


CONTEXT = {"s": "Hello, World", "u": "Ünï €😀 ß", "n": 7, "m": -7, "f": 2.5, "t": True, "z": None, "e": "", "l": [3, 1, 2],
           "w": ["b", "A", "c", "a"], "d": {"b": 1, "a": {"c": [1, 2]}, "items": 5}, "x": "<a & 'b'>", "bos": "<s>",
           "p": "  two  words\n", "q": "it's \"so\"\\\n\t\x00\x7f", "big": 9007199254740993,
           "messages": [{"role": "system", "content": " be  brief "}, {"role": "user", "content": "hi\nthere"},
                        {"role": "assistant", "content": "ok", "tool_calls": []}]}

# White space, statements, expressions, filters, tests, methods: a line each.
TEMPLATES = """
{{ s }} {{ u }} {{ n }} {{ f }} {{ t }} {{ z }} {{ nothing }}|{{ big }}
{{ l }} {{ d }} {{ (1, 'a') }} {{ (1,) }} {{ () }} {{ [] }} {{ {} }} {{ q }}
{{ [q, u, x, "it's", 'say "x"', 1.0, 1e100, 1e-7, 123456789012345680.0, 0.1, true, none] }}
{{ 1e16 }} {{ 1e15 }} {{ 1.5e-5 }} {{ 0.0001 }} {{ 3.0 }} {{ 1_000 }} {{ -0.0 }} {{ 100.0 }} {{ 5e-324 }} {{ 1.7976931348623157e308 }}
{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % -3 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 2 ** 3 ** 2 }}
{{ 1 + 2 * 3 - 4 / 2 }} {{ -2 ** 2 }} {{ - 3 + 5 }} {{ +n }} {{ 'a' ~ 1 ~ none ~ true }} {{ 'ab' * 3 }} {{ [1] * 2 + [3] }}
{{ 1 < 2 < 3 }} {{ 1 < 2 > 3 }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ 1 == 1.0 }} {{ true == 1 }} {{ 'a' == 1 }} {{ not 1 == 2 }}
{{ 'l' in s }} {{ 'x' not in s }} {{ 1 in l }} {{ 'a' in d }} {{ 'zz' in d }} {{ not 'a' in d }} {{ '' in e }}
{{ 'yes' if n > 3 else 'no' }} {{ 'yes' if n > 30 }}| {{ 1 if false else 2 if false else 3 }} {{ (1 if t else 2) + 1 }}
{{ none or 'a' }} {{ 0 or '' or 'b' }} {{ 1 and 2 }} {{ '' and 3 }} {{ t and not z }}
{{ s[0] }} {{ s[-1] }} {{ u[1] }} {{ u[6:] }} {{ s[2:5] }} {{ s[::-1] }} {{ s[::3] }} {{ s[-3:] }} {{ s[100] }}| {{ s[5:2] }}| {{ u[::-2] }}
{{ l[0] }} {{ l[-1] }} {{ l[1:] }} {{ l[:-1] }} {{ l[::-1] }} {{ l[5] }}| {{ l[::2] }} {{ (1, 2, 3)[1:] }} {{ messages[::-1][0].role }}
{{ d.b }} {{ d['b'] }} {{ d.a.c[1] }} {{ d['items'] }} {{ d.nothing }}| {{ d.get('b') }} {{ d.get('q', 3) }} {{ d.get('q') }} {{ d.a.c.0 }}
{{ d.items() | list }} {{ d.keys() | list }} {{ d.values() | list }}
{% if n == 7 %}seven{% elif n == 8 %}eight{% else %}other{% endif %} {% if z %}a{% elif not z %}b{% endif %}
{% for x in l %}{{ loop.index }}:{{ x }}{{ ',' if not loop.last }}{% endfor %} {% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}
{% for x in l %}{{ loop.index0 }}{{ loop.first }}{{ loop.length }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.depth }} {% endfor %}
{% for x in [] %}a{% else %}none{% endfor %} {% for x in nothing %}a{% else %}none{% endfor %} {% for c in 'aß€' %}{{ c }}.{% endfor %}
{% for x in range(10) if x % 3 == 0 %}{{ x }}/{{ loop.length }} {% endfor %}{% for x in range(3) %}{% for y in range(x) %}{{ x }}{{ y }}{{ loop.index }} {% endfor %}{% endfor %}
{% for x in range(10) %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 5 %}{% break %}{% endif %}{{ x }}{% endfor %} {% for x in range(6) %}{{ loop.cycle('a', 'b', 'c') }}{% endfor %}
{{ range(3) | list }} {{ range(2, 8, 3) | list }} {{ range(5, 0, -2) | list }} {{ range(0) | list }}
{% set a = 1 %}{% set b, c = 2, 3 %}{{ a + b + c }}{% set k = 1 %}{% for x in l %}{% set k = k + x %}{{ k }} {% endfor %}{{ k }}
{% set ns = namespace(k=0, s='') %}{% for x in l %}{% set ns.k = ns.k + x %}{% set ns.s = ns.s ~ x %}{% endfor %}{{ ns.k }} {{ ns.s }} {{ ns.zz }}|
{% set v %}a {{ n }} b{% endset %}[{{ v }}]{% set v | upper | trim %} q {{ n }} {% endset %}[{{ v }}]
{% macro f(a, b=2, c='x') %}{{ a }}-{{ b }}-{{ c }}{% endmacro %}{{ f(1) }} {{ f(1, 3) }} {{ f(1, c='y') }} {{ f(b=5, a=6) }} {{ f() }} {{ f(1) | upper }}
{% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }} {% set g = 3 %}{% macro h() %}{{ g }}{{ n }}{% endmacro %}{% set g = 4 %}{{ h() }}
{% macro f(x) %}<{{ caller(x) }}{{ caller(x + 1) }}>{% endmacro %}{% call(y) f(3) %}[{{ y }}{{ n }}]{% endcall %}{% macro g() %}({{ caller() }}){% endmacro %}{% call g() %}in{% endcall %}
{% filter upper %}abc {{ s }}{% endfilter %} {% filter replace('a', 'b') | upper %}banana{% endfilter %}
{% raw %}{{ not }} {% if %}{% endraw %} {# a comment {{ s }} #}x{#- c -#} y {% generation %}gen {{ n }}{% endgeneration %}
{{ p | trim }}| {{ s | upper }} {{ s | lower }} {{ u | upper }} {{ u | lower }} {{ 'hello wORLD' | title }} {{ 'hELLO' | capitalize }} {{ s | length }} {{ u | length }} {{ d | length }} {{ l | count }}
{{ nothing | default('x') }} {{ z | default('x') }} {{ z | default('x', true) }} {{ e | d('y', boolean=true) }} {{ nothing | default }}|
{{ l | join(',') }} {{ w | join }} {{ messages | join('-', attribute='role') }} {{ d | join('+') }} {{ l | first }} {{ l | last }} {{ s | first }} {{ l | reverse | list }} {{ s | reverse }}
{{ l | sort }} {{ w | sort }} {{ w | sort(case_sensitive=true) }} {{ l | sort(reverse=true) }} {{ messages | sort(attribute='role') | map(attribute='role') | list }}
{{ d | dictsort | list | length }} {{ {'B': 1, 'a': 2, 'C': 0} | dictsort }} {{ {'B': 1, 'a': 2} | dictsort(by='value', reverse=true) }} {{ {'B': 1, 'a': 2} | dictsort(true) }}
{{ ['a', 'A', 'b', 'a'] | unique | list }} {{ l | min }} {{ l | max }} {{ w | min }} {{ l | sum }} {{ [{'v': 1}, {'v': 2}] | sum(attribute='v') }} {{ 3 | abs }} {{ m | abs }}
{{ l | select('odd') | list }} {{ l | reject('greaterthan', 1) | list }} {{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list }} {{ messages | rejectattr('tool_calls', 'defined') | list | length }} {{ [0, 1, '', 'a'] | select | list }} {{ none | select | list }}
{{ w | map('upper') | join }} {{ messages | map(attribute='zz', default='-') | join }} {{ [[1, 2], [3]] | map('length') | list }} {{ [{'a': {'b': 1}}] | map(attribute='a.b') | list }} {{ w | map('replace', 'a', 'q') | join }}
{{ d | tojson }} {{ l | tojson(indent=2) }} {{ {'b': [], 'a': {}} | tojson(indent=4) }} {{ d | tojson(sort_keys=true) }} {{ [1.0, 1e100, none, true, u, q] | tojson }} {{ l | tojson(separators=(',', ':')) }} {{ {1: 2, none: 3, true: 4} | tojson }}
{{ 'a\\nb\\n\\nc' | indent }}| {{ 'a\\nb' | indent(2, true) }}| {{ 'a\\n\\nb\\n' | indent(width=1, blank=true) }}| {{ 'a\\nb' | indent('> ') }}
{{ '42' | int }} {{ '4.7' | int }} {{ 'x' | int }} {{ 'x' | int(9) }} {{ 3.9 | int }} {{ '2.5' | float }} {{ 'y' | float }} {{ 2.567 | round(1) }} {{ 2.5 | round }} {{ 3.5 | round }} {{ 2.1 | round(method='ceil') }} {{ 2.19 | round(1, 'floor') }} {{ n | string | length }}
{{ x | e }} {{ x | escape | escape }} {{ x | safe + x }} {{ x | safe ~ 1 ~ x }} {{ (x | e) | length }} {{ x | safe | upper }}
{{ n is number }} {{ n is odd }} {{ n is even }} {{ n is divisibleby 7 }} {{ s is string }} {{ z is none }} {{ z is not none }} {{ nothing is defined }} {{ nothing is undefined }} {{ n is not defined }} {{ d is mapping }} {{ l is sequence }} {{ s is sequence }} {{ l is iterable }} {{ n is iterable }}
{{ t is boolean }} {{ t is true }} {{ t is false }} {{ 1 is true }} {{ n is integer }} {{ f is float }} {{ f is integer }} {{ t is integer }} {{ t is number }} {{ 'a' is eq 'a' }} {{ 1 is in [1, 2] }} {{ 3 is sameas 3 }} {{ 'ab' is lower }} {{ 'AB' is upper }} {{ range is callable }} {{ n is gt 3 and n is lt 9 }} {{ n is ne(7) }} {{ d is sequence }} {{ nothing is iterable }}
{{ s.split(', ') }} {{ p.split() }} {{ 'a,b,c'.split(',', 1) }} {{ ' a  b c '.split(none, 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ 'a\\nb\\r\\nc\\n'.splitlines() }} {{ 'a=b=c'.partition('=') }} {{ 'a=b=c'.rpartition('=') }} {{ 'abc'.partition('x') }} {{ ''.split(',') }} {{ ''.split() }}
{{ p.strip() }}| {{ p.lstrip() }}| {{ p.rstrip() }}| {{ 'xxaxx'.strip('x') }} {{ 'abcba'.strip('ab') }} {{ '€a€'.strip('€') }} {{ s.startswith('Hell') }} {{ s.endswith('x') }} {{ s.endswith(('x', 'ld')) }} {{ 'abc'.removeprefix('a') }} {{ 'abc'.removesuffix('bc') }}
{{ s.replace('l', 'L') }} {{ s.replace('l', '', 1) }} {{ 'aaa'.replace('aa', 'b') }} {{ 'ab€'.replace('', '-') }} {{ s.find('W') }} {{ u.find('€') }} {{ s.find('q') }} {{ s.rfind('o') }} {{ s.count('l') }} {{ 'aaa'.count('aa') }} {{ s.index('W') }} {{ l.index(2) }} {{ [1, 1, 2].count(1) }}
{{ 'it IS'.title() }} {{ 'it IS'.capitalize() }} {{ 'x'.upper() }} {{ ','.join(w) }} {{ '7'.zfill(3) }} {{ '-7'.zfill(4) }} {{ 'ab'.isalpha() }} {{ '12'.isdigit() }} {{ ' '.isspace() }} {{ 'a1'.isalnum() }} {{ 'aB'.islower() }} {{ 'AB1'.isupper() }} {{ ''.isalpha() }}
{{ '{} and {}'.format(1, 'b') }} {{ '{1}{0}{{}}'.format('a', 'b') }} {{ '{name}!'.format(name=s) }} {{ 'a' 'b' "c" }} {{ 'tab\\tnl\\x41\\u20ac\\U0001F600\\q\\'' }} {{ "double \\"x\\"" }}
{{ dict(a=1, b=2) }} {{ dict({'a': 1}, b=2) }} {{ strftime_now('%Y-%m-%d %H') }} {{ [1, [2, [3]]] == [1, [2, [3]]] }} {{ {'a': 1} == {'a': 1.0} }} {{ (1, 2) == [1, 2] }}
{{ messages[0]['role'] + ': ' + messages[0].content | trim }} {{ messages | length > 2 }} {{ (messages | last).tool_calls is defined }} {{ messages[0].tool_calls is defined and messages[0].tool_calls }} {{ [1,2,3,] }} {{ {'a': 1,}['a'] }}
{{ nothing.x }}
{{ d.nothing.x }}
{{ 'a' + 1 }}
{{ 1 // 0 }}
{{ nothing + 1 }}
{{ nothing() }}
{{ l.append(4) }}
{{ raise_exception('no ' ~ s) }}
{{ [1] < ['a'] }}
{% for a, b in l %}{% endfor %}
{% set d.x = 1 %}
{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}
{% macro f(a) %}{% endmacro %}{{ f(q=2) }}
{{ l | nosuchfilter }}
{{ l is nosuchtest }}
{% for x in 5 %}{% endfor %}
{{ {[1]: 2} }}
{{ 'x' | tojson(nothing }}
{% if %}{% endif %}
{% for x in l %}
{{ 'abc }}
{% endif %}
{% break %}
{{ }}
{{ 1 + }}
{# open
{{ a b }}
{% unknown %}
""".strip("\n").split("\n")

# White space over several lines.
TEMPLATES += [
    "  {% if t %}\n    yes\n  {% endif %}\nend\n",
    "a\n  {%- if t -%}  \n  b  \n  {%- endif %}  \n c\n\n",
    "{% for x in l %}\n  {{ x }}\n{% endfor %}\n\nend",
    "x {% if t %} y {% endif %} z\n{# c #}\n  {# d #}  \nq\n",
    "{%+ if t %}a{%+ endif +%}\nb\n  {%+ if t +%}\nc{% endif %}",
    "a  {{- s -}}  b {{ s -}} \n c {{- s }}\n\n",
    "line\r\nnext\r{% if t %}\r\nin\r\n{% endif %}\r\n",
    "{% raw -%}  {{ x }}  {%- endraw %} y",
    "\t{% set a = 1 %}\t{{ a }}\n\t{% set a = 2 %}\n{{ a }}",
    "{%- for m in messages -%}\n<|{{ m.role }}|>\n{{ m['content'] | trim }}<|end|>\n{% endfor -%}\n{% if t %}<|assistant|>\n{% endif %}",
    "{{ bos }}{% for m in messages %}{% if loop.first and m.role == 'system' %}[{{ m.content }}]{% elif m.role == 'user' %}\n### {{ m.content }}\n{% else %}{{ m.content }}{% endif %}{% endfor %}",
    "", "\n", "\n\n", "plain", "{", "a{ b } %} }}", "{{ '}}' }} {{ '%}' }} {{ {'a': {'b': 1}} }}",
]

CONVERSATIONS = [
    [{"role": "user", "content": "Hi there"}],
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi, \"you\" é\n"}],
    [{"role": "system", "content": "S"}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "  b  "},
     {"role": "user", "content": "c"}],
    [{"role": "user", "content": "a"}, {"role": "assistant", "content": "<think>x</think>b"},
     {"role": "user", "content": "c"}, {"role": "assistant", "content": "d"}],
    [{"role": "user", "content": [{"type": "text", "text": "part one"}, {"type": "text", "text": "part two"}]}],
    [{"role": "assistant", "content": "x"}],
    [],
]


def expected(source, context):
    try:
        return {"text": environment().from_string(source).render(**context)}
    except Exception as error:  # whatever it is, the rendering has to fail too
        return {"error": type(error).__name__}


def compare(program, files):
    same = both = different = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "context.json")
        for name in files:
            source = pathlib.Path(name).read_text(encoding="utf-8")
            for i, messages in enumerate(CONVERSATIONS):
                for prompt in True, False:
                    context = {"messages": messages, "add_generation_prompt": prompt, "bos_token": "<s>",
                               "eos_token": "</s>", "unk_token": "<unk>"}
                    pathlib.Path(path).write_text(json.dumps(context), encoding="utf-8")
                    want = expected(source, context)
                    done = subprocess.run([program, name, path, str(NOW)], stdout=subprocess.PIPE, env={"TZ": "UTC"},
                                          stderr=subprocess.PIPE, check=False)
                    got = {"text": done.stdout.decode()} if done.returncode == 0 else {"error": ""}
                    if got.get("text") == want.get("text"):
                        same += "text" in want
                        both += "error" in want
                        continue
                    different += 1
                    print("%s, conversation %d: jinja2 %.200r, here %.200r %s" % (
                        os.path.basename(name), i, want, got, done.stderr.decode(errors="replace")[:200]))
    print("%d templates: %d renderings equal, %d fail in both, %d differ" % (len(files), same, both, different))
    return 1 if different else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--render")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    if options.render:
        return compare(options.render, options.files)
    cases = [{"template": source, **expected(source, CONTEXT)} for source in TEMPLATES]
    path = pathlib.Path(__file__).with_name("cases.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"jinja2": jinja2.__version__, "now": NOW, "context": CONTEXT, "cases": cases}, file, indent=1)
        file.write("\n")
    print("%d cases, %d of them errors" % (len(cases), sum("error" in case for case in cases)))
    return 0


sys.exit(main())
