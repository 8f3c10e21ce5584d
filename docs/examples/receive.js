// Check webhooks: SECRETS has the secrets of the target, with blanks between.
const { createHmac, timingSafeEqual } = require("node:crypto");
const keys = process.env.SECRETS.split(" ").map((text) => Buffer.from(text.slice(6), "base64"));
const known = new Set();

function receive(headers, body) {
  const id = headers["webhook-id"], timestamp = headers["webhook-timestamp"];
  const ours = keys.map((key) => Buffer.from(
    "v1," + createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")));
  const given = headers["webhook-signature"].split(" ").map((text) => Buffer.from(text));
  const same = ours.some((a) => given.some((b) => a.length === b.length && timingSafeEqual(a, b)));
  if (Math.abs(Date.now() / 1000 - timestamp) > 300 || !same) throw new Error("not ours");
  const isNew = !known.has(id);
  known.add(id);
  return isNew;
}
