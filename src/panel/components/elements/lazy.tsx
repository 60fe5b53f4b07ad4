/** Lazy loading of parts of the panel. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import { Button } from './Button';
import { PanelContext } from './context';

/**
 * A component whose code `load` gets when it is first shown. Shows nothing until then; an error
 * and Retry if loading fails.
 */
export function lazy<P extends object>(
  load: () => Promise<React.ComponentType<P>>
): React.ComponentType<P & { trans?: TranslationBundle }> {
  let Loaded: React.ComponentType<P> | null = null;
  return function Lazy(props) {
    const context = React.useContext(PanelContext);
    const trans = props.trans ?? context!.trans;
    const [state, setState] = React.useState<'loading' | 'loaded' | 'failed'>(
      Loaded ? 'loaded' : 'loading'
    );
    React.useEffect(() => {
      let shown = true;
      if (state === 'loading') {
        load().then(
          component => {
            Loaded = component;
            if (shown) {
              setState('loaded');
            }
          },
          (reason: unknown) => {
            console.error('A part of the panel could not be loaded', reason);
            if (shown) {
              setState('failed');
            }
          }
        );
      }
      return () => {
        shown = false;
      };
    }, [state]);
    if (Loaded) {
      return <Loaded {...(props as unknown as P)} />;
    }
    return state === 'failed' ? (
      <div className="jp-codeinterp-Note" data-level="error" role="alert">
        <span>{trans.__("Couldn't load this part of the panel.")}</span>
        <Button look="link" onClick={() => setState('loading')}>
          {trans.__('Retry')}
        </Button>
      </div>
    ) : null;
  };
}
