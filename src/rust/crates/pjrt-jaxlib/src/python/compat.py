"""jaxlib as the plugin sees it: everything that is private to jaxlib, or differs between its
versions, is named here and nowhere else. Verified with jaxlib 0.10.2, 0.11.2 and 0.12.0.1."""
import os
import types

import jaxlib as _package
import ml_dtypes
import numpy
from jaxlib import xla_client
from jaxlib.version import __version__ as version

_jaxlib = xla_client._xla
# Where it is installed, and what came with it.
folder = os.path.dirname(os.path.dirname(os.path.abspath(_package.__file__)))

# XLA reads its flags with the first of these, now that they are set as the plugin wants them; see compat.rs.
xla_client.CompileOptions()

array_type = _jaxlib.ArrayImpl
from_dlpack = _jaxlib.dlpack_managed_tensor_to_buffer
to_dlpack = _jaxlib.buffer_to_dlpack_managed_tensor
# References that jaxlib's own C++ objects give up, such as exported tensors, wait for this call.
collect_garbage = _jaxlib.collect_garbage


def _make_sharding(device, memory_kind=None, _cache={}):
    key = device, memory_kind
    try:
        return _cache[key]
    except KeyError:
        made = _cache[key] = xla_client.SingleDeviceSharding(device, memory_kind=memory_kind)
        return made


# jaxlib asks jax for the sharding of every array it makes: these two stand in for jax during such
# a call, and only where jax is not loaded (importing it takes half a second; failing to, 50 us).
stand_in_names = ("jax", "jax._src.sharding_impls")
stand_ins = tuple(types.ModuleType(name) for name in stand_in_names)
stand_ins[0].__path__ = []
stand_ins[1].make_single_device_sharding = _make_sharding


def make_client(devices, asynchronous, mesh=None):
    if mesh is None:
        return xla_client.make_cpu_client(asynchronous=asynchronous, num_devices=devices)
    client, process, processes, collectives = mesh
    return xla_client.make_cpu_client(
        asynchronous=asynchronous, num_devices=devices, distributed_client=client, node_id=process,
        num_nodes=processes, collectives=collectives)


# Seconds; longer than any process lives. The service and its client are in one process, which needs no signs of life.
_FOR_EVER = 1_000_000_000


def make_coordination(address):
    """XLA's coordination service for one process, and its client."""
    service = _jaxlib.get_distributed_runtime_service(address, 1, heartbeat_timeout=_FOR_EVER)
    client = _jaxlib.get_distributed_runtime_client(
        address, 0, init_timeout=30, heartbeat_timeout=_FOR_EVER, shutdown_on_destruction=False)
    client.connect()
    return service, client


def make_gloo(client, address):
    return _jaxlib.make_gloo_tcp_collectives(distributed_client=client, hostname=address)


def make_mpi():
    """MPI's collectives, and what ends them."""
    # Without its wrapper MPItrampoline ends the process.
    library = os.environ.get("MPITRAMPOLINE_LIB", "")
    if not os.path.isfile(library):
        raise AttributeError("MPITRAMPOLINE_LIB must name the file libmpiwrapper.so, got '%s'" % library)
    collectives = _jaxlib.make_mpi_collectives()
    collectives.Init()
    return collectives, collectives.Finalize


def told(client):
    """What XLA wants other processes to know: keys and values."""
    return [pair for folder in ("cpu:local_topology", "cpu:global_topology", "cpu:gloo")
            for pair in client.key_value_dir_get_bytes(folder)]


def client_facts(client):
    return client.platform, client.platform_version, client.process_index()


def devices(client):
    """All devices, of all processes."""
    return client.devices()


def device_facts(device):
    """id, local hardware id, kind, debug string, short string, process, and 1 for one of this process."""
    local = device.local_hardware_id
    is_here = int(device.process_index == device.client.process_index())
    return (device.id, -1 if local is None else local, device.device_kind, str(device), repr(device),
            device.process_index, is_here)


def memory_facts(device):
    """kind, debug string, short string and 1 for the default, of each memory of a device."""
    if device.process_index != device.client.process_index():
        return []
    default = device.default_memory().kind
    return [(m.kind, str(m), repr(m), int(m.kind == default)) for m in device.addressable_memories()]


def placement(device):
    """What compiling for a device and copying to it need."""
    is_here = device.process_index == device.client.process_index()
    kind = device.default_memory().kind if is_here else None
    return xla_client.DeviceList((device,)), _make_sharding(device, kind)


# What JAX sets differently from XLA, of all that matters to a program on one CPU device: XLA's own
# minima and maxima may drop NaN. (For CUDA XLA's default is JAX's.)
_jax_defaults = {"xla_cpu_enable_fast_min_max": False}


