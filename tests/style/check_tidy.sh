#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_tidy.sh [--analyzer] [ROOT]: the second compiler. Clang's warnings, as the build has them for gcc, and the length of
# functions in each file of the host build; the other checks of .clang-tidy in each but tests. Clang's analyzer takes twenty
# times as long and runs with --analyzer only.
analyzer=no
[[ ${1-} != --analyzer ]] || { analyzer=yes && shift; }
source "$(dirname "$0")/lib.sh"

need build/host-test/compile_commands.json
work=$(mktemp -d)
trap 'rm -rf "$findings" "$work"' EXIT
# Each file once, although some are compiled for several tables, and without options of code generation, of
# which gcc has others. Prints the files.
python3 - build/host-test/compile_commands.json "$work/compile_commands.json" >"$work/files" <<'PYTHON'
import json
import re
import sys
with open(sys.argv[1], encoding='utf-8') as file:
    entries = {entry['file']: entry for entry in reversed(json.load(file))}
for entry in entries.values():
    entry['command'] = re.sub(r' -f(?!freestanding)\S+', '', entry['command'])
with open(sys.argv[2], 'w', encoding='utf-8') as file:
    json.dump(list(entries.values()), file)
print('\n'.join(sorted(entries)))
PYTHON

# tidy FOLDERS CHECKS FILES_A_CALL [ARGUMENT...]
tidy() {
	sed -nE "\\,^$here/($1)/,p" "$work/files" |
		xargs -r -n "$3" -P "$(nproc)" clang-tidy --quiet -p "$work" --checks="$2" "${@:4}" >>"$work/said" 2>&1 || status=$?
}
here=$(pwd -P) own='firmware|hal|loader|boards|host|qemu' status=0
if [[ $analyzer == yes ]]; then
	# One file a call: the valist check of version 14 is wrong from the second file of a call on. The analyzer gives a function
	# up after so many states, 225,000 by default: beyond these it found nothing in this tree and took twelve times as long.
	tidy "$own" '' 1 --extra-arg={-Xclang,-analyzer-config,-Xclang,max-nodes=8000}
else
	tidy "$own" '-clang-analyzer-*' 12
	tidy tests '-*,clang-diagnostic-*,readability-function-size' 12
fi
sed -nE "s,^($here/|\./)?([^/:][^:]*:[0-9]+):[0-9]+: (warning|error): (.*),\2: \4,p" "$work/said" >"$findings"
if [[ $status != 0 && ! -s $findings ]]; then
	cat "$work/said"
	exit 1
fi
finish
