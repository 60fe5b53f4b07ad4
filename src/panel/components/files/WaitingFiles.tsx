/**
 * Files that wait in the overlay of a sandboxed kernel; shown above the
 * composer.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IWaitingFile, IWaitingList } from '../../../protocol/api';
import type { ISessionView } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { revealed } from '../elements/LongText';
import { bytes } from './bytes';
import { outcome } from './outcome';

const NONE: IWaitingList = { files: [], left_out: 0 };

export function WaitingFiles({ view }: { view: ISessionView }): JSX.Element {
  const { store, trans } = usePanel();
  const { filesChanged, filesKept, info } = view;
  const [{ files, left_out }, setList] = React.useState(NONE);
  const [failure, setFailure] = React.useState('');
  const [busy, setBusy] = React.useState(false);
  React.useEffect(() => {
    let shown = true;
    const show = (list: IWaitingList, words: string) => {
      if (shown) {
        setList(list);
        setFailure(words);
      }
    };
    store.conversation.waitingFiles(info.session_id).then(
      list => show(list, ''),
      error => show(NONE, store.state.messageOf(error))
    );
    return () => {
      shown = false;
    };
  }, [store, info.session_id, filesChanged]);
  const able = files.filter(file => !file.why);
  const act = async (chosen: readonly IWaitingFile[], discard = false) => {
    setBusy(true);
    const stamps = chosen.map(({ path, stamp }) => [path, stamp]);
    await store.conversation.keepFiles(Object.fromEntries(stamps), discard);
    setBusy(false);
  };
  const count = files.length + left_out;
  return (
    <div
      className="jp-codeinterp-Waiting"
      role="group"
      aria-label={trans.__('Waiting files')}
    >
      {count > 0 && (
        <details>
          <summary>
            {trans._n(
              '%1 file is not in your folder yet',
              '%1 files are not in your folder yet',
              count
            )}
          </summary>
          <ul>
            {files.map(file => (
              <File
                key={file.path + file.stamp}
                sessionId={info.session_id}
                file={file}
                busy={busy}
                act={discard => act([file], discard)}
              />
            ))}
          </ul>
          {left_out > 0 && (
            <p>
              {trans._n(
                '%1 more is not shown. See: jupyter codeinterp sandbox changes',
                '%1 more are not shown. See: jupyter codeinterp sandbox changes',
                left_out
              )}
            </p>
          )}
          {able.length > 0 && (
            <Button
              disabled={busy}
              title={trans.__('Copy them into the notebook\u2019s folder')}
              onClick={() => void act(able)}
            >
              {trans._n('Keep %1 file', 'Keep %1 files', able.length)}
            </Button>
          )}
        </details>
      )}
      <p role="status">{filesKept && outcome(filesKept, trans)}</p>
      <p role="alert">{failure}</p>
    </div>
  );
}

function File(props: {
  sessionId: string;
  file: IWaitingFile;
  busy: boolean;
  act: (discard: boolean) => Promise<void>;
}): JSX.Element {
  const { act, busy, file, sessionId } = props;
  const { confirm, store, trans } = usePanel();
  const { path } = file;
  const [shown, setShown] = React.useState<string | null>(null);
  const look = async () => {
    if (shown !== null) {
      setShown(null);
      return;
    }
    const { text, why } = await store.conversation
      .waitingText(sessionId, path)
      .catch(error => ({ text: '', why: store.state.messageOf(error) }));
    setShown(why || text || trans.__('This file is empty.'));
  };
  const discard = async () => {
    // Checked before the dialog: a press of its button is not visible here.
    const sure =
      store.state.byPerson() &&
      (await confirm(
        trans.__('Discard “%1”?', path),
        trans.__(
          'Your folder does not change. The code sees its own version until the kernel restarts.'
        ),
        trans.__('Discard')
      ));
    if (sure) {
      await act(true);
    }
  };
  return (
    <li>
      {file.folder || file.kind === 'deleted' ? (
        <span>{file.folder ? `${path}/` : path}</span>
      ) : (
        <button
          type="button"
          className="jp-codeinterp-Change-name"
          aria-expanded={shown !== null}
          title={trans.__('Show its beginning')}
          onClick={() => void look()}
        >
          {path}
        </button>
      )}
      <small>{wordsOf(file, trans)}</small>
      {!file.why && (
        <Button
          look="link"
          disabled={busy}
          aria-label={trans.__('Keep %1', path)}
          onClick={() => void act(false)}
        >
          {trans.__('Keep')}
        </Button>
      )}
      <Button
        look="link"
        disabled={busy}
        aria-label={trans.__('Discard %1', path)}
        onClick={() => void discard()}
      >
        {trans.__('Discard')}
      </Button>
      {shown !== null && <pre ref={revealed}>{shown}</pre>}
    </li>
  );
}

function wordsOf(file: IWaitingFile, trans: TranslationBundle): string {
  const kinds = {
    added: trans.__('new'),
    changed: trans.__('changed'),
    deleted: trans.__('deleted')
  };
  const size = file.folder || file.kind === 'deleted' ? [] : [bytes(file.size)];
  const what = [kinds[file.kind], ...size].join(', ');
  return file.why ? `${what}. ${file.why}` : what;
}
