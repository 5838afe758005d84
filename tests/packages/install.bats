#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# make install and uninstall, into a folder of their own

load helpers

setup_file() {
	export INTO=$BATS_FILE_TMPDIR/into
	umask 077
	maker install DESTDIR="$INTO"
}

setup() {
	cd "$ROOT" || return 1
}

# What there is to install, by the sources.
wanted() {
	local file
	echo bin/exitmeter
	for file in user/*_main.c; do
		file=${file#user/}
		echo "libexec/exitmeter/exitmeter-${file%_main.c}"
	done
	for file in doc/*.[1-8]; do
		echo "share/man/man${file##*.}/${file#doc/}"
	done
	find doc -name '*.schema.json' -printf 'share/exitmeter/schema/%f\n'
	find doc/queries -type f -printf 'share/exitmeter/queries/%f\n'
	printf 'share/doc/exitmeter/%s\n' README.md NEWS.md LICENSE RECIPES.md LICENSES/GPL-2.0.txt LICENSES/LGPL-2.1.txt
	for file in doc/*.md; do
		case $file in
		*/DESIGN.md | */PLANS.md | */KERNELS.md | */RECIPES.md) ;;
		*) echo "share/doc/exitmeter/${file#doc/}" ;;
		esac
	done
	printf '%s\n' share/bash-completion/completions/exitmeter share/zsh/site-functions/_exitmeter \
		share/fish/vendor_completions.d/exitmeter.fish
	printf 'lib/systemd/system/exitmeter-%s\n' {serve,probed}.{service,socket}
	echo lib/sysusers.d/exitmeter-probed.conf
	printf '%s\n' include/exitmeter.h lib/libexitmeter.a lib/libexitmeter.so lib/libexitmeter.so.1 \
		lib/pkgconfig/libexitmeter.pc
}

@test "install: every program, page, completion, unit, licence, schema and query, and nothing else" {
	diff <(wanted | sort) <(cd "$INTO/usr/local" && find . ! -type d -printf '%P\n' | sort)
	same "outside of the prefix" "$(find "$INTO" ! -type d ! -path '*/usr/local/*')" ""
}

@test "install: whatever the umask, everybody can read it, and only programs can be executed" {
	same "not readable" "$(find "$INTO/usr" ! -type l ! -perm -444)" ""
	same "folders" "$(find "$INTO/usr" -type d ! -perm -555)" ""
	diff <(wanted | grep -E '^(bin|libexec)/' | sort) \
		<(cd "$INTO/usr/local" && find . -type f -perm /111 -printf '%P\n' | sort)
}

@test "install: exitmeter finds the others, also where the whole was moved" {
	local moved=$BATS_TEST_TMPDIR/moved name
	cp -R "$INTO/usr/local" "$moved"
	for name in report record serve suggest; do
		"$moved/bin/exitmeter" "$name" --help >"$BATS_TEST_TMPDIR/help"
		grep -F -- --help "$BATS_TEST_TMPDIR/help"
		mv "$moved/libexec/exitmeter/exitmeter-$name" "$moved/kept"
		# whichever is found now was not looked for there
		[ -e "/usr/local/libexec/exitmeter/exitmeter-$name" ] || {
			run -125 "$moved/bin/exitmeter" "$name" --help
			same "$name" "$output" "exitmeter: exitmeter-$name: not installed"
		}
		mv "$moved/kept" "$moved/libexec/exitmeter/exitmeter-$name"
	done
	same "version" "$("$moved/bin/exitmeter" --version)" "exitmeter $VERSION"
}

@test "install: the units start what was installed" {
	local start unit
	for unit in serve probed; do
		start=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$INTO/usr/local/lib/systemd/system/exitmeter-$unit.service")
		[ -x "$INTO$start" ]
	done
}

@test "install: each folder where it was wanted, with a space in DESTDIR" {
	local to="$BATS_TEST_TMPDIR/a b"
	maker install DESTDIR="$to" PREFIX=/p bindir=/1 datadir=/2 mandir=/3 libdir=/4 includedir=/5 pcdir=/6 \
		unitdir=/7 docdir=/8 bashdir=/9 zshdir=/10 fishdir=/11 sysusersdir=/12 libexecdir=/usr/local/libexec
	same "folders" "$(find "$to" -mindepth 1 -maxdepth 1 -printf '%P\n' | sort -n | xargs)" \
		"usr 1 2 3 4 5 6 7 8 9 10 11 12"
	same "files" "$(find "$to" ! -type d | wc -l)" "$(wanted | wc -l)"
	grep -x 'libdir=/4' "$to/6/libexitmeter.pc"
}

@test "uninstall: nothing of ours is left, and what is others' is" {
	local to=$BATS_TEST_TMPDIR/into
	cp -R "$INTO" "$to"
	touch "$to/usr/local/bin/others" "$to/usr/local/share/man/man1/others.1"
	maker uninstall DESTDIR="$to"
	same "files" "$(cd "$to/usr/local" && find . ! -type d | sort | xargs)" "./bin/others ./share/man/man1/others.1"
	same "folders" "$(find "$to" -name '*exitmeter*')" ""
	maker uninstall DESTDIR="$to"
}
