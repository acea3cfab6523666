// The reader of an exported site: documents, authors, words, lists, search and trends, drawn from the data beside it.
// Elements are built one by one and texts are only ever text, so that nothing in a collection can become markup.
"use strict";

(() => {
  const { core, has, listed, people, search, trends, view } = topoiReader;
  const SVG = "http://www.w3.org/2000/svg";
  const [A_PAGE, AUTHORS_A_PAGE, N_FOUND] = [30, 50, 20];
  const main = document.querySelector("#main");
  document.documentElement.classList.add("js");

  // Elements.

  function element(made, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
    return made;
  }
  const h = (tag, attributes = {}, ...children) => element(document.createElement(tag), attributes, children);
  const s = (tag, attributes = {}, ...children) => element(document.createElementNS(SVG, tag), attributes, children);
  const hidden = (words) => h("span", { class: "vh" }, words);

  // Numbers and names in words.

  const NARROW = "\u202f";
  const thousands = (n) => Math.round(n).toLocaleString("en-US");
  const count = (n, noun) => `${thousands(n)} ${noun}${n === 1 ? "" : "s"}`;
  const percent = (share) => (share === null || share === undefined ? "–" : share > 0 && share < 0.0005 ? `< 0.1${NARROW}%` : `${(100 * share).toFixed(share >= 0.0995 ? 0 : 1)}${NARROW}%`);
  const percents = (lower, upper) => {
    if (lower === null || lower === undefined) return "";
    const first = lower >= 0.0005 ? percent(lower).replace(`${NARROW}%`, "") : "0";
    return percent(lower) === percent(upper) ? percent(upper) : `${first}–${percent(upper).replace("< ", "")}`;
  };
  const clip = (text, length) => {
    const letters = String(text);
    if (letters.length <= length) return letters;
    const cut = letters.slice(0, length - 1);
    const space = cut.lastIndexOf(" ");
    return `${(space > length / 2 ? cut.slice(0, space) : cut).replace(/[ ,;:.]+$/, "")}…`;
  };

  // Addresses: pages of the reader are behind #/, the others are files.

  const to = (path, query = {}) => {
    const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one]))
      .filter(([, value]) => value !== null && value !== undefined && value !== "");
    const asked = new URLSearchParams(pairs).toString();
    return `#/${path}${asked ? `?${asked}` : ""}`;
  };
  const toTopic = (k) => `topic/${k}.html`;

  // Parts that several pages have.

  const topicClass = (topic) => `h${topic.hue}${topic.glue ? " glue" : ""}`;
  const nameOf = (topic) => topic.label || topic.auto_label;

  function badge(topic, n = 7) {
    const used = new Set(nameOf(topic).toLowerCase().split(/[\s,+]+/));
    const others = topic.words.filter((word) => !used.has(word.toLowerCase())).slice(0, n - 1).map((word) => clip(word, 30));
    const half = n > 3 ? Math.floor(n / 2) : others.length;
    const [near, far] = [others.slice(0, half), others.slice(half)];
    return h("a", { class: `face ${topicClass(topic)}`, href: toTopic(topic.topic) },
      h("b", { dir: "auto" }, clip(nameOf(topic), 60)), h("sub", {}, hidden("topic "), String(topic.topic)),
      near.length ? [" ", h("span", { class: "near" }, near.join(", ") + (far.length ? "," : ""))] : null,
      far.length ? [" ", h("span", { class: "far" }, far.join(", "))] : null);
  }

  const badges = (topics) => (topics.length ? h("span", { class: "faces" }, topics.map((topic, i) => [i ? " " : null, badge(topic, 1)])) : null);

  function names(authors, most = 6) {
    const shown = authors.slice(0, most).map((one, i) => [i ? "; " : null, h("a", { href: to(`author/${one.author_id}`) }, h("bdi", {}, clip(one.author, 60)))]);
    return [shown, authors.length > most ? ` and ${count(authors.length - most, "other")}` : null];
  }

  function row(document, { figure = null, skip = null, topics = [], snippet = null } = {}) {
    const authors = document.authors.filter((one) => one.author_id !== skip);
    return h("li", { class: "doc", "data-document": document.document_id },
      h("span", { class: "num" }, document.year === null ? null : String(document.year)),
      h("span", { class: "what" },
        h("a", { class: "title", dir: "auto", href: to(`document/${document.document_id}`) }, clip(document.title, 220)),
        authors.length ? h("small", {}, names(authors)) : null,
        snippet ? snippetOf(snippet) : null, badges(topics)),
      figure === null ? null : h("span", { class: "num figure" }, figure));
  }

  const snippetOf = (pieces) => h("span", { class: "snippet", dir: "auto" }, pieces.map(({ text, hit }) => (hit ? h("mark", {}, text) : text)));
  const figureHead = (words) => h("div", { class: "dochead", "aria-hidden": "true" }, h("span"), h("span"), h("span", { class: "num" }, words));
  const docs = (rows) => h("ol", { class: "docs" }, rows);
  const scaleOf = (rows) => Math.max(...rows.map((one) => Math.max(one.share, one.upper || 0))) || 1;

  function bar(one, scale) {
    const at = (value) => `${(100 * Math.min(1, Math.max(0, value / scale))).toPrecision(3)}%`;
    const whisker = (from, until, kind) => s("line", { x1: at(from), x2: at(until), y1: 3, y2: 3, class: kind });
    const known = one.lower !== null && one.lower !== undefined;
    return s("svg", { class: "bar", height: 6, "aria-hidden": "true" }, s("rect", { width: at(one.share), height: 6, rx: 3, class: "fill" }),
      known ? [whisker(one.lower, one.share, "whisker inside"), whisker(one.share, one.upper, "whisker")] : null);
  }

  function shareNumber(one) {
    const ends = percents(one.lower, one.upper);
    return h("span", { class: "num", title: ends ? `${percent(one.share)}; with a probability of 90${NARROW}% it is ${ends}` : null },
      percent(one.share), ends ? hidden(`, between ${ends.replace("–", " and ")}`) : null);
  }

  function section(title, ...children) {
    const id = `head-${title.toLowerCase().replace(/[^a-z]+/g, "-").slice(0, 40)}`;
    return h("section", { "aria-labelledby": id }, h("h2", { id }, title), children);
  }

  const alsoAsk = (questions) => section("Also ask", h("ul", { class: "plain" }, questions.filter(Boolean).map(([words, href]) => h("li", {}, h("a", { href }, words)))));
  const none = (words) => h("p", { class: "none" }, words);

  function pager(path, query, page, n_pages) {
    if (n_pages < 2) return null;
    return h("nav", { class: "pager", "aria-label": "More of the list" },
      page > 1 ? h("a", { rel: "prev", href: to(path, { ...query, page: page > 2 ? page - 1 : null }) }, "Earlier") : null,
      h("span", {}, `Page ${page} of ${thousands(n_pages)}`),
      page < n_pages ? h("a", { rel: "next", href: to(path, { ...query, page: page + 1 }) }, "Further") : null);
  }

  // A document: its text with every word coloured.

  function word(piece, found, byAuthor) {
    const key = byAuthor ? piece.author : piece.topic;
    if (key === undefined || key === null) return piece.text;
    const p = Math.round(100 * (byAuthor ? piece.q : piece.p));
    const strength = `s${Math.round(p / 10)}`;
    if (!byAuthor) {
      const topic = found.faces[key];
      return h("a", { href: toTopic(key), "data-k": key, "data-p": p, class: `${topicClass(topic)} ${strength}`, title: `${p} % ${nameOf(topic)} (topic ${key})`, tabindex: -1 }, piece.text);
    }
    const author = found.authors[key] || { hue: 0, author: "", author_id: null };
    const href = author.author_id === null ? null : to(`author/${author.author_id}`);
    return h("a", { href, "data-k": key + 1, "data-p": p, class: `h${author.hue} ${strength}`, title: `${p} % ${author.author}`, tabindex: -1 }, piece.text);
  }

  function text(found, colour) {
    const whole = found.pieces.map((piece) => piece.text).join("");
    const lengths = whole.split("\n").map((line) => line.length).filter((n) => n > 0).sort((a, b) => a - b);
    const lines = lengths.length > 1 && lengths[lengths.length >> 1] < 45;
    const paragraphs = [[]];
    for (const piece of found.pieces) {
      if ("topic" in piece) paragraphs[paragraphs.length - 1].push(word(piece, found, colour === "author"));
      else piece.text.split(/\n[^\S\n]*\n\s*/).forEach((part, i) => { if (i) paragraphs.push([]); paragraphs[paragraphs.length - 1].push(part); });
    }
    const made = h("div", { class: "text", "data-colour": colour },
      paragraphs.filter((parts) => parts.some((part) => typeof part !== "string" || part.trim())).map((parts) => h("p", { dir: "auto", class: lines ? "lines" : null }, parts)));
    made.querySelector("a")?.setAttribute("tabindex", 0);
    return made;
  }

  const mix = (rows, label, kind) => h("ul", { class: "mix" }, rows.map((one, i) => h("li", { class: kind === "topic" ? topicClass(one.topic) : `h${one.hue}` },
    shareNumber(one), h("span", { class: "what" }, label(one, i), bar(one, scaleOf(rows))))));

  const writer = (one, i) => h("span", { class: "face" }, h("b", {}, one.author_id === null ? h("bdi", {}, one.author)
    : h("a", { href: to(`author/${one.author_id}`) }, h("bdi", {}, clip(one.author, 60)))), h("sub", {}, hidden("number "), String(i + 1)));

  function facts(document) {
    const shown = Object.entries(document.metadata).map(([name, value]) => [h("dt", { dir: "auto" }, clip(name, 40)), h("dd", { dir: "auto" }, clip(Array.isArray(value) ? value.join(", ") : value, 200))]);
    return shown.length ? section("From the file", h("dl", { class: "facts" }, h("dt", {}, "id"), h("dd", { dir: "auto" }, clip(document.identifier, 120)), shown)) : null;
  }

  async function documentPage(number, query) {
    const got = await view("document", number);
    if (!got) return leftOut(`document ${number}`);
    const found = got.view;
    const { document } = found;
    const colour = query.get("colour") === "author" && found.authors.length ? "author" : "topic";
    const shared = await core();
    const own = found.topics.map((one) => one.topic);
    const switches = found.authors.length > 1 ? h("span", { class: "seg", role: "group", "aria-label": "Colour the words" },
      h("a", { href: to(`document/${number}`), "aria-current": colour === "topic" ? "true" : null }, "by topic"),
      h("a", { href: to(`document/${number}`, { colour: "author" }), "aria-current": colour === "author" ? "true" : null }, "by author")) : null;
    return {
      title: document.title, python: got.python, kind: "documents",
      body: [
        h("h1", { class: `title${document.title.length > 110 ? " long" : ""}`, dir: "auto" }, clip(document.title, 400)),
        h("p", { class: "sub" }, document.authors.length ? [names(document.authors, 25), " · "] : null,
          document.date || document.year ? `${document.date && !document.date.endsWith("-01-01") ? document.date : document.year} · ` : null,
          `${count(document.n_tokens, "word")} in the model’s vocabulary`),
        own.length ? h("div", { class: "narrow-only" }, badges(own.slice(0, 5))) : null,
        found.pieces.length ? [
          Object.keys(found.faces).length ? h("div", { class: "tools" }, switches, h("label", { class: "tick" }, h("input", { type: "checkbox", id: "numbers" }), " show numbers")) : null,
          text(found, colour)] : none(shared.has.texts ? "This document has no text." : "The texts are not in this site: the model was saved without them."),
        found.n_hidden ? h("p", { class: "note" }, `The text goes on for ${count(found.n_hidden, "more word")}, which are counted but not shown.`) : null,
      ],
      aside: [
        found.topics.length ? section("Topics of this document", mix(found.topics, (one) => badge(one.topic, 4), "topic"),
          h("p", { class: "note" }, found.topics[0].lower === null ? null : "The thin line on a bar holds the share with a probability of 90 %; it is long where a text is short.")) : null,
        found.authors.length ? section("Who wrote the words", mix(found.authors, writer, "author")) : null,
        found.similar.length ? section("Similar documents", h("ul", { class: "people" }, found.similar.map((one) => h("li", {},
          h("a", { class: "title", dir: "auto", href: to(`document/${one.document.document_id}`) }, clip(one.document.title, 110)), badges(one.topics))))) : null,
        alsoAsk([document.year === null ? null : [`Documents of ${document.year}`, to("documents", { year: document.year })],
          own.length && shared.years.length > 1 ? ["Its topics through the years", to("trends", { topic: own.slice(0, 5).map((one) => one.topic) })] : null,
          ["All documents", to("documents")]]),
        facts(document),
      ],
    };
  }

  // An author.

  function topicRows(rows) {
    const scale = scaleOf(rows);
    return h("ol", { class: "rows" }, rows.map((one) => h("li", { class: `row ${topicClass(one.topic)}` }, shareNumber(one),
      h("span", { class: "what" }, badge(one.topic)), h("span", { class: "length" }, bar(one, scale)))));
  }

  async function authorPage(number) {
    const got = await view("author", number);
    if (!got) return leftOut(`author ${number}`);
    const found = got.view;
    const { author } = found;
    const shared = await core();
    const odd = (title, rows) => (rows.length ? section(title, figureHead("perplexity"), docs(rows.map((one) => row(one.document, { figure: thousands(one.perplexity), skip: author.author_id })))) : null);
    return {
      title: author.name, python: got.python, kind: "authors",
      body: [
        h("h1", { dir: "auto" }, clip(author.name, 200)),
        h("p", { class: "sub", dir: "auto" }, clip(found.summary, 600)),
        found.topics.length ? section("Topics", topicRows(found.topics)) : null,
        found.words.length ? section("Words", h("ul", { class: "chips" }, found.words.map((one) => h("li", {}, h("a", { href: to(`word/${one.word_id}`) }, h("bdi", {}, clip(one.word, 40)), " ", h("small", {}, thousands(one.n_tokens))))))) : null,
        found.by_year && found.by_year.years.length > 1 ? section("Documents by year", yearColumns(found.by_year)) : null,
        odd("Most surprising documents", found.surprising),
        odd("Most typical documents", found.typical),
        section(author.n_documents > found.documents.length ? `The latest ${found.documents.length} of ${count(author.n_documents, "document")}` : "All documents",
          found.documents.length ? docs(found.documents.map((one) => row(one, { skip: author.author_id }))) : none("No documents in this collection.")),
      ],
      aside: [
        found.similar.length ? section("Writes about similar things", h("ul", { class: "people" }, found.similar.map((one) => h("li", {},
          h("a", { href: to(`author/${one.author_id}`) }, h("bdi", {}, clip(one.author, 60))), badges(one.topics))))) : null,
        found.coauthors.length ? section("Writes with", people_(found.coauthors)) : null,
        alsoAsk([shared.years.length > 1 && found.topics.length ? ["These topics through the years", to("trends", { topic: found.topics.slice(0, 5).map((one) => one.topic.topic) })] : null,
          ["Search the texts for this name", to("documents", { q: clip(author.name, 200) })]]),
      ],
    };
  }

  const people_ = (authors) => h("ul", { class: "chips" }, authors.map((one) => h("li", {}, h("a", { href: to(`author/${one.author_id}`) }, h("bdi", {}, clip(one.author, 60)), " ", h("small", {}, thousands(one.n_documents))))));

  function yearColumns({ years, n_documents }) {
    const [width, height] = [720, 110];
    const [first, last, most] = [years[0], years[years.length - 1], Math.max(...n_documents)];
    const wide = (width - 8) / (last - first + 1);
    const label = `Documents by year, ${first} to ${last}: at most ${most} in a year`;
    return h("div", { class: "chart" }, s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "years" },
      years.map((year, i) => s("rect", { x: (4 + (year - first) * wide).toFixed(1), width: Math.max(wide - 1, 0.8).toFixed(1), y: (90 - 80 * n_documents[i] / most).toFixed(1), height: (80 * n_documents[i] / most).toFixed(1), class: "column" },
        s("title", {}, `${year}: ${count(n_documents[i], "document")}`))),
      s("text", { x: 4, y: 106, class: "axis" }, String(first)), s("text", { x: width - 4, y: 106, "text-anchor": "end", class: "axis" }, String(last))));
  }

  // A word.

  async function wordPage(number) {
    const got = await view("word", number);
    if (!got) return leftOut(`word ${number}`);
    const found = got.view;
    const one = found.word;
    const rows = found.topics.map((sense) => ({ ...sense, share: sense.probability }));
    const in_topics = rows.length ? `, in ${count(rows.length, "topic")}` : "";
    return {
      title: one.word, python: got.python, kind: "topics",
      body: [
        h("h1", { dir: "auto" }, clip(one.word, 120)),
        h("p", { class: "sub" }, `${count(one.n_tokens, "use")} in ${count(one.n_documents, "document")}${in_topics}.`),
        rows.length ? section("Topics it is used in", h("ol", { class: "rows senses" }, rows.map((sense) => h("li", { class: `row ${topicClass(sense.topic)}` },
          h("span", { class: "num" }, percent(sense.share)), h("span", { class: "what" }, badge(sense.topic)), h("span", { class: "length" }, bar(sense, scaleOf(rows))),
          h("span", { class: "num rank" }, hidden("place in the topic: "), thousands(sense.word_rank)))))) : null,
        section("Documents", found.documents.length ? docs(found.documents.map((document) => row(document))) : none("No document is listed for this word.")),
      ],
      aside: [alsoAsk([[`All documents with “${clip(one.word, 40)}”`, to("documents", { q: one.word.replaceAll("_", " ") })],
        ["Names and titles with it", to("search", { q: one.word.replaceAll("_", " ") })], ["All topics", "index.html"]])],
    };
  }

  // Lists and search.

  async function rowsFor(ids, query) {
    const found = await listed(ids);
    const made = ids.map((id) => row(found.get(id).document, { topics: found.get(id).topics }));
    if (query) marks(made, ids, search.finder(query));
    return made;
  }

  // Snippets come when their texts have, without keeping the list waiting.
  function marks(rows, ids, find) {
    ids.forEach(async (id, i) => {
      try {
        const got = await view("document", id);
        const snippet = got && find(got.view.pieces.map((piece) => piece.text).join(""));
        if (snippet) (rows[i].querySelector("small") || rows[i].querySelector(".title")).after(snippetOf(snippet));
      } catch { /* the list stands without it */ }
    });
  }

  const yearsOf = () => topoiReader.file("years", ({ head, columns }) => columns[0].map((year) => (year ? year + head.before : null)));

  async function documentsPage(query) {
    const shared = await core();
    const [q, year] = [(query.get("q") || "").slice(0, 200), query.get("year") ? Number(query.get("year")) : null];
    const page = Math.max(Number(query.get("page")) || 1, 1);
    let ids = q.trim() ? await search.documents(q) : shared.kept.document || null;
    if (year !== null) {
      const years = await yearsOf();
      ids = (ids || years.map((_, d) => d)).filter((d) => years[d] === year);
    }
    const n_found = ids ? ids.length : shared.collection.n_documents;
    const from = (page - 1) * A_PAGE;
    const shown = ids ? ids.slice(from, from + A_PAGE) : Array.from({ length: Math.max(Math.min(A_PAGE, n_found - from), 0) }, (_, i) => from + i);
    return {
      title: q ? `Documents: ${clip(q, 60)}` : "Documents", kind: "documents", python: q ? foundLine(shared, q, year, from) : lineFor(shared, year === null ? "documents" : "of_year", { year, n: A_PAGE, skip: from }),
      body: [
        h("h1", {}, `Documents${year === null ? "" : ` of ${year}`}`),
        h("p", { class: "sub" }, count(n_found, "document"), q ? [" with “", h("bdi", {}, clip(q, 80)), "”"] : null, year === null ? null : [". ", h("a", { href: to("documents", { q }) }, "All years")]),
        unknownTo(query, ["q", "year", "page"]),
        findForm("documents", q, shared.years.length > 1 ? yearField(shared.years, year) : null),
        shown.length ? docs(await rowsFor(shown, q)) : none("No document has all of these words."),
        pager("documents", { q, year }, page, Math.ceil(n_found / A_PAGE)),
      ],
      aside: [alsoAsk([q ? [`Authors, topics and words with “${clip(q, 40)}”`, to("search", { q })] : null, ["All topics", "index.html"], shared.collection.n_authors ? ["All authors", "authors.html"] : null])],
    };
  }

  // Links of pages may narrow a list by more than the reader knows; it says so rather than show a wrong list.
  function unknownTo(query, known) {
    const others = [...new Set(query.keys())].filter((name) => !known.includes(name) && query.get(name));
    return others.length ? h("p", { class: "note" }, `Here the list cannot be narrowed by ${others.map((name) => name.replaceAll("_", " ")).join(" and ")}: topoi browse does that.`) : null;
  }

  function findForm(path, q, more = null) {
    const form = h("form", { class: "find" }, h("span", {}, h("label", { for: "find" }, path === "authors" ? "Name" : "Words"), h("input", { type: "search", id: "find", name: "q", value: q, maxlength: 200, dir: "auto" })), more, h("button", {}, "Find"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      location.hash = to(path, Object.fromEntries(new FormData(form)));
    });
    return form;
  }

  const yearField = (years, year) => h("span", {}, h("label", { for: "year" }, "Year"), h("select", { id: "year", name: "year" },
    h("option", { value: "" }, "any"), [...years].reverse().map((one) => h("option", { selected: one === year }, String(one)))));

  async function authorsPage(query) {
    const shared = await core();
    const q = (query.get("q") || "").slice(0, 200);
    const page = Math.max(Number(query.get("page")) || 1, 1);
    const from = (page - 1) * AUTHORS_A_PAGE;
    const all = q.trim() ? await search.authors(q) : null;
    const shown = all ? all.slice(from, from + AUTHORS_A_PAGE) : await people(from, from + AUTHORS_A_PAGE);
    const n_found = all ? all.length : shared.collection.n_authors;
    const about = shared.has.authors && shared.has.topics;
    return {
      title: "Authors", kind: "authors", python: q ? null : lineFor(shared, "authors", { n: AUTHORS_A_PAGE, skip: from }),
      body: [
        h("h1", {}, "Authors"),
        h("p", { class: "sub" }, q ? [count(n_found, "name"), " with “", h("bdi", {}, clip(q, 80)), "”"] : `${count(n_found, "author")}, those with most documents first`),
        unknownTo(query, ["q", "page"]),
        findForm("authors", q),
        shown.length ? h("table", { class: "list" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Author"), h("th", { scope: "col", class: "num" }, "Documents"), about ? h("th", { scope: "col" }, "Topics") : null)),
          h("tbody", {}, shown.map((one) => h("tr", {}, h("th", { scope: "row" }, h("a", { href: to(`author/${one.author_id}`) }, h("bdi", {}, clip(one.author, 80)))), h("td", { class: "num" }, thousands(one.n_documents)), about ? h("td", {}, badges(one.topics)) : null)))) : none("No author has this name."),
        pager("authors", { q }, page, Math.ceil(n_found / AUTHORS_A_PAGE)),
      ],
      aside: [alsoAsk([["All topics", "index.html"], ["All documents", to("documents")]])],
    };
  }

  async function searchPage(query) {
    const q = (query.get("q") || "").slice(0, 200);
    const shared = await core();
    const field = document.querySelector(".search input");
    if (field) field.value = q;
    const [topics, authors, words, found] = q.trim() ? await Promise.all([search.topics(q, 12), search.authors(q), search.words(q, 20), search.documents(q)]) : [[], [], [], []];
    const nothing = q.trim() && !topics.length && !authors.length && !words.length && !found.length;
    return {
      title: q || "Search", kind: "search", python: q ? lineFor(shared, "found", { match: search.match(q), n: N_FOUND }) : null,
      body: [
        h("h1", {}, q ? [h("span", { class: "quiet" }, "Search for "), h("bdi", {}, clip(q, 120))] : "Search"),
        q ? null : h("p", { class: "sub" }, "Type a name, a word or words of a text in the field above."),
        nothing ? none("Nothing in this collection goes by these words.") : null,
        authors.length ? section("Authors", people_(authors.slice(0, 20))) : null,
        topics.length ? section("Topics", h("ul", { class: "plain lines" }, topics.map((topic) => h("li", {}, badge(topic, 8))))) : null,
        words.length ? section("Words", h("ul", { class: "chips" }, words.map((one) => h("li", {}, h("a", { href: to(`word/${one.word_id}`) }, h("bdi", {}, clip(one.word, 60))))))) : null,
        found.length ? section("Documents", docs(await rowsFor(found.slice(0, N_FOUND), q)), found.length > N_FOUND ? h("p", { class: "more" }, h("a", { href: to("documents", { q }) }, `All ${thousands(found.length)} documents with these words`)) : null) : null,
      ],
      aside: [alsoAsk([["All topics", "index.html"], ["All documents", to("documents")], shared.collection.n_authors ? ["All authors", "authors.html"] : null])],
    };
  }

  // Topics along time.

  function lines(chosen, years, by) {
    const [width, height, left, right, low, top] = [720, 320, 44, 150, 290, 12];
    const most = Math.max(...chosen.flatMap((one) => one.upper), 1e-9);
    const x = (i) => left + (width - left - right) * (years[i] - years[0]) / Math.max(years[years.length - 1] - years[0], 1);
    const y = (share) => low - (low - top) * share / most;
    const path = (shares, first = "M") => shares.map((share, i) => `${i ? "L" : first}${x(i).toFixed(1)} ${y(share).toFixed(1)}`).join("");
    const back = (shares) => shares.map((share, i) => `L${x(i).toFixed(1)} ${y(share).toFixed(1)}`).reverse().join("");
    const ends = chosen.map((one, k) => ({ k, at: y(one.share[one.share.length - 1]) })).sort((a, b) => a.at - b.at);
    ends.forEach((one, i) => { if (i) one.at = Math.max(one.at, ends[i - 1].at + 14); });
    const marks = [0, 0.5, 1].map((part) => part * most);
    return h("div", { class: "chart scroll" }, s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Shares of each ${by}’s words, ${years[0]} to ${years[years.length - 1]}: ${chosen.map((one) => nameOf(one.topic)).join(", ")}` },
      marks.map((share) => [s("path", { d: `M${left} ${y(share).toFixed(1)}H${width - right}`, class: "grid" }), s("text", { x: left - 6, y: (y(share) + 4).toFixed(1), "text-anchor": "end", class: "axis" }, share ? percent(share) : "0")]),
      s("text", { x: left, y: height - 8, class: "axis" }, String(years[0])), s("text", { x: width - right, y: height - 8, "text-anchor": "end", class: "axis" }, String(years[years.length - 1])),
      chosen.map((one) => s("g", { class: `serie ${topicClass(one.topic)}` }, s("path", { d: `${path(one.lower)}${back(one.upper)}Z`, class: "spread" }), s("path", { d: path(one.share), class: "line" }))),
      ends.map(({ k, at }) => s("a", { href: toTopic(chosen[k].topic.topic), class: topicClass(chosen[k].topic) }, s("text", { x: width - right + 6, y: (at + 4).toFixed(1), class: "name" }, clip(nameOf(chosen[k].topic), 22))))));
  }

  async function trendsPage(query) {
    const shared = await core();
    const by = query.get("by") === "decade" ? "decade" : "year";
    if (shared.years.length < 2) return leftOut("trends");
    const found = await trends(by);
    const asked = query.getAll("topic").map(Number).filter((k) => Number.isInteger(k) && k >= 0 && k < shared.topics.length).slice(0, 24);
    const moving = [...found.hottest.slice(0, 3), ...found.coldest.slice(0, 3)].map((one) => one.topic.topic);
    const largest = [...shared.topics].sort((a, b) => a.glue - b.glue || b.share - a.share).slice(0, 3).map((topic) => topic.topic);
    const chosen = asked.length ? [...new Set(asked)] : moving.length ? moving : largest;
    const series = chosen.map((k) => { const [share, lower, upper] = found.row(k); return { topic: shared.topics[k], share, lower, upper }; });
    const form = h("form", { class: "choose" }, h("fieldset", {}, h("legend", {}, "Topics to show"), h("ul", { class: "choices" },
      [...shared.topics].filter((topic) => !shared.retired.includes(topic.topic)).sort((a, b) => chosen.includes(b.topic) - chosen.includes(a.topic) || b.share - a.share)
        .map((topic) => h("li", { class: topicClass(topic) }, h("label", { class: "face" }, h("input", { type: "checkbox", name: "topic", value: topic.topic, checked: chosen.includes(topic.topic) }), h("span", {}, clip(nameOf(topic), 60))))))),
      h("div", { class: "inline", role: "radiogroup", "aria-label": "By" }, ["year", "decade"].map((one) => h("label", {}, h("input", { type: "radio", name: "by", value: one, checked: one === by }), ` ${one}`))));
    form.addEventListener("change", () => {
      const given = new FormData(form);
      location.hash = to("trends", { topic: given.getAll("topic"), by: given.get("by") === "decade" ? "decade" : null });
    });
    return {
      title: "Trends", kind: "trends", python: lineFor(shared, "trends", { by, topics: series.map((one) => one.topic.topic) }),
      body: [h("h1", {}, "Trends"), h("p", { class: "sub" }, `Topics by their share of each ${by}’s words, ${found.years[0]}–${found.years[found.years.length - 1]}.`), lines(series, found.years, by),
        h("p", { class: "note" }, "Bands hold the share with a probability of 90 %: they are wide where few documents speak for a period.")],
      aside: [form, alsoAsk([["All topics", "index.html"], ["All documents", to("documents")]])],
    };
  }

  // What the site leaves out, and what goes wrong.

  function leftOut(what) {
    return { title: "Not in this copy", kind: "", python: null, aside: [], body: [h("h1", {}, "Not in this copy"), none(`This site does not include ${what}.`), h("ul", { class: "plain" }, h("li", {}, h("a", { href: "index.html" }, "All topics")), h("li", {}, h("a", { href: to("documents") }, "All documents")))] };
  }

  const quoted = (text) => `'${text.replace(/[\\']/g, "\\$&").replace(/[\u0000-\u001f\u007f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`)}'`;

  function lineFor(shared, kind, given) {
    const pattern = shared.python[kind];
    return pattern ? pattern.replace(/\{(\w+)\}/g, (_, name) => (typeof given[name] === "string" ? quoted(given[name]) : Array.isArray(given[name]) ? given[name].join(", ") : given[name] ?? "None")) : null;
  }

  function foundLine(shared, q, year, from) {
    const all = lineFor(shared, "found", { match: search.match(q), n: -1 });
    return `[row for row in ${all}${year === null ? "" : ` if row[3] == ${year}`}][${from}:${from + A_PAGE}]`;
  }

  // Addresses lead to pages.

  const PAGES = [
    [/^document\/(\d+)$/, (query, number) => documentPage(number, query)],
    [/^author\/(\d+)$/, (query, number) => authorPage(number)],
    [/^word\/(\d+)$/, (query, number) => wordPage(number)],
    [/^documents$/, documentsPage], [/^authors$/, authorsPage], [/^search$/, searchPage], [/^trends$/, trendsPage],
  ];
  const FILES = /^(topic\/\d+|models|compare(\/[\w.~-]+)?|structure(\/\d+)?|history|metadata|map)$/;
  let latest = 0;

  async function pageAt(path, query) {
    for (const [pattern, make] of PAGES) {
      const match = path.match(pattern);
      if (match) return make(query, ...match.slice(1).map(Number));
    }
    return leftOut("such a page");
  }

  function share(shared, python) {
    const link = document.querySelector("[data-permalink]");
    if (link) link.href = location.href;
    const [details, lines_] = [document.querySelector("#share-python"), document.querySelector("#python-lines")];
    if (!details || !lines_) return;
    details.hidden = !python;
    lines_.textContent = python ? [...shared.opening, python].join("\n") : "";
  }

  async function show() {
    const mine = ++latest;
    const [path, asked = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    if (FILES.test(path)) return location.replace(`${path}.html`);
    if (path === "" || path === "overview") return location.replace("index.html");
    main.setAttribute("aria-busy", "true");
    let made;
    try {
      made = await pageAt(path, new URLSearchParams(asked));
      if (mine !== latest) return null;
      const shared = await core();
      document.title = `${clip(made.title, 80)} · ${clip(shared.title, 80)}`;
      for (const link of document.querySelectorAll(".top nav a")) {
        if (link.hash === `#/${made.kind}` || link.getAttribute("href") === `${made.kind}.html`) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
      share(shared, made.python);
    } catch (error) {
      if (mine !== latest) return null;
      made = { body: [h("h1", {}, "This page could not be shown"), none(error.message)], aside: [] };
    }
    main.replaceChildren(h("div", { class: "body" }, made.body), h("aside", {}, made.aside));
    main.removeAttribute("aria-busy");
    window.scrollTo(0, 0);
    const status = document.querySelector("#status");
    if (status) status.textContent = document.title;
    if (show.before) main.focus({ preventScroll: true });
    show.before = true;
    return null;
  }

  // A text is one stop for the tab key; arrows go from word to word.
  document.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = event.target.closest?.(".text a");
    if (at && by && !event.altKey && !event.ctrlKey && !event.metaKey) {
      const words = [...main.querySelectorAll(".text a")];
      const next = words[words.indexOf(at) + by];
      if (!next) return;
      at.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
      event.preventDefault();
    }
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest?.("input, textarea, select")) {
      event.preventDefault();
      document.querySelector(".search input")?.focus();
    }
  });
  document.querySelector("form.search")?.addEventListener("submit", (event) => {
    event.preventDefault();
    location.hash = to("search", { q: event.target.elements.q.value.slice(0, 200) });
  });
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
  window.addEventListener("hashchange", show);

  // The search field of pages that are files sends ?q=.
  const given = new URLSearchParams(location.search).get("q");
  if (given !== null && !location.hash) location.replace(`read.html${to("search", { q: given.slice(0, 200) })}`);
  else show();
})();
