# Two machines, node1 and node2: network namespaces with names and addresses of their own, and one wire between them. They
# are gone when the script that sourced this ends, which must be root's.
#
#   machine node1 COMMAND...     runs it there
#   wire up|down
#   $work                        a folder for what is written
# shellcheck shell=bash

[ "$(id -u)" = 0 ] || { echo "places: namespaces with a wire between them are made as root" >&2; exit 1; }
work=$(mktemp -d)
space=xlaffi$$-
link=xl$$n
addresses=(10.77.0.1 10.77.0.2)

removed() {
  for node in 1 2; do
    ip netns pids "${space}node$node" 2>/dev/null | xargs -r kill -9
    ip netns del "${space}node$node" 2>/dev/null || true
  done
  wait
  rm -rf "$work"
}
trap removed EXIT

for node in 1 2; do
  ip netns add "${space}node$node"
  ip -n "${space}node$node" link set lo up
done
ip link add "${link}1" netns "${space}node1" type veth peer name "${link}2" netns "${space}node2"
for node in 1 2; do
  ip -n "${space}node$node" addr add "${addresses[$((node - 1))]}/24" dev "$link$node"
done

wire() {
  for node in 1 2; do
    ip -n "${space}node$node" link set "$link$node" "$1"
  done
}
wire up

machine() {
  local name=$1
  shift
  # shellcheck disable=SC2016
  ip netns exec "$space$name" unshare --uts -- bash -c 'hostname "$0" && exec "$@"' "$name" "$@"
}
