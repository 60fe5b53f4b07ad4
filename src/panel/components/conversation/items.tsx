/** The lines of a conversation that are not cards. */
import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import React from 'react';
import type { Retrying } from '../../../protocol/protocol';
import type {
  INoteItem,
  IQuestionItem,
  IThinkingItem,
  Item
} from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { LongText, revealed } from '../elements/LongText';
import { Markdown } from '../elements/Markdown';
import { seconds, useCountdown, useElapsed } from '../elements/time';
import { Card } from './Card';
import { Message, MessageText } from './Message';
import { TurnEnd } from '../turn-end/TurnEnd';

/** An item of the conversation; `last`: it is the newest. */
export const ItemView = React.memo(function ItemView(props: {
  item: Item;
  sessionId: string;
  last: boolean;
}) {
  const { item } = props;
  switch (item.kind) {
    case 'message':
      return <Message item={item} sessionId={props.sessionId} />;
    case 'interjection':
      return <MessageText item={item} />;
    case 'text':
      return item.text.trim() ? (
        <Markdown text={item.text} figures={item.figures} />
      ) : null;
    case 'thinking':
      return <Thinking item={item} sessionId={props.sessionId} />;
    case 'card':
      return <Card card={item} />;
    case 'question':
      return <Question item={item} />;
    case 'note':
      return <NoteLine item={item} />;
    case 'end':
      return <TurnEnd item={item} last={props.last} />;
  }
});

function Thinking(props: {
  item: IThinkingItem;
  sessionId: string;
}): JSX.Element {
  const { item, sessionId } = props;
  const { trans } = usePanel();
  const [open, setOpen] = React.useState(false);
  const elapsed = useElapsed(`${sessionId}/${item.key}`, !item.done);
  const label = !item.done
    ? trans.__('Thinking…')
    : elapsed >= 1
      ? trans.__('Thought for %1', seconds(elapsed, trans))
      : trans.__('Thought');
  return (
    <div className="jp-codeinterp-Thinking">
      <Button look="link" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? <caretDownIcon.react /> : <caretRightIcon.react />}
        {label}
      </Button>
      {open && (
        <p ref={revealed}>
          <LongText text={item.text} />
        </p>
      )}
    </div>
  );
}

function Question({ item }: { item: IQuestionItem }): JSX.Element {
  const { store, trans } = usePanel();
  const [text, setText] = React.useState('');
  const [sending, setSending] = React.useState(false);
  const answer = async (words: string) => {
    setSending(true);
    await store.conversation.answer(item.callId, words);
    setSending(false);
  };
  return (
    <div
      className="jp-codeinterp-Question"
      role="group"
      aria-label={trans.__('Question')}
    >
      <Markdown text={item.question} />
      {item.answer !== null && (
        <div className="jp-codeinterp-Message">{item.answer}</div>
      )}
      {!item.closed && (
        <>
          <div className="jp-codeinterp-Card-buttons">
            {item.options.map(option => (
              <Button
                key={option}
                disabled={sending}
                onClick={() => void answer(option)}
              >
                {option}
              </Button>
            ))}
          </div>
          <form
            className="jp-codeinterp-Question-form"
            onSubmit={event => {
              event.preventDefault();
              void answer(text);
            }}
          >
            <input
              className="jp-codeinterp-Input"
              aria-label={trans.__('Your answer')}
              placeholder={trans.__('Your answer')}
              value={text}
              onChange={event => setText(event.target.value)}
            />
            <Button type="submit" disabled={sending || !text.trim()}>
              {trans.__('Answer')}
            </Button>
          </form>
        </>
      )}
    </div>
  );
}

function NoteLine({ item }: { item: INoteItem }): JSX.Element {
  return (
    <p className="jp-codeinterp-Note" data-level={item.level}>
      {item.text}
    </p>
  );
}

/** Reports that the model could not be reached and when the server retries. */
export function RetryLine({ retrying }: { retrying: Retrying }): JSX.Element {
  const { trans } = usePanel();
  const left = useCountdown(retrying.delay);
  return (
    <div className="jp-codeinterp-Note" data-level="warning" role="status">
      <span>
        {retrying.message}{' '}
        {left > 0
          ? trans.__('Trying again in %1 s', left)
          : trans.__('Trying again…')}
      </span>
    </div>
  );
}
