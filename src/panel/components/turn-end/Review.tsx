/** What a turn changed, cell by cell: old against new, to be kept or put back. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IChange, IReview } from '../../../protocol/api';
import type { IEndItem } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

/** Editors cost time and memory: more are made on request. */
const ROWS = 20;
/** Characters of a source by which a cell is named. */
const NAME = 60;

export function Review({ item }: { item: IEndItem }): JSX.Element {
  const { store, trans } = usePanel();
  const [review, setReview] = React.useState<IReview | null>(null);
  const [rows, setRows] = React.useState(ROWS);
  const { turn } = item.end;
  React.useEffect(() => {
    let shown = true;
    void store.changes(turn).then(found => shown && setReview(found));
    return () => {
      shown = false;
    };
  }, [store, turn]);
  const changes = review?.changes ?? [];
  const more = changes.length - rows;
  return (
    <div
      className="jp-codeinterp-Review"
      role="group"
      aria-label={trans.__('Changes of this turn')}
      aria-busy={review === null}
    >
      {changes.slice(0, rows).map(change => (
        <Row key={change.cell_id} change={change} item={item} />
      ))}
      {more > 0 && (
        <Button look="link" onClick={() => setRows(rows + ROWS)}>
          {trans._n('Show %1 more cell', 'Show %1 more cells', more)}
        </Button>
      )}
      {more <= 0 && !!review?.left_out && (
        <p className="jp-codeinterp-Review-note">
          {trans._n(
            '%1 more cell is not shown.',
            '%1 more cells are not shown.',
            review.left_out
          )}
        </p>
      )}
    </div>
  );
}

function Row(props: { change: IChange; item: IEndItem }): JSX.Element {
  const { change, item } = props;
  const { store, trans } = usePanel();
  const [busy, setBusy] = React.useState(false);
  const row = React.useRef<HTMLDivElement>(null);
  const state = item.reviewed[change.cell_id];
  const once = async (
    command: (turn: number, cells: string[]) => Promise<boolean>
  ) => {
    setBusy(true);
    await command.call(store, item.end.turn, [change.cell_id]);
    setBusy(false);
    // Its button may be gone, and the focus must not go with it.
    row.current?.focus();
  };
  const kind = kindOf(change, trans);
  const name = nameOf(change, trans);
  const exists =
    change.kind === 'edited' ||
    (change.kind === 'added') !== (state === 'undone');
  return (
    <div
      ref={row}
      className="jp-codeinterp-Change"
      role="group"
      tabIndex={-1}
      aria-label={`${kind}: ${name}`}
      data-kind={change.kind}
      data-state={state ?? 'open'}
    >
      <div className="jp-codeinterp-Change-line">
        <strong>{kind}</strong>
        {exists ? (
          <button
            type="button"
            className="jp-codeinterp-Change-name"
            title={trans.__('Go to the cell')}
            onClick={() => void store.reveal(change.cell_id)}
          >
            {name}
          </button>
        ) : (
          <span className="jp-codeinterp-Change-name">{name}</span>
        )}
      </div>
      <Difference change={change} />
      <div className="jp-codeinterp-Change-line">
        <span className="jp-codeinterp-Change-state" role="status">
          {stateOf(change, item, trans)}
        </span>
        {state === undefined && (
          <Button
            disabled={busy}
            aria-label={trans.__('Keep: %1', name)}
            onClick={() => void once(store.keepChanges)}
          >
            {trans.__('Keep')}
          </Button>
        )}
        {state !== 'undone' && change.undoable && (
          <Button
            disabled={busy}
            aria-label={trans.__('Undo: %1', name)}
            onClick={() => void once(store.undoTurn)}
          >
            {trans.__('Undo')}
          </Button>
        )}
      </div>
    </div>
  );
}

function Difference({ change }: { change: IChange }): JSX.Element {
  const { store, trans, showDiff } = usePanel();
  const host = React.useRef<HTMLDivElement>(null);
  const { before, after, cell_type, kind } = change;
  const same = before === after;
  const unknown = kind === 'edited' && before === null;
  const shows = !same && !unknown;
  React.useLayoutEffect(() => {
    if (!shows) {
      return;
    }
    const diff = showDiff(host.current!, {
      before: before ?? '',
      after: after ?? '',
      mimeType: mimeTypeOf(
        cell_type,
        store.notebooks.codeMimeType(store.state.now.notebook)
      ),
      label: trans.__('Before and after')
    });
    return () => diff.dispose();
  }, [shows, before, after, cell_type, showDiff, store, trans]);
  return (
    <>
      {shows && <div ref={host} className="jp-codeinterp-Change-diff" />}
      {same && (
        <p className="jp-codeinterp-Review-note">
          {trans.__('Run again. The source is the same.')}
        </p>
      )}
      {change.cut && (
        <p className="jp-codeinterp-Review-note">
          {trans.__('Only the beginning is shown.')}
        </p>
      )}
    </>
  );
}

function mimeTypeOf(cellType: string, code: string): string {
  switch (cellType) {
    case 'code':
      return code;
    case 'markdown':
      return 'text/x-ipythongfm';
    default:
      return 'text/plain';
  }
}

function kindOf({ kind }: IChange, trans: TranslationBundle): string {
  switch (kind) {
    case 'added':
      return trans.__('Added');
    case 'edited':
      return trans.__('Edited');
    case 'removed':
      return trans.__('Removed');
  }
}

/** The cell's first line that says something. */
function nameOf(change: IChange, trans: TranslationBundle): string {
  const source = change.after ?? change.before ?? '';
  const lines = source.split('\n').map(line => line.trim());
  const first = lines.find(Boolean) ?? trans.__('Empty cell');
  return first.length > NAME ? first.slice(0, NAME - 1) + '…' : first;
}

function stateOf(
  change: IChange,
  item: IEndItem,
  trans: TranslationBundle
): string {
  const state = item.reviewed[change.cell_id];
  if (state === 'undone') {
    return change.kind === 'added' ? trans.__('Removed') : trans.__('Put back');
  }
  if (state === 'kept') {
    return trans.__('Kept');
  }
  switch (item.left[change.cell_id]) {
    case 'changed':
      return trans.__('Not put back: you changed it');
    case 'changed_later':
      return trans.__('Not put back: a later turn changed it');
    case 'deleted':
      return trans.__('Not put back: it is not there any more');
    case 'locked':
      return trans.__('Not put back: it is locked');
    case 'unconfirmed':
      return trans.__('Not confirmed by the notebook');
    default:
      break;
  }
  if (!change.undoable) {
    return trans.__('How it was is not known');
  }
  return change.outputs ? trans.__('Undo brings its outputs back') : '';
}
