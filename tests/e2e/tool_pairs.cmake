# The command at its limits; several on one emulated card; and a card that dies under them.
pb_e2e_test(tool_pairs LINKS test_subm_writer)
pb_e2e_test(replay_large LINKS test_subm_writer)
