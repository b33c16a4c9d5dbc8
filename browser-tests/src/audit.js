// What only a browser can tell of a page: which colours meet, how large targets are, what is announced.
// Each fault is a sentence with the element in it.
const faults = [];
const shown = (it) => it.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
const told = (it) => it.cloneNode(false).outerHTML.slice(0, 100);

// The colour of the ground below an element; nothing where it is drawn as a picture.
const rgba = (text) => (text.match(/[\d.]+/g) || []).map(Number);
const ground = (element) => {
  for (let it = element; it; it = it.parentElement) {
    const style = getComputedStyle(it);
    if (style.backgroundImage !== "none") return null;
    const [r, g, b, a = 1] = rgba(style.backgroundColor);
    if (a === 1) return [r, g, b];
    if (a > 0) return null;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [255, 255, 255];
};
const light = (colour) => {
  const [r, g, b] = colour.map((it) => it / 255).map((it) => (it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = texts.nextNode(); node; node = texts.nextNode()) {
  const element = node.parentElement;
  if (!node.data.trim() || element.closest("svg, script, .visually-hidden, .skip, [disabled]") || !shown(element)) continue;
  const below = ground(element);
  const style = getComputedStyle(element);
  const size = parseFloat(style.fontSize);
  const wanted = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
  const found = below && contrast(rgba(style.color).slice(0, 3), below);
  if (found && found < wanted) faults.push(`contrast ${found.toFixed(2)} of "${node.data.trim().slice(0, 40)}" in ${told(element)}`);
}

// WCAG 2.5.8: 24 by 24, or in a sentence, or with so much room that a circle of 24 meets no other's.
const targets = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")]
  .filter((it) => shown(it) && !it.closest(".skip, svg"))
  .map((it) => {
    const { left, top, width, height } = it.getBoundingClientRect();
    return { it, left, top, width, height, x: left + width / 2, y: top + height / 2 };
  });
const inSentence = (it) => {
  if (getComputedStyle(it).display !== "inline") return false;
  const block = it.closest("p, li, td, th, dd, dt, figcaption, caption, blockquote, strong, span, div");
  return block && block.textContent.trim() !== it.textContent.trim();
};
const gap = (circle, box) => Math.hypot(
  Math.max(box.left - circle.x, 0, circle.x - box.left - box.width),
  Math.max(box.top - circle.y, 0, circle.y - box.top - box.height),
);
const small = (box) => box.width < 24 || box.height < 24;
for (const box of targets.filter((box) => small(box) && !inSentence(box.it))) {
  const near = targets.some((other) => other !== box && !other.it.contains(box.it) && !box.it.contains(other.it)
    && (gap(box, other) < 12 || (small(other) && Math.hypot(other.x - box.x, other.y - box.y) < 24)));
  if (near) faults.push(`a target of ${box.width.toFixed(0)} by ${box.height.toFixed(0)} close to another: ${told(box.it)}`);
}

const ids = [...document.querySelectorAll("[id]")].map((it) => it.id);
for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) faults.push(`the id ${id} is there twice`);
return faults.slice(0, 8);
