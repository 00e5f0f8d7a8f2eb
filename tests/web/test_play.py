"""The board: it offers the moves of the ruleset, made by links, taken back, and named for who cannot see it."""

from __future__ import annotations

import re
from urllib.parse import quote, urlencode, urlsplit

import pytest
from starlette.testclient import TestClient

from ggn_store import Move, Position, PositionError, Store
from ggn_store.api.positions.notations import NOTATIONS, Notation
from ggn_store.games import library
from ggn_store.model.moves.chain import Chain, path_of
from ggn_store.render.records import compact
from ggn_store.web.boards import read_position
from tests.oracles.reference import side_of
from tests.support.games import Games
from tests.support.positions import played
from tests.support.web import client, looked_at, own

GAMES = ("chess", "minishogi", "xiangqi", "raumschach")


def compare(games: Games, name: str, positions: list[Position], pseudo: bool) -> None:
    """Positions of a game: what a page says and shows of them, beside what the ruleset says."""
    rules = games[name]
    with client(games.store) as pages:
        for position in positions:
            query = urlencode({"position": compact(position.data())} | ({"pseudo": "1"} if pseudo else {}))
            shown = pages.get(f"/g/{name}.json?{query}").json()
            moves = rules.moves(position) if pseudo else rules.legal_moves(position)
            expected: list[Move | Chain] = [*moves, *rules.chains(position, legal=not pseudo)]
            if shown["outcome"]["is_over"]:
                continue
            assert [each.pop("text") != "" for each in shown["moves"]] == [True] * len(expected)
            assert shown["moves"] == [move.data() for move in expected]
            page = looked_at(pages.get(f"/g/{name}?{query}").text)
            sources = page.squares
            assert set(sources) == {path_of(move)[0] for move in expected} - {"*"}
            own_pieces = {
                square for square, piece in position.board.items() if piece and side_of(piece) == position.side
            }
            assert page.immovable == own_pieces - set(sources)
            for source in sorted(sources)[:2]:
                touched = looked_at(pages.get(own(sources[source], "/")).text)
                reached = {path_of(move)[1] for move in expected if path_of(move)[0] == source} - {"*", source}
                assert set(touched.squares) == set(sources) | reached


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("pseudo", [False, True])
def test_the_moves_of_a_page_are_those_of_the_ruleset(games: Games, name: str, pseudo: bool) -> None:
    compare(games, name, played(games[name], 2, 7), pseudo)


