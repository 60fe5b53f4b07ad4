/**
 * Decides what Enter does with the text in the message field. The server has
 * the last word (session/messages.py): it refuses a message about a question
 * that no longer waits.
 */
import { ISessionView, currentTurn } from './view';

export interface IInputRoute {
  readonly does: 'begin' | 'queue' | 'answer';
  /** The call id of the question that the message answers; '' if none. */
  readonly about: string;
  /** The waiting draft, which the message can reject. */
  readonly draftId?: string;
}

export function routeInput(view: ISessionView | null): IInputRoute {
  if (!view?.info.running) {
    return { does: 'begin', about: '' };
  }
  for (const item of currentTurn(view)) {
    if (item.kind === 'question' && item.answer === null && !item.closed) {
      return { does: 'answer', about: item.callId };
    }
    if (item.kind === 'card' && item.phase === 'waiting' && item.draft) {
      return { does: 'queue', about: '', draftId: item.draft.draft_id };
    }
  }
  return { does: 'queue', about: '' };
}
