import React from 'react';
import { DEMO_QUESTION } from '../../store/setup';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

/** A new conversation: what this is for, and ways to begin. */
export function Empty({ demo }: { demo: boolean }): JSX.Element {
  const { store, trans } = usePanel();
  const prompts = demo
    ? [DEMO_QUESTION]
    : [
        trans.__('What is in the data files of this folder?'),
        trans.__('Plot the most interesting trend'),
        trans.__('Explain the last error and mend it')
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
