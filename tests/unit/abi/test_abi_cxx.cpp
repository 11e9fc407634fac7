/* SPDX-License-Identifier: MIT */
/* The wire headers serve C++ drivers too: their own checks run as this compiles. */
#include "patchbay/abi/base.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/channel.h"
#include "patchbay/abi/errors.h"
#include "patchbay/abi/patch.h"
#include "patchbay/abi/submission.h"

int main()
{
	pb_descriptor descriptor{};
	pb_error error = PB_ERROR_OK;

	return static_cast<int>(descriptor.flags) + error;
}
