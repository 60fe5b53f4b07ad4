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

// Nor does it know what is in view: all is, wholly, in a window of 1000 by 1000 pixels.
globalThis.IntersectionObserver = class {
  constructor(tell) {
    this._tell = tell;
  }
  observe(target) {
    Promise.resolve().then(() => {
      const intersectionRect = new globalThis.DOMRect(0, 0, 1000, 1000);
      const boundingClientRect = target.getBoundingClientRect();
      this._tell(
        [
          { target, isIntersecting: true, intersectionRect, boundingClientRect }
        ],
        this
      );
    });
  }
  unobserve() {}
  disconnect() {
    this._tell = () => undefined;
  }
};
globalThis.DOMRect ??= class {
  constructor(left, top, width, height) {
    Object.assign(this, { left, top, width, height });
    Object.assign(this, { right: left + width, bottom: top + height });
  }
};
