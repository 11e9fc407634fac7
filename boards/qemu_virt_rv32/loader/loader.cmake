set(PB_LOADER_SOURCES boards/emulated_loader.c qemu/mcu/loader_flash.c qemu/mcu/loader_16550.c)
set(PB_LOADER_HAL hal/start.c hal/riscv/loader.c hal/riscv/confine.c hal/pci/window.c)
set(PB_LOADER_DEFINITIONS PB_LOADER_FLASH=0x80300000u PB_LOADER_STAGE=0x803c0000u PB_LOADER_STAGE_BYTES=0x1f000u)
