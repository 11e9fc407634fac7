set(PB_LOADER_SOURCES boards/emulated_loader.c qemu/mcu/loader_flash.c qemu/mcu/loader_cmsdk.c)
set(PB_LOADER_HAL hal/start.c hal/cortex_m/startup.c hal/cortex_m/protect.c hal/cortex_m/confine.c
  hal/cortex_m/start_image.c)
set(PB_LOADER_DEFINITIONS PB_LOADER_FLASH=0x00200000u PB_LOADER_STAGE=0x20320000u PB_LOADER_STAGE_BYTES=0x1f000u)
