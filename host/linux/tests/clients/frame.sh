#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# frame.sh CLIENT DRIVER COUNT: has the picture taken that a client, which stands still, shows with its update number COUNT.
failed=0
if [ "$2" != patchbay ]; then
	pbd-picture "$2" >/dev/vdb || failed=1
	sync
fi
echo "HOST picture $1.$3 $2 $failed" >/dev/console
read -r _ </dev/console
