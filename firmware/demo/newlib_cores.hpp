// SPDX-License-Identifier: Apache-2.0
// newlib on several cores. newlib is built for one thread: all of its functions share one `struct
// _reent`, and its locks are empty. newlib_cores.cpp replaces those that Lua calls on other cores:
// each core has its own `struct _reent` (errno, and numbers as text), and the heap has a lock. The
// rest of newlib's state, as stdout, stays for one core at a time.
#pragma once

// Boot core, before another core calls newlib.
void prepare_newlib();
