/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <nopscope/nopscope.h>

/* Prepares what nopscope_init() needs and this program lacks. False: it ends with status 2. */
bool make_ready(const struct nopscope_config* config);
