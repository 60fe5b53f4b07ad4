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
const WAITS: Record<string, Event[]> = {
  question: [asks],
  draft: [opened, offers]
};

it.each(CASES.filter(({ about, asked }) => about in asked || !about))(
  'offers what the server does: $case',
  ({ running, asked, about, does }) => {
    const waits = Object.values(asked as Record<string, string>).flatMap(
      kind => WAITS[kind]
    );
    const shown = running ? viewOf(started, ...waits) : null;
    const view = shown && {
      ...shown,
      info: { ...shown.info, running }
    };
    const offered = routeInput(view);
    // The newest that waits is offered, so nothing else is where it was seen.
    const seen = Object.keys(asked).pop() ?? '';
    expect(offered.about).toBe(seen);
    if (seen === about) {
      expect(offered.does).toBe(does);
    }
  }
);

it.each([
  ['a draft that is being written', [opened], 'queue'],
  ['a draft that is decided', [opened, offers, decided], 'queue'],
  ['a question that is answered', [asks, answered], 'queue'],
  ['a turn that is over', [opened, offers, ended()], 'begin']
] as [string, Event[], string][])('%s takes no words', (_, events, does) => {
  expect(routeInput(viewOf(started, ...events))).toEqual({ does, about: '' });
});
