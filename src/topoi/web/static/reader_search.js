// Search over titles and texts: the words of a query are looked up in the files of the index that may have them, and
// documents are ranked by BM25, as the full-text search of the program does it.
"use strict";

topoiReader.search = (() => {
  const MOST_TERMS = 12;
  const MOST_RANKED = 20000;
  const [K1, B] = [1.2, 0.75];
  const { core, file, lastNotBeyond } = topoiReader;

  // Lower case, without accents.
  const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const wordsOf = (text) => folded(text).match(/[\p{L}\p{N}\p{Co}]+/gu) || [];
  const termsOf = (query) => query.replace(/[\u0000-\u001f\u007f"]/g, " ").split(/\s+/).filter(Boolean).slice(0, MOST_TERMS);
  const mayBegin = (term) => term.length >= 3 || /[^\u0000-\u007f]/.test(term);

  // By code points, as the index is sorted; strings compare by halves of some characters.
  function compare(a, b) {
    const [one, other] = [[...a], [...b]];
    for (let i = 0; i < Math.min(one.length, other.length); i += 1) {
      if (one[i] !== other[i]) return one[i].codePointAt(0) - other[i].codePointAt(0);
    }
    return one.length - other.length;
  }

  const part = (number) => file(`terms-${number}`, ({ head, columns }) => {
    const starts = [0];
    for (const size of columns[0]) starts.push(starts[starts.length - 1] + size);
    return { terms: head.terms, starts, gaps: columns[1], counts: columns[2] };
  });

  // How often each document has a word, or words that begin so.
  async function postings(word, beginning) {
    const { head } = await file("index");
    const found = new Map();
    let number = Math.max(lastNotBeyond(head.first, (first) => compare(first, word)), 0);
    for (; number < head.first.length; number += 1) {
      const own = await part(number);
      let at = lastNotBeyond(own.terms, (term) => compare(term, word));
      if (at < 0 || own.terms[at] !== word) at += 1;
      for (; at < own.terms.length && (own.terms[at] === word || (beginning && own.terms[at].startsWith(word))); at += 1) {
        let document = 0;
        for (let i = own.starts[at]; i < own.starts[at + 1]; i += 1) {
          document += own.gaps[i];
          found.set(document, (found.get(document) || 0) + own.counts[i]);
        }
      }
      if (!beginning || at < own.terms.length) break;
    }
    return found;
  }

  // Documents that have all words of a query, the best first.
  async function documents(query) {
    const terms = termsOf(query);
    const asked = terms.flatMap((term, i) => {
      const words = wordsOf(term);
      const beginning = i === terms.length - 1 && mayBegin(term);
      return words.map((word, j) => ({ word, beginning: beginning && j === words.length - 1 }));
    });
    if (!asked.length) return [];
    const each = await Promise.all(asked.map(({ word, beginning }) => postings(word, beginning)));
    const { head, columns } = await file("index");
    const lengths = columns[0];
    const [rarest, ...others] = [...each].sort((a, b) => a.size - b.size);
    const common = [...rarest.keys()].filter((d) => others.every((one) => one.has(d)));
    if (common.length > MOST_RANKED) return common.sort((a, b) => a - b);
    const mean = lengths.reduce((sum, n) => sum + n, 0) / Math.max(head.n_documents, 1);
    const score = new Map(common.map((d) => [d, 0]));
    for (const one of each) {
      const weight = Math.max(Math.log((head.n_documents - one.size + 0.5) / (one.size + 0.5)), 1e-6);
      for (const d of common) {
        const n = one.get(d);
        score.set(d, score.get(d) + weight * n * (K1 + 1) / (n + K1 * (1 - B + B * lengths[d] / mean)));
      }
    }
    return common.sort((a, b) => score.get(b) - score.get(a) || a - b);
  }

  // A function that marks the words of a query in a text: pieces around the first, some of them hits.
  function finder(query) {
    const terms = termsOf(query);
    const choices = terms.map((term, i) => {
      const words = wordsOf(term);
      const end = i === terms.length - 1 && mayBegin(term) ? "[\\p{L}\\p{N}_]*" : "(?![\\p{L}\\p{N}_])";
      return words.length ? words.join("[^\\p{L}\\p{N}]{1,3}") + end : "";
    }).filter(Boolean);
    if (!choices.length) return () => null;
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${choices.join("|")})`, "gu");
    return (text) => {
      const even = text.replace(/\s+/g, " ").trim().normalize("NFC");
      const plain = [...even].map((letter) => (folded(letter) || letter).slice(0, letter.length).padEnd(letter.length)).join("");
      const first = [...plain.matchAll(pattern)][0];
      if (!first) return null;
      let start = Math.max(first.index - 60, 0);
      if (start) start = Math.max(even.indexOf(" ", start) + 1, 0) || start;
      start = Math.min(start, first.index);
      let end = Math.min(start + 220, even.length);
      if (end < even.length) end = Math.max(even.lastIndexOf(" ", end), first.index + first[0].length);
      const made = start ? [{ text: "… ", hit: false }] : [];
      let at = start;
      for (const match of plain.matchAll(pattern)) {
        if (match.index < start) continue;
        if (match.index >= end) break;
        const last = Math.min(match.index + match[0].length, end);
        made.push({ text: even.slice(at, match.index), hit: false }, { text: even.slice(match.index, last), hit: true });
        at = last;
      }
      made.push({ text: even.slice(at, end), hit: false });
      if (end < even.length) made.push({ text: " …", hit: false });
      return made.filter((piece) => piece.text);
    };
  }

  // Topics whose label or words begin as asked.
  async function topics(query, most) {
    const shared = await core();
    const wanted = wordsOf(query);
    if (!wanted.length) return [];
    const placed = shared.topics.filter((topic) => !shared.retired.includes(topic.topic)).map((topic) => {
      const own = [...wordsOf(topic.label || topic.auto_label), ...topic.words.map(folded)];
      const places = wanted.map((word) => own.findIndex((one) => one.startsWith(word)));
      return { topic, place: places.includes(-1) ? -1 : places.reduce((sum, at) => sum + at, 0) };
    }).filter((one) => one.place >= 0);
    return placed.sort((a, b) => a.place - b.place || b.topic.share - a.topic.share).slice(0, most).map((one) => one.topic);
  }

  // Authors with words in their names that begin as asked, the busiest first.
  async function authors(query) {
    const shared = await core();
    const wanted = wordsOf(query);
    if (!shared.collection.n_authors) return [];
    const all = await topoiReader.people(0, shared.collection.n_authors);
    return all.filter(({ author }) => {
      const own = wordsOf(author);
      return wanted.every((word) => own.some((one) => one.startsWith(word)));
    });
  }

  // Words that begin as asked and have a page.
  async function words(query, most) {
    const shared = await core();
    const wanted = query.trim().toLowerCase().replace(/\s+/g, "_");
    if (!wanted) return [];
    const ids = shared.kept.word;
    const found = shared.words.map((word, i) => ({ word, word_id: ids[i] })).filter(({ word }) => word.startsWith(wanted));
    return found.sort((a, b) => (b.word === wanted) - (a.word === wanted) || a.word.length - b.word.length).slice(0, most);
  }

  // The query in the syntax of the program's full-text index.
  const match = (query) => {
    const terms = termsOf(query);
    return terms.map((term) => `"${term}"`).join(" ") + (terms.length && mayBegin(terms[terms.length - 1]) ? "*" : "");
  };

  return { authors, documents, finder, match, topics, words };
})();
