#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""prometheus.py IMAGE PATCHBAY: `patchbay stats --prometheus`, read by Prometheus' own parser, has the values of
--json; a reader never sees a part of the file while it is replaced; docs/telemetry.md names every value."""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

from prometheus_client.parser import text_string_to_metric_families

IMAGE, PATCHBAY = sys.argv[1:]
READS = 300
# Seconds for what must come: only a hang takes as long.
PATIENCE = 600


def stats(*arguments, status=0):
    run = subprocess.run([PATCHBAY, "stats", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert run.returncode == status, (arguments, run.returncode, run.stderr)
    return run


def parse(path):
    """Samples by name and labels, and the type of each family."""
    with open(path, encoding="ascii") as file:
        text = file.read()
    assert text.endswith("\n"), "the file is cut off"
    samples, types = {}, {}
    for family in text_string_to_metric_families(text):
        assert family.name not in types and family.type != "unknown" and family.documentation, family
        types[family.name] = family.type
        for sample in family.samples:
            key = (sample.name, *sorted(sample.labels.items()))
            assert key not in samples, key
            samples[key] = sample.value
    return samples, types


def metric_of(name):
    """The metric of a --json value, and the factor between them."""
    gauges = {"depth", "in_flight", "queues", "state"}
    if name.endswith("_us"):
        return name[:-3] + "_seconds_total", 1e-6
    return name if name in gauges else name + "_total", 1


def check_histogram(samples, name, node, report, sum_us):
    label = ("node", node)
    count, bounds = 0, {}
    for bucket in report["buckets"]:
        count += bucket["count"]
        bounds[bucket["le_us"]] = count
    assert count == report["count"] == samples.pop((name + "_count", label))
    assert abs(samples.pop((name + "_sum", label)) - sum_us * 1e-6) < 1e-6
    assert samples.pop((name + "_bucket", ("le", "+Inf"), label)) == count
    here = sorted((float(key[1][1]), key) for key in samples if key[0] == name + "_bucket" and key[2] == label)
    assert [round(bound * 1e6) for bound, _ in here] == [2**b - 1 for b in range(33)]
    so_far = 0
    for bound, key in here:
        so_far = bounds.get(round(bound * 1e6), so_far)
        assert samples.pop(key) == so_far, key


def check_values(samples, report):
    """Checks that the samples are exactly the values of --json."""
    expected = {
        ("patchbay_up",): 1,
        ("patchbay_build_info", ("abi", "1.3"), ("build", report["build"])): 1,
        ("patchbay_firmware_running",): 1,
        ("patchbay_firmware_boot_stage",): 4,
        ("patchbay_firmware_incarnation",): report["incarnation"],
        ("patchbay_firmware_heartbeats_total",): report["heartbeat"],
        ("patchbay_mcu_state",): 1,
        ("patchbay_mcu_deaths_total",): report["mcu_deaths"],
    }
    for name in ("ticks", "drops", "channel_faults"):
        expected[(f"patchbay_card_{name}_total",)] = report[name]
    for node in report["nodes"]:
        sums = {name: node.pop(name + "_time_us") for name in node["latencies"]}
        for name, latency in node.pop("latencies").items():
            check_histogram(samples, f"patchbay_node_{name}_seconds", str(node["node"]), latency, sums[name])
        assert node.pop("state_name") == {0: "RUNNING", 1: "STOPPING"}[node["state"]]
        number = str(node.pop("node"))
        for name, value in node.items():
            metric, factor = metric_of(name)
            expected[(f"patchbay_node_{metric}", ("node", number))] = value * factor
    for channel in report["channels"]:
        number = ("channel", str(channel.pop("channel")))
        for name, account in channel.items():
            for what, value in account.items():
                expected[(f"patchbay_channel_{what}", number, ("resource", name.upper()))] = value
    assert samples.keys() == expected.keys(), samples.keys() ^ expected.keys()
    for key, value in expected.items():
        assert abs(samples[key] - value) <= 1e-12 * value, (key, samples[key], value)


def check_page(report):
    page = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "telemetry.md")
    with open(page, encoding="ascii") as file:
        text = file.read()
    names = {"ticks", "drops", "channel_faults", *report["nodes"][0], *report["nodes"][0]["latencies"]}
    for name in names - {"node", "state_name", "latencies"}:
        assert f"`{name.removesuffix('_us').upper()}`" in text, name


def check_types(types):
    assert types["patchbay_up"] == types["patchbay_node_depth"] == "gauge"
    assert types["patchbay_node_feed_seconds"] == types["patchbay_node_fence_seconds"] == "histogram"
    counters = sum(kind == "counter" for kind in types.values())
    assert counters == 2 + 3 + 9, types


def check_failures(folder, image):
    """Failures leave no file behind, and an unreadable card is not up."""
    target = os.path.join(folder, "target.prom")
    for path in (os.path.join(folder, "nowhere", "x.prom"), folder, "/" + "x" * 5000):
        assert stats("--memory", image, "--prometheus", path, status=1).stderr.startswith("patchbay stats: ")
    stats("--memory", image, "--prometheus", target)
    before = parse(target)
    # A size limit stands for a full disk.
    full = subprocess.run([PATCHBAY, "stats", "--memory", image, "--prometheus", target], capture_output=True, text=True,
                          restore_signals=False, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
    assert full.returncode == 1 and "File too large" in full.stderr, full
    assert parse(target) == before and os.listdir(folder) == ["target.prom"]
    stats("--card", os.path.join(folder, "none.sock"), "--prometheus", target, status=1)
    assert parse(target) == ({("patchbay_up",): 0}, {"patchbay_up": "gauge"})
    empty = os.path.join(folder, "empty.bin")
    open(empty, "wb").close()
    assert "the file is empty" in stats("--memory", empty, "--prometheus", target, status=1).stderr
    assert parse(target)[0] == {("patchbay_up",): 0}
    os.remove(empty)
    os.remove(target)
    assert os.listdir(os.path.dirname(folder)) == [os.path.basename(folder)]


def check_usage(image):
    for wrong in (["--json", "--prometheus", image], ["--every", "0"], ["--every", "soon"], ["--memory", image, "--sim"]):
        assert "--help" in stats(*wrong, status=2).stderr
    assert "BUSY" in stats("--sim").stdout
    writer = subprocess.Popen([PATCHBAY, "stats", "--memory", image, "--json", "--every", "0.01"],
                              stdout=subprocess.PIPE, text=True)
    lines = [json.loads(writer.stdout.readline()) for _ in range(3)]
    writer.send_signal(signal.SIGINT)
    writer.stdout.read()
    assert writer.wait(PATIENCE) == 0 and lines[0] == lines[2] and lines[0]["mcu_deaths"] == 2
    # Output that cannot be written ends the command.
    with open("/dev/full", "w", encoding="ascii") as full:
        assert subprocess.run([PATCHBAY, "stats", "--memory", image, "--every", "0.01"], stdout=full, check=False,
                              timeout=PATIENCE).returncode == 1


def check_replacing(folder, image):
    """Reads without a pause until many files were seen, then ends the writer by a signal."""
    path = os.path.join(folder, "live.prom")
    stats("--memory", image, "--prometheus", path)
    whole = parse(path)
    writer = subprocess.Popen([PATCHBAY, "stats", "--memory", image, "--every", "0.01", "--prometheus", path])
    files, reads, end = set(), 0, time.monotonic() + PATIENCE
    while len(files) < 20 or reads < READS:
        with open(path, "rb") as file:
            files.add(os.fstat(file.fileno()).st_mtime_ns)
            text = file.read()
        assert text.count(b"\n") == LINES, "a part of the file"
        reads += 1
        assert writer.poll() is None and time.monotonic() < end
    writer.send_signal(signal.SIGTERM)
    assert writer.wait(PATIENCE) == 0
    assert parse(path) == whole
    assert os.listdir(folder) == ["live.prom"], "a file is left behind"


with tempfile.TemporaryDirectory() as top:
    image = os.path.join(tempfile.gettempdir(), f"telemetry-{os.getpid()}.bin")
    folder = os.path.join(top, "folder")
    os.mkdir(folder)
    try:
        subprocess.run([IMAGE, image], check=True)
        out = os.path.join(folder, "patchbay.prom")
        os.umask(0o077)
        stats("--memory", image, "--prometheus", out)
        assert os.stat(out).st_mode & 0o777 == 0o644
        samples, types = parse(out)
        with open(out, encoding="ascii") as file:
            LINES = len(file.readlines())
        os.remove(out)
        check_types(types)
        report = json.loads(stats("--memory", image, "--json").stdout)
        check_page(report)
        check_values(samples, report)
        check_failures(folder, image)
        check_usage(image)
        check_replacing(folder, image)
    finally:
        os.remove(image)
print("the values are those of --json, and the file is complete at any time")
