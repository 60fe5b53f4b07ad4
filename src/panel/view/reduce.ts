/** A session's view as a pure function of its events, replayed or live. */
import type { Event, Reference, SessionInfo } from '../../protocol/protocol';
import { card, draftOpened, runStarted, toolDone } from './cards';
import {
  append,
  findBlock,
  isOfStep,
  replace,
  swap,
  unqueue,
  withInfo
} from './edit-view';
import { filesKept, reviewed, stale } from './reviewed';
import type { ICardItem, ICleared, ISessionView } from './view';

/** The view of a session before its first event. */
export function emptyView(info: SessionInfo): ISessionView {
  return {
    info,
    seq: 0,
    items: [],
    queued: [],
    filesChanged: 0,
    filesKept: null,
    made: 0,
    step: 0,
    ran: [],
    kernelId: '',
    retrying: null,
    usage: null
  };
}

/** Fields of `usage` that journals of older versions lack. */
const USAGE_DEFAULTS = {
  context_known: true,
  local: false,
  turn: null,
  models: []
};

/** The view after event number `seq`; the same view if that event is not new. */
export function reduce(
  view: ISessionView,
  seq: number,
  event: Event
): ISessionView {
  if (seq <= view.seq) {
    return view;
  }
  const settled = settle({ ...view, seq }, event);
  return apply(settled, event);
}

function apply(view: ISessionView, event: Event): ISessionView {
  switch (event.type) {
    case 'turn_started': {
      const before = { ...unqueue(view, event.queued), filesKept: null };
      const running = withInfo(before, {
        running: true,
        mode: event.mode,
        model: event.model || view.info.model
      });
      // A retried turn has no text: its message is in the view already.
      return event.text
        ? append(running, key => ({
            kind: 'message',
            key,
            turn: event.turn,
            text: event.text,
            references: referencesOf(event)
          }))
        : running;
    }
    case 'message_queued': {
      const { number, text, references } = event;
      const queued = [...view.queued, { number, text, references }];
      return { ...view, queued };
    }
    case 'message_taken_back':
      return unqueue(view, [event.number]);
    case 'messages_heard':
      return append(unqueue(view, event.numbers), key => ({
        kind: 'interjection',
        key,
        text: event.text,
        references: referencesOf(event)
      }));
    case 'step_started':
      return { ...view, step: event.step };
    case 'turn_ended':
      return endTurn(view, event);
    case 'files_kept':
      return filesKept(view, event);
    case 'turn_undone':
    case 'turn_redone':
    case 'changes_kept':
      return reviewed(view, event);

    case 'text_delta':
    case 'text_done':
      return text(view, event.block, event.text, event.type === 'text_done');
    case 'thinking_delta':
      return thinking(view, event.block, event.text);
    case 'figures_found':
      return replace(
        view,
        item =>
          item.kind === 'text' &&
          item.step === event.step &&
          item.block === event.block,
        // Journals of older versions have figures of variables, too.
        item => ({
          ...item,
          figures: event.figures.filter(one => one.origin?.output !== -1)
        })
      );
    case 'step_discarded':
      return discard(view, event.step, event.reason);
    case 'retrying':
      return { ...view, retrying: event };
    case 'usage':
      return { ...view, usage: { ...USAGE_DEFAULTS, ...event } };

    case 'tool_started':
      return event.name === 'ask_user'
        ? view
        : card(view, event.call_id, {
            tool: event.name,
            title: event.title
          });
    case 'draft_opened':
      return draftOpened(view, event);
    case 'draft_waiting':
      return card(view, event.draft.call_id, {
        draft: event.draft,
        cellId: event.draft.cell_id,
        title: event.draft.title,
        phase: 'waiting'
      });
    case 'draft_decided':
      return card(view, event.call_id, {
        phase: 'decided',
        source: event.source ?? '',
        edited: event.edited,
        comment: event.said ?? '',
        failure: ''
      });
    case 'kernel_waiting':
      return card(view, event.call_id, { phase: 'kernel' });
    case 'run_started':
      return runStarted(view, event);
    case 'tool_done':
      return toolDone(view, event);
    case 'question_asked':
      return append(view, key => ({
        kind: 'question',
        key,
        step: view.step,
        callId: event.call_id,
        question: event.question,
        options: event.options,
        answer: null,
        closed: false
      }));
    case 'question_answered':
      return replace(
        view,
        item => item.kind === 'question' && item.callId === event.call_id,
        item => ({ ...item, answer: event.answer, closed: true })
      );

    case 'note':
      return append(view, key => ({
        kind: 'note',
        key,
        level: event.level,
        text: event.text,
        kernelDied: event.kernel_died
      }));
    case 'mode_changed':
      return withInfo(view, { mode: event.mode });
    case 'model_changed':
      return withInfo(view, { model: event.model });
    case 'title_changed':
      return withInfo(view, { title: event.title });
    case 'notebook_moved':
      return withInfo(view, { notebook: event.notebook });
  }
}

