/** The decision on a draft, on its card: the code and the buttons. */
import React from 'react';
import { coversAll, pressIgnored } from '../../../notebook/review/controls';
import type { IDraftView } from '../../../tokens';
import { Words } from '../../../words';
import { ICardItem, isUndecided } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { SureButton } from '../elements/SureButton';

/** A waiting draft, and the source that a decision would run now. */
export interface IWaiting {
  readonly draft: IDraftView;
  readonly source: string;
}

/** The open draft of a card; null if none. */
export function useWaiting(card: ICardItem): IWaiting | null {
  const { store } = usePanel();
  const id = isUndecided(card.phase) ? card.draft?.draft_id : undefined;
  const drafts = id ? store.drafts.of(store.state.now.notebook) : [];
  const draft = drafts.find(({ draft_id }) => draft_id === id);
  if (!draft || draft.state === 'writing') {
    return null;
  }
  const source = store.notebooks.sourceOf(draft) ?? draft.source;
  return { draft, source };
}

export function Decision({ draft }: { draft: IDraftView }): JSX.Element {
  const { store, trans } = usePanel();
  const question = `${draft.draft_id} ${draft.nonce}`;
  const [refused, setRefused] = React.useState('');
  const refuse = () => setRefused(question);
  const waiting = draft.state === 'waiting';
  const decide = (action: 'run' | 'reject', runAll = false) =>
    void store.drafts.decide(draft.draft_id, action, runAll);
  const [yes, no] = {
    insert: [trans.__('Run'), trans.__('Reject')],
    edit: [
      draft.runs ? trans.__('Run') : trans.__('Accept'),
      trans.__('Reject')
    ],
    markdown: [trans.__('Accept'), trans.__('Reject')],
    delete: [trans.__('Delete'), trans.__('Keep')],
    kernel: [draft.title, trans.__('Reject')],
    verify: [trans.__('Run'), trans.__('Reject')],
    tool: [trans.__('Run'), trans.__('Reject')],
    scratch: [trans.__('Run'), trans.__('Reject')],
    rerun: [trans.__('Run'), trans.__('Reject')],
    move: [trans.__('Move'), trans.__('Reject')],
    cells: [draft.title, trans.__('Reject')]
  }[draft.kind];
  return (
    <>
      {draft.notices.map(notice => (
        <p key={notice} className="jp-codeinterp-Card-notice">
          <Words>{notice}</Words>
        </p>
      ))}
      <div className="jp-codeinterp-Card-buttons">
        <SureButton
          look="primary"
          question={question}
          disabled={!waiting}
          onSure={() => decide('run')}
          refused={refuse}
        >
          {yes}
        </SureButton>
        <Button disabled={!waiting} onClick={() => decide('reject')}>
          {no}
        </Button>
        {draft.can_run_all && (
          <SureButton
            look="link"
            question={question}
            disabled={!waiting}
            title={coversAll(trans)}
            onSure={() => decide('run', true)}
            refused={refuse}
          >
            {trans.__('Run all in this turn')}
          </SureButton>
        )}
      </div>
      <p className="jp-codeinterp-hint" role="status">
        {waiting && refused === question && pressIgnored(trans)}
      </p>
    </>
  );
}
