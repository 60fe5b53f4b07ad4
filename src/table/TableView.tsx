/** A table in a tab: type and size, filters, cells, and the details of the active column. */
import { closeIcon, refreshIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import { Button } from '../panel/components/elements/Button';
import { useSignal } from '../panel/components/elements/context';
import { ColumnDetails, words } from './ColumnDetails';
import { Grid } from './Grid';
import { COLUMNS, type ITableState, type TableModel } from './model';
import { RANGE } from './sizes';

export interface ITableViewProps {
  readonly model: TableModel;
  /** The name of the variable or file. */
  readonly name: string;
  readonly trans: TranslationBundle;
  /**
   * Put a question about a column into the message field; null if that is not possible. `place`:
   * the column's number from 1, if other columns have the same label.
   */
  readonly ask: ((label: string, place: number | null) => void) | null;
}

export function TableView(props: ITableViewProps): JSX.Element {
  const { model, name, trans, ask } = props;
  const state = useSignal(model.changed, () => model.state);
  const { page, heads, first, filters, failure, loading } = state;
  const [place, setPlace] = React.useState({ row: 0, column: 0 });
  const [base, setBase] = React.useState(0);
  const found = page?.found ?? 0;
  const column = Math.min(place.column, Math.max(0, heads.length - 1));
  const row = Math.min(place.row, found - 1);
  const at = React.useMemo(() => ({ row, column }), [row, column]);
  if (base >= Math.max(1, found)) {
    setBase(0);
  }
  const head = heads[column];
  return (
    <div className="jp-codeinterp-TableView">
      <div className="jp-codeinterp-TableView-bar">
        <span role="status">{page ? sizeOf(state, trans) : ''}</span>
        {filters.map((filter, number) => (
          <span key={number} className="jp-codeinterp-TableView-filter">
            <bdi>{describe(filter, state, trans)}</bdi>
            <button
              type="button"
              title={trans.__('Remove this filter')}
              aria-label={trans.__(
                'Remove the filter %1',
                describe(filter, state, trans)
              )}
              onClick={() =>
                void model.filterBy(filters.filter(other => other !== filter))
              }
            >
              <closeIcon.react tag="span" />
            </button>
          </span>
        ))}
        <span className="jp-codeinterp-TableView-fill" />
        <Pager
          from={base}
          size={RANGE}
          count={found}
          text={trans.__('Rows')}
          trans={trans}
          go={to => {
            setBase(to);
            setPlace({ row: to, column });
          }}
        />
        <Pager
          from={first}
          size={COLUMNS}
          count={page?.columns ?? 0}
          text={trans.__('Columns')}
          trans={trans}
          go={to => {
            setPlace({ row, column: 0 });
            void model.showColumns(to);
          }}
        />
        <Button onClick={() => void model.refresh()}>
          <refreshIcon.react tag="span" />
          {trans.__('Refresh')}
        </Button>
      </div>
      {failure && (
        <p className="jp-codeinterp-TableView-note" role="alert">
          {failure}
        </p>
      )}
      {page && page.searched < page.rows && (
        <p className="jp-codeinterp-TableView-note" role="status">
          {trans.__(
            'The filter compared the first %1 of %2 rows within its time limit.',
            page.searched.toLocaleString(),
            page.rows.toLocaleString()
          )}
        </p>
      )}
      {!page && !failure && (
        <p className="jp-codeinterp-TableView-note" role="status">
          {trans.__('Reading %1…', name)}
        </p>
      )}
      {page && (
        <div className="jp-codeinterp-TableView-body">
          <Grid
            model={model}
            trans={trans}
            name={name}
            place={at}
            setPlace={setPlace}
            base={base}
            setBase={setBase}
          />
          {head && (
            <ColumnDetails
              model={model}
              column={first + column}
              head={head}
              trans={trans}
              ask={
                ask &&
                (({ label }) =>
                  ask(
                    label,
                    isShared(label, state) ? first + column + 1 : null
                  ))
              }
            />
          )}
        </div>
      )}
      {page && found === 0 && !loading && (
        <p className="jp-codeinterp-TableView-note" role="status">
          {filters.length
            ? trans.__('No row matches the filters.')
            : trans.__('The table has no rows.')}
        </p>
      )}
    </div>
  );
}

function sizeOf(state: ITableState, trans: TranslationBundle): string {
  const { type, rows, columns, found } = state.page!;
  const size = trans.__(
    '%1: %2 rows × %3 columns',
    type,
    rows.toLocaleString(),
    columns.toLocaleString()
  );
  return state.filters.length
    ? trans.__('%1, %2 rows match', size, found.toLocaleString())
    : size;
}

function describe(
  [column, op, value]: ITableState['filters'][number],
  state: ITableState,
  trans: TranslationBundle
): string {
  const label = state.heads[column - state.first]?.label;
  const name =
    label === undefined
      ? trans.__('column %1', column + 1)
      : isShared(label, state)
        ? trans.__('%1 (column %2)', label, column + 1)
        : label;
  return [name, words(op, trans), value].filter(Boolean).join(' ');
}

/** Whether several of the shown columns have this name. */
function isShared(label: string, { heads }: ITableState): boolean {
  return heads.filter(head => head.label === label).length > 1;
}

/** The range in view, and buttons to the ranges before and after it. */
function Pager(props: {
  from: number;
  size: number;
  count: number;
  text: string;
  trans: TranslationBundle;
  go: (from: number) => void;
}): JSX.Element | null {
  const { from, size, count, text, trans, go } = props;
  if (count <= size) {
    return null;
  }
  const to = Math.min(from + size, count);
  return (
    <span
      className="jp-codeinterp-TableView-pager"
      role="group"
      aria-label={text}
    >
      {`${text} ${(from + 1).toLocaleString()}–${to.toLocaleString()}`}
      <button
        type="button"
        aria-label={trans.__('%1 before', text)}
        disabled={from === 0}
        onClick={() => go(Math.max(0, from - size))}
      >
        ‹
      </button>
      <button
        type="button"
        aria-label={trans.__('%1 after', text)}
        disabled={to >= count}
        onClick={() => go(to)}
      >
        ›
      </button>
    </span>
  );
}
