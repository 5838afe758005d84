#!/usr/bin/env -S bats --tap
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031
# make deb, and what it made in a bare Debian: installed by apt, run, removed, purged
#
# The bare root is kept as build/packages/SUITE.tar.

load helpers

PACKAGES='exitmeter exitmeter-record exitmeter-serve exitmeter-probed libexitmeter1 libexitmeter-dev'

setup_file() {
	tools_there dpkg-buildpackage dh lintian
	maker deb 2>"$BATS_FILE_TMPDIR/said" || {
		cat "$BATS_FILE_TMPDIR/said"
		return 1
	}
	export DEBS=$B/deb BARE=$BATS_FILE_TMPDIR/bare
}

# bare_root: in $BARE
bare_root() {
	local suite mirror kept
	[ "$(id -u)" -eq 0 ] || skip "chroot needs root"
	tools_there debootstrap
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -oE 'https?://[^ ]*/debian/?( |$)' |
		head -n 1 | tr -d ' ') || true
	[ -n "$suite$mirror" ] || skip "elsewhere: the machine's sources name no mirror of Debian"
	kept=$ROOT/build/packages/$suite.tar
	[ -e "$kept" ] || {
		mkdir -p "$ROOT/build/packages"
		debootstrap --variant=minbase "$suite" "$BATS_FILE_TMPDIR/strapped" "$mirror" >"$BATS_FILE_TMPDIR/said" 2>&1 || {
			tail -n 5 "$BATS_FILE_TMPDIR/said"
			skip "elsewhere: debootstrap cannot get $suite"
		}
		tar -cf "$kept.new" -C "$BATS_FILE_TMPDIR/strapped" .
		mv "$kept.new" "$kept"
		rm -rf "$BATS_FILE_TMPDIR/strapped"
	}
	mkdir -p "$BARE"
	tar -xf "$kept" -C "$BARE"
	cp /etc/resolv.conf "$BARE/etc/resolv.conf"
	printf '#!/bin/sh\nexit 101\n' >"$BARE/usr/sbin/policy-rc.d"
	chmod 755 "$BARE/usr/sbin/policy-rc.d"
	inside 'apt-get -qq update'
}

# inside COMMAND: by the shell of the bare root, with the mounts of a running system
inside() {
	unshare -m --propagation private sh -c 'mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" &&
		mount --bind /dev "$0/dev" && exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp \
		DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 sh -ec "$1"' "$BARE" "$1"
}

# Less what apt, dpkg and whoever makes a group keep of themselves, and caches that any package changes.
files_of_root() {
	(cd "$BARE" && find . -xdev ! -path './var/lib/dpkg/*' ! -path './var/lib/apt/*' ! -path './var/cache/apt/*' \
		! -path './var/log/*' ! -path './var/cache/ldconfig/*' ! -path './var/cache/debconf/*' ! -path './tmp/*' ! -path './etc/gshadow-' ! -path './etc/group-' | sort)
}

@test "deb: lintian finds no error and no warning" {
	lintian --allow-root --fail-on error,warning "$DEBS"/*.changes >"$BATS_TEST_TMPDIR/out" 2>&1 || {
		cat "$BATS_TEST_TMPDIR/out"
		return 1
	}
	same "what it says" "$(grep -E '^[EW]:' "$BATS_TEST_TMPDIR/out")" ""
}

@test "deb: hardened, and the shared libraries are Debian's" {
	local dir=$BATS_TEST_TMPDIR/unpacked program
	for program in $PACKAGES; do
		dpkg-deb -x "$DEBS/${program}_${VERSION}"_*.deb "$dir"
	done
	for program in "$dir"/usr/bin/exitmeter "$dir"/usr/libexec/exitmeter/*; do
		readelf -hW "$program" | grep -E 'Type: +DYN'
		readelf -dW "$program" | grep -E 'FLAGS.*NOW'
		readelf -sW --dyn-syms "$program" | grep -E '__(stack_chk_fail|[a-z]+_chk)'
	done
	readelf -dW "$dir/usr/bin/exitmeter" | grep -F 'libbpf.so'
}

@test "deb: in a bare Debian: installed by apt with what it needs, run, removed and purged" {
	local name before
	bare_root
	# makes probed's group; systemd would do too, and leave files of its own behind
	inside 'apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install systemd-standalone-sysusers' \
		>"$BATS_TEST_TMPDIR/apt" 2>&1
	before=$(files_of_root)
	mkdir "$BARE/tmp/debs"
	for name in $PACKAGES; do
		cp "$DEBS/${name}_${VERSION}"_*.deb "$BARE/tmp/debs/"
	done
	inside 'apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install /tmp/debs/exitmeter_*.deb' \
		>"$BATS_TEST_TMPDIR/apt" 2>&1 || {
		cat "$BATS_TEST_TMPDIR/apt"
		return 1
	}
	# by itself: the record of a run, and its reports
	inside 'cd /tmp; exitmeter --json sum.json --journal journal -- true; exitmeter report journal
		exitmeter report journal --html page.html' >"$BATS_TEST_TMPDIR/out" 2>&1 || {
		cat "$BATS_TEST_TMPDIR/out"
		return 1
	}
	cat "$BATS_TEST_TMPDIR/out"
	same "runs" "$(grep -c '^exitmeter: peak .* 1 process' "$BATS_TEST_TMPDIR/out")" 3
	same "exact" "$(jq -c '[.run.exit_code, .source.exits, .completeness.exact]' "$BARE/tmp/sum.json")" '[0,"bpf",true]'
	grep -F '</html>' "$BARE/tmp/page.html" | head -c 100
	run -125 inside 'exitmeter record --help'
	same "what is not installed" "$output" "exitmeter: exitmeter-record: not installed"
	# the rest
	inside 'apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install /tmp/debs/*.deb' >"$BATS_TEST_TMPDIR/apt" 2>&1 || {
		cat "$BATS_TEST_TMPDIR/apt"
		return 1
	}
	inside 'cd /tmp; exitmeter -q --to sqlite:/tmp/runs.db -- true; exitmeter suggest --from sqlite:/tmp/runs.db --command true
		exitmeter serve --version'
	for name in "$ROOT"/doc/*.[1-8]; do
		[ -e "$BARE/usr/share/man/man${name##*.}/${name##*/}.gz" ] || {
			echo "no page $name"
			return 1
		}
	done
	same "units that were enabled" "$(find "$BARE/etc/systemd" -name 'exitmeter*')" ""
	find "$BARE/lib/systemd/system" "$BARE/usr/lib/systemd/system" -name 'exitmeter-serve.*' | grep service
	# removed, and then purged
	inside "apt-get -qq -y -o Dpkg::Use-Pty=0 remove $PACKAGES && [ ! -e /usr/bin/exitmeter ]" >"$BATS_TEST_TMPDIR/apt" 2>&1
	inside "dpkg --purge $PACKAGES && apt-get -qq -y -o Dpkg::Use-Pty=0 autoremove --purge" >"$BATS_TEST_TMPDIR/apt" 2>&1
	diff <(echo "$before") <(files_of_root)
	same "named after it" "$(find "$BARE" -xdev -name '*exitmeter*' ! -path '*/tmp/*' ! -path '*/var/log/*')" ""
	same "known to dpkg" "$(inside "dpkg-query -W $PACKAGES 2>/dev/null || true")" ""
}