def _thirty(names: list[str]) -> list[str]:
    return [names[number * len(names) // 30] for number in range(30)]


@pytest.mark.long
@pytest.mark.parametrize("name", _thirty([*library.names(), *library.descriptions()]))
def test_the_moves_of_a_page_are_those_of_the_ruleset_in_many_games(sqlite_games: Games, name: str) -> None:
    compare(sqlite_games, name, played(sqlite_games[name], 400, 23)[::2], False)


def test_a_piece_that_cannot_move_says_so_when_it_is_touched(chess: TestClient) -> None:
    touched = looked_at(chess.get("/g/chess?from=e1").text).text
    assert "first king on e1" in touched
    assert "It cannot move by legal moves." in touched


def test_a_click_on_a_piece_and_one_on_a_mark_make_a_move_that_can_be_taken_back(chess: TestClient) -> None:
    start = looked_at(chess.get("/g/chess").text)
    touched = looked_at(chess.get(start.squares["e2"]).text)
    assert "first pawn on e2" in touched.text
    moved = chess.get(touched.squares["e4"])
    found = looked_at(moved.text)
    assert "second to move" in found.text
    assert "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1" in found.text
    assert "e4" in found.text
    [back] = {link for link in found.links if link == "/g/chess"} | {"/g/chess"}
    assert set(looked_at(chess.get(back).text).squares) == set(start.squares)
    # Through a whole game: a mate in two.
    address = "/g/chess"
    for source, destination in (("f2", "f3"), ("e7", "e5"), ("g2", "g4"), ("d8", "h4")):
        squares = looked_at(chess.get(address).text).squares
        address = looked_at(chess.get(squares[source]).text).squares[destination]
    page = chess.get(address).text
    assert "e1: in check" in page
    assert "last move: d8, h4" in page
    over = looked_at(page)
    assert "second wins: checkmate" in over.text
    assert "Qh4#" in over.text
    assert over.squares == {}
    data = chess.get(own(address, "/").replace("/g/chess", "/g/chess.json")).json()
    assert (data["outcome"]["winner"], data["check"], data["moves"]) == ("second", True, [])


def test_of_several_ways_to_a_square_one_is_chosen_from_a_list(pages: TestClient) -> None:
    touched = looked_at(pages.get("/g/mini?from=a2").text)
    choice = touched.squares["a3"]
    assert choice.endswith("#moves")
    listed = looked_at(pages.get(choice).text)
    made = [link for link in listed.links if "&m=" in link or "?m=" in link]
    after = [pages.get(own(link, "/").replace("/g/mini", "/g/mini.json")).json() for link in dict.fromkeys(made)]
    assert [each["position"]["board"]["a3"] for each in after] == ["C:Q", "C:N"]


def test_who_uses_a_keyboard_goes_on_at_the_board(chess: TestClient) -> None:
    moved = f"/g/chess?{urlencode({'m': 'e2 e4'})}"
    for address in ("/g/chess", "/g/chess?from=g1", moved, "/piece/chess?piece=C:N"):
        page = chess.get(address).text
        assert re.search('<section[^>]* id="board" tabindex="-1"', page)
        assert {urlsplit(link).fragment for link in looked_at(page).squares.values()} == {"board"}
    assert f"{moved}&from=g8#board" in looked_at(chess.get(moved).text).links
    assert "/g/chess#board" in looked_at(chess.get(moved).text).links, "take back"


def test_a_piece_of_the_hand_is_dropped_by_links(pages: TestClient) -> None:
    start = pages.get("/g/mini").text
    assert 'data-piece="C:P"' in start
    [address] = {link for link in looked_at(start).links if "from=%2A" in link and "piece=" in link}
    dropped = looked_at(pages.get(address).text).squares["c1"]
    data = pages.get(own(dropped, "/").replace("/g/mini", "/g/mini.json")).json()
    assert data["position"]["board"]["c1"] == "C:P"
    assert data["position"]["hands"] == {}


def test_places_and_pieces_have_names_for_who_cannot_see_them(chess: TestClient) -> None:
    page = chess.get("/g/chess?from=g1").text
    assert 'aria-label="first knight on g1, 2 moves, chosen"' in page
    assert 'aria-label="to f3: moves"' in page
    assert 'role="group"' in page


def test_a_style_stays_with_the_game(chess: TestClient) -> None:
    page = looked_at(chess.get("/g/chess?style=letters").text)
    assert page.squares
    assert all("style=letters" in address for address in page.squares.values())
    assert chess.get("/g/chess?style=none").status_code == 400
    small = {name: chess.get(f"/picture/chess?style={name}").text for name in ("plain", "xiangqi")}
    assert small["plain"] != small["xiangqi"]


def test_a_flipped_board_stays_flipped_and_has_the_same_moves(chess: TestClient) -> None:
    flipped = looked_at(chess.get("/g/chess?flip=1").text)
    assert set(flipped.squares) == set(looked_at(chess.get("/g/chess").text).squares)
    assert all("flip=1" in address for address in flipped.squares.values())


def test_moves_that_the_duties_forbid_are_shown_on_request_only(chess: TestClient) -> None:
    pinned = urlencode({"position": "4k3/8/8/8/4r3/8/4B3/4K3 w - - 0 1"})
    assert "e2" not in looked_at(chess.get(f"/g/chess?{pinned}").text).squares
    assert "e2" in looked_at(chess.get(f"/g/chess?{pinned}&pseudo=1").text).squares
    check = urlencode({"position": "4k3/8/8/8/4r3/8/8/4K3 w - - 0 1"})
    assert "check" in looked_at(chess.get(f"/g/chess?{check}").text).text
    assert chess.get(f"/g/chess.json?{check}").json()["check"] is True


def test_positions_are_read_in_every_notation(chess: TestClient) -> None:
    texts = (
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "+rnbq+k^bn+r/pppppppp/8/8/8/8/PPPPPPPP/+RNBQ+K^BN+R / C/c",
        compact({"board": {"e1": "C:K^"}, "side": "first"}),
    )
    for text in texts:
        assert chess.get(f"/g/chess.json?{urlencode({'position': text})}").status_code == 200, text


def test_a_document_that_does_not_say_what_moves_change_is_asked_about(pages: TestClient) -> None:
    position = quote(compact({"board": {"a1": "C:R"}}))
    page = looked_at(pages.get(f"/g/must?position={position}&from=a1").text)
    assert "does not say what a move changes" in page.text
    assert "a3" not in page.squares
    assumed = looked_at(pages.get(f"/g/must?position={position}&from=a1&assume=displacement").text)
    after = pages.get(own(assumed.squares["a3"], "/").replace("/g/must", "/g/must.json")).json()
    assert after["position"]["board"] == {"a3": "C:R"}


def test_the_sql_that_finds_the_moves_is_shown_on_request(chess: TestClient) -> None:
    data = chess.get("/g/chess.json?explain=1").json()
    assert "SELECT" in data["sql"]
    assert data["plan"]
    assert "sql" not in chess.get("/g/chess.json").json()


def test_a_ruleset_without_a_start_takes_a_position(pages: TestClient) -> None:
    assert "no start position" in looked_at(pages.get("/g/perform").text).text
    board = Position({"e2": "CHESS:P"})
    found = looked_at(pages.get(f"/g/perform?{urlencode({'position': compact(board.data())})}").text)
    assert set(found.squares) == {"e2"}


def test_a_page_reads_a_new_notation_without_a_definition(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    feen = NOTATIONS["feen"]
    new = Notation("", lambda text, ruleset: feen.parse(text.removeprefix("new "), ruleset), feen.text)
    with Store.open(filled) as store:
        rules = store.ruleset("must")
        assert rules.definition is None
        text = rules.notate(Position({"a1": "C:R"}))
        with pytest.raises(PositionError, match="FEEN: "):
            read_position(rules, f"new {text}")
        monkeypatch.setitem(NOTATIONS, "new", new)
        assert read_position(rules, f"new {text}") == read_position(rules, text)
