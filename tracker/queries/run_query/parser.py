"""Parses the text of a query into a tree, or raises an error with its position (pure).

Text becomes values, never code or SQL. Length, depth and number of conditions are limited
before parsing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from pathlib import Path

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput, UnexpectedToken, VisitError

from tracker.queries.run_query import meaning
from tracker.queries.run_query.arithmetic import (
    SIGNS,
    Named,
    Part,
    Sum,
    Summarized,
)
from tracker.queries.run_query.meaning import NAN_IS_UNEQUAL, refusal
from tracker.queries.run_query.refusal import BadQuery
from tracker.queries.run_query.tree import (
    AttributeField,
    Both,
    Either,
    IsNan,
    Negation,
    Tree,
)
from tracker.texts import UNSTORABLE

GRAMMAR = Path(__file__).with_name("grammar.lark")
MAX_CHARACTERS = 2_000
MAX_CONDITIONS = 20
DEEPEST = 16
KEYWORDS = ("and", "or", "not", "contains", "exists", "is", "nan")
# Tokens that occur exactly once per condition.
CONDITIONS = ("COMPARISON", "LIKE", "CONTAINS", "EXISTS", "IS")
# Descriptions of expected tokens, the most helpful first.
EXPECTATIONS = {
    "EXISTS": "a condition like train/loss < 0.3",
    "NUMBER": "a number, an attribute, a text in double quotes, true or false",
    "NAN": "“nan”",
    "COMPARISON": "a comparison like < or =, “contains” or “is nan”",
    "CONTAINS": "“contains”",
    "AND": "“and”, “or” or the end",
    "STRING": "a path, or a text in double quotes",
    "RPAR": "a closing parenthesis",
    "$END": "the end of the query",
}


def parse(text: str, now: datetime) -> Tree:
    """Return the tree of a query; relative times such as -7d count from `now`."""
    if len(text) > MAX_CHARACTERS:
        raise BadQuery(
            f"A query has at most {MAX_CHARACTERS:,} characters.",
            MAX_CHARACTERS,
            len(text) - MAX_CHARACTERS,
        )
    # PostgreSQL rejects such a character even in a comparison.
    if found := UNSTORABLE.search(text):
        raise BadQuery(
            "No name, path or text can contain this character.", found.start()
        )
    try:
        return _parsed(_tokens(text), now)
    except UnexpectedInput as error:
        raise _explained(error, text) from error
    except VisitError as error:
        raise error.orig_exc from error


def _parsed(tokens: Iterable[Token], now: datetime) -> Tree:
    parser = _lark().parse_interactive()
    for token in tokens:
        parser.feed_token(token)
    whole = parser.feed_eof()  # type: ignore[no-untyped-call] # lark's own
    return Reader(now).transform(whole)


def _tokens(text: str) -> list[Token]:
    """Return the tokens of the query, if they are not too many or too deep."""
    tokens = list(_lark().lex(text))
    depth = 0
    for token in tokens:
        depth += (token.type == "LPAR") - (token.type == "RPAR")
        if depth > DEEPEST:
            raise refusal(token, f"Parentheses can be nested at most {DEEPEST} deep.")
    for kinds, what in (
        (CONDITIONS, "conditions"),
        (("NOT",), "“not”s"),
        (SIGNS, "operators + - * /"),
    ):
        surplus = [token for token in tokens if token.type in kinds][MAX_CONDITIONS:]
        if surplus:
            message = f"A query has at most {MAX_CONDITIONS} {what}."
            raise refusal(surplus[0], message)
    return tokens


@cache
def _lark() -> Lark:
    """Build the parser once, because that takes longer than parsing a query."""
    return Lark(
        GRAMMAR.read_text(encoding="utf-8"),
        parser="lalr",
        lexer="basic",
        lexer_callbacks={"WORD": _as_keyword},
    )


def _as_keyword(token: Token) -> Token:
    """Convert a word to a keyword token if it is one, ignoring case."""
    word = token.lower()
    return token.update(type=word.upper()) if word in KEYWORDS else token


def _explained(error: UnexpectedInput, text: str) -> BadQuery:
    if isinstance(error, UnexpectedToken):
        return _misplaced(error, text)
    position = error.pos_in_stream or 0
    if text[position] == '"':
        message = "This quoted text has no closing quote, or an invalid \\ escape."
        return BadQuery(message, position, len(text) - position)
    if text[position].isdigit():
        message = "A number needs a space after it; a path that begins with a digit must be quoted."
        return BadQuery(message, position)
    return BadQuery("This character has no meaning here.", position)


def _misplaced(error: UnexpectedToken, text: str) -> BadQuery:
    token, expected = error.token, error.expected
    if token.type == "$END" or token.start_pos is None:
        return BadQuery(
            f"The query is incomplete: expected {_expected(error)}.", len(text)
        )
    if token.type == "NAN" and "NUMBER" in expected and "EXISTS" not in expected:
        return refusal(token, NAN_IS_UNEQUAL)
    if "MINUS" in expected and (sign := _stuck_sign(token, text)):
        message = f"A {sign} between two values needs spaces around it: a {sign} b."
        return refusal(token, message)
    return refusal(token, f"Expected {_expected(error)} here.")


def _stuck_sign(token: Token, text: str) -> str:
    """Return the sign that was read as part of a number, or of the path before it."""
    before = text[: token.start_pos or 0].rstrip()
    if token[0] in "+-" and token.type != "MINUS":
        return token[0]
    return before[-1:] if before[-1:] in tuple("-/") else ""


def _expected(error: UnexpectedToken) -> str:
    known = [name for name in EXPECTATIONS if name in error.expected]
    if not known:
        return "something else"
    return EXPECTATIONS[known[0]]


@v_args(inline=True)
class Reader(Transformer[Token, Tree]):
    """Converts the parse tree into a query tree, from its leaves up."""

    def __init__(self, now: datetime) -> None:
        super().__init__()
        self.now = now

    def start(self, tree: Tree) -> Tree:
        return tree

    def either(self, *parts: Tree | Token) -> Tree:
        return Either(_without_words(parts))

    def both(self, *parts: Tree | Token) -> Tree:
        return Both(_without_words(parts))

    def negation(self, _: Token, part: Tree) -> Tree:
        return Negation(part)

    def path(self, token: Token) -> Token:
        return token

    constant = path

    def plain(self, token: Token) -> Named:
        return Named(token)

    def summary(self, name: Token, path: Token) -> Summarized:
        return Summarized(name, path)

    def calculation(self, left: Part, sign: Token, right: Part) -> Sum:
        return Sum(left, sign, right)

    def comparison(self, left: Part, operator: Token, right: Part) -> Tree:
        return meaning.comparison(left, operator, right, self.now)

    def likeness(self, part: Named | Summarized, operator: Token, text: Token) -> Tree:
        return meaning.likeness(meaning.read_operand(part), operator, text)

    def membership(self, path: Token, _: Token, item: Token) -> Tree:
        return meaning.membership(path, item)

    def nan(self, part: Named | Summarized, word: Token, _: Token) -> Tree:
        operand = meaning.read_operand(part)
        if not isinstance(operand, AttributeField) or operand.summary != "last":
            raise refusal(word, "Only an attribute is NaN.")
        return IsNan(operand.path)

    def existence(self, _: Token, path: Token) -> Tree:
        return meaning.existence(path)


def _without_words(parts: tuple[Tree | Token, ...]) -> tuple[Tree, ...]:
    return tuple(part for part in parts if not isinstance(part, Token))
