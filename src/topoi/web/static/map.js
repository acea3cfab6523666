// The map of documents: every document a dot on a canvas. Dots are drawn by hand into an image, which takes a few
// milliseconds for a hundred thousand and needs no graphics card; while the map moves, fewer are drawn if that is too slow.
"use strict";

(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const figure = one("#map");
  const working = one("[data-working]");
  if (working) watch();
  if (!figure || !location.protocol.startsWith("http")) return;

  const NOWHERE = 32767;
  const STEPS = 32766;
  const OTHER = 63;
  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const WORTH = new Uint8Array(128);
  [...ALPHABET].forEach((letter, i) => { WORTH[letter.charCodeAt(0)] = i; });
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const say = (words) => { const status = one("#status"); if (status) status.textContent = words; };
  const debounce = (wait, act) => { let timer; return (...given) => { clearTimeout(timer); timer = setTimeout(() => act(...given), wait); }; };
  const number = (n) => n.toLocaleString("en");
  const count = (n) => `${number(n)} document${n === 1 ? "" : "s"}`;

  // While places are being computed, the page asks how far they are.
  async function watch() {
    const stage = one("#map-stage"), bar = one("progress", working);
    for (;;) {
      await new Promise((done) => setTimeout(done, 1000));
      try {
        const answer = await fetch(`${location.pathname}.json?part=titles`, { headers: { Accept: "application/json" } });
        const page = await answer.json();
        if (page.state !== "placing") { location.reload(); return; }
        bar.value = page.part_done;
        stage.textContent = stage.textContent.replace(/\d+ % done/, `${Math.round(100 * page.part_done)} % done`);
      } catch { /* the server may be busy: ask again */ }
    }
  }

  function decode(text, width) {
    const n = text.length / width, found = new Int32Array(n);
    for (let digit = 0; digit < width; digit++) {
      const from = digit * n;
      for (let i = 0; i < n; i++) found[i] = found[i] * 64 + WORTH[text.charCodeAt(from + i)];
    }
    return found;
  }

  // OKLCH to sRGB, as topoi.drawing.colours does it.
  function rgb(lightness, chroma, hue) {
    const angle = hue * Math.PI / 180, a = chroma * Math.cos(angle), b = chroma * Math.sin(angle);
    const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
    const gamma = (v) => { const c = clamp(v, 0, 1); return Math.round(255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055)); };
    return [gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
      gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s), gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s)];
  }
  const hex = (text) => [1, 3, 5].map((i) => parseInt(text.trim().slice(i, i + 2), 16));

  class DocumentMap {
    constructor(page) {
      const { points } = page;
      this.topics = page.topics;
      this.n = points.n;
      const together = decode(points.places, 5);
      this.flat = new Float32Array(this.n);
      this.x = new Float32Array(this.n);
      this.y = new Float32Array(this.n);
      this.stretch = 0;
      let [lowX, lowY, highX, highY] = [1, 1, 0, 0];
      const order = [];
      // A fixed order in which any beginning is spread evenly over all documents, so that fewer dots are a fair part of them.
      const stride = strideFor(this.n);
      for (let i = 0, at = 0; i < this.n; i++, at = (at + stride) % this.n) {
        const sx = Math.floor(together[at] / 32768), sy = together[at] % 32768;
        if (sx === NOWHERE) continue;
        const x = this.flat[at] = sx / STEPS, y = this.y[at] = sy / STEPS;
        order.push(at);
        if (x < lowX) lowX = x;
        if (x > highX) highX = x;
        if (y < lowY) lowY = y;
        if (y > highY) highY = y;
      }
      this.order = Uint32Array.from(order);
      this.extent = [lowX, lowY, Math.max(highX, lowX + 1e-6), Math.max(highY, lowY + 1e-6)];
      this.topic = decode(points.topics, points.topics.length / Math.max(this.n, 1));
      this.year = points.years ? decode(points.years, 2) : null;
      this.firstYear = points.first_year;
      this.lastYear = points.last_year;
      this.span = points.years ? [this.firstYear, this.lastYear] : null;
      this.colour = null;
      this.hits = null;
      this.only = null;
      this.titles = new Map();
      this.canvas = document.createElement("canvas");
      this.canvas.tabIndex = 0;
      this.canvas.setAttribute("role", "application");
      this.canvas.setAttribute("aria-label", `${one(".chart svg", figure)?.getAttribute("aria-label") || "Map of documents"}. Arrow keys move, plus and minus zoom, Enter opens the document in the middle.`);
      figure.append(this.canvas);
      figure.classList.add("drawn");
      this.context = this.canvas.getContext("2d", { alpha: false });
      this.tip = document.createElement("div");
      this.tip.className = "map-tip";
      this.tip.hidden = true;
      figure.append(this.tip);
      this.area = (figure.dataset.area || "").split(",").map(Number).filter((v) => Number.isFinite(v));
      if (!figure.dataset.area) this.area = [];
      if (this.area.length === 4) { const [a, b, c, d] = this.area; this.area = [a, b, c, b, c, d, a, d]; }
      this.budget = this.order.length;
      this.view = null;
      this.paint();
      this.resize();
      new ResizeObserver(() => this.resize()).observe(figure);
      dark.addEventListener("change", () => { this.paint(); this.draw(); });
      document.fonts?.ready.then(() => { this.pictures = null; this.draw(); });
    }

    // The map is widened, or made taller, towards the shape of the picture: only who is near whom has a meaning.
    shape() {
      const [x0, y0, x1, y1] = this.extent, wanted = this.width / Math.max(this.height, 1) * (y1 - y0) / (x1 - x0);
      const stretch = Math.round(8 * clamp(wanted, 0.65, 2)) / 8;
      if (stretch === this.stretch) return false;
      this.stretch = stretch;
      for (const i of this.order) this.x[i] = this.flat[i] * stretch;
      this.bounds = [x0 * stretch, y0, x1 * stretch, y1];
      this.index();
      return true;
    }

    // Dots by cells of a grid, to find the one under the pointer.
    index() {
      const cells = this.cells = 128, heads = new Uint32Array(cells * cells + 1), at = new Uint32Array(this.order.length);
      const cell = (i) => clamp(Math.floor(this.y[i] * cells), 0, cells - 1) * cells + clamp(Math.floor(this.flat[i] * cells), 0, cells - 1);
      for (const i of this.order) heads[cell(i) + 1]++;
      for (let c = 0; c < cells * cells; c++) heads[c + 1] += heads[c];
      const next = heads.slice();
      for (const i of this.order) at[next[cell(i)]++] = i;
      this.heads = heads;
      this.members = at;
    }

    nearest(px, py, reach) {
      const { scale, left, top } = this.view, x = (px - left) / scale, y = (py - top) / scale, r = reach / scale;
      const c = this.cells, cut = (v) => clamp(Math.floor(v * c), 0, c - 1), wide = this.stretch;
      let best = -1, least = r * r;
      for (let cy = cut(y - r); cy <= cut(y + r); cy++) {
        for (let cx = cut((x - r) / wide); cx <= cut((x + r) / wide); cx++) {
          for (let m = this.heads[cy * c + cx]; m < this.heads[cy * c + cx + 1]; m++) {
            const i = this.members[m];
            if (!this.isLit(i)) continue;
            const d = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
            if (d < least) { least = d; best = i; }
          }
        }
      }
      return best;
    }

    isLit(i) {
      if (this.hits && !this.hits[i]) return false;
      if (this.only !== null && (this.colour ? this.colour.codes[i] : this.topic[i]) !== this.only) return false;
      if (this.inside && !this.inside[i]) return false;
      return !this.year || this.allYears() || this.inYears(i);
    }

    allYears() { return this.span[0] <= this.firstYear && this.span[1] >= this.lastYear; }

    inYears(i) {
      const year = this.firstYear + this.year[i];
      return this.year[i] !== 4095 && year >= this.span[0] && year <= this.span[1];
    }

    // Colours of dots and names, for the current scheme and colouring.
    paint() {
      const style = getComputedStyle(document.documentElement), value = (name) => style.getPropertyValue(name);
      this.paper = hex(value("--paper"));
      this.ink = value("--ink").trim();
      this.quiet = hex(value("--quiet"));
      this.accent = value("--accent").trim();
      this.sans = value("--sans");
      const isDark = dark.matches, l = isDark ? 0.74 : 0.62, c = isDark ? 0.135 : 0.15;
      const tone = (hue, glue) => rgb(l, glue ? 0.02 : c, hue);
      const shown = this.colour ? this.colour.values.map((v) => tone(v.hue, false)) : this.topics.map((t) => tone(t.hue, t.glue));
      if (this.colour) shown[OTHER] = isDark ? [92, 88, 82] : [196, 190, 180];
      this.tones = shown;
      const nameL = isDark ? 0.86 : 0.44, nameC = isDark ? 0.1 : 0.125;
      this.nameTones = this.topics.map((t) => { const [r, g, b] = this.colour ? hex(value("--ink")) : rgb(nameL, t.glue ? 0.02 : nameC, t.hue); return `rgb(${r} ${g} ${b})`; });
      this.faint = isDark ? [52, 49, 45] : [228, 224, 215];
    }

    resize() {
      const box = figure.getBoundingClientRect();
      const ratio = Math.min(devicePixelRatio || 1, 2, Math.sqrt(6e6 / Math.max(box.width * box.height, 1)));
      const before = this.view && { ...this.view, width: this.width, height: this.height };
      this.width = box.width;
      this.height = box.height;
      this.ratio = ratio;
      this.canvas.width = Math.max(Math.round(box.width * ratio), 1);
      this.canvas.height = Math.max(Math.round(box.height * ratio), 1);
      this.image = null;
      if (this.shape() || !before) this.view = this.whole();
      else {
        this.view = { scale: before.scale, left: before.left + (this.width - before.width) / 2, top: before.top + (this.height - before.height) / 2 };
      }
      this.draw();
    }

    whole() {
      const [x0, y0, x1, y1] = this.bounds, margin = Math.min(this.width, this.height) * 0.045 + 12;
      const scale = Math.min((this.width - 2 * margin) / (x1 - x0), (this.height - 2 * margin) / (y1 - y0));
      return { scale, left: this.width / 2 - scale * (x0 + x1) / 2, top: this.height / 2 - scale * (y0 + y1) / 2 };
    }

    get zoom() { return this.view.scale / this.whole().scale; }

    radius() {
      // Dots cover about a third of the map at first, and grow more slowly than the map does.
      const [x0, y0, x1, y1] = this.bounds, whole = this.whole().scale;
      const own = Math.sqrt(0.2 * (x1 - x0) * (y1 - y0) * whole * whole / Math.max(this.order.length, 1) / Math.PI);
      return clamp(own, 0.75, 4.5) * Math.min(this.zoom ** 0.45, 5);
    }

    // Draw at most once a frame.
    draw(moving = false) {
      this.moving = this.moving || moving;
      if (this.pending) return;
      this.pending = requestAnimationFrame(() => {
        this.pending = 0;
        const started = performance.now(), fast = this.moving;
        this.moving = false;
        this.render(fast);
        const took = performance.now() - started;
        this.lastFrame = took;
        if (fast) {
          // 20 ms a frame leave time for the rest of it; dots come back as soon as there is time.
          if (took > 22) this.budget = Math.max(Math.floor(this.budget * 0.7), 4000);
          else if (took < 11) this.budget = Math.min(Math.ceil(this.budget * 1.25), this.order.length);
          clearTimeout(this.finish);
          this.finish = setTimeout(() => this.draw(), 140);
        }
      });
    }

    render(fast) {
      const { context, canvas } = this;
      if (!this.image) this.image = context.createImageData(canvas.width, canvas.height);
      const pixels = this.image.data, words = new Uint32Array(pixels.buffer);
      words.fill((255 << 24) | (this.paper[2] << 16) | (this.paper[1] << 8) | this.paper[0]);
      this.dots(pixels, fast ? this.budget : this.order.length);
      context.putImageData(this.image, 0, 0);
      context.save();
      context.scale(this.ratio, this.ratio);
      this.outline(context);
      this.names(context);
      if (this.crosshair) this.cross(context);
      context.restore();
    }

    dots(pixels, most) {
      const { order, x, y, ratio } = this, wide = this.canvas.width, high = this.canvas.height;
      const scale = this.view.scale * ratio, left = this.view.left * ratio, top = this.view.top * ratio;
      const thinned = Math.sqrt(order.length / Math.max(most, 1));
      const r = this.radius() * ratio * Math.min(thinned, 1.6);
      const some = this.hits || this.only !== null || this.inside || (this.year && !this.allYears());
      const fine = stamp(some ? r * 1.25 : r), dim = stamp(Math.max(r * 0.8, 0.7 * ratio));
      const codes = this.colour ? this.colour.codes : this.topic, n = Math.min(most, order.length);
      const strength = some ? 0.95 : dark.matches ? 0.72 : 0.66, edge = Math.ceil(r) + 2;
      for (const lit of some ? [false, true] : [true]) {
        const mask = lit ? fine : dim, alpha = lit ? strength : 0.55, size = mask.size, half = (size - 1) / 2;
        for (let o = 0; o < n; o++) {
          const i = order[o];
          const px = Math.round(x[i] * scale + left), py = Math.round(y[i] * scale + top);
          if (px < -edge || py < -edge || px >= wide + edge || py >= high + edge) continue;
          if (some && this.isLit(i) !== lit) continue;
          const tone = lit ? this.tones[codes[i]] || this.quiet : this.faint;
          const own = lit && this.colour && codes[i] === OTHER ? alpha * 0.5 : alpha;
          const red = tone[0], green = tone[1], blue = tone[2];
          for (let dy = 0, at = 0; dy < size; dy++) {
            const row = py + dy - half;
            if (row < 0 || row >= high) { at += size; continue; }
            for (let dx = 0; dx < size; dx++, at++) {
              const column = px + dx - half, part = mask.cover[at] * own;
              if (part === 0 || column < 0 || column >= wide) continue;
              const p = 4 * (row * wide + column);
              pixels[p] += (red - pixels[p]) * part;
              pixels[p + 1] += (green - pixels[p + 1]) * part;
              pixels[p + 2] += (blue - pixels[p + 2]) * part;
            }
          }
        }
      }
    }

    // Names where a topic's documents are densest: the largest first, others as far as there is room.
    names(context) {
      const { scale, left, top } = this.view, zoom = this.zoom;
      if (!this.ranked) {
        this.ranked = this.topics.filter((t) => t.anchor_x !== null && !t.glue && t.n_documents > 0).sort((a, b) => b.n_documents - a.n_documents || a.topic - b.topic);
      }
      const most = this.ranked.length ? this.ranked[0].n_documents : 1, boxes = [];
      const small = this.width < 600, pad = 3;
      this.drawnNames = boxes;
      for (const topic of this.ranked) {
        const x = topic.anchor_x * this.stretch * scale + left, y = topic.anchor_y * scale + top;
        if (x < -60 || y < -10 || x > this.width + 60 || y > this.height + 10) continue;
        const part = Math.sqrt(topic.n_documents / most), wanted = (small ? 9.5 : 10.5) + (small ? 4.5 : 8.5) * part * Math.min(1 + 0.12 * Math.log2(Math.max(zoom, 1)), 1.4);
        // Few sizes, so that pictures of names can be used again while zooming.
        const size = Math.round(2 * wanted) / 2;
        const drawn = this.pictureOf(this.nameOf(topic, zoom), part > 0.3 ? 650 : 550, size, this.nameTones[topic.topic]);
        const half = drawn.half + pad, tall = size * 0.58 + 1;
        const cx = clamp(x, Math.min(half, this.width / 2), Math.max(this.width - half, this.width / 2)), box = [cx - half, y - tall, cx + half, y + tall, topic.topic];
        if (y - tall < 0 || y + tall > this.height) continue;
        if (boxes.some((b) => box[0] < b[2] && b[0] < box[2] && box[1] < b[3] && b[1] < box[3])) continue;
        boxes.push(box);
        context.globalAlpha = this.only !== null && !this.colour && this.only !== topic.topic ? 0.35 : 1;
        const wide = drawn.picture.width / this.ratio, high = drawn.picture.height / this.ratio;
        // Whole pixels keep letters sharp.
        const left0 = Math.round((cx - wide / 2) * this.ratio) / this.ratio, top0 = Math.round((y - high / 2) * this.ratio) / this.ratio;
        context.drawImage(drawn.picture, left0, top0, wide, high);
        context.globalAlpha = 1;
      }
    }

    // A name with a rim of the paper's colour, drawn once: without a graphics card, outlines of letters take most of a frame.
    pictureOf(name, weight, size, tone) {
      const paper = this.paper.join(" "), key = `${weight} ${size} ${this.ratio} ${tone} ${paper} ${name}`;
      if (!this.pictures || this.pictures.size > 2000) this.pictures = new Map();
      const known = this.pictures.get(key);
      if (known) return known;
      const picture = document.createElement("canvas"), context = picture.getContext("2d"), font = `${weight} ${size.toFixed(1)}px ${this.sans}`;
      context.font = font;
      const half = context.measureText(name).width / 2, rim = size / 3.6;
      picture.width = Math.ceil((2 * half + 2 * rim + 2) * this.ratio);
      picture.height = Math.ceil((1.5 * size + 2 * rim) * this.ratio);
      context.scale(this.ratio, this.ratio);
      context.font = font;
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.lineJoin = "round";
      context.lineWidth = rim;
      context.strokeStyle = `rgb(${paper} / 0.85)`;
      context.fillStyle = tone;
      const x = picture.width / this.ratio / 2, y = picture.height / this.ratio / 2;
      context.strokeText(name, x, y);
      context.fillText(name, x, y);
      const made = { picture, half };
      this.pictures.set(key, made);
      return made;
    }

    nameOf(topic, zoom) {
      const own = topic.label || topic.auto_label || topic.words[0] || `topic ${topic.topic}`;
      const short = own.length > 26 ? `${own.slice(0, 25)}…` : own;
      if (zoom < 3.2 || topic.label) return short;
      const said = own.toLowerCase(), more = topic.words.filter((word) => !said.includes(word.toLowerCase())).slice(0, zoom < 6 ? 1 : 2);
      return [short, ...more].join(", ");
    }

    outline(context) {
      const drawn = this.lasso ? this.lasso.flat() : null;
      for (const [corners, isDone] of [[this.area.map((v, i) => (i % 2 ? v * this.view.scale + this.view.top : v * this.stretch * this.view.scale + this.view.left)), true], [drawn, false]]) {
        if (!corners || corners.length < 4) continue;
        context.beginPath();
        for (let i = 0; i < corners.length; i += 2) context.lineTo(corners[i], corners[i + 1]);
        if (isDone) context.closePath();
        context.strokeStyle = this.accent;
        context.lineWidth = 1.5;
        context.setLineDash([5, 3]);
        context.stroke();
        context.setLineDash([]);
      }
      if (this.chosen !== undefined && this.chosen >= 0) {
        const i = this.chosen;
        context.beginPath();
        context.arc(this.x[i] * this.view.scale + this.view.left, this.y[i] * this.view.scale + this.view.top, Math.max(this.radius() + 3, 5), 0, 7);
        context.strokeStyle = this.ink;
        context.lineWidth = 1.6;
        context.stroke();
      }
    }

    cross(context) {
      const x = this.width / 2, y = this.height / 2;
      context.strokeStyle = this.ink;
      context.lineWidth = 1;
      context.beginPath();
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) { context.moveTo(x + 8 * dx, y + 8 * dy); context.lineTo(x + 16 * dx, y + 16 * dy); }
      context.stroke();
    }

    moveBy(dx, dy) {
      this.view.left += dx;
      this.view.top += dy;
      this.hold();
      this.draw(true);
    }

    zoomAt(factor, x = this.width / 2, y = this.height / 2) {
      const least = this.whole().scale, to = clamp(this.view.scale * factor, 0.6 * least, 200 * least), f = to / this.view.scale;
      this.view = { scale: to, left: x - (x - this.view.left) * f, top: y - (y - this.view.top) * f };
      this.hold();
      this.draw(true);
    }

    // The map never leaves the picture altogether.
    hold() {
      const [x0, y0, x1, y1] = this.bounds, { scale } = this.view, keep = 80;
      this.view.left = clamp(this.view.left, keep - x1 * scale, this.width - keep - x0 * scale);
      this.view.top = clamp(this.view.top, keep - y1 * scale, this.height - keep - y0 * scale);
    }

    glide(to) {
      if (calm.matches) { this.view = to; this.draw(); return; }
      const from = this.view, started = performance.now();
      const step = (now) => {
        const t = clamp((now - started) / 320, 0, 1), e = t * t * (3 - 2 * t);
        const scale = from.scale * (to.scale / from.scale) ** e;
        const part = to.scale === from.scale ? e : (scale - from.scale) / (to.scale - from.scale);
        this.view = { scale, left: from.left + (to.left - from.left) * part, top: from.top + (to.top - from.top) * part };
        this.draw(true);
        if (t < 1) requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    }

    // The title of a document, asked for once, together with those of dots near it.
    async title(i) {
      // A still copy has no server to ask, but perhaps the reader's files.
      if (typeof topoiReader !== "undefined" && await topoiReader.has("document", i)) return (await topoiReader.listed([i])).get(i).document;
      if (figure.dataset.static !== undefined) return { title: `Document ${i}`, authors: [], year: this.year && this.year[i] !== 4095 ? this.firstYear + this.year[i] : null };
      if (!this.titles.has(i)) {
        const answer = await fetch(address({ part: "titles", ids: i }));
        for (const doc of (await answer.json()).titles || []) this.titles.set(doc.document_id, doc);
      }
      return this.titles.get(i);
    }

    async point(i, x, y, stays = false) {
      if (i === this.chosen && stays === this.stays) return;
      this.chosen = i;
      this.stays = stays;
      figure.classList.toggle("pointing", i >= 0);
      this.draw();
      if (i < 0) { this.tip.hidden = true; return; }
      let doc;
      try { doc = await this.title(i); } catch { return; }
      if (this.chosen !== i || !doc) return;
      const topic = this.topics[this.topic[i]], parts = [];
      const title = document.createElement(stays ? "a" : "b");
      if (stays) { title.href = figure.dataset.document.replace(/0(?=$|\.html$)/, String(i)); const b = document.createElement("b"); b.textContent = doc.title; title.append(b); } else title.textContent = doc.title;
      parts.push(title);
      const who = doc.authors.slice(0, 4).map((a) => a.author).join(", ") + (doc.authors.length > 4 ? " and others" : "");
      const line = [who, doc.year].filter((v) => v !== null && v !== "").join(", ");
      if (line) { const small = document.createElement("small"); small.textContent = line; parts.push(small); }
      const face = document.createElement("small"), name = document.createElement("span");
      name.className = `face h${topic.hue}${topic.glue ? " glue" : ""}`;
      name.textContent = topic.label || topic.auto_label;
      face.append(name);
      parts.push(face);
      if (this.colour) {
        const value = this.colour.values[this.colour.codes[i]], small = document.createElement("small");
        small.textContent = `${this.colour.column}: ${value ? value.value : "another"}`;
        parts.push(small);
      }
      this.tip.replaceChildren(...parts);
      this.tip.classList.toggle("stays", stays);
      this.tip.hidden = false;
      const box = this.tip.getBoundingClientRect(), gap = 14;
      const px = x + gap + box.width > this.width ? x - gap - box.width : x + gap;
      const py = y + gap + box.height > this.height ? y - gap - box.height : y + gap;
      this.tip.style.transform = `translate(${Math.round(clamp(px, 4, Math.max(this.width - box.width - 4, 4)))}px, ${Math.round(clamp(py, 4, Math.max(this.height - box.height - 4, 4)))}px)`;
    }

    open(i) { location.assign(figure.dataset.document.replace(/0(?=$|\.html$)/, String(i))); }
  }

  // Discs as coverage of pixels around their middle.
  const stamps = new Map();
  function stamp(r) {
    const key = Math.round(r * 8);
    if (!stamps.has(key)) {
      const radius = key / 8, half = Math.max(Math.ceil(radius - 0.5), 0), size = 2 * half + 1, cover = new Float32Array(size * size);
      for (let y = -half, at = 0; y <= half; y++) {
        for (let x = -half; x <= half; x++, at++) {
          let inside = 0;
          for (let a = -1.5; a <= 1.5; a++) for (let b = -1.5; b <= 1.5; b++) inside += (x + a / 4) ** 2 + (y + b / 4) ** 2 <= radius * radius;
          cover[at] = inside / 16;
        }
      }
      if (radius < 0.6) cover[(size * size - 1) / 2] = Math.max(cover[(size * size - 1) / 2], 0.6);
      stamps.set(key, { size, cover });
    }
    return stamps.get(key);
  }

  function strideFor(n) {
    const gcd = (a, b) => { while (b) [a, b] = [b, a % b]; return a; };
    let stride = Math.max(Math.round(n * 0.6180339887), 1);
    while (gcd(stride, n) !== 1) stride++;
    return n ? stride % n || 1 : 1;
  }

  function address(query) {
    const url = new URL(figure.dataset.source, location.href);
    url.search = "";
    for (const [name, value] of Object.entries(query)) url.searchParams.append(name, value);
    return url;
  }

  function remember(query) {
    if (figure.dataset.static !== undefined) return;
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(query)) { if (value === null || value === "") url.searchParams.delete(name); else url.searchParams.set(name, value); }
    history.replaceState(null, "", url);
  }

  // Moving, zooming, choosing and drawing around, with a mouse, fingers or keys.
  function pointers(map) {
    const { canvas } = map, down = new Map();
    let mode = "move", dragged = false, start = null, pinch = null;
    const at = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    const setMode = (to) => {
      mode = to;
      for (const name of ["move", "lasso"]) one(`#map-${name}`)?.setAttribute("aria-pressed", String(name === to));
      figure.classList.toggle("lassoing", to === "lasso");
    };
    one("#map-move")?.addEventListener("click", () => setMode("move"));
    one("#map-lasso")?.addEventListener("click", () => setMode("lasso"));
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button > 0) return;
      canvas.setPointerCapture(event.pointerId);
      down.set(event.pointerId, at(event));
      map.crosshair = false;
      if (down.size === 2) {
        const [a, b] = [...down.values()];
        pinch = Math.hypot(a[0] - b[0], a[1] - b[1]);
        map.lasso = null;
        return;
      }
      dragged = false;
      start = at(event);
      if (mode === "lasso" || (event.shiftKey && one("#map-lasso"))) map.lasso = [start];
      else figure.classList.add("grabbing");
    });
    canvas.addEventListener("pointermove", (event) => {
      const here = at(event);
      if (!down.has(event.pointerId)) {
        if (event.pointerType === "mouse" && !map.stays) map.point(map.nearest(...here, 12), ...here);
        return;
      }
      const before = down.get(event.pointerId);
      down.set(event.pointerId, here);
      if (down.size === 2) {
        const [a, b] = [...down.values()], apart = Math.hypot(a[0] - b[0], a[1] - b[1]);
        dragged = true;
        map.moveBy((here[0] - before[0]) / 2, (here[1] - before[1]) / 2);
        if (pinch) map.zoomAt(apart / pinch, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
        pinch = apart;
        return;
      }
      if (Math.hypot(here[0] - start[0], here[1] - start[1]) > 4 && !dragged) { dragged = true; map.point(-1); }
      if (map.lasso) {
        const last = map.lasso[map.lasso.length - 1];
        if (Math.hypot(here[0] - last[0], here[1] - last[1]) > 3) map.lasso.push(here);
        map.draw(true);
      } else if (dragged) map.moveBy(here[0] - before[0], here[1] - before[1]);
    });
    const up = (event) => {
      if (!down.delete(event.pointerId)) return;
      pinch = null;
      figure.classList.remove("grabbing");
      if (down.size) return;
      if (map.lasso) {
        const drawn = map.lasso;
        map.lasso = null;
        if (dragged && drawn.length > 3 && event.type === "pointerup") select(map, drawn);
        else map.draw();
        return;
      }
      if (dragged || event.type !== "pointerup") return;
      const here = at(event), i = map.nearest(...here, event.pointerType === "mouse" ? 12 : 24);
      if (i >= 0 && event.pointerType === "mouse") { if (event.ctrlKey || event.metaKey) open(figure.dataset.document.replace(/0(?=$|\.html$)/, String(i))); else map.open(i); return; }
      if (i >= 0) { map.point(i, ...here, true); return; }
      map.point(-1);
      const name = (map.drawnNames || []).find((b) => here[0] >= b[0] && here[0] <= b[2] && here[1] >= b[1] && here[1] <= b[3]);
      if (name) location.assign(figure.dataset.topic.replace(/0(?=$|\.html$)/, String(name[4])));
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse" && !down.size && !map.stays) map.point(-1); });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      map.point(-1);
      map.zoomAt(Math.exp(-clamp(event.deltaY * (event.deltaMode ? 18 : 1), -240, 240) * (event.ctrlKey ? 0.01 : 0.0022)), ...at(event));
    }, { passive: false });
    canvas.addEventListener("dblclick", (event) => { event.preventDefault(); map.zoomAt(event.shiftKey ? 0.5 : 2, ...at(event)); });
    canvas.addEventListener("keydown", (event) => {
      const step = event.shiftKey ? 160 : 48, { key } = event;
      const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      if (moves[key]) map.moveBy(...moves[key]);
      else if (key === "+" || key === "=") map.zoomAt(1.35);
      else if (key === "-") map.zoomAt(1 / 1.35);
      else if (key === "0") map.glide(map.whole());
      else if (key === "Enter") { const i = map.nearest(map.width / 2, map.height / 2, 120); if (i >= 0) map.open(i); return; }
      else if (key === "Escape") { map.lasso = null; map.point(-1); map.draw(); return; }
      else return;
      event.preventDefault();
      map.crosshair = true;
      middle();
    });
    const middle = debounce(120, () => {
      const i = map.nearest(map.width / 2, map.height / 2, 120);
      map.point(i, map.width / 2, map.height / 2).then(() => { const doc = map.titles.get(i); if (doc) say(doc.title); });
    });
    canvas.addEventListener("blur", () => { if (map.crosshair) { map.crosshair = false; map.point(-1); map.draw(); } });
    one("#map-in").addEventListener("click", () => map.zoomAt(1.6));
    one("#map-out").addEventListener("click", () => map.zoomAt(1 / 1.6));
    one("#map-all").addEventListener("click", () => map.glide(map.whole()));
  }

  // Documents that were drawn around are listed by the server, below the map.
  function select(map, drawn) {
    const most = 60, step = Math.max(drawn.length / most, 1), corners = [];
    for (let at = 0; at < drawn.length; at += step) {
      const [x, y] = drawn[Math.floor(at)];
      corners.push(((x - map.view.left) / map.view.scale / map.stretch).toFixed(4), ((y - map.view.top) / map.view.scale).toFixed(4));
    }
    const url = new URL(figure.dataset.map, location.href), now = new URL(location.href);
    for (const name of ["colour", "q", "first", "last"]) if (now.searchParams.get(name)) url.searchParams.set(name, now.searchParams.get(name));
    url.searchParams.set("area", corners.join(","));
    location.assign(url);
  }

  function within(map) {
    const corners = map.area;
    if (corners.length < 6) return null;
    const inside = new Uint8Array(map.n), n = corners.length / 2;
    for (const i of map.order) {
      const x = map.flat[i], y = map.y[i];
      let odd = false;
      for (let a = 0, b = n - 1; a < n; b = a++) {
        const [xa, ya, xb, yb] = [corners[2 * a], corners[2 * a + 1], corners[2 * b], corners[2 * b + 1]];
        if ((ya > y) !== (yb > y) && x < xa + (y - ya) * (xb - xa) / (yb - ya)) odd = !odd;
      }
      inside[i] = odd ? 1 : 0;
    }
    return inside;
  }

  function lights(map) {
    const field = one("#map-find"), found = one("#map-found");
    let asked = 0;
    if (!field) return () => {};
    const light = (page) => {
      map.hits = null;
      if (page && page.query.trim()) {
        map.hits = new Uint8Array(map.n);
        for (const i of page.hits || []) map.hits[i] = 1;
        found.textContent = `${count(page.n_hits)}`;
        say(`${count(page.n_hits)} lit`);
      } else found.textContent = "";
      map.draw();
    };
    const find = async () => {
      const mine = ++asked, q = field.value.trim();
      remember({ q });
      if (!q) { light(null); return; }
      try {
        const page = await (await fetch(address({ part: "hits", q }))).json();
        if (mine === asked) light(page);
      } catch { found.textContent = "The search failed"; }
    };
    field.addEventListener("input", debounce(260, find));
    field.addEventListener("keydown", (event) => { if (event.key === "Escape") { field.value = ""; find(); } });
    return light;
  }

  function colours(map, shown) {
    const choice = one("#map-colour"), legend = one("#map-legend");
    if (!choice) return;
    const use = (colour) => {
      map.colour = colour && { ...colour, codes: decode(colour.codes, 1) };
      map.only = null;
      map.paint();
      legend.hidden = !colour;
      legend.replaceChildren();
      const rows = colour ? [...colour.values.map((v, i) => [v.value, v.n_documents, `h${v.hue}`, i]), ...(colour.n_others ? [["other or none", colour.n_others, "others", OTHER]] : [])] : [];
      for (const [value, n, kind, code] of rows) {
        const item = document.createElement("li"), button = document.createElement("button"), dot = document.createElement("i"), small = document.createElement("small");
        button.type = "button";
        button.className = kind;
        button.setAttribute("aria-pressed", "false");
        small.textContent = ` ${number(n)}`;
        button.append(dot, value, small);
        button.addEventListener("click", () => {
          map.only = map.only === code ? null : code;
          for (const other of legend.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button && map.only !== null));
          map.draw();
        });
        item.append(button);
        legend.append(item);
      }
      map.draw();
    };
    choice.addEventListener("change", async () => {
      remember({ colour: choice.value });
      if (!choice.value) { use(null); return; }
      try { use((await (await fetch(address({ part: "colour", colour: choice.value }))).json()).colour); } catch { say("The colours could not be had"); }
    });
    if (shown) use(shown);
  }

  // Two handles over the number of documents a year; Play moves the years between them along.
  function time(map, page) {
    const box = one("#map-time");
    if (!map.year || map.firstYear === map.lastYear) return;
    box.hidden = false;
    const [first, last] = [one("#map-first"), one("#map-last")], output = one("#map-span"), play = one("#map-play"), bars = one("#map-histogram");
    const years = map.lastYear - map.firstYear + 1, numbers = new Float64Array(years);
    for (const i of map.order) if (map.year[i] < years) numbers[map.year[i]]++;
    for (const handle of [first, last]) { handle.min = map.firstYear; handle.max = map.lastYear; }
    first.value = page.first_year ?? map.firstYear;
    last.value = page.last_year ?? map.lastYear;
    const show = (keep = true) => {
      map.span = [Math.min(+first.value, +last.value), Math.max(+first.value, +last.value)];
      output.textContent = map.span[0] === map.span[1] ? `${map.span[0]}` : `${map.span[0]}–${map.span[1]}`;
      const all = map.allYears();
      if (keep) remember({ first: all ? null : map.span[0], last: all ? null : map.span[1] });
      histogram();
      map.draw();
    };
    const histogram = () => {
      const ratio = Math.min(devicePixelRatio || 1, 2), wide = bars.clientWidth, high = bars.clientHeight;
      if (!wide) return;
      bars.width = wide * ratio;
      bars.height = high * ratio;
      const context = bars.getContext("2d"), most = Math.max(...numbers, 1), step = wide / years, style = getComputedStyle(document.documentElement);
      context.scale(ratio, ratio);
      for (let i = 0; i < years; i++) {
        const year = map.firstYear + i, tall = numbers[i] ? Math.max(high * numbers[i] / most, 1) : 0;
        context.fillStyle = style.getPropertyValue(year >= map.span[0] && year <= map.span[1] ? "--accent" : "--rule");
        context.fillRect(i * step, high - tall, Math.max(step - (step > 4 ? 1.5 : 0), 0.7), tall);
      }
    };
    for (const handle of [first, last]) handle.addEventListener("input", () => { stop(); show(); });
    let timer = 0;
    const stop = () => { clearInterval(timer); timer = 0; play.textContent = "Play"; play.setAttribute("aria-pressed", "false"); };
    play.addEventListener("click", () => {
      if (timer) { stop(); show(); return; }
      let [from, to] = map.span;
      if (map.allYears()) { to = from + Math.max(Math.round(years / 14) - 1, 0); }
      const length = to - from;
      if (to >= map.lastYear) { from = map.firstYear; to = from + length; }
      play.textContent = "Pause";
      play.setAttribute("aria-pressed", "true");
      const tick = () => {
        first.value = from;
        last.value = to;
        show(false);
        if (to >= map.lastYear) { stop(); show(); say(`Played to ${map.lastYear}`); return; }
        from++;
        to++;
      };
      tick();
      if (to <= map.lastYear) timer = setInterval(tick, clamp(9000 / years, 120, 700));
    });
    addEventListener("resize", histogram);
    dark.addEventListener("change", histogram);
    show(false);
  }

  async function begin() {
    const answer = await fetch(new URL(figure.dataset.source, location.href), { headers: { Accept: "application/json" } });
    if (!answer.ok) return;
    const page = await answer.json();
    if (!page.points) return;
    const map = new DocumentMap(page);
    figure.map = map;
    for (const part of document.querySelectorAll("#map-tools, .needs-script")) part.hidden = false;
    map.inside = within(map);
    pointers(map);
    const light = lights(map);
    time(map, page);
    colours(map, page.colour);
    light(page);
    map.draw();
    figure.dataset.ready = "true";
  }

  begin().catch(() => { /* the picture that the server drew stays */ });
})();
