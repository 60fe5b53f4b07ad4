/** Turns on completions while typing, in JupyterLab's own setting. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { JSONObject } from '@lumino/coreutils';
import React from 'react';
import type { IPanelState } from '../../store/panel-state';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

const PLUGIN = '@jupyterlab/completer-extension:inline-completer';
const PROVIDER = 'jupyter-codeinterp:completions';

/** Here, because the style sheet is loaded at the page's start. */
export const APART = {
  marginTop: 8,
  paddingTop: 8,
  borderTop: '1px solid var(--jp-border-color2)'
};

export function CompletionSwitch(props: {
  state: IPanelState;
}): JSX.Element | null {
  const { status } = props.state;
  const { store, trans, settings: registry } = usePanel();
  const [settings, setSettings] =
    React.useState<ISettingRegistry.ISettings | null>(null);
  const [, draw] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => {
    let shown = true;
    registry?.load(PLUGIN).then(
      loaded => shown && setSettings(loaded),
      (reason: unknown) =>
        // An application without the inline completer.
        console.info('No settings of the inline completer', reason)
    );
    return () => void (shown = false);
  }, [registry]);
  React.useEffect(() => {
    settings?.changed.connect(draw);
    return () => void settings?.changed.disconnect(draw);
  }, [settings]);
  // Without a model nothing could complete.
  if (!settings || !status?.connected.length) {
    return null;
  }
  const { enabled, model } = providersOf(settings, 'composite')[PROVIDER] ?? {};
  const turn = (on: boolean) => {
    if (store.state.byPerson()) {
      const providers = providersOf(settings, 'user');
      const ours = { ...providers[PROVIDER], enabled: on };
      void store.state.attempt(() =>
        settings.set('providers', { ...providers, [PROVIDER]: ours })
      );
    }
  };
  const allowed = status.completions;
  return (
    <div style={APART}>
      <div className="jp-codeinterp-Connections-line">
        <strong>{trans.__('Completions while you type')}</strong>
        {allowed && (
          <Button
            look="link"
            aria-label={
              enabled
                ? trans.__('Turn off completions')
                : trans.__('Turn on completions')
            }
            onClick={() => turn(!enabled)}
          >
            {enabled ? trans.__('Turn off') : trans.__('Turn on')}
          </Button>
        )}
      </div>
      <p className="jp-codeinterp-Connect-hint">
        {allowed
          ? trans.__(
              'Each pause in typing sends the code near the cursor to %1. Tab accepts, Escape dismisses.',
              String(model || status.default_model)
            )
          : trans.__('The admin of this server has switched this off.')}
      </p>
    </div>
  );
}

function providersOf(
  settings: ISettingRegistry.ISettings,
  level: 'user' | 'composite'
): Record<string, JSONObject> {
  const providers = settings.get('providers')[level];
  return (providers ?? {}) as Record<string, JSONObject>;
}
