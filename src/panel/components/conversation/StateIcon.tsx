import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { ICardItem } from '../../view/view';

export type Shape = 'busy' | 'waiting' | 'ok' | 'failed' | 'off';

const PATHS: Record<Exclude<Shape, 'busy'>, string> = {
  waiting: 'M8 4.5v4l2.5 1.5',
  ok: 'M3.5 8.5l3 3 6-7',
  failed: 'M8 3.5v5.5M8 11.9v.2',
  off: 'M4.5 4.5l7 7M11.5 4.5l-7 7'
};

/** A state as an icon, with its name for screen readers; '' if words beside it say it. */
export function StateIcon(props: { shape: Shape; name: string }): JSX.Element {
  const { shape, name } = props;
  return (
    <span
      className={`jp-codeinterp-StateIcon jp-mod-${shape}`}
      {...(name
        ? { role: 'img', 'aria-label': name }
        : { 'aria-hidden': true })}
    >
      {shape !== 'busy' && (
        <svg viewBox="0 0 16 16" aria-hidden="true">
          {shape === 'waiting' && <circle cx="8" cy="8" r="5.75" />}
          <path d={PATHS[shape]} />
        </svg>
      )}
    </span>
  );
}

export function shapeOf({ phase, status }: ICardItem): Shape {
  if (phase === 'waiting') {
    return 'waiting';
  }
  if (phase !== 'done') {
    return 'busy';
  }
  switch (status) {
    case 'ok':
      return 'ok';
    case 'error':
    case 'timeout':
    case 'not_confirmed':
      return 'failed';
    default:
      return 'off';
  }
}

export function nameOf(
  { phase, status, draft, stopped }: ICardItem,
  trans: TranslationBundle
): string {
  switch (phase) {
    case 'writing':
      return trans.__('writing');
    case 'waiting':
    case 'deciding':
      return trans.__('waiting for you');
    case 'decided':
      return trans.__('starting');
    case 'kernel':
      return trans.__('waiting for the kernel');
    case 'running':
      return trans.__('running');
    case 'done':
      break;
  }
  switch (status) {
    case 'error':
      return trans.__('failed');
    case 'timeout':
      return trans.__('stopped at its time limit');
    case 'interrupted':
      return stopped ? trans.__('stopped') : trans.__('interrupted');
    case 'rejected':
      // In older journals, calls that asked nobody have this status, too.
      return draft?.nonce ? trans.__('rejected') : trans.__('not run');
    case 'not_run':
    case 'not_started':
      return trans.__('not run');
    case 'not_confirmed':
      return trans.__('not confirmed');
    default:
      return trans.__('done');
  }
}
