#!/usr/bin/env bash
# slurm.sh PROGRAM: a Slurm of one node, on this machine, processes a folder as a job array, as tasks of srun and as both,
# and the results are those of a single run. Needs root and the packages slurm-wlm and munge.
set -euo pipefail
program=$(realpath "$1")
[ "$(id -u)" -eq 0 ] || { echo "skipped: only root can start Slurm"; exit 77; }
for needed in munged slurmctld slurmd sbatch srun; do
  command -v "$needed" >/dev/null || { echo "skipped: there is no $needed"; exit 77; }
done

here=$(mktemp -d)
processes=()
cleanup() {
  for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$here"
}
trap cleanup EXIT
cd "$here"
mkdir -m 755 munge state spool
chown munge: munge
chmod 755 .

# Every user of the machine may use this Munge; its key is random.
dd if=/dev/urandom of=munge/key bs=1 count=1024 status=none
chown munge: munge/key && chmod 400 munge/key
setpriv --reuid munge --regid munge --clear-groups munged --foreground --socket="$here/munge/socket" --key-file="$here/munge/key" \
  --log-file="$here/munge/log" --pid-file="$here/munge/pid" --seed-file="$here/munge/seed" >/dev/null 2>&1 &
processes+=($!)

export SLURM_CONF=$here/slurm.conf
host=$(hostname -s)
cat >slurm.conf <<EOT
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$here/munge/socket
CredType=cred/munge
StateSaveLocation=$here/state
SlurmdSpoolDir=$here/spool
SlurmctldPidFile=$here/slurmctld.pid
SlurmdPidFile=$here/slurmd.pid
SlurmctldLogFile=$here/slurmctld.log
SlurmdLogFile=$here/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) Boards=1 SocketsPerBoard=1 CoresPerSocket=$(nproc) ThreadsPerCore=1 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:16
EOT
slurmctld -D >/dev/null 2>&1 &
processes+=($!)
slurmd -D -N "$host" >/dev/null 2>&1 &
processes+=($!)
for _ in $(seq 60); do
  [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
  sleep 0.5
done
[ "$(sinfo -h -o %T)" = idle ] || { echo "Slurm does not start here:"; tail -n 20 slurmctld.log slurmd.log; exit 1; }

# Pictures of noise, in a folder and in an archive.
mkdir in
for i in $(seq 100 139); do { printf 'P5 64 48 255\n'; head -c 3072 /dev/urandom; } >"in/$i.pgm"; done
(cd in && tar -cf ../pictures.tar -- *.pgm)
export PATH="${program%/*}:$PATH"

# same NAME COUNT INPUT: NAME-*.jsonl are the outputs of COUNT shards, and together those of a single run.
same() {
  facesat detect -q "$3" | sort >expected
  local outputs=("$1"-*-of-"$2".jsonl)
  [ ${#outputs[@]} -eq "$2" ] || { echo "FAILED: $1 has ${#outputs[@]} outputs, not $2"; exit 1; }
  sort "${outputs[@]}" | cmp - expected || { echo "FAILED: $1 has other results than a single run"; exit 1; }
  [ "$(sort "${outputs[@]}" | md5sum)" = "$(md5sum <expected)" ]
  echo "$1: $2 shards have the $(wc -l <expected) records of a single run"
}
# A job's script inherits the environment, and its messages go to job-*.txt.
job() { sbatch -Q -W -o job-%j.txt "$@" || { cat job-*.txt; echo "FAILED: sbatch $*"; exit 1; }; }

job --array=0-3 --wrap "facesat detect -q --shard auto -o 'array-{shard}.jsonl' in"
same array 4 in
job --array=3-9:3 --wrap "facesat detect -q --shard auto -o 'steps-{shard}.jsonl' pictures.tar"
same steps 3 pictures.tar
srun -Q -n 4 --overcommit facesat detect -q --shard auto -o 'tasks-{shard}.jsonl' in
same tasks 4 in
job --array=0-1 -n 2 --overcommit --wrap "srun --overcommit facesat detect -q --shard auto -o 'both-{shard}.jsonl' in"
same both 4 in
job --array=0-1 --wrap "mpirun --allow-run-as-root --oversubscribe --mca plm isolated --mca ras ^slurm -n 3 \
  facesat detect -q --shard auto -o 'mpi-{shard}.jsonl' in"
same mpi 6 in

# Neither an array with gaps nor a script with several tasks and no srun may lose inputs.
refused() {
  ! sbatch -Q -W -o refused.txt "$@" || { echo "FAILED: sbatch $* was not refused"; exit 1; }
  grep -q 'give --shard I/N' refused.txt || { cat refused.txt; exit 1; }
}
refused --array=1,3,7 --wrap "facesat detect -q --shard auto in"
refused -n 2 --overcommit --wrap "facesat detect -q --shard auto in"
echo "refused: an array with gaps; several tasks without srun"
