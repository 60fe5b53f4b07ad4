/** What an undo or redo of a turn can bring back besides cells, to choose from before it. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IFilesOffer, IReview } from '../../../../protocol/api';
import { type IEndItem, redoableToo, undoableToo } from '../../../view/view';
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
  const too = redo ? redoableToo(item) : undoableToo(item);
  const { store, trans } = usePanel();
  /** What can be brought back; undefined before the server tells, null if it cannot. */
  const [review, setReview] = React.useState<IReview | null>();
  // A redo brings back all that the undo took back.
  const [wantsVariables, setVariables] = React.useState(redo);
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
  const why = redo ? review?.variables_redo : review?.variables;
  const ableFiles = review?.files?.why === '';
  const variables = too.variables && wantsVariables && (asks || why === '');
  const files = too.files && wantsFiles && (asks || ableFiles);
  /** Why this person can bring back neither variables nor files. */
  const refused = review?.refused ?? '';
  const act = async () => {
    setBusy(true);
    const { conversation } = store;
    const isDone = await (redo
      ? conversation.redoTurn(turn, [], { variables, files })
      : conversation.undoTurn(turn, [], { variables, files }));
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
      {too.variables && !refused && (
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
            {review && aboutVariables(why ?? null, redo, trans)}
          </p>
        </>
      )}
      {too.files && !refused && (
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
          : refused &&
            trans.__('Variables and files cannot be brought back: %1', refused)}
      </p>
      <div className="jp-codeinterp-UndoOffer-buttons">
        <Button disabled={busy} onClick={close}>
          {trans.__('Cancel')}
        </Button>
        <Button
          look="primary"
          disabled={busy || (redo && asks) || !(cells || variables || files)}
          onClick={() => void act()}
        >
          {redo ? trans.__('Redo') : trans.__('Undo')}
        </Button>
      </div>
    </div>
  );
}

/** What an undo or redo of the variables means, or why there is none. */
function aboutVariables(
  why: string | null,
  redo: boolean,
  trans: TranslationBundle
): string {
  if (redo) {
    const reason = why ?? trans.__('the kernel no longer has them.');
    return reason
      ? trans.__('Variables cannot be redone: %1', reason)
      : trans.__(
          'All variables and imports return to their state before the undo.'
        );
  }
  const reason = why ?? trans.__('the kernel keeps no copies.');
  return reason
    ? trans.__('Variables cannot be undone: %1', reason)
    : trans.__(
        'All variables and imports return to their state before this turn, also where your own cells changed them. Redo may bring them back until a cell runs.'
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
