# SPDX-License-Identifier: Apache-2.0
"""Gives gdb complete backtraces while nopscope traces, live or from a core dump (docs/debugger.md).

gdb runs all sourced scripts in one namespace, so this script deletes the name that it adds.
"""


def load_nopscope(path):
    import os
    import sys
    before = sys.dont_write_bytecode
    sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    sys.dont_write_bytecode = True  # the installed directory stays as it is
    try:
        import nopscope_unwinder
    finally:
        sys.dont_write_bytecode = before
        sys.path.pop(0)
    nopscope_unwinder.register()


load_nopscope(__file__)
del load_nopscope