# Programs over several devices: without debug options among those of the build, which are not made up, jaxlib 0.11 and 0.12
# write shardings as tiles, and then warn at each program that they had wanted names of axes. The host reads tiles.
_as_tiles = {"xla_enable_hlo_sharding_v3": False}


def _options(serialized, devices):
    options = xla_client.CompileOptions.ParseFromString(serialized)
    build = options.executable_build_options
    defaults = {**_jax_defaults, **(_as_tiles if build.num_partitions > 1 else {})}
    options.env_option_overrides = list({**defaults, **dict(options.env_option_overrides)}.items())
    # XLA aborts the process on a count of zero, which is what leaving it out means.
    build.num_replicas = build.num_replicas or 1
    build.num_partitions = build.num_partitions or 1
    if build.device_assignment is None:
        ids = numpy.array([device.id for device in devices])
        build.device_assignment = xla_client.DeviceAssignment.create(
            ids.reshape(build.num_replicas, build.num_partitions))
    return options


def _refuse_huge(bytecode):
    """Compiling ends the process over an array whose elements cannot be counted; this conversion, which is its
    first step, raises there."""
    try:
        _jaxlib.mlir.mlir_module_to_xla_computation(bytecode)
    except RuntimeError as error:
        # What it cannot convert for other reasons is left to the compiler.
        _, found, what = str(error).partition("overflow in ")
        if found:
            raise MemoryError("an array of the program does not fit into any memory: " + found + what) from None
    except AttributeError:
        pass


def from_hlo(code):
    """A program in HLO as StableHLO."""
    module = _jaxlib.mlir.xla_computation_to_mlir_module(xla_client.XlaComputation(code))
    return module if isinstance(module, bytes) else module.encode()


def compile_program(client, code, is_hlo, devices, options):
    if is_hlo:
        code = from_hlo(code)
    elif code[:4] == b"ML\xefR":
        _refuse_huge(code)
    options = _options(options, devices)
    return client.compile_and_load(code, xla_client.DeviceList(tuple(devices)), options)


def module_proto(executable):
    """The compiled module as a serialised HloModuleProto; per device where partitioned."""
    return executable.hlo_modules()[0].as_serialized_hlo_module_proto()


def fingerprint(executable):
    return executable.fingerprint or b""


def serialize(executable):
    return executable.serialize()


def deserialize(client, code, devices, options):
    options = _options(options, devices) if options else None
    return client.deserialize_executable(code, xla_client.DeviceList(tuple(devices)), options)


class _Aval:
    weak_type = False

    def __init__(self, shape, dtype):
        self.shape, self.dtype = tuple(shape), dtype


def _dtype(name):
    return numpy.dtype(getattr(ml_dtypes, name, None) or name)


def handler(sharding, shape, dtype):
    """Makes arrays of raw results without asking jax."""
    aval = _Aval(shape, _dtype(dtype))
    try:  # jaxlib < 0.11 checks against jax's types unless told not to
        return _jaxlib.array_result_handler(aval, sharding, committed=True, _skip_checks=True)
    except TypeError:
        return _jaxlib.array_result_handler(aval, sharding, committed=True)


def executor(executable):
    return executable.execute_sharded


def addressable_ids(executable):
    """Ids of the devices of this process that it runs on, in the order of its device assignment."""
    return [device.id for device in executable.local_devices()]


def over_devices(executable, devices, parameters):
    """What makes arrays over several devices: the sharding, and what an array of each parameter is. To XLA
    they are as many arrays as there are devices, whatever jaxlib takes the whole of them for."""
    kind = executable.local_devices()[0].default_memory().kind
    sharding = xla_client.GSPMDSharding(
        xla_client.DeviceList(tuple(devices)), xla_client.HloSharding.replicate(), memory_kind=kind)
    return sharding, [_Aval(shape, _dtype(name)) for shape, name in parameters]


def run_over(execute, sharding, parameters, arguments, launch_id):
    """Runs a program over several devices; for each argument there is a list of arrays, one a device. The
    token tells when all devices are through."""
    arrays = [array_type(aval, sharding, shards, True, True) for aval, shards in zip(parameters, arguments)]
    results = execute(arrays, with_tokens=True, **_named(launch_id))
    return results, results.consume_token()


def run_as(execute, arguments, launch_id):
    """Runs a program under an id, where jaxlib takes one."""
    return execute(arguments, **_named(launch_id))


def run_for_token(execute, arguments, launch_id):
    """Runs a program without results; the token tells when it is through."""
    return execute(arguments, with_tokens=True, **_named(launch_id)).consume_token().get_token(0)


