/** The files that an undo or redo of a turn can bring back, to choose before it. */
import React from 'react';
import type { IFilesOffer, IReview } from '../../../../protocol/api';
import type { IEndItem } from '../../../view/view';
import { Button } from '../../elements/Button';
import { usePanel } from '../../elements/context';

/** Files named at first. */
const FEW = 10;

export function UndoOffer(props: {
  item: IEndItem;
  redo: boolean;
  /** Whether there are cells to undo or redo. */
  cells: boolean;
  close: () => void;
}): JSX.Element {
  const { item, redo, cells, close } = props;
  const { turn } = item.end;
  const { store, trans } = usePanel();
  /** The files that can be brought back; undefined until loaded, null on failure. */
  const [review, setReview] = React.useState<IReview | null>();
  // A redo brings back all that the undo took back.
  const [wantsFiles, setFiles] = React.useState(redo);
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
  const asks = review === undefined;
  const ableFiles = review?.files?.why === '';
  const files = wantsFiles && (asks || ableFiles);
  /** Why this person can bring back no files. */
  const refused = review?.refused ?? '';
  const act = async () => {
    setBusy(true);
    const { conversation } = store;
    const isDone = await (redo
      ? conversation.redoTurn(turn, [], files)
      : conversation.undoTurn(turn, [], files));
    if (isDone) {
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
      aria-label={redo ? trans.__('Redo turn') : trans.__('Undo turn')}
      aria-busy={asks}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          close();
        }
      }}
    >
      {!refused && (
        <>
          <label>
            <input
              type="checkbox"
              checked={files}
              disabled={!ableFiles || busy}
              onChange={event => setFiles(event.target.checked)}
            />
            <span>{trans.__('Also files that wait')}</span>
          </label>
          <div className="jp-codeinterp-Review-note" role="status">
            {review && <Files review={review} redo={redo} />}
          </div>
        </>
      )}
      <p className="jp-codeinterp-Review-note" role="alert">
        {review === null
          ? trans.__(
              'Could not check what can be brought back. Close this and try again.'
            )
          : refused && trans.__('Files cannot be brought back: %1', refused)}
      </p>
      <div className="jp-codeinterp-UndoOffer-buttons">
        <Button disabled={busy} onClick={close}>
          {trans.__('Cancel')}
        </Button>
        <Button
          look="primary"
          disabled={busy || (redo && asks) || !(cells || files)}
          onClick={() => void act()}
        >
          {redo ? trans.__('Redo') : trans.__('Undo')}
        </Button>
      </div>
    </div>
  );
}

/** The files that come back and those that stay, or why none can come back. */
function Files(props: { review: IReview; redo: boolean }): JSX.Element {
  const { trans } = usePanel();
  const { files } = props.review;
  if (!files || files.why) {
    const why = files?.why ?? trans.__('The kernel has no overlay.');
    return <>{trans.__('No files can be brought back: %1', why)}</>;
  }
  const offer: IFilesOffer = props.redo ? files.redo : files.undo;
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
