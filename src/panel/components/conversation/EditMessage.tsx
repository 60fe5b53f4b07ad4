/** A sent message as an editable field; sending it begins a branch. */
import React from 'react';
import type { ILeftBehind } from '../../view/branches';
import { calledIn, withoutSkills } from '../../view/skills';
import type { IMessageItem } from '../../view/view';
import { Chips } from '../composer/Chips';
import { mentionOf } from '../composer/mentions';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

export function EditMessage(props: {
  item: IMessageItem;
  /** Opened by "Ask again": only to decide on the undo. */
  again: boolean;
  /** Why nothing can be sent now; '' if it can. */
  blocked: string;
  close: (keepFocus: boolean) => void;
}): JSX.Element {
  const { again, blocked, close, item } = props;
  const { store, trans } = usePanel();
  const [text, setText] = React.useState(item.text);
  const [references, setReferences] = React.useState(() =>
    withoutSkills(item.references)
  );
  const [sending, setSending] = React.useState(false);
  const left = useLeftBehind(item.turn);
  /** The person's choice; null if none yet. */
  const [chosen, setChosen] = React.useState<boolean | null>(null);
  const undo = chosen ?? (left !== null && left.changed === 0);
  const field = React.useRef<HTMLTextAreaElement>(null);
  React.useLayoutEffect(() => {
    const node = field.current!;
    node.style.height = 'auto';
    const border = node.offsetHeight - node.clientHeight;
    node.style.height = `${node.scrollHeight + border}px`;
  }, [text]);
  React.useEffect(() => {
    const node = field.current!;
    node.focus();
    node.setSelectionRange(node.value.length, node.value.length);
  }, []);
  const canSend = !sending && !blocked && left !== null && text.trim() !== '';
  // The labels of the sent message.
  const mentions = React.useMemo(() => {
    const outline = store.notebooks.outline(store.shown?.info.notebook ?? '');
    return references.map(one => mentionOf(one, outline, trans));
  }, [references, store, trans]);
  const send = async () => {
    if (!canSend) {
      return;
    }
    setSending(true);
    const called = withoutSkills(item.references).length;
    const sent = await store.conversation.branch({
      turn: item.turn,
      text,
      references,
      undo: left.cells > 0 && undo,
      literal:
        called === item.references.length &&
        calledIn(text) === calledIn(item.text)
    });
    setSending(false);
    if (sent) {
      close(false);
    }
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      close(true);
    } else if (
      event.key === 'Enter' &&
      !event.shiftKey &&
      event.target === field.current
    ) {
      event.preventDefault();
      void send();
    }
  };
  return (
    <div
      className="jp-codeinterp-EditMessage"
      role="group"
      aria-label={again ? trans.__('Ask again') : trans.__('Edit message')}
      aria-busy={left === null || sending}
      onKeyDown={onKeyDown}
    >
      <textarea
        ref={field}
        rows={1}
        className="jp-codeinterp-Input"
        aria-label={trans.__('Your message')}
        value={text}
        onChange={event => setText(event.target.value)}
      />
      <Chips
        mentions={mentions}
        remove={({ reference }) => {
          setReferences(references.filter(other => other !== reference));
          field.current?.focus();
        }}
      />
      {left !== null && left.cells > 0 && (
        <label className="jp-codeinterp-EditMessage-undo">
          <input
            type="checkbox"
            checked={undo}
            onChange={event => setChosen(event.target.checked)}
          />
          <span>
            {trans._n(
              'Undo later changes in the notebook (%1 cell)',
              'Undo later changes in the notebook (%1 cells)',
              left.cells
            )}
            {left.changed > 0 && (
              <>
                {'. '}
                {trans._n(
                  '%1 of them has changed since and is kept',
                  '%1 of them have changed since and are kept',
                  left.changed
                )}
              </>
            )}
          </span>
        </label>
      )}
      <p className="jp-codeinterp-EditMessage-note">
        {blocked ||
          trans.__(
            'Starts a new branch and keeps this one. Kernel variables do not change.'
          )}
      </p>
      <div className="jp-codeinterp-EditMessage-buttons">
        <Button onClick={() => close(true)}>{trans.__('Cancel')}</Button>
        <Button look="primary" disabled={!canSend} onClick={() => void send()}>
          {trans.__('Send')}
        </Button>
      </div>
    </div>
  );
}

/** The undecided changes since this turn; null until loaded. */
function useLeftBehind(turn: number): ILeftBehind | null {
  const { store } = usePanel();
  const [left, setLeft] = React.useState<ILeftBehind | null>(null);
  React.useEffect(() => {
    let shown = true;
    void store.conversation
      .leftBehind(turn)
      .then(found => shown && setLeft(found));
    return () => {
      shown = false;
    };
  }, [store, turn]);
  return left;
}
