/** Follows a verification on the server, which answers as soon as one changes. */
import React from 'react';
import { ApiError } from '../../../protocol/api';
import type { IVerification } from '../../../protocol/rest';
import type { Store } from '../../store/store';

/** The verification of a notebook; `busy` while a request to begin is on its way. */
export function useVerification(store: Store, notebook: string) {
  const { notebooks, state, verifications } = store;
  const [now, setNow] = React.useState<IVerification | null>(null);
  const [refused, setRefused] = React.useState<{
    readonly words: string;
    readonly code: string;
  } | null>(null);
  const [busy, setBusy] = React.useState(false);
  const [round, setRound] = React.useState(0);

  const refuse = (error: unknown) => {
    const code = error instanceof ApiError ? error.code : '';
    setRefused({ words: state.messageOf(error), code });
  };

  React.useEffect(() => {
    let shown = true;
    const follow = async () => {
      let found = await verifications.verification(notebook);
      while (shown) {
        setNow(found);
        if (found?.state !== 'running') {
          return;
        }
        found = await verifications.verification(notebook, found.version);
      }
    };
    if (notebook) {
      follow().catch(error => shown && refuse(error));
    }
    return () => {
      shown = false;
    };
    // Each round follows a new run.
  }, [notebook, round]);

  const start = (inPlace: boolean) => {
    if (!state.byPerson()) {
      return;
    }
    setBusy(true);
    setRefused(null);
    notebooks
      .save(notebook)
      .then(() => verifications.verify(notebook, inPlace))
      .then(() => setRound(round + 1), refuse)
      .finally(() => setBusy(false));
  };
  const cancel = () =>
    void verifications.cancelVerification(notebook).catch(refuse);
  return { now, refused, busy, start, cancel };
}
