"""Find SQL that Citus does not support, with PostgreSQL's parser: https://docs.citusdata.com/en/stable/develop/"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pglast import ast, enums, parse_sql
from pglast.visitors import Visitor

KEY = "wallet_id"
# In an UPDATE these functions return a different value on each shard.
VOLATILE = {
    *("clock_timestamp", "timeofday", "random", "gen_random_uuid", "uuidv4", "uuidv7", "nextval", "setval"),
}
# Neither may be in the SET of ON CONFLICT.
NOT_ON_CONFLICT = VOLATILE | {"now", "transaction_timestamp", "statement_timestamp"}
# Our functions that read tables.
READING = {"nearest_price"}
# It reads the shards, of a worker, not the tables of Citus.
_ON_SHARDS = "run_on_shard"
_TIME_OPERATIONS = (ast.SQLValueFunction,)


@dataclass(frozen=True)
class Tables:
    """The placement of each table."""

    reference: frozenset[str]
    distributed: frozenset[str]
    plain: frozenset[str]


def statements(sql: str) -> list[ast.Node]:
    """Return the statements of a file; its %(parameters)s may have any value."""
    text = re.sub(r"%\(\w+\)s", "$1", sql).replace("%%", "%")
    return [raw.stmt for raw in parse_sql(text)]


def read_tables(distribution: str, plain: str) -> Tables:
    """Return the placement of tables by migrations/citus.sql; `plain` is its comment about the others."""
    calls: dict[str, set[str]] = {"create_reference_table": set(), "create_distributed_table": set()}
    for statement in statements(distribution):
        for call in found(statement, ast.FuncCall):
            name, *arguments = call.funcname[-1].sval, *call.args
            if name not in calls:
                continue
            calls[name].add(arguments[0].val.sval.rpartition(".")[2])
            if name == "create_distributed_table":
                assert arguments[1].val.sval == KEY
    return Tables(
        reference=frozenset(calls["create_reference_table"]),
        distributed=frozenset(calls["create_distributed_table"]),
        plain=frozenset(re.findall(r"\w+", plain)),
    )


def found(node: Any, kind: type[Any]) -> list[Any]:
    """Return all nodes of a kind below a node, including the node itself."""
    collector = _Collector(kind)
    if node is not None:
        collector(node)
    return collector.found


class _Collector(Visitor):  # type: ignore[misc]
    def __init__(self, kind: type[Any]) -> None:
        self._kind = kind
        self.found: list[Any] = []

    def visit(self, ancestors: Any, node: Any) -> None:
        if isinstance(node, self._kind):
            self.found.append(node)


def schema_faults(statement: Any, tables: Tables) -> Iterator[str]:
    """Yield what Citus does not support in a statement of a migration."""
    match statement:
        case ast.CreateTrigStmt():
            yield "a trigger"
        case ast.CreateStmt():
            yield from _table_faults(statement, tables)
        case ast.IndexStmt() if statement.unique and statement.relation.relname in tables.distributed:
            columns = {element.name for element in statement.indexParams}
            if KEY not in columns:
                yield f"a unique index of {statement.relation.relname} without {KEY}"
        case ast.AlterTableStmt():
            for constraint in found(statement, ast.Constraint):
                yield from _constraint_faults(statement.relation.relname, constraint, None, tables)
        case ast.CreateFunctionStmt():
            yield from _function_faults(statement, tables)
        case ast.VariableSetStmt() if statement.name == "search_path":
            yield "SET search_path"
        case _:
            yield from query_faults(statement, tables)


def query_faults(statement: Any, tables: Tables) -> Iterator[str]:
    """Yield what Citus does not support in a query."""
    if any(clause.recursive for clause in found(statement, ast.WithClause)):
        yield "a recursive query"
    if found(statement, ast.GroupingSet):
        yield "ROLLUP or GROUPING SETS"
    if any(setting.name == "search_path" for setting in found(statement, ast.VariableSetStmt)):
        yield "SET search_path"
    for select in found(statement, ast.SelectStmt):
        if (
            select.lockingClause
            and _distributed(select.fromClause, tables)
            and not _on_key(select.whereClause)
        ):
            yield "FOR UPDATE without equality on the key"
    for link in found(statement, ast.SubLink):
        if _distributed(link.subselect, tables) and not _on_key(link.subselect):
            yield "a subquery over a distributed table off the key"
    for lateral in found(statement, ast.RangeSubselect):
        if lateral.lateral and _distributed(lateral.subquery, tables) and not _on_key(lateral.subquery):
            yield "LATERAL over a distributed table off the key"
    for join in found(statement, ast.JoinExpr):
        # What an outer join leaves out may be of any table.
        optional = {
            enums.JoinType.JOIN_LEFT: (join.rarg,),
            enums.JoinType.JOIN_RIGHT: (join.larg,),
            enums.JoinType.JOIN_FULL: (join.larg, join.rarg),
        }.get(join.jointype, ())
        if _distributed(optional, tables) and not _joins_on_key(join):
            yield "an outer join off the key"
        yield from _outer_faults(join, tables)
    for call in found(statement, ast.FuncCall):
        if call.funcname[-1].sval in READING:
            yield f"{call.funcname[-1].sval}() reads a table"
    for select in found(statement, ast.SelectStmt):
        yield from _lateral_faults(select.fromClause, tables)
    for update in found(statement, ast.UpdateStmt):
        if update.relation.relname in tables.distributed:
            yield from _change_faults(update.targetList, VOLATILE)
    for insert in found(statement, ast.InsertStmt):
        clause = insert.onConflictClause
        if clause and clause.targetList and insert.relation.relname in tables.distributed:
            yield from _change_faults(clause.targetList, NOT_ON_CONFLICT)
            if found(clause.targetList, _TIME_OPERATIONS):
                yield "ON CONFLICT sets the time of now"
            for sum_ in found(clause.whereClause, ast.A_Expr):
                calls = {call.funcname[-1].sval for call in found(sum_, ast.FuncCall)}
                if sum_.name[-1].sval == "+" and calls & {"make_interval"}:
                    yield "ON CONFLICT adds an interval, which is not IMMUTABLE"
            is_values = insert.selectStmt.valuesLists
            used = (*found(clause.whereClause, ast.ParamRef), *found(clause.targetList, ast.ParamRef))
            if not is_values and used:
                yield "a parameter in the ON CONFLICT of a SELECT"
    for change in (*found(statement, ast.InsertStmt), *found(statement, ast.UpdateStmt)):
        if change.relation.relname in tables.distributed:
            for call in found(change.returningClause, ast.FuncCall):
                yield f"{call.funcname[-1].sval}() in RETURNING"


def own_faults(statement: Any, tables: Tables) -> Iterator[str]:
    """Yield what keeps a statement from being run on the shard of one wallet, which sees no other's rows."""
    placed = tables.distributed | tables.reference
    for clause in found(statement, ast.CommonTableExpr):
        if clause.ctename in placed:
            yield f"{clause.ctename} is a table too"
    for table in found(statement, ast.RangeVar):
        if table.relname in tables.plain:
            yield f"{table.relname} is on the coordinator alone"
    for select in found(statement, ast.SelectStmt):
        items = list(_from_items(select.fromClause))
        names = {item.relname for item in items if isinstance(item, ast.RangeVar)}
        if names & placed and len(select.fromClause) > 1:
            yield "a list of tables, of which run_on_shard() finds the first alone"
        if names & tables.distributed and not _of_one_wallet(select.whereClause):
            yield f"{', '.join(sorted(names & tables.distributed))} of other wallets"


