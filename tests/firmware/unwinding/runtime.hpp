// SPDX-License-Identifier: Apache-2.0
#pragma once

// Once, before the first exception: makes the image's frame descriptions known to libgcc.
void register_frames();
// On each core, before its first exception: gives it memory for thread-local variables.
void set_thread_pointer(unsigned core);
