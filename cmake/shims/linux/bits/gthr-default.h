/* SPDX-License-Identifier: Apache-2.0
 *
 * The distribution's libstdc++ asks for POSIX threads; here there is one thread.
 */
#pragma once

#include <bits/gthr-single.h>