def cluster_faults(statement: Any, tables: Tables) -> Iterator[str]:
    """Yield what Citus does not support in a query once the tables are placed."""
    yield from query_faults(statement, tables)
    yield from _tie_faults(statement, tables)
    if _distributed(statement, tables):
        for link in found(statement, ast.SubLink):
            query = link.subselect
            is_constant = link.subLinkType == enums.SubLinkType.EXISTS_SUBLINK and not query.whereClause
            if is_constant and not query.targetList:
                yield "EXISTS of no column, which becomes an intermediate result"
    named = {part.ctename for part in found(statement, ast.CommonTableExpr)}
    for delete in found(statement, ast.DeleteStmt):
        others = {table.relname for table in found(delete.usingClause, ast.RangeVar)}
        if delete.relation.relname in tables.reference and others - named:
            yield "DELETE … USING another table, of a reference table"
        others = {table.relname for table in found(delete.whereClause, ast.RangeVar)}
        if delete.relation.relname in tables.plain and others & (tables.reference | tables.distributed):
            yield "a plain table is changed by one that is not"


def _tie_faults(statement: Any, tables: Tables) -> Iterator[str]:
    """Yield a WITH TIES that Citus makes a plain LIMIT on the workers: of a join or beside subqueries."""
    laterals = {id(item.subquery) for item in found(statement, ast.RangeSubselect) if item.lateral}
    for select in found(statement, ast.SelectStmt):
        items = list(_from_items(select.fromClause))
        own = (*(select.targetList or ()), *([select.whereClause] if select.whereClause else ()))
        is_rewritten = len(items) > 1 or any(found(part, ast.SubLink) for part in own)
        if (
            select.limitOption == enums.LimitOption.LIMIT_OPTION_WITH_TIES
            and id(select) not in laterals
            and _distributed(select.fromClause, tables)
            and is_rewritten
            and not _of_one_wallet(select.whereClause)
        ):
            yield "WITH TIES of a join or beside subqueries"


def _outer_faults(join: Any, tables: Tables) -> Iterator[str]:
    """Yield whether the rows that an outer join keeps are of another table than a distributed one."""
    sides = {
        enums.JoinType.JOIN_LEFT: (join.larg, join.rarg),
        enums.JoinType.JOIN_RIGHT: (join.rarg, join.larg),
    }
    kept, other = sides.get(join.jointype, (None, None))
    if (
        isinstance(kept, ast.RangeVar)
        and isinstance(other, ast.RangeVar)
        and other.relname in tables.distributed
        and kept.relname not in tables.distributed
        and not _of_one_wallet(join.quals)
    ):
        yield "an outer join with a table that is not sharded"


