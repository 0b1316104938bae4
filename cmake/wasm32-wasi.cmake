# SPDX-License-Identifier: Apache-2.0
# Modules of WebAssembly with files: clang 19 with wasi-libc and its libc++, as Debian has them.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
