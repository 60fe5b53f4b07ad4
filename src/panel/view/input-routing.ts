/**
 * Decides what Enter does with the text in the message field. The server has
 * the last word (session/messages.py): it refuses a message about a question or
 * draft that no longer waits.
 */
import { ISessionView, currentTurn } from './view';

export interface IInputRoute {
  readonly does: 'begin' | 'queue' | 'answer' | 'discuss';
  /** The question's call id or the draft's nonce that the message is about; '' if none. */
  readonly about: string;
  /** The waiting draft that it is about. */
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
      const { nonce, draft_id } = item.draft;
      return { does: 'discuss', about: nonce, draftId: draft_id };
    }
  }
  return { does: 'queue', about: '' };
}
