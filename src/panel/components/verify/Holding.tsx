/** Whether the figures of an answer hold when the data changes a little. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { Figure } from '../../../protocol/protocol';
import type { IFollowed, IHolding, IMovedFigure } from '../../../protocol/rest';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { useHolding } from './follow';
import '../../../../style/verify.css';

export function Holding(props: {
  answer: string;
  figures: readonly Figure[];
}): JSX.Element {
  const { store, trans } = usePanel();
  const { notebook } = store.state.now;
  const figures = React.useMemo(() => followed(props.figures), [props.figures]);
  const { now, refused, busy, start, cancel } = useHolding(
    store,
    notebook,
    props.answer,
    figures
  );
  const runs = now?.state === 'running';
  return (
    <section
      className="jp-codeinterp-Verify"
      aria-label={trans.__('Does it hold?')}
    >
      {refused && (
        <p className="jp-codeinterp-Note" data-level="error" role="alert">
          {refused.words}
        </p>
      )}
      {now && (
        <>
          <p className="jp-codeinterp-Verify-about">{plan(now, trans)}</p>
          <p className="jp-codeinterp-Verify-sum" role="status">
            {progress(now, trans)}
          </p>
          <div className="jp-codeinterp-Verify-buttons">
            {runs ? (
              <Button onClick={cancel}>{trans.__('Cancel')}</Button>
            ) : (
              <Button disabled={busy} onClick={start}>
                {now.state === 'planned'
                  ? trans.__('Start')
                  : trans.__('Run it again')}
              </Button>
            )}
          </div>
          <Figures
            now={now}
            others={props.figures.length - figures.length}
            trans={trans}
          />
        </>
      )}
    </section>
  );
}

function Figures(props: {
  now: IHolding;
  /** Numbers of the answer that the server was not asked to follow. */
  others: number;
  trans: TranslationBundle;
}): JSX.Element {
  const { now, trans } = props;
  const leftOut = now.left_out + props.others;
  const { store } = usePanel();
  return (
    <div className="jp-codeinterp-Verify-lines">
      {now.figures.length > 0 && (
        <ul aria-label={trans.__('Figures')}>
          {now.figures.map((figure, index) => (
            <li key={index}>
              <button
                type="button"
                onClick={() => void store.reveal(figure.cell_id)}
              >
                <span className="jp-mod-mark" aria-hidden="true">
                  {flips(figure) ? '!' : '✓'}
                </span>
                <span className="jp-mod-title">
                  {figure.text} {figure.label}
                </span>
                <span className="jp-mod-word">{range(figure)}</span>
              </button>
              {conclusions(figure, trans).map(words => (
                <p className="jp-codeinterp-Verify-flip" key={words}>
                  {words}
                </p>
              ))}
            </li>
          ))}
        </ul>
      )}
      {now.failed.length > 0 && (
        <ul aria-label={trans.__('Failed runs')}>
          {now.failed.map(words => (
            <li className="jp-codeinterp-Verify-flip" key={words}>
              {words}
            </li>
          ))}
        </ul>
      )}
      {now.figures.some(({ scaled }) => scaled) && (
        <p className="jp-codeinterp-Verify-about">
          {trans.__(
            'Sums and counts are given as for all rows, so fewer rows alone change nothing.'
          )}
        </p>
      )}
      {leftOut > 0 && now.at > 0 && (
        <p className="jp-codeinterp-Verify-about">
          {trans._n(
            '%1 number could not be followed.',
            '%1 numbers could not be followed.',
            leftOut
          )}
        </p>
      )}
    </div>
  );
}

/** The numbers that an output shows. */
function followed(figures: readonly Figure[]): IFollowed[] {
  return figures
    .filter(({ origin }) => origin.output >= 0)
    .map(({ origin, text }) => ({
      text,
      cell_id: origin.cell_id,
      output: origin.output,
      start: origin.start,
      end: origin.end
    }))
    .slice(0, 40);
}

function plan(now: IHolding, trans: TranslationBundle): string {
  const cost =
    now.seconds > 0
      ? trans._n(
          '%2 runs of %1 cell, about %3 s and the start of a kernel for each.',
          '%2 runs of %1 cells, about %3 s and the start of a kernel for each.',
          now.cells,
          now.runs + 1,
          Math.ceil(now.seconds)
        )
      : trans._n(
          '%2 runs of %1 cell, each in a new kernel.',
          '%2 runs of %1 cells, each in a new kernel.',
          now.cells,
          now.runs + 1
        );
  const changed = now.changed.length
    ? trans.__(
        'In copies of the folder, these files change a little: %1.',
        now.changed.join(', ')
      )
    : '';
  const variables = now.variables.length
    ? trans.__(
        'Only your kernel has %1: copies of 500,000 values at most go to the new kernels, and change as well.',
        now.variables.join(', ')
      )
    : '';
  const unchanged = now.unchanged.length
    ? trans.__('These stay as they are: %1.', now.unchanged.join(', '))
    : '';
  return [cost, changed, variables, unchanged].filter(Boolean).join(' ');
}

function progress(now: IHolding, trans: TranslationBundle): string {
  switch (now.state) {
    case 'planned':
      return '';
    case 'running':
      return trans.__('Run %1 of %2…', now.at + 1, now.runs + 1);
    case 'cancelled':
      return trans.__('Cancelled.');
    case 'failed':
      return now.words;
    case 'done':
      return now.figures.some(flips)
        ? trans.__('A conclusion changes with the data.')
        : trans.__('The order and the signs hold.');
  }
}

function flips(figure: IMovedFigure): boolean {
  return figure.flips > 0 || (figure.first >= 0 && figure.first < figure.runs);
}

function conclusions(
  figure: IMovedFigure,
  trans: TranslationBundle
): readonly string[] {
  const found: string[] = [];
  if (figure.first >= 0) {
    found.push(
      figure.first === figure.runs
        ? trans.__('%1 is first in all %2.', figure.label, figure.runs)
        : trans.__(
            '%1 is first in %2 of %3; else %4.',
            figure.label,
            figure.first,
            figure.runs,
            figure.instead.join(', ') || trans.__('unknown')
          )
    );
  }
  const [part, low, high] = figure.parts.map(percent);
  if (part) {
    const words = trans.__('%1 of its column: %2 … %3.', part, low, high);
    found.push(low === high ? trans.__('%1 of its column.', part) : words);
  }
  if (figure.flips > 0) {
    const words = trans.__(
      'The sign changes in %1 of %2.',
      figure.flips,
      figure.runs
    );
    found.push(words);
  }
  return found;
}

function range({ low, high }: IMovedFigure): string {
  const [from, to] = [short(low), short(high)];
  return from === to ? from : `${from} … ${to}`;
}

function percent(value: number): string {
  return `${(100 * value).toFixed(1)} %`;
}

function short(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 5 });
}
