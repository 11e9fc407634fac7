#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/release signs the image of a board with a loader, and of it come the files that fwupd distributes. fwupdtool reads
# them; what they state is so; a card takes the signed image. Refused: a file that is no signed image, a key without a
# security version, a cabinet whose firmware is not that of its metadata.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "$*" >&2
	exit 1
}

"$project/scripts/sign" --new-key "$work/key.pem"
"$project/scripts/release" --untested --output "$work/out" --boards qemu_virt_rv32 --packages none --key "$work/key.pem" --security-version 7
"$project/scripts/release" --verify "$work/out"
python3 "$project/tests/release/contents.py" "$work/out" || fail "the contents are not as stated"
cd "$work/out/updates"
version=$(sed -nE 's/^#define PB_VERSION +"([0-9.]+).*/\1/p' "$project/include/patchbay/abi/base.h")
name=patchbay-qemu_virt_rv32-$version
[[ $(echo *) == "$name.cab $name.metainfo.xml $name.signed" ]] || fail "other files: $(echo *)"

# Of the metadata: by a reader of XML, and a card's own check of the file that they are about.
python3 - "$name" "$version" <<'END'
import hashlib, struct, sys, uuid, xml.etree.ElementTree as tree
name, version = sys.argv[1:]
data = open(name + '.signed', 'rb').read()
component = tree.parse(name + '.metainfo.xml').getroot()
release = component.find('releases/release')
assert component.get('type') == 'firmware' and release.get('version') == version
assert component.findtext('provides/firmware') == str(uuid.uuid5(uuid.NAMESPACE_DNS, 'PATCHBAY\\BOARD_qemu_virt_rv32'))
checksum = release.find('checksum')
assert checksum.get('filename') == name + '.signed' and checksum.text == hashlib.sha256(data).hexdigest()
assert struct.unpack_from('<I', data, 16) == (7,) and 'Security version 7' in release.findtext('description/p')
END
patchbay=$1
"$project/scripts/sign" --new-flash "$work/card.flash" --key "$work/key.pem"
"$patchbay" update "$name.signed" --flash "$work/card.flash" --board qemu_virt_rv32 | grep -q "written to slot A" || fail "no card takes it"

# Equal inputs, equal files.
mkdir "$work/again"
SOURCE_DATE_EPOCH=$(git -C "$project" log -1 --format=%ct 2>/dev/null || stat -c %Y "$project/CHANGELOG.md") \
	"$project/scripts/fwupd" "$name.signed" --output "$work/again"
cmp "$name.cab" "$work/again/$name.cab"

refused() {
	! "$@" >"$work/said" 2>&1 || fail "done: $*"
}
head -c 4096 /dev/urandom >"$work/noise"
refused "$project/scripts/fwupd" "$work/noise"
grep -q "is no signed image" "$work/said" || fail "$(<"$work/said")"
refused "$project/scripts/release" --untested --output "$work/none" --key "$work/key.pem"
[[ ! -e $work/none ]] || fail "a release was begun"
# fwupd's own check of the metadata, with one bit of the firmware changed.
tool=$(command -v fwupdtool) || tool=$project/build/fwupd/tree/usr/bin/fwupdtool
libraries=$project/build/fwupd/tree/usr/lib/$(uname -m)-linux-gnu
printf x | dd of="$name.signed" bs=1 seek=1000 conv=notrunc status=none
refused env LD_LIBRARY_PATH="$libraries:$(echo "$libraries"/fwupd-*)" "$tool" build-cabinet "$work/bad.cab" "$name.signed" "$name.metainfo.xml"
[[ ! -e $work/bad.cab ]] || fail "fwupd takes a changed firmware"
echo "fwupd reads $name.cab"
