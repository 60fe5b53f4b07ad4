/** The switch for completions: it writes JupyterLab's setting, and keeps other providers. */
import {
  act,
  cleanup,
  fireEvent,
  render,
  screen
} from '@testing-library/react';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { Signal } from '@lumino/signaling';
import React from 'react';
import { person } from '../../../notebook/review/press';
import { CompletionSwitch } from '../../../panel/components/connections/CompletionSwitch';
import { PanelContext } from '../../../panel/components/elements/context';
import { makeStore, settled, surroundings } from '../panel-fakes';

afterEach(() => {
  cleanup();
  jest.restoreAllMocks();
});

const OURS = 'jupyter-codeinterp:completions';

class Settings {
  providers: Record<string, unknown> = { theirs: { enabled: true } };
  readonly changed = new Signal<this, void>(this);

  get(): object {
    const ours = { enabled: false, model: '', ...(this.providers[OURS] ?? {}) };
    return {
      user: this.providers,
      composite: { ...this.providers, [OURS]: ours }
    };
  }

  async set(_: string, value: Record<string, unknown>): Promise<void> {
    this.providers = value;
    this.changed.emit();
  }
}

async function shown(changed: object = {}): Promise<Settings> {
  const { store } = makeStore();
  await settled();
  const settings = new Settings();
  const registry = { load: async () => settings };
  const state = {
    ...store.state.now,
    status: { ...store.state.now.status!, ...changed }
  };
  render(
    <PanelContext.Provider
      value={surroundings(store, {
        settings: registry as unknown as ISettingRegistry
      })}
    >
      <CompletionSwitch state={state} />
    </PanelContext.Provider>
  );
  await act(settled);
  return settings;
}

async function press(name: string): Promise<void> {
  fireEvent.click(screen.getByRole('button', { name }));
  await act(settled);
}

it('turns completions on and off again', async () => {
  const settings = await shown();
  screen.getByText(/sends the code near the cursor to claude-sonnet-5-5/);
  await press('Turn on completions');
  expect(settings.providers).toEqual({
    theirs: { enabled: true },
    [OURS]: { enabled: true }
  });
  await press('Turn off completions');
  expect(settings.providers[OURS]).toEqual({ enabled: false });
});

it('does nothing for a script', async () => {
  const settings = await shown();
  jest.spyOn(person, 'acts').mockReturnValue(false);
  await press('Turn on completions');
  expect(settings.providers).toEqual({ theirs: { enabled: true } });
});

it('has no button where the admin does not allow completions', async () => {
  await shown({ completions: false });
  screen.getByText('The admin of this server has switched this off.');
  expect(screen.queryByRole('button')).toBeNull();
});

it('is not offered without a connected model', async () => {
  await shown({ connected: [] });
  expect(screen.queryByText('Completions while you type')).toBeNull();
});
