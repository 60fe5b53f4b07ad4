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
import type { Event } from '../../../protocol/protocol';
import {
  ended,
  makeStore,
  settled,
  started,
  surroundings
} from '../panel-fakes';

/** The part that throws when it is drawn. */
let broken = '';

/** The real component, which throws while it is the broken part. */
function breakable(part: string, module: Record<string, unknown>): object {
  const Real = module[part] as React.ComponentType;
  const Breakable = (props: object) => {
    if (broken === part) {
      throw new Error('planted');
    }
    return <Real {...props} />;
  };
  return { ...module, [part]: Breakable };
}

jest.mock('../../../panel/components/Header', () =>
  breakable('Header', jest.requireActual('../../../panel/components/Header'))
);
jest.mock('../../../panel/components/conversation/Log', () =>
  breakable(
    'Log',
    jest.requireActual('../../../panel/components/conversation/Log')
  )
);
jest.mock('../../../panel/components/StatusBanners', () =>
  breakable(
    'StatusBanners',
    jest.requireActual('../../../panel/components/StatusBanners')
  )
);
jest.mock('../../../panel/components/files/WaitingFiles', () =>
  breakable(
    'WaitingFiles',
    jest.requireActual('../../../panel/components/files/WaitingFiles')
  )
);
jest.mock('../../../panel/components/Queue', () =>
  breakable('Queue', jest.requireActual('../../../panel/components/Queue'))
);
jest.mock('../../../panel/components/Composer', () =>
  breakable(
    'Composer',
    jest.requireActual('../../../panel/components/Composer')
  )
);

/** An element of each part. */
const PARTS: Readonly<Record<string, () => HTMLElement | null>> = {
  Header: () => screen.queryByRole('button', { name: 'New conversation' }),
  Log: () => screen.queryByRole('log', { name: 'Conversation' }),
  StatusBanners: () => screen.queryByText('Planted failure.'),
  WaitingFiles: () => screen.queryByText(/not in your folder yet/),
  Queue: () => screen.queryByText(/And then this/),
  Composer: () => screen.queryByRole('textbox')
};

let logged: jest.SpyInstance;

beforeEach(() => {
  logged = jest.spyOn(console, 'error').mockImplementation();
});

afterEach(() => {
  logged.mockRestore();
  cleanup();
});

/** The panel in a turn, with a waiting file and a queued message. */
async function shown(): Promise<ReturnType<typeof makeStore>> {
  const made = makeStore();
  made.api.waiting = [
    {
      path: 'new.csv',
      kind: 'added',
      size: 1,
      folder: false,
      why: '',
      stamp: 'one'
    }
  ];
  render(
    <PanelContext.Provider value={surroundings(made.store)}>
      <Panel />
    </PanelContext.Provider>
  );
  made.client.session({ running: true });
  made.store.openSession('s1');
  await act(async () => {
    const queued = {
      type: 'message_queued',
      number: 1,
      text: 'And then this',
      references: [],
      window: 1
    } as Event;
    made.client.play(
      's1',
      started,
      ended({ waiting_files: 1 }),
      { ...started, turn: 2 } as Event,
      queued
    );
    made.store.state.patch({ failure: 'Planted failure.' });
    await settled();
  });
  return made;
}

it.each(['', ...Object.keys(PARTS)])(
  'a fault in the part %j leaves all others, and Stop stops the turn',
  async part => {
    broken = part;
    const { client } = await shown();
    const missing = Object.keys(PARTS).filter(name => !PARTS[name]());
    expect(missing).toEqual(part ? [part] : []);
    expect(screen.queryAllByText(/Couldn’t show this part/)).toHaveLength(
      part ? 1 : 0
    );
    fireEvent.click(screen.getByRole('button', { name: 'Stop' }));
    await act(settled);
    expect(client.ofType('cancel')).toHaveLength(1);
  }
);
