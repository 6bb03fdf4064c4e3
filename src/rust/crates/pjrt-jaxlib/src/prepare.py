"""What is done to a program before XLA compiles it.

print_tensor calls are kept in the order of the program: XLA orders side effects by data flow alone,
so of two calls without a value between them either may run first. A StableHLO token is threaded
through all of them, through loops, branches and calls of functions. (A print in the condition of a
loop, or in a reduction, is left as it is.)

Calls of names that JAX claims for itself go to the private names of our handlers; see compat.py."""
import importlib
import io

from _xlaffi_jaxlib import own_names

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import stablehlo

TARGET = "print_tensor"
_BYTECODE = b"ML\xefR"


def _attr(op, name):
    return op.attributes[name] if name in op.attributes else None


def _is_print(op):
    if op.name != "stablehlo.custom_call" or len(op.results):
        return False
    return _attr(op, "call_target_name").value == TARGET


def _callee(op):
    return _attr(op, "callee").value if op.name == "func.call" else None


class _Threader:
    def __init__(self, module):
        self.token = ir.Type.parse("!stablehlo.token")
        self.funcs = {
            op.operation.attributes["sym_name"].value: op.operation
            for op in module.body.operations
            if op.operation.name == "func.func"
        }
        self.prints = {}
        self.threaded = set()

    def has_print(self, op):
        """Whether running `op` can print; functions are looked into once."""
        callee = _callee(op)
        if callee is not None:
            if callee not in self.prints:
                self.prints[callee] = False
                self.prints[callee] = self.region_has_print(self.funcs[callee])
            return self.prints[callee]
        return _is_print(op) or self.region_has_print(op)

    def region_has_print(self, op):
        return any(
            self.has_print(inner.operation)
            for region in op.regions
            for block in region
            for inner in block.operations
        )

    def has_order(self, main):
        """Whether there is anything to keep in order: more than one call, or one that may run again."""
        block = main.regions[0].blocks[0]
        printing = [op.operation for op in block.operations if self.has_print(op.operation)]
        return len(printing) > 1 or any(not _is_print(op) for op in printing)

    def rebuild(self, op, operands, results, regions=0, **changed):
        """A copy of `op`, before it, with other operands and results and empty regions."""
        names = [a if isinstance(a, str) else a.name for a in op.attributes]  # older MLIR: pairs
        attributes = {name: op.attributes[name] for name in names}
        return ir.Operation.create(
            op.name, results=results, operands=operands, attributes={**attributes, **changed},
            regions=regions, loc=op.location, ip=ir.InsertionPoint(op),
        )

    def replace(self, op, new):
        """Puts `new` in the place of `op`; its last result is the token."""
        for old, value in zip(op.results, new.results):
            old.replace_all_uses_with(value)
        op.erase()
        return new.results[len(new.results) - 1]

    def print_call(self, op, token):
        rank0 = ir.Attribute.parse("dense<> : tensor<0xindex>")
        changed = {}
        for name in ("operand_layouts", "result_layouts"):
            layouts = _attr(op, name)
            if layouts is not None:
                changed[name] = ir.ArrayAttr.get(list(layouts) + [rank0])
        return self.replace(op, self.rebuild(op, [*op.operands, token], [self.token], **changed))

    def branches(self, op, token):
        """stablehlo.if and stablehlo.case: the branches see the outer token."""
        results = [r.type for r in op.results] + [self.token]
        new = self.rebuild(op, list(op.operands), results, len(op.regions))
        for old, region in zip(op.regions, new.regions):
            old.blocks[0].append_to(region)
            self.block(region.blocks[0], token)
        return self.replace(op, new)

    def loop(self, op, token):
        results = [r.type for r in op.results] + [self.token]
        new = self.rebuild(op, [*op.operands, token], results, 2)
        for old, region in zip(op.regions, new.regions):
            old.blocks[0].append_to(region)
        cond, body = (region.blocks[0] for region in new.regions)
        cond.add_argument(self.token, op.location)
        self.block(body, body.add_argument(self.token, op.location))
        return self.replace(op, new)

    def call(self, op, token):
        callee = _callee(op)
        if callee not in self.threaded:
            self.threaded.add(callee)
            func = self.funcs[callee]
            kind = ir.FunctionType(ir.TypeAttr(func.attributes["function_type"]).value)
            func.attributes["function_type"] = ir.TypeAttr.get(
                ir.FunctionType.get([*kind.inputs, self.token], [*kind.results, self.token])
            )
            for name in ("arg_attrs", "res_attrs"):
                extra = _attr(func, name)
                if extra is not None:
                    func.attributes[name] = ir.ArrayAttr.get(list(extra) + [ir.DictAttr.get({})])
            block = func.regions[0].blocks[0]
            self.block(block, block.add_argument(self.token, func.location))
        results = [r.type for r in op.results] + [self.token]
        return self.replace(op, self.rebuild(op, [*op.operands, token], results))

    def block(self, block, token, returns=True):
        """Threads `token` through a block; its terminator returns the last one."""
        last = block.operations[len(block.operations) - 1].operation
        kinds = {
            "stablehlo.custom_call": self.print_call,
            "stablehlo.while": self.loop,
            "stablehlo.if": self.branches,
            "stablehlo.case": self.branches,
            "func.call": self.call,
        }
        for op in [view.operation for view in block.operations]:
            if op.name in kinds and self.has_print(op):
                token = kinds[op.name](op, token)
        if returns:
            self.rebuild(last, [*last.operands, token], [])
            last.erase()


