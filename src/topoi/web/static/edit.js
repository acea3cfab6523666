// Changes of topics by dragging: a disc of the map onto another, a word onto "ban", "pin" or another topic. Each drop fills
// in a form of the page and sends it, as its buttons would; what it would change is shown before anything is changed.
// Without this file, and on touch screens, the buttons do the same.
"use strict";

(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const say = (words) => { const status = one("#status"); if (status) status.textContent = words; };
  const topicOf = (link) => (/\/topic\/(\d+)$/.exec(link.getAttribute("href") || "") || [])[1];
  const FAR = 6; // pixels: less is a click
  let drag = null;

  // What can be dragged, and where it can be dropped.

  function discDrag(link, event) {
    const svg = link.closest("svg");
    const circle = one("circle", link);
    if (!one("#drag-merge") || !circle || !topicOf(link)) return null;
    const scale = () => svg.viewBox.baseVal.width / svg.getBoundingClientRect().width;
    return {
      item: link,
      from: [event.clientX, event.clientY],
      move(x, y) { link.setAttribute("transform", `translate(${x * scale()} ${y * scale()})`); },
      rest() { link.removeAttribute("transform"); },
      target(x, y) {
        const box = svg.getBoundingClientRect();
        const [px, py] = [(x - box.left) * scale(), (y - box.top) * scale()];
        const reach = (other) => {
          const disc = one("circle", other);
          const apart = Math.hypot(disc.cx.baseVal.value - px, disc.cy.baseVal.value - py);
          return apart - Math.max(disc.r.baseVal.value, 8);
        };
        const others = all("a", svg).filter((other) => other !== link && topicOf(other) && reach(other) <= 0);
        return others.sort((a, b) => reach(a) - reach(b))[0] || null;
      },
      words: (to) => `Merge ${nameOf(link)} into ${nameOf(to)}`,
      drop(to) { submit("#drag-merge", { topic: topicOf(to), other: topicOf(link) }); },
    };
  }

  // The title of a disc begins with the topic's name and number.
  const nameOf = (link) => {
    const words = one("title", link)?.textContent || link.textContent;
    return (/^(.*?\(\d+\)),/.exec(words) || ["", words.trim()])[1];
  };

  function wordDrag(item, event) {
    const word = item.dataset.word;
    const form = one("#drag-word");
    if (!form || !word) return null;
    const link = one("a", item);
    const ghost = document.createElement("span");
    ghost.className = "drag-ghost";
    ghost.textContent = link.textContent;
    return {
      item,
      from: [event.clientX, event.clientY],
      move(x, y) {
        if (!ghost.isConnected) { document.body.append(ghost); one(".drop-bar").hidden = false; }
        ghost.style.setProperty("--x", `${this.from[0] + x}px`);
        ghost.style.setProperty("--y", `${this.from[1] + y}px`);
      },
      rest() { ghost.remove(); const bar = one(".drop-bar"); if (bar) bar.hidden = true; },
      target(x, y) {
        const below = document.elementFromPoint(x, y);
        const zone = below?.closest(".drop-bar [data-drop]");
        const badge = below?.closest("a.face");
        return zone || (badge && topicOf(badge) && topicOf(badge) !== form.elements.topic.defaultValue ? badge : null);
      },
      words: (to) => (to.dataset.drop ? to.textContent.trim() : `Pin “${link.textContent}” to ${nameOf(to)}`),
      drop(to) {
        const pin = to.dataset.drop !== "ban";
        submit("#drag-word", { topic: to.dataset.drop ? form.elements.topic.defaultValue : topicOf(to) }, pin ? "pin" : "ban", word);
      },
    };
  }

  function submit(selector, values, kind = null, value = null) {
    const form = one(selector);
    for (const [name, given] of Object.entries(values)) form.elements[name].value = given;
    if (kind) {
      const wish = one("[data-wish]", form);
      wish.name = kind;
      wish.value = value;
    }
    form.submit();
  }

  // The pointer.

  document.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch" || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const disc = event.target.closest?.(".map a");
    const item = event.target.closest?.(".words li[data-word]");
    if (event.target.closest?.("button")) return;
    const found = disc ? discDrag(disc, event) : item ? wordDrag(item, event) : null;
    if (found) drag = { ...found, begun: false, to: null };
  });

  document.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [x, y] = [event.clientX - drag.from[0], event.clientY - drag.from[1]];
    if (!drag.begun && Math.hypot(x, y) < FAR) return;
    if (!drag.begun) {
      drag.begun = true;
      document.documentElement.classList.add("dragging");
      drag.item.classList.add("dragged");
    }
    drag.move(x, y);
    const to = drag.target(event.clientX, event.clientY);
    if (to !== drag.to) {
      drag.to?.classList.remove("drop-here");
      to?.classList.add("drop-here");
      drag.to = to;
      say(to ? drag.words(to) : "");
    }
  });

  function end(drop) {
    if (!drag) return;
    const { begun, to } = drag;
    const done = drag;
    drag = null;
    document.documentElement.classList.remove("dragging");
    done.item.classList.remove("dragged");
    to?.classList.remove("drop-here");
    done.rest();
    if (!begun) return;
    // The click that follows is none.
    const swallow = (event) => { event.preventDefault(); event.stopPropagation(); };
    document.addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => document.removeEventListener("click", swallow, { capture: true }), 50);
    if (drop && to) done.drop(to);
  }

  document.addEventListener("pointerup", () => end(true));
  document.addEventListener("pointercancel", () => end(false));
  window.addEventListener("blur", () => end(false));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") end(false); });
  // Links would be dragged as addresses.
  document.addEventListener("dragstart", (event) => {
    const disc = event.target.closest?.(".map a");
    if ((disc && one("#drag-merge")) || (event.target.closest?.(".words li[data-word]") && one("#drag-word"))) event.preventDefault();
  });
})();
