"""Queries of the browser's pages and of views, each answered from an index.

Named parameters: ``model_id``, ``topic``, ``node``, ``author_id``, ``document_id``, ``word_id``, ``word``, ``author``,
``match``, ``year``, ``n``, ``skip``. No query reads more rows than it returns, apart from skipped rows and from sorting
the rows of one topic or author.
"""

from __future__ import annotations

QUERIES = {
    "topics": """
        SELECT t.topic, t.n_tokens, t.share, coalesce(l.label, t.label) AS label FROM topic AS t
        LEFT JOIN label AS l ON l.model_id = t.model_id AND l.topic = t.topic
        WHERE t.model_id = :model_id ORDER BY t.topic""",
    "topic_list": """
        SELECT t.topic, coalesce(l.label, t.label) AS label, t.n_tokens, t.share, t.glue, t.words, t.deviation
        FROM topic AS t
        LEFT JOIN label AS l ON l.model_id = t.model_id AND l.topic = t.topic
        WHERE t.model_id = :model_id ORDER BY t.topic""",
    "topic_hues": """
        SELECT topic, hue FROM topic WHERE model_id = :model_id""",
    "document_places": """
        SELECT document_id, x, y FROM document_place WHERE model_id = :model_id ORDER BY document_id""",
    "topic_words": """
        SELECT w.word_id, w.word, t.n_tokens, t.probability FROM topic_word AS t INDEXED BY topic_word_by_topic
        JOIN word AS w ON w.word_id = t.word_id
        WHERE t.model_id = :model_id AND t.topic = :topic
        ORDER BY t.probability DESC, t.word_id LIMIT :n""",
    "topic_words_with_totals": """
        SELECT w.word_id, w.word, t.probability, w.n_tokens AS n_of_word
        FROM topic_word AS t INDEXED BY topic_word_by_topic JOIN word AS w ON w.word_id = t.word_id
        WHERE t.model_id = :model_id AND t.topic = :topic
        ORDER BY t.probability DESC, t.word_id LIMIT :n""",
    "topic_authors": """
        SELECT t.rank, a.author_id, a.author, t.n_tokens, t.probability FROM topic_author AS t
        JOIN author AS a ON a.author_id = t.author_id
        WHERE t.model_id = :model_id AND t.topic = :topic ORDER BY t.rank LIMIT :n""",
    "topic_documents": """
        SELECT t.rank, d.document_id, d.identifier, d.title, d.year, t.n_tokens, t.share FROM topic_document AS t
        JOIN document AS d ON d.document_id = t.document_id
        WHERE t.model_id = :model_id AND t.topic = :topic ORDER BY t.rank LIMIT :n""",
    "topic_trend": """
        SELECT year, n_tokens, share, lower, upper FROM topic_trend
        WHERE year NOT NULL AND model_id = :model_id AND topic = :topic ORDER BY year""",
    "authors_by_documents": """
        SELECT author_id, author, n_documents FROM author INDEXED BY author_by_documents
        WHERE n_documents >= 0 ORDER BY n_documents DESC, author_id LIMIT :n OFFSET :skip""",
    "author_by_name": """
        SELECT author_id, author, n_documents FROM author WHERE author = :author COLLATE NOCASE""",
    "author_topics": """
        SELECT topic, n_tokens FROM author_topic
        WHERE model_id = :model_id AND author_id = :author_id ORDER BY n_tokens DESC, topic LIMIT :n""",
    "author_documents": """
        SELECT d.document_id, d.identifier, d.title, d.year FROM document_author AS da
        JOIN document AS d ON d.document_id = da.document_id
        WHERE da.author_id = :author_id ORDER BY da.document_id LIMIT :n""",
    "author_perplexities": """
        SELECT d.document_id, d.n_tokens, s.perplexity FROM author_document AS s
        JOIN document AS d ON d.document_id = s.document_id
        WHERE s.model_id = :model_id AND s.author_id = :author_id ORDER BY s.document_id""",
    "topics_by_year": """
        SELECT year, topic, share, lower, upper FROM topic_trend WHERE year NOT NULL AND model_id = :model_id""",
    "topics_by_decade": """
        SELECT decade, topic, share, lower, upper FROM topic_decade WHERE model_id = :model_id""",
    "author_words": """
        SELECT w.word_id, w.word, t.n_tokens, t.probability FROM author_word AS t
        JOIN word AS w ON w.word_id = t.word_id
        WHERE t.model_id = :model_id AND t.author_id = :author_id ORDER BY t.probability DESC LIMIT :n""",
    "document": """
        SELECT d.*, t.word_ids, t.starts, t.lengths FROM document AS d
        JOIN document_token AS t ON t.document_id = d.document_id WHERE d.document_id = :document_id""",
    "documents_of_year": """
        SELECT document_id, identifier, title, year FROM document INDEXED BY document_by_year
        WHERE year = :year ORDER BY document_id LIMIT :n OFFSET :skip""",
    "document_authors": """
        SELECT da.position, a.author_id, a.author FROM document_author AS da
        JOIN author AS a ON a.author_id = da.author_id WHERE da.document_id = :document_id ORDER BY da.position""",
    "document_topics": """
        SELECT topic, n_tokens FROM document_topic
        WHERE model_id = :model_id AND document_id = :document_id ORDER BY n_tokens DESC, topic LIMIT :n""",
    "document_assignment": """
        SELECT topics, author_positions FROM document_assignment
        WHERE model_id = :model_id AND document_id = :document_id""",
    "nodes": """
        SELECT node, name, level, topic AS topic_or_null, n_children, n_tokens, share, alpha_sum, label, words,
            deviation
        FROM dag_node WHERE model_id = :model_id ORDER BY node""",
    "node": """
        SELECT node, name, level, topic AS topic_or_null, n_children, n_tokens, share, alpha_sum, label, words,
            deviation
        FROM dag_node WHERE model_id = :model_id AND node = :node""",
    "edges": """
        SELECT parent, position, child, alpha, share, n_tokens FROM dag_edge
        WHERE model_id = :model_id ORDER BY parent, position""",
    "node_children": """
        SELECT e.child, n.name AS name_or_null, coalesce(n.topic, p.topic) AS topic_or_null, e.alpha, e.share,
            e.n_tokens, n.label AS label_or_null
        FROM dag_edge AS e INDEXED BY dag_edge_by_parent
        JOIN dag_node AS p ON p.model_id = e.model_id AND p.node = e.parent
        LEFT JOIN dag_node AS n ON n.model_id = e.model_id AND n.node = e.child
        WHERE e.model_id = :model_id AND e.parent = :node ORDER BY e.alpha DESC, e.position LIMIT :n""",
    "node_parents": """
        SELECT e.parent, n.name, e.alpha, e.share, e.n_tokens, n.label
        FROM dag_edge AS e INDEXED BY dag_edge_by_child
        JOIN dag_node AS n ON n.model_id = e.model_id AND n.node = e.parent
        WHERE e.model_id = :model_id AND e.child = :node ORDER BY e.alpha DESC, e.parent LIMIT :n""",
    "node_documents": """
        SELECT d.document_id, d.identifier, d.title, d.year, t.n_tokens, t.share
        FROM document_node AS t INDEXED BY document_node_by_node
        JOIN document AS d ON d.document_id = t.document_id
        WHERE t.model_id = :model_id AND t.node = :node ORDER BY t.share DESC, t.document_id LIMIT :n""",
    "node_trend": """
        SELECT year, n_tokens, share, lower, upper FROM node_trend
        WHERE year NOT NULL AND model_id = :model_id AND node = :node ORDER BY year""",
    "nodes_by_year": """
        SELECT year, node, share, lower, upper FROM node_trend WHERE year NOT NULL AND model_id = :model_id""",
    "nodes_by_decade": """
        SELECT decade, node, share, lower, upper FROM node_decade WHERE model_id = :model_id""",
    "document_nodes": """
        SELECT node, n_tokens, share FROM document_node
        WHERE model_id = :model_id AND document_id = :document_id ORDER BY share DESC, node LIMIT :n""",
    "word_by_word": """
        SELECT word_id, word, n_tokens, n_documents FROM word WHERE word = :word""",
    "word_topics": """
        SELECT topic, n_tokens, probability FROM topic_word
        WHERE model_id = :model_id AND word_id = :word_id ORDER BY n_tokens DESC, topic LIMIT :n""",
    "search": """
        SELECT d.document_id, d.identifier, d.title, d.year FROM document_search
        JOIN document AS d ON d.document_id = document_search.rowid
        WHERE document_search MATCH :match ORDER BY document_search.rank LIMIT :n""",
}

