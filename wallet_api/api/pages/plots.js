// Plots, drawn by uPlot.

import { make, words } from "./elements.js";
import { amount, orDash, price, unknown, utc } from "./formats.js";

const { uPlot } = window;
const plots = new Set();
const probe = document.body.appendChild(make("span", { hidden: true }));

function color(name) {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

export const repaint = () => plots.forEach((chart) => chart.redraw());

const day = utc({ month: "short", day: "numeric" });
const hour = utc({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const times = (self, values, place, space, step) => values.map((value) => (step % 86400 && value % 86400 ? hour : day).format(1000 * value));
const prices = (self, values) => values.map((value) => (unknown(value) ? "" : price(value)));

// A plot is made as soon as it has a width, and goes when it has none. It has a text for who cannot see it.
function plot(text, series, data, options = {}) {
  const place = make("div", { className: "plot", role: "img", ariaLabel: text });
  const height = 270;
  const lines = { stroke: () => color("line"), width: 1 };
  let chart = null;
  const size = (self, texts) => 20 + 7 * Math.max(0, ...(texts ?? []).map((text) => text.length));
  const all = {
    height, cursor: { y: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(1000 * seconds), "Etc/UTC"),
    axes: [{ values: times }, { values: prices, size }].map((axis) => ({ stroke: () => color("pale"), grid: lines, ticks: lines, ...axis })),
    series: [{ label: "UTC", value: "{YYYY}-{MM}-{DD} {HH}:{mm}" }, ...series.map((line) => ({ points: { show: false }, ...line }))],
    ...options,
  };
  const resize = (width) => {
    if (chart && width) return chart.setSize({ width, height });
    chart?.destroy();
    plots.delete(chart);
    chart = width ? new uPlot({ ...all, width }, data, place) : null;
    if (chart) plots.add(chart);
  };
  new ResizeObserver(([{ contentRect }]) => setTimeout(resize, 0, Math.floor(contentRect.width))).observe(place);
  return place;
}

export function profitPlot(days, currency) {
  if (!days.length) return words("No trade yet.");
  let sum = 0;
  const daily = days.map((day) => day.realized_pnl);
  const total = daily.map((profit) => (sum += profit));
  const value = (self, profit) => orDash(() => `${amount(profit)} ${currency}`)(profit);
  const bar = () => color("pale");
  return plot(`Realized profit over ${days.length} days with a trade: ${amount(sum)} ${currency}.`, [
    { label: "profit of the day", paths: uPlot.paths.bars({ size: [0.7, 24] }), stroke: bar, fill: bar, value },
    { label: "in all", width: 2, stroke: () => color(sum < 0 ? "loss" : "gain"), value },
  ], [days.map((day) => Date.parse(day.date) / 1000), daily, total]);
}

export function pricePlot(trades, currency) {
  const known = trades.filter((trade) => trade.price_per_token > 0).sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
  if (!known.length) return words("No trade with a price.");
  const all = known.map((trade) => trade.price_per_token);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const only = (type) => known.map((trade) => (trade.transaction_type === type ? trade.price_per_token : null));
  const value = (self, figure) => orDash(() => `${price(figure)} ${currency}`)(figure);
  const points = (label, name, fill) => ({
    label, value, paths: () => null, stroke: () => color(name),
    points: { show: true, size: 8, width: 2, stroke: () => color(name), fill: () => color(fill) },
  });
  return plot(`Prices of ${known.length} trades, from ${price(low)} to ${price(high)} ${currency}.`, [
    { label: "price", stroke: () => color("pale"), value }, points("buy", "gain", "gain"), points("sell", "loss", "card"),
  ], [known.map((trade) => Date.parse(trade.created_at) / 1000), all, only("buy"), only("sell")], { scales: { y: { distr: high > 5 * low ? 3 : 1 } } });
}
