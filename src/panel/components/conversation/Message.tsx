/** Messages of the person, with buttons to edit them and to switch between branches. */
import { PathExt } from '@jupyterlab/coreutils';
import { caretLeftIcon, caretRightIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { Reference, SessionInfo } from '../../../protocol/protocol';
import { siblings } from '../../view/branches';
import { withoutSkills } from '../../view/skills';
import type { IInterjectionItem, IMessageItem } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { lazy } from '../elements/lazy';
import { mentionOf } from '../composer/mentions';
import { LongText } from '../elements/LongText';

const EditMessage = lazy(
  async () => (await import('./EditMessage')).EditMessage
);

/** The conversation that contains the messages. */
export interface IConversation {
  readonly info: SessionInfo | null;
  /** All conversations that this page knows. */
  readonly known: Readonly<Record<string, SessionInfo>>;
  /** The turn that the last message began; 0 if there is none. */
  readonly lastTurn: number;
  /** The turn whose message to focus once it is drawn; 0: none. */
  readonly goTo: { current: number };
  /** Stop scrolling to the end of the log. */
  readonly stay: () => void;
}

export const Conversation = React.createContext<IConversation>({
  info: null,
  known: {},
  lastTurn: 0,
  goTo: { current: 0 },
  stay: () => undefined
});

/** The text of a message with its references. */
export function MessageText({
  item
}: {
  item: IMessageItem | IInterjectionItem;
}): JSX.Element {
  const { trans } = usePanel();
  const references = React.useMemo(
    () => withoutSkills(item.references),
    [item.references]
  );
  return (
    <div
      className="jp-codeinterp-Message"
      role="group"
      aria-label={trans.__('You')}
    >
      <LongText text={item.text} />
      {references.length > 0 && <Mentioned references={references} />}
    </div>
  );
}

/** What a message mentions. Files and cells can be opened. */
function Mentioned(props: { references: readonly Reference[] }): JSX.Element {
  const { references } = props;
  const { files, store, trans } = usePanel();
  const notebook = store.shown?.info.notebook ?? '';
  const folder = PathExt.dirname(notebook);
  const mentions = React.useMemo(() => {
    const outline = store.notebooks.outline(notebook);
    return references.map(one => mentionOf(one, outline, trans));
  }, [references, notebook, store, trans]);
  return (
    <ul
      className="jp-codeinterp-Chips"
      aria-label={trans.__('Mentioned in this message')}
    >
      {mentions.map(({ key, label, reference: { kind, name } }) => {
        const open =
          kind === 'file'
            ? () => files.open(PathExt.join(folder, name))
            : kind === 'cell'
              ? () => store.reveal(name)
              : null;
        return (
          <li key={key}>
            {open ? (
              <button
                type="button"
                className="jp-codeinterp-Change-name"
                title={trans.__('Open %1', label)}
                onClick={() => void open()}
              >
                {label}
              </button>
            ) : (
              <span>{label}</span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** A message that began a turn. */
export function Message(props: {
  item: IMessageItem;
  sessionId: string;
}): JSX.Element {
  const { item, sessionId } = props;
  const { store, trans } = usePanel();
  const { info, lastTurn } = React.useContext(Conversation);
  const [editing, setEditing] = React.useState<'edit' | 'again' | ''>('');
  const opener = React.useRef<HTMLButtonElement>(null);
  const restoresFocus = React.useRef(false);
  const close = (keepFocus: boolean) => {
    restoresFocus.current = keepFocus;
    setEditing('');
  };
  React.useEffect(() => {
    if (!editing && restoresFocus.current) {
      restoresFocus.current = false;
      opener.current?.focus();
    }
  }, [editing]);
  const why = whyNoBranch(info, trans);
  const again = () => {
    if (store.conversation.turnsToUndo(item.turn).length) {
      setEditing('again');
    } else {
      const { text, turn } = item;
      const references = withoutSkills(item.references);
      const literal = references.length === item.references.length;
      void store.conversation.branch({
        turn,
        text,
        references,
        undo: false,
        literal
      });
    }
  };
  if (editing) {
    return (
      <EditMessage
        item={item}
        again={editing === 'again'}
        blocked={why}
        close={close}
      />
    );
  }
  return (
    <>
      <MessageText item={item} />
      <div className="jp-codeinterp-Message-line">
        <div className="jp-codeinterp-Message-actions">
          {item.turn === lastTurn && (
            <Button
              look="link"
              disabled={why !== ''}
              title={why || trans.__('Resend in a new branch')}
              onClick={again}
            >
              {trans.__('Ask again')}
            </Button>
          )}
          <Button
            look="link"
            buttonRef={opener}
            disabled={why !== ''}
            title={why || trans.__('Edit and resend')}
            onClick={() => setEditing('edit')}
          >
            {trans.__('Edit')}
          </Button>
        </div>
        <Siblings turn={item.turn} sessionId={sessionId} />
      </div>
    </>
  );
}

/** Why the person cannot branch now; '' if they can. */
function whyNoBranch(
  info: SessionInfo | null,
  trans: TranslationBundle
): string {
  if (info?.running) {
    return trans.__('Stop the turn first');
  }
  return info?.held
    ? trans.__('Another server is using this conversation')
    : '';
}

/** "2 of 3": switches between branches with different messages for this turn. */
function Siblings(props: {
  turn: number;
  sessionId: string;
}): JSX.Element | null {
  const { turn, sessionId } = props;
  const { store, trans } = usePanel();
  const { goTo, info, known, stay } = React.useContext(Conversation);
  const group = React.useRef<HTMLDivElement>(null);
  const { index, ids } = React.useMemo(
    () =>
      info
        ? siblings(info, turn, Object.values(known))
        : { index: 0, ids: NO_IDS },
    [info, turn, known]
  );
  React.useEffect(() => {
    if (goTo.current === turn && group.current) {
      goTo.current = 0;
      stay();
      group.current.scrollIntoView?.({ block: 'center' });
      group.current.focus({ preventScroll: true });
    }
  }, [goTo, sessionId, stay, turn]);
  if (ids.length < 2) {
    return null;
  }
  const go = (by: number) => {
    goTo.current = turn;
    store.openSession(ids[(index + by + ids.length) % ids.length]);
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
      event.preventDefault();
      go(event.key === 'ArrowLeft' ? -1 : 1);
    }
  };
  const place = trans.__('%1 of %2', index + 1, ids.length);
  return (
    <div
      ref={group}
      className="jp-codeinterp-Siblings"
      role="group"
      tabIndex={-1}
      aria-label={trans.__('Branch %1', place)}
      onKeyDown={onKeyDown}
    >
      <Button
        look="icon"
        title={trans.__('Previous branch')}
        aria-label={trans.__('Previous branch')}
        onClick={() => go(-1)}
      >
        <caretLeftIcon.react />
      </Button>
      <span>{place}</span>
      <Button
        look="icon"
        title={trans.__('Next branch')}
        aria-label={trans.__('Next branch')}
        onClick={() => go(1)}
      >
        <caretRightIcon.react />
      </Button>
    </div>
  );
}

const NO_IDS: readonly string[] = [];
