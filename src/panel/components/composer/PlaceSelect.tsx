import React from 'react';
import { coalesce } from '../../store/coalesce';
import type { IPanelState } from '../../store/panel-state';
import { lastOf, place } from '../../view/place';
import type { ISessionView } from '../../view/view';
import { usePanel } from '../elements/context';

/**
 * The person's choice for the cells of the next message: after a cell, or at
 * the end.
 */
export type Chosen = { readonly cell: string } | 'end' | null;

/** Chooses where the cells of the next message go. */
export const PlaceSelect = React.memo(function PlaceSelect(props: {
  view: ISessionView | null;
  state: IPanelState;
  chosen: Chosen;
  choose: (chosen: Chosen) => void;
}): JSX.Element | null {
  const { view, state, chosen, choose } = props;
  const { notebook, agentCells } = state;
  const { store, trans } = usePanel();
  const [, redraw] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => {
    const soon = coalesce(redraw);
    const changed = (_: unknown, path: string) => {
      if (path === notebook) {
        soon();
      }
    };
    const { placesChanged } = store.notebooks;
    placesChanged.connect(changed);
    return () => void placesChanged.disconnect(changed);
  }, [store, notebook]);
  const places = store.notebooks.places(notebook);
  if (!places?.ids.length) {
    return null;
  }
  const { ids, goneTo, actedIn, selected } = places;
  const cells = agentCells[view?.info.session_id ?? ''] ?? [];
  const agents = lastOf(ids, cells);
  const number = (id: string) => ids.indexOf(id) + 1;
  const words = (of: Chosen) => {
    const { after, instead } = place(places, {
      chosen: afterOf(of, ids),
      person: cells.includes(actedIn) ? '' : actedIn,
      earlier_turns: agents,
      gone_to: goneTo
    });
    return instead
      ? trans.__('In empty cell %1', number(after))
      : trans.__('After cell %1', number(after));
  };
  const options: [string, string, Chosen][] = [
    ['belongs', words(null), null],
    ['end', trans.__('At the end'), 'end']
  ];
  if (selected) {
    const label = trans.__('After the selected cell (%1)', number(selected));
    options.push(['selected', label, { cell: selected }]);
  }
  if (agents) {
    const label = trans.__('After the agent’s last cell (%1)', number(agents));
    options.push(['agents', label, { cell: agents }]);
  }
  if (chosen) {
    options.push(['chosen', words(chosen), chosen]);
  }
  const title = trans.__('Where new cells go if the model names no place');
  return (
    <select
      className="jp-codeinterp-Select"
      aria-label={trans.__('Where new cells go')}
      title={title}
      value={chosen ? 'chosen' : 'belongs'}
      onChange={({ target }) =>
        choose(options.find(([value]) => value === target.value)![2])
      }
    >
      {options.map(([value, label]) => (
        <option key={value} value={value} hidden={value === 'chosen'}>
          {label}
        </option>
      ))}
    </select>
  );
});

/** The cell before the chosen place; '' if none is chosen. */
export function afterOf(chosen: Chosen, ids: readonly string[]): string {
  return chosen === 'end' ? (ids[ids.length - 1] ?? '') : (chosen?.cell ?? '');
}
