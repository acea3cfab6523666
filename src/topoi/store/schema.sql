-- A topoi store: one corpus and any number of models fitted to it. `PRAGMA application_id` is 0x746f706f ("topo"),
-- `PRAGMA user_version` the version of this schema. All numbers (words, authors, documents, topics) count from 0 and
-- never change. "Tokens" are words in running text, repetitions counted.
-- Blobs of numbers are little-endian; the widths of those in document_token are in the corpus table.

-- The corpus: always one row.
CREATE TABLE corpus (
    corpus_id INTEGER PRIMARY KEY CHECK (corpus_id = 0),
    fingerprint TEXT NOT NULL,           -- digest of words, documents and authors: models share what agrees in it
    n_documents INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,
    n_words INTEGER NOT NULL,
    n_authors INTEGER NOT NULL,
    has_texts INTEGER NOT NULL,          -- 1 if document.text and the character offsets are here
    word_id_bytes INTEGER NOT NULL,      -- width of a number in document_token.word_ids: 2 or 4
    start_bytes INTEGER NOT NULL,        -- width of a number in document_token.starts: 2 or 4
    length_bytes INTEGER NOT NULL,       -- width of a number in document_token.lengths: 1 or 4
    settings TEXT NOT NULL,              -- JSON: how text becomes words, and what was read, skipped and dropped
    digest TEXT NOT NULL                 -- checksum over everything that the corpus is rebuilt from
);

-- The vocabulary.
CREATE TABLE word (
    word_id INTEGER PRIMARY KEY,
    word TEXT NOT NULL,
    n_tokens INTEGER NOT NULL,           -- how often it occurs
    n_documents INTEGER NOT NULL         -- in how many documents
);
CREATE INDEX word_by_word ON word (word);

CREATE TABLE author (
    author_id INTEGER PRIMARY KEY,
    author TEXT NOT NULL,                -- the name
    n_documents INTEGER NOT NULL
);
CREATE INDEX author_by_author ON author (author COLLATE NOCASE);
CREATE INDEX author_by_documents ON author (n_documents DESC, author_id);

CREATE TABLE document (
    document_id INTEGER PRIMARY KEY,
    identifier TEXT NOT NULL,            -- the id it was read with
    title TEXT,
    date TEXT,                           -- ISO 8601
    year INTEGER,
    n_tokens INTEGER NOT NULL,           -- words that are in the vocabulary
    metadata TEXT NOT NULL,              -- JSON: all other columns
    text TEXT                            -- as it was read; null if the corpus was left out
);
CREATE INDEX document_by_identifier ON document (identifier);
CREATE INDEX document_by_year ON document (year);

-- Who wrote what, in the order the document names them.
CREATE TABLE document_author (
    document_id INTEGER NOT NULL REFERENCES document (document_id),
    position INTEGER NOT NULL,           -- 0 for the first author
    author_id INTEGER NOT NULL REFERENCES author (author_id),
    PRIMARY KEY (document_id, position)
) WITHOUT ROWID;
CREATE INDEX document_author_by_author ON document_author (author_id, document_id);

-- A document's words in reading order, and where they stand in its text; the same for all models.
CREATE TABLE document_token (
    document_id INTEGER PRIMARY KEY REFERENCES document (document_id),
    word_ids BLOB NOT NULL,              -- one word_id per token
    starts BLOB,                         -- first character of each token in document.text (characters, not bytes)
    lengths BLOB                         -- how many characters it has
);

-- For ranked search: in which documents each word occurs. Pairs of numbers, seven bits to the byte, lowest first, the last
-- byte below 128: how much the document_id exceeds the one before (the first: itself), and tokens of the word in it.
CREATE TABLE word_document (
    word_id INTEGER NOT NULL REFERENCES word (word_id),
    part INTEGER NOT NULL,               -- of the corpus, in order: documents with a million tokens or so
    postings BLOB NOT NULL,
    PRIMARY KEY (word_id, part)
);

