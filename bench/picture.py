#!/usr/bin/env python3
"""Draws docs/results/embed.svg, the README's picture, from the table in docs/results/embed.md.

    bench/picture.py [TABLE [PICTURE]]"""
import html
import pathlib
import sys

FOLDER = pathlib.Path(__file__).parent.parent / "docs" / "results"
BAR, GAP, LEFT, WIDTH, SCALE = 26, 12, 250, 720, 380
COLORS = {"wick": "#c2410c", "other": "#94a3b8"}


def rows(path):
    """(label, seconds, whether it is Wick) of each row; of several batch sizes the fastest."""
    best = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) < 3 or not cells[2].replace(".", "", 1).isdigit():
            continue
        label, seconds = cells[0].replace("`", ""), float(cells[2])
        key = label.split(", batch")[0]
        best[key] = min(best.get(key, seconds), seconds)
    return [(label, seconds, label.startswith("wick")) for label, seconds in best.items()]


def draw(table):
    longest = max(seconds for _, seconds, _ in table)
    height = 44 + len(table) * (BAR + GAP)
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" '
             'font-size="14">' % (WIDTH, height),
             '<title>Seconds from passages of text to vectors</title>',
             '<rect width="%d" height="%d" fill="#ffffff"/>' % (WIDTH, height),
             '<text x="12" y="24" font-weight="600" fill="#0f172a">40,000 passages to vectors, seconds (less is better)</text>']
    for i, (label, seconds, ours) in enumerate(table):
        y = 40 + i * (BAR + GAP)
        length = max(2, seconds / longest * SCALE)
        parts.append('<text x="%d" y="%d" text-anchor="end" fill="#0f172a">%s</text>' % (
            LEFT - 10, y + BAR * 0.68, html.escape(label)))
        parts.append('<rect x="%d" y="%d" width="%.1f" height="%d" rx="3" fill="%s"/>' % (
            LEFT, y, length, BAR, COLORS["wick" if ours else "other"]))
        parts.append('<text x="%.1f" y="%d" fill="#0f172a">%.1f</text>' % (LEFT + length + 8, y + BAR * 0.68, seconds))
    return "\n".join(parts + ["</svg>", ""])


def main():
    table = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER / "embed.md"
    picture = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else table.with_suffix(".svg")
    picture.write_text(draw(rows(table)), encoding="utf-8")


main()
