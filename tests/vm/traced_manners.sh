#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# traced_manners - manners.sh without BPF; inside tools/vm.  Speaks TAP.
export SOURCE=ptrace
exec sh "${0%/*}/manners.sh"