-- Full-text search over titles and texts: SELECT rowid FROM document_search WHERE document_search MATCH 'kernel'.
CREATE VIRTUAL TABLE document_search USING fts5 (
    title, text, content = 'document', content_rowid = 'document_id', tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TABLE model (
    model_id INTEGER PRIMARY KEY,        -- larger means saved later
    name TEXT NOT NULL UNIQUE,
    model TEXT NOT NULL,                 -- the class: AuthorTopicModel, LDA, ...
    n_topics INTEGER,                    -- null if the model has no topics
    n_iter INTEGER NOT NULL,             -- sweeps done
    n_chains INTEGER NOT NULL,
    seed INTEGER,
    created TEXT NOT NULL,               -- when it was saved: ISO 8601, UTC
    topoi_version TEXT NOT NULL,
    parameters TEXT NOT NULL,            -- JSON: fitted numbers that belong to no table, such as the sum of alpha
    chain TEXT NOT NULL,                 -- digest of corpus, settings and seed: labels survive while it is the same
    bundle TEXT NOT NULL,                -- JSON: settings, traces, how the fit went; with the arrays below, the model
    digest TEXT NOT NULL                 -- checksum over bundle and arrays
);

-- What a model is rebuilt from, to the last bit. model_id is null for arrays of the corpus.
CREATE TABLE array (
    array_id INTEGER PRIMARY KEY,
    model_id INTEGER REFERENCES model (model_id),
    name TEXT NOT NULL,
    dtype TEXT NOT NULL,                 -- as numpy writes it: <u2, <f8, ...
    shape TEXT NOT NULL                  -- JSON list
);
CREATE INDEX array_by_model ON array (model_id, name);
CREATE TABLE array_part (
    array_id INTEGER NOT NULL REFERENCES array (array_id),
    part INTEGER NOT NULL,
    data BLOB NOT NULL,                  -- zlib; 16 MB of the array each, in order; half a MB of samples
    PRIMARY KEY (array_id, part)
);

-- All tables below are of the best chain, if nothing else is said. Counts are means over samples of its second half,
-- rounded to whole tokens; rows that round to zero are left out. Probabilities and shares are those of the means as they
-- are. model.parameters has the number of samples as n_samples, and topic_sums, the topics' tokens summed over them.

CREATE TABLE topic (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    topic INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,
    share REAL NOT NULL,                 -- of all tokens
    deviation REAL NOT NULL,             -- standard deviation of share, by samples and resampled documents
    alpha REAL NOT NULL,                 -- prior weight
    hue INTEGER NOT NULL,                -- degrees, 0 to 359: far apart for topics that documents have together
    x REAL,                              -- place on a map of topics, 0 to 1: near each other if they share words, and
    y REAL,                              -- apart far enough for circles; null if there are fewer than three topics
    glue INTEGER NOT NULL,               -- 1 if it is made of words that hold all kinds of texts together, not of content
    label TEXT NOT NULL,                 -- automatic name: a phrase of its words; a person's is in table label
    words TEXT NOT NULL,                 -- JSON list: the 20 most telling words (relevance 0.6)
    PRIMARY KEY (model_id, topic)
) WITHOUT ROWID;

-- Counts of half a token or more, and seed words of the topic. probability is P(word | topic).
CREATE TABLE topic_word (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    word_id INTEGER NOT NULL REFERENCES word (word_id),
    topic INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,
    probability REAL NOT NULL,
    PRIMARY KEY (model_id, word_id, topic)
) WITHOUT ROWID;
CREATE INDEX topic_word_by_topic ON topic_word (model_id, topic, probability DESC, word_id);

-- Counts of half a token or more. P(topic | author) is (n + topic.alpha) / (the author's tokens + sum of alpha), where n is
-- the mean that is rounded here; mixture has it as it is.
CREATE TABLE author_topic (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    author_id INTEGER NOT NULL REFERENCES author (author_id),
    topic INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,
    PRIMARY KEY (model_id, author_id, topic)
) WITHOUT ROWID;

-- The 200 authors with most tokens of each topic, private authors' tokens shared by the named ones. probability is
-- P(author | topic): their share of its tokens, smoothed.
CREATE TABLE topic_author (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    topic INTEGER NOT NULL,
    rank INTEGER NOT NULL,               -- 1 is the first
    author_id INTEGER NOT NULL REFERENCES author (author_id),
    n_tokens INTEGER NOT NULL,
    probability REAL NOT NULL,
    PRIMARY KEY (model_id, topic, rank)
) WITHOUT ROWID;

-- Counts of half a token or more.
CREATE TABLE document_topic (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    document_id INTEGER NOT NULL REFERENCES document (document_id),
    topic INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,
    PRIMARY KEY (model_id, document_id, topic)
) WITHOUT ROWID;

-- The first 200 documents of each topic by share, among those with at least one token in it.
CREATE TABLE topic_document (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    topic INTEGER NOT NULL,
    rank INTEGER NOT NULL,               -- 1 is the first
    document_id INTEGER NOT NULL REFERENCES document (document_id),
    n_tokens INTEGER NOT NULL,
    share REAL NOT NULL,                 -- (n_tokens + alpha) / (document's tokens + sum of alpha); of a model over a
                                         -- graph the posterior mean, summed over paths
    PRIMARY KEY (model_id, topic, rank)
) WITHOUT ROWID;

-- The ten topics with the most similar words.
CREATE TABLE topic_neighbour (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    topic INTEGER NOT NULL,
    rank INTEGER NOT NULL,               -- 1 is the nearest
    other INTEGER NOT NULL,              -- the neighbour
    distance REAL NOT NULL,              -- KL(topic || other) + KL(other || topic) of their words, in nats
    PRIMARY KEY (model_id, topic, rank)
) WITHOUT ROWID;

-- The counts of author_topic and document_topic as they are, packed to be read in one go: n_tokens are sums over the
-- n_samples samples of model.parameters. Row r has those from row_start[r] to before row_start[r + 1]. All three blobs are
-- zlib. The kind 'word' has the counts of topic_word, word by word, if there are several samples. The kind 'written' has what
-- authors wrote, of models whose documents have private authors: an author's own words, and an equal part of the private ones
-- of each of the author's documents.
CREATE TABLE mixture (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    kind TEXT NOT NULL,                  -- 'author', 'written', 'document' or 'word'
    n_rows INTEGER NOT NULL,             -- how many authors or documents
    row_start BLOB NOT NULL,             -- n_rows + 1 numbers of eight bytes
    topic BLOB NOT NULL,                 -- two bytes each
    n_tokens BLOB NOT NULL,              -- four bytes each
    deviation BLOB,                      -- of authors: standard deviation of the smoothed share over the samples, two
                                         -- bytes each (IEEE 754 half precision); null if there is one sample. Of what
                                         -- authors wrote: of the share, if documents are resampled
    PRIMARY KEY (model_id, kind)
);

-- Of models whose documents' mixtures are not their counts, smoothed by alpha: P(topic | document), zlib, numbers of two
-- bytes (IEEE 754 half precision), documents × topics, 1024 documents to a row.
CREATE TABLE document_share (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    part INTEGER NOT NULL,
    shares BLOB NOT NULL,
    deviations BLOB,                     -- standard deviations of the shares, in the same form; null if they follow from
                                         -- the samples, or if the model has no posterior of the shares
    PRIMARY KEY (model_id, part)
) WITHOUT ROWID;

-- Places of documents on a map: near each other if their shares of topics are alike. A model may have none yet; documents
-- without words never have one. Files of earlier versions lack the table, and get it with the next change.
CREATE TABLE document_place (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    document_id INTEGER NOT NULL REFERENCES document (document_id),
    x REAL NOT NULL,                     -- 0 to 1 along the longer side of the map
    y REAL NOT NULL,
    PRIMARY KEY (model_id, document_id)
) WITHOUT ROWID;

-- Shares with intervals of probability 0.9, by posterior draws and resampled documents.
CREATE TABLE topic_trend (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    topic INTEGER NOT NULL,
    year INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,
    share REAL NOT NULL,                 -- of the year's tokens
    lower REAL NOT NULL,
    upper REAL NOT NULL,
    PRIMARY KEY (model_id, topic, year)
) WITHOUT ROWID;
CREATE TABLE topic_decade (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    topic INTEGER NOT NULL,
    decade INTEGER NOT NULL,             -- its first year
    n_tokens INTEGER NOT NULL,
    share REAL NOT NULL,                 -- of the decade's tokens
    lower REAL NOT NULL,
    upper REAL NOT NULL,
    PRIMARY KEY (model_id, topic, decade)
) WITHOUT ROWID;

-- Models without topics: counts of half a token or more.
CREATE TABLE author_word (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    author_id INTEGER NOT NULL REFERENCES author (author_id),
    word_id INTEGER NOT NULL REFERENCES word (word_id),
    n_tokens INTEGER NOT NULL,
    probability REAL NOT NULL,           -- P(word | author)
    PRIMARY KEY (model_id, author_id, word_id)
) WITHOUT ROWID;

-- How surprising an author's documents are: a document far above the author's others is on another subject, or by
-- another person of the same name. Averaged over all chains.
CREATE TABLE author_document (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    author_id INTEGER NOT NULL REFERENCES author (author_id),
    document_id INTEGER NOT NULL REFERENCES document (document_id),
    perplexity REAL,                     -- of the document, had the author written it alone; null without words
    PRIMARY KEY (model_id, author_id, document_id)
) WITHOUT ROWID;

-- Each token's topic and author in the last sample, in the order of document_token.word_ids.
CREATE TABLE document_assignment (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    document_id INTEGER NOT NULL REFERENCES document (document_id),
    topics BLOB,                         -- two bytes each; null if the model has no topics
    author_positions BLOB,               -- document_author.position, a byte each (two if a position is above 255); one
                                         -- past the last is a private author; null if there are only private ones
    PRIMARY KEY (model_id, document_id)
) WITHOUT ROWID;

-- Models over a graph, whose words follow a path from the root down to a node that draws them. Nodes are numbered so that
-- the root is 0 and every node comes after its parents.
CREATE TABLE dag_node (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    node INTEGER NOT NULL,
    name TEXT NOT NULL,
    level INTEGER NOT NULL,              -- edges of the longest way from the root
    topic INTEGER,                       -- null if it draws no words
    n_children INTEGER NOT NULL,         -- "draw a word here" is not one of them
    n_tokens INTEGER NOT NULL,           -- whose paths lead through it, or end here
    share REAL NOT NULL,                 -- of all tokens
    deviation REAL NOT NULL,             -- standard deviation of share, by samples and resampled documents
    alpha_sum REAL NOT NULL,             -- what alpha of its edges sums to; 0 if it has none
    label TEXT NOT NULL,                 -- automatic name: its topic's, or those of two topics below; none for the root
    words TEXT NOT NULL,                 -- JSON list: the 20 most telling words (relevance 0.6, or 0.3 if it has
                                         -- children); none for the root
    PRIMARY KEY (model_id, node)
) WITHOUT ROWID;

-- What the Dirichlet of a node chooses among: its children in the order of their numbers, and last, if it draws words as
-- well as having children, to draw one.
CREATE TABLE dag_edge (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    parent INTEGER NOT NULL,
    position INTEGER NOT NULL,           -- 0 for the parent's first
    child INTEGER,                       -- null: draw a word here
    alpha REAL NOT NULL,                 -- Dirichlet parameter
    share REAL NOT NULL,                 -- of the parent's alpha_sum
    n_tokens INTEGER NOT NULL,           -- that took it
    deviation REAL NOT NULL,             -- standard deviation of n_tokens as a part of the child's; 0 without a child
    PRIMARY KEY (model_id, parent, position)
) WITHOUT ROWID;
CREATE INDEX dag_edge_by_parent ON dag_edge (model_id, parent, alpha DESC, position);
CREATE INDEX dag_edge_by_child ON dag_edge (model_id, child, alpha DESC, parent);

-- Nodes with children, the root left out: counts of half a token or more. For the others see document_topic.
CREATE TABLE document_node (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    document_id INTEGER NOT NULL REFERENCES document (document_id),
    node INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,           -- of the document, whose paths lead through the node
    share REAL NOT NULL,                 -- posterior mean of the probability that a word's path does
    PRIMARY KEY (model_id, document_id, node)
) WITHOUT ROWID;
CREATE INDEX document_node_by_node ON document_node (model_id, node, share DESC, document_id);

-- The same nodes in every year that has tokens.
-- Shares with intervals of probability 0.9, by posterior draws and resampled documents.
CREATE TABLE node_trend (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    node INTEGER NOT NULL,
    year INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,
    share REAL NOT NULL,                 -- of the year's tokens
    lower REAL NOT NULL,
    upper REAL NOT NULL,
    PRIMARY KEY (model_id, node, year)
) WITHOUT ROWID;
CREATE TABLE node_decade (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    node INTEGER NOT NULL,
    decade INTEGER NOT NULL,             -- its first year
    n_tokens INTEGER NOT NULL,
    share REAL NOT NULL,                 -- of the decade's tokens
    lower REAL NOT NULL,
    upper REAL NOT NULL,
    PRIMARY KEY (model_id, node, decade)
) WITHOUT ROWID;

-- By which of its topic's paths each token came in the last sample, in the order of document_token.word_ids: paths to a node are numbered
-- parent by parent. A byte each, or two or four if there are more paths.
CREATE TABLE document_path (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    document_id INTEGER NOT NULL REFERENCES document (document_id),
    paths BLOB NOT NULL,
    PRIMARY KEY (model_id, document_id)
) WITHOUT ROWID;

-- How the fit went: log P(words, assignments).
CREATE TABLE trace (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    chain INTEGER NOT NULL,
    sweep INTEGER NOT NULL,
    log_joint REAL NOT NULL,
    PRIMARY KEY (model_id, chain, sweep)
) WITHOUT ROWID;

-- Edits by hand, in the order made.
CREATE TABLE edit (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    number INTEGER NOT NULL,             -- 1 is the first
    step INTEGER NOT NULL,               -- of the commit that it was part of
    created TEXT NOT NULL,               -- ISO 8601, UTC
    kind TEXT NOT NULL,                  -- merge, split, rename, ban, pin, freeze, send
    text TEXT NOT NULL,                  -- in words
    record TEXT NOT NULL,                -- JSON: topics, words, document, name, sweeps, seed, who
    undone INTEGER NOT NULL,             -- 1 if it was undone
    PRIMARY KEY (model_id, number)
) WITHOUT ROWID;

-- What the model was before the last steps that are not undone, to go back to. Its arrays are those of the model whose names
-- begin with undo and the step, as in undo3_chain0_topic. Its rows in the tables above are kept for the last step alone,
-- under the number that the model had then ("rows" in labels), which is no model's any more.
CREATE TABLE edit_state (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    step INTEGER NOT NULL,
    bundle TEXT NOT NULL,                -- model.bundle as it was
    digest TEXT NOT NULL,                -- model.digest as it was
    labels TEXT NOT NULL,                -- JSON: labels (topic, label, created) and faces (topic, hue, x, y) as they were;
                                         -- names: true if the step changed names alone
    PRIMARY KEY (model_id, step)
);

-- Names that a person gave to topics.
CREATE TABLE label (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    topic INTEGER NOT NULL,
    label TEXT NOT NULL,
    created TEXT NOT NULL,               -- ISO 8601, UTC
    PRIMARY KEY (model_id, topic)
) WITHOUT ROWID;
