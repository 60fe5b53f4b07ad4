/** The cells of a table, of which only those in view are drawn. */
import { caretDownIcon, caretUpIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import { type IPlace, moved } from './keys';
import type { TableModel } from './model';
import { HEAD, RANGE, ROW, widthsOf } from './sizes';

/** Rows drawn above and below the view. */
const BEYOND = 6;
/** Rows that decide on the columns' widths. */
const MEASURED = 50;

export function Grid(props: {
  model: TableModel;
  trans: TranslationBundle;
  name: string;
  place: IPlace;
  setPlace: (place: IPlace) => void;
  /** The first row of the scrolled range. */
  base: number;
  setBase: (base: number) => void;
}): JSX.Element {
  const { model, trans, name, place, setPlace, base, setBase } = props;
  const { page, heads, first, sort } = model.state;
  const id = React.useId();
  const scroller = React.useRef<HTMLDivElement>(null);
  const [view, setView] = React.useState({ top: 0, height: 400 });
  const found = page?.found ?? 0;
  const inRange = Math.max(0, Math.min(found - base, RANGE));
  const from = Math.max(0, Math.floor(view.top / ROW) - BEYOND);
  const to = Math.min(
    inRange,
    Math.ceil((view.top + view.height - HEAD) / ROW) + BEYOND
  );

  React.useLayoutEffect(() => {
    const node = scroller.current!;
    const look = () =>
      setView({ top: node.scrollTop, height: node.clientHeight });
    look();
    const observer = new ResizeObserver(look);
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  React.useEffect(
    () => model.need(base + from, base + Math.max(to, from + 1)),
    [model, base, from, to, page?.version]
  );
  // Scroll to the active cell only when it moves.
  const shown = React.useRef(place);
  React.useLayoutEffect(() => {
    const node = scroller.current!;
    if (shown.current === place || place.row < 0) {
      shown.current = place;
      return;
    }
    const offset = place.row - base;
    if (offset < 0 || offset >= RANGE) {
      setBase(Math.floor(place.row / RANGE) * RANGE);
      return;
    }
    shown.current = place;
    const top = offset * ROW;
    const bottom = top + ROW + HEAD - node.clientHeight;
    node.scrollTop = Math.max(bottom, Math.min(node.scrollTop, top));
  }, [place, base, setBase]);

  const rows = [];
  for (let offset = from; offset < to; offset++) {
    rows.push(model.row(base + offset));
  }
  // Measured once per set of columns, so that widths do not change while the person scrolls.
  const measured = React.useRef<{ key: string; widths: readonly number[] }>();
  const key = JSON.stringify([first, heads.map(({ label }) => label)]);
  const whole = rows.filter(row => row !== null).slice(0, MEASURED);
  if (measured.current?.key !== key && whole.length) {
    measured.current = { key, widths: widthsOf(heads, whole, page?.rows ?? 0) };
  }
  const widths =
    measured.current?.key === key
      ? measured.current.widths
      : widthsOf(heads, [], 0);
  const left = (column: number) =>
    widths.slice(1, column + 1).reduce((sum, width) => sum + width, 0);
  const start = left(place.column);
  const shift = start + widths[place.column + 1] + widths[0];
  React.useLayoutEffect(() => {
    const node = scroller.current!;
    const end = shift - node.clientWidth;
    node.scrollLeft = Math.max(end, Math.min(node.scrollLeft, start));
  }, [start, shift]);

  const toggle = (column: number) => {
    const now = sort?.[0] === column ? sort[1] : null;
    const next = now === null ? false : now ? null : true;
    void model.sortBy(column, next);
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === 'Enter' && place.row < 0) {
      toggle(first + place.column);
      event.preventDefault();
      return;
    }
    const bounds = {
      rows: found,
      columns: heads.length,
      page: Math.max(1, Math.floor((view.height - HEAD) / ROW) - 1)
    };
    const next = moved(place, event, bounds);
    if (next) {
      setPlace(next);
      event.preventDefault();
      event.stopPropagation();
    }
  };
  const onCopy = (event: React.ClipboardEvent) => {
    const text =
      place.row < 0
        ? heads[place.column]?.label
        : model.row(place.row)?.cells[place.column];
    event.clipboardData.setData('text/plain', text ?? '');
    event.preventDefault();
  };
  const isDrawn =
    heads.length > 0 &&
    (place.row < 0 || (place.row >= base + from && place.row < base + to));
  const cellId = ({ row, column }: IPlace) => `${id}-${row}-${column}`;
  return (
    <div
      ref={scroller}
      className="jp-codeinterp-Grid"
      role="grid"
      tabIndex={0}
      aria-label={trans.__('Table %1', name)}
      aria-rowcount={found + 1}
      aria-colcount={(page?.columns ?? 0) + 1}
      aria-activedescendant={isDrawn ? cellId(place) : undefined}
      aria-busy={model.state.loading}
      onScroll={({ currentTarget }) =>
        setView({
          top: currentTarget.scrollTop,
          height: currentTarget.clientHeight
        })
      }
      onKeyDown={onKeyDown}
      onCopy={onCopy}
    >
      <div className="jp-codeinterp-Grid-head" role="row" aria-rowindex={1}>
        <div
          role="columnheader"
          className="jp-codeinterp-Grid-label"
          aria-colindex={1}
          style={{ width: widths[0] }}
        >
          <span className="jp-codeinterp-Hidden">{trans.__('Row')}</span>
        </div>
        {heads.map(({ label, dtype, kind }, column) => {
          const number = first + column;
          const sorted = sort?.[0] === number ? sort[1] : null;
          return (
            <div
              key={number}
              id={cellId({ row: -1, column })}
              role="columnheader"
              aria-colindex={number + 2}
              aria-sort={
                sorted === null ? 'none' : sorted ? 'descending' : 'ascending'
              }
              data-kind={kind}
              data-active={place.column === column}
              style={{ width: widths[column + 1] }}
              title={trans.__('%1: double-click or press Enter to sort', label)}
              onClick={() => setPlace({ row: -1, column })}
              onDoubleClick={() => toggle(number)}
            >
              <span className="jp-codeinterp-Grid-name">
                <bdi>{label}</bdi>
                {sorted !== null &&
                  (sorted ? (
                    <caretDownIcon.react tag="span" />
                  ) : (
                    <caretUpIcon.react tag="span" />
                  ))}
              </span>
              <small>{dtype}</small>
            </div>
          );
        })}
      </div>
      <div
        role="rowgroup"
        className="jp-codeinterp-Grid-rows"
        style={{
          height: inRange * ROW,
          width: widths.reduce((sum, width) => sum + width, 0)
        }}
      >
        {rows.map((row, drawn) => {
          const number = base + from + drawn;
          return (
            <div
              key={number}
              role="row"
              aria-rowindex={number + 2}
              style={{ top: (from + drawn) * ROW, height: ROW }}
            >
              <div
                role="rowheader"
                aria-colindex={1}
                className="jp-codeinterp-Grid-label"
                style={{ width: widths[0] }}
              >
                {row?.label ?? ''}
              </div>
              {heads.map(({ kind }, column) => {
                const text = row?.cells[column];
                const isActive =
                  place.row === number && place.column === column;
                return (
                  <div
                    key={column}
                    id={cellId({ row: number, column })}
                    role="gridcell"
                    aria-colindex={first + column + 2}
                    aria-selected={isActive}
                    data-kind={kind}
                    data-missing={row && text === null}
                    style={{ width: widths[column + 1] }}
                    title={text && text.length > 30 ? text : undefined}
                    onClick={() => setPlace({ row: number, column })}
                  >
                    {row ? (text ?? trans.__('missing')) : '…'}
                  </div>
                );
              })}
            </div>
          );
        })}
      </div>
    </div>
  );
}
