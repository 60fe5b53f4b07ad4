/** What the person has said: as it is, to be edited, and the branches that go on from it. */
import { PathExt } from '@jupyterlab/coreutils';
import { caretLeftIcon, caretRightIcon } from '@jupyterlab/ui-components';
import React from 'react';
import type { SessionInfo } from '../../../protocol/protocol';
import { siblings } from '../../view/branches';
import type { IAsideItem, IMessageItem } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { LongText } from '../elements/LongText';
import { EditMessage } from './EditMessage';

/** What messages must know of the conversation that they stand in. */
export interface IConversation {
  readonly info: SessionInfo | null;
  /** All conversations that this page knows. */
  readonly known: Readonly<Record<string, SessionInfo>>;
  /** The turn that the last message began; 0 if there is none. */
  readonly lastTurn: number;
  /** The turn whose message is to have the focus, once it is there; 0: none. */
  readonly goTo: { current: number };
  /** Do not follow the end of the log. */
  readonly stay: () => void;
}

export const Conversation = React.createContext<IConversation>({
  info: null,
  known: {},
  lastTurn: 0,
  goTo: { current: 0 },
  stay: () => undefined
});

export function Said({
  item
}: {
  item: IMessageItem | IAsideItem;
}): JSX.Element {
  const { trans } = usePanel();
  return (
    <div
      className="jp-codeinterp-Message"
      role="group"
      aria-label={trans.__('You')}
    >
      <LongText text={item.text} />
      {item.files.length > 0 && <FilesAlong names={item.files} />}
    </div>
  );
}

/** Files beside the notebook that a message came with. */
function FilesAlong({ names }: { names: readonly string[] }): JSX.Element {
  const { files, store, trans } = usePanel();
  const folder = PathExt.dirname(store.shown?.info.notebook ?? '');
  return (
    <ul
      className="jp-codeinterp-Chips"
      aria-label={trans.__('Named in this message')}
    >
      {names.map(name => (
        <li key={name}>
          <button
            type="button"
            className="jp-codeinterp-Change-name"
            title={trans.__('Open %1', name)}
            onClick={() => void files.open(PathExt.join(folder, name))}
          >
            {name}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** A message that has begun a turn. */
export function Message(props: {
  item: IMessageItem;
  sessionId: string;
}): JSX.Element {
  const { item, sessionId } = props;
  const { store, trans } = usePanel();
  const { info, lastTurn } = React.useContext(Conversation);
  const [editing, setEditing] = React.useState<'edit' | 'again' | ''>('');
  const opener = React.useRef<HTMLButtonElement>(null);
  const comesBack = React.useRef(false);
  const close = (keepFocus: boolean) => {
    comesBack.current = keepFocus;
    setEditing('');
  };
  React.useEffect(() => {
    if (!editing && comesBack.current) {
      comesBack.current = false;
      opener.current?.focus();
    }
  }, [editing]);
  const why = cannot(info, trans.__.bind(trans));
  const again = () => {
    if (store.conversation.turnsToUndo(item.turn).length) {
      setEditing('again');
    } else {
      const { references, text, turn } = item;
      void store.conversation.branch({ turn, text, references, undo: false });
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
      <Said item={item} />
      <div className="jp-codeinterp-Message-line">
        <div className="jp-codeinterp-Message-actions">
          {item.turn === lastTurn && (
            <Button
              look="link"
              disabled={why !== ''}
              title={why || trans.__('Ask the same again, in a new branch')}
              onClick={again}
            >
              {trans.__('Ask again')}
            </Button>
          )}
          <Button
            look="link"
            buttonRef={opener}
            disabled={why !== ''}
            title={why || trans.__('Say it differently, in a new branch')}
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

/** Why there can be no branch now, '' if there can. */
function cannot(
  info: SessionInfo | null,
  words: (text: string) => string
): string {
  if (info?.running) {
    return words('Stop the turn first');
  }
  return info?.held ? words('Another server works on this conversation') : '';
}

/** "2 of 3": the other messages in the place of this one. */
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
