#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each style check passes a small clean tree, and finds each of the faults below at the line where it stands.

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
cases=0

# put FILE: standard input, in the tree of this case
put() {
	mkdir -p "$(dirname "$work/tree/$1")"
	cat >"$work/tree/$1"
}

header='/* SPDX-License-Identifier: MIT */'

# A source file: the SPDX line, then the argument from line 2 on.
source_file() {
	printf '%s\n%s\n' "$header" "$2" | put "$1"
}

clean_tree() {
	rm -rf "$work/tree"
	mkdir -p "$work/tree"
	cp "$here/../../.clang-format" "$here/../../.clang-tidy" "$work/tree"
	source_file firmware/core.c $'#include <stdint.h>\n\n#include "firmware/abi/wire.h"\n#include "hal/lines.h"\n\n/* no volatile, no malloc() in a comment */\nint pb_zero(void);\nint pb_zero(void)\n{\n\treturn 0;\n}'
	source_file firmware/abi/base.h $'#include <stddef.h>\n#include <stdint.h>\n\n#define PB_SIZE(type, bytes)       _Static_assert(sizeof(struct type) == (bytes), #type)\n#define PB_AT(type, field, offset) _Static_assert(offsetof(struct type, field) == (offset), #field)'
	source_file firmware/abi/wire.h $'#include "firmware/abi/base.h"\n/** Written by the host. */\nstruct pb_wire {\n\tuint32_t first; /**< a field; with a semicolon */\n\tuint32_t reserved[3];\n};\nPB_SIZE(pb_wire, 16);\nPB_AT(pb_wire, first, 0);'
	source_file firmware/abi/patch.h $'#include "firmware/abi/base.h"\n/** Written by the host. */\nstruct pb_allocation {\n\tuint32_t size; /**< bytes */\n};\nPB_SIZE(pb_allocation, 4);\nPB_AT(pb_allocation, size, 0);'
	source_file hal/lines.h '#include <stdint.h>'
	source_file hal/shared.h $'static inline int pb_read(const int *at)\n{\n\treturn *(const volatile int *)at;\n}'
	source_file host/queue.c '#include "host/patchbay.h"'
	source_file host/patchbay.h '#include "firmware/abi/wire.h"'
	source_file host/tool/main.c $'#include <signal.h>\n#include <stdlib.h>\n\nstatic volatile sig_atomic_t stop;\n\nvoid pb_nop(void);\nvoid pb_nop(void)\n{\n\t__asm__ volatile("nop");\n}'
	put README.md <<<'See `firmware/core.c`, `boards/NAME/board.c` and [this](firmware/abi/wire.h).'
	put docs/wddm.md <<<$'# WDDM\n\n## `struct pb_allocation`\n\n`size`, shown by `test_core.every_row: a row`\n'
	put docs/Doxyfile <"$here/../../docs/Doxyfile"
	put docs/abi.md <<'END'
# The wire

<!-- struct pb_wire -->
Written by the host.

16 bytes.

| offset | field | type | written by | meaning |
|---|---|---|---|---|
| 0 | `first` | uint32_t | host | a field; with a semicolon |
| 4 | `reserved` | uint32_t[3] | host | reserved |
<!-- / -->

<!-- struct pb_allocation -->
Written by the host.

4 bytes.

| offset | field | type | written by | meaning |
|---|---|---|---|---|
| 0 | `size` | uint32_t | host | bytes |
<!-- / -->
END
	source_file tests/unit/test_core.c $'static const char *const row = "a row";\n\nstatic void every_row(void **state)\n{\n\t(void)state;\n}'
	source_file boards/one/board.c '#include "hal/lines.h"'
	echo 'set(PB_TOOLCHAIN gcc)' | put boards/one/board.cmake
	printf '#!/usr/bin/env bash\necho hello\n' | put scripts/hello
	chmod +x "$work/tree/scripts/hello"
	put CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(selftest LANGUAGES NONE)
file(WRITE ${CMAKE_BINARY_DIR}/patchbay-${PB_BOARD}.elf "the same")
add_custom_target(image)
END
	put build/host-test-clang/compile_commands.json <<END
[
{
  "directory": "$work/tree",
  "command": "clang -std=c11 -c firmware/core.c -I.",
  "file": "$work/tree/firmware/core.c"
}
]
END
}

report() {
	failures=$((failures + 1))
	echo "$*"
	sed 's/^/    /' "$work/output"
}

passes() {
	cases=$((cases + 1))
	bash "$here/check_$1.sh" "$work/tree" >"$work/output" 2>&1 || report "$1 refuses a clean tree"
}

