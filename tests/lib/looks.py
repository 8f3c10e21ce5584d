"""What a page in a browser looks like: its width, texts that are too pale, and what axe finds."""

import os
from pathlib import Path

import pytest

from tests.lib.browser import Page

# With its fonts, and once two frames have the same: what observes a size draws after the frame that it sees.
DRAWN_WIDTH = """
document.fonts.ready.then(() => new Promise((resolve) => {
  const look = (before) => setTimeout(() => requestAnimationFrame(() => {
    const width = document.documentElement.scrollWidth;
    if (width === before) resolve(width);
    else look(width);
  }), 100);
  look(0);
}))
"""
# The contrast of every text that is seen to what is behind it, and how much it needs: WCAG 2.2, 1.4.3.
TOO_PALE = """
(() => {
  const parts = (color) => color.match(/[\\d.]+/g).map(Number);
  const over = ([r, g, b, a = 1], below) => [r, g, b].map((c, i) => c * a + below[i] * (1 - a));
  const background = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(parts(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const light = (color) => color
    .map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const pale = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || !element.checkVisibility() || element.closest("noscript, option, .skip")) continue;
    const style = getComputedStyle(element);
    const behind = background(element);
    const [high, low] = [light(over(parts(style.color), behind)), light(behind)].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < needed) pale.push(`${ratio.toFixed(2)} ${element.className}: ${text.slice(0, 40)}`);
  }
  return pale;
})()
"""


def axe_script() -> Path | None:
    """Return the file of axe-core, which reports what a page lacks for who cannot see it or has no mouse."""
    folders = os.environ.get("NODE_PATH", "").split(os.pathsep)
    files = (Path(folder) / "axe-core" / "axe.min.js" for folder in folders if folder)
    return next((file for file in files if file.exists()), None)


needs_axe = pytest.mark.skipif(axe_script() is None, reason="needs axe-core (npm) in NODE_PATH")


def violations(page: Page) -> list[str]:
    """Return what axe finds wrong in the page as it is shown, by its rules and best practices."""
    script = axe_script()
    assert script is not None
    page.value(f"{script.read_text()}; 0")
    found: list[str] = page.value(
        "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap((rule) =>"
        " rule.nodes.map((node) => `${rule.id}: ${node.html}`)))"
    )
    return found
