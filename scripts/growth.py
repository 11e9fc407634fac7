#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How the firmware's cost grows: fits and draws what the growth image of the bench has printed.

scripts/growth.py FIGURES FOLDER: reads lines "CURVE UNITS INSTRUCTIONS", prints a table of the exponents, and writes
FOLDER/CURVE.png for each curve, drawn by gnuplot. Fails if an exponent is above its bound.
"""
import math
import os
import subprocess
import sys

# What a curve is, and the greatest exponent that it may have.
CURVES = {
    'patches': ('patches of one list', 1.05),
    'allocations': ('allocations of one list', 1.05),
    'queues': ('queues of one channel and node, a submission each', 1.05),
    'rescan': ('queues of a channel, a rescan of all', 1.05),
    'beside_queues': ('idle queues beside one submission', 0.05),
    'channels': ('channels that share a node, a submission each', 1.05),
    'nodes': ('nodes, a submission each', 1.05),
    'in_flight': ('submissions in flight at once, of the same twelve', 0.05),
}


def read_curves(path):
    curves = {}
    with open(path, encoding='utf-8') as file:
        for line in file:
            name, units, cost = line.split()
            curves.setdefault(name, []).append((int(units), int(cost)))
    return curves


def exponent(points):
    """The slope of the least squares line through the logarithms."""
    logs = [(math.log(units), math.log(cost)) for units, cost in points]
    middle_x = sum(x for x, _ in logs) / len(logs)
    middle_y = sum(y for _, y in logs) / len(logs)
    spread = sum((x - middle_x) ** 2 for x, _ in logs)
    # A single point shows no growth: a board may allow one submission in flight only.
    return sum((x - middle_x) * (y - middle_y) for x, y in logs) / spread if spread else 0.0


def draw(folder, name, points, slope):
    label = CURVES[name][0]
    data = ''.join(f'{units} {cost}\n' for units, cost in points)
    script = f'''set terminal png size 800,500
set output "{os.path.join(folder, name)}.png"
set logscale xy
set grid
set key off
set title "{label}: exponent {slope:.2f}"
set xlabel "{label}"
set ylabel "instructions"
set xrange [{points[0][0]}*0.9:{points[-1][0]}*1.1]
plot "-" with linespoints pointtype 7
{data}e
'''
    subprocess.run(['gnuplot'], input=script, text=True, check=True)


def main():
    path, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    steep = []
    print('| cost against | from | to | exponent | at most |\n|---|---|---|---|---|')
    curves = read_curves(path)
    if curves.keys() != CURVES.keys():
        sys.exit(f'{path}: other curves than {" ".join(CURVES)}')
    for name, points in curves.items():
        slope = exponent(points)
        label, bound = CURVES[name]
        print(f'| {label} | {points[0][0]}: {points[0][1]} | {points[-1][0]}: {points[-1][1]} | {slope:.2f} | {bound} |')
        draw(folder, name, points, slope)
        if slope > bound:
            steep.append(f'{label}: exponent {slope:.2f}, at most {bound} is allowed')
    for line in steep:
        print(f'-- {line}', file=sys.stderr)
    return not steep


sys.exit(0 if main() else 1)
