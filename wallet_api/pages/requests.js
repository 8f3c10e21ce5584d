// Requests of the documented operations, with the key of the page.

import { state } from "./state.js";

// What the service refuses for good is not requested again: nothing changes it but another address.
const FINAL = new Set([400, 404]);

export class Failure extends Error {
  constructor(status, message, { reason = "", wait = 0 } = {}) {
    super(message);
    const isFinal = FINAL.has(status) || reason === "provider_not_configured" || reason === "out_of_scope";
    Object.assign(this, { status, reason, wait, isFinal });
    // The limit is that of the key, and so of the whole page.
    if (status === 429) state.pausedUntil = Date.now() + 1000 * wait;
  }

  get isOfKey() {
    return this.status === 401 || (this.status === 403 && !["out_of_scope", "insufficient_credits"].includes(this.reason));
  }
}

// Return data and ETag, or null where nothing has changed since `etag`, which is free of charge.
export async function request(path, { etag, signal } = {}) {
  const headers = { Authorization: `Bearer ${state.key}`, ...(etag && { "If-None-Match": etag }) };
  let response, body;
  try {
    response = await fetch(path, { headers, signal, cache: "no-store" });
    if (response.status === 304) return null;
    body = await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Failure(0, "The service does not respond.");
  }
  if (!response.ok) {
    const { message, reason } = body.error ?? {};
    const wait = Number(response.headers.get("Retry-After")) || 0;
    throw new Failure(response.status, message ?? `The service responded with ${response.status}.`, { reason, wait });
  }
  return { data: body.data ?? body, etag: response.headers.get("ETag") };
}

export function requestPath(operation, values) {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return `v1/${operation}?${new URLSearchParams(given)}`;
}
