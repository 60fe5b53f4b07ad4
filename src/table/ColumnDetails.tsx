/** The strip for one column: sorting, a filter, and a question about it. */
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import { Button } from '../panel/components/elements/Button';
import type { ITableHead, TableFilter, TableOp } from '../protocol/rest';
import type { TableModel } from './model';

export function ColumnDetails(props: {
  model: TableModel;
  column: number;
  head: ITableHead;
  trans: TranslationBundle;
  /** Put a question about the column into the message field; null if that is not possible. */
  ask: ((head: ITableHead) => void) | null;
}): JSX.Element {
  const { model, column, head, trans, ask } = props;
  const { sort, filters } = model.state;
  const sorted = sort?.[0] === column ? sort[1] : null;
  const sortButton = (descending: boolean, text: string, label: string) => (
    <Button
      aria-label={label}
      title={label}
      aria-pressed={sorted === descending}
      onClick={() =>
        void model.sortBy(column, sorted === descending ? null : descending)
      }
    >
      {text}
    </Button>
  );
  return (
    <aside
      className="jp-codeinterp-ColumnDetails"
      aria-label={trans.__('Column %1', head.label)}
    >
      <h3>
        <bdi>{head.label || trans.__('(no name)')}</bdi>
        {head.dtype && <small>{head.dtype}</small>}
      </h3>
      <div
        className="jp-codeinterp-ColumnDetails-row"
        role="group"
        aria-label={trans.__('Sort')}
      >
        {sortButton(false, trans.__('Ascending'), trans.__('Sort ascending'))}
        {sortButton(true, trans.__('Descending'), trans.__('Sort descending'))}
      </div>
      <FilterForm
        // Reset the form for another column.
        key={column}
        kind={head.kind}
        trans={trans}
        add={(op, value) =>
          void model.filterBy([
            ...filters.filter(([of, is]) => of !== column || is !== op),
            [column, op, value]
          ])
        }
      />
      {ask && (
        <Button onClick={() => ask(head)}>
          {trans.__('Ask about this column')}
        </Button>
      )}
    </aside>
  );
}

export function words(op: TableOp, trans: TranslationBundle): string {
  return {
    contains: trans.__('contains'),
    '=': '=',
    '<': '<',
    '<=': '≤',
    '>': '>',
    '>=': '≥',
    missing: trans.__('is missing'),
    present: trans.__('is not missing')
  }[op];
}

function FilterForm(props: {
  kind: ITableHead['kind'];
  trans: TranslationBundle;
  add: (op: TableFilter[1], value: string) => void;
}): JSX.Element {
  const { kind, trans, add } = props;
  const ops: readonly TableOp[] =
    kind === 'truth'
      ? ['=', 'missing', 'present']
      : kind === 'text'
        ? ['contains', '=', '<', '<=', '>', '>=', 'missing', 'present']
        : ['>', '>=', '<', '<=', '=', 'contains', 'missing', 'present'];
  const [op, setOp] = React.useState<TableOp>(ops[0]);
  const [value, setValue] = React.useState('');
  const compares = op !== 'missing' && op !== 'present';
  return (
    <form
      className="jp-codeinterp-ColumnDetails-row"
      aria-label={trans.__('Filter')}
      onSubmit={event => {
        event.preventDefault();
        add(op, compares ? value : '');
      }}
    >
      <select
        aria-label={trans.__('Comparison')}
        value={op}
        onChange={event => setOp(event.target.value as TableOp)}
      >
        {ops.map(one => (
          <option key={one} value={one}>
            {words(one, trans)}
          </option>
        ))}
      </select>
      {compares && (
        <input
          aria-label={trans.__('Compare with')}
          value={value}
          maxLength={200}
          required
          spellCheck={false}
          onChange={event => setValue(event.target.value)}
        />
      )}
      <Button type="submit">{trans.__('Filter')}</Button>
    </form>
  );
}
