/** The end of a turn: errors, files, changes and their undo, cost. */
import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import { changedBy, failedAgain, ranAgain } from '../../view/reviewed';
import { type IEndItem, kernelDied } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { lazy } from '../elements/lazy';
import { TurnCost } from '../elements/Usage';
import { ContinueButton, LIMITS } from './ContinueButton';
import { RunAbove } from './RunAbove';

/** Loaded on demand: few turns end with these. */
const Artefacts = lazy(async () => (await import('./Artefacts')).default);
const ClearedCells = lazy(
  async () => (await import('./ClearedCells')).ClearedCells
);
const Outcome = lazy(async () => (await import('./Outcome')).Outcome);
const Review = lazy(async () => (await import('./Review')).Review);

export function TurnEnd(props: { item: IEndItem; last: boolean }): JSX.Element {
  const { item, last } = props;
  const { end } = item;
  const { store, trans } = usePanel();
  const offers = last && end.code !== 'server_stopped';
  const quiet = end.stop_reason === 'cancelled';
  // A missing key no longer matters once the person has sent the question again.
  const isOver = !last && ['no_key', 'wrong_key'].includes(end.code);
  const words = end.message || (quiet ? trans.__('Stopped.') : '');
  return (
    <div className="jp-codeinterp-End">
      {end.stop_reason !== 'end_turn' && words && !isOver && (
        <div
          className="jp-codeinterp-Note"
          data-level={quiet || LIMITS.includes(end.code) ? 'info' : 'error'}
        >
          <span>{words}</span>
          {end.retry && last && <ContinueButton code={end.code} />}
        </div>
      )}
      {offers && store.shown && kernelDied(store.shown) && (
        <div className="jp-codeinterp-Note" data-level="info">
          <RunAbove
            words={trans.__('Run the cells above to restore the variables.')}
          />
        </div>
      )}
      {end.waiting.length > 0 && (
        <p className="jp-codeinterp-Quiet">
          {trans.__('Not in your folder yet: %1', someOf(end.waiting))}
        </p>
      )}
      {(end.files?.length > 0 || end.files_left_out > 0) && (
        <Artefacts
          files={end.files}
          leftOut={end.files_left_out}
          folder={PathExt.dirname(store.shown?.info.notebook ?? '')}
        />
      )}
      {item.cleared.length > 0 && <ClearedCells cells={item.cleared} />}
      {changedBy(end).length > 0 && <Changes item={item} />}
      <TurnCost cost={end.cost} />
    </div>
  );
}

/** The first names of a list. */
function someOf(names: readonly string[]): string {
  return [...names.slice(0, 5), ...(names.length > 5 ? ['…'] : [])].join(', ');
}

function Changes({ item }: { item: IEndItem }): JSX.Element {
  const { end, reviewed } = item;
  const { store, trans } = usePanel();
  const [open, setOpen] = React.useState(false);
  const [busy, setBusy] = React.useState(false);
  const act = (redo: boolean) => async () => {
    setBusy(true);
    const { conversation } = store;
    await (redo
      ? conversation.redoTurn(end.turn)
      : conversation.undoTurn(end.turn));
    setBusy(false);
  };
  const acted =
    [item.reviewed, item.left].some(cells => Object.keys(cells).length > 0) ||
    item.redone.length > 0;
  const cells = changedBy(end);
  const review = () => setOpen(!open);
  const actions: [string, () => unknown, boolean?][] = [
    [trans.__('Review changes'), review, open]
  ];
  if (cells.some(cellId => !(cellId in reviewed))) {
    actions.push([trans.__('Undo turn'), act(false)]);
  }
  if (item.redoable.length > 0) {
    actions.push([trans.__('Redo turn'), act(true)]);
  }
  return (
    <>
      <div className="jp-codeinterp-End-line">
        <span>{counted(item, trans)}</span>
        <span className="jp-codeinterp-End-actions">
          {actions.map(([name, press, expanded], index) => (
            <React.Fragment key={name}>
              {index > 0 && <span aria-hidden="true">·</span>}
              <Button
                look="link"
                disabled={busy}
                aria-expanded={expanded}
                onClick={() => void press()}
              >
                {name}
              </Button>
            </React.Fragment>
          ))}
        </span>
      </div>
      <p className="jp-codeinterp-End-result" role="status">
        {acted && <Outcome item={item} />}
      </p>
      {open && <Review item={item} />}
    </>
  );
}

/** The numbers of cells that are still added, edited or removed, without zeros. */
function counted(item: IEndItem, trans: TranslationBundle): string {
  const { end, reviewed } = item;
  const count = (cells: readonly string[]) =>
    cells.filter(cellId => reviewed[cellId] !== 'undone').length;
  const [added, edited, removed, again] = [
    end.added,
    end.edited,
    end.removed,
    ranAgain(end)
  ].map(count);
  const failed = count(failedAgain(end));
  const undone = changedBy(end).length - added - edited - removed - again;
  const parts = [
    added && trans.__('%1 added', added),
    edited && trans.__('%1 edited', edited),
    removed && trans.__('%1 removed', removed),
    again && trans.__('%1 run unchanged', again),
    failed && trans.__('%1 of them failed', failed),
    undone && trans.__('%1 undone', undone)
  ];
  return `${parts.filter(part => part).join(', ')}:`;
}
