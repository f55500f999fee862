# SPDX-License-Identifier: GPL-2.0-only
"""A plot of the net costs, by gnuplot."""

import shutil
import subprocess
import sys

SCRIPT = """\
set terminal svg size 1000,{height} font "sans,12" background rgb "white"
set output {output!r}
set multiplot layout {rows},1
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border rgb "white"
set xtics rotate by -25 noenhanced scale 0
set ytics nomirror
set border 3
set grid ytics
set logscale y 2
set key top left
set ylabel "instructions per record"
"""


def draw(document, path):
    """One panel a kernel: a group a mechanism, a bar a size of record."""
    document = [kernel for kernel in document if kernel["cases"]]
    if not document:
        return
    if not shutil.which("gnuplot"):
        print("bench: no plot: there is no gnuplot here (apt install gnuplot-nox)", file=sys.stderr)
        return
    script = SCRIPT.format(height=420 * len(document), output=path, rows=len(document))
    for number, kernel in enumerate(document):
        nets = {}
        for case in kernel["cases"]:
            nets.setdefault(case["name"], {})[case["size"]] = case["net"]
        script += f"$kernel{number} << EOD\n"
        for name, sizes in nets.items():
            if name != "harness":
                script += " ".join([name, *(f"{sizes[size]:.1f}" if size in sizes else "-"
                                            for size in (8, 64, 256))]) + "\n"
        script += (f"EOD\nset title \"{kernel['kernel']}: net of the empty program\" noenhanced\n"
                   f"plot $kernel{number} using 2:xtic(1) title \"8 bytes\", '' using 3 title "
                   "\"64 bytes\", '' using 4 title \"256 bytes\"\n")
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
