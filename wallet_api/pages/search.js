// One box that finds: wallets and tokens by name, symbol, or the beginning of an address.

import { go, link } from "./address.js";
import { make, shortened, toWallet } from "./elements.js";
import { request, requestPath } from "./requests.js";

const MOST = 12;

const ofWallet = (profile) => ({ href: toWallet(profile), id: profile.wallet_address, name: profile.name, kind: `${profile.blockchain} ${profile.type}` });
const ofToken = (token) => ({
  href: link("token", token.blockchain, token.mint), id: token.mint, kind: `token on ${token.blockchain}, ${token.wallet_count} wallets`,
  name: [token.symbol, token.token_name].filter(Boolean).join(" · "),
});

// Go to the only thing that is found, or return links to all.
export async function find(text) {
  const { data } = await request(requestPath("search", { q: text, limit: MOST }));
  const found = [...data.wallets.map(ofWallet), ...data.tokens.map(ofToken)];
  const same = found.filter(({ id, name }) => [id, name].some((each) => each.toLowerCase() === text.toLowerCase()));
  const [only, ...others] = same.length ? same : found;
  if (!only) return [`No tracked wallet, and no token that one has traded, is found by “${text}”.`];
  if (!others.length) {
    go(only.href);
    return [];
  }
  const links = found.map(({ href, id, name, kind }) => make("a", { href, title: id }, `${name || shortened(id)} (${kind})`));
  return [`Found by “${text}”:`, ...links];
}
