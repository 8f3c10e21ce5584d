// What the modules of the page share: the key, the view that is shown, and when it was requested.

const KEY = "wallet-api.key";
const FAVOURITES = "wallet-api.favourites";

export const state = {
  key: sessionStorage.getItem(KEY) || localStorage.getItem(KEY) || document.body.dataset.key || "",
  meta: null, help: null, scope: null, kept: new Map(),
  group: "", blocks: [], leaving: new AbortController(), pausedUntil: 0, polledAt: 0,
};
export const POLL_SECONDS = 15;

// Keep the key in this tab, or on this device; without a key, forget it. What another one has got is forgotten, too.
export function keepKey(key, isForDevice = false) {
  Object.assign(state, { key, scope: null, kept: new Map(), pausedUntil: 0 });
  for (const storage of [sessionStorage, localStorage]) storage.removeItem(KEY);
  if (key) (isForDevice ? localStorage : sessionStorage).setItem(KEY, key);
}

// Favourites are kept in this browser: { path of the view: name }.
export const favourites = () => JSON.parse(localStorage.getItem(FAVOURITES) ?? "{}");

export function setFavourite(path, name) {
  // What has no name is left out.
  localStorage.setItem(FAVOURITES, JSON.stringify({ ...favourites(), [path]: name || undefined }));
}
