import { routeInput } from '../../../panel/view/input-routing';
import type { Event } from '../../../protocol/protocol';
import { decided, draft, ended, opened, started, viewOf } from '../panel-fakes';
// The server's cases: what is offered here is what is done there.
import CASES from '../../../../tests/enter_cases.json';

const asks: Event = {
  type: 'question_asked',
  call_id: 'q',
  question: 'Euros?',
  options: []
};
const answered: Event = {
  type: 'question_answered',
  call_id: 'q',
  answer: 'Yes',
  window: 1
};
const offers: Event = { type: 'draft_waiting', draft: draft({ nonce: 'd' }) };

it.each(
  CASES.filter(({ about, questions }) => !about || questions.includes(about))
)(
  'offers what the server does: $case',
  ({ running, questions, about, does }) => {
    const shown = running
      ? viewOf(started, ...questions.map(() => asks))
      : null;
    const view = shown && { ...shown, info: { ...shown.info, running } };
    const offered = routeInput(view);
    // The question is offered, so nothing else is where it was seen.
    const seen = questions[0] ?? '';
    expect(offered.about).toBe(seen);
    if (seen === about) {
      expect(offered.does).toBe(does);
    }
  }
);

it('can reject a draft that waits, with what is written', () => {
  const view = viewOf(started, opened, offers);
  expect(routeInput(view)).toEqual({
    does: 'queue',
    about: '',
    draftId: 'd1'
  });
});

it.each([
  ['a draft that is being written', [opened], 'queue'],
  ['a draft that is decided', [opened, offers, decided], 'queue'],
  ['a question that is answered', [asks, answered], 'queue'],
  ['a turn that is over', [opened, offers, ended()], 'begin']
] as [string, Event[], string][])('%s takes no words', (_, events, does) => {
  expect(routeInput(viewOf(started, ...events))).toEqual({ does, about: '' });
});
