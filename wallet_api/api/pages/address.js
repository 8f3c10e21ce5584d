// The address is the state: #/wallet/solana/kol/ADDRESS?tokens.sort=invested&trades.after=CURSOR names a view and
// what is chosen in it. Back, Forward, a reload and a shared link give the same view.

export function address() {
  const [path, query] = location.hash.slice(1).split("?");
  const [, name = "", ...parts] = path.split("/");
  return { path, name, parts, values: new URLSearchParams(query) };
}

export const link = (...parts) => `#/${parts.join("/")}`;

// Go to another view, as a link does. `pages` are the cursors of the pages before that of a block, by its id.
export function go(hash, pages = {}) {
  if (hash !== location.hash) history.pushState(pages, "", hash);
  dispatchEvent(new Event("popstate"));
}

// Choose in the view, or in another: a value that is empty is the usual one.
export function choose(changes, pages = {}, path = address().path) {
  const { values } = address();
  for (const [name, value] of Object.entries(changes)) {
    if (value) values.set(name, value);
    else values.delete(name);
  }
  go(`#${path}${values.size ? `?${values}` : ""}`, { ...history.state, ...pages });
}

// Begin again what has these endings: the pages of another group or window are others.
export function begin(endings, changes, path) {
  const names = [...address().values.keys()].filter((name) => endings.includes(name.split(".").at(-1)));
  choose({ ...Object.fromEntries(names.map((name) => [name, ""])), ...changes }, {}, path);
}

// The day so many days ago, by UTC.
export const dayBefore = (days) => new Date(Date.now() - 86400e3 * days).toISOString().slice(0, 10);

// The window by two dates that the address names, both of them in it; without a name, none. A day that has not ended ends now.
export function datesOf() {
  const { values } = address();
  const [from, to] = ["from", "to"].map((name) => (/^\d{4}-\d\d-\d\d$/.test(values.get(name)) ? Date.parse(values.get(name)) : NaN));
  const written = (time) => (time <= Date.now() ? new Date(time).toISOString() : "");
  return { since: written(from), until: written(to + 86400e3) };
}
