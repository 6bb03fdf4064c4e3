"""XLA's side of a mesh of processes: see the folder `mesh`."""
import contextlib
import fcntl
import os
import shutil
import socket
import tempfile

import _xlaffi_jaxlib as compat

host = socket.gethostname()

# The service that XLA finds other processes through, which is this process's alone, and its client.
_service = _client = None
_collectives = None
# What ends them, where something does.
_finish = None
# Of the mesh that all this belongs to.
_number = 0
# Where gloo listens, here and in the other processes.
_port, _peers = None, set()
_carried = set()


def _sockets():
    """All sockets of this process, as objects that do not own them."""
    folder = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
    for name in os.listdir(folder):
        try:
            yield socket.socket(fileno=int(name))
        except (OSError, ValueError):
            pass


def _listening(at):
    """Descriptors of sockets that listen at an address, and their ports."""
    found = {}
    for one in _sockets():
        try:
            if one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) and one.getsockname()[0] == at:
                found[one.fileno()] = one.getsockname()[1]
        except (OSError, IndexError):
            pass
        finally:
            one.detach()
    return found


def _keep(fd):
    """Programs that this process starts do not get the descriptor."""
    fcntl.fcntl(fd, fcntl.F_SETFD, fcntl.fcntl(fd, fcntl.F_GETFD) | fcntl.FD_CLOEXEC)


def _start_service():
    global _service, _client
    folder = tempfile.mkdtemp(prefix="xlaffi")
    try:
        _service, _client = compat.make_coordination("unix:" + os.path.join(folder, "s"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _giving_way():
    """Threads that are started meanwhile do not interrupt others on the same processor.

    Gloo has one that asks again and again for the lock of a connection while another thread sends. Where it has interrupted
    that one, it goes on asking until the scheduler ends its turn, and a sum takes milliseconds."""
    changed = False
    # Not on every system, and not allowed in every container.
    with contextlib.suppress(AttributeError, OSError):
        if os.sched_getscheduler(0) == os.SCHED_OTHER:
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
            changed = True
    try:
        yield
    finally:
        if changed:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def open_port(address, collectives, number):
    """Starts what carries the data; `host:port` of where it listens, or nothing."""
    global _number, _collectives, _finish, _port
    _number, _port = number, None
    _peers.clear()
    _carried.clear()
    _start_service()
    if collectives == "mpi":
        _collectives, _finish = compat.make_mpi()
        return ""
    before = _listening(address)
    with _giving_way():
        _collectives = compat.make_gloo(_client, address)
    new = {fd: port for fd, port in _listening(address).items() if fd not in before}
    for fd in new:
        _keep(fd)
    if len(new) == 1:
        _port = address, *new.values()
        return f"{address} {_port[1]}"
    return ""


def make_client(devices, asynchronous, process, processes, ports):
    for port in filter(None, ports):
        address, number = port.split()
        _peers.add((address, int(number)))
    return compat.make_client(devices, asynchronous, (_client, process, processes, _collectives))


def exchange(pairs):
    """Gives XLA what other processes have told; what it has to tell them."""
    for key, value in pairs:
        _carried.add(key)
        _client.key_value_set_bytes(key, value, allow_overwrite=True)
    new = [(key, value) for key, value in compat.told(_client) if key not in _carried]
    _carried.update(key for key, _ in new)
    return new


def _is_exchange(one):
    """Whether a socket is one of gloo's connections to another process."""
    here = one.getsockname()[:2]
    try:
        there = one.getpeername()[:2]
    except OSError:  # it listens
        return False
    return here == _port or there in _peers


def keep_from_children(number):
    """Gloo's connections of that mesh are not for the programs that this process starts."""
    if number != _number:
        return
    for one in _sockets():
        try:
            if one.family in (socket.AF_INET, socket.AF_INET6) and _is_exchange(one):
                _keep(one.fileno())
        except OSError:
            pass
        finally:
            one.detach()


def finish(number):
    """Leaves that mesh. MPI takes a process that ends without a word for one that has failed; it waits here for the others
    to end, too."""
    global _finish
    close(number, True)
    if number == _number and _finish is not None:
        last, _finish = _finish, None
        last()


def close(number, both_ways):
    """Ends what waits for other processes of that mesh, and whatever would.

    Where gloo's own thread cannot write, gloo forgets to tell who waits for that. So at first connections are closed for reading
    only: what waits for them is told by that, also for what it has sent."""
    if number != _number:
        return
    if _client is not None:
        _client.shutdown()
    if _port is None:
        return
    for one in _sockets():
        try:
            if one.family in (socket.AF_INET, socket.AF_INET6) and _is_exchange(one):
                one.shutdown(socket.SHUT_RDWR if both_ways else socket.SHUT_RD)
        except OSError:
            pass
        finally:
            one.detach()
