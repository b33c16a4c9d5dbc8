// "Check it yourself" in the page: the engine as a module replays a log in a worker, which is this same file.
"use strict";

const SECONDS_MAX = 60;

// In the worker: a pack and a log in, the answer of POST /api/v1/replays/verify out.
const replay = async ({ data: { module, pack, log } }) => {
  const { instance } = await WebAssembly.instantiateStreaming(fetch(module));
  const { memory, alloc, verify, answer_bytes } = instance.exports;
  const at = alloc(pack.byteLength, log.byteLength);
  if (!at) throw new Error("the log or the pack is longer than what is checked");
  const room = new Uint8Array(memory.buffer, at);
  room.set(new Uint8Array(pack));
  room.set(new Uint8Array(log), pack.byteLength);
  // The memory may grow meanwhile, and is then another buffer.
  const told = verify();
  const answer = new Uint8Array(memory.buffer, told, answer_bytes());
  postMessage({ answer: JSON.parse(new TextDecoder().decode(answer)) });
};

// In the page.
const begin = (place) => {
  const { module, worker, log, pack, packs, bytesMax } = place.dataset;
  const find = (selector) => [...place.querySelectorAll(selector)];
  const state = (name) => { for (const it of find("[data-state]")) it.hidden = !it.dataset.state.split(" ").includes(name); };
  const slot = (name, text) => { for (const it of find(`[data-slot="${name}"]`)) it.textContent = text; };
  const get = async (path) => {
    const answer = await fetch(path);
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
    return answer.arrayBuffer();
  };
  // A log of another pack is checked against that one, if it is played here.
  const packOf = async (bytes) => {
    try {
      const { pack_id, pack_version } = JSON.parse(new TextDecoder().decode(bytes));
      const names = [pack_id, pack_version].map((it) => encodeURIComponent(String(it)));
      return await get([packs, ...names].join("/"));
    } catch { return get(pack); }
  };
  const ask = (bytes) => new Promise((done, fail) => {
    const other = new Worker(worker);
    const stop = (then, what) => { clearTimeout(timer); other.terminate(); then(what); };
    const timer = setTimeout(() => stop(fail, new Error(`it took more than ${SECONDS_MAX} seconds`)), SECONDS_MAX * 1000);
    other.onmessage = ({ data }) => stop(done, data.answer);
    other.onerror = (event) => { event.preventDefault(); stop(fail, new Error(event.message || "the module did not start")); };
    other.postMessage({ module, ...bytes }, Object.values(bytes));
  });
  // Each value says where it is in the answer; what is the same to the last digit is equal.
  const compare = (answer) => {
    for (const row of find("tbody tr")) {
      const cells = [...row.querySelectorAll("[data-path]")];
      const [stored, replayed] = cells.map((it) => it.dataset.path.split(".").reduce((value, key) => value?.[key], answer));
      [stored, replayed].forEach((value, i) => { cells[i].textContent = value ?? "none"; });
      const same = replayed == null ? "none" : stored === replayed ? "equal" : "differs";
      for (const it of row.querySelectorAll("[data-same]")) it.hidden = it.dataset.same !== same;
    }
  };
  const tell = (answer, name, seconds) => {
    const turn = answer.first_turn;
    slot("turn", turn == null ? "No fault is about a turn." : `The first turn that departs is turn ${turn}.`);
    slot("name", name);
    slot("seconds", seconds.toFixed(2));
    slot("detail", answer.detail ?? "");
    find("[data-faults]")[0].replaceChildren(...(answer.faults ?? []).slice(0, 5).map(({ pointer, detail }) => {
      const [line, code] = ["p", "code"].map((it) => document.createElement(it));
      code.textContent = pointer;
      line.append(code, ` ${detail}`);
      return line;
    }));
    if (answer.verdict !== "refused") compare(answer);
    state(answer.verdict);
  };
  let busy = false;
  const check = async (name, read) => {
    if (busy) return;
    busy = true;
    state("busy");
    try {
      const bytes = await read();
      const its = await packOf(bytes);
      const begun = performance.now();
      tell(await ask({ pack: its, log: bytes }), name, (performance.now() - begun) / 1000);
    } catch (why) {
      slot("why", why.message);
      state("failed");
    } finally { busy = false; }
  };
  find("button")[0].addEventListener("click", () => check("the stored log", () => get(log)));
  find("input")[0].addEventListener("change", ({ target }) => {
    const file = target.files[0];
    const read = () => {
      if (file.size > bytesMax) throw new Error(`the file is ${file.size} bytes; the limit is ${bytesMax}`);
      return file.arrayBuffer();
    };
    if (file) check(file.name, read).then(() => { target.value = ""; });
  });
  place.hidden = false;
};

if (self.document) {
  const place = document.getElementById("own-check");
  if (place && self.WebAssembly && self.Worker) begin(place);
} else self.onmessage = (event) => replay(event).catch((why) => setTimeout(() => { throw why; }));
