# shellcheck shell=bash
# Shows that a machine lets the program in, so that all others may be reached through it. Result: {}. Changes nothing.

login() { printf '{}\n' >&4; }

# Its own lock: a step that an earlier run left at work on the machine is nothing to wait for.
run_step login login login-lock
