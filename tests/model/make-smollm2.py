#!/usr/bin/env python3
"""Writes what llama.cpp says of SmolLM2: the likeliest tokens after texts, with their log-probabilities, and the greedy
tokens that follow.

Usage: make-smollm2.py MODEL.gguf >smollm2.txt        (needs xllamacpp, from PyPI)

A line a text: the text as JSON, a tab, "id log-probability" of the 8 likeliest next tokens, a tab, 8 greedy ids.
"""
import json
import sys

import xllamacpp

TEXTS = ["The capital of France is", "Once upon a time, there was a", "def fibonacci(n):\n    ", "1, 2, 3, 4,",
         "Water boils at a temperature of", "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n",
         "Die Hauptstadt von Deutschland ist", "The three primary colors are red,"]

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.n_ctx = 512
parameters.n_parallel = 1
parameters.cpuparams.n_threads = 1
parameters.warmup = False
server = xllamacpp.Server(parameters)
for text in TEXTS:
    answer = server.handle_completions({"prompt": text, "n_predict": 8, "temperature": 0, "n_probs": 8,
                                        "ignore_eos": False, "cache_prompt": False})
    answer = json.loads(answer) if isinstance(answer, (str, bytes)) else answer
    tokens = answer["choices"][0]["logprobs"]["content"]
    likely = " ".join(f"{t['id']} {t['logprob']:.6f}" for t in tokens[0]["top_logprobs"])
    print(json.dumps(text), likely, " ".join(str(t["id"]) for t in tokens), sep="\t")
