# SPDX-License-Identifier: GPL-2.0-only
"""The kernel log of a guest, and what in it makes a run fail."""

import os
import re

HERE = os.path.dirname(os.path.realpath(__file__))

# "[    1.234567][   T12] ": the time, and on some kernels the caller.
STAMP = re.compile(r"^(?:\[ *\d+\.\d+\])?(?:\[ *[TC]\d+\])? ?")
END_OF_SPLAT = "---[ end "
# Under emulation a CPU may run into the breakpoint of a text patch that is over already
# (attaching to a tracepoint patches the text): "Oops: int3" in the kernel's own text, with
# no module in the way. A stock kernel without any module does it after some hundred times.
STALE_BREAKPOINT = re.compile(r"Oops: int3")
OWN_TEXT = re.compile(r"RIP: 0010:[\w.]+\+0x[0-9a-f]+/0x[0-9a-f]+$")
# A splat without an end marker is shown up to this many lines.
SPLAT_LINES = 60


def read_list(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in lines if line.strip() and line[0] != "#"]


class KernelLog:
    """A log file that is still being written."""

    def __init__(self, path, end=None):
        """The log is complete with a line that begins with end."""
        self.path = path
        self.end = end
        self.offset = 0
        self.lines = []
        self.partial = ""
        self.panicked = False
        self.complete = False
        self.splat = re.compile("|".join(f"(?:{line})" for line in read_list("splats")))
        self.known = [re.compile(line.split("\t")[0]) for line in read_list("known-lines")]

    def update(self):
        try:
            with open(self.path, "rb") as log:
                log.seek(self.offset)
                data = log.read()
        except FileNotFoundError:
            return
        self.offset += len(data)
        text = self.partial + data.decode(errors="replace").replace("\r", "")
        *new, self.partial = text.split("\n")
        for line in new:
            message = STAMP.sub("", line)
            self.panicked |= message.startswith("Kernel panic")
            self.complete |= self.end is not None and message.startswith(self.end)
        self.lines += new

    def emulator_failed(self):
        """Whether the kernel panicked of what only an emulated machine does to it."""
        messages = [STAMP.sub("", line) for line in self.lines]
        for at, message in enumerate(messages):
            if self.splat.match(message):
                rip = [m for m in messages[at:at + SPLAT_LINES] if m.startswith("RIP: ")]
                return bool(self.panicked and STALE_BREAKPOINT.match(message) and rip
                            and OWN_TEXT.match(rip[0]))
        return False

    def splats(self):
        """The splats: pairs of the first line's number and the one after the last."""
        messages = [STAMP.sub("", line) for line in self.lines]
        found = []
        at = 0
        while at < len(messages):
            if not self.splat.match(messages[at]):
                at += 1
                continue
            end = limit = min(at + SPLAT_LINES, len(messages))
            for n in range(at, limit):
                if messages[n].startswith(END_OF_SPLAT):
                    end = n + 1
                    break
            known = [n for n in range(at, end) if any(k.search(messages[n]) for k in self.known)]
            if known:
                # What follows the known line may be a splat of its own.
                at = known[0] + 1
            else:
                found.append((at, end))
                at = end
        return found
