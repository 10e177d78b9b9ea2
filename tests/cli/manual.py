"""Compares the manual page with what the commands' --help says: each names the options that the other does.

Usage: manual.py wick.1 help.COMMAND...
"""
import re
import sys


def sections(page):
    """The text of each command's .TP paragraphs in COMMANDS, by name."""
    commands = page.split(".SH COMMANDS")[1].split(".SH ")[0]
    found, name = {}, None
    for part in commands.split(".SS ")[1:]:
        name = part.split("\n", 1)[0].split()[0].strip('"')
        found[name] = part.replace("\\-", "-")
    return found


page = sections(open(sys.argv[1], encoding="utf-8").read())
bad = 0
for path in sys.argv[2:]:
    command = path.rsplit(".", 1)[1]
    helped = set(re.findall(r"^  (--[a-z-]+)", open(path, encoding="utf-8").read(), re.M)) - {"--help"}
    told = set(re.findall(r"--[a-z-]+", page.pop(command, "")))
    for name in sorted(helped ^ told):
        print(f"{command} {name}: only in {'--help' if name in helped else 'the manual'}")
        bad += 1
for command in page:
    print(f"{command}: only in the manual")
    bad += 1
sys.exit(bad > 0)
