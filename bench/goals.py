# SPDX-License-Identifier: GPL-2.0-only
"""What is to be reached, and whether it is."""

import statistics

from results import SIZES

RECORD_OVERHEAD = 16
PACKET_HEADER = 96
# Two CPUs for two threads: less, and the machine was busy with something else.
UNDISTURBED = 1.9


class Goals:
    """A list of them, as they are judged."""

    def __init__(self):
        self.reached = []

    def add(self, name, got, limit, at_least=False, unless=None):
        """unless: why it cannot be judged here."""
        if got is None or unless:
            met, verdict = None, "not judged: " + (unless or "not on this kernel")
        else:
            met = got >= limit if at_least else got <= limit
            by = abs(got - limit) / limit * 100 if limit else abs(got)
            verdict = "met" if met else f"MISSED by {by:.1f} %"
        self.reached.append({
            "name": name, "goal": f"{'>=' if at_least else '<='} {limit:g}", "got": got,
            "met": met, "verdict": verdict})


# ---- Cost -----------------------------------------------------------------------

def judge_cost(goals, results):
    goals.add("output, 64 bytes, net instructions", results.net("output", 64), 110)
    for peer, limit in (("ringbuf_over_output", 0.45), ("relay_write", 0.85), ("perf", 0.15)):
        goals.add(f"output, 64 bytes, of {peer}", results.ratio("output", peer, 64), limit)
    for size in SIZES:
        goals.add(f"reserve, {size} bytes, of output", results.ratio("reserve", "output", size), 1)
    if not results.part("within"):
        return
    for case in ("output", "reserve"):
        for size in SIZES:
            mean = results.net(case, size)
            goals.add(f"{case}, {size} bytes, worst without a switch, of the mean",
                      results.net(case, size, "worst", "within") / mean, 1.5)
            goals.add(f"{case}, {size} bytes, worst with a switch, of the mean",
                      results.net(case, size, "worst") / mean, 5)
    for line in results.part("within"):
        if line["case"] == "output" and line["size"] == 8:
            goals.add("bytes of a record besides its payload", line["overhead"], RECORD_OVERHEAD)
            goals.add("bytes of a packet header", line["packet"], PACKET_HEADER)


# ---- Readers --------------------------------------------------------------------

def reader_costs(results):
    """(usual, mean) of a call without and with a reader."""
    return [(line["min"], line["sum"] / line["calls"]) for line in results.part("reader")]


def judge_reader(goals, results):
    costs = reader_costs(results)
    if costs:
        (usual, mean), (read_usual, read_mean) = costs
        goals.add("a usual call beside a reader, of one without", read_usual / usual, 1)
        goals.add("the mean call beside a reader, of one without", read_mean / mean, 1.01)


# ---- Together -------------------------------------------------------------------

def rates(results):
    """Records per second: {case: {cpus: [one per round]}}."""
    table = {}
    for line in results.part("together"):
        table.setdefault(line["case"], {}).setdefault(line["cpus"], []).append(line["rate"])
    return table


def scaling(table, case, cpus, less=None):
    """
    Records per second relative to one CPU, per round. Without what `less`, of the empty
    program, costs beyond it: the time of a CPU that a record takes is the sum of its parts.
    """
    def time(case, cpus):
        return [cpus / rate for rate in table[case][cpus]]

    def rest(cpus):
        if not less:
            return time(case, cpus)
        return [whole - part + empty for whole, part, empty in
                zip(time(case, cpus), time(less, cpus), time("harness", cpus))]

    return [cpus * one / many for one, many in zip(rest(1), rest(cpus))]


def judge_together(goals, results):
    table = rates(results)
    if not table:
        return
    goals.add("together, output: records not stored, of a thousand",
              max(line["lost"] for line in results.part("together") if line["case"] == "output"), 0)
    empty = {cpus: statistics.median(scaling(table, "harness", cpus)) for cpus in (2, 4)}
    busy = (f"two CPUs ran the empty program {empty[2]:.2f} times as often as one"
            if empty[2] < UNDISTURBED else None)
    for cpus in (2, 4):
        got = statistics.median(scaling(table, "output", cpus, less="clock"))
        goals.add(f"{cpus} CPUs, output without the clock, of the empty program's scaling",
                  got / empty[cpus], 0.95, at_least=True, unless=busy)
    goals.add("2 CPUs, output without the clock, of 1 CPU",
              statistics.median(scaling(table, "output", 2, less="clock")), 1.8, at_least=True,
              unless=busy)
    if "ringbuf_over_output" in table:
        goals.add("2 CPUs, ringbuf_over_output, of 1 CPU",
                  statistics.median(scaling(table, "ringbuf_over_output", 2)), 1, unless=busy)


# ---- Events ---------------------------------------------------------------------

def event_costs(results):
    """Instructions per event: {event: {case: median of the rounds}}."""
    table = {}
    for line in results.part("events"):
        table.setdefault(line["event"], {}).setdefault(line["case"], []).append(line)
    costs = {}
    for event, cases in table.items():
        # What has no program cannot count; the work is the same.
        events = statistics.median(line["events"] for line in cases["empty"])
        costs[event] = {case: statistics.median(line["ns"] for line in lines) / events
                        for case, lines in cases.items()}
    return costs


def judge_events(goals, results):
    for event, costs in event_costs(results).items():
        for peer in ("ringbuf_over", "perf"):
            ours = costs["output"] - costs["empty"]
            goals.add(f"{event}, above the empty program, of {peer}",
                      ours / (costs[peer] - costs["empty"]) if peer in costs else None, 0.5)


def judge(results):
    goals = Goals()
    if results.part("exact"):
        judge_cost(goals, results)
    judge_reader(goals, results)
    judge_events(goals, results)
    judge_together(goals, results)
    return goals.reached
