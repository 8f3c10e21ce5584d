// Requests of the documented operations, with the key of the page.

import { state } from "./state.js";

// What the service refuses for good is not requested again: nothing changes it but another address.
const FINAL = [400, 404, "provider_not_configured", "out_of_scope"];
const MOST_KEPT = 100;

export class Failure extends Error {
  constructor(status, message, { reason = "", wait = 0 } = {}) {
    super(message);
    const isOfKey = status === 401 || (status === 403 && !["out_of_scope", "insufficient_credits"].includes(reason));
    Object.assign(this, { wait, isOfKey, isFinal: FINAL.includes(status) || FINAL.includes(reason) });
    // The limit is that of the key, and so of the whole page.
    if (status === 429) state.pausedUntil = Date.now() + 1000 * wait;
  }
}

// Return { path, data, etag }: the same object as before where nothing has changed, which is free of charge.
export async function request(path, signal) {
  const { kept } = state;
  const before = kept.get(path);
  const headers = { Authorization: `Bearer ${state.key}`, ...(before && { "If-None-Match": before.etag }) };
  let response, body;
  try {
    response = await fetch(path, { headers, signal, cache: "no-store" });
    if (response.status === 304) return before;
    body = await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Failure(0, "The service does not respond.");
  }
  if (!response.ok) {
    const { message = `The service responded with ${response.status}.`, reason } = body.error ?? {};
    throw new Failure(response.status, message, { reason, wait: Number(response.headers.get("Retry-After")) || 0 });
  }
  const answer = { path, data: body.data ?? body, etag: response.headers.get("ETag") };
  kept.delete(path);
  if (answer.etag) kept.set(path, answer);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
  return answer;
}

export function requestPath(operation, values = {}) {
  const given = Object.entries(values).filter(([, value]) => ![null, undefined, ""].includes(value));
  return `v1/${operation}${given.length ? `?${new URLSearchParams(given)}` : ""}`;
}
