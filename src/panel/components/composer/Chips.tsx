import { closeIcon } from '@jupyterlab/ui-components';
import React from 'react';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import type { IMention } from './mentions';

/** The types that open as a table, at the start of a mention's detail. */
const TABLE = /^(DataFrame|Series)/;

function Thumbnail({ picture }: { picture: File }): JSX.Element | null {
  const [url, setUrl] = React.useState('');
  React.useEffect(() => {
    const made = URL.createObjectURL(picture);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [picture]);
  // The file may be no image.
  return url ? <img src={url} alt="" onError={() => setUrl('')} /> : null;
}

/** The references of the message, each with a Remove button. */
export const Chips = React.memo(function Chips(props: {
  mentions: readonly IMention[];
  remove: (mention: IMention) => void;
}): JSX.Element | null {
  const { mentions, remove } = props;
  const { openTable, store, trans } = usePanel();
  if (!mentions.length) {
    return null;
  }
  return (
    <ul
      className="jp-codeinterp-Chips"
      aria-label={trans.__('Mentioned in this message')}
    >
      {mentions.map(mention => (
        <li key={mention.key} title={mention.detail}>
          {mention.picture && <Thumbnail picture={mention.picture} />}
          {mention.reference.kind === 'variable' &&
          TABLE.test(mention.detail) ? (
            <Button
              look="link"
              aria-label={trans.__('Open the table %1', mention.label)}
              title={trans.__('Open the table %1', mention.label)}
              onClick={() =>
                void openTable({
                  notebook: store.state.now.notebook,
                  name: mention.reference.name
                })
              }
            >
              {mention.label}
            </Button>
          ) : (
            <span>{mention.label}</span>
          )}
          <Button
            look="icon"
            aria-label={trans.__('Remove %1', mention.label)}
            title={trans.__('Remove %1', mention.label)}
            onClick={() => remove(mention)}
          >
            <closeIcon.react />
          </Button>
        </li>
      ))}
    </ul>
  );
});
