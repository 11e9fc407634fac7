# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# Shared by the scripts: where the project is, packages, builds. Sourced by bash, never run.
# All messages go to stderr, so that stdout belongs to the command that a script runs.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/log
# Seconds for which a script waits for what must come: only a hang takes as long, however busy the machine is.
patience=600

# yes, by a script's option --built: nothing is built, and no package is installed. Tests call scripts that way, so that no two
# of them build in one folder, and that none needs the network.
built=no

# Debian packages, by what they are needed for.
packages_host=(python3 gcc g++ libc6-dev cmake ninja-build libcmocka-dev libpng-dev zlib1g-dev libzstd-dev
	libcjson-dev libdw-dev libncurses-dev)
packages_firmware=(python3 gcc-arm-none-eabi libnewlib-arm-none-eabi gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf)
packages_run=(qemu-system-arm qemu-system-misc)
# A card with a GL engine: without them it is not built, and its tests are skipped.
packages_gl=(pkg-config libvirglrenderer-dev libegl1 libegl-dev libgles-dev libgl1-mesa-dri)
# Programs that run on one, with the libraries of piglit's, whose package is not installed; and what they are compared with.
packages_gl_programs=(python3 glmark2-es2-x11 glmark2-x11 mesa-utils xvfb virgl-server libgl1 libegl1 libgles2 libwaffle-1-0
	libwayland-client0 libx11-6 libxkbcommon0)
packages_bench=(valgrind)
packages_cycles=(python3 llvm)
packages_growth=(python3 gnuplot-nox)
packages_prove=(frama-c-base why3 z3 cvc4)
packages_coverage=(gcovr)
packages_mutate=(python3)
packages_debug=(gdb-multiarch)
packages_model=(gcc libc6-dev spin)
packages_test=(shellcheck codespell yamllint lintian dpkg-dev file make pkg-config clang libclang-rt-14-dev clang-format clang-tidy clang-tools openocd stm32flash chromium mingw-w64-common libwine-dev
	"${packages_debug[@]}")
packages_clean=(mmdebstrap)
packages_fuzz=(llvm)
packages_reference=(python3 doxygen)
packages_manual=(mandoc)
packages_watch=(python3 python3-prometheus-client python3-pyte babeltrace2)

# The command that a package is wanted for. A package without one here is a library.
declare -A package_command=(
	[gcc]=gcc [g++]=g++ [cmake]=cmake [ninja-build]=ninja [gcc-arm-none-eabi]=arm-none-eabi-gcc
	[gcc-riscv64-unknown-elf]=riscv64-unknown-elf-gcc [qemu-system-arm]=qemu-system-arm
	[qemu-system-misc]=qemu-system-riscv32 [clang]=clang [clang-format]=clang-format [clang-tidy]=clang-tidy [clang-tools]=clang-query [shellcheck]=shellcheck [codespell]=codespell
	[valgrind]=valgrind [graphviz]=dot [openocd]=openocd [stm32flash]=stm32flash [gdb-multiarch]=gdb-multiarch
	[llvm]=llvm-cov [gcovr]=gcovr [python3]=python3 [spin]=spin [gnuplot-nox]=gnuplot [doxygen]=doxygen [mandoc]=mandoc [babeltrace2]=babeltrace2 [chromium]=chromium
	[mmdebstrap]=mmdebstrap
)

say() {
	printf -- '-- %s\n' "$*" >&2
}

# die STATUS TEXT...
die() {
	local status=$1
	shift
	printf 'error: %s\n' "$*" >&2
	exit "$status"
}

