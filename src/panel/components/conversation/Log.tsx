import React from 'react';
import { cellOfLink } from '../../../markdown/markdown';
import { isAtWork, wasBrokenOff } from '../../../markdown/unfinished';
import {
  IPanelState,
  isDemo,
  needsKey,
  showsForm
} from '../../store/panel-state';
import { type ISessionView, type Item, isWaiting } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { lazy } from '../elements/lazy';
import { AnswerActions, Formatting } from '../elements/Markdown';
import { Empty } from './Empty';
import { ItemView, RetryLine } from './items';
import { Conversation, type IConversation } from './Message';

const FirstRun = lazy(async () => (await import('./FirstRun')).FirstRun);

/** Pixels from the end that still count as the end. */
const AT_END = 32;

/** The conversation. Scrolls along with its end unless the person has scrolled up. */
export function Log(props: {
  view: ISessionView | null;
  state: IPanelState;
  goTo: IConversation['goTo'];
}): JSX.Element {
  const { view, state, goTo } = props;
  const { store, trans } = usePanel();
  const items = view?.items ?? [];
  const last = items[items.length - 1];
  const sessionId = view?.info.session_id ?? '';
  const [plain, setPlain] = React.useState(() => wasBrokenOff(sessionId));
  React.useEffect(() => {
    if (wasBrokenOff(sessionId)) {
      void isAtWork(sessionId).then(atWork => atWork && setPlain(false));
    }
  }, [sessionId]);
  const formatting = React.useMemo(
    () => ({ sessionId, plain }),
    [sessionId, plain]
  );
  const { frame, content, onScroll, stay, isNew, toLatest } = useStickToEnd(
    `${sessionId}/${state.turnsBegun}`,
    `${view?.made}/${last?.kind === 'text' && last.text.length}`
  );

  const onClick = (event: React.MouseEvent) => {
    const clicked = event.target as Element;
    if (clicked.closest('.jp-codeinterp-End [aria-expanded]')) {
      stay();
    }
    const link = clicked.closest('a');
    const cellId = cellOfLink(link?.getAttribute('href') ?? '');
    if (cellId) {
      event.preventDefault();
      void store.reveal(cellId).then(found => {
        if (link && !found && store.notebooks.isShown(state.notebook)) {
          link.title = trans.__('The cell is no longer in the notebook.');
          link.dataset.gone = trans.__('deleted');
        } else if (link?.dataset.gone) {
          link.title = '';
          delete link.dataset.gone;
        }
      });
    }
  };
  const info = view?.info ?? null;
  const { known } = state;
  const lastTurn = lastTurnOf(items);
  const conversation = React.useMemo(
    () => ({ info, known, lastTurn, goTo, stay }),
    [info, known, lastTurn, goTo, stay]
  );
  const noKey = needsKey(state);
  const streams = last?.kind === 'text' && !last.done;
  return (
    <div className="jp-codeinterp-Log" ref={frame} onScroll={onScroll}>
      <div
        ref={content}
        className="jp-codeinterp-Log-content"
        role="log"
        aria-label={trans.__('Conversation')}
        aria-busy={streams}
        onClick={onClick}
      >
        {plain && (
          <div className="jp-codeinterp-Note" data-level="info" role="status">
            <span>
              {trans.__(
                'Shown as plain text: formatting this conversation did not finish last time.'
              )}
            </span>
            <Button look="link" onClick={() => setPlain(false)}>
              {trans.__('Show formatted')}
            </Button>
          </div>
        )}
        <Formatting.Provider value={formatting}>
          <Conversation.Provider value={conversation}>
            {items.map((item, index) => (
              <div
                key={item.key}
                className="jp-codeinterp-Item"
                data-kind={item.kind}
              >
                {item.kind === 'end' && <Answer item={items[index - 1]} />}
                <ItemView
                  item={item}
                  sessionId={sessionId}
                  last={item === last}
                />
              </div>
            ))}
          </Conversation.Provider>
        </Formatting.Provider>
        {view?.retrying && (
          <RetryLine key={view.seq} retrying={view.retrying} />
        )}
        {isQuiet(view) && (
          <div className="jp-codeinterp-Working" role="status">
            <span className="jp-codeinterp-StateIcon jp-mod-busy" />
            {trans.__('Working…')}
          </div>
        )}
        {showsForm(state) && <FirstRun />}
        {items.length === 0 && !noKey && <Empty demo={isDemo(state)} />}
      </div>
      {isNew && (
        <div className="jp-codeinterp-Latest">
          <Button onClick={toLatest}>{trans.__('Jump to latest')}</Button>
        </div>
      )}
    </div>
  );
}

/** The buttons for the answer before the end of a turn. */
function Answer({ item }: { item: Item | undefined }): JSX.Element | null {
  const answers = item?.kind === 'text' && item.text.trim();
  return answers ? <AnswerActions text={item.text} /> : null;
}

function lastTurnOf(items: readonly Item[]): number {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index];
    if (item.kind === 'message') {
      return item.turn;
    }
  }
  return 0;
}

/** Whether a turn is running and no item shows it. */
function isQuiet(view: ISessionView | null): boolean {
  const last = view?.items[view.items.length - 1];
  if (!view?.info.running || view.retrying || !last) {
    return false;
  }
  switch (last.kind) {
    case 'text':
      // After an answer about a draft, the turn waits for the person.
      return last.done && !isWaiting(view);
    case 'note':
      return !isWaiting(view);
    case 'thinking':
      return last.done;
    case 'card':
      return last.phase === 'done';
    case 'question':
      return last.closed;
    default:
      return true;
  }
}

/**
 * Keep the log scrolled to its end. A new `place` scrolls there in any case. A new `news` means
 * new content at the end; `isNew` reports it while the person reads further up.
 */
function useStickToEnd(
  place: string,
  news: string
): {
  frame: React.RefObject<HTMLDivElement>;
  content: React.RefObject<HTMLDivElement>;
  onScroll: () => void;
  /** Stop following the end: the person reads an opened part from its top. */
  stay: () => void;
  /** Whether there is new content at the end, out of view. */
  isNew: boolean;
  toLatest: () => void;
} {
  const frame = React.useRef<HTMLDivElement>(null);
  const content = React.useRef<HTMLDivElement>(null);
  const atEnd = React.useRef(true);
  /** The last scroll position. */
  const top = React.useRef(0);
  const [isNew, setNew] = React.useState(false);
  const toEnd = React.useCallback(() => {
    if (frame.current && atEnd.current) {
      frame.current.scrollTop = frame.current.scrollHeight;
      top.current = frame.current.scrollTop;
    }
  }, []);
  const toLatest = React.useCallback(() => {
    atEnd.current = true;
    setNew(false);
    toEnd();
  }, [toEnd]);
  React.useEffect(() => setNew(!atEnd.current), [news]);
  React.useLayoutEffect(toLatest, [place, toLatest]);
  React.useEffect(() => {
    const observer = new ResizeObserver(toEnd);
    observer.observe(content.current!);
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, [toEnd]);
  const onScroll = () => {
    const { scrollHeight, scrollTop, clientHeight } = frame.current!;
    if (scrollHeight - scrollTop - clientHeight < AT_END) {
      atEnd.current = true;
      setNew(false);
    } else if (scrollTop < top.current) {
      atEnd.current = false;
    }
    // Otherwise content was added below, and nobody has scrolled up.
    top.current = scrollTop;
  };
  const stay = React.useCallback(() => {
    atEnd.current = false;
  }, []);
  return { frame, content, onScroll, stay, isNew, toLatest };
}
