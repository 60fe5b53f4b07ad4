/** The person's settings, as far as the server lets them count. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { person } from '../../notebook/review/press';
import { followSettings } from '../../plugins/settings';
import { makeStore, settled } from '../panel/panel-fakes';

afterEach(() => jest.restoreAllMocks());

it.each([
  // the person's setting, the admin's, whether they count
  [false, true, false],
  [true, false, false],
  [true, true, true]
])(
  'clicks of browser extensions: wanted %s, allowed %s, count %s',
  async (wanted, allowed, count) => {
    const counts = jest.spyOn(person, 'anyClicks');
    const { api, store } = makeStore();
    api.current = { ...api.current, untrusted_clicks: allowed };
    await settled();
    store.state.patch({ status: null });
    const composite = (name: string) => name === 'anyClicks' && wanted;
    const settings = {
      changed: new Signal<object, void>({}),
      get: (name: string) => ({ composite: composite(name) })
    };
    const registry = { load: async () => settings };
    await followSettings(
      registry as unknown as ISettingRegistry,
      'id',
      store,
      nullTranslator.load(''),
      null
    );
    // The server's status is not known yet.
    expect(counts).toHaveBeenLastCalledWith(false);
    await store.setup.refresh();
    await settled();
    expect(counts).toHaveBeenLastCalledWith(count);

    jest.spyOn(person, 'acts').mockReturnValue(false);
    store.state.byPerson();
    const words = 'Your admin does not allow browser extensions';
    expect(store.state.now.failure.includes(words)).toBe(!allowed);
  }
);
