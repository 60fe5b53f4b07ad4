import type { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import React from 'react';
import { withoutStatus } from '../../view/cards';
import { ICardItem, isUndecided } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { lazy } from '../elements/lazy';
import { LongText, Pre } from '../elements/LongText';
import { seconds, useElapsed } from '../elements/time';
import { Decision, useWaiting } from './Decision';
import { KernelEnd } from './KernelEnd';
import { OwnResult, callOf, useRenderer } from './OwnResult';
import { StateIcon, nameOf, shapeOf } from './StateIcon';

const Findings = lazy(
  async () => (await import('../findings/Findings')).Findings
);
const Observations = lazy(
  async () => (await import('../findings/Observations')).Observations
);

/**
 * Whether the summary is the only reason on the card: the server's stop, a refusal, a call that
 * did not start, or the counts of several cells.
 */
function tellsWhy(card: ICardItem): boolean {
  if (card.status === 'error') {
    return card.tool === 'run_cells' && !card.cellId;
  }
  return card.status === 'interrupted'
    ? card.elapsed === 0
    : ['not_started', 'not_run'].includes(card.status ?? '') ||
        (card.status === 'rejected' && !card.draft?.nonce);
}

const WITHOUT_CELL = ['kernel', 'verify', 'tool', 'scratch', 'cells'];

/** A tool call: state, title and time on one line, and the decision while it waits. */
export const Card = React.memo(function Card({ card }: { card: ICardItem }) {
  const { store, trans } = usePanel();
  const [open, setOpen] = React.useState(false);
  const frame = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    if (open) {
      frame.current!.scrollIntoView?.({ block: 'nearest' });
    }
  }, [open]);
  const undecided = isUndecided(card.phase) && card.phase !== 'writing';
  const title = card.title || fallbackTitle(card, trans);
  const waiting = useWaiting(card);
  const source = waiting?.source ?? (card.source || card.draft?.source || '');
  const result = withoutStatus(card.detail);
  const [renderer, onFault] = useRenderer(card);
  const kind = card.draft?.kind;
  const isKernel = kind === 'kernel';
  /** Whether no cell shows the call: then the card shows its code without a click. */
  const isAlone = WITHOUT_CELL.includes(kind ?? '');
  // In the page's language; journals of older versions have none.
  const code = (isAlone && card.draft?.words) || source;
  const shows = waiting
    ? open || isAlone || !store.notebooks.isShown(waiting.draft.notebook)
    : open && !renderer && !!source;
  const foldable =
    Boolean(source || result) && !renderer && !(isAlone && waiting);
  return (
    <div
      ref={frame}
      className="jp-codeinterp-Card"
      role="group"
      aria-label={undecided && !isAlone ? trans.__('Review cell') : title}
      data-phase={card.phase}
    >
      <div className="jp-codeinterp-Card-line">
        <StateIcon shape={shapeOf(card)} name={nameOf(card, trans)} />
        {card.cellId ? (
          <button
            type="button"
            className="jp-codeinterp-Card-title"
            title={trans.__('Go to the cell')}
            onClick={() => void store.reveal(card.cellId)}
          >
            {title}
          </button>
        ) : (
          <span className="jp-codeinterp-Card-title">{title}</span>
        )}
        <CardStatus card={card} />
        {foldable && (
          <Button
            look="icon"
            aria-expanded={open}
            aria-label={trans.__('Code and result')}
            title={trans.__('Code and result')}
            onClick={() => setOpen(!open)}
          >
            {open ? <caretDownIcon.react /> : <caretRightIcon.react />}
          </Button>
        )}
      </div>
      {renderer && (
        <OwnResult
          renderer={renderer}
          call={callOf(card, source, result)}
          onFault={onFault}
        />
      )}
      {shows && (
        <Pre className="jp-codeinterp-Card-code">
          {waiting ? code : <LongText text={code} />}
        </Pre>
      )}
      {open && !renderer && result && (
        <Pre className="jp-codeinterp-Card-result">
          <LongText text={result} />
        </Pre>
      )}
      {waiting && <Decision draft={waiting.draft} />}
      {tellsWhy(card) && card.summary && (
        <p className="jp-codeinterp-Card-notice">{card.summary}</p>
      )}
      {card.sandbox.length > 0 && <Observations seen={card.sandbox} />}
      {isKernel && card.status === 'ok' && <KernelEnd card={card} />}
      {card.findings.length > 0 && <Findings card={card} />}
      {card.comment && (
        <div
          className="jp-codeinterp-Message"
          role="group"
          aria-label={trans.__('You')}
        >
          <LongText text={card.comment} />
        </div>
      )}
      {card.failure && (
        <p className="jp-codeinterp-Card-failure" role="alert">
          {card.failure}
        </p>
      )}
      {card.leftover && (
        <div className="jp-codeinterp-Card-leftover">
          {card.status === 'interrupted'
            ? trans.__('This cell was stopped and is still in the notebook.')
            : trans.__('This cell failed and is still in the notebook.')}
        </div>
      )}
    </div>
  );
});

function CardStatus({ card }: { card: ICardItem }): JSX.Element {
  const { trans } = usePanel();
  const running = card.phase === 'running';
  const elapsed = useElapsed(card.callId, running);
  const time = seconds(running ? elapsed : card.elapsed, trans);
  const ran = card.phase === 'done' && card.elapsed > 0;
  const silent =
    card.phase === 'writing' ||
    card.phase === 'waiting' ||
    card.phase === 'deciding' ||
    card.status === 'ok' ||
    card.status === 'error' ||
    running;
  return (
    <>
      {card.edited && (
        <span className="jp-codeinterp-Card-status">
          {trans.__('edited by you')}
        </span>
      )}
      {card.fixed && (
        <span className="jp-codeinterp-Card-status">{trans.__('→ fixed')}</span>
      )}
      {!silent && (
        <span className="jp-codeinterp-Card-status">{nameOf(card, trans)}</span>
      )}
      {(ran || running) && (
        <span className="jp-codeinterp-Card-time">{time}</span>
      )}
    </>
  );
}

/** A title for calls that the model did not name. */
function fallbackTitle(card: ICardItem, trans: TranslationBundle): string {
  switch (card.tool) {
    case 'edit_cell':
      return trans.__('Change a cell');
    case 'scratch':
      return trans.__('Run without a cell');
    case 'run_cells':
      return trans.__('Run cells');
    case 'add_markdown':
      return trans.__('Write text');
    case 'move_cell':
      return trans.__('Move cells');
    case 'delete_cell':
      return trans.__('Delete a cell');
    case 'read_notebook':
      return trans.__('Read the notebook');
    case 'read_output':
      return trans.__('Read more of an output');
    case 'inspect_variables':
      return trans.__('Look at the variables');
    default:
      return trans.__('New cell');
  }
}
