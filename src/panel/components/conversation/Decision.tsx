/** The decision on a draft, on its card: the code and the buttons. */
import React from 'react';
import { MoreLines, pressIgnored } from '../../../notebook/review/controls';
import { useSettled } from '../../../notebook/review/gate/button';
import { Glance } from '../../../notebook/review/gate/glance';
import { linesOfText, watchView } from '../../../notebook/review/gate/in-view';
import type { IDraftView, ILines } from '../../../tokens';
import { ICardItem, isUndecided } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { Pre } from '../elements/LongText';
import { SureButton } from '../elements/SureButton';

/** A waiting draft, and the source that a decision would run now. */
export interface IWaiting {
  readonly draft: IDraftView;
  readonly source: string;
}

/** Null unless the card waits. Renders again when the person has seen more of it. */
export function useWaiting(card: ICardItem): IWaiting | null {
  const { store } = usePanel();
  const { seen } = store.notebooks;
  const id = isUndecided(card.phase) ? card.draft?.draft_id : undefined;
  const [, draw] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => {
    if (!id) {
      return;
    }
    const listener = (_: unknown, draftId: string) => {
      if (draftId === id) {
        draw();
      }
    };
    seen.changed.connect(listener);
    return () => void seen.changed.disconnect(listener);
  }, [seen, id]);
  const drafts = id ? store.drafts.of(store.state.now.notebook) : [];
  const draft = drafts.find(({ draft_id }) => draft_id === id);
  if (!draft || draft.state === 'writing') {
    return null;
  }
  const source = store.notebooks.sourceOf(draft) ?? draft.source;
  return { draft, source };
}

/** The code of a draft; lines in view here count as seen. */
export function WaitingCode({ draft, source }: IWaiting): JSX.Element {
  const { store, trans } = usePanel();
  const { seen } = store.notebooks;
  const [here, setHere] = React.useState<ILines | null>(null);
  const code = React.useRef<HTMLElement>(null);
  const { draft_id, nonce } = draft;
  React.useEffect(() => {
    const text = code.current?.firstChild as Text | null;
    if (!code.current || !text) {
      return;
    }
    const glance = new Glance(lines =>
      seen.look({ draft_id, nonce }, source, lines)
    );
    const view = watchView(code.current, part => {
      const lines = part && linesOfText(text, part);
      glance.show(lines);
      if (lines) {
        setHere(lines);
      }
    });
    return () => {
      view.dispose();
      glance.dispose();
    };
  }, [seen, draft_id, nonce, source]);
  const show = (line: number) => {
    const pre = code.current?.parentElement;
    const text = code.current?.firstChild as Text | null;
    if (pre && text) {
      const at = source.split('\n', line).join('\n').length;
      const range = document.createRange();
      range.setStart(text, Math.min(at + 1, text.length));
      range.collapse(true);
      const { top } = range.getBoundingClientRect();
      pre.scrollTop += top - pre.getBoundingClientRect().top - 8;
    }
  };
  const sight = seen.sight(draft, source, here);
  return (
    <>
      <Pre className="jp-codeinterp-Card-code">
        <code ref={code}>{source}</code>
      </Pre>
      {here && <MoreLines sight={sight} show={show} trans={trans} />}
    </>
  );
}

export function Decision(
  props: IWaiting & { open: boolean; onShow: () => void }
): JSX.Element {
  const { draft, source, open, onShow } = props;
  const { store, trans } = usePanel();
  const question = `${draft.draft_id} ${draft.nonce}`;
  const settled = useSettled(question);
  const [refused, setRefused] = React.useState('');
  const refuse = () => setRefused(question);
  const sight = store.notebooks.seen.sight(draft, source);
  const waiting = draft.state === 'waiting';
  const decide = (action: 'run' | 'reject', runAll = false) =>
    void store.drafts.decide(draft.draft_id, action, runAll);
  const accept = (runAll: boolean) => {
    // Lines changed since the last render have not been in view.
    const now = store.notebooks.sourceOf(draft);
    if (now === null || store.notebooks.seen.sight(draft, now).seen) {
      decide('run', runAll);
    } else {
      refuse();
    }
  };
  const showCode = () => {
    onShow();
    if (store.notebooks.isShown(draft.notebook)) {
      void store.reveal(draft.cell_id);
    }
  };
  const [yes, no] = {
    insert: [trans.__('Run'), trans.__('Reject')],
    edit: [
      draft.runs ? trans.__('Run') : trans.__('Accept'),
      trans.__('Reject')
    ],
    markdown: [trans.__('Accept'), trans.__('Reject')],
    delete: [trans.__('Delete'), trans.__('Keep')],
    kernel: [draft.title, trans.__('Reject')],
    notebook: [draft.title, trans.__('Reject')],
    verify: [trans.__('Run'), trans.__('Reject')],
    tool: [trans.__('Run'), trans.__('Reject')]
  }[draft.kind];
  const hidden = settled && waiting && !sight.seen;
  return (
    <>
      {draft.notices.map(notice => (
        <p key={notice} className="jp-codeinterp-Card-notice">
          {notice}
        </p>
      ))}
      <div className="jp-codeinterp-Card-buttons">
        {hidden ? (
          <Button look="primary" aria-expanded={open} onClick={showCode}>
            {trans.__('Show code')}
          </Button>
        ) : (
          <SureButton
            look="primary"
            question={question}
            disabled={!waiting || !sight.seen}
            onSure={() => accept(false)}
            refused={refuse}
          >
            {yes}
          </SureButton>
        )}
        <Button disabled={!waiting} onClick={() => decide('reject')}>
          {no}
        </Button>
        {draft.can_run_all && !hidden && (
          <SureButton
            look="link"
            question={question}
            disabled={!waiting || !sight.seen}
            title={trans.__(
              'Run this cell, and the others of this turn without asking'
            )}
            onSure={() => accept(true)}
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
