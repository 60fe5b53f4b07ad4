import { nullTranslator } from '@jupyterlab/translation';
import { cleanup, render, screen } from '@testing-library/react';
import React from 'react';
import { PanelContext } from '../../../panel/components/elements/context';
import {
  Observations,
  wordsOf
} from '../../../panel/components/findings/Observations';
import type { Observation } from '../../../protocol/protocol';
import { makeStore, surroundings } from '../panel-fakes';

afterEach(cleanup);

const trans = nullTranslator.load('jupyterlab');
const hosts = ['a.org:443', 'b.org:80', '<b>c.org:80'];
const TABLE: [Observation, string][] = [
  // Older journals name the limit.
  [{ kind: 'held', names: ['No network.'], more: 0, limit: '' }, 'No network.'],
  [{ kind: 'held', names: [], more: 0, limit: 'Kein Netz.' }, 'Kein Netz.'],
  [
    { kind: 'refused', names: ['a.org:443'], more: 0, limit: '' },
    'connection refused: a.org:443'
  ],
  [
    { kind: 'refused', names: ['a.org:443', 'b.org:80'], more: 0, limit: '' },
    '2 connections refused: a.org:443, b.org:80'
  ],
  [
    { kind: 'connected', names: ['a.org:443'], more: 0, limit: '' },
    'connected to a.org:443'
  ],
  [
    { kind: 'connected', names: hosts, more: 4, limit: '' },
    'connected to a.org:443, b.org:80, …'
  ],
  [{ kind: 'lost', names: [], more: 0, limit: '' }, 'made more connections']
];

it.each(TABLE)('says what a run did: %j', (deed, words) => {
  expect(wordsOf(deed, trans)).toBe(words);
});

it('shows names as text', () => {
  const { store } = makeStore();
  render(
    <PanelContext.Provider value={surroundings(store)}>
      <Observations
        seen={[{ kind: 'connected', names: ['<b>c.org'], more: 0, limit: '' }]}
      />
    </PanelContext.Provider>
  );
  expect(screen.getByRole('note').textContent).toBe('connected to <b>c.org');
});
