#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/install/lintian.sh PACKAGE.deb...: lintian finds no error and no warning in the packages, no library with symbols for a
# debugger, and no override without what it overrides. It would: it finds a folder for one architecture in a package for all.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# findings PACKAGE.deb...: one a line.
findings() {
	lintian --allow-root --no-cfg --tag-display-limit 0 --fail-on none --display-info "$@" >"$work/all" || {
		cat "$work/all" >&2
		echo "lintian did not run" >&2
		exit 1
	}
	grep -E '^[EW]: |^I: .*(unused-override|mismatched-override|unstripped-static-library)' "$work/all" || true
}

# The package without most of its files, with a folder as no package for all architectures has it.
plant_fault() {
	dpkg-deb -R "$1" "$work/spoiled"
	rm -rf "$work"/spoiled/usr/share/patchbay
	mkdir -p "$work/spoiled/usr/lib/x86_64-linux-gnu/cmake"
	touch "$work/spoiled/usr/lib/x86_64-linux-gnu/cmake/a"
	dpkg-deb --root-owner-group -Zgzip -b "$work/spoiled" "$work/spoiled.deb" >/dev/null
	[[ $(findings "$work/spoiled.deb") == *triplet-dir-and-architecture-mismatch* ]] || {
		echo "lintian does not find a planted fault in $1" >&2
		exit 1
	}
}

found=$(findings "$@")
[[ -z $found ]] || {
	echo "lintian: $found" >&2
	exit 1
}
for package in "$@"; do
	[[ $package != *_all.deb ]] || plant_fault "$package"
done
