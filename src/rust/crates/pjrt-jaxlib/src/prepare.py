"""What is done to a program before XLA compiles it.

Some calls of handlers are kept in the order of the program: those of print_tensor, and those that
are marked by the frontend attribute `xlaffi.ordered`. XLA orders side effects by data flow alone: of
two calls without a value between them either may run first. A StableHLO token is threaded through
all of them, through loops, branches and calls of functions; handlers do not see it (ordered.rs).
(A call in the condition of a loop, or in a reduction, is left as it is, and so are calls of
handlers that were not registered through this plugin.)

Calls of names that JAX claims for itself go to the private names of our handlers; see compat.py."""
import importlib
import io

import _xlaffi_jaxlib as compat

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import stablehlo

_BYTECODE = b"ML\xefR"
# See ordered.rs: sorted behind all other attributes.
_TARGET_ATTRIBUTE = "\U0010ffff"


def _attr(op, name):
    return op.attributes[name] if name in op.attributes else None


def _names(op):
    return [a if isinstance(a, str) else a.name for a in op.attributes]  # older MLIR: pairs


def _is_typed_call(op):
    """Whether it is a call of a handler of XLA's FFI, with attributes in a dictionary."""
    if op.name != "stablehlo.custom_call":
        return False
    version, config = _attr(op, "api_version"), _attr(op, "backend_config")
    return version is not None and version.value == 4 and (
        config is None or isinstance(config, ir.DictAttr))


def _is_ordered(op):
    if not _is_typed_call(op):
        return False
    target = _attr(op, "call_target_name").value
    if compat.ordered_target is None or target not in compat.own_names:
        return False
    marks = _attr(op, "mhlo.frontend_attributes")
    if marks is not None and "xlaffi.ordered" in ir.DictAttr(marks):
        return True
    return target == "print_tensor" and len(op.results) == 0


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
        self.ordered = {}
        self.threaded = set()

    def has_ordered(self, op):
        """Whether running `op` can make a call to be kept in order; functions are looked into once."""
        callee = _callee(op)
        if callee is not None:
            if callee not in self.ordered:
                self.ordered[callee] = False
                self.ordered[callee] = self.region_has_ordered(self.funcs[callee])
            return self.ordered[callee]
        return _is_ordered(op) or self.region_has_ordered(op)

    def region_has_ordered(self, op):
        return any(
            self.has_ordered(inner.operation)
            for region in op.regions
            for block in region
            for inner in block.operations
        )

    def has_order(self, main):
        """Whether there is anything to keep in order: more than one call, or one that may run again."""
        block = main.regions[0].blocks[0]
        found = [op.operation for op in block.operations if self.has_ordered(op.operation)]
        return len(found) > 1 or any(not _is_ordered(op) for op in found)

    def rebuild(self, op, operands, results, regions=0, **changed):
        """A copy of `op`, before it, with other operands and results and empty regions."""
        attributes = {name: op.attributes[name] for name in _names(op)}
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

    def ordered_call(self, op, token):
        config = _attr(op, "backend_config")
        config = {} if config is None else {a.name: a.attr for a in ir.DictAttr(config)}
        changed = {
            "call_target_name": ir.StringAttr.get(compat.ordered_target),
            "backend_config": ir.DictAttr.get({**config, _TARGET_ATTRIBUTE: _attr(op, "call_target_name")}),
        }
        rank0 = ir.Attribute.parse("dense<> : tensor<0xindex>")
        for name in ("operand_layouts", "result_layouts"):
            layouts = _attr(op, name)
            if layouts is not None:
                changed[name] = ir.ArrayAttr.get(list(layouts) + [rank0])
        aliases = _attr(op, "output_operand_aliases")
        if aliases is not None and len(op.results) == 1:
            # The result that had no index among results is now the first of two.
            changed["output_operand_aliases"] = ir.Attribute.parse(
                str(aliases).replace("output_tuple_indices = []", "output_tuple_indices = [0]"))
        results = [r.type for r in op.results] + [self.token]
        return self.replace(op, self.rebuild(op, [*op.operands, token], results, **changed))

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
            "stablehlo.custom_call": self.ordered_call,
            "stablehlo.while": self.loop,
            "stablehlo.if": self.branches,
            "stablehlo.case": self.branches,
            "func.call": self.call,
        }
        for op in [view.operation for view in block.operations]:
            if op.name in kinds and self.has_ordered(op):
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
        target = _attr(op, "call_target_name").value
        own = compat.own_names.get(target, target)
        if own != target:
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


def _changed(change, module):
    with module.context, ir.Location.unknown():
        return change(module)


def prepared(code):
    """The program `code` (StableHLO, text or bytecode) with our names and its calls in order."""
    module = _parse(code)
    if module is None:
        return code
    changed = _changed(_order, module)
    if changed and not _valid(module):
        # An ordered call is made from where no token can go.
        module, changed = _parse(code), False
    changed |= _changed(_rename, module)
    return _bytecode(module) if changed else code
