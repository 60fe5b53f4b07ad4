/** The failed cells that the server removed or restored at the end of a turn. */
import React from 'react';
import { withoutStatus } from '../../view/cards';
import type { ICleared } from '../../view/view';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { LongText, Pre, revealed } from '../elements/LongText';

export function ClearedCells(props: {
  cells: readonly ICleared[];
}): JSX.Element {
  const { cells } = props;
  const { trans } = usePanel();
  const [open, setOpen] = React.useState(false);
  const removed = cells.filter(({ how }) => how === 'removed').length;
  const back = cells.length - removed;
  const parts = [
    removed &&
      trans._n('%1 failed cell removed', '%1 failed cells removed', removed),
    back &&
      trans._n('%1 failed change undone', '%1 failed changes undone', back)
  ];
  return (
    <>
      <div className="jp-codeinterp-End-line">
        <span>{parts.filter(Boolean).join(', ')}</span>
        <span className="jp-codeinterp-End-actions">
          <span aria-hidden="true">·</span>
          <Button
            look="link"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {open ? trans.__('Hide') : trans.__('Show')}
          </Button>
        </span>
      </div>
      {open && (
        <div ref={revealed}>
          {cells.map(cell => {
            const title = cell.title || trans.__('Failed cell');
            const error = withoutStatus(cell.detail);
            return (
              <div
                key={cell.cellId}
                className="jp-codeinterp-Cleared"
                role="group"
                aria-label={title}
              >
                <span className="jp-codeinterp-Cleared-title">{title}</span>
                {cell.source && (
                  <Pre className="jp-codeinterp-Card-code">
                    <LongText text={cell.source} />
                  </Pre>
                )}
                {error && (
                  <Pre className="jp-codeinterp-Card-result">
                    <LongText text={error} />
                  </Pre>
                )}
              </div>
            );
          })}
        </div>
      )}
    </>
  );
}
