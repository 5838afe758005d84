# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# recipes - what doc/RECIPES.md says, to be run as it says it

# recipe NAME: the block of that name
recipe() {
	awk -v name="<!-- recipe: $1 -->" '
		$0 == name { mine = 1; next }
		mine && /^```/ { if (inside) { done = 1; exit } inside = 1; next }
		inside { print }
		END { exit !done }
	' "$ROOT/doc/RECIPES.md"
}

# A folder where "exitmeter" is found and "make -j2" is three processes of 30 MiB.
recipe_folder() {
	mkdir -p bin
	ln -sf "$EXITMETER" bin/exitmeter
	export PATH=$PWD/bin:$PATH XDG_STATE_HOME=$PWD/state
	printf 'all: a b c\na b c:\n\t@%s populate=30\n' "$WORK/hold" >Makefile
}

# recipe_run NAME: in a shell
recipe_run() {
	recipe "$1" >"recipe.$1"
	sh -e "recipe.$1" 3>&-
}

recipe_spool_empty() {
	[ -z "$(find "$XDG_STATE_HOME/exitmeter" -name '*.jnl' 2>/dev/null)" ]
}
