import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { Mode } from '../../protocol/api';
import { type IPanelState, modeOf, needsKey } from '../store/panel-state';
import { IInputRoute, routeInput } from '../view/input-routing';
import { withoutSkills } from '../view/skills';
import { keyIn } from '../view/pasted-keys';
import type { ISessionView } from '../view/view';
import { Button } from './elements/Button';
import { earlierMessages, useEarlier } from './composer/earlier';
import { useAttaching } from './composer/attaching';
import { Chips } from './composer/Chips';
import { KeyNotice } from './composer/KeyNotice';
import { type IMention, mentionOf, typedReferences } from './composer/mentions';
import { useMentions } from './composer/named';
import { useOffers } from './composer/offers';
import { type Chosen, PlaceSelect, afterOf } from './composer/PlaceSelect';
import { IWord, commandIn } from './composer/word';
import { type ISlashCommand, usePanel } from './elements/context';
import { Gauge } from './elements/Usage';

/**
 * The message field. Enter sends, Shift+Enter begins a new line. A key press renders this
 * component only: the parts around the field are memoized.
 */
export function Composer(props: {
  view: ISessionView | null;
  state: IPanelState;
}): JSX.Element {
  const { view, state } = props;
  const { store, slash, trans } = usePanel();
  const { notebook, prefill } = state;
  const [text, setText] = React.useState(() => store.texts.get(notebook));
  /** Where the cells of the next message go. */
  const [chosen, setChosen] = React.useState<Chosen>(null);
  const { mentions, add, remove, clear } = useMentions(notebook);
  const [shownFor, setShownFor] = React.useState(notebook);
  if (shownFor !== notebook) {
    setShownFor(notebook);
    const kept = store.texts.get(notebook);
    // Text written without a notebook, or while the page loaded, moves to this notebook.
    setText(shownFor ? kept : kept || text);
    setChosen(null);
  }
  React.useEffect(
    () => store.texts.set(notebook, text),
    [store, notebook, text]
  );
  const written = React.useRef(text);
  written.current = text;
  React.useEffect(() => {
    // The text has moved to the notebook.
    if (notebook && store.texts.get('') === written.current) {
      store.texts.set('', '');
    }
    return store.texts.flush;
  }, [store, notebook]);
  const field = React.useRef<HTMLTextAreaElement>(null);
  const running = view?.info.running ?? false;
  const offered = routeInput(view);
  // A message that joins a turn, or in Plan, gets no place for new cells.
  const places = offered.does === 'begin' && modeOf(state) !== 'plan';
  const connected = state.connection === 'connected';
  /** Whether Enter was pressed before the page was connected. */
  const [early, setEarly] = React.useState(false);
  React.useEffect(() => setEarly(false), [connected]);
  const words = wordsFor(offered.does, trans);
  const ids = React.useId();
  const hint = `${ids}hint`;
  const canSend = !state.sending && connected && text.trim() !== '';

  const prefilled = React.useRef<IPanelState['prefill']>(null);
  React.useLayoutEffect(() => fitHeight(field.current!), [text]);
  React.useEffect(() => {
    const its = prefill?.notebook ?? notebook;
    if (prefill && prefill !== prefilled.current && its === notebook) {
      const before = prefilled.current?.text ?? '';
      prefilled.current = prefill;
      // Keep what the person has begun to write.
      setText(now =>
        [before, prefill.text].includes(now)
          ? prefill.text
          : `${now}\n${prefill.text}`.trim()
      );
      const outline = store.notebooks.outline(notebook);
      for (const reference of withoutSkills(prefill.references ?? [])) {
        add(mentionOf(reference, outline, trans), notebook);
      }
      field.current?.focus();
    }
  }, [prefill, notebook, add, store, trans]);

  const pasted = React.useMemo(() => keyIn(text), [text]);
  const notice = React.useRef<HTMLDivElement>(null);
  const send = async (withKey = false) => {
    const said = offers.literal ? null : commandIn(text, slash);
    if (said) {
      return run(said.command, said.rest);
    }
    if (!canSend) {
      return setEarly(!connected);
    }
    if (pasted && !withKey) {
      notice.current?.querySelector('button')?.focus();
      return;
    }
    const known = mentions.map(({ key }) => key);
    const references = [
      ...mentions.map(({ reference }) => reference),
      ...(await typedReferences(text, notebook, { store, trans, known }))
    ];
    const ids = store.notebooks.places(notebook)?.ids ?? [];
    const after = places ? afterOf(chosen, ids) : '';
    const sent = await store.conversation.send(text, offered, {
      references,
      after,
      withKey,
      literal: offers.literal
    });
    if (sent) {
      empty();
    }
  };
  /** Empty the field, unless the person has gone on writing. */
  const empty = () => {
    setText(shown => (shown === text ? '' : shown));
    clear(notebook);
    setChosen(null);
    store.texts.set(notebook, '');
  };
  const reject = async (draftId: string) => {
    if (await store.drafts.decide(draftId, 'reject', false, text)) {
      empty();
    }
  };
  const run = async (command: ISlashCommand, rest: string) => {
    setText(rest);
    store.dismissFailure();
    await store.state.attempt(async () => command.execute());
  };

  const [caret, setCaret] = React.useState(text.length);
  const unname = React.useCallback(
    (mention: IMention) => {
      remove(mention, notebook);
      field.current?.focus();
    },
    [remove, notebook]
  );
  const attaching = useAttaching(notebook, add);
  const name = (mention: IMention, { start }: IWord) => {
    const before = text.slice(0, start) + mention.text;
    const after = text.slice(caret);
    setText(before + (/^\s/.test(after) ? after : ` ${after}`));
    goTo.current = before.length + 1;
    add(mention, notebook);
  };
  /** The caret's index after the text changes; -1: it stays. */
  const goTo = React.useRef(-1);
  React.useLayoutEffect(() => {
    if (goTo.current >= 0) {
      field.current!.setSelectionRange(goTo.current, goTo.current);
      setCaret(goTo.current);
      goTo.current = -1;
    }
  }, [text]);
  const offers = useOffers({
    notebook,
    text,
    caret,
    setCaret,
    run: command => void run(command, ''),
    call: called => {
      const call = `/${called} `;
      setText(call);
      goTo.current = call.length;
    },
    name,
    mentioned: mentions
      .filter(({ reference }) => reference.kind === 'variable')
      .map(({ reference }) => reference.name)
  });
  const earlier = useEarlier(
    () => earlierMessages(store.state.now),
    text,
    setText
  );
  const onKeyDown = (event: React.KeyboardEvent<HTMLTextAreaElement>) => {
    // An input method handles the keys while it composes.
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (offers.onKey(event) || earlier.onKey(event)) {
      return;
    }
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      void send();
    }
  };
  const hintOf = () =>
    early
      ? trans.__('Not connected yet. Your message stays here.')
      : !pasted && needsKey(state)
        ? trans.__('Connect a model to send this. Your message stays here.')
        : running && words.hint;
  return (
    <div className="jp-codeinterp-Composer" {...attaching.handlers}>
      {offers.list}
      <textarea
        ref={field}
        rows={1}
        {...offers.field}
        data-earlier={earlier.shown || undefined}
        aria-label={trans.__('Message')}
        aria-describedby={hint}
        placeholder={words.field}
        value={text}
        onChange={event => {
          setText(event.target.value);
          setCaret(event.target.selectionStart);
        }}
        onKeyDown={onKeyDown}
      />
      {pasted && (
        <KeyNotice
          found={pasted}
          frame={notice}
          takeOut={() => setText(text.replace(pasted.key, '').trim())}
          sendAnyway={() => void send(true)}
        />
      )}
      <Chips mentions={mentions} remove={unname} />
      <div id={hint} className="jp-codeinterp-Composer-hint" aria-live="polite">
        {attaching.doing || (text.trim() !== '' && hintOf())}
      </div>
      {offered.draftId && text.trim() !== '' && (
        <div className="jp-codeinterp-Composer-hint jp-codeinterp-Composer-reject">
          <Button look="link" onClick={() => void reject(offered.draftId!)}>
            {trans.__('Reject with this reason')}
          </Button>
        </div>
      )}
      <div className="jp-codeinterp-Composer-line">
        {attaching.button}
        <ModeSelect view={view} state={state} />
        {places && (
          <PlaceSelect
            view={view}
            state={state}
            chosen={chosen}
            choose={setChosen}
          />
        )}
        <Gauge view={view} />
        {running && <Stop />}
        {(!running || text.trim() !== '') && (
          <Button
            look="icon"
            aria-label={words.button}
            title={trans.__('%1 (Enter)', words.button)}
            disabled={!canSend}
            onClick={() => void send()}
          >
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <path d="M8 13V3.5M3.8 7.6L8 3.4l4.2 4.2" />
            </svg>
          </Button>
        )}
      </div>
    </div>
  );
}

