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

make_clean_tree() {
	mkdir -p "$work/tree"
	cp "$here/../../.clang-format" "$here/../../.clang-tidy" "$work/tree"
	source_file firmware/core.c $'#include <stdint.h>\n\n#include "hal/lines.h"\n#include "patchbay/abi/wire.h"\n\n/* no volatile, no malloc() in a comment */\nint pb_zero(void);\nint pb_zero(void)\n{\n\treturn 0;\n}'
	source_file include/patchbay/abi/base.h $'#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\n#define PB_STATIC_ASSERT(condition, text) static_assert(condition, text)\n#else\n#define PB_STATIC_ASSERT(condition, text) _Static_assert(condition, text)\n#endif\n#define PB_SIZE(type, bytes)       PB_STATIC_ASSERT(sizeof(struct type) == (bytes), #type)\n#define PB_AT(type, field, offset) PB_STATIC_ASSERT(offsetof(struct type, field) == (offset), #field)'
	source_file include/patchbay/abi/wire.h $'#include "patchbay/abi/base.h"\n/** Written by the host. */\nstruct pb_wire {\n\tuint32_t first; /**< a field; with a semicolon */\n\tuint32_t reserved[3];\n};\nPB_SIZE(pb_wire, 16);\nPB_AT(pb_wire, first, 0);'
	source_file include/patchbay/abi/patch.h $'#include "patchbay/abi/base.h"\n/** Written by the host. */\nstruct pb_allocation {\n\tuint32_t size; /**< bytes */\n};\nPB_SIZE(pb_allocation, 4);\nPB_AT(pb_allocation, size, 0);'
	source_file hal/lines.h '#include <stdint.h>'
	source_file hal/shared.h $'static inline int pb_read(const int *at)\n{\n\treturn *(const volatile int *)at;\n}'
	source_file host/queue.c '#include "patchbay/patchbay.h"'
	source_file include/patchbay/patchbay.h '#include "patchbay/abi/wire.h"'
	source_file include/patchbay/wddm/ddi.h '#include "patchbay/abi/wire.h"'
	source_file host/tool/main.c $'#include <signal.h>\n#include <stdlib.h>\n\nstatic volatile sig_atomic_t stop;\n\nvoid pb_nop(void);\nvoid pb_nop(void)\n{\n\t__asm__ volatile("nop");\n}'
	put README.md <<<'See `firmware/core.c`, `boards/NAME/board.c` and [this](include/patchbay/abi/wire.h).'
	put docs/wddm.md <<<$'# WDDM\n\n## `struct pb_allocation`\n\n`size`, shown by `test_core.every_row: a row` and `test_scenario_core.a_story`\n'
	put docs/design.md <<<$'<!-- layers -->\n| level | folder |\n|---|---|\n| 1 | queue |\n| 2 | command |\n| 3 | loop |\n<!-- /layers -->'
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
	source_file tests/unit/scenario_core.c $'static const struct CMUnitTest tests[] = {\n\tCARD(a_story, "run 1"),\n};'
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
  "command": "clang -std=c11 -c firmware/core.c -I. -Iinclude",
  "file": "$work/tree/firmware/core.c"
}
]
END
}

