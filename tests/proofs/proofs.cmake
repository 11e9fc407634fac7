# What is proved, and what is searched: CI compares the record with the sources; scripts/assure does both again.
if(NOT PB_SANITIZE AND PB_DEVELOP)
  pb_test(prove GROUP proofs COMMAND bash ${PROJECT_SOURCE_DIR}/scripts/prove)
endif()
