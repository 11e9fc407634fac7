# The command at its limits; several commands on one emulated card; a card that dies during a command.
pb_e2e_test(tool_pairs LINKS test_subm_writer)
pb_e2e_test(replay_large LINKS test_subm_writer)