# Copied, since the making of so many small files takes a second.
clean_tree() {
	rm -rf "$work/tree"
	cp -a "$work/clean" "$work/tree"
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

# finds CHECK PLACE WORDS [others]: the tree as it is now has one fault, or others that follow from it.
finds() {
	cases=$((cases + 1))
	local status=0
	bash "$here/check_$1.sh" "$work/tree" >"$work/output" 2>&1 || status=$?
	[[ $status == 1 ]] || report "$1 ends with status $status instead of 1 for: $3"
	grep -F "$2" "$work/output" | grep -qF "$3" || report "$1 does not say at $2: $3"
	[[ ${4-} == others || $(wc -l <"$work/output") == 1 ]] || report "$1 says more than: $3"
	clean_tree
}

make_clean_tree
cp -a "$work/tree" "$work/clean"
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
include_direction|firmware/sub/part.c|#include "patchbay/patchbay.h"|firmware/sub/part.c:2:|"patchbay/patchbay.h"
include_direction|include/patchbay/abi/other.h|#include "hal/lines.h"|include/patchbay/abi/other.h:2:|"hal/lines.h"
include_direction|include/patchbay/abi/other.h|#include <string.h>|include/patchbay/abi/other.h:2:|<string.h>
include_direction|hal/lines.h|\n#include "hal/cortex_m/nvic.h"|hal/lines.h:3:|"hal/cortex_m/nvic.h"
include_direction|hal/cortex_m/nvic.c|#include "firmware/core.h"|hal/cortex_m/nvic.c:2:|"firmware/core.h"
include_direction|hal/cortex_m/nvic.c|#include <stdlib.h>|hal/cortex_m/nvic.c:2:|<stdlib.h>
include_direction|hal/host/halt.c|#include <stdlib.h>\n#include "qemu/sim.h"|hal/host/halt.c:3:|"qemu/sim.h"
include_direction|host/wddm/submit.c|#include <stdlib.h>|host/wddm/submit.c:2:|<stdlib.h>
include_direction|host/linux/pbd_drv.c|#include "host/internal.h"|host/linux/pbd_drv.c:2:|"host/internal.h"
include_direction|host/queue.c|#include <unistd.h>|host/queue.c:2:|<unistd.h>
include_direction|host/queue.c|#include "qemu/sim.h"|host/queue.c:2:|"qemu/sim.h"
include_direction|host/tool/main.c|#include "firmware/core.h"|host/tool/main.c:2:|"firmware/core.h"
include_direction|host/link_socket.c|#include "firmware/core.h"|host/link_socket.c:2:|"firmware/core.h"
include_direction|boards/one/machine.c|#include "qemu/card.h"|boards/one/machine.c:2:|"qemu/card.h"
include_direction|boards/one/board.c|#include "qemu/machines.h"|boards/one/board.c:2:|"qemu/machines.h"
include_direction|boards/one/board.c|#include <cmsis.h>|boards/one/board.c:2:|<cmsis.h>
include_direction|boards/one/board.c|#include "loader/slot.h"|boards/one/board.c:2:|"loader/slot.h"
include_direction|boards/one/board.c|#include "qemu/mcu/flash.h"|boards/one/board.c:2:|"qemu/mcu/flash.h"
include_direction|boards/one/loader/loader.c|#include "firmware/core.h"|boards/one/loader/loader.c:2:|"firmware/core.h"
include_direction|qemu/mcu/uart.c|#include "loader/slot.h"|qemu/mcu/uart.c:2:|"loader/slot.h"
include_direction|qemu/card.c|#include "boards/one/board.h"|qemu/card.c:2:|"boards/one/board.h"
include_direction|qemu/mcu/uart.c|#include "qemu/card.h"|qemu/mcu/uart.c:2:|"qemu/card.h"
include_direction|qemu/mcu/uart.c|#include <stdlib.h>|qemu/mcu/uart.c:2:|<stdlib.h>
include_direction|hal/card_admin/admin.c|#include "qemu/mcu/lines.h"|hal/card_admin/admin.c:2:|"qemu/mcu/lines.h"
include_direction|boards/one/app/main.c|#include "boards/one/board.h"|boards/one/app/main.c:2:|"boards/one/board.h"
include_direction|boards/one/app/main.c|#include "firmware/firmware.h"|boards/one/app/main.c:2:|"firmware/firmware.h"
rules|firmware/core.c|/* a\ncomment */ volatile int x;|firmware/core.c:3:|volatile
rules|host/tool/main.c|const volatile int *x;|host/tool/main.c:2:|volatile
rules|firmware/core.c|void *x = malloc(4);|firmware/core.c:2:|no heap
rules|hal/engine/ring.c|void f(void *x)\n{\n\tfree(x);\n}|hal/engine/ring.c:4:|no heap
rules|qemu/mcu/ring.c|void f(void *x)\n{\n\tfree(x);\n}|qemu/mcu/ring.c:4:|no heap
rules|host/queue.c|void *x = calloc(1, 4);|host/queue.c:2:|no heap
rules|include/patchbay/abi/wire.h|struct x {\n\tuint32_t y : 3;\n};|include/patchbay/abi/wire.h:3:|bit-field
rules|boards/one/board.c|__attribute__((weak)) void f(void);|boards/one/board.c:2:|weak
rules|hal/cortex_m/vectors.c|#pragma weak handler|hal/cortex_m/vectors.c:2:|weak
rules|hal/burst.h|register int x __asm__("r7");|hal/burst.h:2:|frame pointer
rules|firmware/core.c|#ifdef __arm__\n#endif|firmware/core.c:2:|conditional
rules|firmware/core.c|#if PB_BOARD == 1\n#endif|firmware/core.c:2:|conditional
include_direction|host/queue.c|# include <stdio.h> // "include/patchbay/patchbay.h"|host/queue.c:2:|may not
abi|include/patchbay/abi/wire.h|struct pb_wire {\n\tuint32_t a;\n};\nPB_AT(pb_wire, a, 0);|include/patchbay/abi/wire.h:2:|PB_SIZE(pb_wire
abi|include/patchbay/abi/wire.h|struct pb_wire {\n\tuint32_t a;\n\tuint32_t b;\n};\nPB_SIZE(pb_wire, 8);\nPB_AT(pb_wire, a, 0);|include/patchbay/abi/wire.h:4:|PB_AT(pb_wire, b
abi|include/patchbay/abi/wire.h|struct pb_wire {\n\tint a;\n};\nPB_SIZE(pb_wire, 4);|include/patchbay/abi/wire.h:3:|fixed-width
abi|include/patchbay/abi/wire.h|struct pb_wire {\n\tuint32_t *a;\n};\nPB_SIZE(pb_wire, 4);|include/patchbay/abi/wire.h:3:|fixed-width
abi_doc|include/patchbay/abi/other.h|/** Written by the host. */\nstruct pb_other {\n\tuint32_t a; /**< a */\n};\nPB_SIZE(pb_other, 4);|docs/abi.md:1:|not shown: struct pb_other
abi_doc|include/patchbay/abi/other.h|#define PB_OTHER 1u /**< one */|docs/abi.md:1:|not shown: constants other.h
abi_doc|include/patchbay/abi/other.h|/*\n * A drawing:\n *\n *  31  0\n */|docs/abi.md:1:|not shown: note A drawing
abi_doc|include/patchbay/abi/wire.h|/** Written by the firmware. */\nstruct pb_wire {\n\tuint32_t first; /**< a field; with a semicolon */\n\tuint32_t reserved[3];\n};\nPB_SIZE(pb_wire, 16);|docs/abi.md:4:|not what the headers declare
abi_doc|include/patchbay/abi/wire.h|/** Written by the host. */\nstruct pb_wire {\n\tuint32_t first; /**< a field; with a semicolon */\n\tuint32_t second; /**< another */\n\tuint32_t reserved[2];\n};\nPB_SIZE(pb_wire, 16);|docs/abi.md:11:|`second`
abi_doc|include/patchbay/abi/patch.h|/* */|docs/abi.md:14:|no header has: struct pb_allocation
reference|hal/lines.h|/** @file\n Lines. */\nstruct pb_lines {\n\tint a; /**< one */\n};|hal/lines.h:4:|Compound pb_lines is not documented
reference|hal/lines.h|/** @file\n Lines. */\n/** Lines. */\nstruct pb_lines {\n\tint a;\n};|hal/lines.h:6:|Member a
reference|include/patchbay/patchbay.h|/** @file\n The library. */\n/** Works. @param b one */\nint pb_work(int a);|include/patchbay/patchbay.h:4:|argument 'b'
wddm|include/patchbay/abi/patch.h|struct pb_allocation {\n\tuint32_t size;\n\tuint32_t extra;\n};|include/patchbay/abi/patch.h:4:|does not mention pb_allocation.extra
wddm|include/patchbay/abi/patch.h|struct pb_descriptor {\n\tuint32_t size;\n};|include/patchbay/abi/patch.h:3:|does not mention pb_descriptor.size
wddm|tests/unit/test_core.c|static void another(void **state)|docs/wddm.md:5:|there is no test test_core.every_row
wddm|tests/unit/scenario_core.c|\tCARD(another_story, "run 1"),|docs/wddm.md:5:|there is no test test_scenario_core.a_story
wddm|tests/unit/test_core.c|static void every_row(void **state)|docs/wddm.md:5:|test_core.every_row has no row "a row"
public_headers|include/patchbay/patchbay.h|#include "patchbay/abi/wire.h"\n#include "host/internal.h"|include/patchbay/patchbay.h:3:|host/internal.h is no public header
public_headers|include/patchbay/patchbay.h|#include "patchbay/gone.h"|include/patchbay/patchbay.h:2:|as c alone: patchbay/gone.h
public_headers|include/patchbay/patchbay.h|uint32_t pb_one(void);|include/patchbay/patchbay.h:2:|as c alone: unknown type name
public_headers|include/patchbay/patchbay.h|struct pb_one {\n\tint class;\n};|include/patchbay/patchbay.h:3:|as c++ alone
boards|boards/one/board.c|/* CHANGE: this */|boards/one/board.c:2:|still as in the template
boards|host/tool/main.c|static const char *const board = "one";|host/tool/main.c:2:|only boards/one may know one
boards|boards/two/board.c|/* as in one */|boards/two/board.c:2:|only boards/one may know one
boards|qemu/card.h|#define BOARD "one"|qemu/card.h:2:|only boards/one may know one
format|firmware/core.c|int  x;|firmware/core.c:2:|clang-format
words|firmware/core.c|/* A chore of the channel. */|firmware/core.c:2:|"chore"
words|firmware/core.c|extern int reply_owed;|firmware/core.c:2:|"owed"
words|hal/lines.h|/*\n * The engine gets\n * on. */|hal/lines.h:4:|"gets on"
words|include/patchbay/abi/wire.h|/** Nobody writes here. */|include/patchbay/abi/wire.h:2:|"nobody"
words|host/queue.c|/* Withdrawn. */|host/queue.c:2:|"withdrawn"
words|qemu/card.c|/* The same,\n the other\n way round. */|qemu/card.c:4:|"the other way round"
words|tests/unit/test_core.c|static const char *const row = "a row";\nstatic void every_row(void **state); /* taken\n * back */|tests/unit/test_core.c:4:|"taken back"
tidy|firmware/core.c|int pb_f(int n);\nint pb_f(int n)\n{\n\treturn n ? pb_f(n - 1) : 0;\n}|firmware/core.c:3:|recursive
tidy|firmware/core.c|int pb_f(int n);\nint pb_f(int n)\n{\n\tint x;\n\tif (n)\n\t\tx = 1;\n\treturn x;\n}|firmware/core.c:8:|uninitialized
END

abi_list='#define PB_THINGS(X) X(ONE, 1, "one") X(TWO, 2, "two")\n\nenum pb_thing {\n#define PB_THING_ENUM(name, number, meaning) PB_THING_##name = (number),\n\tPB_THINGS(PB_THING_ENUM)\n};'
abi_table='\n<!-- enum pb_thing -->\n| number | name | meaning |\n|---|---|---|\n| 1 | `PB_THING_ONE` | one |\n| %s | `PB_THING_TWO` | two |\n%s<!-- / -->\n'
# list NUMBER ROW: the second thing's number in the page, and a row more.
list() {
	clean_tree
	source_file include/patchbay/abi/other.h "$(printf '%b' "$abi_list")"
	# shellcheck disable=SC2059
	printf "$abi_table" "$1" "$2" >>"$work/tree/docs/abi.md"
}
list 2 ''
passes abi_doc
list 3 ''
finds abi_doc docs/abi.md:28: 'PB_THING_TWO'
list 2 $'| 3 | `PB_THING_THREE` | three |\n'
finds abi_doc docs/abi.md:29: 'not what the headers declare'
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
silent '4: pb_wire.first is not described' include/patchbay/abi/wire.h \
	'/** Written by the host. */\nstruct pb_wire {\n\tuint32_t first;\n};\nPB_SIZE(pb_wire, 4);'
silent '3: pb_wire.first: no writer is named' include/patchbay/abi/wire.h \
	'struct pb_wire {\n\tuint32_t first; /**< one */\n};\nPB_SIZE(pb_wire, 4);'
silent '2: PB_ONE is not described' include/patchbay/abi/other.h '#define PB_ONE 1u'

lines() {
	local i
	for ((i = 0; i < $1; i++)); do echo "$2"; done
}

source_file boards/one/app/main.c "$(lines 300 '/**/')"
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
printf '#!/usr/bin/env bash\npe''rl -e 1\n' | put scripts/hello
chmod +x "$work/tree/scripts/hello"
finds rules scripts/hello:2: 'scripts are bash or Python'
put scripts/other.pl <<<'print "hello";'
finds rules scripts/other.pl:1: 'scripts are bash or Python'
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
printf 'one_instr\t1.00\t+3%%\tone\n' | put tests/bench/figures.tsv
printf 'As `one_instr`.\nAs `two_instr`.\n' | put docs/tour.md
finds docs docs/tour.md:2: 'there is no figure two_instr'
# record LINE: a page with two records, of which the second is this.
record() {
	source_file include/patchbay/abi/trace.h $'#define PB_TRACE_EVENTS(X) \\\n\tX(FEED, 20, PACKET, 1, "fence:x context:u") \\\n\tX(IDLE, 82, LINE, 3, "- -")'
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
put docs/wddm.md <<<$'## `struct pb_allocation`\n`size`\n| a | reason | shown by |\n|---|---|---|\n| 1 | 2 | 3 |\n| 1 | | 3 |'
finds wddm docs/wddm.md:6: 'a row without its reason'
put docs/wddm.md <<<$'## `struct pb_allocation`\n`size`\n| a | reason | shown by |\n|---|---|---|\n| 1 | 2 | 3 |\n| 1 | 2 | |'
finds wddm docs/wddm.md:6: 'a row without a test'
layout=$'#define WDK  DXGKARG_PATCH\nFIELD(0x00, 4, 0x00, 4, Size, UINT, HDR7)\nFIELD(0x04, 4, 0x04, 4, Flags, UINT, HDR7)\n#undef WDK'
put host/wddm/ddi_layout.def <<<"$layout"
put docs/wddm.md <<<$'## `struct pb_allocation`\n`size`\n## DXGKARG_PATCH\n| Size, Flags | 1 |'
passes wddm
put host/wddm/ddi_layout.def <<<"$layout"
put docs/wddm.md <<<$'## `struct pb_allocation`\n`size`\n## DXGKARG_PATCH\n| Size | Flags |\n## DXGKARG_RENDER\n| Flags | 1 |'
finds wddm host/wddm/ddi_layout.def:3: 'docs/wddm.md has no row of DXGKARG_PATCH.Flags'
rm "$work/tree/docs/wddm.md"
finds wddm include/patchbay/abi/patch.h:5: 'docs/wddm.md does not mention pb_allocation.size'
# The figures of the project, with one digit of a page changed.
for page in docs/figures.md README.md; do
	for file in tests/bench/figures.tsv tests/bench/peers.txt docs/figures.md README.md; do
		put "$file" <"$here/../../$file"
	done
	passes figures
	line=$(grep -n '^| `retire_instr` ' "$work/tree/$page" | cut -d : -f 1)
	sed -i "${line}s/ | [0-9]/ | 9/" "$work/tree/$page"
	finds figures "$page:$line:" 'not what tests/bench/figures.tsv records'
done
# Each kind of gate, with figures at it and beyond it: gate | figure | what the check says, nothing if it holds.
while IFS='|' read -r gate figure words; do
	cases=$((cases + 1))
	printf 'one_instr\t1.00\t%s\tone\n' "$gate" | put tests/bench/figures.tsv
	printf '{"board.one_instr": %s}\n' "$figure" | put figures.json
	status=0
	(cd "$work/tree" && python3 "$here/../../scripts/figures.py" check figures.json) >"$work/output" 2>&1 || status=$?
	[[ $status == $((${#words} != 0)) ]] || report "a figure of $figure with the gate $gate: status $status"
	grep -qF -- "$words" "$work/output" || [[ -z $words ]] || report "a figure of $figure with the gate $gate: not '$words'"
	clean_tree
done <<'END'
4|4.00|
4|4.01|one_instr is 4.01, beyond its gate: 4
+3%|1.03|
+3%|1.04|one_instr is 1.04, beyond its gate: 1.03 (+3 %)
>=0.90|0.90|
>=0.90|1.50|
>=0.90|0.89|one_instr is 0.89, beyond its gate: at least 0.90
report|9|
report>=2|1|
END
# A lower layer with a state and a higher one; a case adds its fault.
two_layers() {
	source_file firmware/instance.h $'struct pb_core_node {\n\tint bit;   /**< set at boot */\n\tint marks; /**< queue/ready.c */\n};'
	source_file firmware/queue/ready.h $'struct pb_core_ready {\n\tint listed;\n\tint halted[2];\n};\nvoid pb_ready(struct pb_core_ready *ready);\nstatic inline void pb_ready_halt(struct pb_core_ready *ready)\n{\n\tready->halted[1] = 1;\n}'
	source_file firmware/queue/ready.c $'#include "firmware/queue/ready.h"\n\nvoid pb_ready(struct pb_core_ready *ready)\n{\n\tready->listed++;\n\tpb_ready_halt(ready);\n}'
	source_file firmware/command/stop.h $'void pb_stop(void);\nint pb_stop_handler(int code);\nstatic inline void pb_stop_now(void)\n{\n}'
	source_file firmware/command/stop.c $'#include "firmware/command/stop.h"\n\n#include "firmware/instance.h"\n#include "firmware/queue/ready.h"\n\nvoid pb_stop(void)\n{\n\tstruct pb_core_ready ready = {.listed = 1};\n\n\tready.listed = 2;\n\tpb_ready(&ready);\n}\n\nint pb_stop_handler(int code)\n{\n\treturn code;\n}'
}
two_layers
passes layers
passes owners
# check | file | what follows the SPDX line | place | words
while IFS='|' read -r check file text place words; do
	two_layers
	source_file "$file" "$(printf '%b' "$text")"
	finds "$check" "$place" "$words"
done <<'END'
layers|firmware/queue/up.c|#include "firmware/command/stop.h"\n\nvoid pb_up(void)\n{\n\tpb_stop();\n}|firmware/queue/up.c:6:|pb_up() calls into firmware/command/stop.c, a higher layer
layers|firmware/queue/up.c|#include "firmware/command/stop.h"\n\nvoid pb_up(void)\n{\n\tpb_stop_now();\n}|firmware/queue/up.c:6:|pb_up() calls into firmware/command/stop.h, a higher layer
layers|firmware/queue/up.c|#include "firmware/command/stop.h"\n\nint (*const pb_up[])(int) = {\n\tpb_stop_handler,\n};|firmware/queue/up.c:5:|names pb_stop_handler of firmware/command/stop.c, a higher layer
layers|firmware/queue/up.c|#include "firmware/command/stop.h"\n\nint (*pb_up(void))(int)\n{\n\treturn pb_stop_handler;\n}|firmware/queue/up.c:6:|names pb_stop_handler of firmware/command/stop.c, a higher layer
layers|firmware/queue/up.h|#include "firmware/command/stop.h"|firmware/queue/up.h:2:|firmware/command/stop.h is of a higher layer
layers|firmware/common.h|#include "firmware/queue/ready.h"|firmware/common.h:2:|firmware/queue/ready.h is of a higher layer
layers|firmware/command/up.h|#include "firmware/instance.h"|firmware/command/up.h:2:|no header includes firmware/instance.h
layers|firmware/engine/feed.c|int pb_feed;|docs/design.md:1:|no row for engine
layers|firmware/command/broken.c|int pb_feed = none;|firmware/command/broken.c:2:|undeclared
owners|firmware/command/other.c|void pb_other(struct pb_core_ready *ready)\n{\n\tready->listed = 1;\n}|firmware/command/other.c:4:|pb_core_ready.listed belongs to queue/ready
owners|firmware/command/other.c|void pb_other(struct pb_core_ready *ready)\n{\n\tready->halted[0] += 1;\n}|firmware/command/other.c:4:|pb_core_ready.halted
owners|firmware/command/other.c|void pb_other(struct pb_core_ready *ready)\n{\n\tif (ready)\n\t\t--ready->listed;\n}|firmware/command/other.c:5:|pb_core_ready.listed
owners|firmware/command/other.c|void pb_other(struct pb_core_ready *ready)\n{\n\t*ready = (struct pb_core_ready){0};\n}|firmware/command/other.c:4:|pb_core_ready as a whole
owners|firmware/command/other.c|void pb_other(struct pb_core_ready *ready)\n{\n\tmemset(ready, 0, sizeof(*ready));\n}|firmware/command/other.c:4:|pb_core_ready as a whole
owners|firmware/command/other.c|void pb_other(struct pb_core_ready *ready)\n{\n\tint *at = &ready->listed;\n\n\t*at = 1;\n}|firmware/command/other.c:4:|pb_core_ready.listed
owners|firmware/command/other.c|void pb_other(struct unknown *unknown)\n{\n\tunknown->at->listed = 1;\n}|firmware/command/other.c:4:|whose is unknown->at->listed?
owners|firmware/command/other.c|#define PUT(ready) (ready)->listed = 1|firmware/command/other.c:2:|a macro writes a field
owners|firmware/command/other.c|void pb_other(struct pb_core_node *node)\n{\n\tnode->marks++;\n}|firmware/command/other.c:4:|pb_core_node.marks belongs to queue/ready
owners|firmware/command/other.c|void pb_other(struct pb_core_node *node)\n{\n\tnode->bit = 1;\n}|firmware/command/other.c:4:|pb_core_node.bit belongs to boot, instance
END
# Three files of one folder in a circle; one of the calls goes through a table.
for folder in firmware/queue hal/model; do
	source_file $folder/one.c $'void pb_one(void);\nvoid pb_two(void);\nvoid (*const pb_ones[])(void) = {\n\tpb_two,\n};\nvoid pb_one(void)\n{\n}'
	source_file $folder/two.c $'void pb_two(void);\nvoid pb_three(void);\nvoid pb_two(void)\n{\n\tpb_three();\n}'
	source_file $folder/three.c $'void pb_one(void);\nvoid pb_three(void);\nvoid pb_three(void)\n{\n\tpb_one();\n}'
	finds layers "$folder/one.c:5:" '3 modules call one another in a circle'
done
# The host library as it is, then with one line of it changed.
while IFS='|' read -r file from to place words; do
	mkdir -p "$work/tree/host" "$work/tree/include/patchbay"
	cp "$here"/../../host/*.[ch] "$here"/../../host/library.cmake "$work/tree/host"
	cp "$here"/../../include/patchbay/*.h "$work/tree/include/patchbay"
	[[ -n $from ]] || passes threads
	[[ -n $from ]] || continue
	sed -i "s/$from/$(printf '%s' "$to")/" "$work/tree/$file"
	finds threads "$place" "$words" others
done <<'END'
host/queue.c||||
include/patchbay/queue.h|Threads: kicks, queue; interrupt|Threads: queue; interrupt|include/patchbay/queue.h:|pb_queue_submit says queue, and uses kicks, queue
include/patchbay/queue.h|^ [*] Threads: kicks, queue; interrupt[.]| *|include/patchbay/queue.h:|pb_queue_submit has no line Threads:
include/patchbay/queue.h|Threads: queue; waits|Threads: queue; interrupt|include/patchbay/queue.h:|pb_queue_wait says queue, and uses queue, waits
host/queue.c|error = append(queue, descriptor, kicks, submitted);|error = pb_pause(channel->link, 0, 0);|host/queue.c:1:|submit_locked waits under a short lock
host/queue.c|error = read_completed(queue);|error = pb_channel_finish(queue->channel, 0, NULL);|host/queue.c:1:|pb_queue_indices takes a lock under a short lock
host/queue.c|kicks = unread_kicks(channel);|kicks = channel->control_put;|host/queue.c:1:|submissions and control commands share commands
END
rm -rf "$work/tree/host" "$work/tree/include/patchbay"
printf '#!/usr/bin/env bash\nif true; then\n' | put scripts/hello
finds shell scripts/hello:3: 'syntax error'
chmod -x "$work/tree/scripts/hello"
finds shell scripts/hello:1: 'not executable'
sed -i 's/the same/\${CMAKE_SOURCE_DIR}/' "$work/tree/CMakeLists.txt"
finds reproducible build/one/patchbay-one.elf:1: 'differs'
sed -i '/the same/d' "$work/tree/CMakeLists.txt"
finds reproducible build/one:1: 'no image'
printf 'One.\n\nThe queue of a channel who\nhas work.\n' | put docs/tour.md
finds words docs/tour.md:4: 'the retired word "who has"'
printf '# Hello\n.Sh NAME\nIt looks for somebody.\n' | put docs/hello.1
finds words docs/hello.1:3: 'the retired word "somebody"'
printf '# Nobody\necho hello\n' | put scripts/hello.sh
finds words scripts/hello.sh:1: 'the retired word "nobody"'
printf '# A stopwatch.\nset(x y)\n' | put boards/one/board.cmake
finds words boards/one/board.cmake:1: 'the retired word "stopwatch"'
printf '# Changes\n<!-- renamed -->\nchore: deferred task\n<!-- /renamed -->\n' | put CHANGELOG.md
passes words
printf '# Changes\n<!-- renamed -->\nchore: deferred task\n<!-- /renamed -->\nA chore.\n' | put CHANGELOG.md
finds words CHANGELOG.md:5: 'the retired word "chore"'
# A tree of version 0.2.0 with interface 1.3 behind the release 0.1.0 with interface 1.2.
# numbers RELEASE MINOR: a base.h with these.
numbers() {
	printf '#define PB_ABI_MAJOR 1u\n#define PB_ABI_MINOR %su\n#define PB_VERSION "%s"\n' "$2" "$1"
}
wire_page() {
	printf '<!-- struct pb_wire -->\n| 0 | `first` | uint32_t | host | a |\n| 4 | `reserved` | uint32_t[3] | host | reserved |\n<!-- / -->\n'
	printf '<!-- enum pb_code -->\n| 1 | `PB_CODE_ONE` | a |\n<!-- / -->\n<!-- constants base.h -->\n| %s | `PB_LIMIT` | a |\n<!-- / -->\n' "$1"
}
version_tree() {
	local old=$work/tree/tests/released/patchbay-0.1.0
	clean_tree
	mkdir -p "$old/docs" "$old/include/patchbay/abi"
	numbers 0.1.0 2 >"$old/include/patchbay/abi/base.h"
	wire_page 5 >"$old/docs/abi.md"
	printf '# C\n\n## Unreleased: firmware 0.1.0, ABI 1.2\n\n- fix: a.\n' >"$old/CHANGELOG.md"
	tar -C "$old/.." -cJf "$old.tar.xz" patchbay-0.1.0
	rm -r "$old"
	numbers 0.2.0 3 | put include/patchbay/abi/base.h
	wire_page 6 | sed 's/^| 1 .*/&\n| 2 | `PB_CODE_TWO` | b |/' | put docs/abi.md
	printf '# C\n\n## Unreleased: firmware 0.2.0, ABI 1.3\n\n- fix: b.\n\n## 0.1.0 (2026-01-01), ABI 1.2\n\n- fix: a.\n' | put CHANGELOG.md
	printf '# Rows\n0.1.0\t1.2\tabc\t%s\n' "$(sha256sum <"$old.tar.xz" | cut -d ' ' -f 1)" | put tests/released/releases.tsv
}
# version PLACE TEXT [FILE SCRIPT]...: one fault, by sed -E.
version() {
	local place=$1 text=$2
	shift 2
	version_tree
	while (($#)); do
		sed -i -E "$2" "$work/tree/$1"
		shift 2
	done
	finds versions "$place" "$text" others
}
version_tree
passes versions
base=include/patchbay/abi/base.h changes=CHANGELOG.md table=tests/released/releases.tsv page=docs/abi.md
version $changes:3: 'the top section is not of 0.3.0' $base 's/0.2.0/0.3.0/'
version $changes:3: 'the top section is not of 0.2.0 with ABI 1.4' $base 's/3u/4u/'
version $changes:3: 'a section is "Unreleased' $changes 's/^## Unreleased.*/## Next/'
version $changes:3: 'an entry stands twice, as after a merge: - fix: b.' $changes 's/^- fix: b\.$/&\n&/'
version $changes:3: '0.1.0 is released: what comes' $base 's/0.2.0/0.1.0/' $changes '3s/0.2.0/0.1.0/'
version $changes:7: '0.1.0 is released: its section stays' $changes 's/fix: a/fix: c/'
version $changes:7: '0.1.0 has ABI 1.2' $changes '7s/1.2$/1.1/'
version $changes:1: 'there is no section for 0.1.0' $changes '/^## 0.1.0 /,$d'
version $changes:10: '0.0.9 is no release' $changes '$a## 0.0.9 (2026-01-01), ABI 1.2'
version $base:3: '0.4.0 does not follow 0.1.0' $base 's/0.2.0/0.4.0/' $changes 's/0.2.0/0.4.0/'
version $base:2: 'ABI 1.4 does not follow 1.2' $base 's/3u/4u/' $changes '3s/1.3/1.4/'
version $base:1: 'pb_wire 0 `first` uint32_t of ABI 1.2 is gone or another: ABI 2.0' $page 's/`first`/`second`/'
version $base:1: 'pb_wire 0 `first` uint32_t of ABI 1.2 is gone or another: ABI 2.0' $page 's/0 \| `first`/4 | `first`/'
version $base:1: 'pb_code 1 `PB_CODE_ONE` of ABI 1.2 is gone or another: ABI 2.0' $page 's/^\| 1 /| 3 /'
version $base:2: 'pb_code 2 `PB_CODE_TWO`: the wire is not that of 0.1.0' $base 's/3u/2u/' $changes '3s/1.3/1.2/' $page 's/^\| 6 /| 5 /'
version $base:2: 'base.h `PB_LIMIT` 5: the wire is not that of 0.1.0' $base 's/3u/2u/' $changes '3s/1.3/1.2/' $page '/CODE_TWO/d'
version $base:2: '0.1.1 is not the next version' $base 's/0.2.0/0.1.1/' $changes 's/0.2.0/0.1.1/'
version $table:2: 'is not what was released' $table 's/[0-9a-f]$/x/'
version $table:3: 'is missing' $table '$a9.9.9\t1.2\tx\tx'
version $table:3: 'a row has four columns' $table '$a9.9.9\t1.2'
# What is gone is allowed with the next MAJOR.
version_tree
sed -i 's/MAJOR 1u/MAJOR 2u/; s/3u/0u/' "$work/tree/$base"
sed -i '3s/1.3/2.0/' "$work/tree/$changes"
sed -i 's/`first`/`second`/' "$work/tree/$page"
passes versions
# Tags, of a commit that has no row, and of the version that is being released.
tagged() {
	version_tree
	git -C "$work/tree" init -q
	git -C "$work/tree" add -A
	git -C "$work/tree" -c user.name=x -c user.email=x@x commit -qm x
	git -C "$work/tree" tag "$1"
}
tagged v0.2.0
passes versions
tagged v0.1.0
finds versions $table:2: 'the tag v0.1.0 names'
tagged v7.7.7
finds versions $table:1: 'the tag v7.7.7 has no row'
tagged latest
finds versions $table:1: 'the tag latest is no version'
clean_tree
# The workflow of a forge and the development container.
project_tree() {
	local file
	clean_tree
	for file in .github/workflows/ci.yml .devcontainer/Dockerfile .devcontainer/devcontainer.json scripts/lib.sh; do
		put "$file" <"$here/../../$file"
	done
}
# project PLACE TEXT FILE SCRIPT: one fault, by sed -E.
project() {
	project_tree
	sed -i -E "$4" "$work/tree/$3"
	finds project "$1" "$2" others
}
project_tree
passes project
workflow=.github/workflows/ci.yml container=.devcontainer/Dockerfile
project $workflow:13: 'more than .ci/run' $workflow 's,run: .ci/run,run: .ci/run --quick,'
project $workflow:14: 'more than .ci/run' $workflow '$a\      - run: make'
project $workflow:14: 'more than .ci/run' $workflow '$a\        env: {A: b}'
project $workflow:13: 'more than .ci/run' $workflow 's,run: .ci/run,run: |,'
project $workflow:1: 'is not what it runs' $workflow '/ci.run/d'
project $container:1: 'not Debian 12' $container 's/debian:12/debian:13/'
project $container:1: 'qemu-system-arm is missing' $container 's/qemu-system-arm//'
project $container:1: 'g++ is missing' $container 's/ g[+][+]//'
project .devcontainer/devcontainer.json:1: 'builds Other' .devcontainer/devcontainer.json 's/Dockerfile/Other/'
project .devcontainer/devcontainer.json:1: 'JSONDecodeError' .devcontainer/devcontainer.json 's/^[{]//'
project README.md:2: 'a badge that no test holds' README.md '$a![CI](https://example.org/badge.svg)'
clean_tree

source_file firmware/core.c '/* It is allowed to bypass the unguarded target on a chorus; whoever has it. */'
printf 'chore\n' | put tests/records/words.tsv
passes words

echo "$cases cases, $failures wrong"
((failures == 0))
