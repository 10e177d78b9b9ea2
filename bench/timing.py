"""Times calls of several libraries in turns."""
import statistics
import time
from typing import Callable, NamedTuple

import numpy

FLUSH = numpy.zeros(96 << 20, numpy.uint8)


def empty_caches():
    """Leaves nothing of a call's operands in the processor's caches."""
    FLUSH[::64] += 1


class Side(NamedTuple):
    """One library: calls without arguments that are made one after another, what waits for the last of them, and what
    is set before each batch."""
    calls: list
    wait: Callable = lambda: None
    prepare: Callable = lambda: None


def batch_time(side, count):
    """Seconds of a call, of `count` in a row."""
    began = time.perf_counter()
    for i in range(count):
        side.calls[i % len(side.calls)]()
    side.wait()
    return (time.perf_counter() - began) / count


def in_turns(sides, repeats, seconds, *, pause=0, batches=1, figure=statistics.median):
    """A figure of each side over `repeats` turns of some batches of some `seconds`. The pause before a turn lets the
    other library's threads go to sleep: PyTorch's spin for some 10 ms after a call, on cores the next one needs."""
    counts, times = [], [[] for _ in sides]
    for side in sides:
        side.prepare()
        batch_time(side, 2)
        counts.append(max(1, min(400, int(seconds / max(min(batch_time(side, 2) for _ in range(2)), 1e-7)))))
    for _ in range(repeats):
        for i, side in enumerate(sides):
            time.sleep(pause)
            side.prepare()
            batch_time(side, 1)
            times[i] += [batch_time(side, counts[i]) for _ in range(batches)]
    return [figure(side) for side in times]


def cold_in_turns(sides, repeats, count, pause, figure):
    """The same on the processor, of single calls, each with caches emptied before it."""
    times = [[] for _ in sides]
    for _ in range(repeats):
        for i, side in enumerate(sides):
            time.sleep(pause)
            batch_time(side, 1)
            for _ in range(count):
                empty_caches()
                times[i].append(batch_time(side, 1))
    return [figure(side) for side in times]
