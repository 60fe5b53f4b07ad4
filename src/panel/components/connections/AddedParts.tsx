/** Tools, checks and providers of other packages: they run in the server, and some unreviewed. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import type { IAdded } from '../../../protocol/api';
import { usePanel } from '../elements/context';
import { APART } from './CompletionSwitch';

export function AddedParts(): JSX.Element | null {
  const { store, trans } = usePanel();
  const [added, setAdded] = React.useState<readonly IAdded[]>([]);
  React.useEffect(() => {
    let shown = true;
    void store.connections.added().then(all => shown && setAdded(all));
    return () => void (shown = false);
  }, [store]);
  if (!added.length) {
    return null;
  }
  return (
    <div
      role="group"
      aria-label={trans.__('From other packages')}
      style={APART}
    >
      <strong>{trans.__('From other packages')}</strong>
      <ul>
        {added.map((one, key) => (
          <li key={key}>
            {one.name}{' '}
            <span className="jp-codeinterp-Connect-hint">
              {[kindOf(one, trans), one.package].filter(Boolean).join(' · ')}
            </span>
            <p
              className={
                one.fault
                  ? 'jp-codeinterp-Card-failure'
                  : 'jp-codeinterp-Connect-hint'
              }
            >
              {one.fault && trans.__('Left out: %1', one.fault)}
              {one.unreviewed && trans.__('Runs in every mode without review.')}
            </p>
          </li>
        ))}
      </ul>
    </div>
  );
}

function kindOf({ kind }: IAdded, trans: TranslationBundle): string {
  switch (kind) {
    case 'tool':
      return trans.__('Tool');
    case 'check':
      return trans.__('Check');
    case 'provider':
      return trans.__('Provider');
  }
}
