/** What an undo of a turn can take back besides cells, to choose from before it. */
import React from 'react';
import type { IEndItem } from '../../../view/view';
import { Button } from '../../elements/Button';
import { usePanel } from '../../elements/context';

export function UndoOffer(props: {
  item: IEndItem;
  close: () => void;
}): JSX.Element {
  const { item, close } = props;
  const { turn, waiting_files: waiting } = item.end;
  const hasCopies = item.end.variables;
  const { store, trans } = usePanel();
  /** Why the variables cannot be put back; null while that is unknown. */
  const [why, setWhy] = React.useState<string | null>(null);
  const [variables, setVariables] = React.useState(false);
  const [files, setFiles] = React.useState(false);
  const [busy, setBusy] = React.useState(false);
  const first = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    let shown = true;
    if (hasCopies) {
      void store.conversation.changes(turn).then(review => {
        if (shown) {
          setWhy(
            review?.variables ?? trans.__('This kernel does not keep them.')
          );
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
    await store.conversation.undoTurn(turn, [], { variables, files });
    setBusy(false);
    close();
  };
  return (
    <div
      ref={first}
      tabIndex={-1}
      className="jp-codeinterp-UndoOffer"
      role="group"
      aria-label={trans.__('Undo turn')}
      aria-busy={hasCopies && why === null}
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
              disabled={why !== '' || busy}
              onChange={event => setVariables(event.target.checked)}
            />
            <span>{trans.__('Also variables')}</span>
          </label>
          <p className="jp-codeinterp-Review-note" role="status">
            {why
              ? trans.__('Variables cannot be undone: %1', why)
              : trans.__(
                  'All variables and imports go back to before this turn. What ran in the kernel since, yours too, has then not run.'
                )}
          </p>
        </>
      )}
      {waiting > 0 && (
        <label>
          <input
            type="checkbox"
            checked={files}
            disabled={busy}
            onChange={event => setFiles(event.target.checked)}
          />
          <span>
            {trans._n(
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
        <Button look="primary" disabled={busy} onClick={() => void undo()}>
          {trans.__('Undo')}
        </Button>
      </div>
    </div>
  );
}
