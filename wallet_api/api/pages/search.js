// One box that finds: wallets and tokens by name, symbol, or the beginning of an address.

import { go, link } from "./address.js";
import { make, shortened, titleOf, toWallet } from "./elements.js";
import { request, requestPath } from "./requests.js";

const MOST = 12;

const ofWallet = (profile) => make("a", { href: toWallet(profile), title: profile.wallet_address },
  `${profile.name || shortened(profile.wallet_address)} (${profile.blockchain} ${profile.type})`);
const ofToken = (token) => make("a", { href: link("token", token.blockchain, token.mint), title: token.mint },
  `${titleOf(token)} (token on ${token.blockchain}, ${token.wallet_count} wallets)`);

// Go to the only thing that is found, or return links to all.
export async function find(text) {
  const { data: { wallets, tokens } } = await request(requestPath("search", { q: text, limit: MOST }));
  const found = [...wallets.map(ofWallet), ...tokens.map(ofToken)];
  if (!found.length) return [`No tracked wallet, and no token that one has traded, is found by “${text}”.`];
  if (found.length > 1) return [`Found by “${text}”:`, ...found];
  go(found[0].hash);
  return [];
}
