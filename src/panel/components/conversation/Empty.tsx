import React from 'react';
import { DEMO_QUESTION } from '../../store/setup';
import { Button } from '../elements/Button';
import { usePanel, usePanelState } from '../elements/context';

/** An empty conversation, with example prompts. */
export function Empty({ demo }: { demo: boolean }): JSX.Element {
  const { store, trans } = usePanel();
  const { notebook } = usePanelState();
  const cells = store.notebooks.outline(notebook)?.cells ?? [];
  const prompts = demo
    ? [DEMO_QUESTION]
    : [
        trans.__('What is in the data files of this folder?'),
        trans.__('Plot the most interesting trend'),
        ...(cells.some(({ failed }) => failed)
          ? [trans.__('Explain the last error and fix it')]
          : [])
      ];
  return (
    <div className="jp-codeinterp-Empty">
      <p>
        {trans.__(
          'Ask a question about your data. The code appears in your notebook, and you decide what runs.'
        )}
      </p>
      {prompts.map(prompt => (
        <Button key={prompt} onClick={() => store.prefill(prompt)}>
          {prompt}
        </Button>
      ))}
    </div>
  );
}
