/** Attaches pasted, dropped or chosen files: saves them next to the notebook, and mentions them. */
import { fileUploadIcon } from '@jupyterlab/ui-components';
import React from 'react';
import { usePanel } from '../elements/context';
import { IMention, bytes, mention } from './mentions';

export interface IAttaching {
  /** A progress message; '' if none. */
  readonly doing: string;
  readonly button: JSX.Element;
  /** For the whole composer. */
  readonly handlers: Pick<
    React.HTMLAttributes<HTMLElement>,
    'onPaste' | 'onDragOver' | 'onDrop'
  >;
}

export function useAttaching(
  notebook: string,
  add: (mention: IMention, notebook: string) => void
): IAttaching {
  const { store, trans } = usePanel();
  const [doing, setDoing] = React.useState('');
  const attach = async (files: readonly File[]) => {
    store.dismissFailure();
    for (const file of files) {
      setDoing(trans.__('Saving %1 next to the notebook…', file.name));
      await store.state.attempt(async () => {
        const name = await store.notebooks.attach(notebook, file);
        add(mentionOf(name, file), notebook);
      });
    }
    setDoing('');
  };
  const take = (event: React.SyntheticEvent, data: DataTransfer) => {
    const files = [...data.files];
    // Office programs copy text together with a picture of it.
    if (files.length && !data.types.includes('text/plain')) {
      event.preventDefault();
      event.stopPropagation();
      void attach(files);
    }
  };
  const latest = React.useRef(attach);
  latest.current = attach;
  const chosen = React.useCallback(
    (files: readonly File[]) => void latest.current(files),
    []
  );
  return {
    doing,
    button: <AttachButton disabled={!notebook || !!doing} chosen={chosen} />,
    handlers: {
      onPaste: event => take(event, event.clipboardData),
      onDragOver: event => {
        if (event.dataTransfer.types.includes('Files')) {
          event.preventDefault();
        }
      },
      onDrop: event => take(event, event.dataTransfer)
    }
  };
}

const AttachButton = React.memo(function AttachButton(props: {
  disabled: boolean;
  chosen: (files: readonly File[]) => void;
}): JSX.Element {
  const { disabled, chosen } = props;
  const { trans } = usePanel();
  const input = React.useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={trans.__('Files to attach')}
        onChange={({ target }) => {
          const files = [...(target.files ?? [])];
          target.value = '';
          chosen(files);
        }}
      />
      <button
        type="button"
        className="jp-codeinterp-Button jp-mod-icon jp-codeinterp-Attach"
        aria-label={trans.__('Attach files')}
        title={trans.__(
          'Attach files. They are saved next to the notebook. Images and PDFs are sent to the model; for other files, only name and size.'
        )}
        disabled={disabled}
        onClick={() => input.current?.click()}
      >
        <fileUploadIcon.react />
      </button>
    </>
  );
});

/** Image types that browsers show and that cannot run scripts. */
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

function mentionOf(name: string, file: File): IMention {
  return {
    ...mention({
      reference: { kind: 'file', name },
      label: name,
      detail: bytes(file.size)
    }),
    picture: PICTURES.includes(file.type) ? file : undefined
  };
}
