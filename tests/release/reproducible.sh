#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/release/reproducible.sh [RELEASE_OPTION...]: scripts/release makes equal files twice. The second time it is run from the
# sources that the first one packed, in a folder with another path, by another user (as root), with another umask, locale,
# time zone, HOME and environment, and on one processor. Without options: one image and the package of the firmware.
# What the release states of its contents is so, and lintian finds nothing in its packages. A difference is shown by diffoscope,
# where it is installed. Then: a changed, a missing and an added file is found. With options the run is recorded in tests/records/reproducible.tsv.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
options=("$@")
(($#)) || options=(--boards mps2_an500 --packages firmware)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

fail() {
	echo "$*" >&2
	exit 1
}

refused() {
	! "$project/scripts/release" --verify "$work/first" >/dev/null 2>&1 || fail "not found: $1"
}

"$project/scripts/release" --untested --output "$work/first" "${options[@]}"
second="$work/another folder of a longer path"
mkdir -p "$second/tmp"
tar -C "$second" -xf "$work"/first/patchbay-*.tar.xz
other=()
if ((EUID == 0)); then
	chown -R 65534:65534 "$second"
	other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
env -i PATH="$PATH:/nonexistent" HOME=/nonexistent TMPDIR="$second/tmp" LC_ALL=C.UTF-8 LANGUAGE=de TZ=Pacific/Kiritimati CFLAGS=-O0 \
	CAPTURE=me CI=1 SHELL=/bin/false "${other[@]}" taskset -c 0 bash -c 'umask 0002; exec "$@"' - \
	bash "$second"/patchbay-*/scripts/release --untested --output "$second/out" "${options[@]}"
if ! diff -r "$work/first" "$second/out"; then
	! command -v diffoscope >/dev/null || diffoscope "$work/first" "$second/out" || true
	fail "two builds differ"
fi

python3 "$project/tests/release/contents.py" "$work/first" || fail "the contents are not as stated"
packages=("$work"/first/*.deb)
[[ ! -e ${packages[0]} ]] || bash "$project/tests/install/lintian.sh" "${packages[@]}"

file=$(sed -n '1s/^[0-9a-f]*  //p' "$work/first/SHA256SUMS")
"$project/scripts/release" --verify "$work/first"
printf x >>"$work/first/$file"
refused "a changed file"
rm "$work/first/$file"
refused "a missing file"
cp "$second/out/$file" "$work/first/$file"
touch "$work/first/more"
refused "an added file"
files=$(wc -l <"$second/out/SHA256SUMS")
if (($#)); then
	record=$project/tests/records/reproducible.tsv
	[[ -e $record ]] || printf 'date\trevision\toptions\tfiles\tseconds\n' >"$record"
	printf '%s\t%s\t%s\t%s\t%s\n' "$(date -u +%F)" "$(git -C "$project" log -1 --format=%h)" "$*" "$files" "$SECONDS" >>"$record"
fi
echo "$files files are equal in two builds"
