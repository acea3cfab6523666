"""The questions that pages ask of a store, each answered from an index.

Named parameters: ``model_id``, ``topic``, ``author_id``, ``document_id``, ``word_id``, ``word``, ``author``, ``match``,
``n``. None of them reads more rows than it returns, give or take a sort of one topic's or author's rows.
"""

from __future__ import annotations

QUERIES = {
    "topics": """
        SELECT t.topic, t.n_tokens, t.share, l.label FROM topic AS t
        LEFT JOIN label AS l ON l.model_id = t.model_id AND l.topic = t.topic
        WHERE t.model_id = :model_id ORDER BY t.topic""",
    "topic_words": """
        SELECT w.word_id, w.word, t.n_tokens, t.probability FROM topic_word AS t INDEXED BY topic_word_by_topic
        JOIN word AS w ON w.word_id = t.word_id
        WHERE t.model_id = :model_id AND t.topic = :topic ORDER BY t.n_tokens DESC, t.word_id LIMIT :n""",
    "topic_authors": """
        SELECT t.rank, a.author_id, a.author, t.n_tokens, t.probability FROM topic_author AS t
        JOIN author AS a ON a.author_id = t.author_id
        WHERE t.model_id = :model_id AND t.topic = :topic ORDER BY t.rank LIMIT :n""",
    "topic_documents": """
        SELECT t.rank, d.document_id, d.identifier, d.title, d.year, t.n_tokens, t.share FROM topic_document AS t
        JOIN document AS d ON d.document_id = t.document_id
        WHERE t.model_id = :model_id AND t.topic = :topic ORDER BY t.rank LIMIT :n""",
    "topic_trend": """
        SELECT year, n_tokens, share FROM topic_trend
        WHERE model_id = :model_id AND topic = :topic ORDER BY year""",
    "author_by_name": """
        SELECT author_id, author, n_documents FROM author WHERE author = :author COLLATE NOCASE""",
    "author_topics": """
        SELECT topic, n_tokens FROM author_topic
        WHERE model_id = :model_id AND author_id = :author_id ORDER BY n_tokens DESC, topic LIMIT :n""",
    "author_documents": """
        SELECT d.document_id, d.identifier, d.title, d.year FROM document_author AS da
        JOIN document AS d ON d.document_id = da.document_id
        WHERE da.author_id = :author_id ORDER BY da.document_id LIMIT :n""",
    "author_words": """
        SELECT w.word_id, w.word, t.n_tokens, t.probability FROM author_word AS t
        JOIN word AS w ON w.word_id = t.word_id
        WHERE t.model_id = :model_id AND t.author_id = :author_id ORDER BY t.probability DESC LIMIT :n""",
    "document": """
        SELECT d.*, t.word_ids, t.starts, t.lengths FROM document AS d
        JOIN document_token AS t ON t.document_id = d.document_id WHERE d.document_id = :document_id""",
    "document_authors": """
        SELECT da.position, a.author_id, a.author FROM document_author AS da
        JOIN author AS a ON a.author_id = da.author_id WHERE da.document_id = :document_id ORDER BY da.position""",
    "document_topics": """
        SELECT topic, n_tokens FROM document_topic
        WHERE model_id = :model_id AND document_id = :document_id ORDER BY n_tokens DESC, topic LIMIT :n""",
    "document_assignment": """
        SELECT topics, author_positions FROM document_assignment
        WHERE model_id = :model_id AND document_id = :document_id""",
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
