"use strict";
// The page asks for itself each second, and becomes what it gets. All that is shown
// is made by the server.
(() => {
  const here = location.origin + location.pathname + location.search;
  const note = document.getElementById("note");
  let timer = 0, asking = false;

  // become makes old equal to fresh and touches nothing else, so that what is open,
  // focused, marked or scrolled stays so.
  function become(old, fresh) {
    if (old.nodeName !== fresh.nodeName || old.id !== fresh.id) {
      old.replaceWith(fresh);
      return;
    }
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data !== fresh.data) old.data = fresh.data;
      return;
    }
    for (const { name, value } of fresh.attributes) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    children(old, fresh);
  }

  // children does so with those of old. One that has an id stays itself when others
  // come or go before it; the rest go by their places between those.
  function children(old, fresh) {
    const named = new Map([...old.children].filter(({ id }) => id).map((child) => [child.id, child]));
    let at = old.firstChild;
    const drop = () => {
      const gone = at;
      at = at.nextSibling;
      named.delete(gone.id);
      gone.remove();
    };
    for (const child of [...fresh.childNodes]) {
      const same = named.get(child.id);
      if (!same && (!at || at.id)) {
        old.insertBefore(child, at);
        continue;
      }
      while (same && at !== same) drop();
      const known = at;
      at = at.nextSibling;
      become(known, child);
    }
    while (at) drop();
  }

  async function fetched() {
    const answer = await fetch(here, {
      headers: { Accept: "text/html" }, cache: "no-store", signal: AbortSignal.timeout(5000),
    });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const main = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
    if (!main) throw new Error("another page");
    return main;
  }

  async function ask() {
    clearTimeout(timer);
    if (document.hidden || asking) return; // to be shown again asks again
    asking = true;
    try {
      become(document.querySelector("main"), await fetched());
      note.hidden = true;
    } catch (e) {
      const text = `No answer (${e.message}). What you see is as of ${document.getElementById("taken").textContent}.`;
      if (note.hidden || note.textContent !== text) note.textContent = text;
      note.hidden = false;
    }
    asking = false;
    timer = setTimeout(ask, 1000);
  }

  document.addEventListener("visibilitychange", ask);
  timer = setTimeout(ask, 1000);
})();
