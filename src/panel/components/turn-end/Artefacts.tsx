/** The files that a turn created or changed: name, size, thumbnail, open, download. */
import { PathExt } from '@jupyterlab/coreutils';
import React from 'react';
import type { MadeFile } from '../../../protocol/protocol';
import { Button } from '../elements/Button';
import { usePanel } from '../elements/context';
import { bytes } from '../files/bytes';

/** Files shown at first. */
const FEW = 5;
/** Image types that browsers show and that cannot run scripts. */
const PICTURES = ['.png', '.jpg', '.jpeg', '.gif', '.webp'];
/** Bytes of the largest image fetched for a thumbnail. */
const MOST_OF_PICTURE = 5_000_000;

export default function Artefacts(props: {
  files: readonly MadeFile[];
  leftOut: number;
  /** The notebook's folder: names are relative to it. */
  folder: string;
}): JSX.Element {
  const { files, folder, leftOut } = props;
  const { trans } = usePanel();
  const [all, setAll] = React.useState(false);
  const shown = all ? files : files.slice(0, FEW);
  const more = files.length - shown.length;
  return (
    <div
      className="jp-codeinterp-Artefacts"
      role="group"
      aria-label={trans.__('Files of this turn')}
    >
      <span className="jp-codeinterp-Artefacts-title">
        {trans._n(
          '%1 file created or changed',
          '%1 files created or changed',
          files.length + leftOut
        )}
      </span>
      <ul>
        {shown.map(file => (
          <Artefact key={file.path} file={file} folder={folder} />
        ))}
      </ul>
      {more > 0 && (
        <Button look="link" onClick={() => setAll(true)}>
          {trans._n('Show %1 more file', 'Show %1 more files', more)}
        </Button>
      )}
      {more <= 0 && leftOut > 0 && (
        <p className="jp-codeinterp-Review-note">
          {trans._n('%1 more is not shown.', '%1 more are not shown.', leftOut)}
        </p>
      )}
    </div>
  );
}

function Artefact(props: { file: MadeFile; folder: string }): JSX.Element {
  const { file, folder } = props;
  const { files, trans } = usePanel();
  const { path, size } = file;
  const inside = folder === '' || path.startsWith(`${folder}/`);
  const name = inside && folder ? path.slice(folder.length + 1) : path;
  const isPicture = PICTURES.includes(PathExt.extname(path).toLowerCase());
  const [picture, setPicture] = React.useState('');
  const shows = isPicture && size <= MOST_OF_PICTURE;
  React.useEffect(() => {
    let here = true;
    if (shows) {
      void files.url(path).then(url => here && setPicture(url));
    }
    return () => {
      here = false;
    };
  }, [files, path, shows]);
  const download = async () => {
    const link = document.createElement('a');
    link.href = await files.url(path);
    link.download = PathExt.basename(path);
    link.click();
  };
  return (
    <li className="jp-codeinterp-Artefact">
      {picture && (
        <img
          src={picture}
          alt=""
          loading="lazy"
          // The file may be gone, or no image.
          onError={() => setPicture('')}
        />
      )}
      <button
        type="button"
        className="jp-codeinterp-Change-name"
        title={trans.__('Open %1', name)}
        onClick={() => void files.open(path)}
      >
        {name}
      </button>
      <span className="jp-codeinterp-Quiet">
        {file.is_new ? trans.__('new') : trans.__('changed')}, {bytes(size)}
      </span>
      <Button
        look="link"
        aria-label={trans.__('Download %1', name)}
        onClick={() => void download()}
      >
        {trans.__('Download')}
      </Button>
    </li>
  );
}
