# SPDX-License-Identifier: Apache-2.0
# What platform.cmake and firmware.cmake need to know of arm64.
set(_arch_flags -mbranch-protection=standard -mno-outline-atomics)
# Cortex-A53 errata up to r0p4: compiler and linker add a NOP or branch where the core would compute
# a wrong sum or address. newlib has them for all boards: it takes a minute, so build only one.
set(_arch_newlib_flags -mfix-cortex-a53-835769 -mfix-cortex-a53-843419)
if(NOPSCOPE_BOARD MATCHES "^(rpi3|zcu102)$")
    set(NOPSCOPE_ERRATA_FLAGS ${_arch_newlib_flags})
endif()
set(_default_board virt)
# For code that must not use floating-point or vector registers.
set(NOPSCOPE_GENERAL_REGISTERS -mgeneral-regs-only)
# And where the platform uses x18.
set(NOPSCOPE_CALLBACK_OPTIONS -mgeneral-regs-only -ffixed-x18)
# The distribution's compiler for it has libstdc++'s headers.
set(_libstdcxx_elsewhere "")
