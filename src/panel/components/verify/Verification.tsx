/** The verification of the notebook in front, one line per cell. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IVerification, IVerifiedCell } from '../../../protocol/rest';
import type { IPanelState } from '../../store/panel-state';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import type { Shape } from '../conversation/StateIcon';
import { StateIcon } from '../conversation/StateIcon';
import { useVerification } from './follow';
import { statusWords, summary } from './words';
import '../../../../style/verify.css';

const SHAPES: Record<IVerifiedCell['status'], Shape> = {
  waiting: 'waiting',
  running: 'busy',
  same: 'ok',
  new: 'ok',
  differs: 'failed',
  failed: 'failed',
  skipped: 'off'
};

export function Verification({ state }: { state: IPanelState }): JSX.Element {
  const { store, trans } = usePanel();
  const { now, refused, busy, start, cancel } = useVerification(
    store,
    state.notebook
  );
  const runs = now?.state === 'running';
  return (
    <section
      className="jp-codeinterp-Verify"
      aria-label={trans.__('Verification')}
    >
      <p className="jp-codeinterp-Verify-about">
        {trans.__(
          'Saves the notebook and runs all its cells in a new kernel, in a copy of the folder. Your variables and outputs stay as they are.'
        )}
      </p>
      <p className="jp-codeinterp-Verify-sum" role="status">
        {now ? summary(now, trans) : ''}
      </p>
      {refused && (
        <p className="jp-codeinterp-Note" data-level="error" role="alert">
          {refused.words}
        </p>
      )}
      <div className="jp-codeinterp-Verify-buttons">
        {runs ? (
          <Button onClick={cancel}>{trans.__('Cancel')}</Button>
        ) : (
          <Button
            look={now ? 'plain' : 'primary'}
            disabled={busy || !state.notebook}
            onClick={() => start(false)}
          >
            {now ? trans.__('Run it again') : trans.__('Verify')}
          </Button>
        )}
        {refused?.code === 'in_folder' && (
          <Button
            disabled={busy}
            title={trans.__('Files are written to your folder')}
            onClick={() => start(true)}
          >
            {trans.__('Verify in the folder itself')}
          </Button>
        )}
      </div>
      {now && <Lines now={now} trans={trans} />}
    </section>
  );
}

function Lines(props: {
  now: IVerification;
  trans: TranslationBundle;
}): JSX.Element {
  const { now, trans } = props;
  const { store } = usePanel();
  const go = (cellId: string) => void store.reveal(cellId);
  return (
    <div className="jp-codeinterp-Verify-lines">
      <ul aria-label={trans.__('Cells')}>
        {now.cells.map(cell => (
          <li key={cell.number} data-status={cell.status}>
            <button type="button" onClick={() => go(cell.cell_id)}>
              <StateIcon shape={SHAPES[cell.status]} name="" />
              <span className="jp-mod-title">
                {cell.number} {cell.title}
              </span>
              <span className="jp-mod-word">
                {statusWords(cell.status, trans)}
              </span>
            </button>
            <Details cell={cell} trans={trans} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Details(props: {
  cell: IVerifiedCell;
  trans: TranslationBundle;
}): JSX.Element | null {
  const { cell, trans } = props;
  if (cell.status === 'differs') {
    return (
      <dl>
        <dt>{trans.__('Old')}</dt>
        <dd>{cell.old || trans.__('(nothing)')}</dd>
        <dt>{trans.__('New')}</dt>
        <dd>{cell.new || trans.__('(nothing)')}</dd>
      </dl>
    );
  }
  return cell.status === 'failed' ? <pre>{cell.text}</pre> : null;
}