export function Stop(): JSX.Element {
  const { store, trans } = usePanel();
  return (
    <Button
      look="icon"
      aria-label={trans.__('Stop')}
      title={trans.__('Stop')}
      onClick={() => void store.conversation.stop()}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <rect x="4" y="4" width="8" height="8" rx="1" />
      </svg>
    </Button>
  );
}

/** What Enter does, in words: in the empty field, under the text, and on the button. */
function wordsFor(
  does: IInputRoute['does'],
  trans: TranslationBundle
): { field: string; hint: string; button: string } {
  return {
    begin: {
      field: trans.__('Ask about this notebook'),
      hint: '',
      button: trans.__('Send')
    },
    queue: {
      field: trans.__('Add to your request'),
      hint: trans.__(
        'Enter queues this message. The model gets it with the next results.'
      ),
      button: trans.__('Queue')
    },
    answer: {
      field: trans.__('Answer the question'),
      hint: trans.__('Enter answers the question'),
      button: trans.__('Answer the question')
    }
  }[does];
}

/** Fit the height to the text in browsers without `field-sizing`; CSS limits it. */
function fitHeight(field: HTMLTextAreaElement): void {
  if (globalThis.CSS?.supports?.('field-sizing', 'content')) {
    return;
  }
  field.style.height = 'auto';
  field.style.height = `${field.scrollHeight}px`;
}

