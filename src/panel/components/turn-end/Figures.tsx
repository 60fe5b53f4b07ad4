/** Thumbnails of the images in a turn's cells, with links to go to the cell and to download. */
import React from 'react';
import type { IFigure } from '../../../tokens';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';

export default function Figures(props: {
  cells: readonly string[];
}): JSX.Element {
  const { cells } = props;
  const { store, trans } = usePanel();
  const [figures, setFigures] = React.useState<readonly IFigure[] | null>(null);
  const list = React.useRef<HTMLUListElement>(null);
  React.useEffect(() => {
    list.current?.scrollIntoView?.({ block: 'nearest' });
  }, [figures]);
  const look = () => {
    const path = store.shown?.info.notebook ?? '';
    setFigures(figures ? null : store.notebooks.figures(path, cells));
  };
  return (
    <div
      className="jp-codeinterp-Artefacts"
      role="group"
      aria-label={trans.__('Figures of this turn')}
    >
      <Button look="link" aria-expanded={figures !== null} onClick={look}>
        {figures ? trans.__('Hide figures') : trans.__('Show figures')}
      </Button>
      {figures && !figures.length && (
        <p className="jp-codeinterp-Review-note" role="status">
          {trans.__(
            'The notebook is closed, or its cells show no figures now.'
          )}
        </p>
      )}
      {figures && figures.length > 0 && (
        <ul ref={list}>
          {figures.map((figure, index) => (
            <Figure
              key={`${figure.cellId} ${figure.number}`}
              figure={figure}
              number={index + 1}
            />
          ))}
        </ul>
      )}
    </div>
  );
}

function Figure(props: {
  figure: IFigure;
  number: number;
}): JSX.Element | null {
  const { figure, number } = props;
  const { store, trans } = usePanel();
  const [url, setUrl] = React.useState('');
  React.useEffect(() => {
    const made = urlOf(figure.data);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [figure.data]);
  const name = trans.__('Figure %1', number);
  return (
    <li className="jp-codeinterp-Artefact">
      {url && <img src={url} alt={name} onError={() => setUrl('')} />}
      <span>{name}</span>
      <Button
        look="link"
        aria-label={trans.__('Go to the cell of figure %1', number)}
        onClick={() => void store.reveal(figure.cellId)}
      >
        {trans.__('Go to cell')}
      </Button>
      {url && (
        <a
          className="jp-codeinterp-Button jp-mod-link"
          href={url}
          download={`figure-${number}.png`}
          aria-label={trans.__('Download figure %1', number)}
        >
          {trans.__('Download')}
        </a>
      )}
    </li>
  );
}

/** An object URL for the image; '' if `data` is no base64. */
function urlOf(data: string): string {
  try {
    const bytes = Uint8Array.from(atob(data), letter => letter.charCodeAt(0));
    return URL.createObjectURL(new Blob([bytes], { type: 'image/png' }));
  } catch {
    return '';
  }
}
