/** The person's skills behind the slash. */
import {
  act,
  cleanup,
  fireEvent,
  render,
  screen
} from '@testing-library/react';
import React from 'react';
import { PanelContext } from '../../../panel/components/elements/context';
import { Panel } from '../../../panel/components/Panel';
import { called, calledIn, withoutSkills } from '../../../panel/view/skills';
import type { ISkill } from '../../../protocol/api';
import type { Event } from '../../../protocol/protocol';
import {
  ended,
  makeStore,
  settled,
  started,
  surroundings
} from '../panel-fakes';

const review: ISkill = {
  name: 'review',
  path: '.codeinterp/skills/review/SKILL.md',
  description: 'Review a table',
  trouble: ''
};
const broken: ISkill = {
  ...review,
  name: 'retired',
  path: '.codeinterp/skills/retired/SKILL.md',
  description: '',
  trouble: 'Not used: rename it.'
};
const fix: ISkill = {
  ...review,
  name: 'fix',
  path: '.codeinterp/skills/fix/SKILL.md'
};

const field = () =>
  document.querySelector<HTMLTextAreaElement>(
    '.jp-codeinterp-Composer textarea'
  )!;
const options = () =>
  [
    ...document.querySelectorAll('.jp-codeinterp-Suggestions [role="option"]')
  ].map(option => option.textContent);

function write(text: string): void {
  fireEvent.change(field(), { target: { value: text } });
  field().setSelectionRange(text.length, text.length);
  fireEvent.select(field());
}

const press = (key: string) =>
  act(async () => {
    fireEvent.keyDown(field(), { key });
    await settled();
  });

async function shown() {
  const made = makeStore();
  made.api.listed_skills = [fix, broken, review];
  const done: string[] = [];
  const slash = [
    {
      name: 'fix',
      caption: 'Fix the failed cell',
      execute: () => void done.push('fix')
    }
  ];
  render(
    <PanelContext.Provider value={surroundings(made.store, { slash })}>
      <Panel />
    </PanelContext.Provider>
  );
  await act(settled);
  act(() => field().focus());
  return { ...made, done };
}

afterEach(() => {
  cleanup();
  localStorage.clear();
});

it('are listed after ours, with what they do, their file and what is wrong with it', async () => {
  await shown();
  write('/');
  await act(settled);
  expect(options()).toEqual([
    '/fixFix the failed cell',
    '/fixNot used: /fix is a built-in command. · .codeinterp/skills/fix/SKILL.md',
    '/retiredNot used: rename it. · .codeinterp/skills/retired/SKILL.md',
    '/reviewReview a table · .codeinterp/skills/review/SKILL.md'
  ]);
  write('/rev');
  expect(options()).toHaveLength(1);
});

it('are written out when chosen, and sent as they were written', async () => {
  const { client } = await shown();
  write('/rev');
  await act(settled);
  await press('Enter');
  expect(field().value).toBe('/review ');
  expect(client.ofType('send_message')).toEqual([]);
  write('/review sales');
  await press('Enter');
  expect(client.ofType('send_message')[0]).toMatchObject({
    text: '/review sales',
    references: [{ kind: 'skill', name: 'review' }]
  });
});

it('are not sent where their file has a defect, and the reason is shown', async () => {
  const { client } = await shown();
  write('/retired now');
  await press('Enter');
  expect(client.ofType('send_message')).toEqual([]);
  expect(field().value).toBe('/retired now');
  expect(screen.getByText(/rename it/)).toBeTruthy();
});

it('give way to a built-in command', async () => {
  const { client, done } = await shown();
  write('/fix it');
  await press('Enter');
  expect(done).toEqual(['fix']);
  expect(client.ofType('send_message')).toEqual([]);
});

it('are text where the person closed the list with Escape', async () => {
  const { client } = await shown();
  write('/review');
  await act(settled);
  await press('Escape');
  await press('Enter');
  expect(client.ofType('send_message')[0]).toMatchObject({
    text: '/review',
    references: []
  });
});

it.each([
  ['/review', []],
  ['/review all', []],
  ['/review costs', [{ kind: 'skill', name: 'review' }]]
])('stay text when %s is asked again', async (text, references) => {
  const { client, store } = await shown();
  const asked = text === '/review costs' ? references : [];
  await act(async () => {
    await store.conversation.send('/review', undefined, { literal: true });
    client.session({});
    client.play(
      's1',
      { ...started, text: '/review', references: asked } as Event,
      ended()
    );
    await settled();
  });
  if (text === '/review') {
    fireEvent.click(screen.getByRole('button', { name: 'Ask again' }));
  } else {
    fireEvent.click(screen.getByRole('button', { name: 'Edit' }));
    await act(settled);
    const edited = screen.getByRole('textbox', { name: 'Your message' });
    fireEvent.change(edited, { target: { value: text } });
    fireEvent.keyDown(edited, { key: 'Enter' });
  }
  await act(settled);
  expect(client.ofType('branch')[0]).toMatchObject({ text, references });
  expect(client.ofType('branch')[0]).not.toHaveProperty('literal');
});

it('are called by an edited message as by a new one', async () => {
  const { client, store } = await shown();
  await act(async () => {
    await store.conversation.send('Review');
    client.session({});
    client.play('s1', { ...started, text: 'Review' } as Event, ended());
    await settled();
    await store.conversation.branch({
      turn: 1,
      text: '/review costs',
      references: [],
      undo: false
    });
  });
  expect(client.ofType('branch')[0].references).toEqual([
    { kind: 'skill', name: 'review' }
  ]);
});

it('are known again when a sent message is edited or queued', async () => {
  const list = async () => ({ skills: [review] });
  const before = [
    { kind: 'command', name: 'review sales' },
    { kind: 'variable', name: 'df' }
  ] as const;
  expect(withoutSkills(before)).toEqual([before[1]]);
  expect(await called('/review costs', list)).toEqual([
    { kind: 'skill', name: 'review' }
  ]);
  expect(await called('/other costs', list)).toEqual([]);
  expect(calledIn(' /review\nx')).toBe('review');
  expect(calledIn('/tmp/x.csv')).toBe('');
});
