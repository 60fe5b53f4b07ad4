import { closeIcon } from '@jupyterlab/ui-components';
import React from 'react';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import type { IMention } from './mentions';

/** An image, as long as it stands there. */
function Small({ picture }: { picture: File }): JSX.Element | null {
  const [url, setUrl] = React.useState('');
  React.useEffect(() => {
    const made = URL.createObjectURL(picture);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [picture]);
  // It may be no image at all.
  return url ? <img src={url} alt="" onError={() => setUrl('')} /> : null;
}

/** What the message names, under the field; each can be taken out again. */
export const Chips = React.memo(function Chips(props: {
  mentions: readonly IMention[];
  remove: (mention: IMention) => void;
}): JSX.Element | null {
  const { mentions, remove } = props;
  const { trans } = usePanel();
  if (!mentions.length) {
    return null;
  }
  return (
    <ul
      className="jp-codeinterp-Chips"
      aria-label={trans.__('Named in this message')}
    >
      {mentions.map(mention => (
        <li key={mention.key} title={mention.detail}>
          {mention.picture && <Small picture={mention.picture} />}
          <span>{mention.label}</span>
          <Button
            look="icon"
            aria-label={trans.__('Do not send %1 along', mention.label)}
            title={trans.__('Do not send %1 along', mention.label)}
            onClick={() => remove(mention)}
          >
            <closeIcon.react />
          </Button>
        </li>
      ))}
    </ul>
  );
});
