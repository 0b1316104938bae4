#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the directory of unmodified Lua 5.4 sources, which has src/lua.h.
exec "$(dirname "$0")/../../cmake/fetch_source.sh" lua5.4 src/lua.h
