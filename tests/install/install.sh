#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/install/install.sh BUILD_FOLDER [--all]: what cmake --install leaves, moved elsewhere, serves the command and programs of
# others, in C and in C++, by CMake and by pkg-config. With --all the libraries are built as shared ones, too.
# shellcheck source=tests/install/lib.sh
source "$(dirname "$0")/lib.sh" "$@"

prefix=${staged#"$stage"}
moved="$work/moved to"

# DESTDIR is the only folder that is written, and nothing in it knows of a build, of the sources or of DESTDIR.
install_moved() {
	[[ ! -e $prefix ]] || fail "$prefix was written in spite of DESTDIR"
	[[ $(find "$stage" -mindepth 1 -maxdepth 3 -not -type d) == '' ]] || fail "a file beside the prefix"
	cp -r "$staged" "$moved"
	! grep -rlF -e "$project" -e "$prefix" "$moved" >&2 || fail "above: files that name a folder of this machine"
}

# The command with its page and its completions.
check_command() {
	local patchbay=$moved/bin/patchbay name
	[[ $("$patchbay" --version) == "patchbay $version,"* ]] || fail "the version is not $version"
	quiet mandoc -Tlint -Wwarning "$moved/share/man/man1/patchbay.1"
	if ((EUID == 0)); then
		chmod 755 "$work"
		quiet setpriv --reuid=65534 --regid=65534 --clear-groups "$patchbay" image "$moved/share/patchbay/images/patchbay-mps2_an500.elf"
	fi
	for name in "" info trace "trace decode" card; do
		diff <(completed "$name") <(expected "$name") || fail "above: < completions of \"patchbay $name\", > its help"
	done
}

# completed COMMAND: the words that bash offers behind it, and its options.
completed() {
	local word
	for word in '' -; do
		PATH="$moved/bin:$PATH" bash --norc -c '
			source "$1"
			compopt() { :; }
			COMP_WORDS=(patchbay $2 "$3")
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
			_patchbay
			printf "%s\n" "${COMPREPLY[@]}"' - "$moved/share/bash-completion/completions/patchbay" "$1" "$word"
	done | sed '/^$/d' | sort
}

# What docs/patchbay.1 and the help list: read by other rules than those of the completion.
expected() {
	# shellcheck disable=SC2086
	"$moved/bin/patchbay" $1 --help | awk '
		/^  [a-z]/ && !options { if (commands) print $1 }
		/^Usage:.*COMMAND/ { commands = 1 }
		{
			options = options || /^ +(-.,)? *--/
			if (match($0, /^ +(-[a-zA-Z?], )?--[a-z-]+=?/)) {
				word = substr($0, 1, RLENGTH)
				sub(/^ +(-[a-zA-Z?], )?/, "", word)
				print word
			}
		}' | sort
}

# consumer FOLDER PREFIX CMAKE_ARGUMENT...: the project, against one prefix.
consumer() {
	local folder=$1 with=$2
	shift 2
	quiet cmake -S "$project/tests/install/consumer" -B "$folder" -G Ninja -DCMAKE_PREFIX_PATH="$with" \
		-DFUNCTIONS="$work/functions.cpp" "$@"
}

# A program that takes the address of every function that a public header declares: each is there, by its name in C.
write_functions() {
	local header
	(
		cd "$moved/include"
		for header in $(find patchbay -name '*.h' | sort); do
			echo "#include <$header>"
		done
		echo 'const void *functions[] = {'
		find patchbay -name '*.h' -print0 | sort -z | xargs -0 sed -nE 's/^[a-z].*[ *](pb_[a-z0-9_]+)\(.*/\1/p' | sort -u |
			sed 's/.*/\treinterpret_cast<const void *>(\&&),/'
		echo '};'
		echo 'int main() { return functions[0] == nullptr; }'
	) >"$work/functions.cpp"
	(($(grep -c reinterpret_cast "$work/functions.cpp") > 100)) || fail "fewer functions than there are"
}

# The headers by another compiler than the project's.
compile_by_clang() {
	local standard
	grep '^#include' "$work/functions.cpp" >"$work/headers"
	for standard in c11 c++17; do
		quiet clang -x "${standard%%[0-9]*}" -std="$standard" -Wall -Wextra -Wpedantic -Wconversion -Werror -fsyntax-only \
			-I "$moved/include" "$work/headers"
	done
}

build_by_make() {
	mkdir "$work/make"
	cp "$project"/tests/install/consumer/{Makefile,hello.c} "$work/make"
	PKG_CONFIG_PATH=$1/lib/pkgconfig quiet make -C "$work/make"
}

says_hello() {
	[[ $("$@" "$work/card") == "patchbay $version mps2_an500" ]] || fail "$1 did not see the card"
}

# Of two versions each is found by its number, whatever comes first.
two_versions() {
	local next=$work/next short=${version%.*} wanted
	cp -r "$moved" "$next"
	sed -i "s/PACKAGE_VERSION \"[0-9.]*\"/PACKAGE_VERSION \"77.5.0\"/; s/\"${version//./[.]}\"/\"77.5.0\"/
		s/\"${short%.*}\"/\"77\"/; s/\"${short#*.}\"/\"5\"/" "$next/lib/cmake/patchbay/patchbayConfigVersion.cmake"
	for wanted in "$short" 77.5; do
		consumer "$work/want $wanted" "$next;$moved" -DWANTED="$wanted"
	done
	grep -q "patchbay_DIR:PATH=$next/" "$work/want 77.5/CMakeCache.txt" || fail "77.5 is not what was found"
	grep -q "patchbay_DIR:PATH=$moved/" "$work/want $short/CMakeCache.txt" || fail "$short is not what was found"
	refused "77.5.0" cmake -S "$project/tests/install/consumer" -B "$work/none" -DCMAKE_PREFIX_PATH="$next" -DWANTED="$short"
}

# The libraries as shared ones: the same programs, unchanged.
install_shared() {
	quiet cmake -S "$project" -B "$work/shared build" -G Ninja -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=OFF \
		-DCMAKE_C_FLAGS=-O0 --install-prefix "$work/shared"
	quiet cmake --build "$work/shared build" --target pb_patchbay pb_patchbay_sim
	quiet cmake --install "$work/shared build" --component devel
	rm -rf "$work/shared build"
	consumer "$work/consumer of shared" "$work/shared"
	quiet cmake --build "$work/consumer of shared"
	quiet "$work/consumer of shared/functions"
	readelf -d "$work/consumer of shared/hello" | grep -qF "[libpatchbay.so.${version%.*}]" || fail "no shared library was linked"
}

version=$(sed -nE 's/^#define PB_VERSION "(.*)"$/\1/p' "$project/include/patchbay/abi/base.h")
need_stage
install_moved
check_command
write_functions
consumer "$work/consumer" "$moved"
quiet cmake --build "$work/consumer"
quiet "$work/consumer/functions"
compile_by_clang
build_by_make "$moved"
two_versions
start_card "$moved/bin/patchbay"
says_hello "$work/consumer/hello"
says_hello "$work/make/hello"
if [[ $all == --all ]]; then
	install_shared
	says_hello "$work/consumer of shared/hello"
fi
echo "installed, moved, and used by programs of others"
