import { Notification } from '@jupyterlab/apputils';
import { Away, MARK } from '../../panel/away';
import { askForSystem } from '../../panel/system';
import type { TurnEnded } from '../../protocol/protocol';
import { ended, makeStore, settled, started, trans } from './panel-fakes';

let visibility: DocumentVisibilityState = 'visible';
Object.defineProperty(document, 'visibilityState', { get: () => visibility });

function see(state: DocumentVisibilityState): void {
  visibility = state;
  document.dispatchEvent(new Event('visibilitychange'));
}

class SystemNotification {
  static permission: NotificationPermission = 'default';
  static asked = 0;
  static shown: { title: string; body?: string }[] = [];
  static async requestPermission() {
    this.asked += 1;
    return this.permission;
  }
  onclick: (() => void) | null = null;
  constructor(title: string, { body }: { body?: string }) {
    SystemNotification.shown.push({ title, body });
  }
}

/** A conversation that the panel shows; its turn is running. */
async function running(panelShown = true) {
  const made = makeStore();
  const shown: string[] = [];
  new Away({
    store: made.store,
    trans,
    show: async notebook => void shown.push(notebook)
  });
  made.store.state.patch({ panelShown });
  made.client.session({ running: true });
  made.store.openSession('s1');
  made.client.play('s1', started);
  await settled();
  const end = async (change: Partial<TurnEnded> = {}) => {
    made.client.play('s1', ended(change));
    made.client.session({ running: false }, [], ended(change).stop_reason);
    await settled();
  };
  return { ...made, shown, end };
}

function told(): string[] {
  return Notification.manager.notifications.map(({ message }) => message);
}

beforeEach(() => {
  visibility = 'visible';
  document.title = 'sales - Lab';
  SystemNotification.permission = 'granted';
  SystemNotification.asked = 0;
  SystemNotification.shown = [];
  Object.assign(window, { Notification: SystemNotification });
  Notification.dismiss();
});

describe('a turn that ends', () => {
  it('in view is told nowhere else', async () => {
    const { end, store } = await running();
    await end();
    expect(told()).toEqual([]);
    expect(store.state.now.unseen).toEqual([]);
    expect(document.title).toBe('sales - Lab');
  });

  it('while the panel is closed marks its tab until it is opened', async () => {
    const { end, store } = await running(false);
    await end();
    expect(told()).toEqual(['The turn in sales.ipynb has ended']);
    expect(store.state.now.unseen).toEqual(['s1']);
    expect(document.title).toBe('sales - Lab');
    store.state.patch({ panelShown: true });
    await settled();
    expect(told()).toEqual([]);
    expect(store.state.now.unseen).toEqual([]);
  });

  it('while the page is hidden marks its title, also one that Lab changes', async () => {
    const { end } = await running();
    see('hidden');
    await end({ stop_reason: 'error', message: 'df["secret"] is not there' });
    expect(told()).toEqual(['The turn in sales.ipynb was stopped']);
    expect(document.title).toBe(`${MARK}sales - Lab`);
    document.title = 'other - Lab';
    await settled();
    expect(document.title).toBe(`${MARK}other - Lab`);
    see('visible');
    expect(document.title).toBe('other - Lab');
    expect(told()).toEqual([]);
  });

  it('is shown from its notification', async () => {
    const { end, shown } = await running(false);
    await end();
    const [{ options }] = Notification.manager.notifications;
    options.actions![0].callback(new MouseEvent('click'));
    expect(shown).toEqual(['sales.ipynb']);
  });

  it('is a matter of the system only if the person wants that, without a word of the notebook', async () => {
    const { end, store } = await running();
    see('hidden');
    await end();
    expect(SystemNotification.shown).toEqual([]);
    store.state.patch({ systemNotifications: true });
    store.state.patch({ unseen: [] });
    const again = await running();
    again.store.state.patch({ systemNotifications: true });
    see('hidden');
    await again.end({ message: 'df["secret"]' });
    expect(SystemNotification.shown).toEqual([
      { title: 'Code Interpreter', body: 'A turn has ended.' }
    ]);
  });

  it('had ended before this window heard of it: nothing is said', async () => {
    const made = makeStore();
    new Away({ store: made.store, trans, show: async () => undefined });
    made.client.session({ running: false });
    made.store.openSession('s1');
    made.client.play('s1', started, ended());
    await settled();
    expect(told()).toEqual([]);
  });

  it('is told without its events', async () => {
    const { client } = await running(false);
    client.session({ running: false }, [], 'end_turn');
    expect(told()).toEqual(['The turn in sales.ipynb has ended']);
  });
});

it.each([
  ['default', 1],
  ['granted', 0],
  ['denied', 0]
] as const)('asks the browser only once (%s)', async (permission, asked) => {
  SystemNotification.permission = permission;
  expect(await askForSystem()).toBe(permission === 'granted');
  expect(SystemNotification.asked).toBe(asked);
});