def _context():
    """All dialects that programs from JAX are written in."""
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for name in ("stablehlo", "chlo", "mhlo", "sdy", "mpmd"):
        try:
            dialect = importlib.import_module("jaxlib.mlir.dialects." + name)
        except ImportError:  # not every jaxlib has all of them
            continue
        register = getattr(dialect, "register_dialect", None) or dialect.register_mhlo_dialect
        register(context)
    return context


def _parse(code):
    """The module in a context of its own, or None: then XLA's parser gives the error."""
    context = _context()
    with context, ir.Location.unknown():
        try:
            if code.startswith(_BYTECODE):
                return stablehlo.deserialize_portable_artifact(context, code)
            return ir.Module.parse(code)
        except (ir.MLIRError, ValueError):
            return None


def _valid(module):
    try:
        return module.operation.verify()
    except ir.MLIRError:
        return False


def _operations(op):
    """All operations inside `op`."""
    for region in op.regions:
        for block in region:
            for view in block.operations:
                yield view.operation
                yield from _operations(view.operation)


def _rename(module):
    """Sends calls of names that JAX claims to the handlers that were registered with this plugin."""
    renamed = False
    for op in _operations(module.operation):
        if op.name != "stablehlo.custom_call":
            continue
        own = own_names.get(_attr(op, "call_target_name").value)
        if own is not None:
            op.attributes["call_target_name"] = ir.StringAttr.get(own)
            renamed = True
    return renamed


def _bytecode(module):
    bytecode = io.BytesIO()
    module.operation.write_bytecode(bytecode)
    return bytecode.getvalue()


def _order(module):
    """Threads the token; returns whether there was anything to keep in order."""
    threader = _Threader(module)
    main = threader.funcs.get("main")
    if main is None or not threader.has_order(main):
        return False
    block = main.regions[0].blocks[0]
    token = ir.Operation.create(
        "stablehlo.create_token", results=[threader.token],
        loc=main.location, ip=ir.InsertionPoint.at_block_begin(block),
    ).results[0]
    threader.block(block, token, returns=False)
    return True


def prepared(code):
    """The program `code` (StableHLO, text or bytecode) with our names and its prints in order."""
    module = _parse(code)
    if module is None:
        return code
    with module.context, ir.Location.unknown():
        if _rename(module):
            code = _bytecode(module)
        # Not valid: a printing function is called from where no token can go.
        if _order(module) and _valid(module):
            code = _bytecode(module)
    return code
