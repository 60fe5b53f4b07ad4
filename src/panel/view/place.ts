/**
 * Where the cells of the next turn go if the model names no place, by the server's rules
 * (run/turn/notebook.py).
 */
import { PLACE_ORDER } from '../../protocol/protocol';
import type { IPlaces } from '../../tokens';

export interface IPlace {
  /** The id of the cell above; '' in an empty notebook. */
  readonly after: string;
  /** That cell is empty, and the new one replaces it. */
  readonly instead: boolean;
}

/** `candidates`: a cell id per rule, where there is one. */
export function place(
  places: Pick<IPlaces, 'ids' | 'isEmpty'>,
  candidates: Partial<Record<(typeof PLACE_ORDER)[number], string>>
): IPlace {
  const { ids } = places;
  const named = PLACE_ORDER.map(rule => candidates[rule] ?? '');
  const after =
    named.find(id => id && ids.includes(id)) ?? ids[ids.length - 1] ?? '';
  return { after, instead: after !== '' && places.isEmpty(after) };
}

/** The conversation's last cell, as `last_of` on the server finds it; '' if none exists. */
export function lastOf(
  ids: readonly string[],
  agentCells: readonly string[]
): string {
  const newest = [...agentCells].reverse().find(id => ids.includes(id));
  if (newest === undefined) {
    return '';
  }
  let index = ids.indexOf(newest);
  while (agentCells.includes(ids[index + 1])) {
    index++;
  }
  return ids[index];
}
