/** Review of a turn's changes: a diff per cell, with Keep and Undo. */
import { caretLeftIcon, caretRightIcon } from '@jupyterlab/ui-components';
import React from 'react';
import { createPortal } from 'react-dom';
import type { IChange, IReview } from '../../../protocol/api';
import type { IViewZone } from '../../../tokens';
import type { IEndItem } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { kindOf, nameOf, stateOf } from './change-words';

/** Changes shown at first and per click: their editors cost time and memory. */
const ROWS = 20;

export function Review({ item }: { item: IEndItem }): JSX.Element {
  const { store, trans } = usePanel();
  const [review, setReview] = React.useState<IReview | null>(null);
  const [count, setCount] = React.useState(ROWS);
  const rows = React.useRef(new Map<string, IRow>());
  const { turn } = item.end;
  React.useEffect(() => {
    let shown = true;
    void store.conversation
      .changes(turn)
      .then(found => shown && setReview(found));
    return () => {
      shown = false;
    };
  }, [store, turn]);
  const changes = review?.changes ?? [];
  const shown = changes.slice(0, count);
  const more = changes.length - count;
  /** The change to scroll to; at first the first one. */
  const at = React.useRef('');
  at.current ||= shown[0]?.cell_id ?? '';
  const register = React.useCallback((id: string, row: IRow | null) => {
    if (row) {
      rows.current.set(id, row);
      if (id === at.current) {
        row.show();
      }
    } else {
      rows.current.delete(id);
    }
  }, []);
  return (
    <div
      className="jp-codeinterp-Review"
      role="group"
      aria-label={trans.__('Changes of this turn')}
      aria-busy={review === null}
    >
      {shown.length > 0 && (
        <Steps
          names={shown.map(
            change =>
              `${kindOf(change, trans)}: ${nameOf(change, store, trans)}`
          )}
          show={index => {
            at.current = shown[index].cell_id;
            rows.current.get(at.current)?.show();
          }}
          enter={index => rows.current.get(shown[index].cell_id)?.enter()}
        />
      )}
      {shown.map(change => (
        <Row
          key={change.cell_id}
          change={change}
          item={item}
          register={register}
        />
      ))}
      {more > 0 && (
        <Button look="link" onClick={() => setCount(count + ROWS)}>
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

interface IRow {
  /** Scroll to it. */
  show(): void;
  /** Scroll to it and focus it. */
  enter(): void;
}

/** Buttons to step through the changes. */
function Steps(props: {
  names: readonly string[];
  show: (index: number) => void;
  enter: (index: number) => void;
}): JSX.Element {
  const { enter, names, show } = props;
  const { trans } = usePanel();
  const [index, setIndex] = React.useState(0);
  const bar = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    bar.current!.scrollIntoView?.({ block: 'nearest' });
  }, []);
  const go = (by: number) => {
    const next = (index + by + names.length) % names.length;
    setIndex(next);
    show(next);
  };
  return (
    <div ref={bar} className="jp-codeinterp-Steps">
      <Button
        look="icon"
        title={trans.__('Previous change')}
        aria-label={trans.__('Previous change')}
        onClick={() => go(-1)}
      >
        <caretLeftIcon.react />
      </Button>
      <span role="status">{trans.__('%1 of %2', index + 1, names.length)}</span>
      <Button
        look="icon"
        title={trans.__('Next change')}
        aria-label={trans.__('Next change')}
        onClick={() => go(1)}
      >
        <caretRightIcon.react />
      </Button>
      <button
        type="button"
        className="jp-codeinterp-Change-name"
        title={trans.__('Go to the change')}
        onClick={() => enter(index)}
      >
        {names[index]}
      </button>
    </div>
  );
}

/** A node for the change in the notebook; null if there is none: then the panel shows it. */
function useViewZone(change: IChange, exists: boolean): IViewZone | null {
  const { store } = usePanel();
  const { notebook } = store.state.now;
  const [zone, setZone] = React.useState<IViewZone | null>(null);
  const [lost, setLost] = React.useState(0);
  React.useEffect(() => {
    const made = store.notebooks.makeViewZone(
      notebook,
      change.cell_id,
      // A missing cell that was added or edited has been deleted by the person.
      change.kind === 'removed' ? change.above : null,
      // After a move, the cell is back at once.
      () => setTimeout(() => setLost(lost + 1))
    );
    setZone(made);
    return () => made?.dispose();
  }, [store, notebook, change, exists, lost]);
  return zone;
}

function Row(props: {
  change: IChange;
  item: IEndItem;
  register: (id: string, row: IRow | null) => void;
}): JSX.Element {
  const { change, item, register } = props;
  const { store, trans } = usePanel();
  const [busy, setBusy] = React.useState(false);
  const row = React.useRef<HTMLDivElement>(null);
  const state = item.reviewed[change.cell_id];
  const exists =
    change.kind === 'edited' ||
    (change.kind === 'added') !== (state === 'undone');
  const zone = useViewZone(change, exists);
  /** Whether to keep the focus here when the change moves between panel and notebook. */
  const held = React.useRef(false);
  React.useEffect(() => {
    if (held.current) {
      row.current?.focus({ preventScroll: true });
    }
  }, [zone]);
  React.useEffect(() => {
    const show = async () => {
      await zone?.show();
      row.current?.scrollIntoView?.({ block: 'nearest' });
    };
    register(change.cell_id, {
      show: () => void show(),
      enter: () =>
        void show().then(() => row.current?.focus({ preventScroll: true }))
    });
    return () => register(change.cell_id, null);
  }, [change.cell_id, register, zone]);
  const decide = async (
    command: (turn: number, cells: string[]) => Promise<boolean>
  ) => {
    setBusy(true);
    held.current = true;
    await command.call(store.conversation, item.end.turn, [change.cell_id]);
    setBusy(false);
    // The pressed button may be gone.
    row.current?.focus({ preventScroll: true });
  };
  const kind = kindOf(change, trans);
  const name = nameOf(change, store, trans);
  /** Whether the change is below its added cell, which shows the code already. */
  const hasCode = change.kind === 'added' && exists && zone !== null;
  const content = (
    <div
      ref={row}
      className="jp-codeinterp-Change"
      role="group"
      tabIndex={-1}
      onBlur={event => {
        held.current &&= !event.relatedTarget;
      }}
      aria-label={`${kind}: ${name}`}
      data-kind={change.kind}
      data-state={state ?? 'open'}
      // Otherwise the notebook's shortcuts, such as `d d`, would act on the cell.
      data-lm-suppress-shortcuts={zone ? 'true' : undefined}
    >
      <div className="jp-codeinterp-Change-line">
        <strong>{kind}</strong>
        {exists && !zone ? (
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
      {!hasCode && <Difference key={zone ? 'there' : 'here'} change={change} />}
      <div className="jp-codeinterp-Change-line">
        <span className="jp-codeinterp-Change-state" role="status">
          {stateOf(change, item, trans)}
        </span>
        {state === undefined && (
          <Button
            disabled={busy}
            aria-label={trans.__('Keep: %1', name)}
            onClick={() => void decide(store.conversation.keepChanges)}
          >
            {trans.__('Keep')}
          </Button>
        )}
        {state !== 'undone' && change.undoable && (
          <Button
            disabled={busy}
            aria-label={trans.__('Undo: %1', name)}
            onClick={() => void decide(store.conversation.undoTurn)}
          >
            {trans.__('Undo')}
          </Button>
        )}
        {item.redoable.includes(change.cell_id) && (
          <Button
            disabled={busy}
            aria-label={trans.__('Redo: %1', name)}
            onClick={() => void decide(store.conversation.redoTurn)}
          >
            {trans.__('Redo')}
          </Button>
        )}
      </div>
    </div>
  );
  return zone ? createPortal(content, zone.node) : content;
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
          {trans.__('Run. The source is the same.')}
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
