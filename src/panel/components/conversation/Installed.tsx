/** The packages that a cell has installed, and a button that writes them into the notebook. */
import React from 'react';
import { addRequirements } from '../../../notebook/requirements';
import { Button } from '../elements/Button';
import { usePanel, usePanelState } from '../elements/context';

export function Installed(props: {
  requirements: readonly string[];
}): JSX.Element {
  const { requirements } = props;
  const { store, trans } = usePanel();
  const { notebook } = usePanelState();
  const [said, setSaid] = React.useState('');
  const write = () => {
    if (!store.state.byPerson()) {
      return;
    }
    const model = store.notebooks.modelOf(notebook);
    setSaid(
      model && addRequirements(model, requirements)
        ? trans.__('Written into the notebook’s first cell, for juv and uv.')
        : trans.__('Open the notebook to change it.')
    );
  };
  return (
    <div className="jp-codeinterp-Card-leftover">
      {trans.__('Installed: %1.', requirements.join(', '))}{' '}
      {!said && (
        <Button
          look="link"
          title={trans.__(
            'Add them as script metadata (PEP 723) in a hidden first cell'
          )}
          onClick={write}
        >
          {trans.__('Write down in the notebook')}
        </Button>
      )}
      <span role="status">{said}</span>
    </div>
  );
}
