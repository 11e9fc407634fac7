#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/release/sbom.sh FOLDER: the SPDX document of a release by the validator of the SPDX project (pyspdxtools, which Debian has in
# sid only: a new system of it is made). It accepts the document and refuses three spoiled ones. Adds a line to
# tests/records/release_sbom.tsv. Needs root and the network; about two minutes.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/lib.sh
source "$project/scripts/lib.sh"
((EUID == 0)) || die 3 "needs root, for chroot"
(($# == 1)) || die 2 "give the folder of a release"
[[ -e $(echo "$1"/*.spdx.json) ]] || die 2 "$1 has no SPDX document"
need_packages "${packages_clean[@]}"
system=$(mktemp -d)
trap 'rm -rf "$system"' EXIT

validate() {
	chroot "$system" env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 pyspdxtools --infile "/tmp/$1.spdx.json" >"$system/tmp/said" 2>&1
}

# spoil NAME CODE: a copy of the document, changed by a statement of Python.
spoil() {
	python3 - "$system/tmp" "$1" "$2" <<'END_OF_PYTHON'
import json
import sys
folder, name, code = sys.argv[1:]
with open(f'{folder}/release.spdx.json', encoding='utf-8') as file:
    document = json.load(file)
exec(code)  # pylint: disable=exec-used
with open(f'{folder}/{name}.spdx.json', 'w', encoding='utf-8') as file:
    json.dump(document, file)
END_OF_PYTHON
	! validate "$1" || die 1 "the validator accepts a document that is wrong: $1"
	[[ -s $system/tmp/said ]] || die 1 "the validator does not say what is wrong: $1"
}

# The archive of sid is not signed anew on every mirror.
step "a new system" logged sbom mmdebstrap --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' --include=python3-spdx-tools sid "$system"
cp "$1"/*.spdx.json "$system/tmp/release.spdx.json"
validate release || die 1 "$(cat "$system/tmp/said")"
spoil licence "document['packages'][0]['licenseDeclared'] = 'NO-LICENCE'"
spoil relation "document['relationships'][0]['relatedSpdxElement'] = 'SPDXRef-nothing'"
spoil sum "document['packages'][0]['checksums'][0]['checksumValue'] = 'f00'"
validator=$(chroot "$system" dpkg-query -W -f '${Version}' python3-spdx-tools)
elements=$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["packages"]))' "$system/tmp/release.spdx.json")
record=$root/tests/records/release_sbom.tsv
[[ -e $record ]] || printf 'date\trevision\tvalidator\tpackages\tspoiled\trefused\n' >"$record"
printf '%s\t%s\t%s\t%s\t3\t3\n' "$(date -u +%F)" "$(git -C "$root" log -1 --format=%h)" "spdx-tools $validator" "$elements" >>"$record"
say "spdx-tools $validator accepts $elements packages, and refuses 3 spoiled documents"
