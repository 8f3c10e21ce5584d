// What the modules of the page share: the key, the view that is shown, and when it was requested.

const KEY = "wallet-api.key";
const FAVOURITES = "wallet-api.favourites";

export const state = {
  key: sessionStorage.getItem(KEY) || localStorage.getItem(KEY) || document.body.dataset.key || "",
  meta: null,
  help: {},
  group: "",
  blocks: [],
  leaving: new AbortController(),
  pausedUntil: 0,
  polledAt: 0,
};
export const POLL_SECONDS = 15;
export const explorers = JSON.parse(document.body.dataset.explorers ?? "{}");
export const imageHosts = JSON.parse(document.body.dataset.imageHosts ?? "[]");

// Keep the key in this tab, or on this device.
export function keepKey(key, isForDevice) {
  forgetKey();
  state.key = key;
  (isForDevice ? localStorage : sessionStorage).setItem(KEY, key);
}

export function forgetKey() {
  state.key = "";
  for (const storage of [sessionStorage, localStorage]) storage.removeItem(KEY);
}

// Favourites are kept in this browser: { address of the view: name }.
export const favourites = () => JSON.parse(localStorage.getItem(FAVOURITES) ?? "{}");

export function setFavourite(view, name) {
  const all = favourites();
  if (name) all[view] = name;
  else delete all[view];
  if (Object.keys(all).length) localStorage.setItem(FAVOURITES, JSON.stringify(all));
  else localStorage.removeItem(FAVOURITES);
}
