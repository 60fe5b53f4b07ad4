/** A text of the model, with its figures marked as the server found them. */
import { checkIcon } from '@jupyterlab/ui-components';
import React from 'react';
import type { ITextItem } from '../../view/view';
import { usePanel } from '../elements/context';
import { Formatting, Markdown } from '../elements/Markdown';
import { isChecked } from '../elements/origins';

export function Answer({ item }: { item: ITextItem }): JSX.Element {
  const { trans } = usePanel();
  const { plain } = React.useContext(Formatting);
  const { checked, text } = item;
  const count = checked?.figures.length ?? 0;
  return (
    <>
      <Markdown text={text} checked={checked} />
      {isChecked(checked) && !plain && (
        <div
          className="jp-codeinterp-Checked"
          title={trans._n(
            '%1 number, date or name of this answer is in an output or in the code. Point at it to see where.',
            '%1 numbers, dates and names of this answer are in outputs or in the code. Point at one to see where.',
            count
          )}
        >
          <checkIcon.react tag="span" />
          {trans.__('Checked')}
        </div>
      )}
    </>
  );
}
