/** What an undo or redo of a turn can bring back besides cells, to choose from before it. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IFilesOffer, IReview } from '../../../../protocol/api';
import { type IEndItem, undoableToo } from '../../../view/view';
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
  const too = undoableToo(item);
  const hasCopies = too.variables && !redo;
  const hasFiles = too.files || redo;
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
  const canVariables = review?.variables === '';
  const canFiles = review?.files?.why === '';
  const offer = review?.files?.[redo ? 'redo' : 'undo'];
  const chosen = files && canFiles;
  const act = async () => {
    setBusy(true);
    const { conversation } = store;
    const done = await (redo
      ? conversation.redoTurn(turn, [], { files: chosen })
      : conversation.undoTurn(turn, [], { variables, files: chosen }));
    if (done) {
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
              disabled={!canVariables || busy}
              onChange={event => setVariables(event.target.checked)}
            />
            <span>{trans.__('Also variables')}</span>
          </label>
          <p className="jp-codeinterp-Review-note" role="status">
            {review && variablesWords(review, trans)}
          </p>
        </>
      )}
      {hasFiles && (
        <>
          <label>
            <input
              type="checkbox"
              checked={chosen}
              disabled={!canFiles || busy}
              onChange={event => setFiles(event.target.checked)}
            />
            <span>{trans.__('Also files that wait')}</span>
          </label>
          <div className="jp-codeinterp-Review-note" role="status">
            {review && !canFiles && filesWords(review, trans)}
            {canFiles && offer && <Files offer={offer} trans={trans} />}
          </div>
        </>
      )}
      {review === null && (
        <p className="jp-codeinterp-Review-note" role="alert">
          {trans.__(
            'Could not check what can be brought back. Close this and try again.'
          )}
        </p>
      )}
      <div className="jp-codeinterp-UndoOffer-buttons">
        <Button disabled={busy} onClick={close}>
          {trans.__('Cancel')}
        </Button>
        <Button
          look="primary"
          disabled={busy || !(cells || variables || chosen)}
          onClick={() => void act()}
        >
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

/** What an undo of the variables means, or why there is none. */
function variablesWords(review: IReview, trans: TranslationBundle): string {
  if (review.variables === null) {
    return trans.__('Variables cannot be undone: the kernel keeps no copies.');
  }
  return review.variables
    ? trans.__('Variables cannot be undone: %1', review.variables)
    : trans.__(
        'All variables and imports go back to before this turn. What ran in the kernel since, yours too, has then not run.'
      );
}

/** Why no files can be brought back. */
function filesWords({ files }: IReview, trans: TranslationBundle): string {
  return files
    ? trans.__('No files can be brought back: %1', files.why)
    : trans.__('No files can be brought back: the kernel has no overlay.');
}
