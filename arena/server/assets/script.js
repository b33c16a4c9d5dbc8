// Every page is complete without this file. It keeps one table fresh, says at most one sentence in ten seconds,
// and gives a replay keys and a play button that follow the links which are there anyway.
"use strict";

// One live table.
(() => {
  const page = document.querySelector("[data-live]");
  const voice = document.getElementById("announcements");
  if (!page || !voice || !window.EventSource) return;
  const { live, region, kinds } = page.dataset;
  const QUIET_MS = 10000;
  let said = 0, waiting = "", timer = 0, busy = false, again = false;

  const say = (sentence) => {
    waiting = sentence;
    // The newest sentence replaces one that still waits.
    timer ||= setTimeout(() => {
      [voice.textContent, said, timer] = [waiting, Date.now(), 0];
    }, Math.max(0, said + QUIET_MS - Date.now()));
  };

  // What had the focus: its id, or its place among the links of the row with this key.
  const remember = (old) => {
    const active = document.activeElement;
    if (!old.contains(active)) return null;
    const row = active.closest("[data-key]");
    const nth = row ? [...row.querySelectorAll("a, button, summary")].indexOf(active) : -1;
    return { id: active.id, key: row && row.dataset.key, nth };
  };
  const rows = (part) => [...part.querySelectorAll("[data-key]")];
  const restore = (part, focus) => {
    if (!focus) return;
    const row = rows(part).find((it) => it.dataset.key === focus.key);
    const same = focus.id && document.getElementById(focus.id);
    const found = same || row?.querySelectorAll("a, button, summary")[focus.nth];
    (found || part.querySelector("[tabindex]"))?.focus({ preventScroll: true });
  };

  const patch = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const url = new URL(location.href);
      url.searchParams.set("fragment", region);
      const answer = await fetch(url, { headers: { accept: "text/html" } });
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(region);
      const old = document.getElementById(region);
      if (!fresh || !old || fresh.outerHTML === old.outerHTML) return;
      const focus = remember(old);
      const before = new Map(rows(old).map((row) => [row.dataset.key, row.textContent]));
      const open = new Set([...old.querySelectorAll("details[open][id]")].map((it) => it.id));
      for (const it of fresh.querySelectorAll("details[id]")) it.open = open.has(it.id);
      for (const row of rows(fresh)) row.classList.toggle("changed", before.get(row.dataset.key) !== row.textContent);
      const news = fresh.dataset.say !== old.dataset.say && fresh.dataset.say;
      old.replaceWith(fresh);
      restore(fresh, focus);
      if (news) say(news);
    } catch { /* The next event tries again; the table that stands stays. */ } finally {
      busy = false;
      if (again) { again = false; setTimeout(patch, 1000); }
    }
  };
  const events = new EventSource(live);
  for (const kind of kinds.split(" ")) events.addEventListener(kind, patch);
})();

// Replays: first, back, forward and last are links.
(() => {
  const bar = document.querySelector(".replay");
  if (!bar) return;
  const link = (rel) => bar.querySelector(`a[rel~="${rel}"]`);
  const speeds = [0.5, 1, 2, 4, 8];
  const hash = new URLSearchParams(location.hash.slice(1));
  let speed = speeds.find((it) => it === Number(hash.get("play"))) || 0, timer = 0;
  const choose = bar.querySelector("select"), button = bar.querySelector("button");
  const show = () => { clearTimeout(timer); if (button) button.textContent = speed ? "Pause" : "Play"; };
  const stop = () => { speed = 0; history.replaceState(null, "", location.href.split("#")[0]); show(); };
  const step = () => {
    const next = link("next");
    if (!next) return stop();
    show();
    timer = setTimeout(() => { location.replace(`${next.href.split("#")[0]}#play=${speed}`); }, 1000 / speed);
  };
  const play = () => { if (speed) return stop(); speed = Number(choose?.value) || 1; step(); };
  const TAKEN = "input, select, textarea, button, summary, [role=region]"; // These have a use for keys.
  const keys = { ArrowLeft: "prev", ArrowRight: "next", Home: "first", End: "last" };
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest(TAKEN)) return;
    if (event.key === " " && !event.target.closest("a")) { event.preventDefault(); play(); return; }
    const target = keys[event.key] && link(keys[event.key]);
    target && (event.preventDefault(), target.click());
  });
  for (const it of bar.querySelectorAll("[hidden]")) it.hidden = false;
  if (choose && speed) choose.value = String(speed);
  choose?.addEventListener("change", () => { if (speed) { speed = Number(choose.value); step(); } });
  button?.addEventListener("click", play);
  if (speed) step();
})();
