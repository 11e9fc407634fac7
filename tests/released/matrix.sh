#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/released/matrix.sh BUILD_FOLDER [--all]: every host library with every firmware, on the emulated card of this tree. Both are
# those of each release in releases.tsv, of this tree, and of two made up from it: with the next minor and with the next major
# number of the interface. A pair works (client.c) when the major numbers are equal, else the host is told BAD_VERSION;
# a third outcome fails. Without --all no image is built: on one board, released images that are stored here, and this tree's.
# shellcheck source=tests/install/lib.sh
source "$(dirname "$0")/../install/lib.sh" "$@"
here=$project/tests/released
boards=(mps2_an500)
[[ $all != --all ]] || boards+=(qemu_virt_rv32)
# The interface of each version, its release, and where its sources are.
declare -A abi release source_of
versions=()

# abi_of FOLDER: the interface version that these sources define.
abi_of() {
	sed -nE 's/^#define PB_ABI_(MAJOR|MINOR) +([0-9]+)u.*/\2/p' "$1/include/patchbay/abi/base.h" | paste -sd.
}

# add VERSION ABI FOLDER RELEASE
add() {
	versions+=("$1")
	abi[$1]=$2
	source_of[$1]=$3
	release[$1]=$4
	[[ $(abi_of "$3") == "$2" ]] || fail "the sources of $1 have the interface $(abi_of "$3"), not $2"
}

unpack_releases() {
	local version interface commit sum image_sum
	while IFS=$'\t' read -r version interface commit sum image_sum; do
		echo "$sum  $here/patchbay-$version.tar.xz" | sha256sum --check --quiet || fail "the file of $version is another"
		echo "$image_sum  $here/patchbay-$version-mps2_an500.elf.xz" | sha256sum --check --quiet || fail "the image of $version is another"
		tar -C "$work" -xf "$here/patchbay-$version.tar.xz"
		add "$version" "$interface" "$work/patchbay-$version" "$version"
	done < <(grep -v '^#' "$here/releases.tsv")
	((${#versions[@]})) || fail "no release"
}

# made_up NAME MAJOR MINOR: this tree with another interface version.
made_up() {
	local folder=$work/$1
	mkdir -p "$folder/qemu" "$folder/scripts"
	cp -r "$project"/{CMakeLists.txt,LICENSE,include,firmware,hal,linker,boards,host} "$folder"
	cp -r "$project/qemu/mcu" "$folder/qemu"
	cp "$project"/scripts/{seal,stack.py} "$folder/scripts"
	sed -i -E "s/^(#define PB_ABI_MAJOR +)[0-9]+u/\1$2u/; s/^(#define PB_ABI_MINOR +)[0-9]+u/\1$3u/" "$folder/include/patchbay/abi/base.h"
	add "$1" "$2.$3" "$folder" "$now"
}

# image VERSION BOARD: sets $image.
image() {
	local built=$work/built/$1-$2
	image=$built/patchbay-$2.elf
	case $1 in
	tree) image=$project/build/$2/patchbay-$2.elf ;;
	*)
		if [[ $all != --all ]]; then
			image=$work/$1.elf
			xz -dc "$here/patchbay-$1-$2.elf.xz" >"$image"
			return
		fi
		quiet cmake -S "${source_of[$1]}" -B "$built" -G Ninja -DPB_BOARD="$2"
		quiet cmake --build "$built" --target image
		;;
	esac
}

# The host of a version: client.c with its library and its headers alone.
build_client() {
	local tree=${source_of[$1]}
	mkdir -p "$work/include-$1/patchbay/engine"
	cp "$tree/hal/engine/packets.h" "$work/include-$1/patchbay/engine"
	quiet gcc -std=gnu11 -w -O1 -DPB_VERSION="\"$1\"" -I"$tree" -I"$tree/include" -I"$work/include-$1" \
		"$here/client.c" "$tree"/host/*.c -o "$work/client-$1"
}

start() {
	"$build/host/patchbay" card --quiet --socket "$work/card" --board "$2" --image "$image" >"$work/card.log" 2>&1 &
	card=$!
	while kill -0 "$card" 2>/dev/null; do
		[[ ! -S $work/card ]] || return 0
		sleep 0.05
	done
	cat "$work/card.log" >&2
	fail "the card with the firmware of $1 on $2 did not start"
}

# pair LIBRARY FIRMWARE BOARD
pair() {
	local expected="works ${abi[$1]} ${abi[$2]} patchbay ${release[$2]} $3" said
	[[ ${abi[$1]%.*} == "${abi[$2]%.*}" ]] || expected="BAD_VERSION ${abi[$1]} ${abi[$2]}"
	said=$("$work/client-$1" "$work/card" 2>&1) || said+=" (exit status $?)"
	[[ $said == "$expected" ]] || fail "library $1, firmware $2 on $3: $said; expected: $expected"
	printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${said%% *}"
	pairs=$((pairs + 1))
}

unpack_releases
current=$(abi_of "$project")
now=$(sed -nE 's/^#define PB_VERSION "(.*)"$/\1/p' "$project/include/patchbay/abi/base.h")
add tree "$current" "$project" "$now"
made_up next_minor "${current%.*}" "$((${current#*.} + 1))"
made_up next_major "$((${current%.*} + 1))" 0
for version in "${versions[@]}"; do
	build_client "$version"
done
pairs=0
for firmware in "${versions[@]}"; do
	for board in "${boards[@]}"; do
		[[ $firmware != next_* || ($all == --all && $board == "${boards[0]}") ]] || continue
		image "$firmware" "$board"
		start "$firmware" "$board"
		for library in "${versions[@]}"; do
			pair "$library" "$firmware" "$board"
		done
		stop_card
	done
done
echo "$pairs pairs of ${#versions[@]} libraries and firmwares"
