/** Figures of an answer: a quiet link to the output that has it, or a grey line if nothing has. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import { cellOfLink } from '../../../markdown/markdown';
import type { Figure, Origin } from '../../../protocol/protocol';
import { usePanel } from './context';

/** Pixels between a figure and its excerpt, and between that and the page's edge. */
const GAP = 4;
let count = 0;

/** The element for a figure; its text is put into it. */
export function makeFigure(
  { origin }: Figure,
  trans: TranslationBundle
): HTMLElement {
  const href = origin ? `#cell:${origin.cell_id}` : '';
  const link = document.createElement(origin ? 'a' : 'span');
  link.className = `jp-codeinterp-${origin ? 'Origin' : 'NotFound'}`;
  if (cellOfLink(href)) {
    link.setAttribute('href', href);
  } else {
    link.tabIndex = 0;
  }
  if (origin) {
    origins.set(link, origin);
  }
  showWhileNear(link, () =>
    origin
      ? makeExcerpt(origin, trans, reasons.get(link))
      : makeTip(trans.__('Not found in an output'))
  );
  return link;
}

const origins = new WeakMap<Element, Origin>();
/** Why a figure is from an earlier run. */
const reasons = new WeakMap<Element, string>();

/** Turn the figures of an answer that are from an earlier run grey. */
export function markEarlier(
  answer: HTMLElement,
  earlier: ((origin: Origin) => string | undefined) | null
): void {
  for (const link of answer.querySelectorAll('a.jp-codeinterp-Origin')) {
    const origin = origins.get(link);
    const reason = origin ? earlier?.(origin) : undefined;
    if (reason !== undefined) {
      reasons.set(link, reason);
      link.classList.toggle('jp-mod-earlier', reason !== '');
    }
  }
}

/**
 * Show a tip while the pointer or the focus is on the element. The result ends that.
 */
export function showWhileNear(
  link: HTMLElement,
  makeTip: () => HTMLElement
): () => void {
  let tip: HTMLElement | null = null;
  const hide = () => {
    tip?.remove();
    tip = null;
    link.removeAttribute('aria-describedby');
    document.removeEventListener('keydown', onKey, true);
    document.removeEventListener('scroll', hide, true);
    document.removeEventListener('pointermove', hideIfGone, true);
  };
  // A link that is drawn again hears of no leaving pointer.
  const hideIfGone = () => {
    if (!link.isConnected) {
      hide();
    }
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      hide();
    }
  };
  const show = () => {
    hide();
    tip = makeTip();
    tip.className = 'jp-codeinterp-Excerpt';
    tip.id = `jp-codeinterp-excerpt-${++count}`;
    tip.setAttribute('role', 'tooltip');
    link.setAttribute('aria-describedby', tip.id);
    // The log clips what is inside.
    document.body.append(tip);
    place(tip, link.getBoundingClientRect());
    document.addEventListener('keydown', onKey, true);
    document.addEventListener('scroll', hide, true);
    document.addEventListener('pointermove', hideIfGone, true);
  };
  const listeners = {
    mouseenter: show,
    mouseleave: hide,
    focus: show,
    blur: hide,
    click: hide
  };
  for (const [type, listener] of Object.entries(listeners)) {
    link.addEventListener(type, listener);
  }
  return () => {
    hide();
    for (const [type, listener] of Object.entries(listeners)) {
      link.removeEventListener(type, listener);
    }
  };
}

function makeExcerpt(
  origin: Origin,
  trans: TranslationBundle,
  earlier = ''
): HTMLElement {
  const line = document.createElement('code');
  const value = document.createElement('mark');
  value.textContent = origin.value;
  line.append(origin.before, value, origin.after);
  const note = earlier && trans.__('From an earlier run. %1', earlier);
  const tip = makeTip(note, origin.labels);
  tip.append(line);
  return tip;
}

function makeTip(...lines: readonly string[]): HTMLElement {
  const tip = document.createElement('div');
  for (const words of lines.filter(words => words)) {
    const line = document.createElement('div');
    line.textContent = words;
    tip.append(line);
  }
  return tip;
}

function place(tip: HTMLElement, near: DOMRect): void {
  const { innerHeight, innerWidth } = window;
  const { offsetHeight, offsetWidth } = tip;
  const below = near.bottom + GAP;
  const fits = below + offsetHeight + GAP <= innerHeight;
  const left = Math.min(near.left, innerWidth - offsetWidth - GAP);
  tip.style.left = `${Math.max(GAP, left)}px`;
  tip.style.top = `${fits ? below : Math.max(GAP, near.top - offsetHeight - GAP)}px`;
}

/** Milliseconds from a change of the notebook until figures are looked up again. */
const DELAY = 300;

/** Keep the figures of an answer grey that are from an earlier run. */
export function useEarlier(
  host: React.RefObject<HTMLElement>,
  figures: readonly Figure[]
): void {
  const { store } = usePanel();
  const { notebooks } = store;
  const path = store.shown?.info.notebook ?? '';
  React.useEffect(() => {
    if (!figures.length) {
      return;
    }
    let timer: number | undefined;
    const look = () => {
      timer = undefined;
      if (host.current) {
        markEarlier(host.current, notebooks.earlier(path));
      }
    };
    const lookSoon = (_?: unknown, changed = path) => {
      if (changed === path) {
        timer ??= window.setTimeout(look, DELAY);
      }
    };
    const signals = [
      notebooks.staleChanged,
      notebooks.placesChanged,
      notebooks.leaseChanged
    ];
    signals.forEach(signal => signal.connect(lookSoon));
    // The text is formatted some time after it is shown, and again after a change.
    const drawn = new MutationObserver(() => lookSoon());
    drawn.observe(host.current!, { childList: true, subtree: true });
    lookSoon();
    return () => {
      clearTimeout(timer);
      drawn.disconnect();
      signals.forEach(signal => signal.disconnect(lookSoon));
    };
  }, [host, figures, notebooks, path]);
}