# A document as lists show it, with its authors in order as JSON, so that a list takes one query. Titles and names are
# cut, since one may be a megabyte long.
_DOCUMENT = """d.document_id, substr(d.identifier, 1, 301) AS identifier, substr(d.title, 1, 501) AS title, d.year,
            (SELECT json_group_array(json_array(author_id, author)) FROM (
                SELECT a.author_id, substr(a.author, 1, 201) AS author FROM document_author AS da
                JOIN author AS a ON a.author_id = da.author_id
                WHERE da.document_id = d.document_id ORDER BY da.position LIMIT 200)) AS authors"""

# The same columns for outer joins, where the document may be null.
_DOCUMENT_OR_NULL = _DOCUMENT.replace("d.document_id, ", "d.document_id AS document_id_or_null, ", 1).replace(
    "AS identifier,", "AS identifier_or_null,"
)

# Queries of the browser's pages. ``ids`` is a JSON list of numbers; CROSS JOIN makes it SQLite's outer loop.
PAGE_QUERIES = {
    "models": """
        SELECT model_id, name, model, n_topics, n_iter, n_chains, created, digest FROM model ORDER BY model_id DESC""",
    "model_details": """
        SELECT name, seed, topoi_version, bundle FROM model ORDER BY model_id DESC LIMIT :n""",
    "traces": """
        SELECT m.name, t.chain, t.sweep, t.log_joint FROM model AS m JOIN trace AS t ON t.model_id = m.model_id
        ORDER BY m.model_id, t.chain, t.sweep""",
    "labels": """
        SELECT topic, label FROM label WHERE model_id = :model_id
        AND typeof(topic) = 'integer' AND topic >= 0 AND topic < 65536 AND typeof(label) = 'text'""",
    "faces": """
        SELECT topic, n_tokens, share, hue, x, y, glue, words, deviation, label FROM topic
        WHERE model_id = :model_id ORDER BY topic""",
    "trends": """
        SELECT topic, year, n_tokens, share, lower, upper FROM topic_trend
        WHERE year NOT NULL AND model_id = :model_id""",
    "decades": """
        SELECT topic, decade, n_tokens, share, lower, upper FROM topic_decade WHERE model_id = :model_id""",
    "graph_nodes": """
        SELECT node, name, level, topic AS topic_or_null, n_children, n_tokens, share, words, deviation, label
        FROM dag_node WHERE model_id = :model_id ORDER BY node""",
    "graph_edges": """
        SELECT parent, child, alpha, share, n_tokens, deviation FROM dag_edge WHERE model_id = :model_id
        ORDER BY parent, position""",
    "graph_trends": """
        SELECT node, year, n_tokens, share, lower, upper FROM node_trend
        WHERE year NOT NULL AND model_id = :model_id""",
    "node_works": f"""
        SELECT {_DOCUMENT}, t.n_tokens, t.share
        FROM document_node AS t INDEXED BY document_node_by_node JOIN document AS d ON d.document_id = t.document_id
        WHERE t.model_id = :model_id AND t.node = :node ORDER BY t.share DESC, t.document_id LIMIT :n""",
    "words_named": """
        SELECT w.word_id, w.word FROM json_each(:ids) AS i CROSS JOIN word AS w ON w.word = i.value ORDER BY i.key""",
    "documents_named": """
        SELECT DISTINCT d.identifier FROM json_each(:ids) AS i CROSS JOIN document AS d ON d.identifier = i.value""",
    "some_metadata": """
        SELECT metadata FROM document WHERE document_id < :n""",
    "author_names": """
        SELECT author_id, substr(author, 1, 201) AS author, n_documents FROM author ORDER BY author_id""",
    "topic_word_counts": """
        SELECT w.word_id, w.word, t.n_tokens, t.probability, w.n_tokens AS n_of_word
        FROM topic_word AS t INDEXED BY topic_word_by_topic JOIN word AS w ON w.word_id = t.word_id
        WHERE t.model_id = :model_id AND t.topic = :topic
        ORDER BY t.probability DESC, t.word_id LIMIT :n""",
    "topic_leaders": """
        SELECT a.author_id, substr(a.author, 1, 201) AS author, t.n_tokens, t.probability FROM topic_author AS t
        JOIN author AS a ON a.author_id = t.author_id
        WHERE t.model_id = :model_id AND t.topic = :topic ORDER BY t.rank LIMIT :n""",
    "topic_neighbours": """
        SELECT other, distance FROM topic_neighbour
        WHERE model_id = :model_id AND topic = :topic ORDER BY rank LIMIT :n""",
    "topic_works": f"""
        SELECT {_DOCUMENT}, t.n_tokens, t.share FROM topic_document AS t
        JOIN document AS d ON d.document_id = t.document_id
        WHERE t.model_id = :model_id AND t.topic = :topic ORDER BY t.rank LIMIT :n""",
    "authors": """
        SELECT a.author_id, substr(a.author, 1, 201) AS author, a.n_documents FROM json_each(:ids) AS i
        CROSS JOIN author AS a ON a.author_id = i.value ORDER BY i.key""",
    "author": """
        SELECT substr(a.author, 1, 5001) AS author, a.n_documents,
            (SELECT json_group_array(json_array(author_id, author, n)) FROM (
                SELECT o.author_id, substr(x.author, 1, 201) AS author, count(DISTINCT o.document_id) AS n
                FROM document_author AS m JOIN document_author AS o ON o.document_id = m.document_id
                JOIN author AS x ON x.author_id = o.author_id
                WHERE m.author_id = :author_id AND o.author_id <> :author_id
                GROUP BY o.author_id ORDER BY n DESC, o.author_id LIMIT :n)) AS coauthors
        FROM author AS a WHERE a.author_id = :author_id""",
    "author_works": """
        SELECT m.document_id, d.year, p.perplexity
        FROM (SELECT DISTINCT document_id FROM document_author WHERE author_id = :author_id) AS m
        JOIN document AS d ON d.document_id = m.document_id
        LEFT JOIN author_document AS p
            ON p.model_id = :model_id AND p.author_id = :author_id AND p.document_id = m.document_id""",
    "author_vocabulary": """
        SELECT w.word_id, w.word, t.n_tokens, t.probability FROM author_word AS t
        JOIN word AS w ON w.word_id = t.word_id
        WHERE t.model_id = :model_id AND t.author_id = :author_id ORDER BY t.probability DESC, t.word_id""",
    "works": f"""
        SELECT {_DOCUMENT} FROM json_each(:ids) AS i
        CROSS JOIN document AS d ON d.document_id = i.value ORDER BY i.key""",
    "openings": """
        SELECT d.document_id, substr(d.text, 1, 300) AS text FROM json_each(:ids) AS i
        CROSS JOIN document AS d ON d.document_id = i.value ORDER BY i.key""",
    "works_with_texts": f"""
        SELECT {_DOCUMENT}, substr(d.text, 1, 50000) AS text FROM json_each(:ids) AS i
        CROSS JOIN document AS d ON d.document_id = i.value ORDER BY i.key""",
    "work_and_others": f"""
        SELECT {_DOCUMENT}, CASE WHEN i.key = 0 THEN substr(d.title, 1, 5001) END AS long_title, d.date, d.n_tokens,
            CASE WHEN i.key = 0 THEN substr(d.metadata, 1, 200001) END AS metadata_or_null,
            CASE WHEN i.key = 0 THEN d.text END AS text,
            CASE WHEN i.key = 0 THEN
                (SELECT json_group_array(json_array(node, n_tokens, share)) FROM (
                    SELECT node, n_tokens, share FROM document_node
                    WHERE model_id = :model_id AND document_id = d.document_id
                    ORDER BY share DESC, node LIMIT :n)) END AS nodes_or_null
        FROM json_each(:ids) AS i CROSS JOIN document AS d ON d.document_id = i.value ORDER BY i.key""",
    "document_text": """
        SELECT substr(text, 1, :n) AS text FROM document WHERE document_id = :document_id""",
    "names_of_work": """
        SELECT substr(a.author, 1, 201) AS author
        FROM document_author AS da JOIN author AS a ON a.author_id = da.author_id
        WHERE da.document_id = :document_id ORDER BY da.position LIMIT 50""",
    "found": f"""
        SELECT {_DOCUMENT}, substr(d.text, 1, 50000) AS text
        FROM document_search JOIN document AS d ON d.document_id = document_search.rowid
        WHERE document_search MATCH :match ORDER BY document_search.rank LIMIT :n OFFSET :skip""",
    "found_unranked": f"""
        SELECT {_DOCUMENT}, substr(d.text, 1, 50000) AS text
        FROM document_search JOIN document AS d ON d.document_id = document_search.rowid
        WHERE document_search MATCH :match LIMIT :n OFFSET :skip""",
    "found_numbers": """
        SELECT rowid AS document_id FROM document_search WHERE document_search MATCH :match LIMIT :n""",
    "n_found": """
        SELECT count(*) AS n_found FROM document_search WHERE document_search MATCH :match""",
    "matching": """
        SELECT rowid AS document_id FROM document_search WHERE document_search MATCH :match""",
    "matching_ranked": """
        SELECT rowid AS document_id FROM document_search WHERE document_search MATCH :match
        ORDER BY document_search.rank""",
    "found_titles": """
        SELECT d.document_id, substr(d.identifier, 1, 301) AS identifier, substr(d.title, 1, 301) AS title, d.year
        FROM document_search JOIN document AS d ON d.document_id = document_search.rowid
        WHERE document_search MATCH :match ORDER BY document_search.rank LIMIT :n""",
    "word_and_works": f"""
        SELECT {_DOCUMENT_OR_NULL},
            w.word, w.n_tokens, w.n_documents FROM word AS w
        LEFT JOIN (
            SELECT rowid AS document_id, rank FROM document_search
            WHERE document_search MATCH :match ORDER BY rank LIMIT :n) AS f
        LEFT JOIN document AS d ON d.document_id = f.document_id
        WHERE w.word_id = :word_id ORDER BY f.rank""",
    "all_perplexities": """
        SELECT author_id, document_id, perplexity FROM author_document WHERE model_id = :model_id""",
    "passages": """
        SELECT d.document_id, substr(d.title, 1, 301) AS title, d.year, t.word_ids, t.starts, t.lengths,
            substr(d.text, 1, :n) AS text
        FROM json_each(:ids) AS i CROSS JOIN document AS d ON d.document_id = i.value
        JOIN document_token AS t ON t.document_id = d.document_id ORDER BY i.key""",
    "edits": """
        SELECT record FROM edit WHERE model_id = :model_id ORDER BY number""",
    "steps_to_undo": """
        SELECT step FROM edit_state WHERE model_id = :model_id""",
    "words_beginning": """
        SELECT word_id, word, n_tokens FROM word
        WHERE word >= :first AND word < :beyond ORDER BY n_tokens DESC, word_id LIMIT :n""",
}
# Queries whose results are cached until the file changes.
READ_ONCE = frozenset(
    {
        "models",
        "faces",
        "trends",
        "decades",
        "graph_nodes",
        "graph_edges",
        "graph_trends",
        "author_names",
        "all_perplexities",
    }
)
# Words of the full-text index: a table in memory that reads it, and its rows, word by word.
FULL_TEXT_QUERIES = {
    "open": "CREATE VIRTUAL TABLE temp.indexed_word USING fts5vocab(main, document_search, 'instance')",
    "words": "SELECT term, doc FROM temp.indexed_word",
}
