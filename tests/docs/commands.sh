#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/docs/commands.sh BUILD_FOLDER: each command of a block marked "sh" in README.md and docs/*.md is in
# tests/docs/commands.list, which names its test. Commands marked run or fails are run here.

set -euo pipefail
export LC_ALL=C
build=$1
cd "$(dirname "$0")/../.."
list=tests/docs/commands.list
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

in_documents() {
	awk '
	/^```/ { shell = !inside && $0 == "```sh"; inside = !inside; next }
	inside && /^(scripts\/|patchbay |cmake |bash |arm-none-eabi-|qemu-system-)/ && !shell {
		print FILENAME ":" FNR ": a command in a block that is not marked sh" >"/dev/stderr"
	}
	shell { sub(/ +# .*/, ""); print FILENAME "\t" $0 }' README.md docs/*.md
}
entries() { grep -v '^#' "$list"; }

diff <(in_documents 2>"$work/unmarked") <(entries | cut -f 1,3) ||
	{ echo "above: < commands of the pages, > those of $list" >&2 && exit 1; }
if [[ -s $work/unmarked ]]; then
	cat "$work/unmarked" >&2
	exit 1
fi

for folder in "$build" "$build-test"; do
	ctest --test-dir "$folder" -N | sed -nE 's/^ *Test +#[0-9]+: //p'
done >"$work/tests"
sed -nE 's/^\[([a-z0-9_]+)\]$/\1/p' tests/assure.toml >>"$work/tests"
while read -r how; do
	case $how in
	run | fails | all | hardware | made | recorded) ;;
	check_*) [[ -e tests/style/$how.sh ]] || { echo "$list: there is no tests/style/$how.sh" >&2 && exit 1; } ;;
	*) grep -qxF "$how" "$work/tests" || { echo "$list: there is no test and no group of scripts/assure $how" >&2 && exit 1; } ;;
	esac
done < <(entries | cut -f 2 | sort -u)

mkdir "$work/project"
tar -c --exclude=./build --exclude=./.git . | tar -x -C "$work/project"
cd "$work/project"
count=0
while IFS=$'\t' read -r _ how command; do
	case $how in run | fails) ;; *) continue ;; esac
	status=0
	bash -o pipefail -c "${command//NAME/docs}" >"$work/output" 2>&1 </dev/null || status=$?
	if [[ $how == run && $status != 0 || $how == fails && $status == 0 ]]; then
		cat "$work/output"
		echo "ended with status $status: $command" >&2
		exit 1
	fi
	count=$((count + 1))
done < <(grep -v '^#' "$list")
echo "$count commands ended as their pages say"