/** Any other event ends a retry and the thinking block before it. */
function settle(view: ISessionView, event: Event): ISessionView {
  const retrying = event.type === 'usage' ? view.retrying : null;
  const last = view.items[view.items.length - 1];
  const goesOn = event.type === 'thinking_delta' || event.type === 'usage';
  if (last?.kind !== 'thinking' || last.done || goesOn) {
    return { ...view, retrying };
  }
  const items = [...view.items.slice(0, -1), { ...last, done: true }];
  return { ...view, retrying, items };
}

function text(
  view: ISessionView,
  block: number,
  part: string,
  done: boolean
): ISessionView {
  const index = findBlock(view, 'text', block);
  if (index < 0) {
    return append(view, key => ({
      kind: 'text',
      key,
      step: view.step,
      block,
      text: part,
      done,
      figures: []
    }));
  }
  const item = view.items[index];
  if (item.kind !== 'text') {
    return view;
  }
  const whole = done ? part : item.text + part;
  return swap(view, index, { ...item, text: whole, done });
}

function thinking(
  view: ISessionView,
  block: number,
  part: string
): ISessionView {
  const index = findBlock(view, 'thinking', block);
  const item = view.items[index];
  if (item?.kind !== 'thinking') {
    return append(view, key => ({
      kind: 'thinking',
      key,
      step: view.step,
      block,
      text: part,
      done: false
    }));
  }
  return swap(view, index, { ...item, text: item.text + part });
}

/** Remove the items of a step. The reason is '' if the end of the turn gives it. */
function discard(
  view: ISessionView,
  step: number,
  reason: string
): ISessionView {
  const items = view.items.filter(item => !isOfStep(view, item, step));
  const rest = { ...view, items };
  return reason
    ? append(rest, key => ({
        kind: 'note',
        key,
        level: 'info',
        text: reason,
        kernelDied: false
      }))
    : rest;
}

/** Fields of a turn's end that journals of older versions lack. */
const END_DEFAULTS = {
  waiting_files: 0,
  waiting: [],
  variables: false,
  overlay: false
};

/** Close all open items, and mark the newest card of each failed cell as left over. */
function endTurn(
  view: ISessionView,
  event: Extract<Event, { type: 'turn_ended' }>
): ISessionView {
  const end = { ...END_DEFAULTS, ...event };
  const overlaid = end.overlay || end.waiting_files > 0 || view.filesChanged;
  const failed = new Set(end.failed);
  let stops = end.stop_reason === 'cancelled';
  const items = [...view.items]
    .reverse()
    .map(item => {
      if (item.kind === 'text' && !item.done) {
        return { ...item, done: true };
      }
      if (item.kind === 'question' && !item.closed) {
        return { ...item, closed: true };
      }
      if (item.kind !== 'card') {
        stops = stops && item.kind !== 'message';
        return item;
      }
      // In reverse order `delete` is true only for the newest card of a cell.
      const leftover = failed.delete(item.cellId);
      const status =
        item.phase === 'done'
          ? item.status
          : item.phase === 'running'
            ? ('interrupted' as const)
            : ('not_started' as const);
      // Only the newest card can be the one that the person stopped.
      const stopped = stops && status === 'interrupted';
      stops = false;
      return item.phase === 'done' && !leftover && !stopped
        ? item
        : { ...item, phase: 'done' as const, status, leftover, stopped };
    })
    .reverse();
  const filesChanged = overlaid ? view.seq : 0;
  const ended = withInfo({ ...view, items, filesChanged }, { running: false });
  const closed = stale(ended, end);
  return append(closed, key => ({
    kind: 'end',
    key,
    end,
    cleared: cleared(view, end),
    reviewed: {},
    withoutOutputs: [],
    redoable: [],
    redone: [],
    left: {}
  }));
}

function referencesOf(event: {
  // Older journals have none.
  readonly references?: readonly Reference[];
}): readonly Reference[] {
  return event.references ?? [];
}

/** The cleared cells, with title, source and result from the last card of each. */
function cleared(
  view: ISessionView,
  end: Extract<Event, { type: 'turn_ended' }>
): readonly ICleared[] {
  const cards = new Map<string, ICardItem>();
  for (const item of view.items) {
    if (item.kind === 'card' && item.cellId) {
      cards.set(item.cellId, item);
    }
  }
  // Older journals have none.
  const cells = (end.cleared as typeof end.cleared | undefined) ?? [];
  return cells.map(({ cell_id, how }) => {
    const card = cards.get(cell_id);
    return {
      cellId: cell_id,
      how,
      title: card?.title ?? '',
      source: card?.source || card?.draft?.source || '',
      detail: card?.detail ?? ''
    };
  });
}
