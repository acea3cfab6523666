"""Types of query parameters with their limits, checked before a page is built and published in ``/openapi.json``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

LARGEST_NUMBER = 2**31 - 1
LONGEST_QUERY = 200
LONGEST_TEXT = 200_000
MOST_NAMES = 50
MOST_VALUES = 6
LONGEST_VALUE = 1000

Topic = Annotated[int, Field(ge=0, le=65_535, description="A topic's number, from 0.")]
ChangeNumber = Annotated[int, Field(ge=1, le=LARGEST_NUMBER, description="A change's number, from 1.")]
AuthorId = Annotated[int, Field(ge=0, le=LARGEST_NUMBER, description="An author's number, from 0.")]
DocumentId = Annotated[int, Field(ge=0, le=LARGEST_NUMBER, description="A document's number, from 0.")]
DocumentOrNone = Annotated[
    int | None, Field(ge=0, le=LARGEST_NUMBER, description="A document to begin with, instead of a text.")
]
WordId = Annotated[int, Field(ge=0, le=LARGEST_NUMBER, description="A word's number, from 0.")]
Query = Annotated[str, Field(max_length=LONGEST_QUERY, description="Words to look for; the last may be a beginning.")]
PageNumber = Annotated[int, Field(ge=1, le=1_000_000, description="Which page of a long list, from 1.")]
FirstYear = Annotated[int | None, Field(ge=-100_000, le=100_000, description="The first year that charts show.")]
LastYear = Annotated[int | None, Field(ge=-100_000, le=100_000, description="The last year that charts show.")]

Sort = Annotated[
    Literal["relevance", "file", "newest", "oldest", "topic", "longest", "surprising"] | None,
    Field(description="Order of the documents; without one, by relevance to words or topics, or as in the file."),
]
TopicAuthors = Annotated[
    Literal["most", "specialists"],
    Field(description="Authors with most words of the topic, or those with most of their own words in it."),
]
OtherWords = Annotated[
    list[Annotated[str, Field(max_length=LONGEST_QUERY)]],
    Field(max_length=MOST_VALUES - 1, description="Other words for the same chart, by number or as they are written."),
]
AuthorSort = Annotated[
    Literal["documents", "name", "last"],
    Field(description="Order of authors: most documents first, by family name, or last active first."),
]
Letter = Annotated[str, Field(max_length=1, description="First letter of family names; # for all other signs.")]
FewestDocuments = Annotated[int, Field(ge=1, le=LARGEST_NUMBER, description="Only authors of so many documents.")]
ActiveSince = Annotated[
    int | None, Field(ge=-100_000, le=100_000, description="Only authors with a document of this year or a later one.")
]
LeastOrNone = Annotated[
    int | None,
    Field(ge=1, le=LARGEST_NUMBER, description="Only authors of so many documents; 3 by default if that leaves many."),
]
ReviewersEach = Annotated[int, Field(ge=1, le=15, description="Reviewers of each submission.")]
Relevance = Annotated[
    float,
    Field(ge=0, le=1, allow_inf_nan=False, description="1: the most probable words; 0: those of this topic alone."),
]
Colour = Annotated[Literal["topic", "author"], Field(description="What the words of the text are coloured by.")]
Period = Annotated[Literal["year", "decade"], Field(description="The unit of time.")]
Topics = Annotated[list[Topic], Field(max_length=50, description="Topics to show; without any, those that move most.")]
Node = Annotated[int, Field(ge=0, le=LARGEST_NUMBER, description="A node's number in the graph of topics, from 0.")]
MostNodes = Annotated[int, Field(ge=1, le=200, description="How many super-topics the picture shows at most.")]
MinShare = Annotated[
    float | None,
    Field(
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="Show all edges that are at least this part of their parent's alpha; without it, the strongest.",
    ),
]
FeatureName = Annotated[
    str | None, Field(max_length=LONGEST_VALUE, description="A feature that the model reads, by name.")
]
Value = Annotated[str, Field(max_length=LONGEST_VALUE)]
Values = Annotated[
    list[Value], Field(max_length=MOST_VALUES, description="Authors, or other values, to set side by side.")
]
Held = Annotated[
    float | None,
    Field(ge=-1e12, le=1e12, allow_inf_nan=False, description="The value of a number that is not gone along."),
]
Bands = Annotated[
    Literal["curve", "document"],
    Field(description="Bands of the curve that documents vary about, or of a single new document."),
]
ColumnName = Annotated[
    str | None, Field(max_length=LONGEST_VALUE, description="A column of the documents, decade, or authors.")
]
GroupValue = Annotated[
    str, Field(max_length=LONGEST_QUERY, description="A value of the column; numbers may be ranges, as in 1990..1999.")
]
TopicOrNone = Annotated[int | None, Field(ge=0, le=65_535, description="A topic whose documents are asked for.")]
Slug = Annotated[str, Field(max_length=2_400, description="A model's name; bytes outside [A-Za-z0-9._-] are ~XX.")]
FirstTopic = Annotated[
    int | None, Field(ge=0, le=65_535, description="A topic of this model, to set beside one of the other.")
]
SecondTopic = Annotated[
    int | None, Field(ge=0, le=65_535, description="A topic of the other model, to set beside one of this.")
]
OtherSlug = Annotated[str | None, Field(max_length=2_400, description="The model to compare with.")]
BurnIn = Annotated[int, Field(ge=0, le=500, description="Sweeps before the first sample.")]
Samples = Annotated[int, Field(ge=1, le=200, description="Samples that are averaged.")]
Lag = Annotated[int, Field(ge=1, le=20, description="Sweeps between samples.")]
BurnInOrNone = Annotated[int | None, Field(ge=0, le=500, description="Sweeps before the first sample.")]
SamplesOrNone = Annotated[int | None, Field(ge=1, le=200, description="Samples that are averaged.")]
LagOrNone = Annotated[int | None, Field(ge=1, le=20, description="Sweeps between samples.")]
Text = Annotated[str, Field(max_length=LONGEST_TEXT, description="A text; long ones are sent with POST.")]
Kept = Annotated[str, Field(max_length=64, description="Key of a long text or a table sent before with POST.")]
Who = Annotated[
    Literal["nobody", "any", "named"],
    Field(description="Who may have written the text: somebody new, any author, or those named."),
]
Names = Annotated[
    list[str], Field(max_length=MOST_NAMES, description="Names of authors, one each or with ';' between.")
]
