/** Reduces the events of a tool call to its card. */
import type {
  Draft,
  DraftOpened,
  Finding,
  Observation,
  RunStarted,
  ToolDone
} from '../../protocol/protocol';
import { append, replace } from './edit-view';
import type { ICardItem, ISessionView, Item } from './view';

/** Create or change the card of a call. An empty title never replaces one. */
export function card(
  view: ISessionView,
  callId: string,
  change: Partial<ICardItem>
): ISessionView {
  const isIt = (item: Item) => item.kind === 'card' && item.callId === callId;
  const known = view.items.some(isIt)
    ? view
    : append(view, key => ({ ...NEW_CARD, key, step: view.step, callId }));
  return replace(known, isIt, item => ({
    ...item,
    ...change,
    title: change.title || (item as ICardItem).title
  }));
}

export function draftOpened(
  view: ISessionView,
  event: DraftOpened
): ISessionView {
  const { type: _, ...draft } = event;
  return card(view, event.call_id, {
    draft: { ...NO_DRAFT, ...draft },
    cellId: event.cell_id,
    title: event.title
  });
}

export function runStarted(
  view: ISessionView,
  event: RunStarted
): ISessionView {
  const others = view.ran.filter(cellId => cellId !== event.cell_id);
  const ran = event.cell_id ? [...others, event.cell_id] : others;
  const known = { ...view, ran, kernelId: event.kernel_id };
  return card(known, event.call_id, {
    phase: 'running',
    cellId: event.cell_id
  });
}

export function toolDone(view: ISessionView, event: ToolDone): ISessionView {
  if (event.name === 'ask_user') {
    return replace(
      view,
      item => item.kind === 'question' && item.callId === event.call_id,
      item => ({ ...item, closed: true })
    );
  }
  const withFixes = event.fixed
    ? replace(
        view,
        item =>
          item.kind === 'card' &&
          item.cellId === event.cell_id &&
          item.status === 'error',
        item => ({ ...item, fixed: true })
      )
    : view;
  return card(withFixes, event.call_id, {
    tool: event.name,
    title: event.title,
    phase: 'done',
    status: event.status,
    ...(event.cell_id ? { cellId: event.cell_id } : {}),
    elapsed: event.elapsed,
    summary: event.summary,
    detail: event.detail,
    // Older journals have none.
    findings: (event.findings as Finding[] | undefined) ?? [],
    sandbox: (event.sandbox as Observation[] | undefined) ?? [],
    failure: ''
  });
}

/** The result without its status line, which is for the model: people see an icon. */
export function withoutStatus(detail: string): string {
  return detail.replace(/^status=.*\n?/, '');
}

const NO_DRAFT: Draft = {
  draft_id: '',
  call_id: '',
  kind: 'insert',
  cell_id: '',
  title: '',
  source: '',
  nonce: '',
  old_source: '',
  notices: [],
  can_run_all: false,
  runs: true,
  always: false,
  words: ''
};

const NEW_CARD: Omit<ICardItem, 'key' | 'step' | 'callId'> = {
  kind: 'card',
  tool: '',
  title: '',
  phase: 'writing',
  status: null,
  draft: null,
  cellId: '',
  source: '',
  edited: false,
  elapsed: 0,
  summary: '',
  detail: '',
  findings: [],
  sandbox: [],
  fixed: false,
  leftover: false,
  stopped: false,
  comment: '',
  failure: ''
};
