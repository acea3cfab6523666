// Charts along time, made livelier: a crosshair with the numbers of a year, a range to drag, years that lead to their
// documents, one tooltip for everything; all by mouse, touch and keyboard. Charts are drawn by the server and read
// without this; years are links, and years to show are in the address, without it too.
"use strict";

(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const served = location.protocol.startsWith("http");
  const SVG = "http://www.w3.org/2000/svg";
  const tip = one("#tip");
  const NEAR = 5; // pixels: a shorter drag is a click
  let told = null;

  // The tooltip: lines of text, the first of which is a heading, beside a target or the pointer.

  function tell(target, lines, how = "") {
    told = target;
    const parts = lines.map((line) => {
      if (line instanceof Node) return line;
      const part = document.createElement("p");
      part.textContent = line;
      return part;
    });
    if (how) {
      const part = document.createElement("p");
      part.className = "how";
      part.textContent = how;
      parts.push(part);
    }
    tip.replaceChildren(...parts);
    tip.hidden = false;
    const [box, own] = [target.getBoundingClientRect(), tip.getBoundingClientRect()];
    const left = Math.max(8, Math.min(box.left + box.width / 2 - own.width / 2, innerWidth - own.width - 8));
    const top = box.top - own.height - 8 > 0 ? box.top - own.height - 8 : box.bottom + 8;
    tip.style.setProperty("--x", `${Math.round(left)}px`);
    tip.style.setProperty("--y", `${Math.round(Math.max(4, Math.min(top, innerHeight - own.height - 4)))}px`);
    if (target.matches("a[href], [tabindex]")) target.setAttribute("aria-describedby", "tip");
  }

  function hush() {
    if (!told) return;
    told.removeAttribute("aria-describedby");
    told = null;
    tip.hidden = true;
  }

  const linesOf = (element) => (element.dataset.tip || "").split("\n");

  // What a chart is asked by mouse, finger or keys: the strip of each year, its line, the stretch being chosen.

  const bandsOf = (svg) => all(".band", svg);
  const yearOf = (band) => Number(band.dataset.year);
  const addressOf = (band) => band.closest("a")?.getAttribute("href");

  function mark(svg, kind, name, attributes) {
    let found = one(`.${kind}`, svg);
    if (!found) {
      found = document.createElementNS(SVG, name);
      found.setAttribute("class", kind);
      svg.append(found);
    }
    for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  }

  const box = (band) => Object.fromEntries(["x", "y", "width", "height"].map((key) => [key, Number(band.getAttribute(key))]));
  const inFront = (band) => { // charts side by side are moved as groups
    const moved = band.closest("g[transform]");
    return moved && moved.ownerSVGElement === band.ownerSVGElement ? moved : band.ownerSVGElement;
  };

  function cross(svg, band) {
    if (!band) return all(".cross", svg).forEach((line) => line.remove());
    all(".cross", svg).forEach((line) => line.remove());
    const { x, y, width, height } = box(band);
    const middle = x + width / 2;
    mark(inFront(band), "cross", "path", { d: `M${middle} ${y}V${y + height}` });
  }

  function show(svg, band) {
    cross(svg, band);
    if (band) tell(band, linesOf(band), addressOf(band) ? "Click for its documents, drag to choose years" : "");
    else hush();
  }

  function choose(svg, first, last) {
    const [a, b] = [box(first), box(last)];
    const left = Math.min(a.x, b.x);
    const right = Math.max(a.x + a.width, b.x + b.width);
    mark(svg, "brush", "rect", { x: left, y: a.y, width: right - left, height: a.height });
    const years = [yearOf(first), yearOf(last)].sort((one, other) => one - other);
    tell(last, [`${years[0]}–${years[1]}`]);
    return years;
  }

  const unchoose = (svg) => all(".brush", svg).forEach((rect) => rect.remove());

  function zoom([first, last]) {
    const url = new URL(location.href);
    url.searchParams.set("from", first);
    url.searchParams.set("to", last);
    document.dispatchEvent(new CustomEvent("topoi:go", { detail: url.href }));
  }

  const zooms = (svg) => served && svg.closest(".along-years") && bandsOf(svg).length > 2 && Boolean(addressOf(bandsOf(svg)[0]));

  // By mouse and finger.

  let drag = null;

  document.addEventListener("pointerdown", (event) => {
    const band = event.target.closest?.(".band[data-year]");
    const svg = band?.ownerSVGElement;
    if (!band || event.button !== 0 || !zooms(svg)) return;
    drag = { svg, first: band, last: band, x: event.clientX, far: false };
  });
  document.addEventListener("pointermove", (event) => {
    if (!drag) return;
    if (!drag.far && Math.abs(event.clientX - drag.x) < NEAR) return;
    if (event.pointerType === "touch" && !drag.far && Math.abs(event.movementY) > Math.abs(event.movementX)) { drag = null; return; }
    drag.far = true;
    drag.svg.classList.add("brushing");
    const frame = drag.svg.getBoundingClientRect();
    const at = ((event.clientX - frame.left) / frame.width) * drag.svg.viewBox.baseVal.width;
    const bands = bandsOf(drag.svg);
    const middle = (band) => box(band).x + box(band).width / 2;
    drag.last = bands.reduce((best, band) => (Math.abs(middle(band) - at) < Math.abs(middle(best) - at) ? band : best));
    cross(drag.svg, null);
    drag.years = choose(drag.svg, drag.first, drag.last);
    event.preventDefault();
  });
  const drop = (event) => {
    if (!drag) return;
    const { svg, far, years } = drag;
    drag = null;
    svg.classList.remove("brushing");
    unchoose(svg);
    hush();
    if (!far) return;
    // The click that ends a drag leads nowhere.
    addEventListener("click", (click) => { click.preventDefault(); click.stopPropagation(); }, { capture: true, once: true });
    setTimeout(() => dispatchEvent(new Event("click")), 0);
    if (event.type === "pointerup" && years && years[0] < years[1]) zoom(years);
  };
  document.addEventListener("pointerup", drop);
  document.addEventListener("pointercancel", drop);
  document.addEventListener("dragstart", (event) => { if (event.target.closest?.(".along-years")) event.preventDefault(); });

  // By keys: a chart is one stop; arrows go from year to year, with shift they choose years, enter follows.

  const steps = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 };

  function walk(event) {
    const svg = event.target.closest?.(".along-years svg, .panels svg");
    if (!svg || event.altKey || event.ctrlKey || event.metaKey) return;
    const bands = bandsOf(svg);
    const now = bands.findIndex((band) => band.classList.contains("here"));
    if (event.key in steps) {
      const next = bands[Math.max(0, Math.min(bands.length - 1, (now < 0 ? (steps[event.key] > 0 ? -1 : bands.length) : now) + steps[event.key]))];
      bands[now]?.classList.remove("here");
      next.classList.add("here");
      if (event.shiftKey && zooms(svg)) {
        svg.anchor ||= bands[now] || next;
        svg.chosen = choose(svg, svg.anchor, next);
      } else {
        [svg.anchor, svg.chosen] = [null, null];
        unchoose(svg);
        show(svg, next);
      }
      const status = one("#status");
      if (status) status.textContent = svg.chosen ? svg.chosen.join(" to ") : linesOf(next).join(", ");
      event.preventDefault();
    } else if (event.key === "Enter" && svg.chosen && svg.chosen[0] < svg.chosen[1]) {
      zoom(svg.chosen);
      event.preventDefault();
    } else if (event.key === "Enter" && now >= 0 && addressOf(bands[now])) {
      location.assign(addressOf(bands[now]));
      event.preventDefault();
    }
  }

  function leave(svg) {
    for (const band of all(".band.here", svg)) band.classList.remove("here");
    [svg.anchor, svg.chosen] = [null, null];
    unchoose(svg);
    cross(svg, null);
  }

  // What a word of a text, a number, or a year says.

  function describe(word) {
    const kind = word.closest(".text").dataset.colour;
    const face = one(`[data-lights="${kind} ${word.dataset.k}"] .face`);
    const part = document.createElement("p");
    part.append(`${word.dataset.p}\u202f% `, ...(face ? [...face.cloneNode(true).childNodes] : [`${kind} ${word.dataset.k}`]));
    return [part];
  }

  function point(target) {
    if (!(target instanceof Element) || drag?.far) return;
    const word = target.closest(".text a");
    const told = target.closest("[data-tip]");
    const svg = target.closest(".chart svg");
    for (const line of all(".cross")) if (!svg || !svg.contains(line)) line.remove();
    if (word) tell(word, describe(word));
    else if (told?.matches(".band") && svg) show(svg, told);
    else if (told) tell(told, linesOf(told));
    else if (!target.matches(".along-years svg, .panels svg")) hush();
  }

  // Parts of a page that are still being compiled: look when they are there, then fetch the page again.

  async function await_(part) {
    if (part.dataset.awaited) return;
    part.dataset.awaited = "yes";
    const [wanted, here] = [part.dataset.kinds.split(" "), location.href];
    while (part.isConnected && location.href === here) {
      await new Promise((done) => { setTimeout(done, 700); });
      try {
        const { pending } = await (await fetch(part.dataset.later)).json();
        if (!wanted.some((kind) => pending.includes(kind))) break;
      } catch { /* the server is busy; ask again */ }
    }
    if (part.isConnected && location.href === here) document.dispatchEvent(new CustomEvent("topoi:again"));
  }

  // What has to be done to fresh pages and fresh parts of pages.

  function tidy() {
    for (const title of all(".chart title")) {
      const mark_ = title.parentNode;
      if (mark_.matches("svg")) continue;
      mark_.dataset.tip = title.textContent;
      const link = mark_.closest("a");
      title.remove();
      if (!link) continue;
      // Its name was the title; what can be seen comes first, so that it can be said to a program that listens.
      const [seen, told] = [link.textContent.trim(), mark_.dataset.tip.replaceAll("\n", ", ")];
      link.setAttribute("aria-label", seen && !told.startsWith(seen) ? `${seen.replace(/\s*…$/, "")}: ${told}` : told);
    }
    for (const part of all("main [title]:not(button):not(iframe)")) {
      part.dataset.tip = part.getAttribute("title");
      part.removeAttribute("title");
    }
    for (const svg of all(".along-years svg, .panels svg")) {
      if (!one(".band", svg)) continue;
      svg.setAttribute("tabindex", "0");
      svg.setAttribute("role", "group");
    }
    if (served) for (const part of all("[data-later]")) await_(part);
    hush();
  }

  document.addEventListener("mouseover", (event) => point(event.target));
  document.addEventListener("focusin", (event) => point(event.target));
  document.addEventListener("focusout", (event) => {
    hush();
    const svg = event.target.closest?.(".along-years svg, .panels svg");
    if (svg) leave(svg);
  });
  document.addEventListener("mouseleave", () => { hush(); all(".cross").forEach((line) => line.remove()); });
  document.addEventListener("scroll", () => { if (!drag) hush(); }, { passive: true, capture: true });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (drag) unchoose(drag.svg);
      drag = null;
      hush();
      for (const svg of all(".along-years svg")) leave(svg);
    } else walk(event);
  });
  document.addEventListener("topoi:fresh", tidy);

  tidy();
})();
