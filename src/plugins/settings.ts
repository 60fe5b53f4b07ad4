/** Follow the person's settings. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { Store } from '../panel/store/store';
import type { Mode } from '../protocol/api';

export async function followSettings(
  registry: ISettingRegistry,
  pluginId: string,
  store: Store
): Promise<void> {
  const settings = await registry.load(pluginId);
  const apply = () =>
    store.state.patch({ mode: settings.get('defaultMode').composite as Mode });
  settings.changed.connect(apply);
  apply();
}
