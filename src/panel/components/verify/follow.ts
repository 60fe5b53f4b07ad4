/** Follows the verification of a notebook: the server answers as soon as it changes. */
import React from 'react';
import { ApiError } from '../../../protocol/api';
import type { IVerification } from '../../../protocol/rest';
import type { Store } from '../../store/store';

interface IRefusal {
  readonly words: string;
  /** Whether it may run in the notebook's folder, if the person agrees. */
  readonly inFolder: boolean;
}

interface IFollowed {
  readonly now: IVerification | null;
  readonly refused: IRefusal | null;
  /** Whether a request to begin is on its way. */
  readonly busy: boolean;
  readonly start: (inPlace: boolean) => void;
  readonly cancel: () => void;
}

export function useVerification(store: Store, notebook: string): IFollowed {
  const { state, verifications, notebooks } = store;
  const [now, setNow] = React.useState<IVerification | null>(null);
  const [refused, setRefused] = React.useState<IRefusal | null>(null);
  const [busy, setBusy] = React.useState(false);
  const [round, setRound] = React.useState(0);

  const refuse = (error: unknown) =>
    setRefused({
      words: state.messageOf(error),
      inFolder: error instanceof ApiError && error.code === 'in_folder'
    });

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
  }, [notebook, verifications, round]);

  const start = (inPlace: boolean) => {
    if (!state.byPerson()) {
      return;
    }
    setBusy(true);
    setRefused(null);
    const begin = async () => {
      await notebooks.save(notebook);
      await verifications.verify(notebook, inPlace);
    };
    begin()
      .then(() => setRound(round + 1), refuse)
      .finally(() => setBusy(false));
  };
  const cancel = () => {
    verifications.cancelVerification(notebook).catch(refuse);
  };
  return { now, refused, busy, start, cancel };
}
