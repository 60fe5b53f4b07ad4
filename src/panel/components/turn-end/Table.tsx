/** The first rows of a CSV or TSV file. */
import { PathExt } from '@jupyterlab/coreutils';
import React from 'react';
import { usePanel } from '../elements/context';
import { firstRows } from './csv';

/** Rows below the column names. */
const ROWS = 10;

export function Table(props: { path: string; name: string }): JSX.Element {
  const { path, name } = props;
  const { files, trans } = usePanel();
  const [rows, setRows] = React.useState<readonly string[][] | null>(null);
  const [failed, setFailed] = React.useState(false);
  React.useEffect(() => {
    let here = true;
    const delimiter =
      PathExt.extname(path).toLowerCase() === '.tsv' ? '\t' : ',';
    files.text(path).then(
      text => here && setRows(firstRows(text, delimiter, ROWS + 1)),
      () => here && setFailed(true)
    );
    return () => {
      here = false;
    };
  }, [files, path]);
  if (failed) {
    return <p role="status">{trans.__('Couldn’t read %1.', name)}</p>;
  }
  if (!rows) {
    return <p role="status">{trans.__('Reading…')}</p>;
  }
  if (!rows.length) {
    return <p role="status">{trans.__('%1 is empty.', name)}</p>;
  }
  const [names, ...body] = rows;
  return (
    <div
      className="jp-codeinterp-Table"
      role="group"
      aria-label={trans.__('The first rows of %1', name)}
      // Scrolls if it is wider than the panel.
      tabIndex={0}
    >
      <table>
        <thead>
          <tr>
            {names.map((value, index) => (
              <th key={index} scope="col">
                {value}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.map((row, index) => (
            <tr key={index}>
              {row.map((value, column) => (
                <td key={column}>{value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
