#!/usr/bin/env python3
"""Times `wick bench --model` beside llama.cpp as the PyPI package xllamacpp has it, on the CPU.

    bench/generate.py --wick build/cli/wick --model SmolLM2-135M-Instruct.Q4_1.gguf --output docs/results/generate.md

Each round starts one process of each with each number of threads, in turns: a prompt of 512 tokens (pp512), then 128 tokens one at a time (tg128),
both after a run that does not count. llama.cpp's speeds are its own timings of a completion; those of tokens contain the
choice of the likeliest, which wick bench leaves out. OpenMP's threads are told to wait
passively there, because it is faster on a machine that is shared."""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

THEIRS = """
import json, random, sys
import xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.n_ctx, parameters.n_parallel, parameters.warmup = 1024, 1, True
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = int(sys.argv[2])
server = xllamacpp.Server(parameters)
random.seed(1)
ids = [[random.randrange(17, 49000) for _ in range(n)] for n in (512, 512, 1, 1)]
found = {}
for i, n in enumerate((1, 1, 1, 129)):
    answer = server.handle_completions({"prompt": ids[i], "n_predict": n, "temperature": 0, "ignore_eos": True,
                                        "cache_prompt": False, "timings_per_token": True})
    answer = json.loads(answer) if isinstance(answer, (str, bytes)) else answer
    timings = answer["timings"]
    if i == 1:
        assert timings["prompt_n"] == 512, timings
        found["pp512"] = timings["prompt_per_second"]
    if i == 3:
        assert timings["predicted_n"] == 129, timings
        found["tg128"] = timings["predicted_per_second"]
print("FOUND", json.dumps(found))
"""
TESTS = ("pp512", "tg128")


def ours(options, threads):
    command = [options.wick, "bench", "--model", options.model, "-t", str(threads), "-r", "1", "--json"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout)
    return {f"pp{row['n_prompt']}" if row["n_prompt"] else f"tg{row['n_gen']}": row["avg_ts"] for row in rows}


def theirs(options, threads):
    result = subprocess.run([sys.executable, "-c", THEIRS, options.model, str(threads)], check=True,
                            capture_output=True, text=True, stdin=subprocess.DEVNULL,
                            env=dict(os.environ, OMP_WAIT_POLICY="passive"))
    line = next(line for line in result.stdout.splitlines() if line.startswith("FOUND "))
    return json.loads(line[6:])


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def table(options, found, loads):
    import importlib.metadata
    lines = [f"{os.path.basename(options.model)}, {options.rounds} rounds, {processor()}, {os.cpu_count()} processors, "
             f"xllamacpp {importlib.metadata.version('xllamacpp')}. Load of the machine (1 minute) while it ran: "
             f"{min(loads):.1f} to {max(loads):.1f}.", "",
             "| test | threads | Wick, tokens/s: median (least to most) | llama.cpp | Wick / llama.cpp, medians |",
             "| --- | ---: | ---: | ---: | ---: |"]
    for test in TESTS:
        for threads in options.threads:
            values = [[round_[test] for round_ in found[threads, who]] for who in (ours, theirs)]
            shown = [f"{statistics.median(x):.1f} ({min(x):.1f} to {max(x):.1f})" for x in values]
            lines.append(f"| {test} | {threads} | {shown[0]} | {shown[1]} | "
                         f"{statistics.median(values[0]) / statistics.median(values[1]):.2f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wick", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", help="whose table is replaced; without it, prints the table")
    options = parser.parse_args()
    found, loads = {(threads, who): [] for threads in options.threads for who in (ours, theirs)}, []
    for number in range(options.rounds):
        for threads, measure in found:
            found[threads, measure].append(measure(options, threads))
            loads.append(os.getloadavg()[0])
            print(number, threads, measure.__name__, found[threads, measure][-1], file=sys.stderr, flush=True)
    text = table(options, found, loads)
    if not options.output:
        print(text, end="")
        return
    page = pathlib.Path(options.output)
    head = page.read_text(encoding="utf-8").rsplit("\n```\n\n", 1)[0]  # the last block of the page is this program's
    page.write_text(head + "\n```\n\n" + text, encoding="utf-8")


main()
