/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <nopscope/nopscope.h>

/* What this program lacks before nopscope_init(). False: it ends with status 2. */
bool make_ready(const struct nopscope_config* config);