def _lateral_faults(items: Any, tables: Tables) -> Iterator[str]:
    """Yield a LIMIT or OFFSET in a LATERAL, unless a sharded table is beside it or it is of one wallet."""
    beside = {table.relname for table in _from_items(items) if isinstance(table, ast.RangeVar)}
    for lateral in _from_items(items):
        if not isinstance(lateral, ast.RangeSubselect) or not lateral.lateral:
            continue
        query = lateral.subquery
        if (
            not _distributed(query, tables)
            or beside & tables.distributed
            or _of_one_wallet(query.whereClause)
        ):
            continue
        for name, clause in (("LIMIT", query.limitCount), ("OFFSET", query.limitOffset)):
            if clause is not None:
                yield f"{name} in a LATERAL of no sharded table"


def _from_items(items: Any) -> Iterator[Any]:
    for item in items or ():
        if isinstance(item, ast.JoinExpr):
            yield from _from_items((item.larg, item.rarg))
        else:
            yield item


def _of_one_wallet(condition: Any) -> bool:
    return any(
        _column(comparison.lexpr) == KEY and bool(found(comparison.rexpr, ast.ParamRef))
        for comparison in found(condition, ast.A_Expr)
        if comparison.name[-1].sval == "="
    )


def _table_faults(statement: Any, tables: Tables) -> Iterator[str]:
    table = statement.relation.relname
    if statement.relation.relpersistence == "t":
        return
    if table not in tables.reference | tables.distributed | tables.plain:
        yield f"{table} is placed nowhere in migrations/citus.sql"
    for element in statement.tableElts or ():
        if isinstance(element, ast.Constraint):
            yield from _constraint_faults(table, element, None, tables)
        for constraint in getattr(element, "constraints", None) or ():
            yield from _constraint_faults(table, constraint, element.colname, tables)


def _constraint_faults(table: str, constraint: Any, column: str | None, tables: Tables) -> Iterator[str]:
    kinds = enums.ConstrType
    if constraint.contype in (kinds.CONSTR_PRIMARY, kinds.CONSTR_UNIQUE, kinds.CONSTR_EXCLUSION):
        columns = {key.sval for key in constraint.keys or ()} | ({column} if column else set())
        columns |= {part[0].name for part in constraint.exclusions or ()}
        if table in tables.distributed and KEY not in columns:
            yield f"a key of {table} without {KEY}"
    if constraint.contype == kinds.CONSTR_FOREIGN:
        other = constraint.pktable.relname
        columns = {key.sval for key in constraint.fk_attrs or ()} | ({column} if column else set())
        if other in tables.distributed and (table not in tables.distributed or KEY not in columns):
            yield f"a foreign key from {table} to {other} that is not co-located"
        if table in tables.distributed and other in tables.plain:
            yield f"a foreign key from {table} to {other}, which is on the coordinator alone"


def _function_faults(statement: Any, tables: Tables) -> Iterator[str]:
    name = statement.funcname[-1].sval
    if name == _ON_SHARDS:
        return
    options = {option.defname: option.arg for option in statement.options or ()}
    if statement.sql_body is not None:
        touched = [node.relname for node in found(statement.sql_body, ast.RangeVar)]
    elif options["language"].sval == "sql":
        body = options["as"][0].sval
        touched = [node.relname for part in statements(body) for node in found(part, ast.RangeVar)]
    else:
        touched = re.findall(r"\w+", options["as"][0].sval)
    for table in sorted(tables.distributed.intersection(touched)):
        yield f"the function {name} reads or writes {table}"


def _change_faults(targets: Any, functions: set[str]) -> Iterator[str]:
    for target in targets:
        if target.name == KEY:
            yield f"{KEY} changes"
    for call in found(targets, ast.FuncCall):
        if call.funcname[-1].sval in functions:
            yield f"{call.funcname[-1].sval}() in what is set"


def _distributed(node: Any, tables: Tables) -> bool:
    return any(table.relname in tables.distributed for table in found(node, ast.RangeVar))


def _on_key(node: Any) -> bool:
    """Return whether the node contains a comparison of wallet_id by equality."""
    return any(
        comparison.name[-1].sval == "=" and KEY in (_column(comparison.lexpr), _column(comparison.rexpr))
        for comparison in found(node, ast.A_Expr)
        if comparison.kind == enums.A_Expr_Kind.AEXPR_OP
    )


def _joins_on_key(join: Any) -> bool:
    named = {column.sval for column in join.usingClause or ()}
    return KEY in named or (join.quals is not None and _on_key(join.quals))


def _column(node: Any) -> str | None:
    return (
        node.fields[-1].sval if isinstance(node, ast.ColumnRef) and hasattr(node.fields[-1], "sval") else None
    )
