#!/usr/bin/env python3
"""Every promise of SECURITY.md has tests that exist. Usage: security.py SECURITY.md BUILD

A promise is a paragraph under "What is promised" that begins in bold. The table under "How it is tested" has a row for each,
with tests of ctest, or patterns of them, and checks of tools/lint in quotation marks."""
import fnmatch
import pathlib
import re
import subprocess
import sys


def section(text, title):
    found = re.search(r"^##+ %s\n(.*?)(?=^##|\Z)" % re.escape(title), text, re.M | re.S)
    return found.group(1) if found else ""


def main():
    page, build = pathlib.Path(sys.argv[1]), sys.argv[2]
    text = page.read_text()
    promises = re.findall(r"^\*\*([^*.]+?)\.?\*\*", section(text, "What is promised"), re.M)
    rows = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", section(text, "How it is tested"), re.M)
    tests = re.findall(r"Test +#\d+: (\S+)", subprocess.check_output(["ctest", "--test-dir", build, "-N"], text=True))
    lint = (page.parent / "tools" / "lint").read_text()
    tested, bad = {}, []
    for promise, names in rows:
        tested[promise] = names
        for name in re.findall(r"`([^`]+)`", names):
            if not fnmatch.filter(tests, name):
                bad.append("%s: there is no test %s" % (promise, name))
        for check in re.findall(r'"([^"]+)"', names):
            if check not in lint:
                bad.append("%s: tools/lint has no check %s" % (promise, check))
    bad += ["%s: no test is named" % promise for promise in promises if not re.search('[`"]', tested.get(promise, ""))]
    print("\n".join(bad) or "%d promises, each with tests" % len(promises))
    sys.exit(1 if bad or len(promises) < 5 else 0)


main()
