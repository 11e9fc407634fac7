#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/install/embed.sh BUILD_FOLDER [--all]: the firmware and the host library inside projects of others, and a board that is not
# in this tree: with the sources as they are installed, with the sources in a folder of the project, and with a Makefile
# alone. With --all also by FetchContent, and as a module of Zephyr.
# shellcheck source=tests/install/lib.sh
source "$(dirname "$0")/lib.sh" "$@"
projects=$project/tests/install

# The image of a board elsewhere is the same, byte for byte, as that of the board in its place: nothing of it depends on where
# the board lies, nor on where the sources are.
board_elsewhere() {
	mkdir "$work/their boards"
	cp -r "$project/boards/mps2_an500" "$work/their boards/"
	quiet cmake -S "$projects/image" -B "$work/image build" -G Ninja -DCMAKE_PREFIX_PATH="$staged" \
		-DPB_BOARD_DIR="$work/their boards/mps2_an500/" \
		-DCMAKE_TOOLCHAIN_FILE="$staged/share/patchbay/boards/cmake/toolchain.cmake"
	quiet cmake --build "$work/image build"
	cmp "$(find "$work/image build" -name patchbay-mps2_an500.bin)" "$project/build/mps2_an500/patchbay-mps2_an500.bin"
}

# A header of limits in the board's own folder is what the core is built with.
own_limits() {
	local board="$work/their boards/small"
	cp -r "$project/boards/template" "$board"
	sed -i 's,boards/template/,small/,' "$board/board.cmake"
	sed -i 's,define PB_LIMIT_CONTEXTS .*,error "the limits of this board",' "$board/limits.h"
	cmake -S "$staged/share/patchbay" -B "$work/small" -G Ninja -DPB_BOARD_DIR="$board" >/dev/null
	refused 'error "the limits of this board"' cmake --build "$work/small" --target pb_firmware
}

# The command's list of emulators has that of a board elsewhere.
own_machine() {
	local board="$work/their boards/their_own"
	cp -r "$project/boards/mps2_an500" "$board"
	sed -i 's/mps2_an500/their_own/' "$board/machine.c"
	quiet cmake -S "$project" -B "$work/tool" -G Ninja -DBUILD_TESTING=OFF -DPB_BOARD_DIRS="$board/"
	quiet cmake --build "$work/tool" --target pb_machines
	nm "$work/tool/libpb_machines.a" | grep -q ' [DR] pb_machine_their_own$' || fail "no emulator of their_own"
	grep -qF 'ROW(their_own)' "$work/tool/generated/qemu/machine_list.h" || fail "no row of their_own"
	# shellcheck source=scripts/lib.sh
	[[ $(source "$project/scripts/lib.sh" && board_packages "$board" && board_folder mps2_an500) == *qemu-system-arm*"$project/boards/mps2_an500" ]] ||
		fail "the scripts do not know their_own"
}

# within HOW: a project that has the sources beside its own, and a program of it. Its own sources make a warning or two.
within() {
	quiet cmake -S "$projects/within" -B "$work/$1" -G Ninja -DHOW="$1" -DPATCHBAY="$project" -DCMAKE_C_FLAGS=-O0 \
		-DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON
	quiet cmake --build "$work/$1"
	[[ $(ctest --test-dir "$work/$1" -N) == *"Total Tests: 0"* ]] || fail "$1: tests of Patchbay"
	! grep -q -e -Werror "$work/$1/build.ninja" || fail "$1: -Werror"
	! grep -q -e '^build [^:]*: .*\<\(patchbay\|unit_[a-z]*\)$' "$work/$1/build.ninja" || fail "$1: a program of Patchbay"
}

listed_symbols() {
	sed -n '/^<!-- symbols -->$/,/^<!-- \/symbols -->$/s/^| `\([a-z_0-9]*\)`.*/\1/p' "$project/docs/embedding.md" | sort
}

# A Makefile that knows two folders of sources: the core has exactly the undefined symbols that the page lists. Make takes no path
# with a space.
by_make() {
	cp -r "$projects/make" "$work/make"
	ln -s "$staged/share/patchbay" "$work/patchbay"
	quiet make -C "$work/make" -j2 PATCHBAY="$work/patchbay"
	diff <(arm-none-eabi-nm -u "$work/make/core.o" | sed 's/ *U //' | sort) <(listed_symbols) ||
		fail "above: < what the core needs, > what docs/embedding.md lists"
	grep -qa '^patchbay [0-9]' <(strings "$work/make/core.o") || fail "no release without PB_VERSION"
}

# As a module of Zephyr and as a CMSIS pack, built by stubs of those that would take it.
by_zephyr() {
	quiet cmake -S "$projects/zephyr" -B "$work/zephyr" -G Ninja -DMODULE="$staged/share/patchbay/boards/zephyr" -DCMAKE_C_FLAGS=-O0
	quiet cmake --build "$work/zephyr"
	ld -r -o "$work/zephyr/all.o" --whole-archive "$work/zephyr/patchbay/libpatchbay.a"
	diff <(nm -u "$work/zephyr/all.o" | sed 's/ *U //' | sort) <(listed_symbols) || fail "above: < what a module needs, > what is listed"
}

by_pack() {
	python3 "$projects/pack.py" "$staged/share/patchbay" >"$work/pack.list" || fail "the pack does not build"
	diff <(grep ^firmware/ "$work/pack.list") <(cd "$work/make" && find firmware -name '*.o' | sed 's/o$/c/' | sort) ||
		fail "above: < the core's sources in the pack, > those that the Makefile takes"
}

need_stage
board_elsewhere
own_limits
own_machine
within add_subdirectory
[[ $(find "$work/add_subdirectory" -name libpb_firmware.a) == '' ]] || fail "a library that nothing links was built"
refused NO_CARD "$work/add_subdirectory/program" "$work/none"
by_make
by_pack
if [[ $all == --all ]]; then
	within FetchContent
	quiet "$work/FetchContent/program"
	by_zephyr
fi
echo "a board elsewhere, projects around the sources, a Makefile, a CMSIS pack"