def _named(launch_id):
    return {"launch_id": launch_id} if launch_id and takes_launch_ids else {}


def copy(array, devices, sharding):
    copies = xla_client.batched_copy_array_to_devices_with_sharding(
        [array], [devices], [sharding], [xla_client.ArrayCopySemantics.ALWAYS_COPY])
    return copies[0]


capsule_name = "xla._CUSTOM_CALL_TARGET"


# JAX registers its LAPACK kernels under these names when it starts, and cannot start where another
# handler has one of them. Ours get private names, and programs are changed to call them.
claimed = "lapack_"
# What XLA knows the handlers by that were registered through the plugin.
own_names = {}
# Those of them that are this library's own. XLA keeps one handler for a name: another host's handler for a name of these
# gets a name of its own, and that host's programs are changed to call it.
ours = set()
other_names = {}


def _register(name, capsule):
    _jaxlib.register_custom_call_target(
        name, capsule, "Host", 1, xla_client.CustomCallTargetTraits.DEFAULT)


def register(name, capsule, stages, is_ours):
    own = "xlaffi_" + name if name.startswith(claimed) else name
    stages = stages.split()
    _register(own, capsule if len(stages) == 1 else dict.fromkeys(stages, capsule))
    own_names[name] = own
    if is_ours:
        ours.add(name)


def register_beside(name, other, capsule):
    """Registers another host's handler for a name that one of ours has; whether that is why it was refused."""
    if name not in ours:
        return False
    if other not in own_names:
        register(other, capsule, "execute", False)
    other_names[name] = other
    return True


def is_foreign(name):
    """Whether programs that call this name get a handler of another host."""
    own = (ordered_target, missing_target, serving_target)
    return name not in ours and name not in own and (name in own_names or name in targets())


# The names of the plugin's own handlers; see calls.rs.
ordered_target = missing_target = guarded_target = serving_target = None
_stages = "instantiate", "prepare", "initialize", "execute"
# Handlers that others have registered and that `guarded_target` stands in for: by name those of the stages, or None.
_adopted = {}
# Whether runs can be given ids, by which a handler tells the run that it is part of.
takes_launch_ids = "launch_id" in (_jaxlib.LoadedExecutable.execute_sharded.__doc__ or "")


def register_own(ordered, ordered_handler, missing, missing_handler, guarded, guarded_handler):
    """Where a second copy of this plugin has taken the names, this one does without."""
    global ordered_target, missing_target, guarded_target, serving_target
    try:
        _register(ordered, dict(instantiate=ordered_handler, execute=ordered_handler))
        _register(missing, missing_handler)
        _register(guarded, dict.fromkeys(_stages, guarded_handler))
    except Exception:
        return
    ordered_target, missing_target, serving_target = ordered, missing, guarded
    if takes_launch_ids:
        guarded_target = guarded


def can_be_guarded(name):
    """Whether `guarded_target` can stand in for the handler of that name, whoever registered it."""
    return guarded_target is not None and can_be_called(name)


def can_be_called(name):
    """Whether a handler of the plugin can call the one of that name."""
    if name in (ordered_target, missing_target, serving_target):
        return False
    if name in own_names:
        return True
    return _adopt(name, targets().get(name))


def _adopt(name, stages):
    if not isinstance(stages, dict) or "capsule object NULL" not in repr(stages.get("execute")):  # of an older kind
        return False
    _adopted[name] = [stages.get(stage) for stage in _stages]
    return True


def adopted(every):
    """What `can_be_guarded` has found of others' handlers since the last time. With `every`, all that there are: a
    program that was prepared in another process may call any of them."""
    if every:
        own = {*own_names, *own_names.values(), ordered_target, missing_target, serving_target}
        for name, stages in targets().items():
            if name not in own:
                _adopt(name, stages)
    found = [[name, *stages] for name, stages in _adopted.items()]
    _adopted.clear()
    return found


def targets():
    """All handlers that this process has for the CPU, by name."""
    return _jaxlib.custom_call_targets("Host")


def refine(bytecode):
    """Infers all shapes of a program from those of its arguments; checks what the program asserts of them."""
    return _jaxlib.mlir.refine_polymorphic_shapes(bytecode, enable_shape_assertions=True)


def stablehlo_versions():
    """(current, minimum) as integer triples."""
    from jaxlib.mlir._mlir_libs import _stablehlo
    numbers = lambda text: [int(n) for n in text.split(".")]
    return numbers(_stablehlo.get_current_version()), numbers(_stablehlo.get_minimum_version())
