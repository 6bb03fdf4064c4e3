"""Calls of handlers in the order of the program; ordered.rs has the other half.

Kept in order are effect-only calls of print_tensor, and calls that are marked by the frontend
attribute `xlaffi.ordered`. A StableHLO token is threaded through all of them, through loops, branches
and calls of functions; the handlers do not see it. (A call in the condition of a loop, or in a
reduction, is left as it is, and so are calls of handlers that were not registered through this
plugin.)"""
import _xlaffi_jaxlib as compat
from _xlaffi_calls import PRINTS, attribute, is_typed_call, marked, names_of

from jaxlib.mlir import ir


def _is_ordered(op):
    if not is_typed_call(op):
        return False
    target = attribute(op, "call_target_name").value
    if compat.ordered_target is None or target not in compat.own_names:
        return False
    marks = attribute(op, "mhlo.frontend_attributes")
    if marks is not None and "xlaffi.ordered" in ir.DictAttr(marks):
        return True
    return target in PRINTS and len(op.results) == 0


def _callee(op):
    return attribute(op, "callee").value if op.name == "func.call" else None


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
        attributes = {name: op.attributes[name] for name in names_of(op)}
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
        changed = marked(op, compat.ordered_target)
        rank0 = ir.Attribute.parse("dense<> : tensor<0xindex>")
        for name in ("operand_layouts", "result_layouts"):
            layouts = attribute(op, name)
            if layouts is not None:
                changed[name] = ir.ArrayAttr.get(list(layouts) + [rank0])
        aliases = attribute(op, "output_operand_aliases")
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
                extra = attribute(func, name)
                if extra is not None:
                    func.attributes[name] = ir.ArrayAttr.get(list(extra) + [ir.DictAttr.get({})])
            block = func.regions[0].blocks[0]
            self.block(block, block.add_argument(self.token, func.location))
        results = [r.type for r in op.results] + [self.token]
        return self.replace(op, self.rebuild(op, [*op.operands, token], results))

    def manual(self, op, token):
        """What each device does by itself has an order of its own: no token goes in or out."""
        block = op.regions[0].blocks[0]
        self.block(block, self.first(block, op.location), returns=False)
        return token

    def first(self, block, location):
        """A token, made where the block begins."""
        return ir.Operation.create(
            "stablehlo.create_token", results=[self.token], loc=location, ip=ir.InsertionPoint.at_block_begin(block),
        ).results[0]

    def block(self, block, token, returns=True):
        """Threads `token` through a block; its terminator returns the last one."""
        last = block.operations[len(block.operations) - 1].operation
        kinds = {
            "stablehlo.custom_call": self.ordered_call,
            "stablehlo.while": self.loop,
            "stablehlo.if": self.branches,
            "stablehlo.case": self.branches,
            "func.call": self.call,
            "sdy.manual_computation": self.manual,
        }
        for op in [view.operation for view in block.operations]:
            if op.name in kinds and self.has_ordered(op):
                token = kinds[op.name](op, token)
        if returns:
            self.rebuild(last, [*last.operands, token], [])
            last.erase()


def order(module):
    """Threads the token; returns whether there was anything to keep in order."""
    threader = _Threader(module)
    main = threader.funcs.get("main")
    if main is None or not threader.has_order(main):
        return False
    block = main.regions[0].blocks[0]
    threader.block(block, threader.first(block, main.location), returns=False)
    return True
