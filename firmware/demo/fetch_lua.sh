#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the directory of an unmodified Lua 5.4 (the one with src/lua.h).
exec "$(dirname "$0")/../../cmake/fetch_source.sh" lua5.4 src/lua.h
