// Data of an exported site. Files are scripts that call topoiData(name, contents), so that they can be read from a folder
// as well as from a web server; contents are zlib in letters of seven bits: the length of the JSON, the JSON, columns of numbers.
"use strict";

const topoiReader = (() => {
  const MOST_KEPT = 60; // files in memory, besides those that every page needs
  const ALWAYS = new Set(["core", "index", "words", "years"]);
  const arriving = new Map();
  const kept = new Map();

  window.topoiData = (name, text) => arriving.get(name)?.(text);

  const load = (name) => new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const failed = () => { arriving.delete(name); reject(new Error(`data/${name}.js is missing or damaged: export the site again`)); };
    arriving.set(name, (text) => { arriving.delete(name); resolve(text); });
    script.addEventListener("load", () => { script.remove(); if (arriving.has(name)) failed(); });
    script.addEventListener("error", () => { script.remove(); failed(); });
    script.src = `data/${name}.js`;
    document.head.append(script);
  });

  // Seven bits to the byte, lowest first; the last byte of a number is below 128.
  function numbers(data) {
    const found = [];
    let value = 0;
    let scale = 1;
    for (const byte of data) {
      if (byte < 128) {
        found.push(value + byte * scale);
        value = 0;
        scale = 1;
      } else {
        value += (byte - 128) * scale;
        scale *= 128;
      }
    }
    return found;
  }

  // Seven bits to the letter, the highest first.
  function bytesOf(text) {
    const found = new Uint8Array(Math.floor((text.length * 7) / 8));
    let [bits, n, at] = [0, 0, 0];
    for (let i = 0; i < text.length; i += 1) {
      bits = (bits << 7) | text.charCodeAt(i);
      n += 7;
      if (n >= 8) {
        n -= 8;
        found[at] = bits >> n;
        at += 1;
        bits &= (1 << n) - 1;
      }
    }
    return found;
  }

  async function unpack(text) {
    if (!("DecompressionStream" in window)) throw new Error("this web browser is too old to read the data; any of 2023 or later will do");
    const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
    const data = new Uint8Array(await new Response(stream).arrayBuffer());
    let at = 4 + new DataView(data.buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(data.subarray(4, at)));
    const columns = (head.columns || []).map((length) => {
      at += length;
      return numbers(data.subarray(at - length, at));
    });
    return { head, columns };
  }

  function file(name, read = (made) => made) {
    const found = kept.get(name) || load(name).then(unpack).then(read);
    kept.delete(name);
    kept.set(name, found);
    found.catch(() => kept.delete(name));
    const others = [...kept.keys()].filter((one) => !ALWAYS.has(one));
    for (const old of others.slice(0, Math.max(0, others.length - MOST_KEPT))) kept.delete(old);
    return found;
  }

  // What every page needs.

  const core = () => file("core", ({ head, columns }) => {
    const n = head.years.length;
    head.trends = head.topics.map((_, k) => columns[0].slice(k * n, (k + 1) * n).map((share) => share / 1e6));
    return head;
  });

  // Place of a number in a rising list, or -1; of the last start that is not beyond it.
  function placeOf(list, number) {
    const at = lastNotBeyond(list, (value) => value - number);
    return list[at] === number ? at : -1;
  }

  function lastNotBeyond(list, compare) {
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(list[middle]) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  // Badges, documents and names in place of their numbers.

  function documentsIn(value, found = new Set()) {
    if (Array.isArray(value)) for (const part of value) documentsIn(part, found);
    else if (value && typeof value === "object") {
      if ("$d" in value) found.add(value.$d);
      if ("$l" in value) {
        const at = value.$l[0].indexOf("$d");
        if (at >= 0) for (const row of value.$l[1]) found.add(row[at]);
      }
      for (const part of Object.values(value)) documentsIn(part, found);
    }
    return found;
  }

  function filled(value, about) {
    if (Array.isArray(value)) return value.map((part) => filled(part, about));
    if (!value || typeof value !== "object") return value;
    if ("$l" in value) {
      const [names, rows] = value.$l;
      return rows.map((row) => filled(Object.fromEntries(names.map((name, i) => [name, row[i]])), about));
    }
    if ("$o" in value) return Object.fromEntries(value.$o.map(([name, part]) => [name, filled(part, about)]));
    if ("$t" in value) return about.core.topics[value.$t];
    if ("$s" in value) return { ...about.core.topics[value.$s], trend: about.core.years.length ? about.core.trends[value.$s] : null };
    const made = {};
    if ("$d" in value) Object.assign(made, about.documents.get(value.$d).document);
    if ("$a" in value) Object.assign(made, { author_id: value.$a, author: about.names[value.$a] });
    for (const [name, part] of Object.entries(value)) if (!name.startsWith("$")) made[name] = filled(part, about);
    return made;
  }

  // Documents as lists show them, with their leading topics.
  async function listed(ids) {
    const shared = await core();
    const size = shared.listed.documents;
    const files = new Map();
    for (const id of ids) files.set(Math.floor(id / size), null);
    await Promise.all([...files.keys()].map(async (number) => files.set(number, await file(`list-${number}`, ({ head }) => ({
      documents: filled(head.documents, { core: shared, names: head.names, documents: new Map() }), topics: head.topics,
    })))));
    const found = new Map();
    for (const id of ids) {
      const from = files.get(Math.floor(id / size));
      const at = id % size;
      found.set(id, { document: { document_id: id, ...from.documents[at] }, topics: from.topics[at].map((k) => shared.topics[k]) });
    }
    return found;
  }

  // Texts with a topic, and perhaps an author, for every known word.

  const vocabulary = () => file("words", ({ head }) => new Map(head.words.map((word, i) => [word, i])));

  async function labels({ head, columns }) {
    const [gaps, lengths, topics, p, words, authors, q] = columns;
    const known = await vocabulary();
    const spelled = new Map();
    let [label, next] = [0, 0];
    return head.texts.map((text, d) => {
      const letters = /[\ud800-\udfff]/.test(text) ? [...text] : null; // positions count characters, not halves of them
      const cut = (from, to) => (letters ? letters.slice(from, to).join("") : text.slice(from, to));
      const pieces = [];
      let at = 0;
      for (const last = label + head.n_labels[d]; label < last; label += 1) {
        if (gaps[label]) pieces.push({ text: cut(at, at + gaps[label]) });
        at += gaps[label] + lengths[label];
        const written = cut(at - lengths[label], at);
        if (head.by_spelling && !spelled.has(written)) { spelled.set(written, words[next] ? words[next] - 1 : known.get(written.toLowerCase())); next += 1; }
        const word_id = head.by_spelling ? spelled.get(written) : words[label] - 1;
        const piece = { text: written, word_id, topic: topics[label], p: p[label] / head.steps };
        if (head.has_authors) Object.assign(piece, { author: authors[label], q: q[label] / head.steps });
        pieces.push(piece);
      }
      const rest = cut(at);
      if (rest) pieces.push({ text: rest });
      return pieces;
    });
  }

  const facesOf = (pieces, shared) => {
    const met = [...new Set(pieces.filter((piece) => "topic" in piece).map((piece) => piece.topic))].sort((a, b) => a - b);
    return Object.fromEntries(met.map((k) => [String(k), shared.topics[k]]));
  };

  const has = async (kind, number) => {
    const shared = await core();
    const some = shared.kept[kind];
    const all = { document: shared.collection.n_documents, author: shared.collection.n_authors };
    return some ? placeOf(some, number) >= 0 : Number.isInteger(number) && number >= 0 && number < all[kind];
  };

  // The JSON view of a document, an author or a word, as the server gives it; null if the site leaves it out.
  async function view(kind, number) {
    const shared = await core();
    if (!await has(kind, number)) return null;
    const at = shared.kept[kind] ? placeOf(shared.kept[kind], number) : number;
    const starts = shared.starts[kind] || [];
    const part = lastNotBeyond(starts, (start) => start - at);
    if (part < 0) return null;
    const { head, texts } = await file(`${kind}-${part}`, async (made) => ({ head: made.head, texts: kind === "document" ? await labels(made) : null }));
    const packed = head.views[at - starts[part]];
    const documents = await listed(documentsIn(packed));
    const found = filled(packed, { core: shared, names: head.names, documents });
    if (texts) {
      found.pieces = texts[at - starts[part]];
      found.faces = facesOf(found.pieces, shared);
    }
    return { view: found, python: head.python[at - starts[part]] };
  }

  // Authors, the busiest first.
  async function people(from, to) {
    const shared = await core();
    const size = shared.listed.people;
    const last = Math.min(to, shared.collection.n_authors);
    const found = [];
    for (let number = Math.floor(from / size); number * size < last; number += 1) {
      const { head, columns } = await file(`people-${number}`);
      for (let i = Math.max(0, from - number * size); i < head.names.length && number * size + i < last; i += 1) {
        found.push({ author_id: columns[0][i], author: head.names[i], n_documents: columns[1][i], topics: head.topics[i].map((k) => shared.topics[k]) });
      }
    }
    return found;
  }

  // Topics along time, by year or decade.
  async function trends(by) {
    const shared = await core();
    const { head, columns } = await file("trends");
    const own = filled(head.by[by], { core: shared, names: {}, documents: new Map() });
    const [n_tokens, ...shares] = columns.slice(by === "year" ? 0 : 4, by === "year" ? 4 : 8);
    const n = own.years.length;
    const row = (k) => shares.map((column) => column.slice(k * n, (k + 1) * n).map((share) => share / 1e6));
    return { ...own, n_tokens, row };
  }

  return { core, file, has, lastNotBeyond, listed, people, trends, view };
})();
