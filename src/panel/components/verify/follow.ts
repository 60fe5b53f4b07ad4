/** Follows runs on the server: it answers as soon as one changes. */
import React from 'react';
import { ApiError } from '../../../protocol/api';
import type { IVerification } from '../../../protocol/rest';
import type { Store } from '../../store/store';

interface IRefusal {
  readonly words: string;
  readonly code: string;
}

interface IRun<T> {
  readonly now: T | null;
  readonly refused: IRefusal | null;
  /** Whether a request to begin is on its way. */
  readonly busy: boolean;
  readonly cancel: () => void;
}

/** The verification of a notebook. */
export function useVerification(
  store: Store,
  notebook: string
): IRun<IVerification> & { start: (inPlace: boolean) => void } {
  const { notebooks, verifications } = store;
  const run = useRun<IVerification>(store, {
    get: seen => verifications.verification(notebook, seen),
    key: notebook
  });
  const start = (inPlace: boolean) =>
    run.begin(async () => {
      await notebooks.save(notebook);
      await verifications.verify(notebook, inPlace);
    });
  const cancel = () => run.attempt(verifications.cancelVerification(notebook));
  return { ...run, start, cancel };
}

function useRun<T extends { state: string; version: number }>(
  store: Store,
  asked: { get: (seen?: number) => Promise<T | null>; key: string }
) {
  const { state } = store;
  const [now, setNow] = React.useState<T | null>(null);
  const [refused, setRefused] = React.useState<IRefusal | null>(null);
  const [busy, setBusy] = React.useState(false);
  const [round, setRound] = React.useState(0);
  const latest = React.useRef(asked.get);
  latest.current = asked.get;

  const refuse = (error: unknown) => {
    const code = error instanceof ApiError ? error.code : '';
    setRefused({ words: state.messageOf(error), code });
  };

  React.useEffect(() => {
    let shown = true;
    const follow = async () => {
      let found = await latest.current();
      while (shown) {
        setNow(found);
        if (found?.state !== 'running') {
          return;
        }
        found = await latest.current(found.version);
      }
    };
    if (asked.key) {
      follow().catch(error => shown && refuse(error));
    }
    return () => {
      shown = false;
    };
    // Each round follows a new run.
  }, [asked.key, round]);

  const begin = (work: () => Promise<void>) => {
    if (!state.byPerson()) {
      return;
    }
    setBusy(true);
    setRefused(null);
    work()
      .then(() => setRound(round + 1), refuse)
      .finally(() => setBusy(false));
  };
  const attempt = (work: Promise<void>) => void work.catch(refuse);
  return { now, refused, busy, begin, attempt };
}
