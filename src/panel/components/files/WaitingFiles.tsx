/** The files that a sandboxed kernel wrote into its overlay: list, keep, undo. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IWaitingFile, IWaitingList } from '../../../protocol/api';
import type { IEndItem } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { bytes } from './bytes';

/** Files shown at first. */
const FEW = 10;

export default function WaitingFiles({
  item,
  lists
}: {
  item: IEndItem;
  /** Whether all files that wait are listed here, too. */
  lists: boolean;
}): JSX.Element {
  const { store, trans } = usePanel();
  const [list, setList] = React.useState<IWaitingList | null>(null);
  const [all, setAll] = React.useState(false);
  const [busy, setBusy] = React.useState(false);
  React.useEffect(() => {
    let shown = true;
    if (lists) {
      void store.conversation
        .waitingFiles()
        .then(found => shown && setList(found));
    }
    return () => {
      shown = false;
    };
  }, [store, item.files, lists]);
  const files = (lists && list?.files) || [];
  const able = files.filter(file => !file.why);
  const more = all ? 0 : files.length - FEW;
  const act = async (action: () => Promise<unknown>) => {
    setBusy(true);
    await action();
    setBusy(false);
  };
  const keep = () =>
    store.conversation.keepFiles(
      Object.fromEntries(able.map(({ path, stamp }) => [path, stamp]))
    );
  return (
    <div
      className="jp-codeinterp-Artefacts"
      role="group"
      aria-label={trans.__('Files that wait')}
      aria-busy={lists && list === null}
    >
      {files.length > 0 && (
        <span className="jp-codeinterp-Artefacts-title">
          {trans._n(
            '%1 file waits outside of the folder',
            '%1 files wait outside of the folder',
            files.length
          )}
        </span>
      )}
      <ul>
        {(all ? files : files.slice(0, FEW)).map(file => (
          <li key={file.path} className="jp-codeinterp-Artefact">
            <span>{file.folder ? `${file.path}/` : file.path}</span>
            <span className="jp-codeinterp-Quiet">{words(file, trans)}</span>
          </li>
        ))}
      </ul>
      {more > 0 && (
        <Button look="link" onClick={() => setAll(true)}>
          {trans._n('Show %1 more file', 'Show %1 more files', more)}
        </Button>
      )}
      {lists && more <= 0 && !!list?.left_out && (
        <p className="jp-codeinterp-Review-note">
          {trans._n(
            '%1 more is not shown. See: jupyter codeinterp sandbox changes',
            '%1 more are not shown. See: jupyter codeinterp sandbox changes',
            list.left_out
          )}
        </p>
      )}
      <p className="jp-codeinterp-End-result" role="status">
        {outcome(item, trans).join(' ')}
      </p>
      <div className="jp-codeinterp-Change-line">
        {able.length > 0 && (
          <Button
            disabled={busy}
            title={trans.__('Copy them into the notebook\u2019s folder')}
            onClick={() => void act(keep)}
          >
            {trans._n('Keep %1 file', 'Keep %1 files', able.length)}
          </Button>
        )}
      </div>
    </div>
  );
}

function words(file: IWaitingFile, trans: TranslationBundle): string {
  const kinds = {
    added: trans.__('new'),
    changed: trans.__('changed'),
    deleted: trans.__('deleted')
  };
  const size = file.folder || file.kind === 'deleted' ? [] : [bytes(file.size)];
  const what = [kinds[file.kind], ...size].join(', ');
  return file.why ? `${what}. ${file.why}` : what;
}

function outcome(
  { files: event }: IEndItem,
  trans: TranslationBundle
): string[] {
  if (!event) {
    return [];
  }
  const count = event.files.length;
  const put = event.type === 'files_put_back';
  if (put && event.why) {
    return [trans.__('The files stay: %1', event.why)];
  }
  const redone = put && event.redone;
  const said = redone
    ? trans._n('%1 file redone.', '%1 files redone.', count)
    : put
      ? trans._n('%1 file put back.', '%1 files put back.', count)
      : trans._n(
          '%1 file copied into the folder.',
          '%1 files copied into the folder.',
          count
        );
  const left = event.left.map(({ path, why }) => `${path}: ${why}`);
  const more = event.more
    ? [trans._n('%1 more file.', '%1 more files.', event.more)]
    : [];
  return [said, ...left, ...more];
}
