/**
 * What Enter does now with what stands in the message field. The server decides it
 * (core/session/enter.py): it is told what the person had before them, and refuses a message
 * about what no longer waits.
 */
import { ISessionView, currentTurn } from './view';

export interface IEnter {
  readonly does: 'begin' | 'queue' | 'answer' | 'reject';
  /** The call of the question, or the nonce of the draft, that the message is about. */
  readonly about: string;
  /** The draft that it rejects. */
  readonly draftId?: string;
}

export function enter(view: ISessionView | null): IEnter {
  if (!view?.info.running) {
    return { does: 'begin', about: '' };
  }
  for (const item of currentTurn(view)) {
    if (item.kind === 'question' && item.answer === null && !item.closed) {
      return { does: 'answer', about: item.callId };
    }
    if (item.kind === 'card' && item.phase === 'waiting' && item.draft) {
      const { nonce, draft_id } = item.draft;
      return { does: 'reject', about: nonce, draftId: draft_id };
    }
  }
  return { does: 'queue', about: '' };
}
