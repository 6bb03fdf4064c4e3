"""What jaxlib itself takes for what the plugin asks of it, without the plugin: the floor of calls.R.

Prints a line a step: its name, a tab, microseconds (the best of many short rounds).
"""

import pathlib
import sys
import time
import types

import numpy

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "src" / "rust" / "crates" / "pjrt-jaxlib" / "src" / "python" / "compat.py"
PROGRAM = """func.func @main(%a: tensor<2x2xf64>, %b: tensor<2x2xf64>) -> tensor<2x2xf64> {
  %0 = stablehlo.multiply %a, %b : tensor<2x2xf64>
  return %0 : tensor<2x2xf64>
}"""


def best(step, calls=20, rounds=1000):
    least = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            step()
        least = min(least, time.perf_counter() - start)
    return 1e6 * least / calls


def main():
    plugin = types.ModuleType("plugin")
    exec(compile(SOURCE.read_text(), str(SOURCE), "exec"), plugin.__dict__)
    client = plugin.make_client(1, True)
    device = plugin.devices(client)[0]
    options = plugin.xla_client.CompileOptions().SerializeAsString()
    program = plugin.compile_program(client, PROGRAM, False, [device], options)
    sys.modules.update(zip(plugin.stand_in_names, plugin.stand_ins))
    sharding = plugin.placement(device)[1]
    handlers = [plugin.handler(sharding, (2, 2), "float64")]
    execute = plugin.executor(program)
    x = numpy.ones((2, 2))

    def upload():
        return plugin.from_dlpack(x.__dlpack__(), device, None)

    a, b = upload(), upload()

    def run():
        return execute([a, b]).consume_with_handlers(handlers)[0]

    result = run()
    print(f"upload\t{best(upload):.2f}")
    print(f"execute\t{best(run):.2f}")
    print(f"wait\t{best(result.block_until_ready):.2f}")
    print(f"address\t{best(result.unsafe_buffer_pointer):.2f}")


main()
