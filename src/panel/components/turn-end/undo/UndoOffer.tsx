/** What an undo or redo of a turn can bring back besides cells, to choose from before it. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IFilesOffer, IReview } from '../../../../protocol/api';
import type { IEndItem } from '../../../view/view';
import { Button } from '../../elements/Button';
import { usePanel } from '../../elements/context';

/** Files named at first. */
const FEW = 10;

export function UndoOffer(props: {
  item: IEndItem;
  redo?: boolean;
  close: () => void;
}): JSX.Element {
  const { item, redo = false, close } = props;
  const { turn, waiting_files: waiting } = item.end;
  const hasCopies = item.end.variables && !redo;
  const { store, trans } = usePanel();
  /** What can be brought back; undefined while that is unknown, null if it stays so. */
  const [review, setReview] = React.useState<IReview | null>();
  const [variables, setVariables] = React.useState(false);
  const [files, setFiles] = React.useState(redo);
  const [busy, setBusy] = React.useState(false);
  const first = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    let shown = true;
    void store.conversation.changes(turn).then(found => {
      if (shown) {
        setReview(found);
      }
    });
    first.current!.focus();
    first.current!.scrollIntoView?.({ block: 'nearest' });
    return () => {
      shown = false;
    };
  }, [store, turn]);
  const known = review !== undefined;
  const why =
    known && (review?.variables ?? trans.__('This kernel does not keep them.'));
  const offer = review?.files?.[redo ? 'redo' : 'undo'];
  const noFiles =
    known && (review?.files?.why ?? trans.__('This kernel has no overlay.'));
  const act = async () => {
    setBusy(true);
    const { conversation } = store;
    const chosen = files && !noFiles;
    await (redo
      ? conversation.redoTurn(turn, [], { files: chosen })
      : conversation.undoTurn(turn, [], { variables, files: chosen }));
    setBusy(false);
    close();
  };
  return (
    <div
      ref={first}
      tabIndex={-1}
      className="jp-codeinterp-UndoOffer"
      role="group"
      aria-label={redo ? trans.__('Redo turn') : trans.__('Undo turn')}
      aria-busy={!known}
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
        <>
          <label>
            <input
              type="checkbox"
              checked={files && !noFiles}
              disabled={noFiles !== '' || busy}
              onChange={event => setFiles(event.target.checked)}
            />
            <span>{trans.__('Also files that wait')}</span>
          </label>
          <div className="jp-codeinterp-Review-note" role="status">
            {noFiles && trans.__('No files can be brought back: %1', noFiles)}
            {!noFiles && offer && <Files offer={offer} trans={trans} />}
          </div>
        </>
      )}
      <div className="jp-codeinterp-UndoOffer-buttons">
        <Button disabled={busy} onClick={close}>
          {trans.__('Cancel')}
        </Button>
        <Button look="primary" disabled={busy} onClick={() => void act()}>
          {redo ? trans.__('Redo') : trans.__('Undo')}
        </Button>
      </div>
    </div>
  );
}

function Files(props: {
  offer: IFilesOffer;
  trans: TranslationBundle;
}): JSX.Element {
  const { offer, trans } = props;
  const lines = [
    ...offer.files,
    ...offer.left.map(({ path, why }) => trans.__('%1 stays: %2', path, why))
  ];
  const more = Math.max(0, lines.length - FEW) + offer.more;
  return (
    <ul>
      {lines.slice(0, FEW).map(line => (
        <li key={line}>{line}</li>
      ))}
      {more > 0 && <li>{trans._n('%1 more file', '%1 more files', more)}</li>}
    </ul>
  );
}
