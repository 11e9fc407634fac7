/* SPDX-License-Identifier: MIT */
/* The wire headers serve C++ drivers too: their own checks run as this compiles. */
#include "firmware/abi/base.h"
#include "firmware/abi/boot.h"
#include "firmware/abi/channel.h"
#include "firmware/abi/errors.h"
#include "firmware/abi/patch.h"
#include "firmware/abi/submission.h"

int main()
{
	pb_descriptor descriptor{};
	pb_error error = PB_ERROR_OK;

	return static_cast<int>(descriptor.flags) + error;
}
