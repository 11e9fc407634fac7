#!/bin/bash
# run.sh FILE [opts]
f=$1; shift
cd /tmp/w/prove
exec nice -n 5 frama-c -machdep gcc_x86_32 -cpp-extra-args="-I. '-D__asm__(...)='" -wp -wp-rte -wp-prover z3,cvc4 -wp-timeout 10 -wp-par 2 "$f" "$@"
