/** What an undo of a turn can take back besides cells, to choose from before it. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IReview } from '../../../../protocol/api';
import { type IEndItem, undoableToo } from '../../../view/view';
import { Button } from '../../elements/Button';
import { usePanel } from '../../elements/context';

export function UndoOffer(props: {
  item: IEndItem;
  /** Whether there are cells to undo. */
  cells: boolean;
  close: () => void;
}): JSX.Element {
  const { item, cells, close } = props;
  const { turn, waiting_files: waiting } = item.end;
  const { variables: hasCopies, files: hasFiles } = undoableToo(item);
  const { store, trans } = usePanel();
  /** Whether the variables can be put back; null while that is unknown. */
  const [able, setAble] = React.useState<boolean | null>(null);
  const [note, setNote] = React.useState('');
  const [variables, setVariables] = React.useState(false);
  const [files, setFiles] = React.useState(false);
  const [busy, setBusy] = React.useState(false);
  const first = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    let shown = true;
    if (hasCopies) {
      void store.conversation.changes(turn).then(review => {
        if (shown) {
          setAble(review?.variables === '');
          setNote(wordsOf(review, trans));
        }
      });
    }
    first.current!.focus();
    first.current!.scrollIntoView?.({ block: 'nearest' });
    return () => {
      shown = false;
    };
  }, [store, trans, turn, hasCopies]);
  const undo = async () => {
    setBusy(true);
    if (await store.conversation.undoTurn(turn, [], { variables, files })) {
      close();
    } else {
      setBusy(false);
    }
  };
  return (
    <div
      ref={first}
      tabIndex={-1}
      className="jp-codeinterp-UndoOffer"
      role="group"
      aria-label={trans.__('Undo turn')}
      aria-busy={hasCopies && able === null}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          close();
        }
      }}
    >
      {hasCopies && (
        <>
          <label>
            <input
              type="checkbox"
              checked={variables}
              disabled={!able || busy}
              onChange={event => setVariables(event.target.checked)}
            />
            <span>{trans.__('Also variables')}</span>
          </label>
          <p className="jp-codeinterp-Review-note" role="status">
            {note}
          </p>
        </>
      )}
      {hasFiles && (
        <label>
          <input
            type="checkbox"
            checked={files}
            disabled={busy}
            onChange={event => setFiles(event.target.checked)}
          />
          <span>
            {waiting === null
              ? trans.__('Also files that wait')
              : trans._n(
                  'Also %1 file that waits',
                  'Also %1 files that wait',
                  waiting
                )}
          </span>
        </label>
      )}
      <div className="jp-codeinterp-UndoOffer-buttons">
        <Button disabled={busy} onClick={close}>
          {trans.__('Cancel')}
        </Button>
        <Button
          look="primary"
          disabled={busy || !(cells || variables || files)}
          onClick={() => void undo()}
        >
          {trans.__('Undo')}
        </Button>
      </div>
    </div>
  );
}

/** What an undo of the variables means, or why there is none. */
function wordsOf(review: IReview | null, trans: TranslationBundle): string {
  if (!review) {
    return trans.__(
      'Could not check whether variables can be undone. Close this and try again.'
    );
  }
  if (review.variables === null) {
    return trans.__('Variables cannot be undone: the kernel keeps no copies.');
  }
  return review.variables
    ? trans.__('Variables cannot be undone: %1', review.variables)
    : trans.__(
        'All variables and imports go back to before this turn. What ran in the kernel since, yours too, has then not run.'
      );
}
