"""What is read and written of the custom calls of a program."""
from jaxlib.mlir import ir

# The attribute that names the handler that was meant, in calls of the plugin's own handlers: sorted
# behind all others (see calls.rs).
TARGET_ATTRIBUTE = "\U0010ffff"
# Before that name: the handler runs on the thread of the host that serves it (see calls.rs).
ON_SERVED = "\U0010fffe"
# Handlers that print, whose calls are kept in order: by the public name, by ours, and as `register_beside` names it.
PRINTS = "print_tensor", "xlaffi.print_tensor", "xlaffi.session.print_tensor", "xlaffi.other.print_tensor"
# JAX writes the second, and then no version.
_CONFIGS = "backend_config", "mhlo.backend_config"


def names_of(op):
    return [a if isinstance(a, str) else a.name for a in op.attributes]  # older MLIR: pairs


def attribute(op, name):
    return op.attributes[name] if name in op.attributes else None


def target_of(op):
    return attribute(op, "call_target_name").value


def operations(op):
    """All operations inside `op`."""
    for region in op.regions:
        for block in region:
            for view in block.operations:
                yield view.operation
                yield from operations(view.operation)


def custom_calls(module):
    return [op for op in operations(module.operation) if op.name == "stablehlo.custom_call"]


def _configs(op):
    return {name: op.attributes[name] for name in _CONFIGS if name in op.attributes}


def is_typed_call(op):
    """Whether it is a call of a handler of XLA's FFI, with attributes in a dictionary."""
    if op.name != "stablehlo.custom_call":
        return False
    version, configs = attribute(op, "api_version"), _configs(op)
    return (_CONFIGS[1] in configs or version is not None and version.value == 4) and (
        len(configs) < 2 and all(isinstance(config, ir.DictAttr) for config in configs.values()))


def _configured(op):
    """The name of the dictionary of a typed call's attributes, and these."""
    (name, config), = _configs(op).items() or [(_CONFIGS[0], ir.DictAttr.get({}))]
    return name, {a.name: a.attr for a in config}


def meant_by(op):
    """The target that a typed call means, which may be marked already."""
    _, attributes = _configured(op)
    told = attributes.get(TARGET_ATTRIBUTE)
    return target_of(op) if told is None else told.value


def marked(op, handler, target=None):
    """Attributes that send a typed call to a handler of the plugin, which is told the target's name."""
    name, attributes = _configured(op)
    target = target_of(op) if target is None else target
    return {
        "call_target_name": ir.StringAttr.get(handler),
        name: ir.DictAttr.get({**attributes, TARGET_ATTRIBUTE: ir.StringAttr.get(target)}),
    }
