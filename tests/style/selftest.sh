#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each check finds the fault that is planted for it, where it stands. That the tree without faults passes is what the checks
# themselves show.

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
project=$(realpath "$here/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree failures=0 cases=0

# copy FILE...: of the project, as they are.
copy() {
	tar -C "$project" -cf - "$@" | tar -C "$tree" -xf -
}

# finds CHECK PLACE WORDS...
finds() {
	local check=$1 place=$2 words status=0
	bash "$here/check_$check.sh" "$tree" >"$work/output" 2>&1 || status=$?
	for words in "${@:3}"; do
		cases=$((cases + 1))
		if [[ $status == 0 ]] || ! grep -F "$place" "$work/output" | grep -qF -- "$words"; then
			failures=$((failures + 1))
			echo "$check ends with status $status, and should say at $place: $words"
			sed 's/^/    /' "$work/output"
		fi
	done
}

mkdir "$tree"
copy .clang-format .clang-tidy .shellcheckrc .codespellrc boards docs firmware hal host include loader qemu scripts tests/released
# check | file | sed script with one fault | words
while IFS='|' read -r check file script words; do
	sed -i -E "$script" "$tree/$file"
	finds "$check" "$file:" "$words"
	copy "$file"
done <<'END'
include_direction|firmware/loop.c|$a#include "boards/emulated_loader.h"|may not be included here
include_direction|host/queue.c|$a#include <stdio.h>|may not be included here
include_direction|qemu/card.c|$avolatile int planted;|volatile belongs in hal
include_direction|firmware/loop.c|$a#ifdef __arm__\n#endif|no conditional code
include_direction|hal/shared_burst.h|$aregister int planted __asm__("r7");|frame pointer
threads|include/patchbay/queue.h|s/Threads: kicks, queue; interrupt/Threads: queue; interrupt/|pb_queue_submit says queue, and uses kicks, queue
threads|include/patchbay/queue.h|s/^ [*] Threads: kicks, queue; interrupt[.]/ */|pb_queue_submit has no line Threads:
threads|host/queue.c|s/error = read_completed\(queue\);/error = pb_channel_finish(queue->channel, 0, NULL);/|pb_queue_indices takes a lock under a short lock
abi|include/patchbay/abi/submission.h|/^PB_AT\(pb_wait, timeline_low/d|PB_AT(pb_wait, timeline_low
abi|include/patchbay/abi/submission.h|/^PB_SIZE\(pb_wait,/d|PB_SIZE(pb_wait
abi|include/patchbay/abi/submission.h|s/^\tuint32_t timeline_low;/\tint timeline_low;/|one fixed-width field
abi|include/patchbay/abi/base.h|s/(PB_ABI_MINOR +)[0-9]+u/\12u/|the wire is not that of ABI 1.2
abi|include/patchbay/abi/submission.h|s/32_t queue;         .*/32_t queue;/|pb_wait.queue is not described
abi|include/patchbay/abi/base.h|s/(PB_ABI_MINOR +)[0-9]+u/\19u/|ABI 1.9 does not follow 1.2
public_headers|include/patchbay/queue.h|$a#include "host/internal.h"|host/internal.h
public_headers|include/patchbay/queue.h|$astruct pb_planted {\nint class;\n};|as c++ alone
reference|hal/lines.h|$astruct pb_planted {\nint a;\n};|pb_planted is not documented
END
# What is gone from the wire.
sed -i '/^struct pb_wait /,$s/\btimeline_low\b/planted/' "$tree/include/patchbay/abi/submission.h"
finds abi include/patchbay/abi/base.h:1: 'struct pb_wait 8 `timeline_low` uint32_t of ABI 1.2 is gone or another: ABI 2.0'
copy include
cat >>"$tree/firmware/command/stop.c" <<'END'
void *memset(void *, int, unsigned long);
void planted(struct pb_core_ready *ready, struct pb_core_queue *queue, uint32_t **at)
{
	ready->held = 1;
	memset(ready, 0, sizeof(*ready));
	*at = &queue->completed;
}
END
finds owners firmware/command/stop.c: 'pb_core_ready.held belongs to queue/ready' 'pb_core_ready as a whole' \
	'pb_core_queue.completed belongs to queue/ring'
copy firmware

# What objects say, and what clang does: a build of a few files.
build=$tree/build/host-test entries=()
mkdir -p "$build"/{firmware,host,qemu,tests} "$tree/build/board" "$tree/tests/unit"
# built SOURCE: standard input, compiled by gcc, which finds nothing wrong.
built() {
	cat >"$tree/$1"
	local folder=${1%%/*} name=${1//\//-}
	gcc -w -ffreestanding -c -o "$build/$folder/$name.o" "$tree/$1"
	entries+=("{\"directory\": \"$build\", \"command\": \"gcc -Wall -Werror -o $folder/$name.o -c $tree/$1\", \"file\": \"$tree/$1\"}")
	(IFS=, && echo "[${entries[*]}]") >"$build/compile_commands.json"
}
built firmware/queue/planted.c <<<'void pb_stop_planted(void); void pb_up(void); void pb_up(void) { pb_stop_planted(); }'
built firmware/command/planted.c <<<'void *malloc(unsigned long n); void pb_stop_planted(void); void pb_stop_planted(void) { malloc(4); }'
built qemu/one.c <<<'void pb_two(void); void pb_one(void) { pb_two(); }'
built qemu/two.c <<<'void pb_three(void); void pb_two(void) { pb_three(); }'
built qemu/three.c <<<'void pb_one(void); void pb_three(void) { pb_one(); }'
sed -i '$a#include "firmware/command/stop.h"' "$tree/firmware/queue/ready.c"
sed -i '$a#include "firmware/instance.h"' "$tree/firmware/command/stop.h"
finds layers firmware/queue/ready.c: 'firmware/command/stop.h is of a higher layer'
finds layers firmware/command/stop.h: 'no header includes firmware/instance.h'
finds layers firmware/queue/planted.c:1: 'pb_stop_planted is of a higher layer, firmware/command/planted.c'
finds layers qemu/one.c:1: '3 modules call one another in a circle'
for library in host wddm gl; do
	ar qc "$build/host/libpb_$library.a"
done
ar r "$build/firmware/libpb_firmware.a" "$build/firmware/firmware-command-planted.c.o" 2>/dev/null
echo '__attribute__((weak)) void *malloc(unsigned long n) { return (void *)n; }' | gcc -w -x c -c -o "$build/host/planted.o" -
ar r "$build/host/libpb_planted.a" "$build/host/planted.o" 2>/dev/null
echo 'void *realloc(void *at, unsigned long n) { return at; }' | gcc -w -x c -c -o "$tree/build/board/patchbay-board.elf" -
finds symbols build/host-test/firmware/libpb_firmware.a:firmware-command-planted.c.o: 'no heap here: malloc'
finds symbols build/board/patchbay-board.elf:1: 'no heap here: realloc'
finds symbols build/host-test/host/libpb_planted.a:planted.o: 'a weak symbol: malloc'
entries=()
built host/planted.c <<<$'int pb_f(int n);\nint pb_f(int n)\n{\n\tn = n;\n\treturn n ? pb_f(n - 1) : 0;\n}'
built tests/unit/planted.c <<<"$(printf 'int pb_g(int n);\nint pb_g(int n)\n{\n\tn = n;\n' && printf ';\n%.0s' {1..81} && printf '\treturn n;\n}\n')"
finds tidy host/planted.c: 'explicitly assigning value of variable' 'recursive'
finds tidy tests/unit/planted.c: 'explicitly assigning value of variable' 'exceeds recommended size'

# What Debian's tools say of a small tree.
rm -r "$tree"/{boards,build,docs,firmware,hal,host,include,loader,qemu,scripts,tests}
mkdir "$tree"/{.ci,scripts,tests}
echo 'int  x;' >"$tree/scripts/planted.c"
printf '#!/usr/bin/env bash\nrm $1\n' | tee "$tree/scripts/planted" "$tree/.ci/run" >"$tree/tests/planted.sh"
echo 'It is te''h end.' >"$tree/planted.md"
finds format scripts/planted.c:1: 'not as clang-format leaves it'
finds shell scripts/planted:2: 'Double quote'
finds shell .ci/run:2: 'Double quote'
finds shell tests/planted.sh:2: 'Double quote'
finds spelling planted.md:1: 'te''h'

# Each kind of gate, with figures at it and beyond it: gate | figure | what the check says, nothing if it holds.
mkdir -p "$tree/tests/bench"
while IFS='|' read -r gate figure words; do
	cases=$((cases + 1)) status=0
	printf 'one_instr\t1.00\t%s\tone\n' "$gate" >"$tree/tests/bench/figures.tsv"
	printf '{"board.one_instr": %s}\n' "$figure" >"$tree/figures.json"
	(cd "$tree" && python3 "$project/scripts/figures.py" check figures.json) >"$work/output" 2>&1 || status=$?
	if [[ $status != $((${#words} != 0)) ]] || { [[ -n $words ]] && ! grep -qF -- "$words" "$work/output"; }; then
		failures=$((failures + 1))
		echo "a figure of $figure with the gate $gate: status $status, not '$words'"
	fi
done <<'END'
4|4.00|
4|4.01|one_instr is 4.01, beyond its gate: 4
+3%|1.03|
+3%|1.04|one_instr is 1.04, beyond its gate: 1.03 (+3 %)
>=0.90|0.90|
>=0.90|0.89|one_instr is 0.89, beyond its gate: at least 0.90
report|9|
END

echo "$cases cases, $failures wrong"
((failures == 0))
