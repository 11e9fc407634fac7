/* SPDX-License-Identifier: MIT */
/* Attaches to the card at a socket and prints the card's build text. */
#include <patchbay/patchbay.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	static struct pb_channel channel;
	struct pb_link *link;
	enum pb_error error = pb_link_open_socket(argc > 1 ? argv[1] : "patchbay.sock", &link);

	if (error == PB_ERROR_OK) {
		error = pb_channel_attach(&channel, link, 10000000);
		if (error == PB_ERROR_OK) {
			puts(channel.card.build);
			error = pb_channel_detach(&channel);
		}
		link->ops->close(link);
	}
	if (error != PB_ERROR_OK)
		fprintf(stderr, "%s: %s\n", pb_error_name(error), pb_error_meaning(error));
	return error == PB_ERROR_OK ? 0 : 1;
}
