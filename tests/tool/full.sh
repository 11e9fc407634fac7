#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# full.sh PATCHBAY DATA: every command of patchbay whose output finds a full device ends with an error that names the
# file and the reason. /dev/full refuses each write. A command that has no row here fails the test.
# shellcheck source=scripts/lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

patchbay=$1
data=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

wrong() {
	echo "full.sh: $1" >&2
	exit 1
}

# refuses NAME ARGUMENT...: the command ends with 1 and says that NAME is full.
refuses() {
	local name=$1 code=0
	shift
	"$patchbay" "$@" >out 2>said || code=$?
	((code == 1)) || wrong "patchbay $*: exit code $code: $(cat said)"
	grep -q "$name: No space left on device" said || wrong "patchbay $* does not say that $name is full: $(cat said)"
}

# prints ARGUMENT...: the command prints something, and notices that standard output is full.
prints() {
	local code=0
	"$patchbay" "$@" >out 2>/dev/null || wrong "patchbay $* fails"
	[[ -s out ]] || wrong "patchbay $* prints nothing"
	"$patchbay" "$@" >/dev/full 2>said || code=$?
	((code == 1)) || wrong "patchbay $* >/dev/full: exit code $code"
	grep -q "^patchbay.*: standard output: No space left on device$" said ||
		wrong "patchbay $* >/dev/full does not say so: $(cat said)"
}

"$patchbay" trace record --sim some.trace
"$patchbay" dump --sim saved >/dev/null
echo "a-1 [000] ..... 1.5: patchbay_submit: file=1 node=0 queue=0x1 value=1 card_us=1 detail=0" >guest.txt
printf 'PBHOST01\1\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0name\0\0\0\0\0\0\0\0\0\0\0\0' >host.events
prints --version
prints --help

# Rows: command and arguments of a run that ends by itself and prints; or none, where that needs an emulator.
rows() {
	cat <<-END
		demo	demo --sim --frames 1 --output pictures
		run
		gl
		replay	replay --sim $data/snb.subm.zst
		info	info --sim
		info	info --sim --json
		info	info --memory saved
		stats	stats --sim
		stats	stats --sim --json
		stats	stats --memory saved
		stats	stats --sim --fdinfo
		sim	sim --count 2
		top	top --memory saved
		why
		dump	dump --sim other
		screenshot
		crash
		trace	trace follow --sim --time 0
		trace	trace follow --memory saved
		trace	trace decode some.trace
		trace	trace import some.trace guest.txt joined.trace
		trace	trace import some.trace host.events joined.trace
		image
		card
		update
	END
}

"$patchbay" --help | awk '/^  / { print $1 }' | sort >commands
rows | cut -f 1 | sort -u >have
diff commands have >&2 || wrong "the rows above are not the commands of patchbay"
while IFS=$'\t' read -r command arguments; do
	prints "$command" --help
	[[ -n $arguments ]] || continue
	# shellcheck disable=SC2086
	prints $arguments
done < <(rows)
for verb in record follow decode export import; do
	prints trace "$verb" --help
done

# Files that the commands write.
refuses /dev/full trace record --sim /dev/full
refuses /dev/full dump --sim /dev/full
refuses /dev/full trace export some.trace --perfetto /dev/full
refuses /dev/full trace export some.trace --chrome /dev/full
refuses /dev/full trace export some.trace --html /dev/full
refuses /dev/full trace import some.trace guest.txt /dev/full
refuses /dev/full trace import some.trace host.events /dev/full
for file in metadata stream; do
	mkdir "full-$file"
	ln -s /dev/full "full-$file/$file"
	refuses "full-$file/$file" trace export some.trace --ctf "full-$file"
done
"$patchbay" replay --sim "$data/snb.subm.zst" --crc-out /dev/full >out 2>said && wrong "replay --crc-out /dev/full"
grep -q "/dev/full: No space left on device" said || wrong "replay does not say that its file is full: $(cat said)"
ln -s /dev/full frames.png
mkdir full
ln -s /dev/full full/frame-0000.png
refuses full/frame-0000.png demo --sim --frames 1 --output full

# A closed standard output is no error of a command that prints nothing.
"$patchbay" trace record --sim other.trace >&-
if "$patchbay" info --sim >&- 2>said; then
	wrong "info with a closed standard output"
fi
grep -q "^patchbay info: standard output: " said || wrong "info with a closed standard output: $(cat said)"

# An interrupted simulation prints its counts.
"$patchbay" sim --count 1000000000 --jobs 2 >counts 2>progress &
child=$!
start=$SECONDS
until grep -q " of 1000000000" progress; do
	kill -0 $child || wrong "the simulation has ended"
	((SECONDS - start < patience)) || { kill $child; wrong "the simulation reports no progress"; }
	sleep 0.05
done
kill -INT $child
code=0
wait $child || code=$?
((code == 1)) || wrong "an interrupted simulation: exit code $code"
grep -qE "^interrupted after [1-9][0-9]* of 1000000000 schedules$" counts || wrong "no word of the interruption: $(cat counts)"
grep -qE "^[1-9][0-9]* schedules, [1-9][0-9]* submissions" counts || wrong "no counts: $(cat counts)"
