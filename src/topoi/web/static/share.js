// Copy buttons of the line at the foot of pages. Without script the same texts stand there to be selected.
"use strict";

(() => {
  const say = (words) => { const status = document.querySelector("#status"); if (status) status.textContent = words; };

  function selected(text) {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "vh";
    field.readOnly = true;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return selected(text); // no clipboard for pages that are not from a safe place
    }
  }

  function textOf(button) {
    if (button.dataset.copies !== "link") return document.querySelector(button.dataset.copies)?.textContent || "";
    return new URL(document.querySelector("[data-permalink]")?.href || location.href, location.href).href;
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("button[data-copies]");
    if (!button) return;
    const before = button.textContent;
    const done = await copy(textOf(button));
    button.textContent = done ? "copied" : "select it and copy";
    say(done ? "Copied" : "Could not copy");
    setTimeout(() => { button.textContent = before; }, 2000);
  });
})();
