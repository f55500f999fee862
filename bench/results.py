# SPDX-License-Identifier: GPL-2.0-only
"""What the runner in the guest printed, and what is computed from it."""

import collections
import json
import re

SIZES = (8, 64, 256)

# Cost of a call: instructions, with those of the bracket around it.
Cost = collections.namedtuple("Cost", "mean worst interrupted interrupted_worst kept")


def compiler(module):
    """The compiler that made a kernel module."""
    with open(module, "rb") as file:
        found = re.search(rb"GCC: \([^)]*\) ([\d.]+)", file.read())
    return "gcc " + found[1].decode() if found else "unknown"


class Results:
    """All lines of one kernel."""

    def __init__(self, lines):
        self.lines = [json.loads(line) for line in lines]

    def part(self, name):
        return [line for line in self.lines if line["part"] == name]

    def cases(self):
        """Names in the order in which they were measured."""
        return list(dict.fromkeys(line["case"] for line in self.part("exact")))

    def cost(self, case, size, part="exact"):
        """None if this kernel does not have it."""
        for line in self.part(part):
            if (line["case"], line["size"]) == (case, size) and not line.get("absent"):
                return Cost(line["sum"] / line["calls"], line["max"], line["interrupted"],
                            line["interrupted_max"], line.get("kept"))
        return None

    def is_exact(self):
        """Whether instructions were counted: nothing else takes the same time every time."""
        return all(line["min"] == line["max"] for line in self.part("exact")
                   if line["case"] == "harness")

    def net(self, case, size, value="mean", part="exact"):
        """Instructions of a case above the empty program's; or its worst."""
        cost = self.cost(case, size, part)
        return cost and getattr(cost, value) - self.cost("harness", size).mean

    def ratio(self, case, to, size):
        peer = self.net(to, size)
        return peer and self.net(case, size) / peer
