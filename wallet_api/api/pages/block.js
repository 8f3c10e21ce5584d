// A block of a view, from one documented request or two.

import { address, choose } from "./address.js";
import { chooser, entitle, figures, make, read, table, words } from "./elements.js";
import { clock } from "./formats.js";
import { Failure, request, requestPath } from "./requests.js";
import { POLL_SECONDS, state } from "./state.js";

const ROW_REM = 2.1;

// Each block is drawn in a frame of its own, so that no frame is long.
let frames = Promise.resolve();
const frame = () => (frames = frames.then(() => new Promise(requestAnimationFrame)));

// A request, without the key.
const cited = (path) => `curl -H "Authorization: Bearer $KEY" '${new URL(path, location.href).href}'`;

// A block shows the data of `of`, an operation and its values, and refreshes it while it is shown; what is chosen in it,
// and its page, are values too, and stand in the address as `id.name`. `of` may be a function of what is chosen, and `then`
// one of the data and of what is chosen, for a second request. It shows figures, the `sums`, and a table of a `list` of its data,
// or what `show` returns. A block that follows another is refreshed only with it: its data has a time in it, or costs a
// provider's request. The head of a view returns a title for it from its data; without data, the view says why.
export class Block {
  constructor(title, { rows, choosers = {}, isFixed = false, ...own }) {
    Object.assign(this, { then: () => null, ascending: [], isPaged: false, titled: null, follows: null, isPending: () => false }, own);
    Object.assign(this, { answers: [], at: 0, requested: "", failure: null, pausedUntil: 0, run: 0, next: null });
    this.choosers = Object.entries(choosers).map(([name, [label, options]]) =>
      [name, chooser(`${title}: ${label}`, options, "", (value) => this.choose({ [name]: value }))]);
    this.state = make("span", { className: "state" });
    this.code = make("pre");
    const popup = make("div", { className: "request", popover: "auto" }, this.code);
    const opener = make("button", { className: "opener", popoverTargetElement: popup, ariaLabel: `Request of ${title}` }, "Request");
    this.body = make("div", { className: isFixed ? "body fixed" : "body" }, rows ? words("Loading …") : this.show());
    if (rows) this.body.style.setProperty("--height", `${ROW_REM * rows}rem`);
    this.turners = [["Previous", -1], ["Next", 1]].map(([text, step]) => make("button", { onclick: () => this.turn(step) }, text));
    this.pages = make("div", { className: "pages", hidden: true }, ...this.turners);
    this.element = make("section", { className: "block", ariaLabel: title },
      make("header", {}, make("h2", {}, title), ...this.choosers.map(([, label]) => label), this.state, opener, popup), this.body, this.pages);
  }

  show(data) {
    const { sums, columns, list, empty, sorting } = this;
    const shown = sums ? figures(sums, data) : "";
    return columns ? [shown, table(columns, read(data, list), empty, sorting)] : shown;
  }

  // The value of the address that is named after this block.
  named(name) {
    return address().values.get(`${this.id}.${name}`) ?? "";
  }

  // What is chosen: in each chooser the value in the address, or else the first one; the order of a sort, and the page.
  get chosen() {
    const chosen = { order: ["asc", "desc"].find((order) => order === this.named("order")), cursor: this.isPaged ? this.named("after") : "" };
    for (const [name, { control }] of this.choosers) {
      control.value = this.named(name);
      if (control.selectedIndex < 0) control.selectedIndex = 0;
      chosen[name] = control.value;
    }
    return chosen;
  }

  get sorting() {
    const { sort, order } = this.chosen;
    const usual = this.ascending.includes(sort) ? "asc" : "desc";
    return { sort, order: order || usual, choose: (sort, order) => this.choose({ sort, order }) };
  }

  choose(changes) {
    const named = Object.entries({ order: "", ...changes, after: "" }).map(([name, value]) => [`${this.id}.${name}`, value]);
    choose(Object.fromEntries(named), { [this.id]: [] });
  }

  turn(step) {
    const before = history.state?.[this.id] ?? [];
    const after = step > 0 ? this.next : before.at(-1) ?? "";
    choose({ [`${this.id}.after`]: after }, { [this.id]: step > 0 ? [...before, this.named("after")] : before.slice(0, -1) });
  }

  // The request that the address names by now.
  get path() {
    const { of, chosen } = this;
    return requestPath(...(typeof of === "function" ? of(chosen) : [of[0], { ...of[1], ...chosen }]));
  }

  async refresh() {
    const { signal } = state.leaving;
    const run = ++this.run;
    const isCurrent = () => !signal.aborted && run === this.run;
    const [before, answers, paths] = [this.answers, [], [this.path]];
    this.requested = this.path;
    try {
      for (const path of paths) {
        this.code.textContent = paths.map(cited).join("\n");
        answers.push(await request(path, signal));
        if (!isCurrent()) return;
        const further = paths.length < 2 && this.then(answers[0].data, this.chosen);
        if (further) paths.push(requestPath(...further));
      }
    } catch (error) {
      if (isCurrent()) this.fail(error);
      return;
    }
    const isSame = !this.failure && answers.length === before.length && answers.every((answer, place) => answer === before[place]);
    if (!isSame) {
      const [content, title] = [this.show, this.titled].map((write) => write?.apply(this, answers.map(({ data }) => data)));
      await frame();
      if (!isCurrent()) return;
      if (title) entitle(title);
      this.display([content].flat().filter(Boolean), answers[0].data.pagination);
    }
    Object.assign(this, { answers, at: Date.now(), failure: null, pending: this.isPending(answers[0].data) });
    this.tell();
    const hasChanged = answers.some((answer, place) => before[place]?.path === answer.path && before[place] !== answer);
    if (hasChanged) for (const block of state.blocks) if (block.follows === this) block.refresh();
  }

  isDue() {
    if (this.path === this.requested && (this.failure?.isFinal || this.pausedUntil > Date.now())) return false;
    return !this.follows || this.path !== this.answers[0]?.path || this.pending || Boolean(this.failure);
  }

  display(content, pagination) {
    const focused = this.body.contains(document.activeElement) && document.activeElement.getAttribute("href");
    this.body.replaceChildren(...content);
    if (focused) [...this.body.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus({ preventScroll: true });
    this.next = this.isPaged ? pagination.next_cursor : null;
    const [previous, next] = this.turners;
    previous.disabled = !this.named("after");
    next.disabled = !this.next;
    this.pages.hidden = previous.disabled && next.disabled;
  }

  fail(error) {
    if (!(error instanceof Failure)) throw error;
    if (error.isOfKey) return state.askForKey(error.message);
    if (error.isFinal && this.titled) return state.giveUp(error.message);
    this.failure = error;
    this.pausedUntil = Date.now() + 1000 * error.wait;
    if (!this.at || error.isFinal) this.body.replaceChildren(words(error.message, "words loss"));
    this.tell();
  }

  // Say when it was updated, or why not, and when that is tried again.
  tell() {
    const { failure } = this;
    const last = this.at ? `updated ${clock(this.at)}` : "";
    const next = clock(Math.max(state.pausedUntil, this.pausedUntil, state.polledAt + 1000 * POLL_SECONDS));
    const problem = `${this.at ? `${failure?.message} Last ${last}` : "Not loaded"}; next try at ${next}`;
    this.state.textContent = !failure ? last : failure.isFinal ? "" : problem;
    this.state.classList.toggle("loss", Boolean(failure));
  }
}
