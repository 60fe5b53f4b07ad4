// JupyterLab's own use of Yjs makes it warn hundreds of times, with a stack each time.
const known = [
  '[yjs#509] Not same Y.Doc',
  'Invalid access: Add Yjs type',
  'Clipboard API not'
];
const { warn } = console;
console.warn = (...words) => {
  const text = words.join(' ');
  if (!known.some(start => text.includes(start))) {
    warn(...words);
  }
};

// jsdom has no layout, so it does not scroll.
globalThis.Element.prototype.scrollIntoView = () => undefined;
