/** Applies the person's settings, and their changes. */
import { Notification } from '@jupyterlab/apputils';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Notebooks } from '../notebook/notebooks';
import { person } from '../notebook/review/press';
import type { Store } from '../panel/store/store';
import { askForSystem } from '../panel/system';
import type { Mode } from '../protocol/api';

export async function followSettings(
  registry: ISettingRegistry,
  pluginId: string,
  store: Store,
  trans: TranslationBundle,
  notebooks: Notebooks | null
): Promise<void> {
  const settings = await registry.load(pluginId);
  const isOn = (name: string) => settings.get(name).composite === true;
  let anyClicks = false;
  // The server may forbid untrusted clicks; until its status is known they do not count.
  const applyClicks = () =>
    person.anyClicks(
      anyClicks && store.state.now.status?.untrusted_clicks === true
    );
  const apply = () => {
    const mode = settings.get('defaultMode').composite as Mode;
    const systemNotifications = isOn('systemNotifications');
    const ruleFiles = isOn('readRuleFiles');
    store.state.patch({ mode, systemNotifications, ruleFiles });
    anyClicks = isOn('anyClicks');
    applyClicks();
  };
  apply();
  store.state.changed.connect(applyClicks);
  settings.changed.connect(() => {
    const { systemNotifications: before } = store.state.now;
    apply();
    // Ask for the browser's permission only when the person turns the setting on.
    if (!before && store.state.now.systemNotifications) {
      void askForSystem().then(allowed => {
        if (!allowed) {
          Notification.warning(
            trans.__(
              'The browser blocks system notifications from Jupyter. Allow them for this site in the browser’s settings.'
            )
          );
        }
      });
    }
  });
}
