# SPDX-License-Identifier: MIT
"""Machines whose memory the card reaches, for scripts/linux."""

import os

# What such a machine is to pass, beside the tests of host memory: those where objects move, and where the card goes.
TESTS = ("objects_of_other_drivers_make_room,host,commands_run_on_each_node,objects_keep_their_contents_when_they_move,"
         "four_processes_share_the_card,objects_of_other_drivers_order_their_users,objects_are_lent_to_other_drivers,"
         "unneeded_contents_are_not_moved,flips_show_the_picture,"
         "objects_keep_their_contents_over_a_sleep,submissions_that_wait_survive_a_sleep,a_machine_sleeps_under_load,"
         "host_memory_survives_the_firmware,the_device_unbinds_under_load,the_module_loads_again,"
         "engines_reach_host_memory,the_engine_moves_objects")


def run_host(lib, options, work, table):
    """The tests, and a machine for which the card has another file than its memory."""
    memory = os.path.join(work, "memory")
    extra = ("-object", f"memory-backend-file,id=ram,share=on,mem-path={memory},size=256M", "-machine", "memory-backend=ram",
             "-m", "256")
    for words, its_own in ((TESTS, True), ("host_memory_of_others_is_left_alone", False)):
        with open(memory, "wb") as file:
            file.truncate(256 << 20)
        card = lib.Card(options, work, "host", memory="32M", host_memory=memory)
        try:
            machine = lib.Machine(options, card, words, parameters=lib.PATIENT + " patchbay.fbdev=1",
                                  extra=extra if its_own else ())
            lib.serve(machine, card, options)
            table.machine(machine)
        finally:
            card.stop()
