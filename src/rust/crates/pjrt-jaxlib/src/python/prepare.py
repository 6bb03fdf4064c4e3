"""What is done to a program before XLA compiles it."""
import importlib
import io

import _xlaffi_jaxlib as compat
from _xlaffi_calls import (
    ON_SERVED, attribute, custom_calls, is_typed_call, marked, meant_by, operations, target_of)
from _xlaffi_ordered import order

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import stablehlo

_BYTECODE = b"ML\xefR"


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


def _rename(module, names):
    renamed = False
    for op in custom_calls(module):
        target = target_of(op)
        own = names.get(target, target)
        if own != target:
            op.attributes["call_target_name"] = ir.StringAttr.get(own)
            renamed = True
    return renamed


def _rename_claimed(module):
    """Sends calls of names that JAX claims to the handlers that were registered with this plugin."""
    return _rename(module, compat.own_names)


def _serve(module):
    """Has the handlers of other hosts called on the thread of the host that serves this program. Gives how many calls
    there are, and how many of them cannot be served so: those of handlers of an older kind."""
    found = unserved = 0
    for op in custom_calls(module):
        is_typed = is_typed_call(op)
        target = meant_by(op) if is_typed else target_of(op)
        if not compat.is_foreign(target):
            continue
        found += 1
        if not (is_typed and compat.can_be_called(target)):
            unserved += 1
            continue
        handler = target_of(op) if target_of(op) != target else compat.serving_target
        for name, value in marked(op, handler, ON_SERVED + target).items():
            op.attributes[name] = value
    return found, unserved


def _guard(module):
    """Sends calls of handlers to the one that keeps their errors; see guard/mod.rs."""
    guarded = False
    for op in custom_calls(module):
        if is_typed_call(op) and compat.can_be_guarded(target_of(op)):
            for name, value in marked(op, compat.guarded_target).items():
                op.attributes[name] = value
            guarded = True
    return guarded


def _leave_to_other_platforms(module):
    """JAX exports a program for several platforms as one that takes their index and has a branch for
    each. Calls in branches that no handler answers here fail when they are made, not before."""
    takes_index = any(
        "_platform_index" in str(attribute(op.operation, "arg_attrs")) for op in module.body.operations)
    if compat.missing_target is None or not takes_index:
        return False
    known = {*compat.own_names, *compat.targets()}
    left = False
    for case in operations(module.operation):
        if case.name != "stablehlo.case":
            continue
        for op in operations(case):
            if is_typed_call(op) and target_of(op) not in known:
                for name, value in marked(op, compat.missing_target).items():
                    op.attributes[name] = value
                left = True
    return left


def _has_elements(kind):
    return not isinstance(kind, ir.RankedTensorType) or 0 not in kind.shape


def _order_nothing_by_default(module):
    """XLA's CPU compiler divides by zero where an array without elements has a layout other than the
    default one, to which nobody can tell a difference."""
    changed = False
    for op in custom_calls(module):
        for name, values in (("operand_layouts", op.operands), ("result_layouts", op.results)):
            layouts, kinds = attribute(op, name), [value.type for value in values]
            if layouts is None or len(layouts) != len(kinds) or all(map(_has_elements, kinds)):
                continue
            op.attributes[name] = ir.ArrayAttr.get([
                layout if _has_elements(kind) else _row_major(len(kind.shape))
                for layout, kind in zip(layouts, kinds)
            ])
            changed = True
    return changed


def _row_major(rank):
    order = ", ".join(str(i) for i in reversed(range(rank)))
    return ir.Attribute.parse(f"dense<[{order}]> : tensor<{rank}xindex>")


def _bytecode(module):
    bytecode = io.BytesIO()
    module.operation.write_bytecode(bytecode)
    return bytecode.getvalue()


def _changed(change, module):
    with module.context, ir.Location.unknown():
        return change(module)


def prepared(code, over_several, served):
    """The program `code` (StableHLO, text or bytecode) as XLA shall have it, with how many calls of handlers of other
    hosts it has and how many of these cannot be served. `served`: None, or for a host that serves such handlers the names
    that its programs call, each with the name that it means."""
    module = _parse(code)
    if module is None:
        return code, 0, 0
    names = compat.other_names if served is None else dict(zip(served[::2], served[1::2]))
    rename = lambda module: _rename(module, names)
    renamed = _changed(rename, module)
    changed = _changed(order, module)
    if changed and not _valid(module):
        # An ordered call is made from where no token can go.
        module, changed = _parse(code), False
        _changed(rename, module)
    guard = (_guard,) if over_several else ()
    for change in (_leave_to_other_platforms, *guard):
        changed |= _changed(change, module)
    found, unserved = (0, 0) if served is None else _changed(_serve, module)
    changed |= renamed or found > unserved
    for change in (_rename_claimed, _order_nothing_by_default):
        changed |= _changed(change, module)
    return _bytecode(module) if changed else code, found, unserved


def refined(code, shapes):
    """The program `code`, whose arguments have dimensions without sizes, for arguments of these
    shapes."""
    module = _parse(code)
    if module is None:
        raise ValueError("the program is not StableHLO, or is not valid")
    _changed(lambda module: _size_arguments(module, shapes), module)
    return _portable(compat.refine(_bytecode(module)))


def _portable(code):
    """The program as other versions of XLA read it, which another plugin has, if it is StableHLO alone."""
    module = _parse(code)
    if module is None:
        return code
    weeks = stablehlo.StablehloCompatibilityRequirement.WEEK_12
    try:
        with module.context, ir.Location.unknown():
            return stablehlo.serialize_portable_artifact(
                module, stablehlo.get_version_from_compatibility_requirement(weeks))
    except (ir.MLIRError, ValueError):
        return code


def _size_arguments(module, shapes):
    main = next((f.operation for f in module.body.operations
                 if f.operation.name == "func.func" and f.operation.attributes["sym_name"].value == "main"), None)
    if main is None:
        raise ValueError("the program has no function `main`")
    kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    if len(kind.inputs) != len(shapes):
        raise ValueError(f"the program takes {len(kind.inputs)} argument(s), got {len(shapes)} shape(s)")
    block = main.regions[0].blocks[0]
    sized = []
    for i, (argument, shape) in enumerate(zip(block.arguments, shapes), 1):
        before = ir.RankedTensorType(argument.type)
        fits = len(shape) == before.rank and all(
            before.is_dynamic_dim(d) or before.get_dim_size(d) == n for d, n in enumerate(shape))
        if not fits:
            raise ValueError(f"argument {i} is {before}, which a shape ({', '.join(map(str, shape))}) does not fit")
        after = ir.RankedTensorType.get(shape, before.element_type)
        sized.append(after)
        if after != before:
            argument.set_type(after)
            unsized = ir.Operation.create(
                "stablehlo.convert", results=[before], operands=[argument],
                ip=ir.InsertionPoint.at_block_begin(block))
            argument.replace_all_uses_except(unsized.result, unsized)
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(sized, kind.results))
