# SPDX-License-Identifier: Apache-2.0
# What platform.cmake and firmware.cmake need to know of RISC-V. The toolchain file has the level.
# Backtraces follow the frame pointer.
set(_arch_flags -fno-omit-frame-pointer)
set(_arch_newlib_flags "")
set(_default_board riscv-virt)
# The compiler has no such option. tests/rules/code_rules.py looks at the code.
set(NOPSCOPE_GENERAL_REGISTERS "")
set(NOPSCOPE_CALLBACK_OPTIONS "")
# Debian's libstdc++-12-dev-riscv64-cross.
set(_libstdcxx_elsewhere /usr/riscv64-linux-gnu/include/c++)
