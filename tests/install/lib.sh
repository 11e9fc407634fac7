# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Shared by the tests of what is installed. Sourced with the build folder of the host as the first argument, and with --all
# behind it for what scripts/assure runs besides.

set -euo pipefail
export LC_ALL=C
unset DESTDIR PKG_CONFIG_PATH CMAKE_PREFIX_PATH
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd)
all=${2-}
# What stage.sh has installed.
stage=$project/build/stage/dest
staged=$stage/opt/a\ prefix
work=$(mktemp -d)
card=
stop_card() {
	if [[ -n $card ]]; then
		kill "$card" 2>/dev/null || true
		wait "$card" || true
	fi
	card=
	rm -f "$work/card"
}
end() {
	stop_card
	rm -rf "$work"
}
trap end EXIT

fail() {
	echo "$*" >&2
	exit 1
}

# need_stage: what is staged is there: command and image of this build, firmware of these sources.
need_stage() {
	local image=patchbay-mps2_an500.elf
	if ! cmp "$staged/bin/patchbay" "$build/host/patchbay" || ! cmp "$staged/share/patchbay/images/$image" "$project/build/mps2_an500/$image" ||
		! diff -rq "$project/firmware" "$staged/share/patchbay/firmware"; then
		fail "build/stage is not what is built; make it by tests/install/stage.sh $build"
	fi
}

# quiet COMMAND...: prints what the command printed only if it fails.
quiet() {
	"$@" >"$work/output" 2>&1 </dev/null || {
		cat "$work/output" >&2
		fail "failed: $*"
	}
}

# refused TEXT COMMAND...: the command fails, and says so.
refused() {
	local text=$1
	shift
	! "$@" >"$work/output" 2>&1 </dev/null || fail "did not fail: $*"
	grep -qF -- "$text" "$work/output" || {
		cat "$work/output" >&2
		fail "did not say \"$text\": $*"
	}
}

# make_packages [CPACK_OPTION...]: the Debian packages in $work/packages, laid out as scripts/release lays them out, of the programs
# and libraries that are built already: how they are compiled does not depend on where they are installed.
# shellcheck disable=SC2120
make_packages() {
	local file
	quiet cmake -S "$project" -B "$work/package" --preset package
	for file in host/patchbay host/libpatchbay{,-sim}.a qemu/patchbay-renderer; do
		[[ ! -e $build/$file ]] || cp "$build/$file" "$work/package/$file"
	done
	quiet cpack --config "$work/package/CPackConfig.cmake" -B "$work/packages" "$@"
	rm -rf "$work/package"
}

# start_card PATCHBAY [OPTION...]: an emulated card at the socket $work/card.
start_card() {
	local patchbay=$1
	shift
	"$patchbay" card --quiet --socket "$work/card" "$@" &
	card=$!
	until "$patchbay" info --card "$work/card" >/dev/null 2>&1; do
		kill -0 "$card" 2>/dev/null || fail "the card has ended"
		sleep 0.05
	done
}