/** From the most careful to the freest. */
const MODES: readonly Mode[] = ['plan', 'review', 'auto'];

const ModeSelect = React.memo(function ModeSelect(props: {
  view: ISessionView | null;
  state: IPanelState;
}): JSX.Element {
  const { store, trans } = usePanel();
  const { status } = props.state;
  const highest = MODES.indexOf(status?.highest_mode ?? 'auto');
  const chosen = modeOf(props.state);
  const mode = props.view
    ? chosen
    : MODES[Math.min(MODES.indexOf(chosen), highest)];
  return (
    <select
      className="jp-codeinterp-Select"
      aria-label={trans.__('Permission mode')}
      title={meaning(mode, trans)}
      value={mode}
      onChange={event => store.conversation.setMode(event.target.value as Mode)}
    >
      {(['review', 'auto', 'plan'] as const).map(one => (
        <option
          key={one}
          value={one}
          title={
            MODES.indexOf(one) > highest
              ? trans.__('Not allowed on this server')
              : meaning(one, trans)
          }
          disabled={MODES.indexOf(one) > highest}
        >
          {
            {
              review: trans.__('Review'),
              auto: trans.__('Auto'),
              plan: trans.__('Plan')
            }[one]
          }
        </option>
      ))}
    </select>
  );
});

function meaning(mode: Mode, trans: TranslationBundle): string {
  return {
    review: trans.__(
      'Review: code waits for your approval; plain text is added without asking'
    ),
    auto: trans.__(
      'Auto: cells run without asking; changing or deleting your own cells still asks'
    ),
    plan: trans.__('Plan: reads and proposes; runs and changes nothing')
  }[mode];
}
