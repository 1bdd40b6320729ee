"""Runs `pulumi up` with a program, in a project directory: run.py DIRECTORY PROGRAM."""

import runpy
import sys

from pulumi import automation

directory, program = sys.argv[1:]
workspace = automation.LocalWorkspace(
    work_dir=directory, program=lambda: runpy.run_path(program) and None
)
try:
    automation.Stack.select("dev", workspace).up(on_output=print)
except automation.CommandError as error:
    sys.exit(str(error))
