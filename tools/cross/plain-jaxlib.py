"""A program on jaxlib alone: whether jaxlib itself works in this environment."""
import sys
import types

import numpy
from jaxlib import xla_client

# jaxlib asks jax for the sharding of the arrays that it makes.
sharding = types.ModuleType("jax._src.sharding_impls")
sharding.make_single_device_sharding = lambda device, memory_kind=None: xla_client.SingleDeviceSharding(
    device, memory_kind=memory_kind)
jax = types.ModuleType("jax")
jax.__path__ = []
sys.modules["jax"], sys.modules["jax._src.sharding_impls"] = jax, sharding

CODE = b"""func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}"""

client = xla_client.make_cpu_client(asynchronous=True, num_devices=2)
device = client.local_devices()[0]
options = xla_client.CompileOptions()
options.executable_build_options.device_assignment = xla_client.DeviceAssignment.create(numpy.array([[device.id]]))
program = client.compile_and_load(CODE, xla_client.DeviceList((device,)), options)
x = numpy.eye(64, dtype=numpy.float32) * 2
for _ in range(100):
    held = xla_client._xla.dlpack_managed_tensor_to_buffer(x.__dlpack__(), device, None)
    (result,) = program.execute_sharded([held]).disassemble_into_single_device_arrays()[0]
    assert (numpy.asarray(result) == 4 * numpy.eye(64)).all()
print("all right", flush=True)
