/* SPDX-License-Identifier: MIT */
/*
 * SetPowerState. The card has no power states of its own: its memory is kept, and the MCU sleeps while it is idle. The shim
 * only refuses submissions and preemptions outside D0.
 */
#include "host/wddm/internal.h"

uint32_t pb_wddm_set_power_state(struct pb_wddm_adapter *adapter, uint32_t device, uint32_t state)
{
	bool alive;

	if (device != PB_DISPLAY_ADAPTER_HW_ID)
		return PB_STATUS_SUCCESS;
	pb_wddm_lock(adapter);
	adapter->asleep = state != PB_DEVICE_POWER_D0;
	alive = adapter->error == PB_ERROR_OK;
	pb_wddm_unlock(adapter);
	return alive || state != PB_DEVICE_POWER_D0 ? PB_STATUS_SUCCESS : PB_STATUS_UNSUCCESSFUL;
}
