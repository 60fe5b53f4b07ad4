/** On the card of a waiting draft: try it in a copy of the kernel, and what came of that. */
import React from 'react';
import Rehearsal from '../../../notebook/review/rehearsal';
import type { IDraftView } from '../../../tokens';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

export function TryFirst({ draft }: { draft: IDraftView }): JSX.Element {
  const { store, trans } = usePanel();
  const { canTry, draft_id, rehearsal, state } = draft;
  return (
    <>
      {canTry && (
        <div className="jp-codeinterp-Card-buttons">
          <Button
            title={trans.__(
              'Run it in a copy of the kernel that is thrown away'
            )}
            disabled={state !== 'waiting' || rehearsal === 'running'}
            onClick={() => void store.drafts.tryFirst(draft_id)}
          >
            {trans.__('Try first')}
          </Button>
        </div>
      )}
      {rehearsal && <Rehearsal rehearsal={rehearsal} trans={trans} />}
    </>
  );
}
