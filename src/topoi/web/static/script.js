// Everything here is a comfort: pages read and work without it. It sets classes and attributes, and one pair of custom
// properties (where the tooltip stands); it never builds pages of its own, but fetches them from the server.
"use strict";

(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const served = location.protocol.startsWith("http");
  document.documentElement.classList.add("js");

  const say = (words) => { const status = one("#status"); if (status) status.textContent = words; };
  const debounce = (wait, act) => {
    let timer;
    return (...given) => { clearTimeout(timer); timer = setTimeout(() => act(...given), wait); };
  };

  // Pages in place of pages: fetch an address, put its parts where the old ones were.

  let running = null;

  async function swap(url, targets, { body = null, push = false } = {}) {
    if (running) running.abort();
    running = new AbortController();
    const mine = running;
    const main = one("main");
    main.setAttribute("aria-busy", "true");
    const slow = setTimeout(() => main.classList.add("busy"), 150);
    try {
      const answer = await fetch(url, { method: body ? "POST" : "GET", body, signal: mine.signal, headers: { Accept: "text/html" } });
      const text = await answer.text();
      if (!(answer.headers.get("content-type") || "").includes("html")) throw new Error("no page");
      if (mine !== running) return;
      put(new DOMParser().parseFromString(text, "text/html"), targets);
      if (push) history.pushState(null, "", url);
      say("Updated");
    } finally {
      if (mine === running) running = null;
      clearTimeout(slow);
      const now = one("main");
      now.classList.remove("busy");
      now.removeAttribute("aria-busy");
    }
  }

  function put(page, targets) {
    const focus = document.activeElement && document.activeElement.id;
    const numbers = one("#numbers")?.checked;
    for (const selector of [...targets, "footer"]) {
      const [old, fresh] = [one(selector), one(selector, page)];
      if (old && fresh) old.replaceWith(document.adoptNode(fresh));
    }
    document.title = page.title;
    if (numbers && one("#numbers")) one("#numbers").checked = true;
    if (focus && document.activeElement?.id !== focus) document.getElementById(focus)?.focus({ preventScroll: true });
    tidy();
  }

  const follow = (link) => swap(link.href, ["main"], { push: true }).catch((error) => {
    if (error.name !== "AbortError") location.assign(link.href);
  });

  function addressOf(form) {
    const url = new URL(form.action);
    url.search = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== "")).toString();
    return url.href;
  }

  function send(form, { push = true, targets = form.dataset.live.split(",") } = {}) {
    const post = form.method === "post";
    const url = post ? form.action : addressOf(form);
    const body = post ? new URLSearchParams(new FormData(form)) : null;
    return swap(url, targets, { body, push: push && !post }).then(() => {
      if (post) one("main h1")?.scrollIntoView({ block: "nearest" });
    }).catch((error) => {
      if (error.name !== "AbortError") form.submit();
    });
  }

  // However often a slider is moved, one step back leads to where it was first.
  function keepSlider(url) {
    if (history.state?.slider) history.replaceState({ ...history.state, slider: true }, "", url);
    else history.pushState({ slider: true }, "", url);
  }

  const sendSoon = debounce(120, (form) => send(form, { push: false }));

  // Search and names with completion: the combobox pattern.

  const KINDS = { author: "author", topic: "topic", word: "word", document: "document" };

  function complete(input) {
    if (input.dataset.ready) return;
    input.dataset.ready = "yes";
    const names = "names" in input.dataset;
    const source = input.dataset.complete || input.dataset.names;
    const list = document.createElement("ul");
    list.className = "options";
    list.id = `${input.id}-options`;
    list.hidden = true;
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Suggestions");
    const holder = document.createElement("div");
    holder.className = "combo";
    input.replaceWith(holder);
    holder.append(input, list);
    for (const [key, value] of Object.entries({
      role: "combobox", "aria-expanded": "false", "aria-controls": list.id, "aria-autocomplete": "list", "aria-haspopup": "listbox",
    })) input.setAttribute(key, value);

    let found = [];
    let at = -1;
    let request = null;

    const close = () => {
      list.hidden = true;
      at = -1;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
    };
    const typed = () => (names ? input.value.split(";").pop() : input.value).trim();
    const mark = (next) => {
      at = next;
      [...list.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === at)));
      if (at < 0) return input.removeAttribute("aria-activedescendant");
      input.setAttribute("aria-activedescendant", list.children[at].id);
      list.children[at].scrollIntoView({ block: "nearest" });
    };
    const take = (choice) => {
      close();
      if (!names) return location.assign(choice.href);
      const kept = input.value.split(";").slice(0, -1).map((name) => name.trim()).filter(Boolean);
      input.value = [...kept, choice.label].join("; ") + "; ";
      const named = one("input[name=who][value=named]");
      if (named) named.checked = true;
    };
    const option = (choice, i) => {
      const item = document.createElement("li");
      item.id = `${list.id}-${i}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      for (const [kind, words] of [["kind", KINDS[choice.kind] || ""], ["label", choice.label], ["detail", choice.detail || ""]]) {
        const part = document.createElement("bdi");
        part.className = kind;
        part.textContent = words;
        if (words) item.append(part);
      }
      item.addEventListener("mousedown", (event) => { event.preventDefault(); take(choice); });
      item.addEventListener("mousemove", () => { if (at !== i) mark(i); });
      return item;
    };
    const look = debounce(110, async () => {
      if (!typed()) return close();
      if (request) request.abort();
      request = new AbortController();
      const url = new URL(source, location.href);
      url.searchParams.set("q", typed().slice(0, 200));
      try {
        const answer = await fetch(url, { signal: request.signal });
        if (!answer.ok) return close();
        found = (await answer.json()).filter((choice) => !names || choice.kind === "author");
      } catch { return; }
      if (document.activeElement !== input) return;
      list.replaceChildren(...found.map(option));
      // A name that is complete needs no list over the button below it.
      const complete = names && found.length === 1 && found[0].label === typed();
      if (!found.length || complete) return close();
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      mark(-1);
      say(`${found.length} suggestions`);
    });
    input.addEventListener("input", look);
    input.addEventListener("blur", close);
    input.addEventListener("keydown", (event) => {
      const open = !list.hidden;
      if (event.key === "ArrowDown" && !open) { look(); event.preventDefault(); }
      if (!open) return;
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        const n = found.length + 1;
        mark(((at + 1 + (event.key === "ArrowDown" ? 1 : n - 1)) % n) - 1);
        event.preventDefault();
      } else if (event.key === "Enter" && at >= 0) {
        take(found[at]);
        event.preventDefault();
      } else if (event.key === "Escape") {
        close();
        event.preventDefault();
      }
    });
  }

  // Words of a text light up where their topic or author is pointed at.

  let lit = null;

  function light(item) {
    if (item === lit) return;
    lit = item;
    for (const text of all(".text")) {
      const [kind, number] = (item?.dataset.lights || "").split(" ");
      const words = kind === text.dataset.colour ? all(`a[data-k="${number}"]`, text) : [];
      for (const old of all("a.on", text)) old.classList.remove("on");
      for (const word of words) word.classList.add("on");
      text.classList.toggle("lit", words.length > 0);
    }
  }

  // A text is one stop for the tab key; arrows go from word to word.

  function rove(text) {
    const words = all("a", text);
    words.forEach((word, i) => { word.tabIndex = i ? -1 : 0; });
  }

  function step(event) {
    const word = event.target.closest?.(".text a");
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!word || !by || event.altKey || event.ctrlKey || event.metaKey) return;
    const words = all("a", word.closest(".text"));
    const next = words[words.indexOf(word) + by];
    if (!next) return;
    word.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
    event.preventDefault();
  }

  // A change of topics on its way: the page is fetched again until it has come to rest; words and discs glide to their
  // new places, unless motion is unwelcome.

  const WAIT = 500;
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  function places() {
    const found = new Map();
    for (const item of all("[data-flip]")) found.set(item.dataset.flip, item.getBoundingClientRect());
    for (const disc of all(".map a")) {
      const circle = one("circle", disc);
      const drawing = disc.closest("svg").getAttribute("class");
      if (circle) found.set(`${drawing} ${disc.getAttribute("href")}`, { left: circle.cx.baseVal.value, top: circle.cy.baseVal.value, r: circle.r.baseVal.value });
    }
    return found;
  }

  function glide(before) {
    if (still.matches) return;
    const now = places();
    const move = (item, key) => {
      const [old, fresh] = [before.get(key), now.get(key)];
      const how = { duration: 700, easing: "ease-in-out" };
      if (!old) item.animate([{ opacity: 0 }, { opacity: 1 }], how);
      else if (old.left !== fresh.left || old.top !== fresh.top) {
        item.animate([{ transform: `translate(${old.left - fresh.left}px, ${old.top - fresh.top}px)` }, { transform: "none" }], how);
      }
      if (old && old.r !== fresh.r) one("circle", item)?.animate([{ r: `${old.r}px` }, { r: `${fresh.r}px` }], how);
    };
    for (const item of all("[data-flip]")) move(item, item.dataset.flip);
    if (![...before.keys()].some((key) => key.includes("/topic/"))) return;
    for (const disc of all(".map a")) move(disc, `${disc.closest("svg").getAttribute("class")} ${disc.getAttribute("href")}`);
  }

  async function watch() {
    if (!one("[data-watch]") || watch.on) return;
    watch.on = true;
    const here = location.href;
    try {
      while (one("[data-watch]") && location.href === here) {
        await new Promise((done) => { setTimeout(done, WAIT); });
        const answer = await fetch(here, { headers: { Accept: "text/html" } });
        if (!(answer.headers.get("content-type") || "").includes("html")) throw new Error("no page");
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (location.href !== here) return;
        if (one(".stop button:active")) continue; // it is being pressed
        const before = places();
        const focused = one(".stop button") === document.activeElement;
        put(page, ["main"]);
        if (focused) one(".stop button")?.focus();
        glide(before);
      }
      if (location.href === here) say(one("#change .sub")?.textContent || "Done");
    } catch {
      setTimeout(watch, 4 * WAIT); // the server is busy, or gone for a moment
    } finally {
      watch.on = false;
    }
  }

  // Lists that can be narrowed.

  // What was typed is kept in the history, so that Back shows the list as it was left.
  function narrow(input) {
    const key = input.dataset.filter;
    if (history.state?.filters?.[key] !== input.value) {
      history.replaceState({ ...history.state, filters: { ...history.state?.filters, [key]: input.value } }, "");
    }
    narrowed(input);
  }

  function narrowed(input) {
    const wanted = input.value.trim().toLowerCase();
    for (const list of all(input.dataset.filter)) {
      for (const item of list.children) item.hidden = wanted !== "" && !item.textContent.toLowerCase().includes(wanted);
    }
  }

  // A chart as PNG, drawn from its SVG file.

  async function savePng(link) {
    const file = await (await fetch(link.href)).blob();
    const picture = new Image();
    const address = URL.createObjectURL(file);
    picture.src = address;
    await picture.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [picture.naturalWidth * 2, picture.naturalHeight * 2];
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    const png = await new Promise((done) => { canvas.toBlob(done, "image/png"); });
    const save = document.createElement("a");
    save.href = URL.createObjectURL(png);
    save.download = `${new URL(link.href).pathname.split("/").slice(-2).join("-").replace(/\.svg$/, "")}.png`;
    save.click();
    setTimeout(() => URL.revokeObjectURL(save.href), 1000);
  }

  function offerPng(link) {
    if (link.nextElementSibling?.matches("button")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.textContent = "Picture as PNG";
    button.addEventListener("click", () => savePng(link).catch(() => say("The picture could not be made")));
    link.after(button);
  }

  // What has to be done to fresh pages and fresh parts of pages.

  function tidy() {
    for (const input of all("[data-complete], [data-names]")) if (served) complete(input);
    for (const input of all("[data-filter]")) {
      input.closest("label").hidden = false;
      const kept = history.state?.filters?.[input.dataset.filter];
      if (kept && !input.value) input.value = kept;
      if (input.value) narrowed(input);
    }
    for (const text of all(".text")) rove(text);
    for (const link of all("[data-picture]")) if (served) offerPng(link);
    one(".top nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
    lit = null;
    document.dispatchEvent(new CustomEvent("topoi:fresh"));
    if (served) watch();
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-swap]");
    if (link && served && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
      event.preventDefault();
      follow(link);
    }
    for (const menu of all("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-live]") || !served) return;
    event.preventDefault();
    send(event.target, event.target.matches(".asking") || event.target.dataset.live === "main" ? {} : { push: true });
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-filter]")) narrow(event.target);
    if (event.target.matches(".slider input")) {
      one("output", event.target.form).textContent = `λ ${Number(event.target.value).toFixed(2)}`;
      if (served && event.target.form.dataset.live) sendSoon(event.target.form);
    }
    if (event.target.matches("#names") && event.target.value.trim()) {
      const named = one("input[name=who][value=named]");
      if (named) named.checked = true;
    }
  });
  document.addEventListener("change", (event) => {
    if (!served) return;
    if (event.target.matches(".slider input")) keepSlider(addressOf(event.target.form));
    if (event.target.matches(".choose[data-live] input:not([type=search])")) send(event.target.form);
  });
  for (const kind of ["mouseover", "focusin"]) {
    document.addEventListener(kind, (event) => light(event.target.closest?.("[data-lights]") || null));
  }
  document.addEventListener("focusout", () => light(null));
  // What charts.js asks for: another address in place of this page, or the same page again.
  document.addEventListener("topoi:go", (event) => follow({ href: event.detail }));
  document.addEventListener("topoi:again", () => swap(location.href, ["main"]).catch(() => {}));
  document.addEventListener("keydown", (event) => {
    step(event);
    if (event.key === "Escape") {
      for (const menu of all("details.menu[open]")) { menu.open = false; one("summary", menu).focus(); }
    }
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey
        && !event.target.closest?.("input, textarea, select, [contenteditable]")) {
      event.preventDefault();
      one(".search input")?.focus();
    }
  });
  window.addEventListener("popstate", () => {
    if (served) swap(location.href, ["main"]).catch((error) => { if (error.name !== "AbortError") location.reload(); });
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) tidy(); });

  tidy();
})();
