#!/usr/bin/env bash
# Processes that launchers start, in another Debian: see tools/places.sh. Open MPI's and MPICH's mpirun on one machine, Slurm's
# srun on one and on two (namespaces: two.sh).
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/places/root.sh
. tools/places/root.sh
prepared iproute2 openmpi-bin mpich slurmctld slurmd slurm-client munge
enter tools/install.sh .lib --no-docs
# shellcheck source=tools/places/two.sh
. tools/places/two.sh
export root
export -f enter

failed=0
launched() { # NAME PROCESSES COMMAND...: on node1; all of the processes must say that it went well
  local name=$1 processes=$2 status=0
  shift 2
  machine node1 timeout 180 bash -c 'enter "$@"' enter "$@" >"$work/out" 2>&1 || status=$?
  sed 's/^/  /' "$work/out"
  if [ $status = 0 ] && [ "$(grep -c '^ok$' "$work/out")" = "$processes" ]; then
    echo "launchers, $name: passed"
  else
    echo "launchers, $name: failed (status $status)"
    failed=1
  fi
}
program=(tools/with-env.sh Rscript tools/places/process.R together)

# Both of Open MPI's ways to be told that root may.
as_root=(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)

launched "Open MPI" 2 env "${as_root[@]}" mpirun.openmpi --oversubscribe -n 2 "${program[@]}"
launched "MPICH" 2 env XLAFFI_COORDINATOR=127.0.0.1:29500 mpirun.mpich -n 2 "${program[@]}"

# The cluster
install -D tools/places/slurm.conf "$root/etc/slurm/slurm.conf"
echo 'CgroupPlugin=disabled' >"$root/etc/slurm/cgroup.conf"
printf '127.0.0.1 localhost\n10.77.0.1 node1\n10.77.0.2 node2\n' >"$root/etc/hosts"
rm -rf "$root/var/lib/places"
mkdir -p "$root/var/lib/places" "$root/run/munge"
chroot "$root" chown munge: /run/munge
machine node1 bash -c 'enter bash -c "runuser -u munge -- munged --force; slurmctld; exec slurmd -D -N node1"' >"$work/node1" 2>&1 &
machine node2 bash -c 'enter slurmd -D -N node2' >"$work/node2" 2>&1 &
# shellcheck disable=SC2016
launched "Slurm answers" 2 bash -c 'for try in $(seq 30); do srun -N 2 -t 1 echo ok && break; sleep 1; done'
launched "Slurm, one machine" 2 srun -N 1 -n 2 "${program[@]}"
launched "Slurm, two machines" 2 srun -N 2 -n 2 "${program[@]}"
# Each starts its helpers by srun, whose variables the processes see, too.
launched "Open MPI in Slurm, two machines" 2 env "${as_root[@]}" XLAFFI_COORDINATOR=node1:29501 \
  salloc -N 2 -n 2 mpirun.openmpi --map-by node -n 2 "${program[@]}"
launched "MPICH in Slurm, two machines" 2 env XLAFFI_COORDINATOR=node1:29502 \
  salloc -N 2 -n 2 mpirun.mpich -ppn 1 -n 2 "${program[@]}"
exit $failed
