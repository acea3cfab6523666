"""Addresses of all pages, for tests that walk over them."""

from __future__ import annotations

MAIN = "who~20~26~20what~2F~C3~A9"
LDA = "four~20topics"
PRIVATE = "with~20private~20authors"
AUTHORS_ONLY = "authors~20only"

PAGES = [
    "overview",
    "topic/0",
    "topic/5?relevance=0",
    "topic/5?relevance=1",
    "topic/1?authors=specialists",
    "together",
    "names",
    "oddities",
    "documents?topic=1&from=1991&to=1995&venue=ACL&sort=newest",
    "documents?author=2&q=star",
    "authors?sort=name&letter=J",
    "groups?a.venue=ACL&b.from=1995",
    "history",
    "author/0",
    "author/8",
    "authors",
    "authors?q=jord",
    "authors?q=nobody-of-this-name",
    "authors?page=1000",
    "document/0",
    "document/59?colour=author",
    "document/1?burn_in=2&samples=2&lag=1",
    "documents",
    "documents?q=star",
    "documents?q=star&year=1990",
    "documents?year=1990",
    "documents?year=3000",
    "documents?page=2",
    "documents?page=1000000",
    "documents?q=%22%27%3B--",
    "word/0",
    "word/12",
    "word/3?with=4&with=star&with=zzzz",
    "trends",
    "trends?topic=1&topic=2&by=decade",
    "groups",
    "groups?by=year&group=1990..1995",
    "groups?by=decade",
    "groups?by=venue&units=year",
    "groups?by=authors&group=Kepler,+J&topic=1",
    "groups?by=authors",
    "groups?by=nonsense",
    "compare",
    f"compare/{LDA}",
    "search",
    "search?q=jordan",
    "search?q=star%20law",
    "search?q=star&venue=ACL&from=1992&topic=1",
    "parse",
    "parse?text=A+star+and+its+planet&who=any",
    "parse?text=The+court+and+the+judge&who=named&authors=Holmes,+O;+Warren,+E",
    "parse?text=zzz",
    "parse?document=3",
    "reviewers",
    "reviewers?text=A+star+and+its+planet&exclude=Kepler,+J",
    "reviewers?document=3",
    "submissions",
    "models",
    "map",
    "map?colour=venue&q=star",
    "map?area=0,0,1,1&first=1992&last=1995&page=1",
    "map?area=0.1,0.1,0.9,0.2,0.5,0.9&page=1000",
    "map?part=titles&ids=3&ids=5",
]
TOPICLESS = [
    "overview",
    "author/0",
    "authors",
    "document/0",
    "documents?q=star",
    "documents?venue=ACL&author=1",
    "together",
    "oddities",
    "names",
    "word/3",
    "trends",
    "groups",
    "compare",
    "search?q=star",
    "parse",
    "parse?text=star",
    "reviewers?text=star",
    "models",
]


def twin(page: str, ending: str) -> str:
    path, question, query = page.partition("?")
    return f"{path}.{ending}{question}{query}"


def html(page: str) -> str:
    return "" if page == "overview" else page
