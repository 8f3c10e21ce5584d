// Figures in words.

import { make } from "./elements.js";

export const unknown = (value) => value === null || value === undefined;
export const orDash = (show) => (value) => (unknown(value) ? "–" : show(value));
const format = (options) => orDash(new Intl.NumberFormat("en", options).format);
export const count = format({ maximumFractionDigits: 0 });
export const price = format({ maximumSignificantDigits: 4 });
export const percent = format({ style: "unit", unit: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });
const billions = format({ notation: "compact", minimumFractionDigits: 2, maximumFractionDigits: 2 });
const hundredths = format({ minimumFractionDigits: 2, maximumFractionDigits: 2 });
const small = format({ maximumSignificantDigits: 2 });

// Amounts have two decimals, so that the columns of numbers line up; what these would hide, and billions, have less or more.
export function amount(value) {
  const size = Math.abs(value);
  return (size >= 1e9 ? billions : size >= 0.005 || size === 0 ? hundredths : small)(value);
}
export const usd = orDash((value) => `${value < 0 ? "−" : ""}$${amount(Math.abs(value))}`);

// A profit has a sign and a color.
const colored = (show) => (value) => {
  const [sign, className] = value > 0 ? ["+", "gain"] : value < 0 ? ["−", "loss"] : ["", ""];
  return make("span", { className }, orDash(() => sign + show(Math.abs(value)))(value));
};
export const signed = colored(amount);
export const change = colored(percent);
export const gained = colored(usd);
export const side = (type) => make("span", { className: type === "buy" ? "gain" : "loss" }, type);

export function duration(seconds) {
  for (const [name, size] of [["d", 86400], ["h", 3600], ["min", 60]]) {
    if (seconds >= 2 * size) return `${Math.floor(seconds / size)} ${name}`;
  }
  return `${Math.max(0, Math.floor(seconds))} s`;
}
export const minutes = orDash((value) => duration(60 * value));
export const since = (moment) => `${duration((Date.now() - Date.parse(moment)) / 1000)} ago`;
export const ago = orDash((moment) => make("time", { dateTime: moment, title: moment }, since(moment)));
export const utc = (options) => new Intl.DateTimeFormat("en", { timeZone: "UTC", ...options });
const medium = utc({ dateStyle: "medium" });
export const date = orDash((moment) => medium.format(new Date(moment)));
const seconds = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
export const clock = (time) => seconds.format(time);
