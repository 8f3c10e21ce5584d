// A block of a view, from one documented request or two.

import { address, choose, pagesBefore } from "./address.js";
import { chooser, make, pairsOf, words } from "./elements.js";
import { duration } from "./formats.js";
import { Failure, request } from "./requests.js";
import { POLL_SECONDS, state } from "./state.js";

const ROW_REM = 2.1;

// Each block is drawn in a frame of its own, so that no frame is long.
let frames = Promise.resolve();
const frame = () => (frames = frames.then(() => new Promise(requestAnimationFrame)));

let askForKey = () => {};
let giveUp = () => {};
export const onFailure = (handlers) => ({ askForKey, giveUp } = handlers);

// A block shows what its paths return, each computed from the data of those before, and refreshes it while it is shown.
// What is chosen in it, and its page, stand in the address as `id.name`. One that follows another is refreshed only with
// it: its data has a time in it, or costs a provider's request. Without the data of the head of a view, the view says why.
export class Block {
  constructor(title, { id, paths, show, rows, choosers = {}, ascending = [], fixed = false, paged = false, follows = null, isHead = false, isPending = () => false }) {
    Object.assign(this, { title, id, paths, show, choosers, ascending, follows, isHead, isPending });
    Object.assign(this, { parts: [], at: 0, failure: null, pausedUntil: 0, run: 0, next: null, controls: {} });
    this.state = make("span", { className: "state" });
    this.code = make("pre");
    const popup = make("div", { className: "request", popover: "auto" }, this.code);
    const opener = make("button", { type: "button", className: "opener", popoverTargetElement: popup, ariaLabel: `Request of ${title}` }, "Request");
    for (const [name, { label, options }] of Object.entries(choosers)) {
      const control = chooser(`${title}: ${label}`, options, this.values[name], (value) => this.choose({ [name]: value }));
      this.controls[name] = control.querySelector("select");
    }
    this.body = make("div", { className: fixed ? "body fixed" : "body" }, rows ? words("Loading …") : show());
    if (rows) this.body.style.setProperty("--height", `${ROW_REM * rows}rem`);
    const chosen = Object.values(this.controls).map((select) => select.parentElement);
    this.element = make("section", { className: "block", ariaLabel: title },
      make("header", {}, make("h2", {}, title), ...chosen, this.state, opener, popup), this.body);
    const turner = (text, step) => make("button", { type: "button", disabled: true, onclick: () => this.turn(step) }, text);
    this.turners = paged ? [turner("Previous", -1), turner("Next", 1)] : [];
    if (paged) this.element.append(make("div", { className: "pages" }, ...this.turners));
    this.shown = this.named;
  }

  // What the address names of this block.
  get named() {
    const { values } = address();
    return JSON.stringify([...values].filter(([name]) => name.startsWith(`${this.id}.`)));
  }

  get cursor() {
    return address().values.get(`${this.id}.after`);
  }

  // What is chosen: of each chooser the value in the address, or else the first one; and the order of a sort.
  get values() {
    const { values } = address();
    const chosen = Object.entries(this.choosers).map(([name, { options }]) => {
      const value = values.get(`${this.id}.${name}`);
      const known = pairsOf(options).map(([own]) => own);
      return [name, known.includes(value) ? value : known[0]];
    });
    const order = values.get(`${this.id}.order`);
    return { ...Object.fromEntries(chosen), order: ["asc", "desc"].includes(order) ? order : "" };
  }

  get sorting() {
    const { sort, order } = this.values;
    const usual = this.ascending.includes(sort) ? "asc" : "desc";
    return { sort, order: order || usual, choose: (sort, order) => this.choose({ sort, order }) };
  }

  choose(changes) {
    const named = Object.entries({ order: "", ...changes, after: "" }).map(([name, value]) => [`${this.id}.${name}`, value]);
    choose(Object.fromEntries(named), { [this.id]: [] });
  }

  turn(step) {
    const before = pagesBefore(this.id);
    for (const turner of this.turners) turner.disabled = true;
    const after = step > 0 ? this.next : before.at(-1) ?? "";
    choose({ [`${this.id}.after`]: after }, { [this.id]: step > 0 ? [...before, this.cursor ?? ""] : before.slice(0, -1) });
  }

  // Show what the address names by now.
  reroute() {
    if (this.shown === this.named) return;
    this.shown = this.named;
    for (const [name, select] of Object.entries(this.controls)) select.value = this.values[name];
    this.failure = null;
    this.refresh();
  }

  async refresh() {
    const { signal } = state.leaving;
    const run = ++this.run;
    const isCurrent = () => !signal.aborted && run === this.run;
    const shown = [];
    let isNew = Boolean(this.failure);
    let hasChanged = false;
    try {
      for (const [place, pathOf] of this.paths.entries()) {
        const path = pathOf(this, ...shown);
        if (!path) break;
        this.cite(place, path);
        const before = this.parts[place]?.path === path ? this.parts[place] : null;
        const response = await request(path, { etag: before?.etag, signal });
        if (!isCurrent()) return;
        if (response) this.parts[place] = { path, ...response };
        isNew ||= Boolean(response) || this.displayed !== path;
        hasChanged ||= Boolean(response && before);
        shown.push(this.parts[place].data);
      }
    } catch (error) {
      if (isCurrent()) this.fail(error);
      return;
    }
    const content = isNew ? [this.show(...shown)].flat().filter(Boolean) : null;
    if (content) await frame();
    if (!isCurrent()) return;
    Object.assign(this, { at: Date.now(), failure: null, pending: this.isPending(...shown), displayed: this.parts[0].path });
    if (content) this.display(content, shown[0].pagination);
    this.tick();
    if (hasChanged) for (const block of state.blocks) if (block.follows === this) block.refresh();
  }

  isDue() {
    if (this.failure?.isFinal || this.pausedUntil > Date.now()) return false;
    return !this.follows || !this.at || this.pending || Boolean(this.failure);
  }

  // Show the request, without the key.
  cite(place, path) {
    const line = `curl -H "Authorization: Bearer $KEY" '${new URL(path, location.href).href}'`;
    this.code.textContent = [...this.code.textContent.split("\n").slice(0, place), line].join("\n");
  }

  display(content, pagination) {
    const focused = this.body.contains(document.activeElement) && document.activeElement.getAttribute("href");
    this.body.replaceChildren(...content);
    if (focused) [...this.body.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus({ preventScroll: true });
    if (!this.turners.length) return;
    this.next = pagination.next_cursor;
    this.turners[0].disabled = !this.cursor;
    this.turners[1].disabled = !this.next;
  }

  fail(error) {
    if (!(error instanceof Failure)) throw error;
    if (error.isOfKey) return askForKey(error.message);
    if (error.isFinal && this.isHead) return giveUp(error.message);
    this.failure = error;
    this.pausedUntil = Date.now() + 1000 * error.wait;
    if (!this.at || error.isFinal) this.body.replaceChildren(words(error.message, "words loss"));
    this.tick();
  }

  tick() {
    const age = this.at ? `updated ${duration((Date.now() - this.at) / 1000)} ago` : "";
    const wait = Math.ceil((Math.max(state.pausedUntil, this.pausedUntil, state.polledAt + 1000 * POLL_SECONDS) - Date.now()) / 1000);
    const problem = this.at ? `${this.failure?.message} Last ${age}` : "Not loaded";
    const retried = this.failure?.isFinal ? "" : `${problem}; next try in ${Math.max(wait, 0)} s`;
    this.state.textContent = this.failure ? retried : age;
    this.state.classList.toggle("loss", Boolean(this.failure));
  }
}
