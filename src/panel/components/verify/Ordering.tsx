/** An order of the notebook's cells in which each finds its names, to apply or to dismiss. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IOrderLine, IProposedOrder } from '../../../protocol/rest';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import type { IPlacedCell, ITarget, Refusal } from './reorder';
import { backFrom, cellsOf, reorder, targetOf } from './reorder';

interface IProposal {
  readonly order: IProposedOrder;
  /** The cells that it is about, in their order. */
  readonly cells: readonly IPlacedCell[];
}

interface IApplied {
  readonly cells: readonly IPlacedCell[];
  readonly back: ITarget;
}

const NOTHING: IProposedOrder = {
  cells: [],
  gone: [],
  moves: [],
  left: [],
  imports: [],
  unused: [],
  headings: [],
  added: [],
  edited: []
};

export function Ordering({ notebook }: { notebook: string }): JSX.Element {
  const { store, trans } = usePanel();
  const { now, failed } = useProposal(notebook);
  // The cells as they were put, and what puts them back; null before.
  const [applied, setApplied] = React.useState<IApplied | null>(null);
  const [refused, setRefused] = React.useState('');
  const { moves, imports, unused, headings, left } = now?.order ?? NOTHING;
  const changes = [moves, imports, unused, headings].some(one => one.length);

  const put = (from: readonly IPlacedCell[], to: () => ITarget) => {
    if (!store.state.byPerson()) {
      return;
    }
    const model = store.notebooks.modelOf(notebook);
    const locked = !model || store.notebooks.isLocked(notebook);
    // A draft, or a cell that is being written, would become another cell.
    const works = Object.values(store.state.now.sessions).some(
      ({ info }) => info.running && info.notebook === notebook
    );
    if (!model || locked || works) {
      setRefused(refusalWords(locked ? 'read-only' : 'agent', trans));
      return;
    }
    const target = to();
    const back = backFrom(model, target);
    const refusal = reorder(model, from, target);
    setRefused(refusal && refusalWords(refusal, trans));
    if (!refusal) {
      setApplied(applied ? null : { cells: cellsOf(model), back });
    }
  };
  const press = ({ order, cells }: IProposal) =>
    applied
      ? put(applied.cells, () => applied.back)
      : put(cells, () => targetOf(store.notebooks.modelOf(notebook)!, order));

  return (
    <section
      className="jp-codeinterp-Verify-order"
      aria-label={trans.__('Order of the cells')}
    >
      <p className="jp-codeinterp-Verify-sum" role="status">
        {applied
          ? trans.__('The cells are in the new order. Nothing has run.')
          : now && summary(now.order, changes, trans)}
      </p>
      {(failed || refused) && (
        <p className="jp-codeinterp-Note" data-level="error" role="alert">
          {failed || refused}
        </p>
      )}
      <Lines label={trans.__('Cells that move down')} mark="↓" lines={moves} />
      <Lines label={trans.__('Imports on top')} mark="↑" lines={imports} />
      <Lines
        label={trans.__('Cells that get the tag “unused”, and stay')}
        mark="–"
        lines={unused}
      />
      <Lines label={trans.__('New headings')} mark="#" lines={headings} />
      <Lines label={trans.__('What stays as it is')} mark="!" lines={left} />
      <div className="jp-codeinterp-Verify-buttons">
        {now && changes && (
          <Button
            look={applied ? 'plain' : 'primary'}
            onClick={() => press(now)}
          >
            {applied ? trans.__('Undo') : trans.__('Apply')}
          </Button>
        )}
        <Button onClick={() => store.toggleVerification(true)}>
          {applied ? trans.__('Close') : trans.__('Dismiss')}
        </Button>
      </div>
    </section>
  );
}

/** Asks once, about the notebook as it is now. */
function useProposal(notebook: string) {
  const { store } = usePanel();
  const [now, setNow] = React.useState<IProposal | null>(null);
  const [failed, setFailed] = React.useState('');
  React.useEffect(() => {
    let shown = true;
    const ask = async () => {
      const { notebooks, verifications } = store;
      const model = notebooks.modelOf(notebook);
      const cells = model ? cellsOf(model) : [];
      await notebooks.save(notebook);
      const order = await verifications.proposeOrder(notebook);
      if (shown) {
        setNow({ order, cells });
      }
    };
    ask().catch(error => shown && setFailed(store.state.messageOf(error)));
    return () => {
      shown = false;
    };
  }, [notebook, store]);
  return { now, failed };
}

function Lines(props: {
  label: string;
  mark: string;
  lines: readonly IOrderLine[];
}): JSX.Element | null {
  const { store } = usePanel();
  return props.lines.length ? (
    <>
      <p className="jp-codeinterp-Verify-about">{props.label}</p>
      <ul aria-label={props.label}>
        {props.lines.map(({ cell_id, words }) => (
          <li key={words}>
            <button type="button" onClick={() => void store.reveal(cell_id)}>
              <span className="jp-mod-mark" aria-hidden="true">
                {props.mark}
              </span>
              <span>{words}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  ) : null;
}

function summary(
  order: IProposedOrder,
  changes: boolean,
  trans: TranslationBundle
): string {
  if (order.moves.length) {
    return trans.__(
      'These cells would move down. Text moves with the code cell below it.'
    );
  }
  if (changes) {
    return trans.__('The order can stay.');
  }
  return order.left.length
    ? trans.__('No cell can move.')
    : trans.__('No cell needs to move.');
}

function refusalWords(
  refusal: Exclude<Refusal, ''>,
  trans: TranslationBundle
): string {
  switch (refusal) {
    case 'read-only':
      return trans.__('The notebook is read-only.');
    case 'changed':
      return trans.__('The cells have changed since. Nothing was moved.');
    case 'agent':
      return trans.__(
        'The agent works on this notebook. Try again when it has finished.'
      );
    case 'runs':
      return trans.__('A cell is running. Try again when it has ended.');
  }
}
