# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2016,SC2034
# slurm - a cluster of two nodes on loopback, with accounting, all of it in a test's own folder
#
# slurm_start FOLDER: munged, MariaDB, slurmdbd, slurmctld and two slurmd, each with a
# hostname of its own; leaves SLURM_CONF, for srun, sbatch and sacct.  slurm_stop FOLDER.  Needs root.  Sampling is Slurm's default: 30 s.

slurm_there() {
	local program
	for program in munged mariadbd mariadb-install-db slurmdbd slurmctld slurmd srun sacct; do
		command -v "$program" >/dev/null || return 1
	done
}

# slurm_daemon NAME PROGRAM ARGUMENT...: in the background, its pid in a file
slurm_daemon() {
	local name=$1
	shift
	"$@" >"$SLURM_DIR/$name.out" 2>&1 3>&- 4>&- &
	echo "$!" >"$SLURM_DIR/$name.daemon"
}

slurm_config() {
	local host ctld=$1 accounts=$2 database=$3
	host=$(hostname -s)
	cat >"$SLURM_DIR/slurm.conf" <<-END
		ClusterName=test
		SlurmctldHost=$host(127.0.0.1)
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=socket=$SLURM_DIR/munge/socket
		CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
		SlurmctldPort=$ctld
		StateSaveLocation=$SLURM_DIR/state
		SlurmdSpoolDir=$SLURM_DIR/spool.%n
		SlurmctldPidFile=$SLURM_DIR/slurmctld.pid
		SlurmdPidFile=$SLURM_DIR/%n.pid
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		MpiDefault=none
		JobAcctGatherType=jobacct_gather/linux
		AccountingStorageType=accounting_storage/slurmdbd
		AccountingStorageHost=127.0.0.1
		AccountingStoragePort=$accounts
		AccountingStoragePass=$SLURM_DIR/munge/socket
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		SlurmdParameters=config_overrides
		ReturnToService=2
		NodeName=node1 NodeHostname=node1 NodeAddr=127.0.0.1 Port=$(free_port) CPUs=4
		NodeName=node2 NodeHostname=node2 NodeAddr=127.0.0.1 Port=$(free_port) CPUs=4
		PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:4
	END
	{
		cat /etc/hosts
		echo 127.0.0.1 node1 node2
	} >"$SLURM_DIR/hosts"
	(
		umask 077
		cat >"$SLURM_DIR/slurmdbd.conf" <<-END
			DbdHost=$host
			DbdAddr=127.0.0.1
			DbdPort=$accounts
			SlurmUser=root
			AuthType=auth/munge
			AuthInfo=socket=$SLURM_DIR/munge/socket
			CommunicationParameters=NoInAddrAny
			StorageType=accounting_storage/mysql
			StorageHost=127.0.0.1
			StoragePort=$database
			StorageUser=slurm
			StoragePass=kept
			StorageLoc=slurm
			PidFile=$SLURM_DIR/slurmdbd.pid
		END
	)
}

slurm_munge() {
	mkdir -m 755 "$SLURM_DIR/munge"
	(umask 077 && head -c 64 /dev/urandom >"$SLURM_DIR/munge/key")
	slurm_daemon munged munged -F --key-file="$SLURM_DIR/munge/key" \
		--socket="$SLURM_DIR/munge/socket" --pid-file="$SLURM_DIR/munge/pid" \
		--log-file="$SLURM_DIR/munge/log" --seed-file="$SLURM_DIR/munge/seed"
	until_true 60 test -S "$SLURM_DIR/munge/socket"
}

slurm_sql() {
	mariadb --no-defaults -S "$SLURM_DIR/database.socket" -u root -e "$1" >/dev/null 2>&1
}

slurm_database() {
	mariadb-install-db --no-defaults --user=root --datadir="$SLURM_DIR/database" \
		--auth-root-authentication-method=normal --skip-test-db >"$SLURM_DIR/install.out" 2>&1
	slurm_daemon mariadbd mariadbd --no-defaults --user=root --datadir="$SLURM_DIR/database" \
		--socket="$SLURM_DIR/database.socket" --bind-address=127.0.0.1 --port="$1" \
		--pid-file="$SLURM_DIR/database.pid" --innodb-buffer-pool-size=64M
	until_true 120 slurm_sql "SELECT 1"
	slurm_sql "CREATE DATABASE slurm; CREATE USER slurm@'127.0.0.1' IDENTIFIED BY 'kept';
		GRANT ALL ON slurm.* TO slurm@'127.0.0.1'"
}

slurm_listens() {
	(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

slurm_ready() {
	[ "$(sinfo -h -o '%D %t' 2>/dev/null)" = '2 idle' ] &&
		[ "$(sacctmgr -n list cluster format=cluster 2>/dev/null | tr -d ' ')" = test ]
}

# slurm_node NAME: to what runs there the machine has that name
slurm_node() {
	slurm_daemon "$1" unshare --uts --mount sh -c '
		hostname "$0" && mount --bind "$SLURM_DIR/hosts" /etc/hosts && exec slurmd -D -N "$0"' "$1"
}

slurm_start() {
	local accounts database
	SLURM_DIR=$1
	mkdir -p "$SLURM_DIR"/{state,database}
	chmod 755 "$SLURM_DIR"
	accounts=$(free_port)
	database=$(free_port)
	slurm_config "$(free_port)" "$accounts" "$database"
	export SLURM_DIR SLURM_CONF=$SLURM_DIR/slurm.conf
	slurm_munge
	slurm_database "$database"
	slurm_daemon slurmdbd slurmdbd -D
	until_true 120 slurm_listens "$accounts"
	slurm_daemon slurmctld slurmctld -D -i
	slurm_node node1
	slurm_node node2
	until_true 120 slurm_ready
}

slurm_gone() {
	! kill -0 "$1" 2>/dev/null
}

slurm_stop() {
	local name pid
	for name in node1 node2 slurmctld slurmdbd mariadbd munged; do
		[ -e "$1/$name.daemon" ] || continue
		pid=$(cat "$1/$name.daemon")
		kill -TERM "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || until_true 60 slurm_gone "$pid" || kill -KILL "$pid"
	done
}
