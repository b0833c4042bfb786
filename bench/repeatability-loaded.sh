#!/bin/sh
# repeatability.py once more, with both CPUs kept busy by other programs.
exec "$(dirname "$0")/repeatability.py" --loaded
