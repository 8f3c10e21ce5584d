// The address is the state: #/wallet/solana/kol/ADDRESS?tokens.sort=invested&trades.after=CURSOR names a view and
// what is chosen in it. Back, Forward, a reload and a shared link give the same view.

let onChange = () => {};

export function onAddress(show) {
  onChange = show;
  addEventListener("popstate", show);
}

export function address() {
  const [path, query] = location.hash.slice(1).split("?");
  const [, name = "", ...parts] = path.split("/");
  return { path, name, parts, values: new URLSearchParams(query) };
}

export const link = (...parts) => `#/${parts.join("/")}`;

export function go(hash) {
  if (hash !== location.hash) history.pushState(null, "", hash);
  onChange();
}

// Name a view that the address left open, so that Back returns to it.
export const settle = (hash) => history.replaceState(history.state, "", hash);

// The window by two dates that the address names, both of them in it; without a name, none. A day that has not ended ends now.
export function datesOf() {
  const { values } = address();
  const [from, to] = ["from", "to"].map((name) => (/^\d{4}-\d\d-\d\d$/.test(values.get(name)) ? Date.parse(values.get(name)) : NaN));
  const written = (time) => (time <= Date.now() ? new Date(time).toISOString() : "");
  return { since: written(from), until: written(to + 86400e3) };
}

// Choose in the view: a value that is empty is the usual one. `before` are the cursors of the pages before.
export function choose(changes, before = {}) {
  const { path, values } = address();
  for (const [name, value] of Object.entries(changes)) {
    if (value) values.set(name, value);
    else values.delete(name);
  }
  const query = String(values);
  history.pushState({ ...history.state, ...before }, "", `#${path}${query && "?"}${query}`);
  onChange();
}

export const pagesBefore = (name) => history.state?.[name] ?? [];
