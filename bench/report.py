# SPDX-License-Identifier: GPL-2.0-only
"""The tables on the terminal."""

import statistics

import goals
from results import SIZES


def show(number, digits=0):
    return "-" if number is None else f"{number:.{digits}f}"


def cases(results):
    print(f"{'':22}{'net of the empty program':^27}{'ours is of it':^22}"
          f"{'worst call, net':^24}{'records in 1 MiB':^24}")
    print(f"{'instructions':22}" + "".join(f"{size:>9}" for size in SIZES)
          + "".join(f"{size:>7}" for size in SIZES) + " " + "".join(f"{size:>8}" for size in SIZES)
          + "".join(f"{size:>8}" for size in SIZES))
    for case in results.cases():
        row = f"{case:22}"
        if all(results.cost(case, size) is None for size in SIZES):
            print(row + "  not on this kernel")
            continue
        row += "".join(f"{show(results.net(case, size), 1):>9}" for size in SIZES)
        row += "".join(f"{show(results.ratio('output', case, size), 2):>7}" for size in SIZES)
        row += " " + "".join(f"{show(results.net(case, size, 'worst')):>8}" for size in SIZES)
        kept = [cost and cost.kept for cost in (results.cost(case, size) for size in SIZES)]
        row += "".join(f"{show(number):>8}" for number in kept)
        print(row)
    interrupted = [(line["interrupted_max"], line["case"]) for line in results.part("exact")
                   if line.get("interrupted")]
    print(f"{sum(line.get('interrupted', 0) for line in results.part('exact'))} calls were hit "
          f"by an interrupt and are not in the table; the worst of them took "
          f"{max(interrupted, default=(0,))[0]} with it.")


def reading(results):
    for line, (usual, mean) in zip(results.part("reader"), goals.reader_costs(results)):
        print(f"output, 64 bytes, {'beside a reader' if line['reader'] else 'without a reader'}: "
              f"{usual} instructions, in the mean {mean:.1f}, {line['calls']} calls"
              + (f", {line['read'] >> 20} MiB read" if line["reader"] else ""))
    for line in results.part("snapshot"):
        took = (f"{line['ns'] / line['bytes']:.2f} instructions a byte, idle" if line["cpus"] == 1
                else f"{line['ns'] / 1e9:.2f} s while {line['cpus'] - 1} CPUs write")
        print(f"snapshot, {line['bytes'] / 2**20:.1f} MiB: {took}")


def together(results):
    table = goals.rates(results)
    if table:
        print(f"\n{'records per second, of 1 CPU':30}{'2 CPUs':>8}{'(least, most)':>18}"
              f"{'4 CPUs':>8}{'(least, most)':>18}{'1 CPU, a second':>18}")
    rows = [(case, case, None) for case in table]
    if table:
        rows.append(("output, clock subtracted", "output", "clock"))
    for name, case, less in rows:
        row = f"{name:30}"
        for cpus in (2, 4):
            got = goals.scaling(table, case, cpus, less)
            row += f"{statistics.median(got):8.2f}{f'({min(got):.2f}, {max(got):.2f})':>18}"
        lost = max(line["lost"] for line in results.part("together") if line["case"] == case)
        print(row + f"{statistics.median(table[case][1]):18.0f}"
              + (f"  up to {lost / 10:.1f} % not stored" if lost and not less else ""))


def events(results):
    for event, costs in goals.event_costs(results).items():
        print(f"\n{event}: instructions per event; above the empty program; above nothing")
        for case, cost in costs.items():
            print(f"  {case:28}{cost:10.0f}{cost - costs['empty']:10.0f}"
                  f"{cost - costs['none']:10.0f}")


def verdicts(reached):
    print(f"\n{'goal':58}{'to reach':>10}{'got':>10}")
    for goal in reached:
        print(f"{goal['name']:58}{goal['goal']:>10}{show(goal['got'], 2):>10}  {goal['verdict']}")
