"""Malformed game descriptions: what is said of each mistake, where, and that nothing ever ends in a traceback.

The tables change one part of a small valid specification. In expressions, a caret stands before the character that
the message must point at.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ggn_store.errors import Problem, SpecificationError
from ggn_store.gdl.check import check_specification, read_specification
from tests.support.gdl_tiny import REMOVED, Json, at, changed, cube, hexes, network, tiny, track

CONDITION = "/interactions/list/step/conditions/-"
EACH = "/state_schema/per_player"
DEFINITIONS = "/interactions/definitions"
EFFECT = "/interactions/list/step/effects/-"
PLACE = "/setup/steps/1/at/-"
ASSET = "/presentation/profiles/ascii/entity_assets/1/conditions"
INITIAL = "/state_schema/global/current_player/initial"
OWNER = "/setup/steps/0/set_attributes/owner"

# --- conditions: the expression with a caret, what is said ---

CONDITIONS = [
    # What is no expression.
    ("^", "the expression is empty"),
    ("eq^(entity.rank, 'stone'", "the bracket ( is not closed"),
    ("eq(entity.rank, ^'stone)", "the quote is not closed"),
    ("entity.moved ^and entity.moved", "the expression has ended here, but text goes on"),
    ("entity.moved ^= true", 'the character "=" has no meaning here'),
    ("eq(board^[target, null)", "the bracket [ is not closed"),
    # Names.
    ("eq(^strat, target)", "there is no name strat: did you mean start?"),
    ("eq(^entitty.rank, 'stone')", "there is no name entitty: did you mean entity?"),
    ("eq(^bord[target], null)", "there is no name bord: did you mean board?"),
    ("eq(entity.rank, ^stone)", "there is no name stone: did you mean the text 'stone'?"),
    ("eq(state.mode, ^wild)", "there is no name wild: did you mean the text 'wild'?"),
    ("eq(entity.owner, ^Light)", "there is no name Light: did you mean the text 'Light'?"),
    ("eq(^zzz, 1)", "there is no name zzz"),
    ("eq(^player, entity.owner)", "player is a function"),
    ("eq(^eq, 1)", "eq is a function"),
    ("eq(^set, 1)", "set is a function"),
    ("eq(^None, 1)", "there is no name None"),
    # Functions.
    ("^eqq(1, 1)", "there is no function eqq: did you mean eq?"),
    ("gt(^abss(1), 0)", "there is no function abss: did you mean abs?"),
    ("^pathclear(start, target)", "there is no function pathclear: did you mean path_clear?"),
    ("^EQ(1, 1)", "there is no function EQ: did you mean eq?"),
    ("gt(^min(1, 2), 0)", "there is no function min"),
    ("gt(^max(1, 2), 0)", "there is no function max"),
    ("^entity(1)", "there is no function entity"),
    ("^set(entity.moved, true)", "set is an effect, and a value is wanted here"),
    ("^remove_entity(entity)", "remove_entity is an effect, and a value is wanted here"),
    ("not(^if(true, true))", "if takes 3 arguments, and has 2"),
    ("gt(if(^1, 1, 2), 1)", "argument 1 of if must be a condition, and this is a number"),
    ("gt(if(true, 1, ^'x'), 1)", "if gives a number or a text, and must give one kind of value"),
    ("gt(^if(true, 'x', 'y'), 1)", "argument 1 of gt must be a number, and this is a text"),
    # Attributes.
    ("eq(entity.^rnk, 'stone')", "Piece has no attribute rnk: did you mean rank?"),
    ("eq(entity.^Rank, 'stone')", "Piece has no attribute Rank: did you mean rank?"),
    ("eq(board[target].^colour, 'x')", "Piece has no attribute colour"),
    ("eq(entity.owner.^aheda, 1)", "players have no attribute aheda: did you mean ahead?"),
    ("eq(state.current_player.^direction, 1)", "players have no attribute direction"),
    ("eq(other_player(entity.owner).^fra, 1)", "players have no attribute fra: did you mean far?"),
    ("eq(start.^z, 1)", "a place of the board has no attribute z"),
    ("eq(target.^q, 1)", "a place of the board has no attribute q"),
    ("eq(mid_pos(start, target).^row, 1)", "a place of the board has no attribute row"),
    ("eq(state.^cuont, 1)", "the state has no variable cuont: did you mean count?"),
    ("eq(state.^currentplayer, entity.owner)", "the state has no variable currentplayer: did you mean current_player?"),
    ("eq(state.^pot, 1)", "the state has no variable pot"),
    ("eq(board.^size, 1)", "the board has no attribute size"),
    ("eq('x'.^length, 1)", "the value is a text, which has no attributes"),
    ("eq(entity.rank.^x, 1)", "the value is a text, which has no attributes"),
    ("eq(state.count.^x, 1)", "the value is a number, which has no attributes"),
    ("eq(null.^x, 1)", "null has no attributes"),
    ("eq(true.^x, 1)", "the value is a condition, which has no attributes"),
    # Places.
    ("eq(entity^[target], null)", "the value is an entity, which has no places"),
    ("eq(start^[0], 1)", "the value is a place, which has no places"),
    ("eq(state^['count'], 1)", "the state has no places"),
    ("eq(board[^1], null)", "the board is asked by place, and this is a number"),
    ("eq(board[^'e2'], null)", "the board is asked by place, and this is a text"),
    ("eq(board[^entity], null)", "the board is asked by place, and this is an entity"),
    ("eq(board[^null], null)", "the board is asked by place, and this is null"),
    ("eq(board[node(^'d5')], null)", 'there is no place "d5"'),
    ("eq(board[node(^'Bay')], null)", 'there is no place "Bay"'),
    ("eq(board[^node(3, 4)], null)", "the place is not on the board"),
    ("eq(board[^node(-1, 0)], null)", "the place is not on the board"),
    ("eq(board[node(^true)], null)", "the argument of node must be a text, and this is a condition"),
    ("eq(board[node(1, ^'1')], null)", "argument 2 of node must be a number, and this is a text"),
    ("eq(^board, null)", "the board is no value by itself"),
    ("eq(^state, null)", "the state is no value by itself"),
    # Phases, players, types.
    ("eq(state.phase, ^'mian')", 'there is no phase "mian": did you mean "main"?'),
    ("ne(^'late', state.phase)", 'there is no phase "late"'),
    ("eq(entity.owner, player(^'Ligth'))", 'there is no player "Ligth": did you mean "Light"?'),
    ("eq(entity.owner, player(^'White'))", 'there is no player "White"'),
    ("eq(entity.owner.name, ^'Drak')", 'there is no player "Drak": did you mean "Dark"?'),
    ("eq(entity.owner, player(^entity.owner.name))", "player wants a name in quotes"),
    ("eq(entity.schema, ^'Peice')", 'there is no type of entities "Peice": did you mean "Piece"?'),
    ("eq(start.name, ^'e1')", 'there is no place "e1"'),
    # Wrong numbers of arguments.
    ("^eq(1)", "eq takes 2 arguments, and has 1"),
    ("^eq()", "eq takes 2 arguments, and has none"),
    ("^eq(1, 2, 3)", "eq takes 2 arguments, and has 3"),
    ("gt(^sub(1), 0)", "sub takes 2 arguments, and has 1"),
    ("gt(^abs(1, 2), 0)", "abs takes one argument, and has 2"),
    ("gt(^abs(), 0)", "abs takes one argument, and has none"),
    ("^and()", "and takes 1 or more arguments, and has none"),
    ("^or()", "or takes 1 or more arguments, and has none"),
    ("^not()", "not takes one argument, and has none"),
    ("gt(^mul(), 0)", "mul takes 1 or more arguments, and has none"),
    ("gt(^add(), 0)", "add takes 1 or more arguments, and has none"),
    ("gt(^mod(1), 0)", "mod takes 2 arguments, and has 1"),
    ("^path_clear(start)", "path_clear takes 2 or 3 arguments, and has 1"),
    ("path_clear(start, target, ^target)", "argument 3 of path_clear must be a player, and this is a place"),
    ("gt(count_on_line(start, ^1), 1)", "argument 2 of count_on_line must be a place, and this is a number"),
    ("in_row(target, ^target.x)", "in_row wants a number that is known"),
    ("in_row(target, ^5)", "no line has a row of 5"),
    ("in_row(target, ^0)", "no line has a row of 0"),
    ("eq(only_between(start, target).^rnk, 'stone')", "Piece has no attribute rnk: did you mean rank?"),
    ("^adjacent(start, target, target)", "adjacent takes 2 arguments, and has 3"),
    ("eq(^mid_pos(start), start)", "mid_pos takes 2 arguments, and has 1"),
    ("eq(^other_player(), entity.owner)", "other_player takes one argument, and has none"),
    ("eq(^player('Light', 'Dark'), entity.owner)", "player takes one argument, and has 2"),
    ("eq(^node(), start)", "node takes 1 to 3 arguments, and has none"),
    ("eq(^node(1, 2, 3), start)", "a place of this board has 2 of x, y and z, and node has 3"),
    # Wrong kinds of arguments.
    ("gt(^entity.rank, 1)", "argument 1 of gt must be a number, and this is a text"),
    ("gt(1, ^'1')", "argument 2 of gt must be a number, and this is a text"),
    ("lt(^start, 1)", "argument 1 of lt must be a number, and this is a place"),
    ("gte(1, ^null)", "argument 2 of gte must be a number, and this is null"),
    ("lte(^true, 1)", "argument 1 of lte must be a number, and this is a condition"),
    ("and(^entity.rank, true)", "argument 1 of and must be a condition, and this is a text"),
    ("or(true, ^1)", "argument 2 of or must be a condition, and this is a number"),
    ("not(^entity)", "the argument of not must be a condition, and this is an entity"),
    ("gt(abs(^'x'), 0)", "the argument of abs must be a number, and this is a text"),
    ("gt(add(1, 2, ^start), 0)", "argument 3 of add must be a number, and this is a place"),
    ("path_clear(^entity, target)", "argument 1 of path_clear must be a place, and this is an entity"),
    ("path_clear(start, ^target.x)", "argument 2 of path_clear must be a place, and this is a number"),
    ("adjacent(^'a1', target)", "argument 1 of adjacent must be a place, and this is a text"),
    ("eq(other_player(^'Light'), entity.owner)", "the argument of other_player must be a player, and this is a text"),
    ("eq(player(^1), entity.owner)", "the argument of player must be a text, and this is a number"),
    ("eq(entity.rank, ^1)", "eq compares a text with a number, which are never equal"),
    ("eq(entity.owner, ^'Light')", "eq compares a player with a text, which are never equal"),
    ("ne(entity.moved, ^'true')", "ne compares a condition with a text, which are never equal"),
    ("eq(target, ^target.x)", "eq compares a place with a number, which are never equal"),
    ("eq(board[target], ^target)", "eq compares an entity with a place, which are never equal"),
    ("eq(entity.pos, ^entity)", "eq compares a place with an entity, which are never equal"),
    # What is no condition.
    ("^entity.rank", "this is a text and no condition"),
    ("^1", "this is a number and no condition"),
    ("^'true'", "this is a text and no condition"),
    ("^null", "this is null and no condition"),
    ("^sub(target.x, start.x)", "this is a number and no condition"),
    ("^board[target]", "this is an entity and no condition"),
    ("^mid_pos(start, target)", "this is a place and no condition"),
    ("^state.current_player", "this is a player and no condition"),
]

# --- effects ---

EFFECTS = [
    ("^entity", "this changes nothing"),
    ("^entity.moved", "this changes nothing"),
    ("^true", "this changes nothing"),
    ("^sub(state.count, 1)", "sub computes a value and changes nothing"),
    ("^eq(state.count, 1)", "eq computes a value and changes nothing"),
    ("^sett(entity.moved, true)", "there is no effect sett: did you mean set?"),
    ("^remove(entity)", "there is no effect remove: did you mean remove_entity?"),
    ("^capture(board[target])", "there is no effect capture"),
    ("^set(entity.moved)", "set takes 2 arguments, and has 1"),
    ("^set()", "set takes 2 arguments, and has none"),
    ("^if(entity.moved)", "if takes 2 or 3 arguments, and has 1"),
    ("^if(true, set(entity.moved, true), set(entity.moved, true), 1)", "if takes 2 or 3 arguments, and has 4"),
    ("^remove_entity()", "remove_entity takes one argument, and has none"),
    ("remove_entity(^target)", "remove_entity takes an entity, and this is a place"),
    ("remove_entity(^null)", "remove_entity takes an entity, and this is null"),
    ("if(^state.count, set(entity.moved, true))", "this is a number and no condition"),
    ("if(entity.moved, ^entity.moved)", "this changes nothing"),
    ("if(entity.moved, set(entity.moved, false), ^not(true))", "not computes a value and changes nothing"),
    ("if(eq(entity.^rnak, 'stone'), set(entity.moved, true))", "Piece has no attribute rnak: did you mean rank?"),
    ("set(^entity, null)", "nothing can be set here"),
    ("set(^board, null)", "nothing can be set here"),
    ("set(^state, null)", "nothing can be set here"),
    ("set(^start, target)", "nothing can be set here"),
    ("set(^'x', 1)", "nothing can be set here"),
    ("set(^mid_pos(start, target), entity)", "nothing can be set here"),
    ("set(start.^x, 1)", "a place of the board never changes"),
    ("set(entity.owner.^ahead, 1)", "what players have never changes"),
    ("set(entity.^schema, 'Piece')", "the type of an entity never changes"),
    ("set(entity.^rnk, 'wheel')", "Piece has no attribute rnk: did you mean rank?"),
    ("set(entity.rank, ^1)", "rank is a text, and this is a number"),
    ("set(entity.rank, ^wheel)", "there is no name wheel: did you mean the text 'wheel'?"),
    ("set(entity.moved, ^'yes')", "moved is a condition, and this is a text"),
    ("set(entity.owner, ^'Dark')", "owner is a player, and this is a text"),
    ("set(entity.owner, ^null)", "each entity has an owner"),
    ("set(entity.owner, player(^'Drak'))", 'there is no player "Drak": did you mean "Dark"?'),
    ("set(entity.pos, ^entity)", "pos is a place, and this is an entity"),
    ("set(entity.pos, ^null)", "pos is a place, and this is null"),
    ("set(board[target], ^'stone')", "a place of the board is an entity, and this is a text"),
    ("set(board[target], ^start)", "a place of the board is an entity, and this is a place"),
    ("set(board[^target.x], entity)", "the board is asked by place, and this is a number"),
    ("set(state.^cout, 1)", "the state has no variable cout: did you mean count?"),
    ("set(state.count, ^'1')", "count is a number, and this is a text"),
    ("set(state.count, ^4)", "count is never 4"),
    ("set(state.mode, ^'clam')", 'mode is never "clam": did you mean "calm"?'),
    ("set(state.mode, ^true)", "mode is a text, and this is a condition"),
    ("set(state.current_player, ^'Dark')", "current_player is a player, and this is a text"),
    ("set(state.phase, ^'mian')", 'there is no phase "mian": did you mean "main"?'),
    ("set(state.phase, ^1)", "phase is a text, and this is a number"),
    ("set(entity.rank.^x, 1)", "the value is a text, which has no attributes"),
]

# --- places of the setup, assets, players ---

OTHERS = [
    (PLACE, "^grid_nodes(0,1)", "grid_nodes takes four numbers"),
    (PLACE, "^grid_nodes(0,1, 0,'1')", "grid_nodes takes four numbers"),
    (PLACE, "^grid_nodes(0,1, 4,1)", "the places are not on the board"),
    (PLACE, "^grid_nodes(3,1, 0,1)", "the places are not on the board"),
    (PLACE, "^grid_nodes(-1,1, 0,1)", "the places are not on the board"),
    (PLACE, "^hex_nodes(0,1, 0,1)", "this board has grid_nodes"),
    (PLACE, "^grid_node(0,1, 0,1)", "this names no places: did you mean grid_nodes?"),
    (PLACE, "^a2", "this names no places"),
    (PLACE, "^'a2'", "this names no places"),
    (PLACE, "node(^'a5')", 'there is no place "a5"'),
    (PLACE, "^node(0, 4)", "the place is not on the board"),
    (PLACE, "^node(0, 1, 2)", "node takes a name, or the coordinates of a place"),
    (PLACE, "grid_nodes^(0,1", "the bracket ( is not closed"),
    (ASSET, "eq(entity.^colour, 'x')", "Piece has no attribute colour"),
    (ASSET, "eq(^target, null)", "target is not known here"),
    (ASSET, "eq(^state.mode, 'wild')", "state is not known here"),
    (ASSET, "^entity.rank", "this is a text and no condition"),
    (ASSET, "eq(entity.owner.name, ^'Light ')", 'there is no player "Light ": did you mean "Light"?'),
    (INITIAL, "player(^'Lihgt')", 'there is no player "Lihgt": did you mean "Light"?'),
    (INITIAL, "^Light", "the variable current_player must be a player"),
    (INITIAL, "^'Light'", "the variable current_player must be a player"),
    (OWNER, "player(^'Nobody')", 'there is no player "Nobody"'),
    (OWNER, "player^('Light'", "the bracket ( is not closed"),
]

EXPRESSIONS = [
    *((CONDITION, marked, message) for marked, message in CONDITIONS),
    *((EFFECT, marked, message) for marked, message in EFFECTS),
    *OTHERS,
]


def problem_of(data: Json) -> Problem:
    check = check_specification(json.dumps(data, indent=1, ensure_ascii=False))
    assert len(check.problems) == 1, [str(problem) for problem in check.problems]
    assert check.specification is None
    return check.problems[0]


@pytest.mark.parametrize(("pointer", "marked", "message"), EXPRESSIONS)
def test_a_wrong_expression_is_said_with_a_caret(pointer: str, marked: str, message: str) -> None:
    caret = marked.index("^")
    expression = marked.replace("^", "", 1)
    data = changed(pointer, expression)
    if pointer.endswith("-"):
        pointer = f"{pointer[:-1]}{len(at(data, pointer[:-2])) - 1}"
    found = problem_of(data)
    assert found.message == message
    assert (found.pointer, found.expression, found.at, found.code) == (pointer, expression, caret, "invalid")
    assert found.section == pointer.split("/")[1]
    assert found.action == ("step" if "/list/" in pointer else None)
    # Line and column are of that very character of the file.
    assert found.line is not None
    assert found.column is not None
    line = json.dumps(data, indent=1, ensure_ascii=False).split("\n")[found.line - 1]
    assert json.loads(f'"{line[found.column - 1 :].rstrip(",")}'.ljust(2, '"')) == expression[caret:]
    # So are the last lines of the message.
    *_, shown, mark = str(found).split("\n")
    assert (shown[4:], mark.index("^")) == (expression, 4 + caret)


MAIN = "/game_flow/phases/main"
PIECE = "/entity_schemas/types/Piece/attributes"
ASSETS = "/presentation/profiles/ascii/entity_assets"
END = "/end_conditions/conditions/0"

# --- JSON: pointer, new value, message, pointer of the place (None: the same) ---

SAME = None
CHANGES: list[tuple[str, Any, str, str | None]] = [
    ("/metadata", REMOVED, "the specification lacks metadata", ""),
    ("/players", REMOVED, "the specification lacks players", ""),
    ("/entity_schemas", REMOVED, "the specification lacks entity_schemas", ""),
    ("/topology", REMOVED, "the specification lacks topology", ""),
    ("/interactions", REMOVED, "the specification lacks interactions", ""),
    ("/game_flow", REMOVED, "the specification lacks game_flow", ""),
    ("/interaction", {}, 'the specification has no "interaction": did you mean interactions?', SAME),
    ("/rules", {}, 'the specification has no "rules"', SAME),
    ("/metadata", [], "metadata must be an object", SAME),
    ("/metadata/name", REMOVED, "metadata lacks name", "/metadata"),
    ("/metadata/name", 1, "name of metadata must be text", SAME),
    ("/metadata/name", "", "this is no name for a game", SAME),
    ("/metadata/name", "a\x1b[2Jb", "this is no name for a game", SAME),
    ("/metadata/tags", "one", "tags must be an array", SAME),
    ("/metadata/tags/0", 1, "a tag must be text", SAME),
    ("/metadata/nam", "x", 'metadata has no "nam": did you mean name?', SAME),
    ("/players/roles/0/name", REMOVED, "a role lacks name", "/players/roles/0"),
    ("/players/roles/0/name", 5, "name of a role must be text", SAME),
    ("/players/roles/1/name", " Dark", "this is no name for a player", SAME),
    ("/players/roles/1/name", "the \"o'clock\"", "this is no name for a player", SAME),
    ("/players/roles/0/atributes", {}, 'a role has no "atributes": did you mean attributes?', SAME),
    ("/players/roles/0/attributes", [], "attributes must be an object of names", SAME),
    ("/players/roles/0/attributes/two words", 1, "no expression can say the name of this attribute", SAME),
    ("/players/roles/0/attributes/null", 1, "no expression can say the name of this attribute", SAME),
    ("/players/roles/0/attributes/name", 1, "the name name has a meaning already", SAME),
    ("/players/roles/0/attributes/path", [1, 2], "an attribute of a player must be a single value", SAME),
    ("/players/roles/0/attributes/half", 0.5, "only whole numbers are possible", SAME),
    ("/players/roles/0/attributes/huge", 10**10, "the number is out of range", SAME),
    ("/players/count", "two", "the count of players must be a number", SAME),
    ("/players/count/min", None, "the count of players must be a number", SAME),
    ("/players/count/least", 2, 'count has no "least"', SAME),
    ("/players/dynamic_roles", "no", "dynamic_roles of players must be true or false", SAME),
    ("/entity_schemas/types", REMOVED, "entity_schemas lacks types", "/entity_schemas"),
    ("/entity_schemas/types/Piece", 1, "the type Piece must be an object", SAME),
    ("/entity_schemas/types/Piece/atributes", {}, 'the type Piece has no "atributes": did you mean attributes?', SAME),
    (f"{PIECE}/pos", {"type": "int"}, "the name pos has a meaning already", SAME),
    (f"{PIECE}/a-b", {"type": "int"}, "no expression can say the name of this attribute", SAME),
    (f"{PIECE}/rank/type", "strng", 'there is no type "strng": did you mean string?', SAME),
    (f"{PIECE}/rank/type", "float", 'there is no type "float"', SAME),
    (f"{PIECE}/rank/type", 1, "type of the attribute rank must be text", SAME),
    (f"{PIECE}/rank/default", 1, "the attribute rank is of type string", SAME),
    (f"{PIECE}/moved/default", "no", "the attribute moved is of type bool", SAME),
    (f"{PIECE}/rank/defualt", "x", 'the attribute rank has no "defualt": did you mean default?', SAME),
    (f"{PIECE}/owner/type", "string", "owner must be a player", SAME),
    ("/topology/type", "discreet", 'there is no topology "discreet": did you mean discrete?', SAME),
    ("/topology/type", 1, "there is no topology 1", SAME),
    ("/topology/type", REMOVED, "topology lacks type", "/topology"),
    ("/topology/structure", REMOVED, "topology lacks structure", "/topology"),
    ("/topology/structure", 8, "structure of topology must be text", SAME),
    ("/topology/structure", "gird(4, 4)", "the structure of the board cannot be read: did you mean grid?", SAME),
    ("/topology/structure", "grid(4)", "the structure of the board cannot be read", SAME),
    ("/topology/structure", "grid(4, x)", "the structure of the board cannot be read", SAME),
    ("/topology/structure", "grid(4, -4)", "the structure of the board cannot be read", SAME),
    ("/topology/structure", "grid(0, 4)", "the board is of no possible size", SAME),
    ("/topology/structure", "grid(100, 100)", "the board is of no possible size", SAME),
    ("/topology/structure", f"grid({'9' * 9000}, 4)", "the board is of no possible size", SAME),
    ("/topology/coordinate_system", "axial", "the coordinates of grid are cartesian", SAME),
    ("/topology/nodes", {}, 'topology has no "nodes"', SAME),
    ("/topology", [], "topology must be an object", SAME),
    ("/state_schema/globals", {}, 'state_schema has no "globals": did you mean global?', SAME),
    ("/state_schema/global", [], "global must be an object of names", SAME),
    ("/state_schema/global/x y", {"type": "int"}, "no expression can say the name of this variable", SAME),
    ("/state_schema/global/phase", {"type": "string"}, "the name phase has a meaning already", SAME),
    ("/state_schema/global/count", 3, "the variable count must be an object", SAME),
    ("/state_schema/global/count/type", REMOVED, "the variable count lacks type", "/state_schema/global/count"),
    ("/state_schema/global/count/type", "integer", 'there is no type "integer": did you mean int?', SAME),
    ("/state_schema/global/count/initial", "0", "the variable count is of type int", SAME),
    ("/state_schema/global/count/initial", 7, "initial of the variable count is not one of its values", SAME),
    ("/state_schema/global/count/max", -1, "max of the variable count is less than its min", SAME),
    ("/state_schema/global/count/max", 256, "there are too many values", SAME),
    ("/state_schema/global/count/max", "3", "max of the variable count must be a number", SAME),
    ("/state_schema/global/count/max", REMOVED, "the variable count has one limit alone", "/state_schema/global/count"),
    ("/state_schema/global/count/values", [0, 1], "the variable count has values and limits", SAME),
    ("/state_schema/global/mode/min", 0, "the variable mode is of type string, which has no min", SAME),
    ("/state_schema/global/mode/values/1", "calm", "the value stands twice", SAME),
    ("/state_schema/global/mode/values/1", 1, "the variable mode is of type string", SAME),
    ("/state_schema/global/mode/initial", "clam", "initial of the variable mode is not one of its values", SAME),
    ("/state_schema/global/current_player/type", "string", "current_player is a player", SAME),
    ("/state_schema/global/current_player/initial", 1, "the variable current_player must be a player", SAME),
    ("/setup/steps", REMOVED, "setup lacks steps", "/setup"),
    ("/setup/steps", {}, "steps must be an array", SAME),
    ("/setup/steps/0", "spawn", "a step of the setup must be an object", SAME),
    ("/setup/steps/0/action", REMOVED, "a step of the setup lacks action", "/setup/steps/0"),
    ("/setup/steps/0/action", "spawn", "there is no such step of a setup", SAME),
    ("/setup/steps/0/schema", "Pieces", 'there is no type "Pieces": did you mean Piece?', SAME),
    ("/setup/steps/0/schema", REMOVED, "spawn_entity lacks schema", "/setup/steps/0"),
    ("/setup/steps/0/at", REMOVED, "spawn_entity lacks at", "/setup/steps/0"),
    ("/setup/steps/0/at", "grid_nodes(0,0, 3,0)", "at must be an array", SAME),
    ("/setup/steps/0/count", 5, "count is 5, but `at` names 4 places", SAME),
    ("/setup/steps/0/count", "4", "count must be a number", SAME),
    ("/setup/steps/0/set_attributes/rnak", "x", 'Piece has no attribute "rnak": did you mean rank?', SAME),
    ("/setup/steps/0/set_attributes/rank", 1, "the attribute rank is of type string", SAME),
    ("/setup/steps/0/set_attributes/moved", "no", "the attribute moved is of type bool", SAME),
    ("/setup/steps/0/set_attributes/owner", REMOVED, "these entities have no owner", "/setup/steps/0"),
    ("/setup/steps/0/colour", "x", 'spawn_entity has no "colour"', SAME),
    ("/setup/steps/1/at/0", "grid_nodes(0,0, 0,0)", "a1 is taken already, at /setup/steps/0/at/0", SAME),
    ("/setup/steps/1/at/0", 5, "a place of the setup must be an expression", SAME),
    ("/interactions/list", [], "list must be an object of names", SAME),
    ("/interactions/list", REMOVED, "interactions lacks list", "/interactions"),
    ("/interactions/list/step", [], "the action step must be an object", SAME),
    (EACH, {"rank": {"type": "bool"}}, "the name rank has a meaning already", f"{EACH}/rank"),
    (EACH, {"on": {"type": "bool", "of": 1}}, 'the variable on of each player has no "of"', f"{EACH}/on/of"),
    (DEFINITIONS, [], "definitions must be an object of names", SAME),
    (DEFINITIONS, {"near": "target"}, "this is no name with parameters", f"{DEFINITIONS}/near"),
    (DEFINITIONS, {"near(a, a)": "target"}, "a parameter stands twice", f"{DEFINITIONS}/near(a, a)"),
    (DEFINITIONS, {"near(eq)": "target"}, "the name eq has a meaning already", f"{DEFINITIONS}/near(eq)"),
    (DEFINITIONS, {"node()": "target"}, "the name node has a meaning already", f"{DEFINITIONS}/node()"),
    (DEFINITIONS, {"near()": 1}, "the definition of near must be an expression", f"{DEFINITIONS}/near()"),
    ("/interactions/list/slide/conditions", REMOVED, "the action slide lacks conditions", "/interactions/list/slide"),
    ("/interactions/list/slide/effects", REMOVED, "the action slide lacks effects", "/interactions/list/slide"),
    ("/interactions/list/slide/effects", "set(entity.moved, true)", "effects must be an array", SAME),
    ("/interactions/list/slide/conditions", {"a": "b"}, "conditions must be an array", SAME),
    ("/interactions/list/slide/conditions/0", None, "a condition must be an expression", SAME),
    ("/interactions/list/slide/effects/0", {}, "an effect must be an expression", SAME),
    ("/interactions/list/slide/chainable", "yes", "chainable of the action slide must be true or false", SAME),
    ("/interactions/list/slide/chanable", True, 'the action slide has no "chanable": did you mean chainable?', SAME),
    ("/interactions/list/slide/end_turn", False, "an effect says that the turn does not end", SAME),
    ("/interactions/list/slide/end_turn", 1, "end_turn of the action slide must be true or false", SAME),
    ("/game_flow/phases", REMOVED, "game_flow lacks phases", "/game_flow"),
    ("/game_flow/phases", [], "phases must be an object of names", SAME),
    ("/game_flow/phases", {}, "there is no phase", SAME),
    ("/game_flow/phases/main", None, "the phase main must be an object", SAME),
    (f"{MAIN}/allowed_actions", REMOVED, "the phase main lacks allowed_actions", MAIN),
    (f"{MAIN}/allowed_actions", "step", "allowed_actions must be an array", SAME),
    (f"{MAIN}/allowed_actions/0", "sttep", 'there is no action "sttep": did you mean "step"?', SAME),
    (f"{MAIN}/allowed_actions/0", "...", 'there is no action "..."', SAME),
    (f"{MAIN}/allowed_actions/0", 1, "the name of an action must be text", SAME),
    (f"{MAIN}/allowed_actions/1", "step", 'the action "step" stands twice', SAME),
    (f"{MAIN}/actors", 1, "actors of the phase main must be text", SAME),
    (f"{MAIN}/alowed", [], 'the phase main has no "alowed"', SAME),
    ("/game_flow/initial_phase", "mian", 'there is no phase "mian": did you mean "main"?', SAME),
    ("/game_flow/initial_phase", 1, "initial_phase of game_flow must be text", SAME),
    ("/game_flow/time_model", 1, "time_model of game_flow must be text", SAME),
    ("/end_conditions", [], "end_conditions must be an object", SAME),
    ("/end_conditions", {"conditions": [{"type": "victory"}]}, "an end condition lacks condition", END),
    ("/end_conditions", {"conditions": [{"condition": "f(p)"}]}, "an end condition lacks type", END),
    ("/presentation/profiles/ascii/assets", [], 'the profile ascii has no "assets": did you mean entity_assets?', SAME),
    (f"{ASSETS}/0/asset", 1, "asset of an asset must be text", SAME),
    (f"{ASSETS}/0/conditions", REMOVED, "an asset lacks conditions", f"{ASSETS}/0"),
    (f"{ASSETS}/0/conditions", [], "the condition of an asset must be an expression", SAME),
    ("/presentation/profiles/ascii/topology_assets/empty", 1, "the asset empty must be text", SAME),
    ("/presentation/profiles", [], "profiles must be an object of names", SAME),
]  # fmt: skip


@pytest.mark.parametrize(("pointer", "value", "message", "place"), CHANGES)
def test_a_wrong_member_is_said_with_its_place(pointer: str, value: Any, message: str, place: str | None) -> None:
    data = changed(pointer, value)
    text = json.dumps(data, indent=1)
    check = check_specification(text)
    first = [problem for problem in check.problems if problem.message == message]
    assert first, [str(problem) for problem in check.problems]
    assert first[0].pointer == (pointer if place is None else place)
    assert first[0].line is not None
    assert check.specification is None
    # A mistake brings few others with it, and none where nothing could depend on what is wrong.
    assert len(check.problems) <= 40
    # The key or the value stands where it is said to be.
    line = text.split("\n")[first[0].line - 1]
    where = line[(first[0].column or 0) - 1 :]
    last = first[0].pointer.rpartition("/")[2]
    key, before = f"{json.dumps(last)}: ", line[: (first[0].column or 0) - 1]
    assert where.startswith(key) or before.endswith(key) or not before.strip(), (line, where)


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("", "the text ends too early", 1, 1),
        ("{", "the JSON is broken", 1, 2),
        ("[]", "a specification is an object", 1, 1),
        ("null", "a specification is an object", 1, 1),
        ('"x"', "a specification is an object", 1, 1),
        ('{"metadata": NaN}', "NaN is not JSON", 1, 14),
        ('{"metadata": {"name": "a"},\n "metadata": {}}', "the key stands twice in one object", 2, 2),
        ('{"metadata": {"name": "a", "name": "b"}}', "the key stands twice in one object", 1, 28),
        ('{"metadata": 1e99}', "the number is out of range", 1, 14),
        ('{"metadata": "\\ud800"}', "the text has a character that no database keeps", 1, 14),
        ('{"meta\\u0000data": 1}', "the text has a character that no database keeps", 1, 2),
        ("[" * 70, "the text is nested too deeply", 1, 65),
        ("\ufeff[]", "a specification is an object", 1, 1),
    ],
)
def test_text_that_is_no_json_is_wrong_at_a_place(text: str, message: str, line: int, column: int) -> None:
    problems = check_specification(text).problems
    assert (message, line, column) in [(each.message, each.line, each.column) for each in problems]


def test_bytes_that_are_no_text_are_wrong_at_a_place() -> None:
    [problem] = check_specification(b'{\n "name": "\xff"}').problems
    assert (problem.message, problem.line, problem.column) == ("the text is not UTF-8", 2, 11)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (" " * (2 * 1024 * 1024 + 1), "the specification is larger than 2,097,152 characters"),
        (b" " * (2 * 1024 * 1024 + 1), "the specification is larger than 2,097,152 bytes"),
        (changed("/metadata/description", "x" * 20_001), "the text is too long"),
        (changed("/metadata/" + "x" * 300, 1), "the text is too long"),
        (changed("/metadata/name", {1: 2}), "a key is not text"),
        (changed("/metadata/name", {1, 2}), "this is no JSON value"),
        (changed("/metadata/tags", ["x"] * 1_001), "tags: too many"),
        (
            changed("/players/roles/0/attributes", {f"a{number}": 1 for number in range(1_001)}),
            "attributes: too many",
        ),
        (changed("/state_schema/global/mode/values", [*map(str, range(257))]), "there are too many values"),
    ],
    ids=["characters", "bytes", "text", "key", "key of another type", "set", "tags", "attributes", "values"],
)  # fmt: skip
def test_what_is_too_large_or_no_json_is_refused(data: Any, message: str) -> None:
    assert message in [problem.message for problem in check_specification(data).problems]


def test_a_call_of_a_definition_fits_it_and_says_where_it_does_not() -> None:
    data = changed(
        "/interactions/definitions", {"is_far(place, by)": "gt(place.y, by)", "far(by)": "is_far(target, by)"}
    )
    conditions = data["interactions"]["list"]["step"]["conditions"]
    for condition, place, message in (
        ("not(far())", 4, "far is called with 0 arguments"),
        ("not(far('x'))", 8, "argument 2 of gt must be a number, and this is a text"),
        ("not(is_far(entity, 1))", 4, "Piece has no attribute y"),
        ("not(fra(1))", 4, "there is no function fra"),
    ):
        conditions[-1:] = [condition]
        [problem] = check_specification(data).problems
        assert (problem.at, problem.message) == (place, message)
    conditions[-1:] = ["far(1)"]
    assert check_specification(data).is_valid


def test_definitions_do_not_make_ever_larger_expressions() -> None:
    doubling = {f"d{n}(a)": f"add(d{n - 1}(a), d{n - 1}(a))" for n in range(1, 40)}
    data = changed("/interactions/definitions", {"d0(a)": "a", **doubling})
    assert {each.message for each in check_specification(data).problems} == {
        "with its definitions the expression is too large"
    }


def test_objects_that_hold_themselves_are_too_deep() -> None:
    endless: Json = {}
    endless["metadata"] = endless
    assert "nested too deeply" in check_specification(endless).problems[0].message


def test_a_decoded_specification_is_read_as_its_text() -> None:
    assert check_specification(tiny()).is_valid
    [problem] = check_specification(changed(CONDITION, "eq(entity.rnk, 'x')")).problems
    assert (problem.line, problem.column, problem.at) == (None, None, 10)


NETWORKS = [
    ("/topology/edges/0/to", "Hil", 'there is no node "Hil": did you mean "Hill"?'),
    (
        "/topology/edges/0/kind",
        "special-connection",
        '"special-connection" is the kind of an ordinary edge: did you mean "special_connection"?',
    ),
    ("/topology/edges/0/to", REMOVED, "an edge lacks to"),
    ("/topology/edges/0/from", 1, "from of an edge must be text"),
    ("/topology/edges/0/weight", 1, 'an edge has no "weight"'),
    ("/topology/edges/1/directed", 1, "directed of an edge must be true or false"),
    ("/topology/edges", {}, "edges must be an array"),
    ("/topology/nodes", {}, "there are no places"),
    ("/topology/nodes/*", {}, "* is the hand and no place"),
    ("/topology/nodes/", {}, "this is no name for a node"),
    ("/topology/nodes/Bay", 1, "the node Bay must be an object of names"),
    ("/topology/nodes/Bay/size", [1], "an attribute of a node must be a single value"),
    ("/topology/nodes/Bay/name", "x", "the name name has a meaning already"),
    ("/topology/structure", "grid(4, 4)", 'topology has no "structure"'),
    ("/setup/steps/0/at/0", "node('Hil')", 'there is no place "Hil": did you mean "Hill"?'),
    ("/setup/steps/0/at/0", "grid_nodes(0,0, 1,1)", "a network has no grid_nodes"),
    ("/setup/steps/0/at/0", "nodes('Bay Hil')", 'there is no place "Hil": did you mean "Hill"?'),
    ("/setup/steps/0/at/0", "nodes('')", "this names no places"),
    ("/topology/lines", ["Bay Hil"], 'there is no node "Hil": did you mean "Hill"?'),
    ("/topology/lines", ["Bay"], "a line joins two nodes or more, each once"),
    ("/topology/lines", ["Bay Hill Bay"], "a line joins two nodes or more, each once"),
    ("/topology/lines", [["Bay", "Hill"]], "a line must be text"),
    (CONDITION, "path_clear(start, target)", "a network has no lines, which path_clear asks for"),
    (CONDITION, "in_row(target, 3)", "a network has no lines, which in_row asks for"),
    (CONDITION, "eq(mid_pos(start, target), null)", "a network has no lines, which mid_pos asks for"),
    (CONDITION, "eq(target.x, 1)", "no node has an attribute x"),
    (CONDITION, "eq(target.coats, true)", "no node has an attribute coats: did you mean coast?"),
    (CONDITION, "eq(target.coast, 1)", "eq compares a condition with a number, which are never equal"),
    (CONDITION, "eq(target.name, 'bay')", 'there is no place "bay": did you mean "Bay"?'),
    (CONDITION, "eq(board[node(0, 1)], null)", "a network has no coordinates"),
]


@pytest.mark.parametrize(("pointer", "value", "message"), NETWORKS)
def test_what_is_wrong_with_a_network_is_said(pointer: str, value: Any, message: str) -> None:
    problems = check_specification(changed(pointer, value, network())).problems
    assert message in [problem.message for problem in problems]


@pytest.mark.parametrize(
    ("pointer", "value", "message"),
    [
        ("/topology/coordinate_system", "offset", "the coordinates of hex_grid are axial"),
        ("/topology/structure", "hexgrid(4, 4)", "the structure of the board cannot be read: did you mean hex_grid?"),
        ("/setup/steps/0/at/0", "grid_nodes(0,0, 3,0)", "this board has hex_nodes"),
        ("/setup/steps/0/at/0", "hex_nodes(0,0, 4,0)", "the places are not on the board"),
        (CONDITION, "eq(target.s, 1)", "a place of the board has no attribute s"),
    ],
)
def test_what_is_wrong_with_hexagons_is_said(pointer: str, value: Any, message: str) -> None:
    assert message in [problem.message for problem in check_specification(changed(pointer, value, hexes())).problems]


@pytest.mark.parametrize(
    ("board", "pointer", "value", "message"),
    [
        (track, "/topology/type", "tracks", 'there is no topology "tracks": did you mean track?'),
        (track, "/topology/length", "9", "the length of a track must be a number"),
        (track, "/topology/length", True, "the length of a track must be a number"),
        (track, "/topology/length", 0, "the board is of no possible size"),
        (track, "/topology/length", 10**9, "the board is of no possible size"),
        (track, "/topology/length", REMOVED, "topology lacks length"),
        (track, "/topology/loop", "yes", "loop of topology must be true or false"),
        (track, "/setup/steps/0/at/0", "grid_nodes(0,0, 1,1)", "this board has track_nodes"),
        (track, "/setup/steps/0/at/0", "track_nodes(0)", "track_nodes takes two numbers"),
        (track, "/setup/steps/0/at/0", "track_nodes(0, 9)", "the places are not on the board"),
        (track, "/setup/steps/0/at/0", "node(9)", "the place is not on the board"),
        (track, "/setup/steps/0/at/0", "node(0, 1)", "node takes a name, or the coordinates of a place"),
        (track, CONDITION, "eq(target.y, 1)", "a place of the board has no attribute y"),
        (track, CONDITION, "eq(node(1, 2), target)", "a place of this board has 1 of x, y and z, and node has 2"),
        (track, CONDITION, "eq(node(entity), target)", "the argument of node must be a number, and this is an entity"),
        (cube, "/topology/structure", "grid(3)", "the structure of the board cannot be read"),
        (cube, "/topology/structure", "grid(3, 3, 3, 3)", "the structure of the board cannot be read"),
        (cube, "/topology/structure", "hex_grid(3, 3, 3)", "the structure of the board cannot be read"),
        (cube, "/topology/structure", "grid(30, 30, 30)", "the board is of no possible size"),
        (cube, "/topology/structure", "grid(3, 3, 0)", "the board is of no possible size"),
        (cube, "/setup/steps/0/at/0", "grid_nodes(0,0, 1,1)", "grid_nodes takes six numbers"),
        (cube, "/setup/steps/0/at/0", "grid_nodes(0,0,0, 0,0,3)", "the places are not on the board"),
        (cube, CONDITION, "eq(node(1, 2), target)", "a place of this board has 3 of x, y and z, and node has 2"),
    ],
)
def test_what_is_wrong_with_a_track_or_a_cube_is_said(
    board: Callable[[], Json], pointer: str, value: Any, message: str
) -> None:
    assert check_specification(board()).problems == ()
    assert message in [problem.message for problem in check_specification(changed(pointer, value, board())).problems]


def test_of_several_phases_one_is_the_first() -> None:
    data = changed("/game_flow/phases/late", {"allowed_actions": ["slide"]})
    assert check_specification(data).is_valid
    del data["game_flow"]["initial_phase"]
    assert (problem_of(data).message, problem_of(data).pointer) == ("game_flow lacks initial_phase", "/game_flow")


@pytest.mark.parametrize(
    ("condition", "allowed"),
    [
        ("eq(other_player('Light'), entity.owner)", "player('Name'), entity.owner, ..."),
        ("eq(entity.owner, 'Light')", "player('Name'), or the text of .name"),
        ("eq(other_player(1), entity.owner)", None),
        ("gt('1', 1)", None),
        ("sub(1, 2)", "eq(...), and(...), not(...), ..."),
        ("eq(mul(), 1)", "mul(a, ...)"),
        ("eq(zzz, 1)", "start, target, entity, board, state"),
    ],
)
def test_a_mistake_is_said_with_its_cure(condition: str, allowed: str | None) -> None:
    assert problem_of(changed(CONDITION, condition)).allowed == allowed


def test_an_attribute_that_one_player_lacks_is_not_asked_for() -> None:
    data = changed("/players/roles/1/attributes/ahead", REMOVED)
    assert problem_of(data).message == "the player Dark has no attribute ahead"


def test_an_attribute_of_one_type_is_asked_for_under_a_condition_on_the_type() -> None:
    data = tiny()
    data["entity_schemas"]["types"]["Wall"] = {
        "attributes": {"owner": {"type": "player_ref"}, "height": {"type": "int", "default": 1}}
    }
    conditions = data["interactions"]["list"]["step"]["conditions"]
    for action in data["interactions"]["list"].values():
        action["conditions"].insert(0, "eq(entity.schema, 'Piece')")
    assets = data["presentation"]["profiles"]["ascii"]["entity_assets"]
    assets[0]["conditions"] = f"and(eq(entity.schema, 'Piece'), {assets[0]['conditions']})"
    assert check_specification(data).problems == ()
    conditions.append("eq(board[target].height, 1)")
    assert problem_of(data).message == "entities of type Piece have no attribute height"
    conditions[-1] = "and(eq(board[target].schema, 'Wall'), eq(board[target].height, 1))"
    assert check_specification(data).problems == ()
    conditions[-1] = "or(eq(board[target], null), and(eq(board[target].schema, 'Wall'), eq(board[target].height, 1)))"
    assert check_specification(data).problems == ()
    conditions[-1] = "or(eq(board[target].schema, 'Wall'), eq(board[target].height, 1))"
    assert problem_of(data).message == "entities of type Piece have no attribute height"
    conditions[-1] = "eq(entity.height, 1)"
    assert problem_of(data).message == "Piece has no attribute height"
    conditions.pop()
    effects = data["interactions"]["list"]["slide"]["effects"]
    effects[0] = "if(eq(board[target].schema, 'Wall'), set(board[target].height, 0))"
    assert check_specification(data).problems == ()
    effects[0] = "if(eq(board[target].schema, 'Wall'), remove_entity(entity), set(board[target].height, 0))"
    assert problem_of(data).message == "entities of type Piece have no attribute height"


def test_all_problems_are_said_at_once_and_in_the_order_of_the_text() -> None:
    data = tiny()
    for pointer, value in (
        ("/players/roles/0/attributes/half", 0.5),
        ("/setup/steps/0/count", 5),
        (CONDITION, "eq(entity.rnk, zzz)"),
        ("/interactions/list/slide/effects/0", "foo(1, "),
        ("/game_flow/initial_phase", "x"),
    ):
        data = changed(pointer, value, data)
    check = check_specification(json.dumps(data, indent=1))
    # A number that cannot be read leaves the rest unread.
    assert [problem.message for problem in check.problems] == ["only whole numbers are possible"]
    data = changed("/players/roles/0/attributes/half", 5, data)
    check = check_specification(json.dumps(data, indent=1))
    assert [problem.message for problem in check.problems] == [
        "count is 5, but `at` names 4 places",
        "Piece has no attribute rnk: did you mean rank?",
        "there is no name zzz",
        "the expression ends too early",
        'there is no phase "x"',
    ]


def test_reading_raises_with_all_problems() -> None:
    data = changed(CONDITION, "eq(entity.rnk, zzz)")
    with pytest.raises(SpecificationError) as caught:
        read_specification(json.dumps(data), "tiny.json")
    assert len(caught.value.problems) == 2
    assert str(caught.value).count("tiny.json:1:") == 2
    assert read_specification(json.dumps(tiny())).title == "Tiny"


def test_names_that_would_act_on_a_terminal_are_escaped() -> None:
    data = changed(CONDITION, "eq(entity.rank, '\x1b[2J').\u202eevil")
    data = changed("/interactions/list/st\x1bep", {}, data)
    for problem in check_specification(json.dumps(data)).problems:
        assert "\x1b" not in str(problem)
        assert "\u202e" not in str(problem)


@pytest.mark.parametrize(("text", "column"), [("王", 2), ("e\u0301", 1), ("\u00e9", 1), ("\t", 2), ("\U0001f600", 2)])
def test_the_caret_stands_under_its_character_on_a_terminal(text: str, column: int) -> None:
    problem = problem_of(changed(CONDITION, f"eq('{text}', zzz)"))
    assert str(problem).split("\n")[-1] == " " * (4 + len("eq('', ") + column) + "^"


def test_a_long_expression_is_shown_around_the_caret() -> None:
    problem = problem_of(changed(CONDITION, f"and({', '.join(['true'] * 500)}, zzz, {', '.join(['true'] * 500)})"))
    *_, shown, mark = str(problem).split("\n")
    assert (len(shown), shown[mark.index("^") :][:3]) == (4 + 3 + 200 + 3, "zzz")
    assert shown.startswith("    ...")
    assert shown.endswith("...")


def test_the_syntax_of_end_conditions_is_checked_and_their_names_are_the_host_s() -> None:
    data = tiny()
    data["end_conditions"] = {"conditions": [{"type": "draw", "for": "player(p)", "condition": "king_gone(p"}]}
    assert problem_of(data).message == "the bracket ( is not closed"
    data["end_conditions"]["conditions"][0]["condition"] += ")"
    assert check_specification(data).is_valid


def test_escapes_in_json_do_not_move_the_column() -> None:
    data = changed(CONDITION, 'eq("\\ \u00e9\U0001f600", entity.rnk)')
    text = json.dumps(data, indent=1)
    [problem] = check_specification(text).problems
    assert text.split("\n")[(problem.line or 0) - 1][(problem.column or 0) - 1 :].startswith("rnk)")


# --- mutations ---


def mutate(text: str, rng: random.Random) -> str:
    """The text with one to three small accidents: characters gone, doubled, swapped, replaced, or parts moved."""
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(text))
        other = rng.randrange(len(text))
        length = rng.choice([1, 1, 2, 5, 30])
        match rng.randrange(6):
            case 0:
                text = text[:place] + text[place + length :]
            case 1:
                text = text[:place] + text[place : place + length] * 2 + text[place + length :]
            case 2:
                text = text[:place] + text[other : other + length] + text[place + length :]
            case 3:
                text = text[:place] + rng.choice("{}[](),.:'\"\\0-eE \n\x00\x1b\ud800é*") + text[place + 1 :]
            case 4:
                text = text[:place] + rng.choice(WORDS) + text[place:]
            case 5:
                found = [match.span() for match in re.finditer(r"\w+", text)]
                start, end = rng.choice(found)
                text = text[:start] + rng.choice(WORDS) + text[end:]
    return text


WORDS = (
    "null", "true", "entity", "start", "target", "board", "state", "set", "if", "eq", "sub", "player", "Light", "owner",
    "rank", "main", "step", "zone", "-1", "99999999999999", "grid", "node", "x", "1e400", "NaN", '"', "'", "\\u0000",
)  # fmt: skip


def mutants(seed: int, count: int) -> Iterator[str]:
    rng = random.Random(seed)
    texts = [json.dumps(make(), indent=rng.choice([None, 1])) for make in (tiny, network, hexes)]
    for _ in range(count):
        yield mutate(rng.choice(texts), rng)


OTHER = object()


def replaced(seed: int, count: int) -> Iterator[Json]:
    """Specifications with one to three values replaced by others, most of them of a wrong type."""
    rng = random.Random(seed)
    makes: list[Callable[[], Json]] = [tiny, network, hexes]
    for _ in range(count):
        data = rng.choice(makes)()
        for _ in range(rng.randint(1, 3)):
            pointers = [*walk(data, "")]
            pointer = rng.choice(pointers)
            value = rng.choice(
                (None, True, 0, -1, 10**12, 1.5, "", "x", "a.b", "eq(", [], {}, [[]], {"": 0}, REMOVED, "null", OTHER)
            )
            value = at(data, rng.choice(pointers)) if value is OTHER else value
            data = changed(pointer, value, json.loads(json.dumps(data)))
        yield data


def walk(data: Any, pointer: str) -> Iterator[str]:
    members = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in members:
        if "/" not in str(key):
            yield f"{pointer}/{key}"
            yield from walk(value, f"{pointer}/{key}")


def assert_clear(data: str | Json) -> bool:
    """That checking gives problems with places, or a specification; the answer is whether it is one."""
    check = check_specification(data)
    assert (check.specification is None) is bool(check.problems)
    for problem in (*check.problems, *check.findings):
        assert problem.message
        assert str(problem).isprintable() or all(line.isprintable() for line in str(problem).split("\n"))
        if isinstance(data, str):
            assert problem.line is not None or problem.pointer == "" or problem.message.endswith("too deeply")
    return check.is_valid


def sweep(seed: int, count: int) -> None:
    valid = sum(map(assert_clear, mutants(seed, count))) + sum(map(assert_clear, replaced(seed, count)))
    # Most accidents are mistakes, and not every one is: texts and numbers may change.
    assert 0 < valid < count


def test_accidents_end_in_clear_problems() -> None:
    sweep(7, 250)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_many_accidents_end_in_clear_problems(seed: int) -> None:
    sweep(1000 + seed, 1_500)


def test_the_tables_hold_two_hundred_mistakes() -> None:
    assert len(EXPRESSIONS) + len(CHANGES) + len(NETWORKS) >= 300


@pytest.mark.parametrize("section", ["metadata", "presentation", "conditions"])
def test_of_very_many_problems_the_first_thousand_are_said(section: str) -> None:
    data = tiny()
    if section == "conditions":
        data["interactions"]["list"]["step"]["conditions"] = [f"eq(zz{number}, 1)" for number in range(999)]
        data["interactions"]["list"]["slide"]["conditions"] = [f"eq(zz{number}, 1)" for number in range(999)]
    else:
        data[section] |= {f"zz{number}": 1 for number in range(3_000)}
    problems = check_specification(json.dumps(data)).problems
    assert len(problems) == 1_001
    assert problems[-1].message == (
        "there are 1,000 problems or more (--limit problems=N allows more): the rest was not looked at"
    )


HANDS = [
    ("/interactions/list/step/from_hand", "yes", "from_hand of the action step must be true or false"),
    ("/interactions/list/step/from_hand", True, "start is not known here"),
    ("/setup/steps/0/at", ["hand"], "count says how many are in the hand"),
    ("/setup/steps/0/at/-", "hand", "this names no places"),
]


@pytest.mark.parametrize(("pointer", "value", "message"), HANDS)
def test_what_is_wrong_with_hands_is_said(pointer: str, value: Any, message: str) -> None:
    data = tiny()
    data["setup"]["steps"][0].pop("count", None)
    found = check_specification(changed(pointer, value, data)).problems
    assert message in {problem.message for problem in found}


@pytest.mark.parametrize(
    ("pointer", "value", "message"),
    [
        (CONDITION, "eq(entity.mood, 'sad')", "mood is a variable of each player"),
        (CONDITION, "eq(state.mood, 'sad')", "mood is a variable of each player"),
        (CONDITION, "eq(board[target].mood, 'sad')", "mood is a variable of each player"),
        (CONDITION, "eq(entity.owner.mod, 'sad')", "players have no attribute mod: did you mean mood?"),
        (
            "/interactions/list/step/effects/-",
            "set(entity.owner.mood, 'sd')",
            'mood is never "sd": did you mean "sad"?',
        ),
    ],
)
def test_what_is_wrong_with_a_variable_of_each_player_is_said_once(pointer: str, value: str, message: str) -> None:
    spec = changed(EACH, {"mood": {"type": "string", "initial": "glad", "values": ["glad", "sad"]}})
    found = check_specification(changed(pointer, value, spec)).problems
    assert [each.message for each in found] == [message]
