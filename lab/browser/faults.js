// What a reader would stumble on in this page, as a list of sentences.
(() => {
  const found = new Set();
  const shown = (e) => e.getClientRects().length > 0;
  const words = (e) => JSON.stringify((e.textContent || "").trim().slice(0, 40));
  const place = (e) => {
    const at = e.closest("[id]");
    return at ? " in #" + at.id : "";
  };

  function width() {
    const wide = document.documentElement.scrollWidth, room = document.documentElement.clientWidth;
    if (wide > room) found.add(`the page is ${wide} wide, the window ${room}`);
  }

  function names() {
    const seen = new Set();
    for (const e of document.querySelectorAll("[id]")) {
      if (seen.has(e.id)) found.add(`two elements have the id ${e.id}`);
      seen.add(e.id);
    }
    for (const a of document.querySelectorAll('a[href^="#"]')) {
      const id = decodeURIComponent(a.getAttribute("href").slice(1));
      if (id && !seen.has(id)) found.add(`a link leads to ${id}, which is nowhere`);
    }
  }

  function drawing(svg) {
    if (svg.getAttribute("aria-hidden") === "true") return;
    const label = (svg.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id));
    if (svg.getAttribute("role") !== "img" || !label.length || label.some((e) => !e || !e.textContent.trim())) {
      found.add(`a drawing has no role or name${place(svg)}`);
    }
    const figure = svg.closest("figure");
    const after = (t) => svg.compareDocumentPosition(t) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (!figure || ![...figure.querySelectorAll("table")].some(after)) found.add(`a drawing has no table after it${place(svg)}`);
  }

  function layout(svg) {
    const box = svg.getBoundingClientRect();
    if (box.width < 1 || box.height < 1) found.add(`a drawing has no size${place(svg)}`);
    const texts = [...svg.querySelectorAll("text")].map((e) => [e, e.getBoundingClientRect()]);
    const slack = 0.6;
    texts.forEach(([e, r], i) => {
      if (r.left < box.left - slack || r.right > box.right + slack || r.top < box.top - slack || r.bottom > box.bottom + slack) {
        found.add(`${words(e)} is beyond its drawing${place(svg)}`);
      }
      for (const [f, s] of texts.slice(i + 1)) {
        const across = Math.min(r.right, s.right) - Math.max(r.left, s.left);
        const down = Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top);
        // Boxes of text have room above and below their letters.
        if (across > slack && down > 0.3 * Math.min(r.height, s.height)) found.add(`${words(e)} is over ${words(f)}${place(svg)}`);
      }
    });
  }

  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parsed = new Map();
  function colour(text) { // red, green, blue and alpha, all up to 1
    if (!parsed.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      parsed.set(text, [...canvas.getImageData(0, 0, 1, 1).data].map((v) => v / 255));
    }
    return parsed.get(text);
  }
  const over = (top, ground) => [0, 1, 2].map((i) => top[i] * top[3] + ground[i] * (1 - top[3])).concat(1);
  const grounds = new Map();
  function ground(e) {
    if (!e) return colour(getComputedStyle(document.documentElement).colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches ? "#121212" : "#fff");
    if (!grounds.has(e)) grounds.set(e, over(colour(getComputedStyle(e).backgroundColor), ground(e.parentElement)));
    return grounds.get(e);
  }
  function light(c) {
    const [r, g, b] = c.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  // Elements with the same names and classes up to the root look alike, so that
  // the first of them is enough.
  const paths = new Map();
  const kind = (e) => [e.tagName, ...["class", "style", "fill"].map((name) => e.getAttribute(name) || "")].join(".");
  function path(e) {
    if (!e) return "";
    if (!paths.has(e)) paths.set(e, path(e.parentElement) + "/" + kind(e));
    return paths.get(e);
  }
  function contrast() {
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const done = new Set();
    for (let n = walk.nextNode(); n; n = walk.nextNode()) {
      const e = n.parentElement;
      if (done.has(path(e)) || !n.data.trim() || e.closest("title, desc, style, script") || !shown(e)) continue;
      done.add(path(e));
      const style = getComputedStyle(e);
      const below = ground(e);
      const text = over(colour(e instanceof SVGElement ? style.fill : style.color), below);
      const [a, b] = [light(text), light(below)].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < 4.5) found.add(`${words(e)} has a contrast of ${ratio.toFixed(2)}${place(e)}`);
    }
  }

  width();
  names();
  for (const svg of document.querySelectorAll("svg")) {
    drawing(svg);
    if (shown(svg)) layout(svg);
  }
  contrast();
  return [...found];
})()
