#!/usr/bin/env python3
"""wick chat, with lines from a pipe and on a terminal. Standard library only.

Usage: chat.py WICK
"""
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time

import gguf_files
import recipes

WICK = os.path.abspath(sys.argv[1])
LLAMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "model", "llama.gguf")
TEMPLATE = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
PLAIN = ["--temp", "0", "--device", "cpu"]
failed = 0


def check(name, good, *shown):
    global failed
    if not good:
        print("failed:", name, *shown)
        failed += 1


def run(*arguments, lines="", status=0):
    result = subprocess.run([WICK, *arguments], input=lines, capture_output=True, text=True, timeout=60, check=False)
    check(" ".join(arguments), result.returncode == status, result.returncode, result.stderr)
    return result


def answer(model, prompt):
    """What follows a prompt, without its new line."""
    text = run("generate", *PLAIN, "-n", "6", model, prompt).stdout
    check("the prompt is repeated", text.startswith(prompt), text)
    return text[len(prompt):-1]


def check_pipe(model, endless):
    """Each prompt holds all that was said; the template here puts it one behind the other."""
    first = answer(model, "BCA")
    second = answer(model, "BCA" + first + "XY")
    check("answers", first and second and first != second, first, second)
    chat = ["chat", model, *PLAIN, "-n", "6"]
    got = run(*chat, lines="BCA\nXY\n").stdout
    check("two turns", got == f"{first}\n{second}\n", got, first, second)
    got = run(*chat, lines="BCA\n\n/new\nBCA").stdout
    check("/new forgets", got == f"{first}\n{first}\n", got)
    check("/quit", run(*chat, lines="BCA\n/quit\nBCA\n").stdout == f"{first}\n")
    got = run(*chat, "--system", "QQ", lines="BCA\n/new\nBCA\n").stdout
    check("--system", got == 2 * (answer(model, "QQBCA") + "\n"), got)
    told = run("chat", endless, *PLAIN, lines="BCA\n", status=1).stderr
    check("a full context is told", "context" in told, told)
    check("no template", "no chat template" in run("chat", LLAMA, "--device", "cpu", status=1).stderr)
    check("no model", "needs a model" in run("chat", status=2).stderr)


class Terminal:
    def __init__(self, folder, *arguments):
        self.text = b""
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.environ.update(XDG_CACHE_HOME=os.path.join(folder, "a", "cache"), TERM="dumb")
            os.execv(WICK, [WICK, *arguments])

    def wait(self, text, seconds=20):
        """What came up to the text; all that came is taken."""
        end = time.monotonic() + seconds
        while text not in self.text and time.monotonic() < end:
            if select.select([self.file], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.file, 65536)
                except OSError:
                    break
        check(f"{text} comes", text in self.text, self.text[-300:])
        before, _, self.text = self.text.partition(text)
        return before

    def send(self, keys):
        os.write(self.file, keys)

    def interrupt(self):
        """Presses Ctrl-C until there is a prompt: one that comes between the prompt and the reading of keys has no effect."""
        for _ in range(10):
            self.send(b"\x03")
            end = time.monotonic() + 2
            while b"> " not in self.text and time.monotonic() < end:
                if select.select([self.file], [], [], 0.1)[0]:
                    self.text += os.read(self.file, 65536)
            if b"> " in self.text:
                break
        self.wait(b"> ")

    def end(self, key=b""):
        """Waits for the end, and presses a key until it comes: one between the prompt and the reading of keys is lost."""
        end, press = time.monotonic() + 20, 0.0
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return status
            if key and time.monotonic() > press:
                press = time.monotonic() + 2
                self.send(key)
            time.sleep(0.05)
        os.kill(self.pid, signal.SIGKILL)
        return os.waitpid(self.pid, 0)[1]


def check_terminal(folder, model, endless):
    terminal = Terminal(folder, "chat", endless, *PLAIN, "-c", "1000000")
    terminal.wait(b"> ")
    terminal.send(b"AB")
    terminal.wait(b"AB")
    terminal.interrupt()  # ends the line
    terminal.send(b"AB\r")
    terminal.wait(b"\n")
    time.sleep(1)
    check("the answer goes on", b"> " not in terminal.text, terminal.text)
    terminal.interrupt()  # ends the answer
    terminal.send(b"/quit\r")
    check("Ctrl-C leaves the program alone", terminal.end() == 0)
    first = answer(model, "BCA").encode()
    terminal = Terminal(folder, "chat", model, *PLAIN, "-n", "6")
    terminal.wait(b"> ")
    terminal.send(b"BCX\x7fA\r")  # a key that deletes
    terminal.wait(first)
    terminal.wait(b"> ")
    terminal.send(b"\0")  # as a Ctrl-D arrives that the terminal took before the editor did
    check("Ctrl-D ends it", terminal.end(b"\x04") == 0)
    history = os.path.join(folder, "a", "cache", "wick", "chat_history")
    if os.path.exists(history):  # only with libedit
        with open(history, encoding="utf-8") as file:
            check("the history has the lines", file.read().splitlines()[1:] == ["AB", "/quit", "BCA"])
        check("the history is private", os.stat(history).st_mode & 0o077 == 0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        model, endless = os.path.join(folder, "model.gguf"), os.path.join(folder, "endless.gguf")
        gguf_files.add_key(LLAMA, model, "tokenizer.chat_template", TEMPLATE)
        recipes.write_model(endless, "narrow", {"tokenizer.chat_template": TEMPLATE})  # all logits are equal: never an end
        check_pipe(model, endless)
        check_terminal(folder, model, endless)
    sys.exit(failed > 0)


main()