package_present() {
	local command=${package_command[$1]-}
	if [[ -n $command ]] && command -v "$command" >/dev/null; then
		return 0
	fi
	dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

# On another system only commands can be looked for; a missing library shows when CMake configures.
need_commands() {
	local package command missing=()
	for package in "$@"; do
		command=${package_command[$package]-}
		if [[ -n $command ]] && ! command -v "$command" >/dev/null; then
			missing+=("$command (Debian package $package)")
		fi
	done
	if ((${#missing[@]})); then
		printf '  %s\n' "${missing[@]}" >&2
		die 3 "this is no Debian system: install the tools above by hand"
	fi
}

# install_packages PREFIX PACKAGE...: PREFIX is the command in front of apt-get, or empty.
install_packages() {
	local prefix=$1
	shift
	local install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends -o Acquire::Retries=3 "$@")
	mkdir -p "$logs"
	: >"$logs/packages.log"
	local try
	# Package lists that are missing or too old make the first try fail.
	for try in 0 1 2; do
		if ((try)); then
			say "updating the package lists"
			$prefix apt-get update -q -o Acquire::Retries=3 >>"$logs/packages.log" 2>&1 </dev/null || sleep $((10 * try))
		fi
		! $prefix "${install[@]}" >>"$logs/packages.log" 2>&1 </dev/null || return 0
	done
	tail -n 20 "$logs/packages.log" >&2
	die 3 "packages could not be installed; the whole log is $logs/packages.log"
}

# need_packages PACKAGE...: returns when all are there; exit status 3 if that cannot be had.
need_packages() {
	if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
		need_commands "$@"
		return
	fi
	local package missing=() answer
	for package in "$@"; do
		package_present "$package" || missing+=("$package")
	done
	if ((${#missing[@]} == 0)); then
		return
	fi
	if [[ $built == yes ]]; then
		die 3 "missing Debian packages, which scripts/fetch installs: ${missing[*]}"
	elif ((EUID == 0)); then
		say "installing ${missing[*]}"
		install_packages "" "${missing[@]}"
	elif [[ -t 0 && -t 2 && -z ${CI-} ]] && command -v sudo >/dev/null; then
		say "missing Debian packages: ${missing[*]}"
		read -r -p "Install them now with sudo? [y/N] " answer
		[[ $answer == [yY]* ]] || die 3 "not installed"
		sudo -v || die 3 "no right to install packages"
		install_packages sudo "${missing[@]}"
	else
		die 3 "missing Debian packages; as root:" \
			"apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
	fi
}

# need_test_packages: what the tests of scripts/test need.
need_test_packages() {
	need_packages "${packages_host[@]}" "${packages_firmware[@]}" "${packages_run[@]}" "${packages_gl[@]}" \
		"${packages_gl_programs[@]}" "${packages_bench[@]}" "${packages_test[@]}" "${packages_prove[@]}" "${packages_model[@]}" \
		"${packages_reference[@]}" "${packages_manual[@]}" "${packages_watch[@]}"
}

# need_assure_packages: what scripts/assure needs besides.
need_assure_packages() {
	need_packages git zstd "${packages_clean[@]}" "${packages_cycles[@]}" "${packages_growth[@]}" "${packages_coverage[@]}" \
		"${packages_mutate[@]}" "${packages_fuzz[@]}"
}

# board_folder BOARD: a folder of boards/, or one elsewhere: then BOARD is its path, with a slash in it.
board_folder() {
	case $1 in
	*/*) realpath -m "$1" ;;
	*) printf '%s\n' "$root/boards/$1" ;;
	esac
}

# board_name BOARD: the name of its folder.
board_name() {
	basename "$1"
}

# board_packages BOARD: what it takes to build its image and to emulate it, a line each; nothing if there is no such board.
board_packages() {
	case $(sed -nE 's/^set\(PB_TOOLCHAIN ([^ )]*)\)$/\1/p' "$(board_folder "$1")/board.cmake" 2>/dev/null) in
	arm-none-eabi-gcc) printf '%s\n' python3 gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm ;;
	riscv64-unknown-elf-gcc) printf '%s\n' python3 gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf qemu-system-misc ;;
	esac
}

# logged NAME COMMAND...: quiet when it works, else the end of its output.
logged() {
	local log=$logs/$1.log
	shift
	mkdir -p "$logs"
	if ! "$@" >>"$log" 2>&1 </dev/null; then
		tail -n 40 "$log" >&2
		die 1 "$* failed; the whole log is $log"
	fi
}

# need_built FILE...: ends the script if one is not there; it names the file.
need_built() {
	local file
	for file in "$@"; do
		[[ -e $file ]] || die 1 "${file#"$root/"} is missing; without --built this script builds it"
	done
}

# build_folder NAME TARGET CMAKE_ARGUMENT...: configures build/NAME if that has not been done, and builds.
build_folder() {
	local name=$1 target=$2 folder=$root/build/$1
	[[ $built == no ]] || return 0
	shift 2
	rm -f "$logs/$name.log"
	if [[ ! -e $folder/build.ninja ]]; then
		say "configuring and building $name"
		logged "$name" cmake -S "$root" -B "$folder" "$@"
	fi
	logged "$name" cmake --build "$folder" --target "$target" -j "$(nproc)"
}

# build_preset NAME [TARGET]: a build of the host.
build_preset() {
	build_folder "$1" "${2-all}" --preset "$1"
}

# Every board: a folder of boards/.
all_boards() {
	local file
	for file in "$root"/boards/*/board.cmake; do
		basename "$(dirname "$file")"
	done
}

# board_has BOARD VARIABLE: whether its board.cmake sets it.
board_has() {
	grep -q "^set($2 " "$(board_folder "$1")/board.cmake"
}

# build_board NAME [VARIANT [TARGET]]: its image in build/NAME, or in build/NAME-VARIANT.
# Variants: asm (hot loops in assembly, if it has them), clang (libraries only, for the warnings).
build_board() {
	local name variant=${2-} target=${3-all} folder options=()
	name=$(board_name "$1") folder=$(board_folder "$1")
	[[ -e $folder/board.cmake ]] || die 2 "no board is called $1"
	case $variant in
	'') ;;
	asm) options=(-DPB_ASSEMBLY=ON) ;;
	clang) options=(-DPB_CLANG=ON) ;;
	*) die 2 "no variant of a board is called $variant" ;;
	esac
	if [[ $folder != "$root/boards/$name" ]]; then
		[[ ! -e $root/boards/$name ]] || die 2 "boards/$name has the name of $1"
		[[ $built == no ]] || return 0
		# What was built by this name may have been another folder's.
		logged "$name" cmake -S "$root" -B "$root/build/$name${variant:+-$variant}" -G Ninja -DPB_BOARD_DIR="$folder" "${options[@]}"
	fi
	build_folder "$name${variant:+-$variant}" "$target" -G Ninja -DPB_BOARD="$name" "${options[@]}"
}

# build_command BOARD: the patchbay command, whose path $patchbay is then; for a board elsewhere one with its emulator.
build_command() {
	local build=host
	if [[ $(board_folder "$1") != "$root"/boards/* ]]; then
		build=host-$(board_name "$1")
		[[ $built == yes ]] || logged "$build" cmake -S "$root" -B "$root/build/$build" --preset host -DBUILD_TESTING=OFF -DPB_BOARD_DIRS="$(board_folder "$1")"
	fi
	build_folder "$build" patchbay --preset host
	patchbay=$root/build/$build/host/patchbay
}

# build_gl BOARD: the patchbay command with a GL engine and a camera.
build_gl() {
	local build
	build_command "$1"
	build=$(basename "$(dirname "$(dirname "$patchbay")")")
	# A build that was configured before virglrenderer was there.
	[[ $built == yes || -e $root/build/$build/qemu/patchbay-renderer ]] || logged "$build" cmake -S "$root" -B "$root/build/$build" --preset host
	build_folder "$build" patchbay-renderer --preset host
	build_folder "$build" patchbay-camera --preset host
}

# One list over both builds of the host, so that one runner counts everything.
write_test_list() {
	mkdir -p "$root/build/all"
	printf 'subdirs("%s")\n' ../host-test ../host >"$root/build/all/CTestTestfile.cmake"
}

# run_tests BUILD LABEL...: the tests of a build that have all these labels. Builds first.
run_tests() {
	local build=$1 label labels=()
	shift
	build_preset "$build"
	for label; do
		labels+=(-L "^$label\$")
	done
	ctest --test-dir "$root/build/$build" "${labels[@]}" -j "$(($(nproc) + 1))" --output-on-failure --no-label-summary \
		--no-tests=error
}

# What the sources are that a record is about, as far as version control knows.
source_revision() {
	git -C "$root" describe --always --dirty --abbrev=12 2>/dev/null || echo unknown
}

# limited CPU_SECONDS COMMAND...: the command and each process below it end after so much processor time of their own, in place
# of the limit that they had. A limit holds however busy the machine is: five times what the command needs when nothing else
# runs. What sleeps for ever is ended by the test runner's limit of an hour.
limited() {
	prlimit --cpu="$1:" "${@:2}"
}

# step TEXT COMMAND...: says what is done and how long it took.
step() {
	local text=$1 start=$SECONDS
	shift
	say "$text"
	"$@"
	say "$text: $((SECONDS - start)) s"
}
