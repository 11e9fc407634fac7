# The Linux driver in a machine of its own: in CI the tests of one machine, and that the driver's source is clean; all runs in
# scripts/assure.
if(NOT PB_SANITIZE AND PB_DEVELOP)
  pb_test(linux GROUP linux CPU 300 COST 100 COMMAND bash ${PROJECT_SOURCE_DIR}/scripts/linux --built run_one run_host)
  pb_test(linux_lint GROUP linux CPU 300 COST 60 COMMAND bash ${PROJECT_SOURCE_DIR}/scripts/linux --built lint)
endif()
