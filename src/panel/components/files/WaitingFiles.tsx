/** Above the composer: the files that wait in the overlay of a sandboxed kernel. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IWaitingFile, IWaitingList } from '../../../protocol/api';
import type { ISessionView } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
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
  const keep = async () => {
    setBusy(true);
    await store.conversation.keepFiles(
      Object.fromEntries(able.map(({ path, stamp }) => [path, stamp]))
    );
    setBusy(false);
  };
  const count = files.length + left_out;
  return (
    <div
      className="jp-codeinterp-Waiting"
      role="group"
      aria-label={trans.__('Files that wait')}
    >
      {count > 0 && (
        <details>
          <summary>
            {trans._n(
              '%1 file waits: not yet in your folder',
              '%1 files wait: not yet in your folder',
              count
            )}
          </summary>
          <ul>
            {files.map(file => (
              <li key={file.path}>
                <span>{file.folder ? `${file.path}/` : file.path}</span>
                <small>{wordsOf(file, trans)}</small>
              </li>
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
              onClick={() => void keep()}
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