# finds CHECK PLACE WORDS: the tree as it is now has one fault.
finds() {
	cases=$((cases + 1))
	local status=0
	bash "$here/check_$1.sh" "$work/tree" >"$work/output" 2>&1 || status=$?
	[[ $status == 1 ]] || report "$1 ends with status $status instead of 1 for: $3"
	grep -F "$2" "$work/output" | grep -qF "$3" || report "$1 does not say at $2: $3"
	[[ $(wc -l <"$work/output") == 1 ]] || report "$1 says more than: $3"
	clean_tree
}

clean_tree
for check in "$here"/check_*.sh; do
	name=$(basename "$check" .sh)
	passes "${name#check_}"
done

# check | file | what follows the SPDX line | place | words
while IFS='|' read -r check file text place words; do
	source_file "$file" "$(printf '%b' "$text")"
	finds "$check" "$place" "$words"
done <<'END'
include_direction|firmware/core.c|#include "boards/one/board.h"|firmware/core.c:2:|"boards/one/board.h"
include_direction|firmware/core.c|#include "hal/cortex_m/nvic.h"|firmware/core.c:2:|"hal/cortex_m/nvic.h"
include_direction|firmware/core.c|#include <stdio.h>|firmware/core.c:2:|<stdio.h>
include_direction|firmware/core.c|#include "state.h"|firmware/core.c:2:|"state.h"
include_direction|firmware/sub/part.c|#include "host/patchbay.h"|firmware/sub/part.c:2:|"host/patchbay.h"
include_direction|firmware/abi/other.h|#include "hal/lines.h"|firmware/abi/other.h:2:|"hal/lines.h"
include_direction|firmware/abi/other.h|#include <string.h>|firmware/abi/other.h:2:|<string.h>
include_direction|hal/lines.h|\n#include "hal/cortex_m/nvic.h"|hal/lines.h:3:|"hal/cortex_m/nvic.h"
include_direction|hal/cortex_m/nvic.c|#include "firmware/core.h"|hal/cortex_m/nvic.c:2:|"firmware/core.h"
include_direction|hal/cortex_m/nvic.c|#include <stdlib.h>|hal/cortex_m/nvic.c:2:|<stdlib.h>
include_direction|hal/host/halt.c|#include <stdlib.h>\n#include "qemu/sim.h"|hal/host/halt.c:3:|"qemu/sim.h"
include_direction|host/wddm/submit.c|#include <stdlib.h>|host/wddm/submit.c:2:|<stdlib.h>
include_direction|host/queue.c|#include <unistd.h>|host/queue.c:2:|<unistd.h>
include_direction|host/queue.c|#include "qemu/sim.h"|host/queue.c:2:|"qemu/sim.h"
include_direction|host/tool/main.c|#include "firmware/core.h"|host/tool/main.c:2:|"firmware/core.h"
include_direction|host/link_socket.c|#include "firmware/core.h"|host/link_socket.c:2:|"firmware/core.h"
include_direction|boards/one/machine.c|#include "qemu/card.h"|boards/one/machine.c:2:|"qemu/card.h"
include_direction|boards/one/board.c|#include "qemu/machines.h"|boards/one/board.c:2:|"qemu/machines.h"
include_direction|boards/one/board.c|#include <cmsis.h>|boards/one/board.c:2:|<cmsis.h>
include_direction|qemu/card.c|#include "boards/one/board.h"|qemu/card.c:2:|"boards/one/board.h"
rules|firmware/core.c|/* a\ncomment */ volatile int x;|firmware/core.c:3:|volatile
rules|host/tool/main.c|const volatile int *x;|host/tool/main.c:2:|volatile
rules|firmware/core.c|void *x = malloc(4);|firmware/core.c:2:|no heap
rules|hal/engine/ring.c|void f(void *x)\n{\n\tfree(x);\n}|hal/engine/ring.c:4:|no heap
rules|host/queue.c|void *x = calloc(1, 4);|host/queue.c:2:|no heap
rules|firmware/abi/wire.h|struct x {\n\tuint32_t y : 3;\n};|firmware/abi/wire.h:3:|bit-field
rules|boards/one/board.c|__attribute__((weak)) void f(void);|boards/one/board.c:2:|weak
rules|hal/cortex_m/vectors.c|#pragma weak handler|hal/cortex_m/vectors.c:2:|weak
rules|firmware/core.c|#ifdef __arm__\n#endif|firmware/core.c:2:|conditional
rules|firmware/core.c|#if PB_BOARD == 1\n#endif|firmware/core.c:2:|conditional
include_direction|host/queue.c|# include <stdio.h> // "host/patchbay.h"|host/queue.c:2:|may not
abi|firmware/abi/wire.h|struct pb_wire {\n\tuint32_t a;\n};\nPB_AT(pb_wire, a, 0);|firmware/abi/wire.h:2:|PB_SIZE(pb_wire
abi|firmware/abi/wire.h|struct pb_wire {\n\tuint32_t a;\n\tuint32_t b;\n};\nPB_SIZE(pb_wire, 8);\nPB_AT(pb_wire, a, 0);|firmware/abi/wire.h:4:|PB_AT(pb_wire, b
abi|firmware/abi/wire.h|struct pb_wire {\n\tint a;\n};\nPB_SIZE(pb_wire, 4);|firmware/abi/wire.h:3:|fixed-width
abi|firmware/abi/wire.h|struct pb_wire {\n\tuint32_t *a;\n};\nPB_SIZE(pb_wire, 4);|firmware/abi/wire.h:3:|fixed-width
abi_doc|firmware/abi/other.h|/** Written by the host. */\nstruct pb_other {\n\tuint32_t a; /**< a */\n};\nPB_SIZE(pb_other, 4);|docs/abi.md:1:|not shown: struct pb_other
abi_doc|firmware/abi/other.h|#define PB_OTHER 1u /**< one */|docs/abi.md:1:|not shown: constants other.h
abi_doc|firmware/abi/other.h|/*\n * A drawing:\n *\n *  31  0\n */|docs/abi.md:1:|not shown: note A drawing
abi_doc|firmware/abi/wire.h|/** Written by the firmware. */\nstruct pb_wire {\n\tuint32_t first; /**< a field; with a semicolon */\n\tuint32_t reserved[3];\n};\nPB_SIZE(pb_wire, 16);|docs/abi.md:4:|the headers say otherwise
abi_doc|firmware/abi/wire.h|/** Written by the host. */\nstruct pb_wire {\n\tuint32_t first; /**< a field; with a semicolon */\n\tuint32_t second; /**< another */\n\tuint32_t reserved[2];\n};\nPB_SIZE(pb_wire, 16);|docs/abi.md:11:|`second`
abi_doc|firmware/abi/patch.h|/* */|docs/abi.md:14:|no header has: struct pb_allocation
reference|hal/lines.h|/** @file\n Lines. */\nstruct pb_lines {\n\tint a; /**< one */\n};|hal/lines.h:4:|Compound pb_lines is not documented
reference|hal/lines.h|/** @file\n Lines. */\n/** Lines. */\nstruct pb_lines {\n\tint a;\n};|hal/lines.h:6:|Member a
reference|host/patchbay.h|/** @file\n The library. */\n/** Works. @param b one */\nint pb_work(int a);|host/patchbay.h:4:|argument 'b'
wddm|firmware/abi/patch.h|struct pb_allocation {\n\tuint32_t size;\n\tuint32_t extra;\n};|firmware/abi/patch.h:4:|does not mention pb_allocation.extra
wddm|firmware/abi/patch.h|struct pb_descriptor {\n\tuint32_t size;\n};|firmware/abi/patch.h:3:|does not mention pb_descriptor.size
wddm|tests/unit/test_core.c|static void another(void **state)|docs/wddm.md:5:|there is no test test_core.every_row
wddm|tests/unit/test_core.c|static void every_row(void **state)|docs/wddm.md:5:|test_core.every_row has no row "a row"
boards|boards/one/board.c|/* CHANGE: this */|boards/one/board.c:2:|still as in the template
boards|host/tool/main.c|static const char *const board = "one";|host/tool/main.c:2:|only boards/one may know one
boards|boards/two/board.c|/* as in one */|boards/two/board.c:2:|only boards/one may know one
boards|qemu/card.h|#define BOARD "one"|qemu/card.h:2:|only boards/one may know one
format|firmware/core.c|int  x;|firmware/core.c:2:|clang-format
tidy|firmware/core.c|int pb_f(int n);\nint pb_f(int n)\n{\n\treturn n ? pb_f(n - 1) : 0;\n}|firmware/core.c:3:|recursive
tidy|firmware/core.c|int pb_f(int n);\nint pb_f(int n)\n{\n\tint x;\n\tif (n)\n\t\tx = 1;\n\treturn x;\n}|firmware/core.c:8:|uninitialized
END

abi_list='#define PB_THINGS(X) X(ONE, 1, "one") X(TWO, 2, "two")\n\nenum pb_thing {\n#define PB_THING_ENUM(name, number, meaning) PB_THING_##name = (number),\n\tPB_THINGS(PB_THING_ENUM)\n};'
abi_table='\n<!-- enum pb_thing -->\n| number | name | meaning |\n|---|---|---|\n| 1 | `PB_THING_ONE` | one |\n| %s | `PB_THING_TWO` | two |\n%s<!-- / -->\n'
# list NUMBER ROW: the second thing's number in the page, and a row more.
list() {
	clean_tree
	source_file firmware/abi/other.h "$(printf '%b' "$abi_list")"
	# shellcheck disable=SC2059
	printf "$abi_table" "$1" "$2" >>"$work/tree/docs/abi.md"
}
list 2 ''
passes abi_doc
list 3 ''
finds abi_doc docs/abi.md:28: 'PB_THING_TWO'
list 2 $'| 3 | `PB_THING_THREE` | three |\n'
finds abi_doc docs/abi.md:29: 'the headers say otherwise'
list 2 'not closed '
finds abi_doc docs/abi.md:24: 'not closed: enum pb_thing'
# silent WORDS FILE TEXT: a header that keeps something back; the page is another one then, too.
silent() {
	cases=$((cases + 1))
	source_file "$2" "$(printf '%b' "$3")"
	bash "$here/check_abi_doc.sh" "$work/tree" >"$work/output" 2>&1 && report "abi_doc passes: $1"
	grep -qF "$2:$1" "$work/output" || report "abi_doc does not say: $2:$1"
	clean_tree
}
silent '4: pb_wire.first says nothing' firmware/abi/wire.h \
	'/** Written by the host. */\nstruct pb_wire {\n\tuint32_t first;\n};\nPB_SIZE(pb_wire, 4);'
silent '3: pb_wire.first: nobody is said to write it' firmware/abi/wire.h \
	'struct pb_wire {\n\tuint32_t first; /**< one */\n};\nPB_SIZE(pb_wire, 4);'
silent '2: PB_ONE says nothing' firmware/abi/other.h '#define PB_ONE 1u'

lines() {
	local i
	for ((i = 0; i < $1; i++)); do echo "$2"; done
}

source_file boards/one/board.c "$(lines 150 '/**/')"
source_file boards/one/machine.c "$(lines 47 '/**/')"
finds boards boards/one:1: 'the board has 200 lines'
source_file firmware/core.c "$(lines 500 '/**/')"
finds rules firmware/core.c:501: 'longer than 500 lines'
source_file firmware/core.c "$(printf 'int f(void)\n{\n'; lines 81 ';'; echo '}')"
finds rules firmware/core.c:3: 'the function has 81 lines'
echo 'int x;' | put firmware/core.c
finds rules firmware/core.c:1: 'SPDX'
source_file firmware/core.c '/* TO''DO: more */'
finds rules firmware/core.c:2: 'unfinished'
printf '\nsee /ho''me/someone/file\n' | put README.md
finds rules README.md:2: 'path of one machine'
printf 'One.\nSee `firmware/gone.c`.\n' | put README.md
finds docs README.md:2: 'firmware/gone.c does not exist'
printf 'See [this](docs/gone.md).\n' | put README.md
finds docs README.md:1: 'docs/gone.md does not exist'
printf '```\nscripts/gone --fast\n```\n' | put README.md
finds docs README.md:2: 'scripts/gone does not exist'
printf 'One.\n`firmware/core.c: pb_zero()` and `firmware/core.c: pb_gone()`.\n' | put README.md
finds docs README.md:2: 'firmware/core.c has no pb_gone()'
printf '| `one_instr` | 1 |\n' | put README.md
printf 'As `one_instr`.\nAs `two_instr`.\n' | put docs/tour.md
finds docs docs/tour.md:2: 'there is no figure two_instr'
# record LINE: a page with two records, of which the second is this.
record() {
	source_file firmware/abi/trace.h $'#define PB_TRACE_EVENTS(X) \\\n\tX(FEED, 20, PACKET, 1, "fence:x context:u") \\\n\tX(IDLE, 82, LINE, 3, "- -")'
	printf 'See `1.000000  FEED      queue 0 fence 0x1 context 0`.\n%s\n' "$1" | put docs/tour.md
}
record '`1.000012  IDLE     `, 12 us later.'
passes docs
record '`1.000012  IDLE     `, 13 us later.'
finds docs docs/tour.md:2: 'the record IDLE comes 12 us later'
record '`1.000012  GONE     `'
finds docs docs/tour.md:2: 'no record of the trace is called GONE'
record '`1.000012  FEED      queue 0 fence 0x2 engine 0`'
finds docs docs/tour.md:2: 'the record FEED has an argument context'
printf '## `struct pb_allocation`\n`size` by `test_gone.every_row`\n' | put docs/wddm.md
finds wddm docs/wddm.md:2: 'there is no test test_gone.every_row'
rm "$work/tree/docs/wddm.md"
finds wddm firmware/abi/patch.h:5: 'docs/wddm.md does not mention pb_allocation.size'
printf '#!/usr/bin/env bash\nif true; then\n' | put scripts/hello
finds shell scripts/hello:3: 'syntax error'
chmod -x "$work/tree/scripts/hello"
finds shell scripts/hello:1: 'not executable'
sed -i 's/the same/\${CMAKE_SOURCE_DIR}/' "$work/tree/CMakeLists.txt"
finds reproducible build/one/patchbay-one.elf:1: 'differs'
sed -i '/the same/d' "$work/tree/CMakeLists.txt"
finds reproducible build/one:1: 'no image'

echo "$cases cases, $failures wrong"
((failures == 0))
